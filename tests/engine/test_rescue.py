from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from tests.support.fakes import FakeClock, World, settle
from tests.support.tables import each
from tests.support.turns import land
from tui.core.unsaved import Unsaved, UnsavedFile
from tui.engine import decisions
from tui.engine.intents import Accept, Dismiss, OpenFile, Restore
from tui.engine.rescue import AGAIN_S, SOON_S
from tui.engine.session import SessionOptions
from tui.errors import FileRefused

TYPED = UnsavedFile("a.py", b"typed\n", b"old\n")
PATH = "state/rescue/then"
KEPT = Unsaved((TYPED,), "a thought", ("next",), PATH)


class Kept:
    """What was kept, in memory."""

    def __init__(self, *unsaved: Unsaved) -> None:
        self.all = list(unsaved)
        self.refusal = ""
        self.kept_now: list[Unsaved] = []
        """What was handed over, each time."""
        self.failed: list[str] = []

    def jot(self, unsaved: Unsaved) -> None:
        if not self.refusal:
            self.kept_now.append(unsaved)

    def bring(self) -> tuple[str, list[str]]:
        if self.refusal:
            raise FileRefused(self.refusal)
        return "now", self.failed

    def kept(self) -> list[Unsaved]:
        return list(self.all)

    def dismiss(self, folder: str) -> None:
        if self.refusal:
            raise FileRefused(self.refusal)
        self.all = [unsaved for unsaved in self.all if unsaved.folder != folder]


async def started(rescue: Kept, files: dict[str, str | bytes] | None = None) -> World:
    """A session that has looked."""
    world = World({"a.py": "old\n"} if files is None else files)
    world.ports.rescue = rescue
    await world.session.run()
    while not said(world) and rescue.all:
        await asyncio.sleep(0.001)
    await settle()
    return world


def said(world: World) -> str:
    return "\n".join(block.text for block in world.session.transcript.blocks)


async def test_it_is_restored_into_editor_and_prompt_and_nothing_is_written_or_sent() -> None:
    rescue = Kept(KEPT)
    world = await started(rescue)
    session = world.session
    session.submit(Restore())
    assert session.workspace.buffers["a.py"].text() == "typed\n"
    assert session.workspace.is_dirty("a.py")
    assert session.status.active_path == "a.py"
    assert session.status.unsent == "next\n\na thought"
    assert not session.status.busy
    assert session.status.queued == []
    assert world.files.writes == []
    assert rescue.all == []
    assert rescue.kept_now == [Unsaved((TYPED,), "next\n\na thought")]
    session.workspace.undo("a.py")
    assert session.workspace.buffers["a.py"].text() == "old\n"
    await session.close()


async def test_what_another_duetto_has_taken_is_not_brought_back_twice() -> None:
    rescue = Kept(KEPT)
    world = await started(rescue)
    rescue.all.clear()
    world.session.submit(Restore())
    assert world.session.workspace.buffers == {}
    assert "another duetto" in world.session.drain().troubles[-1].next_step


async def test_one_after_the_other() -> None:
    older = Unsaved(draft="older", folder="older")
    rescue = Kept(KEPT, older)
    world = await started(rescue)
    world.session.submit(Restore())
    assert rescue.all == [older]
    assert "is kept in older" in said(world)
    world.session.submit(Dismiss())
    assert rescue.all == []
    world.session.submit(Dismiss())
    assert "Nothing was rescued" in world.session.drain().troubles[-1].what


async def test_what_cannot_be_restored_stays_where_it_is() -> None:
    lost = UnsavedFile("bin", b"typed", None)
    rescue = Kept(Unsaved((lost, TYPED), folder=PATH))
    world = await started(rescue, {"a.py": "old\n", "bin": b"\0\0"})
    world.session.submit(Restore())
    trouble = world.session.drain().troubles[-1]
    assert "binary" in trouble.why
    assert PATH in trouble.next_step
    assert world.session.workspace.buffers["a.py"].text() == "typed\n"
    assert len(rescue.all) == 1


