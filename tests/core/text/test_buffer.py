"""The buffer keeps every byte, and its marks stay on their text."""

from __future__ import annotations

import pytest

from tui.core.text.buffer import Buffer, LineChange, split_text


@pytest.mark.parametrize(
    "text",
    ["", "a", "a\n", "a\r\nb\nc", "\ufeffx\r\n", "form\x0cfeed\n\u2028sep\n", "lone\rcr\n", "\n\n"],
)
def test_text_and_bytes_come_back_as_they_were(text: str) -> None:
    """Only a newline breaks a line; endings and the byte order mark are kept."""
    buffer = Buffer("f.txt", text)
    assert buffer.encode().decode() == text
    assert buffer.line_count == text.count("\n") + 1


def test_form_feed_and_lone_carriage_return_are_text() -> None:
    """EDITS.md section 5: splitlines() would cut here."""
    assert Buffer("f", "a\x0cb\rc\n").lines == ["a\x0cb\rc", ""]


def test_replace_inside_a_line_keeps_the_rest() -> None:
    """An edit in one line logs one line and leaves the other endings alone."""
    buffer = Buffer("f", "one\r\ntwo\nthree")
    change = buffer.replace((0, 1), (0, 3), "NE!")
    assert buffer.text() == "oNE!\r\ntwo\nthree"
    assert (change.old_text, change.new_end) == ("ne", (0, 4))
    assert buffer.changes_since(0) == [LineChange(0, 1, 1)]


def test_a_change_can_be_taken_back_byte_for_byte() -> None:
    """`Change.old_text` holds the old line endings."""
    buffer = Buffer("f", "one\r\ntwo\nthree\n")
    change = buffer.replace((0, 2), (2, 3), "X\nY\nZ")
    buffer.replace(change.start, change.new_end, change.old_text)
    assert buffer.text() == "one\r\ntwo\nthree\n"


@pytest.mark.parametrize(("start", "end"), [((0, 9), (0, 9)), ((1, 0), (0, 0)), ((3, 0), (3, 0))])
def test_a_range_that_does_not_exist_changes_nothing(
    start: tuple[int, int], end: tuple[int, int]
) -> None:
    """The error names the file and the buffer is as before."""
    buffer = Buffer("f", "ab\nc")
    with pytest.raises(ValueError, match="no such range in f"):
        buffer.replace(start, end, "x")
    assert (buffer.text(), buffer.revision) == ("ab\nc", 0)


def test_marks_follow_their_text() -> None:
    """Left marks stay before an insertion at their place, right marks go behind it."""
    buffer = Buffer("f", "aa\nbb\ncc\n")
    left, right = buffer.mark(1, 0), buffer.mark(1, 0, right=True)
    below = buffer.mark(2, 1)
    buffer.replace((1, 0), (1, 0), "new\nx")
    assert (left.position, right.position, below.position) == ((1, 0), (2, 1), (3, 1))
    buffer.replace((0, 0), (1, 0), "")
    assert (left.position, right.position, below.position) == ((0, 0), (1, 1), (2, 1))


def test_marks_inside_a_replaced_range_go_to_its_ends() -> None:
    """Left to the start, right to the end."""
    buffer = Buffer("f", "abcdef")
    left, right = buffer.mark(0, 3), buffer.mark(0, 3, right=True)
    buffer.replace((0, 1), (0, 5), "XY")
    assert (left.col, right.col) == (1, 3)


@pytest.mark.parametrize("right", [False, True])
def test_marks_inside_a_replaced_range_stay_with_text_that_comes_back(right: bool) -> None:
    """A cursor in a line that only gets another end, or another start, stands still."""
    buffer = Buffer("f", "one\ntwo\nthree")
    middle, last = buffer.mark(1, 2, right=right), buffer.mark(2, 3, right=right)
    buffer.replace((2, 0), (2, 5), "three\nfour\n")
    assert last.position == (2, 3)
    buffer.replace((0, 0), (2, 0), "and two\n")
    assert (middle.position, last.position) == ((0, 6), (1, 3))


def test_lines_put_behind_a_line_do_not_take_along_who_is_at_its_end() -> None:
    """A model that goes on at the end of the file leaves the user where they type."""
    buffer = Buffer("f", "one\ntwo")
    cursor = buffer.mark(1, 3, right=True)
    buffer.replace((1, 3), (1, 3), "\nthree\n")
    assert cursor.position == (1, 3)
    buffer.replace((1, 3), (1, 3), "!")
    assert cursor.position == (1, 4)


def test_a_released_mark_stays_where_it_was() -> None:
    """Releasing is by identity, not by place."""
    buffer = Buffer("f", "ab")
    gone, kept = buffer.mark(0, 1), buffer.mark(0, 1)
    buffer.release(gone)
    buffer.replace((0, 0), (0, 0), "zz")
    assert (gone.col, kept.col) == (1, 3)


def test_a_reader_that_lags_too_far_behind_starts_over() -> None:
    """The log is bounded: None says that the changes are not all there."""
    buffer = Buffer("f", "")
    for _ in range(5000):
        buffer.replace((0, 0), (0, 0), "x")
    assert buffer.changes_since(0) is None
    assert buffer.changes_since(buffer.revision) == []
    assert len(buffer.changes_since(buffer.revision - 3) or []) == 3


def test_split_keeps_one_ending_a_line() -> None:
    """The last line has none."""
    assert split_text("a\r\nb\n") == (["a", "b", ""], ["\r\n", "\n", ""])


def test_a_file_that_has_no_line_ending_left_goes_on_as_it_was():
    buffer = Buffer("a", "one\r\ntwo")
    buffer.replace((0, 0), (1, 0), "")
    assert (buffer.text(), buffer.newline) == ("two", "\r\n")
    assert Buffer("a", "two").newline == "\n"
