"""Several verifiers at once: what runs, on which part, and what they say together."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.engine.test_verification import lands, runs
from tests.support.fakes import FakeRunner, FakeShadow, World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.tables import each
from tests.support.turns import begun, land
from tui.core.programs import AS_THE_USER, CommandLine, Output, RunOptions, RunResult
from tui.core.run_report import FailedTest, RunCounts, RunReport
from tui.engine import intents, verification
from tui.engine.ports import Part, VerifierKind, VerifyCommand, VerifyWhen
from tui.engine.session import SessionOptions
from tui.engine.verifier_plan import (
    Verdict,
    common_verdict,
    planned,
    short_title,
    verdict_of,
)

BOOM = FailedTest("test_put", "test_cache.py", 4, "boom", "", "test_cache.py::test_put")


def verifier(name: str, kind: VerifierKind, report: RunReport | None = None) -> VerifyCommand:
    """One that has a part for each file of Python."""
    found = report or RunReport()
    whole = VerifyCommand(
        (name,),
        f"{name} found",
        name=name,
        kind=kind,
        reader=lambda output, passed: RunReport() if passed else found,
    )

    def of_part(part: Part) -> VerifyCommand | None:
        named = [*part.named, *(one.id for one in part.failed)]
        files = named or [path for path in part.changed if path.endswith(".py")]
        return replace(whole, argv=(name, *files), part=of_part) if files else None

    return replace(whole, part=of_part)


class Programs(FakeRunner):
    """Ends each command with the status of its program; ``green`` shadows are fine."""

    def __init__(self, **status: int) -> None:
        super().__init__()
        self.status = status
        self.running: list[str] = []
        self.together: set[tuple[str, ...]] = set()
        self.says: dict[str, bytes] = {}
        self.holds: dict[str, asyncio.Event] = {}
        self.ends: dict[Sequence[str], int] = {}
        """The status of a whole command, before that of its program."""
        self.broken = b""
        """A text with which all fails."""

    async def run(
        self, command: CommandLine, output: Output, deadline_s: float, how: RunOptions = AS_THE_USER
    ) -> RunResult:
        name = command[0]
        self.running.append(name)
        self.together.add(tuple(sorted(self.running)))
        output(self.says.get(name, b""))
        try:
            if name in self.holds:
                await self.holds[name].wait()
            await super().run(command, output, deadline_s, how)
        finally:
            self.running.remove(name)
        texts = how.shadow.texts if isinstance(how.shadow, FakeShadow) else {}
        if self.broken and any(self.broken in (text or b"") for text in texts.values()):
            return RunResult(1, 0.1)
        return RunResult(self.ends.get(tuple(command), self.status.get(name, 0)), 0.1)


def stand(*verifiers: VerifyCommand, **status: int) -> tuple[World, Programs]:
    """A session in which a hunk waits in ``cache.py``; the last verifier runs the tests."""
    world = World({"cache.py": "x = 1\n", "other.py": "y = 1\n"})
    lands(world, "cache.py", "x = 2")
    world.ports.runner = runner = Programs(**status)
    *world.others, world.verify = verifiers
    return world, runner


async def verify(world: World, intent: intents.Verify | None = None) -> str:
    world.session.submit(intent or intents.Verify())
    await settle()
    return world.session.status.verdict


async def test_the_tests_that_belong_to_the_change_run_first_then_all() -> None:
    world, runner = stand(verifier("pytest", "tests"))
    assert await verify(world) == "passed"
    assert runner.commands == [("pytest", "cache.py"), ("pytest",)]


async def test_where_the_part_is_long_to_find_all_run_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first look at the imports of a large project keeps no test waiting."""
    monkeypatch.setattr(verification, "_PLAN_S", 0.0)
    world, runner = stand(verifier("ruff", "lint"), verifier("pytest", "tests"))
    await verify(world)
    assert sorted(runner.commands) == [("pytest",), ("ruff",)]


