"""G08: what is accepted, saved or decided while the formatter runs waits for it, and is not lost.

A formatter reads a file, thinks, and writes what it made of the text that it read.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Sequence

import pytest

from tests.engine.test_formatting import TEXT, Formatter, formatted, patch
from tests.support.fakes import FakeRunner, World, settle
from tests.support.tables import each
from tests.support.turns import land
from tui.core.document.hunk import Decision
from tui.core.programs import RunResult
from tui.engine import formatting, intents
from tui.engine.disk_changes import DECIDE_LATER, KEEP_MINE, TAKE_THEIRS
from tui.ui.screens.leave import unsaved_paths

pytestmark = pytest.mark.case("G08")
BOTH = TEXT.replace("two", "T W O").replace("four", "FOUR")


class Thinking(Formatter):
    """Writes what it makes of what it has read when it is let go."""

    def __init__(self, world: World, *, early: bool = False) -> None:
        """``early``: this file is written at once, and others are worked on."""
        super().__init__(world)
        self.early = early
        self.hangs = False
        """It is stopped before it writes anything."""
        self.gate = asyncio.Event()
        self.started = asyncio.Event()

    async def run(
        self, command: str | Sequence[str], output: Callable[[str], None], deadline_s: float
    ) -> RunResult:
        words = shlex.split(command) if isinstance(command, str) else list(command)
        paths = [word.removeprefix("./") for word in words[1:]]
        self.seen.append(paths)
        made = {path: self.change(self.data[path]) for path in paths}
        if self.early:
            self.data.update(made)
        self.started.set()
        await self.gate.wait()
        if not self.hangs:
            self.data.update(made)
        return await FakeRunner.run(self, command, output, deadline_s)


async def thinking(
    files: dict[str, str], *, early: bool = False, **options: bool
) -> tuple[World, Thinking]:
    """A world in which the first hunk is accepted, and the formatter is at work on its file."""
    world = formatted(files, **options)
    runner = world.ports.runner = Thinking(world, early=early)
    land(world, patch("two", "TWO"))
    if not options.get("auto_accept"):
        world.session.submit(intents.Accept())
    await runner.started.wait()
    return world, runner


@each("early", [False, True])
@each("typed", ["MY PRECIOUS TYPING", "TWO"])
async def test_what_is_saved_meanwhile_stays(early: bool, typed: str) -> None:
    world, runner = await thinking({"a.py": TEXT}, early=early)
    workspace = world.session.workspace
    workspace.edit("a.py", (4, 0), (4, 4), typed)
    world.session.submit(intents.SaveFile("a.py"))
    assert workspace.is_dirty("a.py")
    world.session.submit(intents.CloseFile("a.py"))
    runner.gate.set()
    await settle()
    text = TEXT.replace("two", "T W O").replace("five", typed.replace("TWO", "T W O"))
    assert world.files.data["a.py"].decode() == text == workspace.buffers["a.py"].text()
    assert not workspace.is_dirty("a.py")
    workspace.undo("a.py")
    assert "T W O" in workspace.buffers["a.py"].text(), "nobody's change is not taken back"


async def test_a_decision_that_is_taken_back_meanwhile_is_not_written() -> None:
    world, runner = await thinking({"a.py": TEXT})
    land(world, patch("four", "FOUR"), turn=2)
    world.session.submit(intents.Accept())
    world.session.submit(intents.UndoDecision())
    runner.gate.set()
    await settle()
    assert world.files.data["a.py"].decode() == TEXT.replace("two", "T W O")
    assert world.session.workspace.hunks[-1].decision is Decision.PENDING
    world.session.submit(intents.UndoDecision())
    world.session.submit(intents.Reject())
    await settle()
    assert world.files.data["a.py"].decode() == TEXT


async def test_a_file_whose_deletion_is_accepted_meanwhile_goes() -> None:
    world, runner = await thinking({"a.py": TEXT})
    land(world, "*** Begin Patch\n*** Delete File: a.py\n*** End Patch\n", turn=2)
    world.session.submit(intents.Accept())
    assert "a.py" in world.files.data
    runner.gate.set()
    await settle()
    assert "a.py" not in world.files.data
    assert world.session.drain().troubles == []


async def test_a_file_that_is_moved_meanwhile() -> None:
    world, runner = await thinking({"a.py": TEXT})
    moved = "*** Update File: a.py\n*** Move to: b.py\n@@\n-four\n+FOUR\n"
    land(world, f"*** Begin Patch\n{moved}*** End Patch\n", turn=2)
    world.session.submit(intents.Accept())
    runner.gate.set()
    await settle()
    assert world.files.data.keys() == {"b.py"}
    assert world.files.data["b.py"].decode() == BOTH
    assert world.session.drain().troubles == []


async def test_a_formatter_that_hangs_until_its_deadline_takes_nothing_away() -> None:
    world, runner = await thinking({"a.py": TEXT})
    runner.result = RunResult(None, 3, timed_out=True)
    before = world.files.data["a.py"]
    land(world, patch("four", "FOUR"), turn=2)
    world.session.submit(intents.Accept())
    await settle()
    assert world.files.data["a.py"] == before
    world.clock.advance(1)
    await settle()
    (said,) = world.session.drain().troubles
    assert said.what == "a.py is not written yet"
    assert said.why == "the formatter is at work on it"
    runner.hangs = True
    runner.gate.set()
    await settle()
    assert world.files.data["a.py"].decode() == TEXT.replace("two", "TWO").replace("four", "FOUR")
    assert {hunk.decision for hunk in world.session.workspace.hunks} == {Decision.ACCEPTED}


@each("choice", [KEEP_MINE, TAKE_THEIRS, DECIDE_LATER])
async def test_half_a_file_is_asked_about_and_what_waits_stays_accepted(choice: str) -> None:
    world, runner = await thinking({"a.py": TEXT, "b.py": TEXT}, ask=True)
    workspace = world.session.workspace
    land(world, patch("four", "FOUR") + patch("four", "FOUR", "b.py"), turn=2)
    world.session.submit(intents.Accept())
    runner.result = RunResult(None, 3, timed_out=True)
    runner.change, half = (lambda data: data), TEXT[:9].encode()
    runner.hangs = True
    world.files.data["a.py"] = half
    runner.gate.set()
    await settle()
    assert {hunk.decision for hunk in workspace.hunks} == {Decision.ACCEPTED}
    assert unsaved_paths(world.session) == ["a.py"]
    assert world.files.data["b.py"].decode() == TEXT
    await world.answers(choice)
    mine = TEXT.replace("two", "TWO").replace("four", "FOUR")
    kept = mine.encode() if choice == KEEP_MINE else half
    assert world.files.data["a.py"] == kept
    assert workspace.buffers["a.py"].text() == (half.decode() if choice == TAKE_THEIRS else mine)
    written = TEXT if choice == DECIDE_LATER else TEXT.replace("four", "FOUR")
    assert world.files.data["b.py"].decode() == written


async def test_half_a_file_where_nobody_can_be_asked() -> None:
    world, runner = await thinking({"a.py": TEXT})
    land(world, patch("four", "FOUR"), turn=2)
    world.session.submit(intents.Accept())
    runner.result = RunResult(None, 3, timed_out=True)
    runner.hangs = True
    world.files.data["a.py"] = b"one\n"
    runner.gate.set()
    await settle()
    assert "FOUR" in world.session.workspace.buffers["a.py"].text()
    assert "a.py was not saved" in [one.what for one in world.session.drain().troubles]
    assert world.session.workspace.hunks[-1].decision is Decision.PENDING


@each("left", [None, b"", b"one\nT W"])
async def test_leaving_stops_it_and_writes_what_waits(
    left: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``left``: what it had written by then."""
    monkeypatch.setattr(formatting, "GRACE_S", 0.01)
    world, _ = await thinking({"a.py": TEXT})
    land(world, patch("four", "FOUR"), turn=2)
    world.session.submit(intents.Accept())
    assert unsaved_paths(world.session) == [], "it is on its way to the disk"
    if left is not None:
        world.files.data["a.py"] = left
    await world.session.close()
    text = TEXT.replace("two", "TWO").replace("four", "FOUR")
    assert world.files.data["a.py"].decode() == text
    assert not world.session.workspace.is_dirty("a.py")


async def test_leaving_waits_a_moment_for_it() -> None:
    world, runner = await thinking({"a.py": TEXT})
    land(world, patch("four", "FOUR"), turn=2)
    world.session.submit(intents.Accept())
    asyncio.get_running_loop().call_later(0.02, runner.gate.set)
    await world.session.close()
    assert world.files.data["a.py"].decode() == BOTH
    assert runner.seen == [["a.py"]], "nothing begins any more"


async def test_half_a_file_is_not_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formatting, "GRACE_S", 0.01)
    world, _ = await thinking({"a.py": TEXT})
    world.files.data["a.py"] = b"one\nT"
    await world.session.close()
    assert world.files.data["a.py"].decode() == TEXT.replace("two", "TWO")
