from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.support.fakes import FakeRunner, World, settle
from tests.support.tables import each
from tests.support.turns import land, notes, update
from tui.core.conversation import Block, BlockKind
from tui.core.document.hunk import Decision
from tui.core.patches.landing import Landing
from tui.core.programs import AS_THE_USER, CommandLine, Output, RunOptions, RunResult
from tui.core.run_report import FailedTest, RunReport
from tui.engine import formatting, intents
from tui.engine.disk_changes import DECIDE_LATER, KEEP_MINE, TAKE_THEIRS
from tui.engine.failure_words import TAIL_CHARS
from tui.engine.ports import Part, VerifyCommand
from tui.engine.session import SessionOptions, unsaved_paths
from tui.engine.verification import (
    ALLOW_ALWAYS,
    ALLOW_ONCE,
    REFUSE,
    ending,
)
from tui.engine.verifier_plan import verdict_of
from tui.errors import SettingsError


def runs(world: World) -> list[Block]:
    return [b for b in world.session.transcript.blocks if b.kind is BlockKind.RUN]


async def test_a_failure_goes_to_the_model_with_its_tail(world: World) -> None:
    world.runner.result = RunResult(2, 0.5)
    world.runner.output = ["early\n" * 4000, "E   assert 1 == 2\n"]
    world.session.submit(intents.SendFailure())
    assert world.session.drain().troubles
    world.session.submit(intents.RunCommand("make check"))
    await settle()
    assert world.session.status.verdict == ""
    world.session.submit(intents.SendFailure())
    request = await world.wire.request(1)
    text = request["input"][-1]["content"][0]["text"]
    assert "`make check` failed (exit 2)" in text
    assert "E   assert 1 == 2" in text
    assert len(text) < TAIL_CHARS + 500
    assert not world.session.status.can_send_failure


async def test_one_command_at_a_time_and_it_can_be_stopped(world: World) -> None:
    world.runner.hold = asyncio.Event()
    world.session.submit(intents.RunCommand("sleep 100"))
    await settle()
    assert world.session.status.running == "sleep 100"
    world.session.submit(intents.RunCommand("ls"))
    assert world.session.drain().troubles
    world.session.submit(intents.StopCommand())
    await settle()
    assert world.session.status.running == ""
    assert runs(world)[0].state == "cut"
    assert "[stopped after" in runs(world)[0].text
    assert not world.session.status.can_send_failure


