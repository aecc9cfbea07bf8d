"""The three-way merge, row arithmetic and the line index."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tables import each
from tui.core.text.buffer import Buffer
from tui.core.text.merge import line_changes, merge3, same_start
from tui.core.text.rows import file_rows, rows_text, shifted, touched_span


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
