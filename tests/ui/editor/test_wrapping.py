"""Soft wrap: where rows begin, and the way from row to row."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.core.text.buffer import Buffer
from tui.ui.editor.cells import LineCells, line_cells
from tui.ui.editor.wrapping import Layout, Place, row_starts

FAMILY = "👩\u200d👩\u200d👧"
TEXT = st.text(
    st.one_of(st.sampled_from("ab  \n\n\t-漢字é\u0301\u200d🇩🇪"), st.characters(codec="utf-8")),
    max_size=120,
)


def layout_of(text: str, room: int | None) -> Layout:
    layout = Layout(Buffer("a", text))
    layout.wrap(room)
    return layout


def places(layout: Layout) -> list[Place]:
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


def test_words_stay_whole_and_the_blank_stays_behind_them() -> None:
    assert rows("one two three four", 11) == ["one two ", "three four"]
    assert rows("one two three fours", 11) == ["one two ", "three ", "fours"]
    assert rows("one two! three", 9) == ["one two! ", "three"]


def test_a_word_that_is_too_long_is_cut() -> None:
    assert rows("abcdefghijklmnop qr", 7) == ["abcdef", "ghijkl", "mnop ", "qr"]


def test_a_continued_row_is_indented_like_its_line() -> None:
    assert rows("    if one and two:\n", 15) == ["    if one and ", "    two:", ""]
    assert rows("\tif one and two:", 15) == ["\tif one and ", "    two:"]


def test_a_deep_indentation_takes_half_of_the_row_at_most() -> None:
    layout = layout_of(" " * 18 + "a bc def ghij klm nop", 21)
    assert {layout.indent(place) for place in places(layout)[1:]} == {10}


def test_wide_characters_break_anywhere() -> None:
    assert rows("漢字漢字漢字", 6) == ["漢字", "漢字", "漢字"]
    assert rows("ab 漢字漢字 cd", 9) == ["ab 漢字", "漢字 cd"]


def test_a_grapheme_is_never_cut() -> None:
    assert rows(FAMILY * 5, 5) == [FAMILY * 2, FAMILY * 2, FAMILY]
    assert rows("x" + "e\u0301" * 6, 5) == ["x" + "e\u0301" * 3, "e\u0301" * 3]


def test_many_blanks_do_not_vanish() -> None:
    assert rows("a" + " " * 12 + "b", 6) == ["a    ", "     ", "   b"]


@settings(max_examples=300)
@given(TEXT, st.integers(2, 40))
def test_rows_cover_every_line_and_fit(text: str, room: int) -> None:
    layout = layout_of(text, room)
    found = places(layout)
    assert len({line for line, _ in found}) == layout.buffer.line_count
    for place, below in zip(found, [*found[1:], (layout.buffer.line_count, 0)], strict=True):
        line, col = place
        content = layout.buffer.lines[line]
        end = layout.end(place)
        assert end == (below[1] if below[0] == line else len(content))
        assert end > col or (not content and col == 0)
        cells = LineCells(content)
        wide = cells.cell(end) - cells.cell(col) + layout.indent(place)
        one = cells.after(col) >= end
        assert wide <= max(room, 5) or one
        assert cells.snap(col) == col


@settings(max_examples=200)
@given(TEXT, st.integers(2, 40), st.integers(-30, 30))
def test_steps_are_places_in_the_list_of_all(text: str, room: int, count: int) -> None:
    layout = layout_of(text, room)
    found = places(layout)
    for index, place in enumerate(found):
        to, short = layout.step(place, count)
        wanted = min(max(index + count, 0), len(found) - 1)
        assert (to, short) == (found[wanted], index + count - wanted)
        for most in (1, 7):
            rows_down = layout.distance(place, to, most)
            assert rows_down == (wanted - index if 0 <= wanted - index < most else None)


@settings(max_examples=200)
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


@pytest.mark.parametrize("room", [None, 40])
@pytest.mark.parametrize("unit", ["word xyz ", "漢字 a\t", FAMILY, "x"])
def test_a_very_long_line_is_walked_like_any_other(unit: str, room: int | None) -> None:
    text = "first\n" + unit * (60_000 // len(unit)) + "\nlast"
    layout = layout_of(text, room)
    found = places(layout)
    assert layout.step(found[0], len(found) - 1) == (found[-1], 0)
    assert layout.step(found[-1], 1 - len(found)) == (found[0], 0)
    assert layout.row((1, 30_000)) in found
    shown = [(col, layout.end((line, col))) for line, col in found if line == 1]
    content = layout.buffer.lines[1]
    assert "".join(content[col:end] for col, end in shown) == content
    if room is not None:
        lasts = [(1, line_cells(content).before(end)) for _, end in shown]
        assert all(layout.cell(position) <= 40 - cell_len(unit[-1]) for position in lasts)


def test_rows_of_a_short_text_are_one() -> None:
    assert row_starts("short", 10, 0, "whole") == (0,)
    assert row_starts("", 10, 0, "whole") == (0,)


def test_behind_a_blank_at_the_lines_end_there_is_room_for_the_cursor() -> None:
    assert row_starts("abc ", 3, 0, "whole") == (0, 3)
    assert row_starts("abc ", 3, 0, "middle") == (0,)