async def test_a_file_whose_deletion_waits_is_gone_where_the_tests_run() -> None:
    world, _ = stand(verifier("pytest", "tests"))
    land(world, "*** Begin Patch\n*** Delete File: other.py\n*** End Patch\n")
    parts: list[Part] = []
    assert world.verify is not None
    world.verify = replace(world.verify, part=lambda part: parts.append(part))
    await verify(world)
    assert parts[0].changed == ("cache.py", "other.py")
    assert parts[0].gone == ("other.py",)


async def test_it_is_said_where_nothing_of_the_verifiers_is_for_these_files() -> None:
    world, runner = stand(replace(verifier("syntax", "syntax"), part=None))
    assert await verify(world) == "error"
    assert runner.commands == []
    assert "Nothing to verify with" in str(world.session.drain().troubles)


async def test_where_all_take_no_time_they_run_at_once_the_next_time() -> None:
    world, runner = stand(verifier("pytest", "tests"))
    await verify(world)
    await verify(world)
    assert runner.commands == [("pytest", "cache.py"), ("pytest",), ("pytest",)]


async def test_where_these_fail_the_others_do_not_run() -> None:
    world, runner = stand(verifier("pytest", "tests", RunReport((BOOM,))), pytest=1)
    world.ports.shadows = None
    assert await verify(world) == "failed"
    assert runner.commands == [("pytest", "cache.py")]


async def test_where_none_of_these_runs_here_all_do() -> None:
    """Such as tests that the project's settings leave out: that is no verdict on the change."""
    empty = RunReport((), "all tests were deselected", counts=RunCounts())
    world, runner = stand(verifier("pytest", "tests", empty))
    runner.ends[("pytest", "cache.py")] = 5
    assert await verify(world) == "passed"
    assert runner.commands == [("pytest", "cache.py"), ("pytest",)]
    runner.ends[("pytest",)] = 5
    assert await verify(world) == "error", "there is no test at all"


async def test_where_nothing_has_the_name_nothing_else_runs_for_it() -> None:
    empty = RunReport((), "there is no test_x", counts=RunCounts())
    world, runner = stand(verifier("mine", "tests"), verifier("pytest", "tests", empty), pytest=4)
    world.verify, world.others = world.others[0], [world.verify]
    assert await verify(world, intents.Verify(tests=("test_x",))) == "error"
    assert runner.commands == [("pytest", "test_x")]


async def test_checks_run_beside_the_tests_each_in_a_shadow() -> None:
    """A slow type checker keeps no test waiting."""
    checks = verifier("ruff", "lint"), verifier("mypy", "types")
    world, runner = stand(*checks, verifier("pytest", "tests"), mypy=1)
    runner.hold = asyncio.Event()
    world.session.submit(intents.Verify())
    await settle()
    assert world.session.status.running == "ruff cache.py · pytest cache.py"
    assert len({how.shadow for how in runner.hows}) == 2
    runner.hold.set()
    await settle()
    assert [run.title for run in runs(world)] == [
        "ruff cache.py",
        "pytest cache.py",
        "mypy",
        "pytest",
    ]


async def test_red_tests_end_the_run_for_who_wants_to_mend_them() -> None:
    """A type checker that takes its time keeps no fix waiting."""
    red = verifier("pytest", "tests", RunReport((BOOM,)))
    world, runner = stand(verifier("mypy", "types"), red, pytest=1)
    world.ports.shadows = None
    runner.holds["mypy"] = asyncio.Event()
    assert await verify(world) == "failed"
    assert world.session.status.can_send_failure
    assert {run.title: run.state for run in runs(world)} == {
        "mypy": "cut",
        "pytest cache.py": "failed",
    }
    assert "not run: pytest" in [block.text for block in world.session.transcript.blocks]


async def test_a_check_that_finds_something_makes_the_verdict_red() -> None:
    problem = FailedTest("F401", "cache.py", 0, "unused import")
    found = verifier("ruff", "lint", RunReport((problem,), noun="problem"))
    world, _ = stand(found, verifier("pytest", "tests"), ruff=1)
    world.ports.shadows = None
    assert await verify(world) == "failed"
    assert world.session.status.judged == "checks"
    world.session.submit(intents.SendFailure())
    await settle()
    text = world.session.transcript.blocks[-1].text
    assert "1 problem. Find the cause" in text or "unused import" in text


