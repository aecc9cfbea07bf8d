from __future__ import annotations

import pytest

from tests.support.tables import each
from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Position
from tui.ui.editor.cursor import Cursor, Drag, word_after
from tui.ui.editor.view import View

TEXT = "def add(a, b):\n    return a + b\n\n\tx = 漢字👩\u200d👧\n"


def at(position: Position, text: str = TEXT) -> Cursor:
    cursor = Cursor(Buffer("a.py", text))
    cursor.place(position)
    return cursor


def test_selecting_and_letting_go() -> None:
    cursor = at((0, 4))
    cursor.place(word_after(cursor.buffer, cursor.position), select=True)
    assert cursor.selected_text == "add"
    cursor.left()
    assert cursor.position == (0, 4)
    cursor.select_all()
    assert cursor.selected_text == TEXT


def test_a_cursor_never_stands_inside_a_grapheme() -> None:
    cursor = at((3, 8))
    assert cursor.position == (3, 7)


@pytest.mark.case("G01")
@each("backwards", [False, True])
@each("first", [(0, 0), (1, 0), (1, 2)])
@each("seen", [False, True])
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


DRAGGED = "one two\nthree\tfour\n漢字 end\n"


def press(drag: Drag, view: View, x: int, y: int, now_s: float = 0.0, **keys: bool) -> None:
    position = view.position_at(x, y)
    shift, line = keys.get("shift", False), keys.get("line", False)
    drag.press(view.cursor, position, now_s, shift=shift, line=line)


def test_dragging_forth_and_back_over_the_origin() -> None:
    view, drag = View(Buffer("a", DRAGGED)), Drag()
    press(drag, view, 9, 0)
    drag.move(view.cursor, (1, 2))
    assert view.cursor.selection == ((0, 2), (1, 2))
    drag.move(view.cursor, (0, 0))
    assert view.cursor.selection == ((0, 0), (0, 2))
    assert view.cursor.position == (0, 0)


def test_dragging_by_words_keeps_the_first_word() -> None:
    view, drag = View(Buffer("a", DRAGGED)), Drag()
    press(drag, view, 12, 0)
    press(drag, view, 12, 0, 0.1)
    drag.move(view.cursor, (1, 1))
    assert view.cursor.selected_text == "two\nthree"
    drag.move(view.cursor, (0, 1))
    assert view.cursor.selected_text == "one two"
