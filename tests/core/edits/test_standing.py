"""Hunks that stand in a buffer: order, membership, and what a change costs them."""

from __future__ import annotations

import pytest

from tui.core.edits.hunk import Hunk
from tui.core.edits.standing import Standing
from tui.core.text.buffer import Mark
from tui.core.text.rows import Span, shifted


def hunk(number: int, first: int, last: int) -> Hunk:
    return Hunk(number, 1, "c", "a.txt", start=Mark(first), end=Mark(last, right=True))


def rows(one: Hunk) -> tuple[int, int]:
    assert one.start is not None
    assert one.end is not None
    return one.start.line, one.end.line


def test_the_order_is_that_of_landing_not_of_rows():
    low, high = hunk(1, 30, 31), hunk(2, 3, 5)
    standing = Standing([low, high])
    assert list(standing) == [low, high]
    assert list(reversed(standing)) == [high, low]
    assert standing.near(0, 100) == [low, high]
    assert standing.ordered([high, low]) == [low, high]
    assert low in standing
    assert len(standing) == 2


def test_a_hunk_without_a_place_or_twice_is_refused():
    one = hunk(1, 1, 2)
    standing = Standing([one])
    with pytest.raises(ValueError, match="once"):
        standing.append(one)
    with pytest.raises(ValueError, match="once"):
        standing.append(Hunk(2, 1, "c", "a.txt"))


def test_a_change_looks_at_few_of_a_thousand_hunks(monkeypatch):
    standing = Standing(hunk(n, 100 + n * 4, 102 + n * 4) for n in range(1000))
    looked: list[Span] = []

    def counting(first: int, last: int, span: Span) -> tuple[int, int, bool]:
        looked.append(span)
        return shifted(first, last, span)

    monkeypatch.setattr("tui.core.edits.standing.shifted", counting)
    for row in (0, 101, 2000, 4099, 9000):
        standing.move(Span(row, 0, 1))
    assert len(looked) < 100
    assert rows(list(standing)[-1]) == (100 + 999 * 4 + 4, 102 + 999 * 4 + 4)
