"""Rows are shown with few codes, and exactly as with all of them."""

from __future__ import annotations

import pyte
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.ui.painting.codes import row_bytes
from tui.ui.painting.ink import Ink

COLOURS = st.sampled_from(
    [None, "red", "bright_blue", "default", "#102030", "#a0b0c0", "color(99)"]
)
STYLES = st.builds(
    Style,
    color=COLOURS,
    bgcolor=COLOURS,
    bold=st.sampled_from([None, True]),
    italic=st.sampled_from([None, True]),
    reverse=st.sampled_from([None, True]),
)
ROWS = st.lists(st.tuples(st.sampled_from(["a", "bc", " ", ""]), st.none() | STYLES), max_size=12)


def shown(text: str) -> list[object]:
    screen = pyte.Screen(40, 1)
    pyte.Stream(screen).feed(text)
    return [screen.buffer[0][column] for column in range(40)]


@given(ROWS)
@settings(max_examples=150, deadline=None)
def test_a_row_looks_as_rich_writes_it(row) -> None:
    segments = [Segment(text, style and style.copy()) for text, style in row]
    plain = Strip([*segments]).render(Console(color_system="truecolor", force_terminal=True))
    assert shown(row_bytes(segments, Ink())) == shown(plain)


def test_the_same_is_not_said_twice() -> None:
    blue, red = Style(color="#0000ff", bgcolor="#101010"), Style(color="#ff0000", bgcolor="#101010")
    row = [Segment("a", blue), Segment("b", blue), Segment("c", red)]
    said = row_bytes(row, Ink())
    assert said == "\x1b[38;2;0;0;255;48;2;16;16;16mab\x1b[38;2;255;0;0mc\x1b[0m"


def test_what_ends_takes_a_reset_and_no_row_colours_the_next_one() -> None:
    bold, plain = Style(bold=True, color="#0000ff"), Style(color="#0000ff")
    said = row_bytes([Segment("a", bold), Segment("b", plain)], Ink())
    assert said == "\x1b[1;38;2;0;0;255ma\x1b[0;38;2;0;0;255mb\x1b[0m"
    assert row_bytes([Segment("a"), Segment("")], Ink()) == "a"


def test_a_link_stays_a_link() -> None:
    said = row_bytes([Segment("here", Style(link="file:///a"))], Ink())
    assert said.startswith("\x1b]8;id=")
    assert said.endswith(";file:///a\x1b\\here\x1b]8;;\x1b\\")