async def test_what_cannot_be_restored_is_not_in_the_way_of_the_others() -> None:
    older = Unsaved((TYPED,), folder="older")
    rescue = Kept(Unsaved((UnsavedFile("bin", b"typed", None),), folder=PATH), older)
    world = await started(rescue, {"a.py": "old\n", "bin": b"\0\0"})
    world.session.submit(Restore())
    assert "is kept in older" in said(world)
    world.session.submit(Restore())
    assert world.session.workspace.buffers["a.py"].text() == "typed\n"
    assert [unsaved.folder for unsaved in rescue.all] == [PATH]
    assert said(world).rindex(f"is kept in {PATH}") > said(world).rindex("is kept in older")


async def test_the_kept_copy_stays_until_there_is_another_one() -> None:
    rescue = Kept(KEPT)
    world = await started(rescue)
    rescue.failed = ["files/a.py: the disk is full"]
    world.session.submit(Restore())
    assert rescue.all == [KEPT]
    assert world.session.workspace.buffers["a.py"].text() == "typed\n"
    trouble = world.session.drain().troubles[-1]
    assert (trouble.what, trouble.why) == ("The rescued text is still kept", rescue.failed[0])


async def test_a_file_that_changed_since_is_pointed_at() -> None:
    world = await started(Kept(KEPT), {"a.py": "theirs\n"})
    world.session.submit(Restore())
    assert world.session.drain().troubles[-1].what == "Look through a.py"
    assert world.session.workspace.buffers["a.py"].text() == "typed\n"


async def test_what_is_not_removed_is_told() -> None:
    rescue = Kept(KEPT)
    world = await started(rescue)
    rescue.refusal = "read-only"
    world.session.submit(Dismiss())
    assert world.session.drain().troubles[-1].why == "read-only"


class Typist:
    """A session and somebody who types in it."""

    def __init__(self, files: dict[str, str | bytes] | None = None, **given: Any) -> None:
        self.world = World({"a.py": "old\n", "b.py": "b\n"} if files is None else files, **given)
        self.rescue = Kept()
        self.world.ports.rescue = self.rescue
        self.session = self.world.session
        thread = ThreadPoolExecutor(1)  # the one that `settle` waits for
        asyncio.get_running_loop().set_default_executor(thread)
        self.session.keeping.threads = thread, thread
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


