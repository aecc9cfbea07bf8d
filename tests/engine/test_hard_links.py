"""Hard links: what leads out of the workspace, or to a private file, is asked about."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.support.fakes import World, settle
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.engine import intents
from tui.engine.notices import Status
from tui.engine.open_files import SAVE, SEND, OpenFiles
from tui.engine.session import Session, SessionOptions, unsaved_paths
from tui.engine.session_state import SessionState
from tui.engine.tools import WorkspaceTools

TEXT = "one\ntwo\n"


class Seat:
    """A session over a real workspace, and somebody who answers its questions."""

    def __init__(self, root: Path, **options: bool) -> None:
        self.world = World({})
        ports = self.world.ports
        self.files = ports.files = Files(str(root), Listing(str(root)))
        self.session = Session(ports, self.world.roles, SessionOptions(ask=True, **options))
        self.state = SessionState(self.session.workspace)
        self.desk = desk = OpenFiles(self.state, ports)
        consent = partial(desk.consents.ask, SEND)
        self.tools = WorkspaceTools(
            self.state.workspace, desk.catalogue, ports, desk.privacy, consent
        )
        self.asked: list[str] = []

    async def read(self, path: str, choice: str = "") -> str:
        """What a model gets of a file, the questions answered."""
        call = asyncio.create_task(self.tools.call("read_file", json.dumps({"path": path})))
        while not call.done():
            await settle()
            self._answer(self.state.status, self.state.questions.answer, choice)
        return (await call).output

    async def search(self) -> str:
        """What a model gets for a search, which never asks."""
        return (await self.tools.call("search", json.dumps({"pattern": "two"}))).output

    async def saves(self, *paths: str, choice: str = "") -> list[str]:
        """Type in files and save them; what the user was told of."""
        for path in paths:
            self.session.submit(intents.OpenFile(path))
            self.session.workspace.edit(path, (0, 0), (0, 0), "x")
            self.session.submit(intents.SaveFile(path))
        await settle()

        def answer(number: int, words: str) -> None:
            self.session.submit(intents.Answer(number, words))

        while self.session.status.asks:
            self._answer(self.session.status, answer, choice)
            await settle()
        return [f"{one.what}: {one.why}" for one in self.session.drain().troubles]

    def _answer(self, status: Status, answer: Callable[[int, str], None], choice: str) -> None:
        for ask in status.asks[:1]:
            self.asked.append(ask.question)
            assert choice in ask.choices
            answer(ask.id, choice)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    (work / "sub").mkdir(parents=True)
    return work


def linked(root: Path, *paths: str) -> list[Path]:
    """Files with another name outside the workspace each; returns these names."""
    outside = [root.parent / f"outside-{path.replace('/', '-')}" for path in paths]
    for path, there in zip(paths, outside, strict=True):
        there.write_text(TEXT)
        os.link(there, root / path)
    return outside


def private(root: Path, name: str) -> None:
    """a.txt is the same file as this one, in the workspace, which is private."""
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text(TEXT)
    (root / ".gitignore").write_text("ignored/\n")
    os.link(root / name, root / "a.txt")


@pytest.mark.parametrize("name", ["outside", ".env", "sub/id_rsa", "ignored/cache.txt"])
async def test_a_model_gets_nothing_of_such_a_link_unasked(root: Path, name: str) -> None:
    if name == "outside":
        linked(root, "a.txt")
    else:
        private(root, name)
    seat = Seat(root)
    assert "two" not in (found := await seat.search())
    assert "1 file was not searched: a.txt" in found
    seat.session.submit(intents.OpenFile("a.txt"))
    await seat.desk.prepare()
    assert "hard link" in seat.desk.open_file("a.txt").private
    assert "declined" in await seat.read("a.txt", SEND.no)
    assert seat.asked == ["Send a.txt to the model?"]


@pytest.mark.parametrize("choice", [SEND.folder, SEND.always])
async def test_a_yes_holds_for_a_folder_or_the_workspace(root: Path, choice: str) -> None:
    linked(root, "a.txt", "b.txt", "sub/c.txt")
    seat = Seat(root)
    for path in ("a.txt", "b.txt", "sub/c.txt"):
        assert "two" in await seat.read(path, choice)
    always = choice == SEND.always
    asked = ["a.txt"] if always else ["a.txt", "sub/c.txt"]
    assert seat.asked == [f"Send {path} to the model?" for path in asked]
    assert seat.world.remembered == ([SEND.consent] if always else [])
    assert (await seat.search()).count("two") == 3


async def test_a_no_holds_for_a_folder_until_the_next_turn(root: Path) -> None:
    linked(root, "a.txt", "b.txt")
    seat = Seat(root)
    await seat.read("a.txt", SEND.no)
    await seat.read("b.txt", SEND.no)
    assert len(seat.asked) == 1
    for begins in seat.state.before_turn:
        begins(2)
    assert "two" in await seat.read("b.txt", SEND.folder)


async def test_a_link_to_a_secret_is_asked_about_by_itself(root: Path) -> None:
    private(root, ".env")
    linked(root, "b.txt")
    seat = Seat(root)
    assert "two" in await seat.read("b.txt", SEND.always)
    assert "two" in await seat.read("a.txt", SEND.file)
    assert len(seat.asked) == 2


@pytest.mark.parametrize("name", [".env", "ignored/notes.md"])
async def test_instructions_that_are_a_link_to_a_private_file_are_not_sent(
    root: Path, name: str
) -> None:
    private(root, name)
    (root / "a.txt").rename(root / "AGENTS.md")
    seat = Seat(root)
    assert not seat.desk.ready
    await seat.desk.prepare()
    assert not seat.desk.is_sent("AGENTS.md")


async def test_links_within_the_workspace_are_files_like_others(root: Path) -> None:
    (root / "a.txt").write_text(TEXT)
    os.link(root / "a.txt", root / "sub" / "b.txt")
    seat = Seat(root)
    assert "two" in await seat.read("a.txt")
    assert (await seat.search()).count("two") == 2
    assert await seat.saves("a.txt") == []
    assert (root / "sub" / "b.txt").read_text() == f"x{TEXT}"
    assert seat.asked == []


@pytest.mark.parametrize("name", ["outside", ".env"])
async def test_a_save_changes_such_a_link_only_if_the_user_says_so(root: Path, name: str) -> None:
    if name == "outside":
        there = linked(root, "a.txt")[0]
    else:
        private(root, name)
        there = root / name
    seat = Seat(root)
    told = await seat.saves("a.txt", choice=SAVE.no)
    assert there.read_text() == TEXT
    assert any("a.txt was not written: it is a hard link" in words for words in told)
    yes = SAVE.folder if name == "outside" else SAVE.file
    await seat.saves("a.txt", choice=yes)
    assert there.read_text() == f"xx{TEXT}"
    assert len(seat.asked) == 2
    await seat.saves("a.txt")
    assert there.read_text() == f"xxx{TEXT}"


async def test_many_are_saved_after_one_question(root: Path) -> None:
    paths = [f"sub/{number}.txt" for number in range(20)]
    outside = linked(root, *paths)
    seat = Seat(root)
    await seat.saves(*paths, choice=SAVE.folder)
    assert len(seat.asked) == 1
    assert {there.read_text() for there in outside} == {f"x{TEXT}"}


async def test_a_file_that_got_another_name_after_it_was_opened_is_asked_about(root: Path) -> None:
    (root / "a.txt").write_text(TEXT)
    seat = Seat(root)
    seat.session.submit(intents.OpenFile("a.txt"))
    os.link(root / "a.txt", root.parent / "elsewhere.txt")
    await seat.saves("a.txt", choice=SAVE.no)
    assert (root.parent / "elsewhere.txt").read_text() == TEXT


async def test_what_waits_for_an_answer_counts_as_not_saved(root: Path) -> None:
    linked(root, "a.txt")
    seat = Seat(root)
    seat.session.submit(intents.OpenFile("a.txt"))
    seat.session.workspace.edit("a.txt", (0, 0), (0, 0), "x")
    seat.session.submit(intents.SaveFile("a.txt"))
    await settle()
    assert unsaved_paths(seat.session) == ["a.txt"]


async def test_with_the_option_nothing_is_asked(root: Path) -> None:
    outside = linked(root, "a.txt")
    seat = Seat(root, linked=True)
    assert "two" in await seat.read("a.txt")
    assert await seat.saves("a.txt") == []
    assert outside[0].read_text() == f"x{TEXT}"
    assert seat.asked == []
