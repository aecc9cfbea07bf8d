"""What an attempt comes to while the user saves, and other runs go on beside its own."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.engine.test_attempts import NEW_FILE, Stand, change, wrong
from tests.support.fakes import settle
from tests.support.judged_runs import TESTS, Judge, changes, has, judged
from tests.support.turns import notes
from tui.core.programs import AS_THE_USER, CommandLine, Output, RunOptions, RunResult
from tui.core.run_report import FailedTest, RunCounts, RunReport
from tui.engine import intents, lane_session
from tui.engine.attempt_judging import AttemptJudge
from tui.engine.judging import THEY_MEET, JudgingPlaces, seen_alone
from tui.engine.ports import VerifyCommand
from tui.engine.verifier_plan import verdict_of


@pytest.fixture(autouse=True)
def no_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_session, "FRAME_S", 0.0)
    monkeypatch.setattr(lane_session, "_STOP_S", 0.0)


async def test_what_the_user_broke_and_saved_meanwhile_is_held_against_none() -> None:
    stand = Stand(lambda files: wrong(files) + ["test_b"] * (b"bad" in (files["b.py"] or b"")))
    stand.world.files.data["b.py"] = b"b = 0\n"
    stand.session.submit(intents.OpenFile("b.py"))
    await settle()
    await stand.asks("2 --all make it one")
    await stand.answers(1, change(0))
    await stand.until(lambda: stand.attempts.rows[0].state == "over")
    stand.session.workspace.edit("b.py", (0, 0), (0, 0), "bad = 1\n")
    stand.session.submit(intents.SaveFile("b.py"))
    await settle()
    stand.before = dict(stand.world.files.data)
    assert b"bad" in stand.before["b.py"]
    await stand.answers(2, change(0), change(2))
    await stand.rests()
    assert stand.order() == [(1, "passes"), (2, "test_b still fails")]


async def test_each_is_judged_beside_what_the_user_saved_meanwhile_in_its_file() -> None:
    """As it would come home: the text that it began with lacks what is needed by now."""
    stand = Stand(
        lambda files: wrong(files) + ["test_new"] * (b"new" not in (files["a.py"] or b""))
    )
    await stand.asks("2 --all make it one")
    judge = stand.judge
    judge.hold = asyncio.Event()
    await stand.answers(1, change(0))
    await stand.until(lambda: len(judge.seen) > 1)  # without any attempt, and the first
    stand.session.submit(intents.OpenFile("a.py"))
    await settle()
    stand.session.workspace.edit("a.py", (8, 0), (8, 0), "new = 1\n")
    stand.session.submit(intents.SaveFile("a.py"))
    await settle()
    stand.before = dict(stand.world.files.data)
    assert b"new" in (stand.before["a.py"] or b"")
    judge.hold.set()
    await stand.answers(2, change(4))
    await stand.rests()
    assert stand.order() == [(1, "passes"), (2, "breaks test_fifth and test_first still fails")]
    assert stand.text().endswith("new = 1\n")


class OnePort(Judge):
    """Tests of which one holds a port, that no other run may hold then.

    Behind the run without any attempt the first one goes on when another runs beside it.
    """

    live = most = 0
    met: asyncio.Event

    async def run(
        self, command: CommandLine, output: Output, deadline_s: float, how: RunOptions = AS_THE_USER
    ) -> RunResult:
        self.live += 1
        self.most = max(self.most, self.live)
        if self.most > 1:
            self.met.set()
        elif self.seen:
            await self.met.wait()
        for _ in range(20):
            await asyncio.sleep(0)
        try:
            return await super().run(command, output, deadline_s, how)
        finally:
            self.live -= 1


async def test_tests_that_disturb_each_other_are_run_alone() -> None:
    stand = Stand()
    judge = OnePort(
        stand.world.files.data, lambda files: wrong(files) + ["test_port"] * (judge.live > 1)
    )
    judge.output, judge.met = [], asyncio.Event()
    stand.world.ports.runner, stand.world.ports.side_by_side = judge, 3
    await stand.asks("3 --all make it one")
    for number, patch in enumerate((change(0), change(0) + change(2), change(4)), 1):
        await stand.answers(number, patch)
    await stand.rests()
    assert judge.most > 1, "they met"
    assert stand.order() == [
        (1, "passes"),
        (2, "passes, with 4 changed lines against 2"),
        (3, "breaks test_fifth and test_first still fails"),
    ]
    assert notes(stand.world).count(THEY_MEET) == 1


async def test_tests_that_met_those_of_the_screen_are_run_again_when_these_are_over() -> None:
    stand = Stand()
    judge = stand.judge
    await stand.asks("2 --all make it one")
    await stand.until(lambda: len(judge.seen) == 1)
    await settle()
    judge.hold, judge.port = asyncio.Event(), True
    stand.session.submit(intents.Verify())
    await stand.until(lambda: len(judge.seen) == 2)
    await stand.answers(1, change(0))
    await stand.answers(2)
    await stand.until(lambda: len(judge.seen) == 3)
    judge.hold.set()
    await stand.rests()
    assert stand.order()[0] == (1, "passes")


@pytest.mark.parametrize("other", [change(2), NEW_FILE, change(2) + NEW_FILE])
async def test_what_is_taken_and_accepted_meanwhile_helps_no_other_attempt(other: str) -> None:
    stand = Stand()
    await stand.asks("2 --all make it one")
    await stand.answers(1, change(0))
    await stand.until(lambda: stand.attempts.rows[0].result is not None)
    stand.session.submit(intents.TakeAttempt(1))
    await stand.until(lambda: bool(stand.session.workspace.hunks))
    stand.session.submit(intents.Accept())
    await stand.until(lambda: stand.world.files.data != stand.before)
    stand.before = dict(stand.world.files.data)
    assert has(stand.before, 0)
    lane = stand.attempts.rows[1].lane
    assert lane is not None
    assert b"x0 = 0" in (lane.files.read("a.py").data or b""), "it does not see it, either"
    await stand.answers(2, other)
    await stand.rests()
    assert stand.order() == [
        (1, "passes"),
        (2, "breaks nothing, mends nothing: 1 test fails as before"),
    ]
    await stand.session.close()


class HaltingLint(Judge):
    """A linter that comes to no end where nothing was changed, and finds one old problem else."""

    async def run(
        self, command: CommandLine, output: Output, deadline_s: float, how: RunOptions = AS_THE_USER
    ) -> RunResult:
        result = await super().run(command, lambda data: None, deadline_s, how)
        lints = "lint" in command
        output(b"old skipped:0" if lints else b"skipped:0")
        halts = lints and not has(self.seen[-1], 0)
        return RunResult(None if halts else int(lints), result.seconds, halts)


async def test_old_problems_are_not_new_where_the_linter_did_not_end_before() -> None:
    world, _ = judged(8, wrong)
    world.ports.runner = HaltingLint(world.files.data, lambda files: [])
    lint = replace(TESTS, argv=("lint",), kind="lint")
    judge = AttemptJudge(world.ports, [TESTS, lint], {})
    judge.begin()
    result = await judge.judge(1, {"a.py": (b"x0 = 0\n", b"x0 = 1\n")})
    assert (result.verdict, result.broke) == ("passed", ())
    await judge.end()
    await world.session.close()


async def test_who_is_judged_alone_and_meets_a_later_run_is_judged_once_more() -> None:
    """Such as a run of the screen, which begins at once."""
    places = JudgingPlaces(2)
    met: list[bool] = []

    async def run() -> bool:
        met.append(not met)
        if met[-1]:
            with places.guest():
                return True
        return False

    assert not await places.alone(run)
    assert met == [True, False]


@pytest.mark.parametrize(("failed", "verdict"), [(1, "passed"), (4, "failed")])
async def test_only_what_was_run_again_alone_is_mended(failed: int, verdict: str) -> None:
    """A report names only so many of those that failed: the others were not looked at again."""
    named = FailedTest("test_a", "a.py", id="a.py::test_a")
    tests = VerifyCommand(
        ("pytest",), "pyproject", part=lambda part: replace(tests, argv=("pytest", *part.named))
    )
    seen: list[CommandLine] = []

    async def look(command: VerifyCommand) -> tuple[RunResult, RunReport]:
        seen.append(command.argv)
        return RunResult(0, 0.1), RunReport(counts=RunCounts(1, 0, 0))

    said = RunResult(1, 0.1), RunReport((named,), counts=RunCounts(5, failed, 0))
    run, report = await seen_alone(JudgingPlaces(2), tests, said, {}, look)
    assert seen == [("pytest", "a.py")]
    assert (verdict_of(run, report), report.counts) == (verdict, (6, failed - 1, 0))
    assert run.status == (verdict == "failed")


async def test_a_search_for_the_blame_and_the_tests_of_a_lane_do_not_meet() -> None:
    stand = Stand(lambda files: ["test_a"] if has(files, 4) else wrong(files))
    judge = stand.judge
    changes(stand.world, 2, 4, 6)
    await stand.asks("2 --all make it one")
    await stand.until(lambda: len(judge.ended) == 1)
    judge.hold = asyncio.Event()
    stand.session.submit(intents.FindBlame())
    await stand.until(lambda: judge.running == 1)
    await stand.answers(1, change(0))
    await stand.until(lambda: stand.attempts.rows[0].state == "judging")
    await settle()
    assert judge.running == 1
    judge.hold.set()
    await stand.answers(2)
    await stand.rests()
    cards = [b for b in stand.session.transcript.blocks if b.title.startswith("blame")]
    assert cards[-1].text.startswith("hunk 2 breaks test_a")


async def test_an_attempt_that_takes_a_module_away_breaks_what_needs_it() -> None:
    """Nothing is missing in the environment, although it looks so."""

    def reads(output: str, passed: bool) -> RunReport:
        gone = FailedTest("test_b", "test_b.py", detail="No module named 'a'")
        return RunReport() if passed else RunReport((gone,), fault="the project is not installed")

    world, _ = judged(8, lambda files: [] if files["a.py"] else ["test_b"])
    judge = AttemptJudge(world.ports, [replace(TESTS, reader=reads)], {})
    judge.begin()
    result = await judge.judge(1, {"a.py": (b"x0 = 0\n", None)})
    assert (result.verdict, result.broke) == ("failed", ("test_b",))
    await judge.end()
    await world.session.close()
