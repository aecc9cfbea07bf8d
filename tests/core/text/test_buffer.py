"""The buffer keeps every byte, and its marks stay on their text."""

from __future__ import annotations

from tests.support.tables import each
from tui.core.text.buffer import Buffer


def test_marks_inside_a_replaced_range_go_to_its_ends() -> None:
    """Left to the start, right to the end."""
    buffer = Buffer("f", "abcdef")
    left, right = buffer.mark(0, 3), buffer.mark(0, 3, right=True)
    buffer.replace((0, 1), (0, 5), "XY")
    assert (left.col, right.col) == (1, 3)


@each("right", [False, True])
def test_marks_inside_a_replaced_range_stay_with_text_that_comes_back(right: bool) -> None:
    """A cursor in a line that only gets another end, or another start, stands still."""
    buffer = Buffer("f", "one\ntwo\nthree")
    middle, last = buffer.mark(1, 2, right=right), buffer.mark(2, 3, right=right)
    buffer.replace((2, 0), (2, 5), "three\nfour\n")
    assert last.position == (2, 3)
    buffer.replace((0, 0), (2, 0), "and two\n")
    assert (middle.position, last.position) == ((0, 6), (1, 3))


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


def test_a_copy_of_mixed_endings_keeps_each_with_its_line() -> None:
    whole = Buffer("f", "one\r\ntwo\r\nthree\nfour\r\n")
    copy = Buffer.of("f", whole.form, [*whole.lines], [*whole.endings])
    copy.replace((0, 0), (1, 0), "")
    assert copy.text() == "two\r\nthree\nfour\r\n"
