"""Themes in fewer colours: what can be read and told apart there still can."""

from __future__ import annotations

from rich.style import Style

from tests.support.tables import each
from tui.ui import theme
from tui.ui.painting.shades import Shades, contrast

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
