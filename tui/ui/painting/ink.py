"""What the terminal is written with: the one place where colours and signs become what it has.

Everything else draws with all colours of the theme and the Unicode signs of the house. A row's
bytes say as few colour codes as show it: half of what a terminal is sent while text scrolls would
be colours that it has already.

Fewer colours than a theme has: what of it a terminal with 256, 16 or none shows instead. 256: the
colour that looks nearest (in OKLab, where distances are as the eye has them), and for letters the
nearest one that can still be read on their background. 16: the terminal's user has chosen what
they look like, so the terminal's own background and letters stand for the theme's, and hues for
hues. None: reverse video, bold, underlined and faint letters. No tint that only hints at
something is kept there: marks, signs and words say the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

from rich.cells import cell_len
from rich.color import Color, ColorSystem, ColorType
from rich.segment import Segment
from rich.style import Style
from textual.cache import FIFOCache
from textual.color import Color as TextualColor
from textual.filter import LineFilter
from textual.strip import Strip

from tui.core.text.patterns import pattern
from tui.ui.theming.contrast import Rgb, oklab, rgb_contrast, rgb_luminance, rgb_of

_MOST_STYLES = 20_000


class Ink:
    """One terminal's colours and signs; full ones, unless told otherwise."""

    def __init__(self) -> None:
        self._shades: Shades | None = None
        self._glyphs: Glyphs | None = None
        self._wide = False
        self.many_colours = True
        """Enough of them for lighter and darker letters of one hue."""
        self._styles: dict[Style, Style] = {}

    def set_colours(self, depth: str, palette: Mapping[str, str], *, dark: bool) -> None:
        """``depth``: ``true``, ``256``, ``16`` or ``none``; ``palette`` is the theme's.

        ``dark``: the terminal's own background is.
        """
        self._styles.clear()
        self._shades = None
        self.many_colours = depth in ("true", "256")
        if depth != "true":
            self._shades = Shades(depth, palette, dark=dark)

    def set_signs(self, kind: str, *, wide_ambiguous: bool = False) -> None:
        """``kind``: ``unicode``, ``console`` or ``ascii``.

        ``wide_ambiguous``: signs whose width Unicode leaves open take two cells.
        """
        self._wide = wide_ambiguous
        self._glyphs = None
        if kind != "unicode" or wide_ambiguous:
            self._glyphs = Glyphs(kind, wide_ambiguous=wide_ambiguous)

    @property
    def all_colours(self) -> bool:
        """A style's own codes are what is written."""
        return self._shades is None

    def reduced(self, style: Style) -> Style:
        """The style in what the terminal has."""
        if self._shades is None:
            return style
        found = self._styles.get(style)
        if found is None:
            if len(self._styles) > _MOST_STYLES:
                self._styles.clear()
            found = self._styles[style] = self._shades.reduced(style)
        return found

    def codes(self, style: Style) -> str:
        """The numbers between ``ESC [`` and ``m``."""
        style = self.reduced(style)
        if style._ansi is None:  # an equal style may be known to Textual, this one is not
            style._ansi = Strip.render_ansi(style, ColorSystem.TRUECOLOR)
        return style._ansi

    def written(self, segments: Sequence[Segment]) -> Sequence[Segment]:
        """The segments in signs that there are, cell by cell."""
        if self._glyphs is None:
            return segments
        text = self._glyphs.text
        return [Segment(text(said), style) for said, style, control in segments if not control]

    def shows(self, sign: str) -> bool:
        """Whether it is written as it is, by no stand-in."""
        return self._glyphs is None or self._glyphs.text(sign) == sign

    def is_open(self, text: str) -> bool:
        """Whether something in it takes two cells here, and one in the layout."""
        return self._wide and any(unicodedata.east_asian_width(sign) == "A" for sign in text)


_now = Ink()


def ink() -> Ink:
    """What is written with now."""
    return _now


class PaintedStrip(Strip):
    """A strip that makes what Textual's remembers for it when that is first asked for.

    Seven caches a strip take longer to make than a row's segments, and 1 kB, and few are used.
    """

    __slots__ = ()

    def __init__(self, segments: Iterable[Segment], cell_length: int | None = None) -> None:
        self._segments = list(segments)
        self._cell_length = cell_length
        self._render_cache = self._link_ids = self._cell_count = None

    def __getattr__(self, name: str) -> FIFOCache[Any, Any]:
        """A slot that is still empty."""
        if not name.endswith("_cache"):
            raise AttributeError(name)
        cache: FIFOCache[Any, Any] = FIFOCache(4)
        setattr(self, name, cache)
        return cache


