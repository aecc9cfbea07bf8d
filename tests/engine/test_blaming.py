"""Which hunks broke the tests: `/blame` over shadows of a stand-in, and the marks it leaves."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.support.fakes import World, settle
from tests.support.judged_runs import Files, asks, changes, has, judged
from tests.support.stored_sessions import resumed, stored
from tests.support.tables import each
from tui.core.conversation import Block, BlockKind
from tui.core.document.hunk import Decision
from tui.core.run_report import FailedTest, RunReport
from tui.engine import intents


async def blame(world: World) -> Block:
    return (await asks(world, intents.FindBlame()))[-1]


async def test_the_hunk_that_breaks_a_test_is_named_and_marked() -> None:
    world, judge = judged(40, lambda files: ["test_a", "test_b"] if has(files, 12) else [])
    changes(world, *range(0, 40, 2))
    card = await blame(world)
    assert card.title == "blame · pytest -q"
    assert card.report == RunReport(found="hunk 7")
    assert card.text.splitlines()[0] == "hunk 7 breaks test_a, test_b · a.py:13"
    assert "· 20 hunks, log2 4.3" in card.text
    assert len(judge.seen) <= 11
    marked = [hunk.id for hunk in world.session.workspace.hunks if hunk.is_blamed]
    assert marked == [7]
    assert world.session.workspace.decorations("a.py", 12, 13) == {12: "blamed"}
    assert world.session.drain().hunks
    assert all(shadow.closed for shadow in world.shadows.made)
    assert world.files.data["a.py"].count(b"= 1") == 0


async def test_a_session_that_goes_on_finds_it_too() -> None:
    before, judge = judged(40, lambda files: ["test_a"] if has(files, 12) else [])
    changes(before, *range(0, 40, 2))
    await asks(before, intents.Verify())
    world = await resumed(before, stored(before))
    world.ports.runner, world.verify = judge, before.verify
    cards = [b for b in world.session.transcript.blocks if b.kind is BlockKind.RUN]
    assert cards
    assert all(card.outdated for card in cards), "files may have changed since then"
    assert (await blame(world)).text.startswith("hunk 7 breaks test_a · a.py:13\n")
    assert [hunk.id for hunk in world.session.workspace.hunks if hunk.is_blamed] == [7]


async def test_hunks_that_break_a_test_together_each_say_so() -> None:
    world, _ = judged(40, lambda files: ["test_a"] if has(files, 4, 30) else [], width=3)
    changes(world, *range(0, 40, 2))
    card = await blame(world)
    assert card.text.splitlines()[:3] == [
        "hunks 3 and 16 together break test_a",
        "  a.py:5",
        "  a.py:31",
    ]
    flags = {hunk.id: hunk.flags for hunk in world.session.workspace.hunks if hunk.flags}
    assert flags == {
        3: ("breaks test_a together with hunk 16",),
        16: ("breaks test_a together with hunk 3",),
    }
    assert len(world.shadows.made) <= 3


async def test_what_cured_the_tests_is_named_and_not_marked() -> None:
    world, _ = judged(20, lambda files: [] if has(files, 6) else ["test_a"])
    changes(world, *range(0, 20, 2))
    assert (await blame(world)).text.startswith("hunk 4 cures test_a · a.py:7\n")
    assert not any(hunk.flags for hunk in world.session.workspace.hunks)


async def test_a_decision_in_the_middle_changes_nothing_of_the_search() -> None:
    world, judge = judged(40, lambda files: ["test_a"] if has(files, 12) else [])
    changes(world, *range(0, 40, 2))
    judge.hold = asyncio.Event()
    world.session.submit(intents.FindBlame())
    await settle()
    assert world.session.status.running == "blame · run 1"
    world.session.submit(intents.Reject((20,)))
    world.session.workspace.edit("a.py", (0, 0), (0, 0), "# mine\n")
    judge.hold.set()
    while not world.session.at_rest:
        await asyncio.sleep(0)
    assert [hunk.id for hunk in world.session.workspace.hunks if hunk.is_blamed] == [7]


async def test_a_blamed_hunk_is_not_accepted_unasked_and_the_next_run_forgets_it() -> None:
    world, _ = judged(10, lambda files: ["test_a"] if has(files, 4) else [])
    changes(world, 0, 2, 4)
    await blame(world)
    workspace = world.session.workspace
    world.session.submit(intents.Accept(None))
    await settle()
    assert workspace.hunks[2].decision is Decision.ACCEPTED, "who accepts all has seen it"
    changes(world, 6)
    await asks(world, intents.Verify())
    assert not any(hunk.flags for hunk in workspace.hunks)


async def test_the_mark_goes_when_its_hunk_is_edited_and_with_it_those_of_the_same_fault() -> None:
    world, _ = judged(40, lambda files: ["test_a"] if has(files, 4, 30) else [], width=3)
    changes(world, *range(0, 40, 2))
    await blame(world)
    workspace = world.session.workspace
    workspace.edit("a.py", (8, 0), (8, 0), "# beside\n")
    world.session.drain()
    assert [hunk.id for hunk in workspace.hunks if hunk.is_blamed] == [3, 16]
    workspace.edit("a.py", (4, 0), (4, 2), "y4")
    assert world.session.drain().hunks
    assert not any(hunk.flags for hunk in workspace.hunks)


async def test_it_can_be_stopped_and_leaves_nothing_behind() -> None:
    world, judge = judged(20, lambda files: ["test_a"] if has(files, 6) else [], width=2)
    changes(world, *range(0, 20, 2))
    judge.hold = asyncio.Event()
    world.session.submit(intents.FindBlame())
    await settle()
    world.session.submit(intents.StopCommand())
    await settle()
    assert world.session.at_rest
    assert len(judge.ended) == len(judge.commands) == 1
    assert all(shadow.closed for shadow in world.shadows.made)
    card = [b for b in world.session.transcript.blocks if b.kind is BlockKind.RUN][-1]
    assert (card.state, card.text) == ("cut", "[stopped]\n")


async def test_without_shadows_or_hunks_it_says_why_not() -> None:
    world, _ = judged(4, lambda files: [])
    world.session.submit(intents.FindBlame())
    await settle()
    assert world.session.drain().troubles[0].why == "no hunk waits for a decision"
    changes(world, 0)
    world.ports.shadows = None
    world.session.submit(intents.FindBlame())
    await settle()
    assert world.session.drain().troubles[0].why == "there are no shadows here"


async def test_a_red_screen_looks_for_the_blame_by_itself_with_the_failed_tests_alone() -> None:
    world, judge = judged(40, lambda files: ["test_a"] if has(files, 12) else [], width=2)
    changes(world, *range(0, 40, 2))
    run, found = await asks(world, intents.Verify())
    assert run.title == "pytest -q"
    assert found.title == "blame · pytest -q"
    assert found.text.startswith("hunk 7 breaks test_a · a.py:13\n")
    assert world.session.status.verdict == "failed"
    assert not world.session.status.outdated
    assert [list(command) for command in judge.commands[1:]] == [
        ["pytest", "-q", "only", "test_a"]
    ] * (len(judge.commands) - 1)


async def test_a_red_disk_has_no_hunk_to_blame_and_nothing_is_said_unasked() -> None:
    world, judge = judged(10, lambda files: ["test_old"])
    changes(world, 0, 2)
    assert [card.title for card in await asks(world, intents.Verify())] == ["pytest -q"]
    assert (await blame(world)).text.startswith("test_old fails without these hunks, too\n")
    judge.failing = lambda files: []
    await asks(world, intents.Verify())
    assert (await blame(world)).text.startswith("No test fails, or passes, because of these hunks")


async def test_slow_tests_are_not_searched_unasked() -> None:
    world, judge = judged(40, lambda files: ["test_a"] if has(files, 12) else [])
    judge.seconds = 3.0
    changes(world, *range(0, 40, 2))
    assert len(await asks(world, intents.Verify())) == 1
    assert len(await asks(world, intents.FindBlame())) == 2


async def test_what_is_asked_for_goes_before_a_search_that_was_not() -> None:
    world, judge = judged(40, lambda files: ["test_a"] if has(files, 12) else [])
    changes(world, *range(0, 40, 2))
    world.session.submit(intents.Verify())
    while not world.session.status.running.startswith("blame"):
        await asyncio.sleep(0)
    judge.failing = lambda files: []
    cards = await asks(world, intents.Verify())
    assert not world.session.drain().troubles
    assert [card.state for card in cards] == ["failed", "done"]


async def test_a_test_that_fails_only_among_others_is_searched_among_all_of_them() -> None:
    world, judge = judged(10, lambda files: ["test_a"] if has(files, 4) else [])
    changes(world, 0, 2, 4)
    judge.together = True
    assert (await blame(world)).text.startswith("hunk 3 breaks test_a")


async def test_a_hunk_that_needs_another_is_named_with_it() -> None:
    def failing(files: Files) -> list[str]:
        if has(files, 4) and not has(files, 0):
            return ["test_b"]
        return ["test_a"] if has(files, 4) else []

    world, judge = judged(10, failing)
    judge.together = True
    changes(world, 0, 2, 4)
    assert (await blame(world)).text.startswith(
        "hunk 3, which needs hunk 1, breaks test_a · a.py:5"
    )


async def test_a_module_that_a_hunk_took_away_is_blamed_on_it() -> None:
    def reads(output: str, passed: bool) -> RunReport:
        if passed:
            return RunReport()
        gone = FailedTest("test_a", path="test_a.py", message="ModuleNotFoundError: x")
        return RunReport((gone,), fault="the module x is missing")

    world, _ = judged(10, lambda files: ["test_a"] if has(files, 4) else [])
    assert world.verify is not None
    world.verify = replace(world.verify, reader=reads, part=None)
    changes(world, 0, 2, 4)
    assert (await blame(world)).text.startswith("hunk 3 breaks test_a · a.py:5\n")


@pytest.mark.parametrize("first", [True, False])
async def test_a_hunk_that_ends_the_tests_is_blamed_on_it(first: bool) -> None:
    """Nothing was judged with it, and all passes without it; behind F5 or without it."""

    def reads(output: str, passed: bool) -> RunReport:
        return RunReport() if passed else RunReport(fault="pytest was ended")

    world, judge = judged(10, lambda files: ["test_a"] if has(files, 4) else [])
    assert world.verify is not None
    world.verify = replace(world.verify, reader=reads, part=None)
    changes(world, 0, 2, 4)
    if first:
        await asks(world, intents.Verify())
        assert world.session.status.verdict == "error"
    assert (await blame(world)).text.startswith("hunk 3 breaks the tests · a.py:5\n")
    judge.failing = lambda files: ["test_a"]
    words = "The tests could not judge with all hunks, or with none of them."
    assert (await blame(world)).text.startswith(words)


@each("broken", [(12,), (2, 12)])
async def test_runs_that_disturb_each_other_are_seen_one_by_one(broken: tuple[int, ...]) -> None:
    """A port, or a database: what fails beside another run only is no fault of a hunk."""
    world, judge = judged(20, lambda files: ["test_a"] if has(files, *broken) else [], width=3)
    judge.port, judge.rounds = True, 3
    changes(world, *range(0, 20, 2))
    lines = (await blame(world)).text.splitlines()
    some = "hunk 7 breaks" if len(broken) == 1 else "hunks 2 and 7 together break"
    assert lines[0].startswith(f"{some} test_a")
    assert lines[-1].endswith("log2 3.3 · one by one, as they disturb each other")
