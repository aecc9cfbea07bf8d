"""Row arithmetic, the line index and the merge, for all edits."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tui.core.text.buffer import Buffer
from tui.core.text.merge import line_changes, merge3
from tui.core.text.rows import file_rows, old_rows, rows_text, shifted, touched_span

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
    assert old_rows(buffer, change) == rows_text(before, span.row, span.row + span.n_old)


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
