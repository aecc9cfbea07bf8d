"""Fewer colours than a theme has: what of it a terminal with 256, 16 or none shows instead.

256: the colour that looks nearest (in OKLab, where distances are as the eye has them), and for
letters the nearest one that can still be read on their background. 16: the terminal's user has
chosen what they look like, so the terminal's own background and letters stand for the theme's, and
hues for hues. None: reverse video, bold, underlined and faint letters. No tint that only hints at
something is kept there: marks, signs and words say the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache

from rich.color import Color, ColorType
from rich.style import Style

from tui.ui.theming.contrast import Rgb, oklab, rgb_contrast, rgb_luminance, rgb_of

_STEPS = (0, 95, 135, 175, 215, 255)
_MOST_KEPT = 20_000
_READABLE = 4.5
"""Contrast of letters; what the theme has less of is not given more."""
_VISIBLE = 1.35
"""Contrast from which a background is more than a tint."""
_FAINT = 4.0
"""Letters of no hue with less contrast than this are faint ones."""
_GREY_CHROMA, _GREY_BACK_CHROMA = 0.05, 0.03
"""Less of it than this is grey: a background is mostly a little of a colour."""
_GREYS = ("foreground", "muted", "faint", "line", "syntax-text", "syntax-comment")
"""Letters of no colour, whatever tint a theme gives them."""
_TURNS: tuple[tuple[float, int], ...] = (
    (0.80, 1), (2.20, 3), (2.90, 2), (3.90, 6), (4.95, 4), (6.05, 5), (6.30, 1),
)  # fmt: skip
"""Up to which hue in OKLab (radians) which of the terminal's six hues stands for it."""
_TINTED = ("-line", "-word")
"""Backgrounds that tell by their hue: the nearest of 256 to such a tint is a grey."""
_SECOND = ("conflict-line", "-word")
"""Those that have to stand out from another one of the same hue."""
_TINT_CHROMA, _HUE_APART = 0.05, 0.55
"""How much colour such a background has at least, and how far its hue may be off (radians)."""
_HUE_WEIGHT = 0.35
"""What a radian of hue weighs against lightness."""
_LOUD = ("selection", "-word", "-match")
"""Backgrounds that say something: they are never left out."""
_DARK_INK_ON = frozenset({2, 3, 6})
"""Of these six as backgrounds those that black letters are read on."""


class Shades:
    """Styles of one theme, as a terminal with fewer colours shows them."""

    def __init__(self, depth: str, palette: Mapping[str, str], *, dark: bool) -> None:
        """``depth``: ``256``, ``16`` or ``none``; ``dark``: the terminal's background is."""
        self._depth = depth
        self._dark = dark
        self._ground = rgb_of(palette.get("background", "#000000"))
        self._names = {rgb_of(palette[name]): name for name in reversed([*palette])}
        """What a colour is called; of several names the first."""
        self._states = {n: rgb_of(c) for n, c in palette.items() if n.startswith("hunk-")}
        """The colours that tints are tints of: their hue is purer."""
        self._greys = {rgb_of(palette[name]) for name in _GREYS if name in palette}
        self._flat = {
            rgb_of(value)
            for name, value in palette.items()
            if name in ("background", "surface", "panel") or name.endswith("-line")
        }

    def reduced(self, style: Style) -> Style:
        """The style in colours and attributes that there are."""
        if style.color is None and style.bgcolor is None:
            return style
        if style.reverse and style.color is not None and style.bgcolor is not None:
            style += Style(reverse=False, color=style.bgcolor, bgcolor=style.color)
        if self._depth == "256":
            return _recoloured(style, *self._of_256(style))
        if self._depth == "16":
            return self._of_16(style)
        return self._of_none(style)

    # -- 256

    def _of_256(self, style: Style) -> tuple[Color | None, Color | None]:
        fore, back = _seen(style.color), _seen(style.bgcolor)
        ground = None
        if back is not None:
            name = self._names.get(back, "")
            tint = None
            if name.endswith(_TINTED):
                state = self._states.get(name.rpartition("-")[0], back)
                tint = _tint(state, self._ground, second=name.endswith(_SECOND))
            number = _nearest(back) if tint is None else tint
            if back != self._ground and number == _nearest(self._ground):
                number = _stepped(number, lighter=rgb_luminance(self._ground) < 0.5)
            ground = number
        shown_back = style.bgcolor if ground is None else Color.from_ansi(ground)
        if fore is None:
            return style.color, shown_back
        if ground is None or back is None:
            return Color.from_ansi(_nearest(fore)), shown_back
        wanted = min(contrast(fore, back), _READABLE)
        return Color.from_ansi(_nearest_readable(fore, ground, round(wanted, 2))), shown_back

    # -- 16 and none

    def _is_flat(self, back: Rgb | None) -> bool:
        """Whether a background is the terminal's own here: the theme's, or a tint of it."""
        if back is None or back in self._flat:
            return True
        if self._names.get(back, "").endswith(_LOUD):  # whatever a light theme makes of it
            return False
        return contrast(back, self._ground) < _VISIBLE

    def _is_marked(self, back: Rgb | None) -> bool:
        """Whether it is about a part of a line: the words that changed, what was found."""
        name = self._names.get(back, "") if back is not None else ""
        return name.endswith(("-word", "-match"))

    def _of_16(self, style: Style) -> Style:
        fore, back = _seen(style.color), _seen(style.bgcolor)
        if self._is_flat(back):
            said = self._letters(fore, back)
            return _recoloured(style, said, None) + self._weight(fore, back)
        assert back is not None
        hue = _hue(back, _GREY_BACK_CHROMA)
        if hue is None:
            return _recoloured(style, None, None) + Style(reverse=True)
        ink = 0 if hue in _DARK_INK_ON else 15
        return _recoloured(style, Color.from_ansi(ink), Color.from_ansi(hue))

    def _of_none(self, style: Style) -> Style:
        fore, back = _seen(style.color), _seen(style.bgcolor)
        plain = _recoloured(style, None, None)
        if self._is_flat(back):
            name = self._names.get(fore, "") if fore is not None else ""
            strong = name.endswith(("keyword", "error", "accent", "heading", "conflict"))
            return plain + (Style(bold=True) if strong else self._weight(fore, back))
        if self._is_marked(back):
            return plain + Style(bold=True, underline=True)
        return plain + Style(reverse=True)

    def _letters(self, fore: Rgb | None, back: Rgb | None) -> Color | None:
        hue = self._hue_of(fore)
        if hue is None:
            return None
        return Color.from_ansi(hue + 8 if self._dark else hue)

    def _hue_of(self, fore: Rgb | None) -> int | None:
        if fore is None or fore in self._greys:
            return None
        return _hue(fore, _GREY_CHROMA)

    def _weight(self, fore: Rgb | None, back: Rgb | None) -> Style:
        """Faint, where the theme's letters are."""
        if fore is None or self._hue_of(fore) is not None:
            return Style.null()
        faint = contrast(fore, back or self._ground) < _FAINT
        return Style(dim=True) if faint else Style.null()


