"""The editor with long lines wrapped: what is seen, where keys and the mouse go."""

from __future__ import annotations

from tui.core.text.buffer import Buffer
from tui.ui.editor.paint import EditorRow
from tui.ui.editor.view import View

TEXT = "one two three four five six\nshort\n    if a and b and c and d:\n"
HEIGHT = 8


def plain(path: str, first: int, last: int) -> dict[int, str]:
    return {}


def view_of(text: str, width: int = 22, *, wrap: bool = True) -> View:
    """Of 22 cells 7 are gutter, and one is left for the cursor."""
    view = View(Buffer("a.txt", text))
    view.fit(width, wrap=wrap)
    return view


def rows(view: View, height: int = HEIGHT) -> list[EditorRow]:
    return view.rows(height, True, plain)


def texts(view: View, height: int = HEIGHT) -> list[str]:
    return [" " * row.cell + row.text for row in rows(view, height)]


def test_an_edit_above_moves_nothing_and_one_in_the_top_line_keeps_the_row() -> None:
    view = view_of("x\n" + TEXT * 3)
    view.scroll_rows(2, HEIGHT)
    before = texts(view)
    view.buffer.replace((0, 0), (0, 0), "new and longer than a row is\nnew\n")
    assert texts(view) == before
    view.buffer.replace((view.top, 0), (view.top, 0), "a few more words ")
    assert texts(view)[:4] == ["three four ", "five six", "short", "    if a and b "]
