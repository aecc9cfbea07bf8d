"""Themes in fewer colours: what can be read and told apart there still can."""

from __future__ import annotations

import pytest
from rich.style import Style

from tui.ui import theme
from tui.ui.painting.shades import Shades, contrast

THEMES = theme.theme_names()
READABLE = 4.5


def _seen(style: Style) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    assert style.color is not None
    assert style.bgcolor is not None
    fore, back = style.color.get_truecolor(), style.bgcolor.get_truecolor()
    return (fore.red, fore.green, fore.blue), (back.red, back.green, back.blue)


@pytest.mark.parametrize("name", THEMES)
def test_256_letters_are_as_readable_as_the_themes(name: str) -> None:
    palette = theme.cached_theme(name)
    shades = Shades("256", palette.colours, dark=palette.dark)
    backs = [back for back in palette.colours if back.endswith("-line") or back == "background"]
    for back in backs:
        for fore in ("foreground", "syntax-keyword", "syntax-string", "syntax-comment", "error"):
            style = palette.style(fore, back)
            wanted = min(contrast(*_seen(style)), READABLE)
            assert contrast(*_seen(shades.reduced(style))) >= wanted - 0.01, (fore, back)


@pytest.mark.parametrize("name", THEMES)
def test_256_a_tint_is_never_what_it_is_a_tint_of(name: str) -> None:
    palette = theme.cached_theme(name)
    shades = Shades("256", palette.colours, dark=palette.dark)
    ground = shades.reduced(palette.style("foreground", "background")).bgcolor
    for back in ("hunk-pending-line", "hunk-added-line", "hunk-struck-line", "selection"):
        assert shades.reduced(palette.style("foreground", back)).bgcolor != ground, back


@pytest.mark.parametrize("name", THEMES)
def test_256_a_diff_keeps_its_colours(name: str) -> None:
    """Added, taken away and in conflict are told apart by their backgrounds; none is a grey."""
    palette = theme.cached_theme(name)
    shades = Shades("256", palette.colours, dark=palette.dark)
    seen = {}
    for back in ("added-line", "struck-line", "conflict-line", "added-word", "struck-word"):
        shown = shades.reduced(palette.style("foreground", f"hunk-{back}")).bgcolor
        assert shown is not None
        assert shown.number is not None
        seen[back] = shown.number
    assert {back: number for back, number in seen.items() if not 16 <= number < 232} == {}
    for pair in ("added-line struck-line", "struck-line conflict-line", "added-line added-word"):
        one, other = pair.split()
        assert seen[one] != seen[other], pair


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("depth", ["16", "none"])
def test_the_terminals_own_background_stands_for_the_themes(name: str, depth: str) -> None:
    palette = theme.cached_theme(name)
    shades = Shades(depth, palette.colours, dark=palette.dark)
    for back in ("background", "surface", "panel", "hunk-added-line"):
        shown = shades.reduced(palette.style("foreground", back))
        assert (shown.bgcolor, shown.reverse) == (None, None)


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("depth", ["16", "none"])
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


@pytest.mark.parametrize("dark", [True, False])
def test_16_letters_have_their_hue_and_no_more_is_asked_of_the_palette(dark: bool) -> None:
    palette = theme.cached_theme("dusk")
    shades = Shades("16", palette.colours, dark=dark)
    for name, hue in (("error", 1), ("success", 2), ("accent", 6), ("deep", 5)):
        colour = shades.reduced(palette.style(name, "background")).color
        assert colour is not None
        assert colour.number == hue + (8 if dark else 0)
    assert shades.reduced(palette.style("foreground", "background")).color is None


@pytest.mark.parametrize("name", THEMES)
def test_none_means_none_and_attributes_stay(name: str) -> None:
    palette = theme.cached_theme(name)
    shades = Shades("none", palette.colours, dark=palette.dark)
    for fore in palette.colours:
        for back in palette.colours:
            shown = shades.reduced(palette.style(fore, back, "italic strike"))
            assert shown.color is None
            assert shown.bgcolor is None
            assert shown.italic
            assert shown.strike
            assert shades.reduced(shown) == shown


def test_a_style_in_reverse_is_what_it_looks_like() -> None:
    """Textual's scrollbars are written so."""
    palette = theme.cached_theme("dusk")
    shades = Shades("none", palette.colours, dark=True)
    bar = Style(
        color=palette.colours["accent"], bgcolor=palette.colours["background"], reverse=True
    )
    assert shades.reduced(bar).reverse
    gap = Style(
        color=palette.colours["background"], bgcolor=palette.colours["accent"], reverse=True
    )
    assert not shades.reduced(gap).reverse