def _recoloured(style: Style, fore: Color | None, back: Color | None) -> Style:
    """The same attributes in other colours."""
    return style.without_color + Style(color=fore, bgcolor=back, link=style.link)


def _seen(colour: Color | None) -> Rgb | None:
    """What a colour looks like; None: nobody but the terminal knows."""
    if colour is None or colour.type is ColorType.DEFAULT or colour.is_system_defined:
        return None
    red, green, blue = colour.get_truecolor()
    return red, green, blue


contrast = lru_cache(_MOST_KEPT)(rgb_contrast)
_lab = lru_cache(_MOST_KEPT)(oklab)


@lru_cache(_MOST_KEPT)
def _hue(colour: Rgb, least: float) -> int | None:
    """The one of the terminal's six hues; None: it has less colour than ``least``."""
    import math

    _, a, b = _lab(colour)
    if math.hypot(a, b) < least:
        return None
    turn = math.atan2(b, a) % (2 * math.pi)
    return next(number for until, number in _TURNS if turn <= until)


@cache
def _all_256() -> dict[int, Rgb]:
    """What the colours from 16 on look like: those before are the user's own."""
    cube = {
        16 + 36 * r + 6 * g + b: (_STEPS[r], _STEPS[g], _STEPS[b])
        for r in range(6)
        for g in range(6)
        for b in range(6)
    }
    return cube | {232 + step: (8 + 10 * step,) * 3 for step in range(24)}


def _distance(one: Rgb, other: Rgb) -> float:
    return sum((a - b) ** 2 for a, b in zip(_lab(one), _lab(other), strict=True))


@lru_cache(_MOST_KEPT)
def _nearest(colour: Rgb) -> int:
    shades = _all_256()
    return min(shades, key=lambda number: _distance(shades[number], colour))


@lru_cache(_MOST_KEPT)
def _nearest_readable(colour: Rgb, back: int, wanted: float) -> int:
    """The nearest one with this contrast on a background; the best, if none has it."""
    shades = _all_256()
    ground = shades[back]
    if contrast(shades[number := _nearest(colour)], ground) >= wanted:
        return number
    fitting = [number for number in shades if contrast(shades[number], ground) >= wanted]
    if not fitting:
        return max(shades, key=lambda number: contrast(shades[number], ground))
    return min(fitting, key=lambda number: _distance(shades[number], colour))


@lru_cache(_MOST_KEPT)
def _tint(colour: Rgb, ground: Rgb, *, second: bool) -> int | None:
    """Of those with the same hue the one that is the least (or the second least) loud."""
    import math

    _, a, b = _lab(colour)
    turn, level = math.atan2(b, a), _lab(ground)[0]
    fitting: list[tuple[float, int]] = []
    for number, shade in _all_256().items():
        light, x, y = _lab(shade)
        apart = abs((math.atan2(y, x) - turn + math.pi) % (2 * math.pi) - math.pi)
        if math.hypot(x, y) >= _TINT_CHROMA and apart <= _HUE_APART:
            fitting.append((abs(light - level) + _HUE_WEIGHT * apart, number))
    fitting.sort()
    return fitting[min(int(second), len(fitting) - 1)][1] if fitting else None


def _stepped(number: int, *, lighter: bool) -> int:
    """The next grey: a tint must not become what it is a tint of."""
    shade = _all_256()[number]
    greys = [232 + step for step in range(24)]
    level = sum(shade) // 3
    if lighter:
        return next((grey for grey in greys if _all_256()[grey][0] > level), greys[-1])
    return next((grey for grey in reversed(greys) if _all_256()[grey][0] < level), greys[0])
