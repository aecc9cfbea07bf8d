"""Every text that the app paints can be read in every theme (WCAG 2 AA), by arithmetic."""

from __future__ import annotations

from itertools import combinations

from pygments.token import Token
from rich.style import Style

from tests.support.tables import each
from tui.ui import theme
from tui.ui.theming.contrast import MARK_RATIO, TEXT_RATIO, contrast, hexed, linear, oklab, rgb_of
from tui.ui.theming.contrast_check import GROUNDS, MARKS, OVER, STRUCTURE, findings, texts

NAMES = theme.theme_names()
each_theme = each("name", NAMES)


@each_theme
def test_every_text_reads_on_every_ground(name: str) -> None:
    assert [str(finding) for finding in findings(theme.cached_theme(name))] == []


@each_theme
def test_every_text_reads_on_what_lies_over_the_ground(name: str) -> None:
    """Selections, lines of hunks, words that differ: there the palette moves the colour."""
    palette = theme.cached_theme(name)
    for over in OVER:
        for text in texts():
            whole = palette.style(text) + palette.style("", over)
            assert ratio(palette.legible(whole)) >= TEXT_RATIO, (text, over)
            assert ratio(palette.style(text, over)) >= TEXT_RATIO, (text, over)
    keyword = palette.legible(palette.syntax_style(Token.Keyword) + palette.style("", "selection"))
    assert ratio(keyword) >= TEXT_RATIO


@each_theme
def test_a_pane_without_the_keys_is_fainter_and_still_reads(name: str) -> None:
    palette = theme.cached_theme(name)
    for ground in ("background", "panel"):
        for text in texts():
            plain = palette.style(text, ground)
            dim = palette.dimmed(plain)
            least = max(TEXT_RATIO, ratio(palette.style("faint", ground)))
            assert min(ratio(plain), least) <= ratio(dim) <= ratio(plain), (text, ground)
        bright = palette.style("foreground", ground)
        assert ratio(palette.dimmed(bright)) < 0.75 * ratio(bright), "at first sight"
    landing = palette.style("foreground", "hunk-landing-line")
    assert palette.dimmed(landing) == landing, "what the model writes is bright"


def ratio(style: Style) -> float:
    assert style.color is not None
    assert style.bgcolor is not None
    return contrast(style.color.get_truecolor().hex, style.bgcolor.get_truecolor().hex)


@each("name", ["contrast", "contrast-light"])
def test_high_contrast_means_it(name: str) -> None:
    colours = theme.cached_theme(name).colours
    for text in texts():
        for ground in GROUNDS:
            assert contrast(colours[text], colours[ground]) >= 7, (text, ground)
    for rule in (*STRUCTURE, *MARKS):
        assert contrast(colours[rule], colours["background"]) >= MARK_RATIO, rule


# -- people who see red and green as one


MIXED_UP = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
"""How such eyes see linear red, green and blue (Machado, Oliveira, Fernandes 2009)."""
SAFE = ["colourblind-dark", "colourblind-light"]


def seen(colour: str, sight: str) -> tuple[float, float, float]:
    if sight == "everybody":
        return oklab(rgb_of(colour))
    light = linear(rgb_of(colour))
    red, green, blue = (
        sum(a * b for a, b in zip(row, light, strict=True)) for row in MIXED_UP[sight]
    )
    return oklab(rgb_of(hexed((red, green, blue))))


def difference(one: str, other: str, sight: str) -> float:
    pairs = zip(seen(one, sight), seen(other, sight), strict=True)
    return sum((a - b) ** 2 for a, b in pairs) ** 0.5


@each("sight", ["everybody", *MIXED_UP])
@each("name", SAFE)
def test_added_and_removed_differ_by_more_than_hue(name: str, sight: str) -> None:
    palette = theme.cached_theme(name)
    c = palette.colours
    for added, struck, least in (
        ("hunk-added", "hunk-struck", 0.15),
        ("hunk-accepted", "hunk-struck", 0.15),
        ("success", "error", 0.12),
        ("hunk-added-line", "hunk-struck-line", 0.035),
        ("hunk-added-word", "hunk-struck-word", 0.06),
    ):
        assert difference(c[added], c[struck], sight) >= least, (added, struck)
    light = abs(seen(c["hunk-added"], sight)[0] - seen(c["hunk-struck"], sight)[0])
    assert light >= 0.08, "lightness alone tells them apart"
    assert palette.faces.get("hunk-added-word") != palette.faces.get("hunk-struck-word")


@each("sight", ["everybody", *MIXED_UP])
@each("name", SAFE)
def test_states_of_hunks_can_be_told_apart(name: str, sight: str) -> None:
    """Glyphs and words say them too."""
    colours = theme.cached_theme(name).colours
    states = [colours[f"hunk-{state}"] for state in ("landing", "pending", "accepted", "struck")]
    for one, other in combinations(states, 2):
        assert difference(one, other, sight) >= 0.07, (one, other)
