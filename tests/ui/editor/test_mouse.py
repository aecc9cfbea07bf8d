from __future__ import annotations

from tui.core.text.buffer import Buffer
from tui.ui.editor.mouse import Drag
from tui.ui.editor.view import View

TEXT = "one two\nthree\tfour\n漢字 end\n"


def press(drag: Drag, view: View, x: int, y: int, now_s: float = 0.0, **keys: bool) -> None:
    position = view.position_at(x, y)
    shift, line = keys.get("shift", False), keys.get("line", False)
    drag.press(view.cursor, position, now_s, shift=shift, line=line)


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
