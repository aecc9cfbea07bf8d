"""Blocks of lines that differ, and that no text makes them slow."""

from __future__ import annotations

from itertools import pairwise
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tables import each
from tui.core.text import diff
from tui.core.text.buffer import Buffer
from tui.core.text.diff import (
    MOST_CHARS,
    MOST_COMPARED,
    LineBlock,
    blocks,
    emphasis,
    line_changes,
    merge3,
    paired,
    same_start,
)
from tui.core.text.rows import file_rows, rows_text, shifted, touched_span

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


@each("torn", ["a\nb", "a\nB", "a"])
def test_lines_behind_a_line_without_its_newline_are_not_run_into_it(torn):
    assert merge3("a\nb\n", torn, "a\nb\nc\n") is None
    assert merge3("a\nb\n", "a\nb\nc\n", torn) is None
    assert merge3("a\nb\n", torn, "A\nb\n") in (None, torn.replace("a", "A"))


def test_how_far_two_texts_are_the_same():
    long = "b" * 70_000
    for one, other, same in (("", "a", 0), ("ab", "abc", 2), ("ab", "ac", 1), (long, long, 70_000)):
        assert same_start(one, other) == same_start(other, one) == same


@pytest.mark.slow
def test_a_file_of_which_every_second_line_changed_is_merged_at_once():
    """A formatter or a checkout does that to an open file: difflib took 2 s for 10,000 lines."""
    base = [f"line {row} of it\n" for row in range(10_000)]
    theirs = [line if row % 2 else f"    {line}" for row, line in enumerate(base)]
    mine = [line if row % 1000 != 1 else f"mine {line}" for row, line in enumerate(base)]
    began_s = process_time()
    merged = merge3("".join(base), "".join(mine), "".join(theirs))
    assert process_time() - began_s < 2
    assert merged is not None
    expected = [mine[row] if row % 2 else theirs[row] for row in range(10_000)]
    assert merged == "".join(expected)


TEXTS = st.text(alphabet="ab \n", max_size=20)


def edit(data, buffer: Buffer):
    last = buffer.line_count - 1
    start_row = data.draw(st.integers(0, last))
    end_row = data.draw(st.integers(start_row, last))
    start = (start_row, data.draw(st.integers(0, len(buffer.lines[start_row]))))
    end = (end_row, data.draw(st.integers(0, len(buffer.lines[end_row]))))
    return buffer.replace(start, max(start, end), data.draw(TEXTS))


@given(st.data(), TEXTS)
@settings(max_examples=80)
def test_rows_outside_the_touched_span_keep_their_text(data, text):
    buffer = Buffer("a", text)
    before = Buffer("b", text)
    change = edit(data, buffer)
    span = touched_span(buffer, change)
    assert rows_text(before, 0, span.row) == rows_text(buffer, 0, span.row)
    rest = rows_text(before, span.row + span.n_old, before.line_count)
    assert rest == rows_text(buffer, span.row + span.n_new, buffer.line_count)


@given(st.data(), TEXTS)
@settings(max_examples=80)
def test_a_row_range_keeps_its_text_when_others_change(data, text):
    buffer = Buffer("a", text)
    first = data.draw(st.integers(0, file_rows(buffer)))
    last = data.draw(st.integers(first, file_rows(buffer)))
    before = rows_text(buffer, first, last)
    span = touched_span(buffer, edit(data, buffer))
    first, last, reached = shifted(first, last, span)
    assert 0 <= first <= last <= buffer.line_count
    if not reached:
        assert rows_text(buffer, first, last) == before


@given(TEXTS, TEXTS, TEXTS)
@settings(max_examples=80)
def test_merge_laws(base, ours, theirs):
    assert merge3(base, base, theirs) == theirs
    assert merge3(base, ours, base) == ours
    assert merge3(base, ours, ours) == ours
    merged = merge3(base, ours, theirs)
    assert merged == merge3(base, theirs, ours)
    assert line_changes(base, ours).apply(base) == ours
