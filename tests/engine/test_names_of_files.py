"""Files of several names: links and hard links are one tab, and asked about where they lead."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.fakes import World, settle
from tests.support.patches import Disk, patch
from tui.core.document.hunk import Decision, Stage
from tui.core.files import FileRead
from tui.core.patches.landing import Landing
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.engine import intents
from tui.engine.attachments import Attachments
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
        self.open_files = open_files = OpenFiles(self.state, ports)
        consent = partial(open_files.consents.ask, SEND)
        self.tools = WorkspaceTools(
            self.state.workspace, open_files.catalogue, ports, open_files.privacy, consent
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
    await seat.open_files.prepare()
    assert "hard link" in seat.open_files.open_file("a.txt").private
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
    assert not seat.open_files.ready
    await seat.open_files.prepare()
    assert seat.open_files.privacy("AGENTS.md")


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


REAL = "one\ntwo\nthree\nfour\nfive\n"
NAMES = ["link.py", "./real.py", "sub/../real.py", "away/real.py", "sub/up/link.py"]
"""Of real.py, beside its own; ``away`` and ``sub/up`` are links to the workspace's folder."""


@pytest.fixture
def linked_root(tmp_path: Path) -> Path:
    (tmp_path / "real.py").write_text(REAL)
    (tmp_path / "sub").mkdir()
    (tmp_path / "link.py").symlink_to("real.py")
    (tmp_path / "away").symlink_to(".")
    (tmp_path / "sub" / "up").symlink_to("..")
    return tmp_path


def session_in(linked_root: Path) -> Session:
    world = World({})
    world.ports.files = Files(str(linked_root), Listing(str(linked_root)))
    return Session(world.ports, world.roles, SessionOptions(ask=True))


def land(session: Session, *lines: str) -> Landing:
    landing = Landing(session.workspace, turn=1, call_id="c")
    landing.feed("\n".join(["*** Begin Patch", *lines, "*** End Patch", ""]))
    landing.finish(cut=False)
    return landing


def update(path: str, *lines: str) -> list[str]:
    return [f"*** Update File: {path}", "@@", *lines]


@pytest.mark.parametrize("name", NAMES)
def test_h02_an_edit_under_another_name_is_in_the_open_buffer(linked_root: Path, name: str) -> None:
    session = session_in(linked_root)
    workspace = session.workspace
    session.submit(intents.OpenFile("real.py"))
    workspace.edit("real.py", (0, 0), (0, 0), "MINE ")
    landing = land(session, *update(name, " four", "-five", "+FIVE"))
    assert list(workspace.buffers) == ["real.py"]
    assert workspace.buffers["real.py"].text() == "MINE " + REAL.replace("five", "FIVE")
    assert workspace.decorations("real.py", 4, 4) == {4: "pending"}
    said = landing.report()
    assert (f"written as '{name}'" in said) == ("link" in name or "away" in name)
    session.submit(intents.Accept())
    session.submit(intents.SaveFile("real.py"))
    assert (linked_root / "real.py").read_text() == "MINE " + REAL.replace("five", "FIVE")
    assert (linked_root / "link.py").is_symlink()
    assert not session.workspace.conflicts


@pytest.mark.parametrize("name", NAMES)
def test_h02_a_patch_that_has_both_names_is_written_whole(linked_root: Path, name: str) -> None:
    session = session_in(linked_root)
    first, last = update(name, "-one", "+ONE"), update("real.py", "-five", "+FIVE")
    land(session, *first, *last)
    session.submit(intents.Accept())
    wanted = REAL.replace("one", "ONE").replace("five", "FIVE")
    assert (linked_root / "real.py").read_text() == wanted
    session.submit(intents.UndoTurn())
    assert (linked_root / "real.py").read_text() == REAL


def test_h02_a_tab_under_another_name_is_the_same_tab(linked_root: Path) -> None:
    session = session_in(linked_root)
    for name in ("real.py", *NAMES):
        session.submit(intents.OpenFile(name))
    assert session.status.open_paths == ["real.py"]
    assert session.workspace.documents.quotable("link.py") is session.workspace.buffers["real.py"]


def test_h02_two_calls_under_two_names_come_one_after_the_other(linked_root: Path) -> None:
    session = session_in(linked_root)
    one, other = (Landing(session.workspace, turn=1, call_id=name) for name in "ab")
    one.feed("*** Begin Patch\n*** Update File: link.py\n@@\n-one\n+ONE\n")
    other.feed("*** Begin Patch\n*** Update File: real.py\n@@\n-five\n+FIVE\n*** End Patch\n")
    assert session.workspace.documents.busy == {"real.py": one}
    one.feed("*** End Patch\n")
    one.finish(cut=False)
    other.finish(cut=False)
    wanted = REAL.replace("one", "ONE").replace("five", "FIVE")
    assert session.workspace.buffers["real.py"].text() == wanted


@pytest.mark.parametrize(
    ("lines", "done"),
    [
        (["*** Delete File: link.py"], "deleted"),
        (["*** Update File: link.py", "*** Move to: new.py"], "moved"),
    ],
)
def test_a_link_is_not_taken_for_its_file_where_the_name_goes(
    linked_root: Path, lines: list[str], done: str
) -> None:
    session = session_in(linked_root)
    (hunk,) = land(session, *lines).hunks
    assert hunk.stage is Stage.REFUSED
    assert f"'link.py' is a symlink, which is not {done}" in hunk.reason
    session.submit(intents.Accept())
    assert hunk.decision is Decision.PENDING
    assert (linked_root / "link.py").read_text() == REAL
    (hunk,) = land(session, "*** Delete File: away/real.py").hunks
    assert (hunk.path, hunk.stage) == ("real.py", Stage.LANDED)


def test_a_new_file_in_a_folder_that_is_a_link_has_one_name(linked_root: Path) -> None:
    session = session_in(linked_root)
    land(session, "*** Add File: away/new.py", "+x", *update("new.py", "-x", "+y"))
    assert list(session.workspace.buffers) == ["new.py"]
    session.submit(intents.Accept())
    assert (linked_root / "new.py").read_text() == "y\n"


def test_h09_names_that_differ_in_case_are_one_file_where_the_volume_says_so() -> None:
    class OneVolume(Disk):
        """Takes names for the same if only their letters' case differs."""

        same = True

        def read(self, path: str) -> FileRead:
            number = 7 if self.same else hash(path)
            return replace(super().read(path.lower()), place=(1, number))

    for same in (True, False):
        volume = OneVolume({"src/a.txt": REAL.encode()})
        volume.same = same
        volume.land(patch("@@", "-one", "+ONE", file="src/a.txt"))
        volume.land(patch("@@", "-five", "+FIVE", file="Src/a.txt"))
        assert len(volume.workspace.buffers) == (1 if same else 2)


async def test_a_link_in_a_folder_that_is_attached_is_the_file_that_it_leads_to(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.py").write_text(TEXT)
    (tmp_path / "link.py").symlink_to("a.py")
    seat = Seat(tmp_path)
    attachments = Attachments(seat.open_files, seat.world.ports)
    for name in (".", "./link.py"):
        await attachments.gather([f"@{name}"])
    notes = [block.text for block in seat.state.transcript.blocks]
    assert notes == [
        "Attached: ./ (1 file, about 4 tokens)",
        "Attached: a.py (about 4 tokens)",
    ]
