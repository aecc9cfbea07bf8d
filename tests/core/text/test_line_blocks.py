"""Blocks of lines that differ, and that no text makes them slow."""

from __future__ import annotations

from itertools import pairwise
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each
from tui.core.text import line_blocks
from tui.core.text.line_blocks import MOST_COMPARED, LineBlock, blocks

lines = st.lists(st.text("ab {}", max_size=4), max_size=20)


few_kinds = st.lists(st.sampled_from(["a", "b", "c", "", "  d"]), max_size=30)
lines = st.lists(st.text("ab {}", max_size=4), max_size=20)


def applied(old: list[str], new: list[str], found: list[LineBlock]) -> list[str]:
    """What the blocks make of the old text."""
    out: list[str] = []
    at = 0
    for first, last, start, end in found:
        assert first >= at, "in order, and apart"
        out += old[at:first] + new[start:end]
        at = last
    return out + old[at:]


@given(few_kinds, few_kinds, st.sampled_from([MOST_COMPARED, 4]))
def test_blocks_make_the_new_text_of_the_old_one(old: list[str], new: list[str], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_blocks, "MOST_COMPARED", most)
        found = blocks(old, new)
    assert applied(old, new, found) == new
    assert all(first < last or start < end for first, last, start, end in found)
    gaps = pairwise(found)
    assert all(
        one.old_last < other.old_first for one, other in gaps if one.new_last == other.new_first
    )


@given(lines)
def test_a_text_does_not_differ_from_itself(text: list[str]) -> None:
    assert blocks(text, list(text)) == []


@pytest.mark.slow
@each("count", [20_000])
def test_lines_that_come_again_and_again_cost_little(count: int) -> None:
    """Without a line that is there once nothing can be anchored; it stays linear."""
    assert count > MOST_COMPARED**0.5
    old = [f"line {number % 500}" for number in range(count)]
    new = [*old]
    for number in range(0, count, 37):
        new[number] = f"other {number}"
    began_s = process_time()
    found = blocks(old, new)
    assert process_time() - began_s < 2
    assert len(found) == len(range(0, count, 37))
    assert applied(old, new, found) == new