RESET = "\x1b[0m"
_MOST_STEPS = 20_000
_steps: dict[tuple[str, str], str] = {}
"""From one style's codes to the next one's."""


def row_bytes(segments: Iterable[Segment], ink: Ink) -> str:
    """The text of a row with its colours; it begins and ends without any."""
    parts: list[str] = []
    now = ""
    all_colours = ink.all_colours
    for text, style, control in segments:
        if not text or control:
            continue
        codes = ""
        if style is not None:
            known = style._ansi if all_colours else None
            codes = ink.codes(style) if known is None else known
        if codes != now:
            step = _steps.get((now, codes))
            parts.append(_step(now, codes) if step is None else step)
            now = codes
        if style is not None and style._link:
            link = f"id={style._link_id};{style._link}"
            text = f"\x1b]8;{link}\x1b\\{text}\x1b]8;;\x1b\\"
        parts.append(text)
    if now:
        parts.append(RESET)
    return "".join(parts)


def _step(now: str, then: str) -> str:
    """What to say so that ``then`` is in force where ``now`` is."""
    if len(_steps) > _MOST_STEPS:
        _steps.clear()
    step = _steps[now, then] = _shortest(now, then)
    return step


def _shortest(now: str, then: str) -> str:
    if not then:
        return RESET
    if not now:
        return f"\x1b[{then}m"
    before, after = _by_kind(now), _by_kind(then)
    if before.keys() - after.keys():  # something ends: that takes a reset
        return f"\x1b[0;{then}m"
    said = [codes for kind, codes in after.items() if before.get(kind) != codes]
    return f"\x1b[{';'.join(said)}m" if said else ""


def _by_kind(codes: str) -> dict[str, str]:
    """Codes by what they are of: foreground, background, or an attribute of their own."""
    kinds: dict[str, str] = {}
    numbers = iter(codes.split(";"))
    for number in numbers:
        value = int(number or 0)
        if value in (38, 48):
            rest = _colour(numbers)
            kinds["fore" if value == 38 else "back"] = ";".join([number, *rest])
        elif 30 <= value <= 39 or 90 <= value <= 97:
            kinds["fore"] = number
        elif 40 <= value <= 49 or 100 <= value <= 107:
            kinds["back"] = number
        else:
            kinds[number] = number
    return kinds


def _colour(numbers: Iterator[str]) -> list[str]:
    """What follows 38 or 48: ``5;n`` or ``2;r;g;b``."""
    how = next(numbers, "")
    return [how, *(next(numbers, "0") for _ in range(3 if how == "2" else 1))]


_UNSURE = pattern(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u1cff\u200d\u20d0-\u20f0\u231a-\u23ff\u2600-\u27bf"
    "\u2b00-\u2bff\ufe00-\ufe0f\U0001f000-\U0001faff\U000e0020-\U000e007f]+"
)
"""Combining marks, joiners, variation selectors, symbols with an emoji form, emoji."""


def steady_bytes(strip: Strip, x: int) -> str:
    """The strip as it is written from column ``x`` of the screen on."""
    if strip._render_cache is not None:
        return strip._render_cache
    segments = ink().written(strip._segments)
    if _is_unsure_in(segments):
        return _pieces(segments, x)
    said = strip._render_cache = row_bytes(segments, ink())
    return said


def segment_bytes(segments: Sequence[Segment], x: int) -> str:
    """The same of a part of a strip, which is not asked for again."""
    segments = ink().written(segments)
    return _pieces(segments, x) if _is_unsure_in(segments) else row_bytes(segments, ink())


def _is_unsure_in(segments: Sequence[Segment]) -> bool:
    """Terminals may disagree about the width of a piece."""
    if "".join([text for text, _, _ in segments]).isascii():
        return False
    return any(is_unsure(text) for text, _, _ in segments)


def _pieces(segments: Sequence[Segment], x: int) -> str:
    """Piece by piece: behind signs that are unsure the cursor is put where the rest belongs."""
    parts: list[str] = []
    piece: list[Segment] = []
    for text, style, control in segments:
        ends = set() if text.isascii() else {found.end() for found in _UNSURE.finditer(text)}
        ends |= {len(text)} if ink().is_open(text) else set()
        for start, end in pairwise(sorted({0, *ends, len(text)})):
            piece.append(Segment(text[start:end], style, control))
            x += cell_len(text[start:end])
            if end in ends:
                parts.append(f"{row_bytes(piece, ink())}\x1b[{x + 1}G")
                piece = []
    parts.append(row_bytes(piece, ink()))
    return "".join(parts)


