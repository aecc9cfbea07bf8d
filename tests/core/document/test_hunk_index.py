"""Hunks that stand in a buffer: order, membership, and what a change costs them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui.core.document.hunk import Hunk
from tui.core.document.hunk_list import HunkIndex
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
    standing = HunkIndex([low, high])
    assert list(standing) == [low, high]
    assert list(reversed(standing)) == [high, low]
    assert standing.near(0, 100) == [low, high]
    assert standing.ordered([high, low]) == [low, high]
    assert low in standing
    assert len(standing) == 2


def test_a_hunk_without_a_place_or_twice_is_refused():
    one = hunk(1, 1, 2)
    standing = HunkIndex([one])
    with pytest.raises(ValueError, match="once"):
        standing.append(one)
    with pytest.raises(ValueError, match="once"):
        standing.append(Hunk(2, 1, "c", "a.txt"))


def test_a_change_looks_at_few_of_a_thousand_hunks(monkeypatch):
    standing = HunkIndex(hunk(n, 100 + n * 4, 102 + n * 4) for n in range(1000))
    looked: list[Span] = []

    def counting(first: int, last: int, span: Span) -> tuple[int, int, bool]:
        looked.append(span)
        return shifted(first, last, span)

    monkeypatch.setattr("tui.core.text.anchors.shifted", counting)
    for row in (0, 101, 2000, 4099, 9000):
        standing.move(Span(row, 0, 1))
    assert len(looked) < 100
    assert rows(list(standing)[-1]) == (100 + 999 * 4 + 4, 102 + 999 * 4 + 4)


ROWS = st.integers(0, 60)


@settings(max_examples=20)
@given(st.data(), st.integers(0, 60))
def test_hunks_are_where_a_walk_over_all_would_put_them(data, count):
    standing, expected = HunkIndex(), dict[Hunk, tuple[int, int]]()
    for number in range(count):
        first = data.draw(ROWS)
        one = hunk(number, first, first + data.draw(st.integers(0, 8)))
        assert one.start is not None
        assert one.end is not None
        expected[one] = (one.start.line, one.end.line)
        standing.append(one)
    for _ in range(data.draw(st.integers(0, 30))):
        step = data.draw(st.sampled_from(["change", "change", "remove", "put", "again", "near"]))
        if step == "change":
            span = Span(data.draw(ROWS), data.draw(st.integers(0, 6)), data.draw(st.integers(0, 6)))
            standing.move(span)
            expected = {one: shifted(*rows, span)[:2] for one, rows in expected.items()}
        elif step == "near":
            first = data.draw(ROWS)
            last = first + data.draw(st.integers(0, 6))
            there = [one for one, (s, e) in expected.items() if s <= last and e >= first]
            assert standing.near(first, last) == there
        elif expected:
            one = data.draw(st.sampled_from(list(expected)))
            first = data.draw(ROWS)
            rows = (first, first + data.draw(st.integers(0, 4)))
            if step == "remove":
                standing.remove(one)
                assert one.start is not None
                assert one.end is not None
                assert (one.start.line, one.end.line) == expected.pop(one)
            elif step == "again":
                standing.replace(one, rows)
                expected[one] = rows
            elif one.start is not None and one.end is not None:
                one.start.line, one.end.line = rows
                expected[one] = rows
        seen = {h: (h.start.line, h.end.line) for h in standing if h.start and h.end}
        assert seen == expected
        assert list(standing) == list(expected)
