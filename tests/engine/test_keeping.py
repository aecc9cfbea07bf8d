"""What is typed is kept soon, off the loop, and only what changed of it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tests.engine.test_rescuing import Kept
from tests.support.fakes import World, settle
from tui.core.unsaved import Unsaved, UnsavedFile
from tui.engine.intents import OpenFile, Prompt, Queue, SaveFile
from tui.engine.keeping import AGAIN_S, LONGEST_S, QUIET_S


class Typist:
    """A session and somebody who types in it."""

    def __init__(self, files: dict[str, str | bytes] | None = None) -> None:
        self.world = World({"a.py": "old\n", "b.py": "b\n"} if files is None else files)
        self.rescue = Kept()
        self.world.ports.rescue = self.rescue
        self.session = self.world.session
        for path in self.world.files.data:
            self.session.submit(OpenFile(path))
        self.session.drain()
        self.told: list[str] = []

    def type(self, text: str, path: str = "a.py") -> None:
        """A key and the frame after it."""
        self.session.workspace.edit(path, (0, 0), (0, 0), text, "type")
        self.session.touched(path)
        self.told += [f"{t.what}: {t.why}" for t in self.session.drain().troubles]

    async def passes(self, seconds: float) -> list[Unsaved]:
        """Let time go by; returns what was handed over meanwhile."""
        before = len(self.rescue.kept_now)
        await settle()
        self.world.clock.advance(seconds)
        await settle()
        return self.rescue.kept_now[before:]


async def test_it_is_kept_when_the_keys_pause() -> None:
    typist = Typist()
    await typist.passes(QUIET_S)
    typist.type("x")
    assert await typist.passes(QUIET_S - 0.1) == []
    typist.type("y")
    assert await typist.passes(QUIET_S - 0.1) == []
    assert await typist.passes(0.1) == [Unsaved((UnsavedFile("a.py", b"yxold\n", b"old\n"),))]
    assert await typist.passes(60) == []


async def test_it_is_kept_while_keys_go_on() -> None:
    typist = Typist()
    await typist.passes(QUIET_S)
    passed = 0.0
    while not typist.rescue.kept_now:
        typist.type("x")
        await typist.passes(QUIET_S / 2)
        passed += QUIET_S / 2
        assert passed <= LONGEST_S + QUIET_S
    await typist.session.close()


async def test_draft_and_queue_are_kept_too() -> None:
    typist = Typist()
    typist.session.keeping.draft = lambda: "half a thought"
    typist.session.keeping.changed()
    assert await typist.passes(QUIET_S) == [Unsaved(draft="half a thought")]
    typist.session.keeping.draft = str
    typist.session.submit(Prompt("hello"))
    await typist.world.wire.request(1)
    typist.session.submit(Queue("later"))
    typist.session.drain()
    assert await typist.passes(QUIET_S) == [Unsaved(queued=("later",))]
    await typist.session.close()


async def test_it_goes_when_it_is_saved_or_undone() -> None:
    typist = Typist()
    typist.type("x")
    typist.type("y", "b.py")
    await typist.passes(QUIET_S)
    typist.session.submit(SaveFile("a.py"))
    typist.session.drain()
    b = UnsavedFile("b.py", b"yb\n", b"b\n")
    assert await typist.passes(QUIET_S) == [Unsaved((b,))]
    typist.session.workspace.undo("b.py")
    typist.session.touched("b.py")
    typist.session.drain()
    assert await typist.passes(QUIET_S) == [Unsaved()]


async def test_after_a_save_the_new_bytes_are_what_it_is_based_on() -> None:
    typist = Typist()
    typist.type("x")
    await typist.passes(QUIET_S)
    typist.session.submit(SaveFile("a.py"))
    typist.type("y")
    assert await typist.passes(QUIET_S) == [Unsaved((UnsavedFile("a.py", b"yxold\n", b"xold\n"),))]


async def test_what_did_not_change_is_not_made_again() -> None:
    typist = Typist()
    typist.type("x")
    typist.type("y", "b.py")
    (first,) = await typist.passes(QUIET_S)
    typist.type("z")
    (second,) = await typist.passes(QUIET_S)
    assert second.files[1] is first.files[1]
    assert second.files[0].data == b"zxold\n"


async def test_what_a_model_writes_is_no_reason_to_write() -> None:
    typist = Typist()
    typist.type("x")
    await typist.passes(QUIET_S)
    typist.session.workspace.ledger.touched.add("a.py")
    typist.session.drain()
    assert await typist.passes(QUIET_S) == []


async def test_the_loop_goes_on_while_a_slow_disk_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    typist = Typist()
    entered, free = threading.Event(), threading.Event()
    plain = typist.rescue.keep

    def slow(unsaved: Unsaved) -> tuple[str, list[str]]:
        entered.set()
        assert free.wait(10)
        return plain(unsaved)

    monkeypatch.setattr(typist.rescue, "keep", slow)
    typist.type("x")
    await asyncio.sleep(0)
    typist.world.clock.advance(QUIET_S)
    while not entered.is_set():
        await asyncio.sleep(0)
    typist.type("y")
    free.set()
    await settle()
    assert [kept.files[0].data for kept in typist.rescue.kept_now] == [b"xold\n"]
    (second,) = await typist.passes(QUIET_S)
    assert second.files[0].data == b"yxold\n"


@pytest.mark.parametrize("how", ["nothing", "a part"])
async def test_what_cannot_be_kept_is_told_once_and_tried_again(how: str) -> None:
    typist = Typist()
    typist.rescue.refusal = "the disk is full" if how == "nothing" else ""
    typist.rescue.failed = ["files/a.py: the disk is full"]
    for text in "xy":
        typist.type(text)
        await typist.passes(QUIET_S)
    typist.rescue.refusal, typist.rescue.failed = "", []
    typist.type("z")
    (kept,) = await typist.passes(QUIET_S)
    assert kept.files[0].data == b"zyxold\n"
    assert len(typist.told) == 1
    assert typist.told[0].startswith("What you type is not kept against a crash: ")
    assert "the disk is full" in typist.told[0]


async def test_it_is_tried_again_though_nobody_types() -> None:
    typist = Typist()
    typist.rescue.refusal = "the disk is full"
    typist.type("x")
    await typist.passes(QUIET_S)
    for _ in range(3):
        await typist.passes(AGAIN_S)
        assert await typist.passes(QUIET_S) == []
    typist.rescue.refusal = ""
    await typist.passes(AGAIN_S)
    (kept,) = await typist.passes(QUIET_S)
    assert kept.files[0].data == b"xold\n"
    assert await typist.passes(10 * AGAIN_S) == []


async def test_where_nobody_can_be_told_nothing_is_kept() -> None:
    typist = Typist()
    typist.world.ports.rescue = None
    typist.type("x")
    assert await typist.passes(60) == []


async def test_a_view_is_not_kept() -> None:
    typist = Typist({"a.py": b"caf\xe9\n", "b.py": "b\n"})
    typist.type("y", "b.py")
    (kept,) = await typist.passes(QUIET_S)
    assert [file.path for file in kept.files] == ["b.py"]


@pytest.mark.parametrize(
    "where", ["tui.engine.keeping.typed_text", "tui.core.edits.disk.disk_plan.StillText.planned"]
)
async def test_a_bug_in_the_plan_does_not_lose_the_text(
    monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def broken(*_: object) -> None:
        raise IndexError

    typist = Typist()
    typist.type("x")
    monkeypatch.setattr(where, broken)
    (kept,) = await typist.passes(QUIET_S)
    assert kept.files == (UnsavedFile("a.py", b"xold\n", None),)


async def test_a_broken_screen_does_not_lose_the_files() -> None:
    def broken() -> str:
        raise AttributeError("whole")

    typist = Typist()
    typist.session.keeping.draft = lambda: "a thought"
    typist.type("x")
    await typist.passes(QUIET_S)
    typist.session.keeping.draft = broken
    typist.type("y")
    (kept,) = await typist.passes(QUIET_S)
    assert kept == Unsaved((UnsavedFile("a.py", b"yxold\n", b"old\n"),), "a thought")
    assert typist.told == []