def is_unsure(text: str) -> bool:
    """Terminals may disagree about its width, or this one has another than the layout."""
    if text.isascii():
        return False
    return _UNSURE.search(text) is not None or ink().is_open(text)


class WithoutColours(LineFilter):
    """In place of Textual's own, which makes greys of colours: those are colours too."""

    def apply(self, segments: list[Segment], background: TextualColor) -> list[Segment]:
        """The same in reverse video, bold, underlined and faint."""
        reduced = ink().reduced
        return [
            Segment(text, style if style is None else reduced(style), control)
            for text, style, control in segments
        ]


_SAME = (
    ("─━┄┅┈┉╌╍═╴╶╸╺‐‑‒–—−⎯▄↔⇔•", "-"),
    ("│┇┋╎║╵╷╹╻▍▎▏▐▕", "|"),
    ("┌┍┎┏┐┑┒┓└┕┖┗┘┙┚┛├┝┞┟┠┡┢┣┤┥┦┧┨┩┪┫┬┭┮┯┰┱┲┳┴┵┶┷┸┹┺┻┼╋╬╔╗╚╝╠╣╦╩╭╮╰╯▆✓✔", "+"),
    ("▁⎽", "_"),
    ("▂·∙⋅░◌․", "."),
    ("▃▒∴∶┊", ":"),
    ("▅≈", "="),
    ("▇●◆✦★∗┃", "*"),
    ("█▊▋▉▓■▀▔", "#"),
    ("→▸▶►▷❯›»⇒↪↳⟩≥▌", ">"),
    ("←◂◀◄◃◁❮‹«⇐↶⏎⟨↩≤", "<"),
    ("↑▴▲⇧", "^"),
    ("↓▾▼⇩", "v"),
    ("↗╱", "/"),
    ("↘╲", "\\"),
    ("✗✘×╳✕", "x"),
    ("○◯◦◇", "o"),
    ("…⋯≋▹", "~"),
    ("↯⚑⚠", "!"),
    ("⊘∅", "0"),
    ("⌕┆", "?"),
    ("“”„", '"'),
    ("‘’‚", "'"),
    ("␊␍¶", "$"),
    ("Σ", "S"),
    ("\u00a0\u2007\u202f", " "),
    ("╏◐◑◒◓", "%"),
    ("✎", "@"),
)
_PICTURES = dict.fromkeys(range(0x2400, 0x2422), "^")
"""Of control characters."""
_SIGNS = _PICTURES | {ord(sign): stand_in for signs, stand_in in _SAME for sign in signs}
_CONSOLE = frozenset("─│┌┐└┘├┤┬┴┼═║█▄▌▐▀░▒▓·•×÷«»°±←→↑↓■")
"""What the fonts of PC consoles have."""
_RUNS = re.compile(
    "[\u200d\ufe00-\ufe0f\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\u231a-\u23ff]{2,}"
)
"""Signs that are drawn as one: families, flags, skin tones."""
_UNKNOWN = "?"


class Glyphs(dict[int, str]):
    """A table for `str.translate` that finds what it has not got yet."""

    def __init__(self, kind: str, *, wide_ambiguous: bool = False) -> None:
        """``kind``: ``unicode``, ``console`` or ``ascii``.

        ``wide_ambiguous``: signs that take two cells here are replaced, whatever the kind is.
        """
        super().__init__()
        self._kind = kind
        self._wide = wide_ambiguous

    def __missing__(self, code: int) -> str:
        """What is written for a character."""
        found = self[code] = self._for(chr(code))
        return found

    def text(self, text: str) -> str:
        """The text as it is written: as many cells as before."""
        if text.isascii():
            return text
        if self._kind != "unicode":
            text = _RUNS.sub(self._run, text)
        return text.translate(self)

    def _run(self, found: re.Match[str]) -> str:
        """Signs on end: one by one where they are no more than that."""
        run = found[0]
        if all(ord(sign) in _SIGNS for sign in run):
            return run
        return _UNKNOWN * cell_len(run)

    def _for(self, sign: str) -> str:
        code = ord(sign)
        if code < 128:
            return sign
        if self._kind == "unicode":
            open_width = self._wide and unicodedata.east_asian_width(sign) == "A"
            return _SIGNS.get(code, sign) if open_width else sign
        if self._kind == "console" and (sign in _CONSOLE or _is_letter(sign)):
            return sign
        return _SIGNS.get(code) or _ascii(sign)


def _is_letter(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "LMN"


def _ascii(sign: str) -> str:
    """A letter without its accents, else a question mark a cell."""
    cells = cell_len(sign)
    plain = unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode()
    return plain if len(plain) == cells and plain.isprintable() else _UNKNOWN * cells


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
