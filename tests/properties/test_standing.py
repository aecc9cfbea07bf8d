"""The tree of standing hunks against a walk over them all."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tui.core.edits.hunk import Hunk
from tui.core.edits.standing import Standing
from tui.core.text.buffer import Mark
from tui.core.text.rows import Span, shifted

ROWS = st.integers(0, 60)


def hunk(number: int, first: int, last: int) -> Hunk:
    return Hunk(number, 1, "c", "a.txt", start=Mark(first), end=Mark(last, right=True))


@settings(max_examples=20)
@given(st.data(), st.integers(0, 60))
def test_hunks_are_where_a_walk_over_all_would_put_them(data, count):
    standing, expected = Standing(), dict[Hunk, tuple[int, int]]()
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
