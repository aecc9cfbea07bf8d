from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.token import Keyword
from rich.cells import cell_len
from rich.style import Style

from tui.ui import theme
from tui.ui.editor.paint import BARS, Frame, Painter, Row, gutter_width

PALETTE = theme.read_theme(theme.DEFAULT_THEME)
FRAME = Frame(30, 0, 3)


def painted(row: Row, frame: Frame = FRAME) -> str:
    return Painter(PALETTE).strip(row, frame).text


def style_at(row: Row, cell: int, frame: Frame = FRAME) -> Style:
    at = 0
    for segment in Painter(PALETTE).strip(row, frame):
        at += cell_len(segment.text)
        if cell < at:
            assert segment.style is not None
            return segment.style
    raise AssertionError(cell)


def colour(style: Style, *, back: bool = False) -> str:
    found = style.bgcolor if back else style.color
    return "" if found is None else found.name


def test_a_row_is_number_bar_and_text() -> None:
    assert painted(Row("x = 1", 12, "landing")) == f"{'  12 ▌ x = 1':<30}"


def test_below_the_end_is_nothing() -> None:
    assert painted(Row()) == " " * 30


@pytest.mark.parametrize("kind", sorted(BARS))
def test_every_decoration_has_its_bar_and_background(kind: str) -> None:
    row = Row("text", 1, kind)
    assert painted(row)[5] == BARS[kind]
    expected = "panel" if kind == "ghost" else f"hunk-{kind}-line"
    assert colour(style_at(row, 25), back=True) == PALETTE.colours[expected]


def test_deleted_text_is_struck_through() -> None:
    assert style_at(Row("gone", 1, "struck"), 7).strike


def test_tokens_have_the_colours_of_the_theme() -> None:
    row = Row("def f", 1, spans=((0, 3, Keyword),))
    assert colour(style_at(row, 7)) == PALETTE.colours["syntax-keyword"]
    assert colour(style_at(row, 11)) == PALETTE.colours["syntax-text"]


def test_what_lies_over_the_text() -> None:
    row = Row("abcdef", 1, overlays=((0, 4, "selection"), (3, 4, "cursor")))
    backs = [colour(style_at(row, cell), back=True) for cell in (7, 9, 10, 11)]
    names = ["selection", "selection", "cursor", "background"]
    assert backs == [PALETTE.colours[name] for name in names]


def test_the_cursor_behind_the_last_character() -> None:
    row = Row("ab", 1, overlays=((2, 3, "cursor"),))
    assert colour(style_at(row, 9), back=True) == PALETTE.colours["cursor"]


def test_a_selected_line_end_shows() -> None:
    row = Row("ab", 1, overlays=((0, 2, "selection"),), newline_selected=True)
    assert colour(style_at(row, 9), back=True) == PALETTE.colours["selection"]


def test_the_pen_stands_where_the_model_writes() -> None:
    assert painted(Row("ab", 1, "landing", pen=True)).rstrip() == "   1 ▌ ab▍"


def test_more_text_left_and_right_is_hinted_at() -> None:
    text = painted(Row("abcdefghij" * 5, 1), Frame(20, 10, 3))
    assert text == "   1  ‹abcdefghijab›"


def test_control_characters_are_pictures() -> None:
    row = Row("a\x1b[2Jb\x07", 1)
    assert painted(row).rstrip() == "   1   a␛[2Jb␇"
    assert colour(style_at(row, 8)) == PALETTE.colours["warning"]


@given(st.text(max_size=40), st.integers(0, 30), st.integers(0, 60), st.integers(0, 30))
def test_a_strip_is_exactly_as_wide_as_its_frame(
    text: str, cursor: int, width: int, left: int
) -> None:
    row = Row(text.replace("\n", ""), 7, "pending", overlays=((cursor, cursor + 1, "cursor"),))
    frame = Frame(max(width, gutter_width(3)), left, 3)
    strip = Painter(PALETTE).strip(row, frame)
    assert sum(cell_len(segment.text) for segment in strip) == frame.width


def test_equal_rows_share_a_strip() -> None:
    painter = Painter(PALETTE)
    assert painter.strip(Row("a", 1), FRAME) is painter.strip(Row("a", 1), FRAME)
