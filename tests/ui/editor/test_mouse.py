from __future__ import annotations

from tui.core.text.buffer import Buffer
from tui.ui.editor.mouse import DOUBLE_CLICK_S, Drag
from tui.ui.editor.view import View

TEXT = "one two\nthree\tfour\n漢字 end\n"


def press(drag: Drag, view: View, x: int, y: int, now_s: float = 0.0, **keys: bool) -> None:
    position = view.position_at(x, y)
    shift, line = keys.get("shift", False), keys.get("line", False)
    drag.press(view.cursor, position, now_s, shift=shift, line=line)


def test_cells_to_positions() -> None:
    view = View(Buffer("a", TEXT))
    assert view.position_at(7, 0) == (0, 0)
    assert view.position_at(11, 0) == (0, 4)
    assert view.position_at(60, 0) == (0, 7)
    assert view.position_at(13, 1) == (1, 5)
    assert view.position_at(10, 2) == (2, 1)
    assert view.position_at(9, 99) == (3, 0)
    assert view.position_at(0, -3) == (0, 0)


def test_one_two_and_three_clicks() -> None:
    view, drag = View(Buffer("a", TEXT)), Drag()
    press(drag, view, 12, 0)
    assert view.cursor.selection is None
    assert view.cursor.position == (0, 5)
    press(drag, view, 12, 0, 0.1)
    assert view.cursor.selected_text == "two"
    press(drag, view, 12, 0, 0.2)
    assert view.cursor.selected_text == "one two\n"
    press(drag, view, 12, 0, 0.3)
    assert view.cursor.selection is None
    press(drag, view, 12, 0, 0.3 + DOUBLE_CLICK_S + 0.1)
    assert view.cursor.selection is None


def test_dragging_forth_and_back_over_the_origin() -> None:
    view, drag = View(Buffer("a", TEXT)), Drag()
    press(drag, view, 9, 0)
    drag.move(view.cursor, (1, 2))
    assert view.cursor.selection == ((0, 2), (1, 2))
    drag.move(view.cursor, (0, 0))
    assert view.cursor.selection == ((0, 0), (0, 2))
    assert view.cursor.position == (0, 0)


def test_dragging_by_words_keeps_the_first_word() -> None:
    view, drag = View(Buffer("a", TEXT)), Drag()
    press(drag, view, 12, 0)
    press(drag, view, 12, 0, 0.1)
    drag.move(view.cursor, (1, 1))
    assert view.cursor.selected_text == "two\nthree"
    drag.move(view.cursor, (0, 1))
    assert view.cursor.selected_text == "one two"


def test_shift_extends_and_the_gutter_takes_lines() -> None:
    view, drag = View(Buffer("a", TEXT)), Drag()
    press(drag, view, 9, 0)
    press(drag, view, 9, 1, 5.0, shift=True)
    assert view.cursor.selection == ((0, 2), (1, 2))
    press(drag, view, 2, 1, 9.0, line=True)
    drag.move(view.cursor, (2, 0))
    assert view.cursor.selection == ((1, 0), (3, 0))


def test_a_file_that_is_shown_while_the_button_is_held_is_not_dragged_in() -> None:
    view, other, drag = View(Buffer("a", TEXT)), View(Buffer("b", TEXT)), Drag()
    before = len(view.buffer._marks)
    press(drag, view, 9, 0)
    drag.move(other.cursor, (1, 1))
    assert other.cursor.selection is None
    drag.release()
    assert len(view.buffer._marks) == before
