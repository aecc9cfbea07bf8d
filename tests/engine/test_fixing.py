"""Mending what failed: a row of tries, each judged on the screen that it leaves, and their end."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable

from msgspec.structs import replace

from tests.support.fakes import World, settle
from tests.support.judged_runs import Failing, Files, Judge, changes, has, judged, read
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.tables import each
from tests.support.turns import land, notes, texts, update
from tui.core.document.hunk import Decision
from tui.core.run_report import RunReport
from tui.engine import intents
from tui.engine.fixing import fingerprint
from tui.engine.ports import FileMarks, FixRules, VerifyCommand
from tui.engine.session import SessionOptions

Reader = Callable[[str, bool], RunReport]
WRONG = 4
"""The line that makes the tests fail where it is ``= 1``."""


def broken(files: Files) -> list[str]:
    return ["test_a", "test_b"] if has(files, WRONG) else []


async def red(
    failing: Failing = broken, reader: Reader = read, **rules: object
) -> tuple[World, Judge]:
    """A screen whose tests fail, with a wrong hunk among others."""
    options = SessionOptions(fix=replace(FixRules(), **rules))
    world, judge = judged(20, failing, options=options)
    assert world.verify is not None
    world.verify = dataclasses.replace(world.verify, reader=reader)
    changes(world, 0, 2, WRONG)
    world.session.submit(intents.Verify())
    await rests(world)
    return world, judge


async def rests(world: World) -> None:
    """Until the model is asked, or all is over."""
    await settle()
    while not (world.session.at_rest or world.session.status.busy):
        await asyncio.sleep(0)
    await settle()


async def tried(world: World, patch: str, outcome: str = "completed") -> None:
    """The model answers the newest request with this patch, and the screen is judged."""
    await world.wire.request(len(world.wire.requests))
    model = SteppedRehearsal(world.wire)
    model.begin()
    if patch:
        number = max((b.turn for b in world.session.transcript.blocks), default=1)
        land(world, patch, turn=number)
    if outcome == "completed":
        model.answers("Done.")
    await rests(world)


def rewrite(number: int, old: str, new: str) -> str:
    return update("a.py", f"-x{number} = {old}\n+x{number} = {new}\n")


async def test_it_tries_until_the_screen_is_green_with_a_row_for_each() -> None:
    def failing(files: Files) -> list[str]:
        text = files["a.py"] or b""
        return broken(files) + (["test_b"] if b"x4 = 2" in text else [])

    world, _ = await red(failing)
    world.session.submit(intents.SendFailure())
    request = texts(await world.wire.request(1))[-1]
    assert "`pytest -q` failed (exit 1): 2 tests." in request
    assert "Hunk 3 in a.py breaks test_a, test_b." in request
    await settle()
    await tried(world, rewrite(WRONG, "1", "2"))
    assert "try 1 · 2 failed → 1 failed · 0.0 s" in notes(world)
    assert "`pytest -q` failed (exit 1): 1 test." in texts(world.wire.requests[1])[-1]
    await tried(world, rewrite(WRONG, "2", "3"))
    assert notes(world)[-2:] == ["try 2 · 1 failed → passed · 0.0 s", "fixed in 2 tries"]
    assert world.session.status.verdict == "passed"
    assert world.session.at_rest
    assert all(hunk.decision is Decision.PENDING for hunk in world.session.workspace.hunks)


async def test_what_is_out_of_date_is_judged_again_before_it_is_sent() -> None:
    world, judge = await red()
    changes(world, 6)
    world.session.drain()
    judge.failing = lambda files: ["test_c"] if has(files, 6) else []
    world.session.submit(intents.SendFailure())
    request = texts(await world.wire.request(1))[-1]
    assert "test_c" in request
    assert "test_a" not in request
    assert "The verdict is out of date: judged again first" in notes(world)
    await settle()
    await tried(world, rewrite(6, "1", "2"))
    assert notes(world)[-1] == "fixed in 1 try"


async def test_what_is_green_by_now_is_not_sent() -> None:
    world, _ = await red()
    world.session.submit(intents.Reject((3,)))
    await rests(world)
    world.session.drain()
    world.session.submit(intents.SendFailure())
    await rests(world)
    assert world.session.status.verdict == "passed"
    assert notes(world)[-1] == "Nothing to fix any more"
    assert not world.wires or not world.wire.requests


async def test_changes_of_tests_do_not_count_when_it_is_judged_again() -> None:
    def failing(files: Files) -> list[str]:
        return [] if files["test_a.py"] == b"t = 1\n" else broken(files)

    world, _ = await red(failing, when="auto", tries=1)
    await tried(world, update("test_a.py", "-t = 0\n+t = 1\n"))
    assert "not fixed" in notes(world)[-1]
    changes(world, 6)
    world.session.drain()
    world.session.submit(intents.SendFailure())
    assert "test_a" in texts(await world.wire.request(2))[-1]
    assert "Nothing to fix any more" not in notes(world)


async def test_auto_begins_as_soon_as_the_screen_is_red() -> None:
    world, _ = await red(when="auto")
    assert len(world.wire.requests) == 1
    await tried(world, rewrite(WRONG, "1", "3"))
    assert notes(world)[-1] == "fixed in 1 try"


async def test_what_failed_before_does_not_keep_it_from_its_end() -> None:
    world, _ = await red(lambda files: [*broken(files), "test_old"], when="auto")
    await tried(world, rewrite(WRONG, "1", "3"))
    assert notes(world)[-1] == "fixed in 1 try"
    assert world.session.status.verdict == "same"


async def test_what_failed_before_is_mended_if_that_is_asked_for() -> None:
    world, _ = await red(lambda files: [] if b"x4 = 3" in (files["a.py"] or b"") else ["test_old"])
    assert world.session.status.verdict == "same"
    world.session.submit(intents.SendFailure())
    assert "test_old" in texts(await world.wire.request(1))[-1]
    await settle()
    await tried(world, rewrite(WRONG, "1", "2"))
    assert notes(world)[-1] == "not fixed: the same tests fail in the same way"
    world.session.submit(intents.SendFailure())
    await settle()
    await tried(world, rewrite(WRONG, "2", "3"))
    assert notes(world)[-1] == "fixed in 1 try"


async def test_the_same_failures_twice_end_it() -> None:
    world, _ = await red(when="auto")
    await tried(world, rewrite(6, "0", "1"))
    assert notes(world)[-1] == "not fixed: the same tests fail in the same way"
    assert len(world.wire.requests) == 1


async def test_an_answer_without_changes_ends_it_and_nothing_runs_for_it() -> None:
    world, judge = await red(when="auto")
    runs = len(judge.seen)
    await tried(world, "")
    assert notes(world)[-1] == "not fixed: nothing was changed"
    assert len(judge.seen) == runs
    status = world.session.status
    assert (status.verdict, status.outdated, status.can_send_failure) == ("failed", False, True)


async def test_an_answer_without_changes_is_judged_if_the_disk_is_another_one_now() -> None:
    world, judge = await red(when="auto")
    await world.runs()
    world.session.drain()
    runs = len(judge.seen)
    world.changed_outside("other.py")
    await tried(world, "")
    assert len(judge.seen) > runs


def test_a_failure_is_another_one_with_other_values_but_not_in_another_run() -> None:
    assert fingerprint("<C at 0x7f1> took 3.2 s") == fingerprint("<C at 0x8e2> took 1 s")
    assert fingerprint("assert -1 == 3") != fingerprint("assert 2 == 3")


async def test_tests_that_are_not_found_any_more_end_it() -> None:
    world, _ = await red(when="auto")
    world.verify = None
    await tried(world, rewrite(WRONG, "1", "3"))
    assert notes(world)[-1] == "nothing could be judged"
    assert world.session.at_rest


async def test_to_and_fro_ends_it() -> None:
    def failing(files: Files) -> list[str]:
        return ["test_b"] if b"x4 = 2" in (files["a.py"] or b"") else broken(files)

    world, _ = await red(failing, when="auto", tries=9)
    await tried(world, rewrite(WRONG, "1", "2"))
    assert len(world.wire.requests) == 2
    await tried(world, rewrite(WRONG, "2", "1"))
    assert notes(world)[-1] == "not fixed: it goes to and fro between two states"


async def test_tries_time_and_esc_end_it() -> None:
    def failing(files: Files) -> list[str]:
        return [f"test_{hash(files['a.py'])}"]

    world, _ = await red(failing, when="auto", tries=2)
    await tried(world, rewrite(6, "0", "1"))
    await tried(world, rewrite(8, "0", "1"))
    assert notes(world)[-1] == "not fixed: 2 tries in vain"

    world, _ = await red(failing, when="auto", seconds=5.0)
    world.clock.seconds += 6
    await tried(world, rewrite(6, "0", "1"))
    assert notes(world)[-1] == "not fixed in 5 s"

    world, _ = await red(failing, when="auto")
    await settle()
    world.session.submit(intents.Interrupt())
    await tried(world, "", outcome="interrupted")
    assert not notes(world)[-1].startswith("try")
    assert len(world.wire.requests) == 1


@each("end", ["stopped", "taken out", "held, then taken out", "held, then reworded"])
async def test_a_try_that_is_not_sent_is_none(end: str) -> None:
    """It waits behind another turn; then it is taken out, or that turn is stopped."""
    world, _ = await red()
    world.session.submit(intents.Prompt("something else"))
    await settle()
    world.session.submit(intents.SendFailure())
    await settle()
    model = SteppedRehearsal(world.wire)
    model.begin()
    if end == "stopped":
        world.session.submit(intents.Interrupt())
        model.interrupted()
    elif end.startswith("held"):
        world.session.submit(intents.HoldQueued(0))
        model.answers("Done.")
        await settle()
        text = "something quite different" if "reworded" in end else ""
        world.session.submit(intents.EditQueued(0, text))
        world.session.submit(intents.HoldQueued(None))
        world.session.drain()
        await settle()
        if text:
            await tried(world, "")
    else:
        world.session.submit(intents.Unqueue(0))
        await settle()
        model.answers("Done.")
    await settle()
    assert world.session.at_rest


async def test_what_the_user_asks_for_goes_before() -> None:
    world, judge = await red(when="auto")
    judge.hold = asyncio.Event()
    model = SteppedRehearsal(world.wire)
    model.begin()
    land(world, rewrite(6, "0", "1"))
    model.answers("Done.")
    await settle()
    world.session.submit(intents.Prompt("something else"))
    await settle()
    judge.hold.set()
    await settle()
    assert not any(note.startswith("try") for note in notes(world))
    assert texts(world.wire.requests[-1])[-1].endswith("something else")


async def test_a_changed_test_is_red_and_does_not_count() -> None:
    def failing(files: Files) -> list[str]:
        return [] if files["test_a.py"] == b"t = 1\n" else broken(files)

    world, _ = await red(failing, when="auto")
    await tried(world, update("test_a.py", "-t = 0\n+t = 1\n"))
    hunk = world.session.workspace.hunks[-1]
    assert (hunk.flags, hunk.is_blamed) == (("changes what judges it",), True)
    assert "try 1 · 2 failed → 2 failed · 0.0 s" in notes(world)
    told = texts(world.wire.requests[1])[-1]
    assert "You changed what judges you (test_a.py): that does not count." in told
    await tried(world, rewrite(WRONG, "1", "3"))
    assert notes(world)[-1].startswith("fixed in 2 tries · 1 change of tests did not count")
    world.session.submit(intents.SetAutoAccept(True))
    await settle()
    assert hunk.decision is Decision.PENDING


async def test_the_card_says_what_a_verdict_leaves_out_and_is_not_out_of_date() -> None:
    def failing(files: Files) -> list[str]:
        return [] if files["test_a.py"] == b"t = 1\n" else broken(files)

    world, judge = await red(failing, when="auto", tries=2)
    runs = len(judge.seen)
    await tried(world, update("test_a.py", "-t = 0\n+t = 1\n"))
    assert len(judge.seen) == runs, "what counts is as it was"
    await tried(world, rewrite(6, "0", "1"))
    assert notes(world)[-1].startswith("not fixed: 2 tries in vain · 1 change of tests")
    world.session.drain()
    await settle()
    card = next(b for b in world.session.transcript.blocks[::-1] if b.title == "pytest -q")
    assert card.report is not None
    assert card.report.ground == "4 pending hunks"
    assert card.report.left_out == "hunk 4, which changes what judges it"
    assert (card.outdated, world.session.status.outdated) == (False, False)
    world.session.submit(intents.Accept((4,)))
    await settle()
    world.session.drain()
    await settle()
    assert world.session.status.outdated, "now it counts"


async def test_a_changed_test_is_not_accepted_by_itself_while_it_lands() -> None:
    def failing(files: Files) -> list[str]:
        return [] if files["test_a.py"] == b"t = 1\n" else broken(files)

    world, _ = await red(failing, when="auto")
    world.session.submit(intents.SetAutoAccept(True))
    await tried(world, update("test_a.py", "-t = 0\n+t = 1\n"))
    hunk = world.session.workspace.hunks[-1]
    assert hunk.flags == ("changes what judges it",)
    assert hunk.decision is Decision.PENDING
    assert world.files.data["test_a.py"] == b"t = 0\n"
    assert "try 1 · 2 failed → 2 failed · 0.0 s" in notes(world)
    told = texts(world.wire.requests[1])[-1]
    assert "You changed what judges you (test_a.py): that does not count." in told


@each(
    "patch",
    [
        update("test_a.py", "-t = 0", "+t = 1"),
        "*** Begin Patch\n*** Delete File: test_a.py\n*** End Patch\n",
        "*** Begin Patch\n*** Update File: test_a.py\n*** Move to: a_test\n*** End Patch\n",
        "*** Begin Patch\n*** Add File: conftest.py\n+collect_ignore = ['a']\n*** End Patch\n",
        "*** Begin Patch\n*** Add File: tests/conftest_data.txt\n+1\n*** End Patch\n",
        "*** Begin Patch\n*** Add File: sub/conftest.py\n+skip = 1\n*** End Patch\n",
    ],
)
async def test_no_way_of_changing_tests_counts(patch: str) -> None:
    def failing(files: Files) -> list[str]:
        as_it_was = files.get("test_a.py") == b"t = 0\n"
        return broken(files) if as_it_was and not any("conftest" in path for path in files) else []

    world, _ = await red(failing, when="auto")
    await tried(world, patch)
    assert world.session.workspace.hunks[-1].is_blamed
    assert world.session.status.verdict == "failed"
    assert "that does not count" in texts(world.wire.requests[1])[-1]


async def test_what_configures_a_linter_judges_too() -> None:
    def failing(files: Files) -> list[str]:
        return [] if "ruff.toml" in files else broken(files)

    world, _ = await red(failing)
    rules = FileMarks(("test_*.py",), ("ruff.toml",))
    lint = VerifyCommand(
        ("ruff",), "ruff found", reader=read, name="ruff", kind="lint", marks=rules
    )
    world.others = [lint]
    world.session.submit(intents.Verify())
    await rests(world)
    world.session.submit(intents.SendFailure())
    await settle()
    await tried(world, "*** Begin Patch\n*** Add File: ruff.toml\n+ignore = ['a']\n*** End Patch\n")
    assert world.session.workspace.hunks[-1].flags == ("changes what judges it",)
    assert "You changed what judges you (ruff.toml)" in texts(world.wire.requests[1])[-1]


async def test_what_looks_made_for_the_test_counts_and_is_marked() -> None:
    def failing(files: Files) -> list[str]:
        return [] if b"x == 7" in (files["a.py"] or b"") else broken(files)

    def told(output: str, passed: bool) -> RunReport:
        report = read(output, passed)
        says = "assert f(7) == 49\ntest_a.py:12: AssertionError"
        return replace(report, failed=tuple(one._replace(detail=says) for one in report.failed))

    world, _ = await red(failing, reader=told, when="auto")
    await tried(world, rewrite(WRONG, "1", "49 if x == 7 else 1"))
    hunk = world.session.workspace.hunks[-1]
    assert hunk.flags == ("may be made for the test: it returns 49 for 7",)
    assert not hunk.is_blamed
    assert notes(world)[-1] == "fixed in 1 try · look at hunk 4: may be made for the test"
    world.session.submit(intents.SetAutoAccept(True))
    await settle()
    assert hunk.decision is Decision.PENDING


async def test_a_test_that_a_command_changed_on_the_disk_is_named() -> None:
    def failing(files: Files) -> list[str]:
        return ["test_b"] if b"x4 = 2" in (files["a.py"] or b"") else broken(files)

    world, _ = await red(failing, when="auto")
    await world.runs()
    world.changed_outside("test_a.py", "b.txt")
    await tried(world, rewrite(WRONG, "1", "2"))
    assert "On the disk test_a.py changed meanwhile" in texts(world.wire.requests[1])[-1]
    await tried(world, rewrite(WRONG, "2", "3"))
    named = "changed on the disk meanwhile, look at it: test_a.py"
    assert notes(world)[-1] == f"fixed in 2 tries · {named}"


async def test_tests_that_are_skipped_to_pass_do_not_count() -> None:
    def failing(files: Files) -> list[str]:
        return [] if b"x6 = 1" in (files["a.py"] or b"") else broken(files)

    world, judge = await red(failing, when="auto")
    judge.skipped = lambda files: 2 if b"x6 = 1" in (files["a.py"] or b"") else 0
    await tried(world, rewrite(6, "0", "1"))
    assert "try 1 · 2 failed → 2 skipped · 0.0 s" in notes(world)
    told = texts(world.wire.requests[1])[-1]
    assert "Tests that ran before do not any more (2 skipped): that does not count." in told


async def test_what_failed_and_is_skipped_now_is_found_where_another_part_ran() -> None:
    def skipping(output: str, passed: bool) -> RunReport:
        """A runner that tells no counts that could be compared."""
        report = replace(read(output, passed), counts=None)
        return report if report.failed else replace(report, skipped=("test_b", "test_z"))

    world, _ = await red(reader=skipping, when="auto")
    await tried(world, rewrite(WRONG, "1", "2"))
    assert "try 1 · 2 failed → 1 skipped · 0.0 s" in notes(world)
    assert len(world.wire.requests) == 2


async def test_it_rises_when_tries_were_in_vain_and_goes_back() -> None:
    def failing(files: Files) -> list[str]:
        return [f"test_{hash(files['a.py'])}"]

    world, _ = await red(failing, when="auto", tries=1, escalate=("deep",))
    await tried(world, rewrite(6, "0", "1"))
    assert "1 try in vain; next: the deep model, slow-1" in notes(world)
    assert world.session.status.role == "deep"
    await tried(world, rewrite(8, "0", "1"))
    assert "not fixed: 1 try in vain" in notes(world)
    assert world.session.status.role == "fast"


async def test_on_auto_the_step_of_a_higher_effort_is_the_one_that_the_verdict_brought() -> None:
    world, _ = await red(tries=9, escalate=("effort",))
    await world.runs()
    world.session.submit(intents.SetEffort("auto"))
    world.session.submit(intents.SendFailure())
    await world.wire.request(1)
    await settle()
    await tried(world, rewrite(6, "0", "1"))
    assert "the same tests fail in the same way; next: effort high" in notes(world)
    assert world.wire.requests[1]["reasoning"]["effort"] == "high"
    await tried(world, rewrite(8, "0", "1"))
    assert notes(world)[-1] == "not fixed: the same tests fail in the same way"
    assert world.session.status.effort_words("fast") == "auto high"


async def test_on_auto_a_try_that_does_not_mend_what_failed_before_counts_as_failed() -> None:
    world, _ = await red(lambda files: [] if b"x4 = 3" in (files["a.py"] or b"") else ["test_old"])
    await world.runs()
    world.session.submit(intents.SetEffort("auto"))
    world.session.submit(intents.SendFailure())
    await world.wire.request(1)
    await settle()
    await tried(world, rewrite(WRONG, "1", "2"))
    assert "fast thinks with effort high from now on: the tests failed" in notes(world)
