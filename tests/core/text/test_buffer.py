"""The buffer keeps every byte, and its marks stay on their text."""

from __future__ import annotations

from tui.core.text.buffer import Buffer


def test_marks_inside_a_replaced_range_go_to_its_ends() -> None:
    """Left to the start, right to the end."""
    buffer = Buffer("f", "abcdef")
    left, right = buffer.mark(0, 3), buffer.mark(0, 3, right=True)
    buffer.replace((0, 1), (0, 5), "XY")
    assert (left.col, right.col) == (1, 3)


def test_a_reader_that_lags_too_far_behind_starts_over() -> None:
    """The log is bounded: None says that the changes are not all there."""
    buffer = Buffer("f", "")
    for _ in range(9000):
        buffer.replace((0, 0), (0, 0), "x")
    assert buffer.changes_since(0) is None
    assert buffer.changes_since(buffer.revision) == []
    assert len(buffer.changes_since(buffer.revision - 3) or []) == 3


def test_a_return_that_comes_to_stand_before_a_newline_is_one_ending_with_it() -> None:
    buffer = Buffer("f", "\rx\nb")
    buffer.replace((0, 1), (0, 2), "")
    assert ([*buffer.lines], [*buffer.endings][:1]) == (["", "b"], ["\r\n"])