async def test_one_that_waits_for_a_slow_disk_is_shown_and_can_be_stopped(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = asyncio.Event()
    monkeypatch.setattr(world.session.services.state.witness, "kept", disk.wait)
    world.session.submit(intents.RunCommand("sleep 100"))
    await settle()
    assert world.session.status.running == "sleep 100"
    world.session.submit(intents.StopCommand())
    await settle()
    assert runs(world)[0].state == "cut"
    assert world.runner.commands == []


async def test_one_that_is_being_stopped_gives_way_to_the_next(world: World) -> None:
    world.runner.hold = asyncio.Event()
    world.session.submit(intents.RunCommand("sleep 100"))
    await settle()
    world.session.submit(intents.StopCommand())
    world.session.submit(intents.RunCommand("ls"))
    await settle()
    assert not world.session.drain().troubles
    assert [run.state for run in runs(world)] == ["cut", "open"]
    assert world.session.status.running == "ls"


async def test_commands_of_the_workspace_are_asked_for(world: World) -> None:
    world.verify = VerifyCommand("rm -rf x", ".duetto/config.toml", needs_consent=True)
    world.session.submit(intents.Verify())
    await settle()
    ask = world.session.status.asks[0]
    assert ask.question == "Run rm -rf x ?"
    world.session.submit(intents.Answer(ask.id, "whatever"))
    await settle()
    assert world.runner.commands == []
    world.session.submit(intents.Verify())
    await settle()
    await world.answers(1)
    assert world.runner.commands == ["rm -rf x"]
    assert world.remembered == ["rm -rf x"]
    world.session.submit(intents.Verify())
    await settle()
    assert len(world.runner.commands) == 2


async def test_nothing_to_verify_with(world: World) -> None:
    world.verify = None
    world.session.submit(intents.Verify())
    await settle()
    assert world.session.status.verdict == "error"
    assert "[verify]" in world.session.drain().troubles[0].next_step


async def test_closing_ends_a_running_command(world: World) -> None:
    world.runner.hold = asyncio.Event()
    world.session.submit(intents.Verify())
    await settle()
    await world.session.close()
    assert runs(world)[0].state == "cut"


@each(
    "result, verdict, words",
    [
        (RunResult(0, 1.0), "passed", "[exit 0 after 1.0 s]"),
        (RunResult(5, 1.0), "failed", "[exit 5 after 1.0 s]"),
        (RunResult(-9, 1.0), "failed", "[ended by signal 9 after 1.0 s]"),
        (RunResult(-15, 9.0, timed_out=True), "timeout", "[stopped at its deadline of 9 s]"),
        (RunResult(None, 0.0, error="cannot start"), "error", "[cannot start]"),
        (RunResult(None, 2.0, stopped=True), "", "[stopped after 2.0 s]"),
    ],
)
def test_endings(result: RunResult, verdict: str, words: str) -> None:
    assert verdict_of(result, RunReport()) == verdict
    assert ending(result, 9.0) == words


async def test_the_tests_run_on_what_the_screen_shows() -> None:
    """With what waits for a decision and what was typed; the disk is as it was."""
    world = World({"a.py": "x = 1\n", "b.py": "y = 1\n"})
    lands(world, "a.py", "x = 2")
    world.session.submit(intents.OpenFile("b.py"))
    world.session.workspace.edit("b.py", (0, 0), (0, 1), "z")
    reads(world, RunReport())
    world.session.submit(intents.Verify())
    await settle()
    assert world.runner.hows[0].shadow is world.shadows.made[0]
    assert world.shadows.made[0].texts == {"a.py": b"x = 2\n", "b.py": b"z = 1\n"}
    assert world.shadows.made[0].closed
    assert world.files.data["a.py"] == b"x = 1\n"
    report = runs(world)[-1].report
    assert report is not None
    assert report.ground == "1 pending hunk and unsaved text"
    assert notes(world) == []


async def test_only_the_disk_is_verified_when_that_is_asked_for() -> None:
    world = World({"a.py": "x = 1\n"})
    lands(world, "a.py", "x = 2")
    world.session.submit(intents.Verify(disk=True))
    await settle()
    assert world.runner.hows[-1].shadow is None
    assert notes(world) == ["the tests run without 1 pending hunk in a.py: not on disk"]


async def test_without_a_shadow_the_disk_is_verified_and_the_conversation_says_so() -> None:
    world = World({"a.py": "x = 1\n"})
    world.shadows.refusal = "overlays do not work here"
    lands(world, "a.py", "x = 2")
    world.session.submit(intents.Verify())
    await settle()
    assert world.runner.hows[-1].shadow is None
    assert notes(world) == [
        "the tests run on the disk: overlays do not work here",
        "the tests run without 1 pending hunk in a.py: not on disk",
    ]


async def test_what_is_all_on_the_disk_is_verified_there() -> None:
    world = World({"a.py": "x = 1\n"})
    world.session.submit(intents.OpenFile("a.py"))
    world.session.submit(intents.Verify())
    await settle()
    assert world.runner.hows[-1].shadow is None
    assert notes(world) == []


async def test_hunks_that_come_to_what_is_on_the_disk_are_not_said_to_be_left_out() -> None:
    world = World({"a.py": "x = 1\n"})
    lands(world, "a.py", "x = 2")
    lands(world, "a.py", "x = 1", was="x = 2")
    world.session.submit(intents.Verify())
    await settle()
    assert world.session.status.verdict == "passed"
    assert notes(world) == []
    world.session.submit(intents.Verify(disk=True))
    await settle()
    assert notes(world) == ["the tests run without 2 pending hunks in a.py: not on disk"]


async def test_a_run_that_used_the_disk_gives_no_verdict_on_the_screen() -> None:
    world = World({"a.py": "x = 1\n"})
    lands(world, "a.py", "x = 2")
    world.runner.result = RunResult(0, 0.5, strayed="a.py")
    world.session.submit(intents.Verify())
    await settle()
    assert world.session.status.verdict == "error"
    report = runs(world)[-1].report
    assert report is not None
    assert report.fault == "the tests used a.py as it is on the disk, without what the screen shows"


async def quiet(world: World) -> bool:
    """Whether the verdict is out of date when nothing changes any more."""
    for _ in range(3):
        world.session.drain()
        await settle()
        world.clock.advance(1)
        await settle()
    assert runs(world)[-1].outdated == world.session.status.outdated
    return world.session.status.outdated


async def test_a_verdict_is_out_of_date_while_the_texts_are_others() -> None:
    world = World({"a.py": "x = 1\n", "b.py": "y = 1\n"})
    lands(world, "a.py", "x = 2")
    world.session.submit(intents.Verify())
    await settle()
    assert not await quiet(world)
    workspace = world.session.workspace
    workspace.edit("a.py", (0, 0), (0, 0), "#")
    world.session.drain()
    assert world.session.status.outdated, "at once"
    assert await quiet(world)
    workspace.undo("a.py")
    assert not await quiet(world), "the texts are the same again"
    world.session.submit(intents.Reject())
    assert await quiet(world)


async def test_a_verdict_holds_for_what_was_accepted_since() -> None:
    world = World({"a.py": "x = 1\n"})
    lands(world, "a.py", "x = 2")
    world.session.submit(intents.Verify())
    await settle()
    world.session.submit(intents.Accept())
    await settle()
    assert world.files.data["a.py"] == b"x = 2\n"
    assert not await quiet(world)


async def test_a_verdict_on_the_disk_knows_nothing_of_what_waits() -> None:
    world = World({"a.py": "x = 1\n"})
    world.session.submit(intents.OpenFile("a.py"))
    world.session.submit(intents.Verify(disk=True))
    await settle()
    lands(world, "a.py", "x = 2")
    assert not await quiet(world)
    world.session.submit(intents.Accept())
    assert await quiet(world)


async def test_a_verdict_on_the_screen_is_out_of_date_when_a_hunk_comes() -> None:
    world = World({"a.py": "x = 1\n"})
    world.session.submit(intents.Verify())
    await settle()
    lands(world, "a.py", "x = 2")
    assert await quiet(world)


async def test_what_others_write_makes_a_verdict_out_of_date() -> None:
    """For good: what is not open is not looked at."""
    world = World({"a.py": "x = 1\n"})
    await world.runs()
    world.session.submit(intents.OpenFile("a.py"))
    world.session.submit(intents.Verify())
    await settle()
    assert not await quiet(world)
    world.changed_outside(f"below/{world.files.mark}a.py.tmp")
    assert not await quiet(world), "a save of our own"
    world.session.workspace.edit("a.py", (0, 0), (0, 0), "#")
    world.session.drain()
    world.changed_outside("other.py")
    world.session.workspace.undo("a.py")
    assert await quiet(world)
    world.session.submit(intents.Verify())
    await settle()
    assert not await quiet(world)


async def test_what_others_write_while_the_disk_is_verified_makes_the_verdict_out_of_date() -> None:
    """What the tests themselves make there does not, also where it is told late, or made anew."""
    world = World({"a.py": "x = 1\n", "other.py": "y = 1\n", "third.py": ""})
    await world.runs()

    writes: dict[str, bytes] = {}

    async def verified(*changed: str) -> bool:
        world.runner.hold = asyncio.Event()
        world.session.submit(intents.Verify(disk=True))
        await settle()
        world.changed_outside(*changed)
        world.files.data |= {path: text for path in changed if (text := writes.get(path))}
        world.runner.hold.set()
        await settle()
        return world.session.status.outdated

    assert await verified("other.py")
    assert not await verified("other.py"), "written anew as it was"
    world.files.data["other.py"] = b"y = 2\n"
    assert not await verified("made.txt", "__pycache__")
    world.changed_outside("late.txt")
    world.files.data |= {"made.txt": b"", "late.txt": b""}
    assert not await quiet(world)
    assert not await verified("made.txt", "late.txt"), "they made these before, too"
    world.changed_outside("third.py")
    assert world.session.status.outdated, "it was there before"
    assert not await verified()
    writes["other.py"] = b"y = 3\n"
    assert await verified("other.py"), "another text"
    assert not await verified("other.py")
    world.clock.advance(2)
    world.changed_outside("made.txt")
    assert await quiet(world), "no run goes on that could have written it"
    assert await verified("made.txt")
    head = "The verdict is out of date: "
    assert [note.removeprefix(head) for note in notes(world) if note.startswith(head)] == [
        f"{path} changed while the tests ran on the disk"
        for path in ("other.py", "third.py", "made.txt")
    ]


def lands(world: World, path: str, line: str, was: str = "x = 1") -> None:
    """The model puts this in the place of another line."""
    landing = Landing(world.session.workspace, turn=1, call_id="c1")
    landing.feed(f"*** Begin Patch\n*** Update File: {path}\n@@\n-{was}\n+{line}\n*** End Patch\n")
    landing.finish(cut=False)


def reads(world: World, report: RunReport, before: Sequence[FailedTest] = ()) -> None:
    """F5 runs ``pytest -q``, which fails and leaves this report; what failed ``before`` is told."""

    def part(part: Part) -> VerifyCommand | None:
        if not part.failed:
            return None
        then = RunReport(tuple(before))
        again = ("pytest", *(one.name for one in part.failed))
        return VerifyCommand(again, "", reader=lambda output, passed: then)

    world.runner.result = RunResult(1, 0.5)
    world.verify = VerifyCommand(
        ("/x/bin/python", "-m", "pytest", "-q"),
        "pytest of .venv",
        options=("--junitxml=/x",),
        report_file="/x",
        reader=lambda output, passed: report,
        part=part,
    )


async def test_failed_tests_go_to_the_model_under_one_line() -> None:
    """The changed file's test is first, and the conversation shows no dump."""
    world = World({"cache.py": "x = 1\n"})
    lands(world, "cache.py", "x = 2")
    other = FailedTest("test_other", "test_other.py", 1, "boom", "boom\n" * 30)
    cache = FailedTest("test_put", "test_cache.py", 4, "assert 1 == 2", "E   assert 1 == 2\n" * 9)
    reads(world, RunReport((other, cache)))
    world.runner.output = ["--- generated xml", " file: /x ---\n1 failed\n"]
    world.session.submit(intents.Verify())
    await settle()
    assert world.runner.commands[0] == ("/x/bin/python", "-m", "pytest", "-q", "--junitxml=/x")
    run = runs(world)[-1]
    assert (run.title, run.state) == ("pytest -q · .venv", "failed")
    assert run.text == "1 failed\n[exit 1 after 0.5 s]\n", "not a word of the report's file"
    assert run.report is not None
    assert run.report.failed == (other, cache)
    world.session.submit(intents.SendFailure())
    await settle()
    said = [b for b in world.session.transcript.blocks if b.kind is BlockKind.USER][-1]
    assert said.title == "Fix 2 failed tests of pytest -q"
    assert said.text.index("test_put") < said.text.index("test_other")


async def test_a_module_that_the_session_brought_into_a_test_is_a_failure() -> None:
    world = World({"test_a.py": "x = 1\n"})
    lands(world, "test_a.py", "import flask")
    one = FailedTest("test_a.py", "test_a.py", 0, "No module named 'flask'")
    reads(world, RunReport((one,), "flask is not installed in .venv", "pip install -e ."))
    world.session.submit(intents.Verify())
    await settle()
    assert world.session.status.verdict == "failed"
    assert world.session.status.can_send_failure


async def test_the_projects_own_command_is_asked_for_again_when_its_content_changes(
    world: World,
) -> None:
    for content in ("1", "2"):
        world.verify = VerifyCommand(("make", "test"), "Makefile", True, content=content)
        world.session.submit(intents.Verify())
        await settle()
        await world.answers(1)
        world.session.submit(intents.Verify())
        await settle()
    assert world.remembered == ["make test #1", "make test #2"]
    assert len(world.runner.commands) == 4


pytestmark = pytest.mark.case("G08")
TEXT = "one\ntwo\nthree\nfour\nfive\n"


class Formatter(FakeRunner):
    """Gives every ``two`` a space, and does what else it is told to."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.data = world.files.data
        self.seen: list[list[str]] = []
        self.change: Callable[[bytes], bytes] = lambda data: data.replace(b"TWO", b"T W O")

    async def run(
        self, command: CommandLine, output: Output, deadline_s: float, how: RunOptions = AS_THE_USER
    ) -> RunResult:
        words = shlex.split(command) if isinstance(command, str) else list(command)
        self.seen.append(words[1:])
        if self.hold is not None:
            await self.hold.wait()
        for path in [word.removeprefix("./") for word in words]:
            if path in self.data:
                self.data[path] = self.change(self.data[path])
        return await super().run(command, output, deadline_s)


def formatted(files: dict[str, str], command: VerifyCommand | None = None, **given: Any) -> World:
    """A world with a formatter."""
    world = World(files, options=SessionOptions(**given))
    world.ports.runner = Formatter(world)

    async def look_up() -> VerifyCommand | None:
        return command or VerifyCommand(("fmt",), "config.toml", deadline_s=3)

    world.ports.format_command = look_up
    return world


def runner(world: World) -> Formatter:
    found = world.ports.runner
    assert isinstance(found, Formatter)
    return found


def patch(old: str, new: str, path: str = "a.py") -> str:
    return update(path, f"-{old}", f"+{new}")


async def test_it_runs_on_what_was_accepted_and_its_result_is_taken_over() -> None:
    world = formatted({"a.py": TEXT, "-b.py": TEXT})
    workspace = world.session.workspace
    land(world, patch("two", "TWO"))
    land(world, patch("four", "TWO", "-b.py"), turn=2)
    world.session.submit(intents.Accept())
    await settle()
    assert runner(world).seen == [["a.py", "./-b.py"]]
    text = TEXT.replace("two", "T W O")
    assert workspace.buffers["a.py"].text() == text
    assert world.files.data["a.py"] == text.encode()
    assert not workspace.is_dirty("a.py")
    assert not workspace.conflicts


async def test_what_is_typed_while_it_runs_stays() -> None:
    world = formatted({"a.py": TEXT})
    workspace, session = world.session.workspace, world.session
    runner(world).hold = asyncio.Event()
    session.submit(intents.OpenFile("a.py"))
    workspace.edit("a.py", (1, 0), (1, 3), "TWO")
    session.submit(intents.SaveFile("a.py"))
    await settle()
    workspace.edit("a.py", (4, 0), (4, 0), "my ")
    workspace.edit("a.py", (1, 3), (1, 3), "!")
    runner(world).hold.set()
    await settle()
    text = workspace.buffers["a.py"].text()
    assert "TWO!" in text
    assert "my five" in text
    assert not workspace.conflicts, "the next save brings it, and it is formatted then"
    session.submit(intents.SaveFile("a.py"))
    await settle()
    assert (
        world.files.data["a.py"]
        == TEXT.replace("two", "T W O!").replace("five", "my five").encode()
    )
    assert workspace.buffers["a.py"].text().encode() == world.files.data["a.py"]


async def test_the_watcher_does_not_take_it_for_somebody_elses() -> None:
    world = formatted({"a.py": TEXT})
    workspace, session = world.session.workspace, world.session
    await session.run()
    await settle()
    runner(world).hold = asyncio.Event()
    land(world, patch("two", "TWO"))
    session.submit(intents.Accept())
    await settle()
    world.files.data["a.py"] = b"half writ"
    world.changed_outside("a.py")
    assert "half" not in workspace.buffers["a.py"].text(), "it is looked at when it is done"
    world.files.data["a.py"] = TEXT.replace("two", "T W O").encode()
    runner(world).hold.set()
    await settle()
    assert len(workspace.take_tool_changes()) == 1
    world.changed_outside("a.py")
    assert workspace.take_tool_changes() == []


@each(
    "result, words",
    [
        (RunResult(2, 0.1), "fmt failed (exit 2)"),
        (RunResult(None, 0.1, error="no such program"), "fmt could not be run: no such program"),
        (RunResult(None, 3, timed_out=True), "fmt was stopped at its deadline of 3 s"),
    ],
)
async def test_a_failure_is_said_once_and_does_no_harm(result: RunResult, words: str) -> None:
    world = formatted({"a.py": TEXT})
    runner(world).result = result
    runner(world).output = ["line 3: no\n"]
    runner(world).change = lambda data: data
    for turn, (old, new) in enumerate([("two", "TWO"), ("four", "FOUR")], 1):
        land(world, patch(old, new), turn)
        world.session.submit(intents.Accept())
        await settle()
    (trouble,) = world.session.drain().troubles
    assert (trouble.what, trouble.why) == (words, "line 3: no")
    assert trouble.severity == "warning"
    assert world.files.data["a.py"] == TEXT.replace("two", "TWO").replace("four", "FOUR").encode()


async def test_what_a_stopped_formatter_left_half_written_is_not_taken_over() -> None:
    world = formatted({"a.py": TEXT}, ask=True)
    runner(world).result = RunResult(None, 3, timed_out=True)
    runner(world).change = lambda data: data[:5]
    land(world, patch("two", "TWO"))
    world.session.submit(intents.Accept())
    await settle()
    world.session._saving.outside(["a.py"])  # the watcher is later
    assert world.session.workspace.buffers["a.py"].text() == TEXT.replace("two", "TWO")
    (ask,) = world.session.status.asks
    assert ask.question == "a.py changed on disk: whose text stays?"
    runner(world).result = RunResult(0, 0.1)
    runner(world).change = lambda data: data
    world.session.submit(intents.Answer(ask.id, ask.choices[0]))
    await settle()
    assert world.files.data["a.py"] == TEXT.replace("two", "TWO").encode()


@each("left", [b"", b" \n", b"a\0b", b"caf\xe9\n"])
async def test_a_formatter_that_leaves_no_text_takes_none_away(left: bytes) -> None:
    """What was just saved would be neither in the buffer nor in the undo, nor on the disk."""
    world = formatted({"a.py": TEXT}, ask=True)
    real = runner(world).change
    runner(world).change = lambda data: left
    land(world, patch("two", "TWO"))
    world.session.submit(intents.Accept())
    await settle()
    world.session._saving.outside(["a.py"])  # the watcher is later
    assert world.session.workspace.buffers["a.py"].text() == TEXT.replace("two", "TWO")
    assert "The formatter left no text in a.py" in [t.what for t in world.session.drain().troubles]
    runner(world).change = real
    await world.answers(KEEP_MINE)
    assert world.files.data["a.py"] == TEXT.replace("two", "T W O").encode()


@each("choice", [ALLOW_ONCE, ALLOW_ALWAYS, REFUSE])
async def test_the_workspaces_own_command_is_asked_for_once(choice: str) -> None:
    command = VerifyCommand("make fmt", ".duetto/config.toml", needs_consent=True)
    world = formatted({"a.py": TEXT}, command, ask=True)
    for turn, (old, new) in enumerate([("two", "TWO"), ("four", "FOUR")], 1):
        land(world, patch(old, new), turn)
        world.session.submit(intents.Accept())
        await settle()
        for ask in world.session.status.asks:
            assert turn == 1
            assert ask.question == "Run make fmt ?"
            world.session.submit(intents.Answer(ask.id, choice))
        await settle()
    assert len(runner(world).commands) == (0 if choice == REFUSE else 2)
    assert world.remembered == (["make fmt"] if choice == ALLOW_ALWAYS else [])
    assert b"FOUR" in world.files.data["a.py"]


async def test_broken_settings_are_said_once() -> None:
    world = formatted({"a.py": TEXT})

    async def broken() -> VerifyCommand | None:
        raise SettingsError(".duetto/config.toml line 1: no")

    world.ports.format_command = broken
    for turn, (old, new) in enumerate([("two", "TWO"), ("four", "FOUR")], 1):
        land(world, patch(old, new), turn)
        world.session.submit(intents.Accept())
        await settle()
    (trouble,) = world.session.drain().troubles
    assert trouble.why == ".duetto/config.toml line 1: no"


async def test_the_model_is_told_once_and_not_that_the_user_did_it() -> None:
    world = formatted({"a.py": TEXT})
    land(world, patch("two", "TWO"))
    world.session.submit(intents.Accept())
    await settle()
    world.session.submit(intents.Prompt("go on"))
    await settle()
    said = str((await world.wire.request(1))["input"])
    assert "The formatter changed this after a save; the user did not:" in said
    assert "-TWO" in said
    assert "+T W O" in said
    assert "The user edited" not in said
    assert "edited by the user" not in said


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
        self, command: CommandLine, output: Output, deadline_s: float, how: RunOptions = AS_THE_USER
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
    """A world in which the first hunk is accepted, and the formatter is running on its file."""
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
    assert said.why == "the formatter is running on it"
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