class SlowDisk(Executor):
    """Writes that take their time on the test's clock."""

    def __init__(self, clock: FakeClock, write_s: float) -> None:
        self._clock, self._write_s = clock, write_s
        self._writes = deque[tuple[float, Callable[[], Any], Future[Any]]]()

    def submit(self, work: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        due_s = self._clock.now() + self._write_s
        self._writes.append((due_s, partial(work, *args, **named), future))
        return future

    async def go_on(self) -> None:
        """End what is due, and let the session hear of it."""
        while self._writes and self._writes[0][0] <= self._clock.now() + 1e-9:
            _, work, future = self._writes.popleft()
            future.set_result(work())
        for _ in range(10):
            await asyncio.sleep(0)


@each("write_s", [0.0, 0.1, 0.45, 5.0])
@each("gap", [1, 3, 7, 9])
async def test_each_key_is_kept_within_a_second(gap: int, write_s: float) -> None:
    """While keys go on without a pause, too, and while the disk is as slow as it likes."""
    typist = Typist()
    clock = typist.world.clock
    disk, thread = SlowDisk(clock, write_s), SlowDisk(clock, 0.0)
    typist.session.keeping.threads = thread, disk
    typed, late_s = deque[float](), list[float]()
    for step in range(60):
        if step % gap == 0 and step < 40:
            typist.type("x")
            typed.append(clock.now())
        await thread.go_on()
        clock.advance(0.05)
        for one in (thread, disk):
            await one.go_on()
        kept = typist.rescue.kept_now[-1].files[0].data.count(b"x") if typist.rescue.kept_now else 0
        while len(late_s) < kept:
            late_s.append(clock.now() - typed.popleft())
    assert not typed
    assert max(late_s) <= 1.0 + 1e-6


async def test_it_is_written_though_all_of_asyncios_threads_are_taken() -> None:
    typist = Typist()
    typist.session.keeping.threads = None
    free = threading.Event()
    taken = asyncio.create_task(asyncio.to_thread(free.wait, 10))
    await asyncio.sleep(0)
    typist.type("x")
    await asyncio.sleep(0)
    typist.world.clock.advance(SOON_S)
    while not typist.rescue.kept_now:
        await asyncio.sleep(0)
    free.set()
    assert await taken


@each("how", ["nothing", "a part"])
async def test_what_cannot_be_kept_is_told_once_and_tried_again(how: str) -> None:
    typist = Typist()
    typist.rescue.refusal = "the disk is full" if how == "nothing" else ""
    typist.rescue.failed = ["files/a.py: the disk is full"]
    for text in "xy":
        typist.type(text)
        await typist.passes(SOON_S)
    typist.rescue.refusal, typist.rescue.failed = "", []
    typist.type("z")
    (kept,) = await typist.passes(SOON_S)
    assert kept.files[0].data == b"zyxold\n"
    assert len(typist.told) == 1
    assert typist.told[0].startswith("A crash would lose what you type: ")
    assert "the disk is full" in typist.told[0]


async def test_it_is_tried_again_though_nobody_types() -> None:
    typist = Typist()
    typist.rescue.refusal = "the disk is full"
    typist.type("x")
    await typist.passes(SOON_S)
    for _ in range(3):
        await typist.passes(AGAIN_S)
        assert await typist.passes(SOON_S) == []
    typist.rescue.refusal = ""
    (kept,) = await typist.passes(AGAIN_S)
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
    (kept,) = await typist.passes(SOON_S)
    assert [file.path for file in kept.files] == ["b.py"]


@each("where", ["tui.engine.rescue.typed_text", "tui.core.document.disk_plan.StillText.planned"])
async def test_a_bug_in_the_plan_does_not_lose_the_text(
    monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def broken(*_: object) -> None:
        raise IndexError

    typist = Typist()
    typist.type("x")
    monkeypatch.setattr(where, broken)
    (kept,) = await typist.passes(SOON_S)
    assert kept.files == (UnsavedFile("a.py", b"xold\n", None),)


async def test_a_broken_screen_does_not_lose_the_files() -> None:
    def broken() -> str:
        raise AttributeError("whole")

    typist = Typist()
    typist.session.keeping.draft = lambda: "a thought"
    typist.type("x")
    await typist.passes(SOON_S)
    typist.session.keeping.draft = broken
    typist.type("y")
    (kept,) = await typist.passes(SOON_S)
    assert kept == Unsaved((UnsavedFile("a.py", b"yxold\n", b"old\n"),), "a thought")
    assert typist.told == []


async def test_while_very_many_hunks_are_decided_on_only_files_that_were_typed_in_are_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The decision is written in the end; a copy of each file five times a second holds keys up."""
    monkeypatch.setattr(decisions, "SLICE_S", -1.0)
    text = "".join(f"{number}\n" for number in range(500))
    typist = Typist(
        {"a.py": "old\n", "b.txt": text}, options=SessionOptions(in_slices=True, save="manual")
    )
    sections = (f"@@\n-{number}\n+new {number}\n" for number in range(0, 500, 2))
    land(
        typist.world, f"*** Begin Patch\n*** Update File: b.txt\n{''.join(sections)}*** End Patch\n"
    )
    typist.session.submit(Accept())
    typist.type("x")
    (kept,) = await typist.passes(SOON_S)
    assert [file.path for file in kept.files] == ["a.py"], "looked at while it was decided"
    while not typist.session.at_rest:
        await settle()
    typist.session.drain()
    *_, kept = await typist.passes(SOON_S)
    assert [file.path for file in kept.files] == ["a.py", "b.txt"], "accepted, and not saved"