async def test_a_check_that_cannot_run_says_nothing_of_the_code() -> None:
    world, _ = stand(verifier("mypy", "types"), verifier("pytest", "tests"), mypy=2)
    assert await verify(world) == "passed"
    block = next(one for one in runs(world) if one.title.startswith("mypy"))
    assert block.report is not None
    assert block.report.fault == "mypy failed"


async def test_what_failed_before_the_change_is_not_its_fault_and_no_success() -> None:
    """What fails is run once more without the session's hunks, once for these texts."""
    world, runner = stand(verifier("pytest", "tests", RunReport((BOOM,))), pytest=1)
    assert await verify(world) == "same"
    assert world.session.status.can_send_failure
    assert runner.commands == [
        ("pytest", "cache.py"),
        ("pytest", "test_cache.py"),
        ("pytest",),
    ]
    assert runner.hows[1].shadow is not runner.hows[0].shadow
    (first, _) = runs(world)
    assert first.report is not None
    assert (first.report.failed, first.report.known) == ((), (BOOM,))
    await verify(world)
    assert runner.commands.count(("pytest", "test_cache.py")) == 1


async def test_what_failed_without_a_name_in_a_part_says_nothing_of_the_whole() -> None:
    """Such as a limit of coverage, under which each part is."""
    world, runner = stand(verifier("pytest", "tests"))
    runner.ends[("pytest", "cache.py")] = 1
    runner.broken = b"x = 2"
    assert await verify(world) == "failed"
    assert runner.commands[:4] == [("pytest", "cache.py")] * 2 + [("pytest",)] * 2


async def test_what_passed_in_this_session_needs_no_second_look_when_it_fails() -> None:
    """Until somebody changes files that are not open: then nothing is known of the rest."""
    tests = verifier("pytest", "tests", RunReport((BOOM,)))
    world, runner = stand(tests)
    assert await verify(world, intents.Verify(disk=True, whole=True)) == "passed"
    runner.status["pytest"] = 1
    assert await verify(world) == "failed"
    assert ("pytest", "test_cache.py") not in runner.commands
    await world.runs()
    world.changed_outside("other.py")
    await settle()
    assert await verify(world) == "same"
    assert ("pytest", "test_cache.py") in runner.commands


async def test_a_change_from_outside_while_it_runs_leaves_the_verdict_out_of_date() -> None:
    """Nobody knows whether the tests saw the file before or after; nor what passed counts."""
    world, runner = stand(verifier("pytest", "tests", RunReport((BOOM,))))
    await world.runs()
    runner.hold = asyncio.Event()
    world.session.submit(intents.Verify(whole=True))
    await settle()
    world.changed_outside("other.py")
    runner.hold.set()
    await settle()
    assert world.session.status.verdict == "passed"
    assert world.session.status.outdated
    assert all(run.outdated for run in runs(world))
    runner.status["pytest"] = 1
    assert await verify(world) == "same"
    assert not world.session.status.outdated


async def test_what_a_hunk_cured_is_as_before_when_that_is_taken_out() -> None:
    """What passed counts while all hunks stand with which it passed."""
    world, runner = stand(verifier("pytest", "tests", RunReport((BOOM,))))
    assert await verify(world, intents.Verify(whole=True)) == "passed"
    world.session.submit(intents.Reject(None))
    lands(world, "cache.py", "x = 3")
    runner.status["pytest"] = 1
    assert await verify(world) == "same"


async def test_stopping_ends_all_of_them() -> None:
    world, runner = stand(verifier("ruff", "lint"), verifier("pytest", "tests"))
    runner.hold = asyncio.Event()
    world.session.submit(intents.Verify())
    await settle()
    world.session.submit(intents.StopCommand())
    await settle()
    assert [run.state for run in runs(world)] == ["cut", "cut"]
    assert (world.session.status.running, world.session.status.verdict) == ("", "")


