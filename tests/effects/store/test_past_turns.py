"""The turns that proposals are made of, as the store has them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.effects.store.test_cycles import Kept, decided, hunk, put, session, turn
from tui.core.document.hunk import Decision
from tui.core.proposals import JudgedTurn
from tui.core.session_record import Happened, Judged, TurnEnded
from tui.effects.store.cycles import past_turns


def ended(number: int) -> TurnEnded:
    return TurnEnded(number, "completed")


def test_turns_are_right_by_their_verdict_else_by_what_became_of_their_hunks(
    tmp_path: Path,
) -> None:
    past: Kept = session(
        *((0, turn(1)), (1, hunk(1, 1)), (1, ended(1)), (3, Judged(1, "", "failed", 1.0))),
        *(
            (10, turn(2)),
            (11, hunk(2, 2)),
            (11, ended(2)),
            (12, decided(2)),
            (14, Judged(2, "", "passed", 1.0)),
        ),
        (14, Happened(2, "proposed", "deep")),
        *((20, turn(3)), (21, hunk(3, 3)), (22, decided(3))),
        *((30, turn(4)), (31, hunk(4, 4)), (32, decided(4, decision=Decision.REJECTED))),
        *((40, turn(5)), (41, hunk(5, 5))),  # nobody decided
        *((50, turn(6)), (51, ended(6))),  # nothing to decide on
    )
    put(tmp_path, [past])
    kind = ("fixes", "fast", "quick-1")
    assert past_turns(tmp_path) == [
        JudgedTurn(*kind, False, None),
        JudgedTurn(*kind, True, 2.0),
        JudgedTurn(*kind, True, 4.0, "deep"),
        JudgedTurn(*kind, False, None),
    ]


def test_an_empty_store_has_none(tmp_path: Path) -> None:
    put(tmp_path, [])
    assert past_turns(tmp_path) == []


@pytest.mark.slow
def test_only_the_newest_turns_are_read(tmp_path: Path) -> None:
    many = [
        one
        for number in range(1, 5001)
        for one in (
            (number, turn(number)),
            (number + 0.2, ended(number)),
            (number + 0.5, Judged(number, "", "passed", 0.1)),
        )
    ]
    put(tmp_path, [session(*many)])
    began = time.process_time()
    assert 1900 < len(past_turns(tmp_path)) <= 2001
    assert time.process_time() - began < 1.0
