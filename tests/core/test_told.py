"""Nothing is told twice, and nothing is left out."""

from __future__ import annotations

from tui.core.edits.hunk import Decision, Hunk, Stage
from tui.core.edits.telling.presence import Presence
from tui.core.told import Told


def landed(number: int, **fields: object) -> Hunk:
    made = Hunk(number, 1, "call", "a.py", stage=Stage.LANDED)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def test_a_state_is_news_until_it_is_told() -> None:
    told, hunks = Told(), [landed(1), landed(2)]
    assert told.news(hunks, 1) == hunks
    told.mark(hunks[:1])
    assert told.news(hunks, 2) == hunks[1:]
    told.mark(hunks)
    assert told.news(hunks, 3) == []
    hunks[0].decision = Decision.ACCEPTED
    assert told.news(hunks, 4) == hunks[:1]


def test_without_a_change_nothing_is_looked_at() -> None:
    told = Told()
    assert told.news([landed(1)], 5) != []
    assert told.news([landed(1)], 5) == []


def test_a_hunk_that_lands_is_no_news_one_that_waits_for_a_place_is() -> None:
    open_one = landed(1, stage=Stage.LANDING)
    waits = landed(2, stage=Stage.CANDIDATES, candidates=(1, 5), reason="ambiguous")
    assert Told().news([open_one, waits], 1) == [waits]


def test_a_decision_that_was_undone_before_it_was_told_is_none() -> None:
    told, hunk = Told(), landed(1)
    told.mark([hunk])
    hunk.decision = Decision.REJECTED
    hunk.decision = Decision.PENDING
    assert told.news([hunk], 2) == []
    assert told.taken_back([hunk]) == frozenset()


def test_a_decision_that_was_told_and_undone_is_told_again() -> None:
    told, hunk = Told(), landed(1, decision=Decision.REJECTED, words="no")
    told.mark([hunk])
    hunk.decision, hunk.words = Decision.PENDING, ""
    assert told.news([hunk], 2) == [hunk]
    assert told.taken_back([hunk]) == frozenset({1})


def test_how_far_a_rejected_hunk_had_come_is_no_news() -> None:
    told, hunk = Told(), landed(1, decision=Decision.REJECTED)
    told.mark([hunk])
    hunk.stage = Stage.CONFLICT
    assert told.news([hunk], 2) == []


def test_that_its_text_is_gone_or_back_is_news_once() -> None:
    now = {1: Presence.WHOLE}
    told, hunk = Told(lambda hunk: now[hunk.id]), landed(1)
    told.mark([hunk])
    for revision, state in enumerate((Presence.EDITED, Presence.GONE, Presence.WHOLE)):
        now[1] = state
        assert told.news([hunk], 2 * revision) == [hunk]
        told.mark([hunk])
        assert told.news([hunk], 2 * revision + 1) == []
