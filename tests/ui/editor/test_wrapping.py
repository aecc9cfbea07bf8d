"""Soft wrap: where rows begin, and the way from row to row."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tui.core.text.buffer import Buffer
from tui.ui.editor.cells import LineCells
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
