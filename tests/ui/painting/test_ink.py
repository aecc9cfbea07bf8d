"""Few codes, steady columns and poorer signs: the terminal shows the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip

from tests.support.scripted_app import exercise, running
from tests.support.scripted_session import ScriptedSession
from tests.support.tables import each
from tui.ui import theme
from tui.ui.app import DuettoApp
from tui.ui.painting.ink import Glyphs, Ink, Shades, contrast, ink, row_bytes, steady_bytes
from tui.ui.painting.screen import PartsUpdate, WholeUpdate, update_bytes
from tui.ui.screens.help import SIGNS

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
@settings(max_examples=75)
def test_a_row_looks_as_rich_writes_it(row) -> None:
    segments = [Segment(text, style and style.copy()) for text, style in row]
    plain = Strip([*segments]).render(Console(color_system="truecolor", force_terminal=True))
    assert shown(row_bytes(segments, Ink())) == shown(plain)


def columns(*texts: str, at: int = 10) -> list[int]:
    """The columns, from 1, that are gone to after a piece of a row."""
    said = steady_bytes(Strip([Segment(text) for text in texts]), at)
    assert re.sub(r"\x1b\[\d+G", "", said) == "".join(texts)
    return [int(found) for found in re.findall(r"\x1b\[(\d+)G", said)]


def test_what_stands_behind_a_sign_of_unsure_width_keeps_its_columns() -> None:
    assert columns("try 👍🏽 it ✓", "b", at=0) == [7, 12]
    assert columns("e\u0301a", "漢字", "👩\u200d👧", at=0) == [2, 9]


@pytest.fixture
def wide() -> Iterator[None]:
    """A terminal whose signs of open width take two cells."""
    ink().set_signs("unicode", wide_ambiguous=True)
    yield
    ink().set_signs("unicode")


@pytest.mark.usefixtures("wide")
def test_where_signs_are_wide_ours_are_written_in_ascii_and_letters_keep_their_place() -> None:
    assert steady_bytes(Strip([Segment("─●→"), Segment("b")]), 0) == "-*>b"
    assert steady_bytes(Strip([Segment("Жук"), Segment("b")]), 0) == "Жук\x1b[4Gb"
    assert steady_bytes(Strip([Segment("漢字"), Segment("b")]), 0) == "漢字b"


SIZE = (100, 30)


def screen_of(*frames: str) -> list[list[object]]:
    """What a terminal shows after these bytes."""
    screen = pyte.Screen(*SIZE)
    stream = pyte.Stream(screen)
    for frame in frames:
        stream.feed(frame)
    return [[screen.buffer[y][x] for x in range(SIZE[0])] for y in range(SIZE[1])]


def update(app: DuettoApp, *regions: Region) -> object:
    """What Textual would have written: these regions, or all."""
    compositor = app.screen._compositor
    compositor._dirty_regions.clear()
    compositor._dirty_regions.update(regions)
    return compositor.render_update(full=not regions, screen_stack=app._background_screens)


async def test_whole_and_in_parts(session: ScriptedSession) -> None:
    exercise(session)
    async with running(session, SIZE) as (app, pilot):
        await pilot.press("f1")
        await pilot.pause()
        whole = update(app)
        assert isinstance(whole, WholeUpdate)
        ours = update_bytes(whole)
        app.console._color_system = ColorSystem.TRUECOLOR
        told = "".join(
            f"\x1b[{y + 1};1H{''.join(Strip([*strip]).render(app.console) for strip in row)}"
            for y, row in enumerate(whole.strips)
        )
        assert screen_of(ours) == screen_of(told)
        parts = update(app, Region(3, 4, 40, 5), Region(60, 20, 11, 2))
        assert isinstance(parts, PartsUpdate)
        said = update_bytes(parts)
        assert screen_of(ours, said) == screen_of(ours)
        shown = screen_of(said)
        wanted = screen_of(ours)
        for x, y in ((3, 4), (42, 8), (60, 20), (70, 21)):
            assert shown[y][x] == wanted[y][x]
        assert shown[0][0] == screen_of("")[0][0], "nothing else is written"
        assert shown[4][2] == screen_of("")[0][0]


TEXTS = st.text(
    st.sampled_from("ab é漢字─│▁█✓✗…→👍🏽👩\u200d👧🇩🇪e\u0301☁\ufe0f\u00a0ßЖאش")
    | st.characters(blacklist_categories=("Cc", "Cf", "Cs")),
    max_size=20,
)


@pytest.mark.parametrize("kind", ["ascii", "console"])
@given(TEXTS)
@settings(max_examples=100)
def test_no_row_changes_its_width(kind: str, text: str) -> None:
    written = Glyphs(kind).text(text)
    if kind == "ascii":
        assert written.isascii()
        assert written.isprintable()
    assert cell_len(written) == sum(cell_len(piece) for piece in _pieces(text))


def _pieces(text: str) -> list[str]:
    """As they are laid out: what is drawn as one is measured as one."""
    run = "[\u200d\ufe00-\ufe0f\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\u231a-\u23ff]{2,}|."
    return re.findall(run, text, re.DOTALL)


def test_what_tells_states_apart_still_does() -> None:
    """The signs of one place, as the help explains them, are as many as before."""
    table = Glyphs("ascii")
    for place in ("left of a line", "behind a name", "before a name"):
        signs = [said.split()[0] for said, _ in SIGNS if said.endswith(place)]
        assert len({table.text(sign) for sign in signs}) == len(signs), place
    for signs in ("●◐○◌", "✓✗●"):
        assert len(set(table.text(signs))) == len(signs)


THEMES = theme.theme_names()
READABLE = 4.5


def _seen(style: Style) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    fore, back = style.color.get_truecolor(), style.bgcolor.get_truecolor()
    return (fore.red, fore.green, fore.blue), (back.red, back.green, back.blue)


@each("name", THEMES)
def test_256_letters_are_as_readable_as_the_themes(name: str) -> None:
    palette = theme.cached_theme(name)
    shades = Shades("256", palette.colours, dark=palette.dark)
    backs = [back for back in palette.colours if back.endswith("-line") or back == "background"]
    for back in backs:
        for fore in ("foreground", "syntax-keyword", "syntax-string", "syntax-comment", "error"):
            style = palette.style(fore, back)
            wanted = min(contrast(*_seen(style)), READABLE)
            assert contrast(*_seen(shades.reduced(style))) >= wanted - 0.01, (fore, back)


@each("name", THEMES)
def test_256_a_tint_is_never_what_it_is_a_tint_of(name: str) -> None:
    palette = theme.cached_theme(name)
    shades = Shades("256", palette.colours, dark=palette.dark)
    ground = shades.reduced(palette.style("foreground", "background")).bgcolor
    for back in ("hunk-pending-line", "hunk-added-line", "hunk-struck-line", "selection"):
        assert shades.reduced(palette.style("foreground", back)).bgcolor != ground, back


@each("name", THEMES)
def test_256_a_diff_keeps_its_colours(name: str) -> None:
    """Added, taken away and in conflict are told apart by their backgrounds; none is a grey."""
    palette = theme.cached_theme(name)
    shades = Shades("256", palette.colours, dark=palette.dark)
    seen = {}
    for back in ("added-line", "struck-line", "conflict-line", "added-word", "struck-word"):
        shown = shades.reduced(palette.style("foreground", f"hunk-{back}")).bgcolor
        assert shown.number is not None
        seen[back] = shown.number
    assert {back: number for back, number in seen.items() if not 16 <= number < 232} == {}
    for pair in ("added-line struck-line", "struck-line conflict-line", "added-line added-word"):
        one, other = pair.split()
        assert seen[one] != seen[other], pair


@each("name", THEMES)
@each("depth", ["16", "none"])
def test_the_terminals_own_background_stands_for_the_themes(name: str, depth: str) -> None:
    palette = theme.cached_theme(name)
    shades = Shades(depth, palette.colours, dark=palette.dark)
    for back in ("background", "surface", "panel", "hunk-added-line"):
        shown = shades.reduced(palette.style("foreground", back))
        assert (shown.bgcolor, shown.reverse) == (None, None)


@each("name", THEMES)
@each("depth", ["16", "none"])
def test_what_is_chosen_stands_out(name: str, depth: str) -> None:
    palette = theme.cached_theme(name)
    shades = Shades(depth, palette.colours, dark=palette.dark)
    plain = shades.reduced(palette.style("foreground", "background"))
    for fore, back in (
        ("background", "cursor"),
        ("background", "accent"),
        ("foreground", "selection"),
    ):
        shown = shades.reduced(palette.style(fore, back))
        assert shown.reverse or shown.bgcolor is not None, back
        assert shown != plain
    for back in ("hunk-added-word", "hunk-struck-word"):
        shown = shades.reduced(palette.style("foreground", back))
        assert shown.reverse or shown.bgcolor is not None or shown.underline, back
