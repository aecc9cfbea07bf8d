"""Soft wrap: where rows begin, and the way from row to row."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tui.core.text.buffer import Buffer
from tui.ui.editor.cells import LineCells
from tui.ui.editor.paint import EditorRow
from tui.ui.editor.view import View
from tui.ui.editor.wrapping import Place, Wrapping

FAMILY = "👩\u200d👩\u200d👧"
TEXT = st.text(
    st.one_of(st.sampled_from("ab  \n\n\t-漢字é\u0301\u200d🇩🇪"), st.characters(codec="utf-8")),
    max_size=120,
)


def layout_of(text: str, room: int | None) -> Wrapping:
    layout = Wrapping(Buffer("a", text))
    layout.wrap(room)
    return layout


def places(layout: Wrapping) -> list[Place]:
    """All rows of a buffer, one by one."""
    found, short = [(0, 0)], 0
    while not short:
        place, short = layout.step(found[-1], 1)
        if not short:
            found.append(place)
    return found


def rows(text: str, room: int) -> list[str]:
    layout = layout_of(text, room)
    return [
        " " * layout.indent(place) + layout.buffer.lines[place[0]][place[1] : layout.end(place)]
        for place in places(layout)
    ]


def test_a_grapheme_is_never_cut() -> None:
    assert rows(FAMILY * 5, 5) == [FAMILY * 2, FAMILY * 2, FAMILY]
    assert rows("x" + "e\u0301" * 6, 5) == ["x" + "e\u0301" * 3, "e\u0301" * 3]


@settings(max_examples=100)
@given(TEXT, st.integers(2, 40))
def test_a_cell_leads_back_to_its_position(text: str, room: int) -> None:
    layout = layout_of(text, room)
    for line, content in enumerate(layout.buffer.lines):
        cells, col = LineCells(content), 0
        while col <= len(content):
            place = layout.row((line, col))
            assert place[1] <= col
            assert layout.position(place, layout.cell((line, col))) == (line, col)
            col = cells.after(col) if col < len(content) else col + 1


WRAPPED = "one two three four five six\nshort\n    if a and b and c and d:\n"
HEIGHT = 8


def plain(path: str, first: int, last: int) -> dict[int, str]:
    return {}


def view_of(text: str, width: int = 22, *, wrap: bool = True) -> View:
    """Of 22 cells 7 are gutter, and one is left for the cursor."""
    view = View(Buffer("a.txt", text))
    view.fit(width, wrap=wrap)
    return view


def rows_of(view: View, height: int = HEIGHT) -> list[EditorRow]:
    return view.rows(height, True, plain)


def texts(view: View, height: int = HEIGHT) -> list[str]:
    return [" " * row.cell + row.text for row in rows_of(view, height)]


def test_an_edit_above_moves_nothing_and_one_in_the_top_line_keeps_the_row() -> None:
    view = view_of("x\n" + WRAPPED * 3)
    view.scroll_rows(2, HEIGHT)
    before = texts(view)
    view.buffer.replace((0, 0), (0, 0), "new and longer than a row is\nnew\n")
    assert texts(view) == before
    view.buffer.replace((view.top, 0), (view.top, 0), "a few more words ")
    assert texts(view)[:4] == ["three four ", "five six", "short", "    if a and b "]