async def test_stopping_the_look_at_what_failed_before_leaves_no_verdict_of_the_rest() -> None:
    """The tests had failed: that a linter found nothing is not what the run came to."""
    red = verifier("pytest", "tests", RunReport((BOOM,)))
    world, runner = stand(verifier("ruff", "lint"), red, pytest=1)
    world.session.submit(intents.Verify())
    while len(runner.commands) < 2:
        await asyncio.sleep(0)
    runner.hold = asyncio.Event()
    await settle()
    world.session.submit(intents.StopCommand())
    await settle()
    assert runner.commands[-1] == ("pytest", "test_cache.py"), "without the hunk"
    assert [run.state for run in runs(world)] == ["done", "cut"]
    assert (world.session.status.running, world.session.status.verdict) == ("", "")


async def test_all_that_came_with_the_workspace_is_one_question() -> None:
    theirs = [
        replace(verifier(name, kind), needs_consent=True, source=".venv")
        for name, kind in (("mypy", "types"), ("pytest", "tests"))
    ]
    world, runner = stand(verifier("ruff", "lint"), *theirs)
    world.session.submit(intents.Verify())
    await settle()
    (ask,) = world.session.status.asks
    assert ask.question == "Run mypy, pytest ?"
    await world.answers(2)
    assert runner.commands == [("ruff", "cache.py")]


async def test_a_run_shows_how_far_it_has_come() -> None:
    progress = (re.compile(r"(?P<done>\d+)/(?P<all>\d+)"),)
    tests = replace(verifier("pytest", "tests"), progress=(progress,), part=None)
    world, runner = stand(tests)
    runner.says["pytest"], runner.hold = b"37/120\n", asyncio.Event()
    world.session.submit(intents.Verify())
    await settle()
    assert runs(world)[0].progress == "37/120"


async def test_one_verifier_or_some_tests_can_be_named() -> None:
    world, runner = stand(verifier("ruff", "lint"), verifier("pytest", "tests"))
    await verify(world, intents.Verify(only=("lint",)))
    await verify(world, intents.Verify(tests=("test_cache.py::test_put",)))
    assert runner.commands == [("ruff", "cache.py"), ("pytest", "test_cache.py::test_put")]


def live(when: VerifyWhen, **status: int) -> tuple[World, Programs]:
    """A session that verifies unasked; its tests have found something where they fail."""
    world = World(
        {"a.py": "x = 1\n", "b.py": "x = 1\n"},
        options=SessionOptions(conversation="conversation-1", verify=when),
    )
    world.ports.runner = runner = Programs(**status)
    world.others = [replace(verifier("mypy", "types"), needs_consent=True)]
    world.verify = verifier("pytest", "tests", RunReport((BOOM,)) if status else None)
    return world, runner


PATCH = (
    "*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 2\n",
    "*** Update File: b.py\n@@\n-x = 1\n",
    "+x = 3\n*** End Patch\n",
)


async def writes(world: World, *pieces: str) -> SteppedRehearsal:
    """A model has written these pieces of a patch."""
    model = await begun(world)
    world.session.drain()
    call = model.open_patch("call_1")
    for piece in pieces:
        model.patch_delta(call, piece)
    await settle()
    world.session.drain()
    await settle()
    return model


async def test_live_each_file_is_judged_as_soon_as_it_is_whole() -> None:
    """While the rest still streams; there is a card only of what fails, and no question."""
    world, runner = live("live")
    await writes(world, *PATCH[:2])
    assert runner.commands == [("pytest", "a.py")]
    assert runner.hows[0].nice
    assert runs(world) == []
    assert not world.session.status.asks
    world, runner = live("live", pytest=1)
    world.ports.shadows = None
    await writes(world, *PATCH[:2])
    assert runner.commands == [], "where there is no shadow, the disk has nothing of it"


async def test_live_a_file_that_is_whole_waits_for_the_end_of_a_run_that_is_not_out_of_date() -> (
    None
):
    world, runner = live("live")
    runner.hold = asyncio.Event()
    model = await writes(world, *PATCH[:2])
    model.patch_delta("ctc_call_1", "+x = 3\n*** Update File: c.py\n")
    await settle()
    world.session.drain()
    await settle()
    assert runner.commands == [("pytest", "a.py")]
    runner.hold.set()
    await settle()
    world.session.drain()
    await settle()
    assert runner.commands == [("pytest", "a.py"), ("pytest", "b.py")]


