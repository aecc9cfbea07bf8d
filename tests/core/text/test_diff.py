"""Blocks of lines that differ, and that no text makes them slow."""

from __future__ import annotations

from itertools import pairwise
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each
from tui.core.text import diff
from tui.core.text.diff import MOST_CHARS, MOST_COMPARED, LineBlock, blocks, emphasis, paired

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
        patch.setattr(diff, "MOST_COMPARED", most)
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


@given(lines, lines)
def test_each_line_stands_somewhere_in_its_order(old: list[str], new: list[str]) -> None:
    found = paired(old, new)
    assert len(found) == max(len(old), len(new))
    assert [one for one, _ in found if one is not None] == list(range(len(old)))
    assert [other for _, other in found if other is not None] == list(range(len(new)))


@each(
    "old, new, was, becomes",
    [
        ("x = get(key)", "x = get(key, None)", "", ", None"),
        ("return nowhere", "return somewhere", "nowhere", "somewhere"),
        ("    return x", "        return x", "", "    "),
        ("total = 1 + 2", "total = one + 2", "1", "one"),
        ("if a and b:", "if a or c:", "and b", "or c"),
    ],
)
def test_the_words_that_differ_are_named(old: str, new: str, was: str, becomes: str) -> None:
    left, right = emphasis(old, new)
    assert "".join(old[a:b] for a, b in left) == was
    assert "".join(new[a:b] for a, b in right) == becomes


@given(st.text("ab =+(", max_size=30), st.text("ab =+(", max_size=30))
def test_what_is_not_named_is_in_both(old: str, new: str) -> None:
    left, right = emphasis(old, new)
    if left or right:
        assert _without(old, left).replace(" ", "") == _without(new, right).replace(" ", "")


def _without(text: str, ranges: tuple[tuple[int, int], ...]) -> str:
    for start, end in reversed(ranges):
        text = text[:start] + text[end:]
    return text


def test_of_a_long_line_both_ends_are_compared() -> None:
    tail = "y" * (2 * MOST_CHARS)
    left, right = emphasis(f"{tail}1{tail}", f"{tail}22{tail}")
    assert left == ((2 * MOST_CHARS, 2 * MOST_CHARS + 1),)
    assert right == ((2 * MOST_CHARS, 2 * MOST_CHARS + 2),)
