"""Hunks by id, by call, and those that are not settled yet."""

from __future__ import annotations

from tui.core.document.hunk import Decision, Hunk, Stage
from tui.core.document.hunk_list import HunkList


def roster(*stages: Stage) -> HunkList:
    found = HunkList()
    for number, stage in enumerate(stages, 1):
        found.add(Hunk(number, 1, f"call {number % 2}", "a.txt", stage=stage))
    return found


def test_what_came_to_nothing_is_forgotten():
    found = roster(Stage.READING, Stage.READING, Stage.READING)
    for _ in range(2):
        found.forget(found.hunks[0])
    assert [hunk.id for hunk in found.hunks] == [3]
    assert [hunk.id for hunk in found.of_call("call 1")] == [3]
    found.forget(Hunk(1, 1, "call 1", "a.txt"))
    assert len(found.hunks) == 1


def test_refused_hunks_are_settled_unless_they_can_be_placed():
    found = roster(Stage.READING, Stage.REFUSED, Stage.REFUSED, Stage.CONFLICT, Stage.REFUSED)
    found.hunks[4].candidates = (1, 2)
    assert [hunk.id for hunk in found.unsettled()] == [1, 4, 5]


def test_a_decision_settles_and_taking_it_back_does_not():
    found = roster(Stage.LANDED, Stage.LANDED)
    first = found.hunks[0]
    for decision in (Decision.ACCEPTED, Decision.PENDING):
        first.decision = decision
        if decision is Decision.PENDING:
            found.reopened(first)
        found.reviewed()
        settled = decision is Decision.ACCEPTED
        assert (first in found.unsettled()) is not settled
    assert [hunk.id for hunk in found.unsettled()] == [1, 2]
    assert found.reviews == 2


def test_numbers_are_kept_with_each_change_and_none_is_counted_again() -> None:
    found = roster(*[Stage.LANDED] * 6)
    ours, others = found.files_of("call 1")["a.txt"], found.files_of("call 0")["a.txt"]
    assert (ours.total, ours.waiting, found.tally.waiting) == (3, 3, 6)
    first, second, third = ours.hunks
    first.added += 4
    first.decision, second.stage, third.removed = Decision.ACCEPTED, Stage.CONFLICT, 2
    assert (ours.waiting, ours.added, ours.removed, others.added) == (2, 4, 2, 0)
    found.moved([first, second], "b.txt")
    assert list(found.files_of("call 1")) == ["a.txt", "b.txt"]
    assert (ours.total, ours.added, found.files_of("call 1")["b.txt"].added) == (1, 4 - 4, 4)
    found.forget(third)
    assert list(found.files_of("call 1")) == ["b.txt"]
    assert (found.tally.total, found.tally.waiting, found.tally.removed) == (5, 4, 0)
