"""Nothing is told twice, and nothing is left out."""

from __future__ import annotations

from tui.core.context import Told
from tui.core.document.hunk import Decision, Hunk, Stage
from tui.core.steps import finished


def landed(number: int, **fields: object) -> Hunk:
    made = Hunk(number, 1, "call", "a.py", stage=Stage.LANDED)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def test_a_decision_that_was_undone_before_it_was_told_is_none() -> None:
    told, hunk = Told(), landed(1)
    told.mark([hunk])
    hunk.decision = Decision.REJECTED
    hunk.decision = Decision.PENDING
    assert finished(told.news([hunk], 2)) == []
    assert finished(told.taken_back([hunk])) == frozenset()


def test_a_decision_that_was_told_and_undone_is_told_again() -> None:
    told, hunk = Told(), landed(1, decision=Decision.REJECTED, words="no")
    told.mark([hunk])
    hunk.decision, hunk.words = Decision.PENDING, ""
    assert finished(told.news([hunk], 2)) == [hunk]
    assert finished(told.taken_back([hunk])) == frozenset({1})