async def test_live_what_fails_has_a_card_while_the_model_writes_on() -> None:
    world, runner = live("live", pytest=1)
    runner.ends["pytest", "test_cache.py"] = 0  # on the texts without hunks
    await writes(world, *PATCH[:2])
    (card,) = runs(world)
    assert (card.state, card.report and card.report.known) == ("failed", ())
    assert world.session.status.verdict == "failed"


@pytest.mark.parametrize("when", ["ask", "landed", "live"])
async def test_at_a_turns_end_all_is_judged_where_that_is_wanted(when: VerifyWhen) -> None:
    world, runner = live(when)
    model = await begun(world)
    model.patch("".join(PATCH), "call_1")
    model.complete()
    await world.wire.request(2)
    SteppedRehearsal(world.wire).finishes("done")
    await settle()
    ran = [("pytest", "a.py", "b.py"), ("pytest",)]
    assert runner.commands[-2:] == ([] if when == "ask" else ran)
    assert world.session.status.verdict == ("" if when == "ask" else "passed")


async def test_what_is_asked_for_goes_before_what_runs_unasked() -> None:
    world, runner = live("landed")
    runner.hold = asyncio.Event()
    lands(world, "a.py", "x = 2")
    world.session.drain()
    (await begun(world)).finishes("nothing to do")
    await settle()
    assert world.session.status.running == "pytest a.py"
    world.verify = verifier("unittest", "tests")
    world.others = []
    world.session.submit(intents.Verify())
    await settle()
    assert world.session.status.running == "unittest a.py"
    assert not world.session.drain().troubles


def test_what_writes_files_runs_only_apart_from_the_users() -> None:
    fixer = replace(verifier("pre-commit", "lint"), writes=True)
    changed = Part(changed=("a.py",))
    assert [len(planned([fixer], changed, apart).checks) for apart in (False, True)] == [0, 1]


def test_for_a_file_alone_quick_tests_run_whole_where_there_is_no_smaller_part() -> None:
    tests, changed = verifier("tests", "tests"), Part(changed=("a.js",))
    assert planned([tests], changed, True, rest=False).tests == []
    assert planned([tests], changed, True, rest=False, quick=("tests",)).tests == [tests]
    (part,) = planned([tests], Part(("a.py",)), True, rest=False, quick=("tests",)).tests
    assert part.argv == ("tests", "a.py")


def test_a_linter_that_nothing_concerns_does_not_run() -> None:
    lint = verifier("ruff", "lint")
    assert planned([lint], Part(changed=("a.md",)), True).checks == []
    assert planned([lint], Part(), True).checks == [lint]


@each(
    "verdicts, common",
    [
        ([("lint", "passed"), ("tests", "passed")], "passed"),
        ([("lint", "failed"), ("tests", "passed")], "failed"),
        ([("types", "error"), ("tests", "passed")], "passed"),
        ([("types", "timeout"), ("tests", "passed")], "passed"),
        ([("lint", "passed"), ("tests", "error")], "error"),
        ([("lint", "failed"), ("tests", "timeout")], "failed"),
        ([("lint", "passed"), ("tests", "same")], "same"),
        ([("lint", "same"), ("tests", "passed")], "same"),
        ([("lint", "passed"), ("tests", "")], ""),
        ([("types", "error")], "error"),
        ([], ""),
    ],
)
def test_the_verdict_of_several(verdicts: list[tuple[str, Verdict]], common: Verdict) -> None:
    assert common_verdict(verdicts) == common


@each(
    "status, report, verdict",
    [
        (0, RunReport((BOOM,)), "failed"),
        (0, RunReport(counts=RunCounts(3, 1)), "failed"),
        (0, RunReport(counts=RunCounts(3)), "passed"),
        (1, RunReport(known=(BOOM,), counts=RunCounts(3, 1)), "same"),
        (1, RunReport(known=(BOOM,), counts=RunCounts(3, 2)), "failed"),
        (1, RunReport(), "failed"),
    ],
)
def test_the_report_counts_as_much_as_the_exit_status(
    status: int, report: RunReport, verdict: Verdict
) -> None:
    assert verdict_of(RunResult(status, 1.0), report) == verdict


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
