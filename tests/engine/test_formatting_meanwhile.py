"""G08: what is accepted, saved or decided while the formatter runs waits for it, and is not lost.

A formatter reads a file, thinks, and writes what it made of the text that it read.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Sequence

import pytest

from tests.engine.test_formatting import TEXT, Formatter, formatted, land, patch
from tests.support.fakes import FakeRunner, World, settle
from tui.core.command_run import RunResult
from tui.core.edits.hunk import Decision
from tui.core.edits.patches.landing import Landing
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


@pytest.mark.parametrize("early", [False, True])
async def test_what_is_accepted_meanwhile_stays(early: bool) -> None:
    world, runner = await thinking({"a.py": TEXT}, early=early)
    workspace = world.session.workspace
    land(world, patch("four", "FOUR"), turn=2)
    world.session.submit(intents.Accept())
    assert workspace.hunks[-1].decision is Decision.ACCEPTED
    assert workspace.is_dirty("a.py")
    assert b"FOUR" not in world.files.data["a.py"], "it is written when the formatter is done"
    runner.gate.set()
    await settle()
    assert world.files.data["a.py"].decode() == BOTH == workspace.buffers["a.py"].text()
    assert not workspace.is_dirty("a.py")
    assert not workspace.conflicts
    assert world.session.drain().troubles == []
    assert runner.seen == [["a.py"], ["a.py"]], "what was written late is formatted, too"
    assert {hunk.decision for hunk in workspace.hunks} == {Decision.ACCEPTED}
    world.session.submit(intents.UndoTurn())
    await settle()
    assert b"FOUR" not in world.files.data["a.py"]


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("typed", ["MY PRECIOUS TYPING", "TWO"])
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


async def test_what_is_saved_on_the_formatters_own_line_stays() -> None:
    world, runner = await thinking({"a.py": TEXT})
    workspace = world.session.workspace
    workspace.edit("a.py", (1, 3), (1, 3), "!")
    world.session.submit(intents.SaveFile("a.py"))
    runner.gate.set()
    await settle()
    assert world.files.data["a.py"].decode() == TEXT.replace("two", "T W O!")
    assert workspace.buffers["a.py"].text().encode() == world.files.data["a.py"]


async def test_two_patches_that_accept_themselves() -> None:
    world, runner = await thinking({"a.py": TEXT}, auto_accept=True)
    land(world, patch("four", "FOUR"))
    assert b"FOUR" not in world.files.data["a.py"]
    runner.gate.set()
    await settle()
    assert world.files.data["a.py"].decode() == BOTH
    assert world.session.workspace.buffers["a.py"].text() == BOTH
    assert {hunk.decision for hunk in world.session.workspace.hunks} == {Decision.ACCEPTED}


async def test_a_patch_that_streams_meanwhile() -> None:
    world, runner = await thinking({"a.py": TEXT})
    begun = Landing(world.session.workspace, turn=2, call_id="call_2")
    whole = patch("four", "FOUR")
    begun.feed(whole[: len(whole) // 2])
    begun.tail()
    runner.gate.set()
    await settle()
    begun.feed(whole[len(whole) // 2 :])
    begun.finish(cut=False)
    world.session.submit(intents.Accept())
    await settle()
    assert world.files.data["a.py"].decode() == BOTH


async def test_files_that_are_accepted_together_are_written_together() -> None:
    world, runner = await thinking({"a.py": TEXT, "b.py": TEXT, "c.py": TEXT})
    land(world, patch("four", "FOUR") + patch("four", "FOUR", "b.py"), turn=2)
    world.session.submit(intents.Accept())
    assert b"FOUR" not in world.files.data["b.py"], "all of them, or none"
    land(world, patch("four", "FOUR", "c.py"), turn=3)
    world.session.submit(intents.Accept())
    assert b"FOUR" in world.files.data["c.py"], "it has nothing to wait for"
    runner.gate.set()
    await settle()
    assert world.files.data["a.py"].decode() == BOTH
    assert world.files.data["b.py"].decode() == TEXT.replace("four", "FOUR")
    assert not any(map(world.session.workspace.is_dirty, ("a.py", "b.py", "c.py")))


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


@pytest.mark.parametrize("choice", [KEEP_MINE, TAKE_THEIRS, DECIDE_LATER])
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
    (ask,) = world.session.status.asks
    world.session.submit(intents.Answer(ask.id, choice))
    await settle()
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


@pytest.mark.parametrize("left", [None, b"", b"one\nT W"])
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
    await world.session.close()


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


async def test_what_others_wrote_before_it_began_is_looked_at_first() -> None:
    world = formatted({"a.py": TEXT})
    runner = world.ports.runner = Thinking(world)
    land(world, patch("two", "TWO"))
    world.session.submit(intents.Accept())
    world.files.data["a.py"] = world.files.data["a.py"].replace(b"five", b"5")
    await runner.started.wait()
    runner.gate.set()
    await settle()
    text = TEXT.replace("two", "T W O").replace("five", "5")
    assert world.files.data["a.py"].decode() == text
    assert world.session.workspace.buffers["a.py"].text() == text
    (change,) = world.session.workspace.take_tool_changes()
    assert change.new_text == "T W O\n", "the rest was somebody else's"
