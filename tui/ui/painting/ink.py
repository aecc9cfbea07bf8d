"""What the terminal is written with: the one place where colours and signs become what it has.

Everything else draws with all colours of the theme and the Unicode signs of the house. A row's
bytes say as few colour codes as show it: half of what a terminal is sent while text scrolls would
be colours that it has already.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.strip import Strip

if TYPE_CHECKING:
    from tui.ui.painting.shades import Shades


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
            from tui.ui.painting.shades import Shades  # not where all colours are shown

            self._shades = Shades(depth, palette, dark=dark)

    def set_signs(self, kind: str, *, wide_ambiguous: bool = False) -> None:
        """``kind``: ``unicode``, ``console`` or ``ascii``.

        ``wide_ambiguous``: signs whose width Unicode leaves open take two cells.
        """
        self._wide = wide_ambiguous
        self._glyphs = None
        if kind != "unicode" or wide_ambiguous:
            from tui.ui.painting.ink import Glyphs  # rarely needed

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


@cache
def _unsure() -> re.Pattern[str]:
    """Combining marks, joiners, variation selectors, symbols with an emoji form, emoji."""
    return re.compile(
        "[\u0300-\u036f\u0483-\u0489\u0591-\u1cff\u200d\u20d0-\u20f0\u231a-\u23ff\u2600-\u27bf"
        "\u2b00-\u2bff\ufe00-\ufe0f\U0001f000-\U0001faff]"
    )


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
    """Piece by piece: behind one that is unsure the cursor is put where the next one belongs."""
    parts: list[str] = []
    piece: list[Segment] = []
    for segment in segments:
        piece.append(segment)
        x += cell_len(segment.text)
        if is_unsure(segment.text):
            parts.append(f"{row_bytes(piece, ink())}\x1b[{x + 1}G")
            piece = []
    parts.append(row_bytes(piece, ink()))
    return "".join(parts)


def is_unsure(text: str) -> bool:
    """Terminals may disagree about its width, or this one has another than the layout."""
    if text.isascii():
        return False
    return _unsure().search(text) is not None or ink().is_open(text)


class WithoutColours(LineFilter):
    """In place of Textual's own, which makes greys of colours: those are colours too."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
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
