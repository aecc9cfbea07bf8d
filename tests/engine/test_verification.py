from __future__ import annotations

import asyncio

from tests.support.fakes import World, settle
from tests.support.tables import each
from tui.core.conversation import Block, BlockKind
from tui.core.patches.landing import Landing
from tui.core.programs import RunResult
from tui.core.run_report import FailedTest, RunReport
from tui.engine import intents
from tui.engine.ports import VerifyCommand
from tui.engine.verification import TAIL_CHARS, ending, short_title, verdict_of


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


@each(
    "argv, title",
    [
        (["/opt/venv/bin/python3", "-m", "pytest", "-q"], "pytest -q"),
        (["/opt/venv/bin/pytest", "-k", "a b"], "pytest -k 'a b'"),
        (["python", "check.py"], "python check.py"),
        ("/opt/bin/make test", "/opt/bin/make test"),
    ],
)
def test_a_run_is_named_without_the_places_of_its_programs(
    argv: str | list[str], title: str
) -> None:
    assert short_title(argv) == title


async def test_pending_hunks_are_not_on_disk_and_the_conversation_says_so() -> None:
    """A verdict over the saved files would surprise who looks at the editor."""
    world = World({"a.py": "x = 1\n"})
    lands(world, "a.py", "x = 2")
    world.session.submit(intents.Verify())
    await settle()
    notes = [b.text for b in world.session.transcript.blocks if b.kind is BlockKind.NOTE]
    assert notes == ["the tests run without 1 pending hunk in a.py: not on disk"]


def lands(world: World, path: str, line: str) -> None:
    """The model puts this in the place of ``x = 1``."""
    landing = Landing(world.session.workspace, turn=1, call_id="c1")
    landing.feed(f"*** Begin Patch\n*** Update File: {path}\n@@\n-x = 1\n+{line}\n*** End Patch\n")
    landing.finish(cut=False)


def reads(world: World, report: RunReport) -> None:
    """F5 runs ``pytest -q``, which fails and leaves this report."""
    world.runner.result = RunResult(1, 0.5)
    world.verify = VerifyCommand(
        ("/x/bin/python", "-m", "pytest", "-q"),
        "pytest of .venv",
        options=("--junitxml=/x",),
        report_file="/x",
        reader=lambda output, passed: report,
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
    assert world.runner.commands == [("/x/bin/python", "-m", "pytest", "-q", "--junitxml=/x")]
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
