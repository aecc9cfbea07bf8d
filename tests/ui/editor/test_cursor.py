from __future__ import annotations

from collections.abc import Callable

import pytest

from tui.core.text.buffer import Buffer, Position
from tui.ui.editor.cursor import Cursor

TEXT = "def add(a, b):\n    return a + b\n\n\tx = 漢字👩\u200d👧\n"


def at(position: Position, text: str = TEXT) -> Cursor:
    cursor = Cursor(Buffer("a.py", text))
    cursor.place(position)
    return cursor


@pytest.mark.parametrize(
    ("start", "move", "end"),
    [
        ((0, 0), Cursor.left, (0, 0)),
        ((1, 0), Cursor.left, (0, 14)),
        ((0, 14), Cursor.right, (1, 0)),
        ((4, 0), Cursor.right, (4, 0)),
        ((3, 7), Cursor.right, (3, 10)),
        ((3, 10), Cursor.left, (3, 7)),
        ((0, 7), Cursor.word_left, (0, 4)),
        ((0, 0), Cursor.word_right, (0, 3)),
        ((0, 14), Cursor.word_right, (1, 0)),
        ((1, 0), Cursor.word_left, (0, 14)),
        ((1, 8), Cursor.line_start, (1, 4)),
        ((1, 4), Cursor.line_start, (1, 0)),
        ((1, 0), Cursor.line_start, (1, 4)),
        ((1, 0), Cursor.line_end, (1, 16)),
        ((2, 0), Cursor.file_start, (0, 0)),
        ((2, 0), Cursor.file_end, (4, 0)),
    ],
)
def test_moves(start: Position, move: Callable[[Cursor], None], end: Position) -> None:
    cursor = at(start)
    move(cursor)
    assert cursor.position == end
    assert cursor.selection is None


def test_up_and_down_aim_for_the_same_cell() -> None:
    cursor = at((0, 10))
    for line, col in ((1, 10), (2, 0), (3, 6)):
        cursor.lines(1)
        assert cursor.position == (line, col)
    cursor.lines(-3)
    assert cursor.position == (0, 10)


def test_beyond_the_edges_of_the_file() -> None:
    cursor = at((0, 5))
    cursor.lines(-1)
    assert cursor.position == (0, 0)
    cursor.lines(99)
    assert cursor.position == (4, 0)


def test_selecting_and_letting_go() -> None:
    cursor = at((0, 4))
    cursor.word_right(select=True)
    assert cursor.selected_text == "add"
    cursor.left()
    assert cursor.position == (0, 4)
    cursor.select_all()
    assert cursor.selected_text == TEXT


def test_a_cursor_never_stands_inside_a_grapheme() -> None:
    cursor = at((3, 8))
    assert cursor.position == (3, 7)


def test_an_edit_above_moves_cursor_and_selection_along() -> None:
    cursor = at((1, 4))
    cursor.word_right(select=True)
    cursor.buffer.replace((0, 0), (0, 0), "# a\n# b\n")
    assert cursor.selection == ((3, 4), (3, 10))
    assert cursor.selected_text == "return"


def test_text_put_at_the_edges_of_a_selection_stays_outside() -> None:
    cursor = at((1, 4))
    cursor.word_right(select=True)
    cursor.buffer.replace((1, 10), (1, 10), "ed")
    cursor.buffer.replace((1, 4), (1, 4), "pre")
    assert cursor.selected_text == "return"


def test_the_cursor_stays_with_its_line_but_at_the_top_of_an_empty_file() -> None:
    cursor = at((1, 0))
    cursor.buffer.replace((1, 0), (1, 0), "new\n")
    assert cursor.position == (2, 0)
    empty = Cursor(Buffer("new.py"))
    empty.buffer.replace((0, 0), (0, 0), "a\nb\n")
    assert empty.position == (0, 0)


def test_a_released_cursor_is_not_moved_any_more() -> None:
    cursor = at((1, 0))
    cursor.release()
    cursor.buffer.replace((0, 0), (0, 0), "x\n")
    assert cursor.position == (1, 0)


@pytest.mark.case("G01")
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("first", [(0, 0), (1, 0), (1, 2)])
@pytest.mark.parametrize("seen", [False, True])
def test_what_comes_where_a_selection_is_gone_is_not_selected(
    backwards: bool, first: Position, seen: bool
) -> None:
    buffer = Buffer("a.txt", "one\ntwo\nthree\nfour\n")
    cursor = Cursor(buffer)
    ends: list[Position] = [first, (2, 3)]
    cursor.select(*(reversed(ends) if backwards else ends))
    buffer.replace(first, (2, 3), "")
    if seen:
        assert cursor.selection is None
    buffer.replace(first, first, "by the model\n")
    assert cursor.selection is None
    assert cursor.position == cursor.anchor == (first[0] + 1, 0)
    assert buffer.slice(cursor.position, buffer.end) == "ee\nfour\n"
