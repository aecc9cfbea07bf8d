"""Rows of the conversation: styled pieces of inert text, wrapped by cells, made into strips.

Text of models, files and programs comes to the screen through `inert` only: control characters
become pictures, so nothing in it acts on the terminal; and rows are made of Rich segments, never
of markup, so nothing in it acts on Textual.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from rich.cells import cell_len, get_character_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.ui import theme
from tui.ui.painting.ink import PaintedStrip

MARGIN = 2
"""Empty cells left of every row."""

Piece = tuple[str, Style]
"""Inert text of one style, without line breaks."""


class RowTarget(NamedTuple):
    """What Enter, a click or a review key on a row acts upon."""

    kind: Literal["hunk", "place", "fold", "file", "code", "message", "card"]
    key: int = 0
    """The hunk's id, or the index of the block; ``file`` is one file of a hunk card."""
    path: str = ""
    line: int = 0
    """0-based; of ``code``: the character of the block's text at which its fence begins."""
    col: int = 0


_REPLACED = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"}
_REPLACED[0x7F] = 0x2421
_REPLACED |= dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
_REPLACED |= dict.fromkeys((0x061C, 0x200E, 0x200F, 0x2028, 0x2029, 0xFEFF), 0xFFFD)
_REPLACED |= dict.fromkeys([*range(0x202A, 0x202F), *range(0x2060, 0x2070)], 0xFFFD)
_REPLACED |= dict.fromkeys([0xAD, 0x200B, *range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080)], 0xFFFD)
"""C0 as control pictures; C1, line separators, bidirectional overrides and what has no width (but
the joiners of emoji) as U+FFFD."""
_BREAKS = {code: 0x2400 + code for code in b"\t\n\r"}


def inert(text: str) -> str:
    """The text with nothing in it that a terminal would act upon; newlines and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n").translate(_REPLACED)
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text


def pictures(text: str) -> str:
    """`inert`, one character for one: columns stay, and newlines and tabs are pictures too."""
    if text.isascii() and text.isprintable():
        return text
    return inert(text.translate(_BREAKS))


def one_line(text: str) -> str:
    """`inert`, with line breaks and tabs as spaces."""
    return " ".join(inert(text).split())


def flat(text: str) -> str:
    """One line of inert text with its tabs expanded to columns of 4."""
    return text.expandtabs(4) if "\t" in text else text


def breaks(text: str, width: int) -> list[tuple[int, int]]:
    """Where to wrap: start and end offset of each row; blanks at a break are left out.

    ``width`` is in cells, at least 1. Words longer than a row are cut.
    """
    width = max(width, 1)
    if (len(text) if text.isascii() else cell_len(text)) <= width:
        return [(0, len(text))]
    found, start = [], 0
    while True:
        limit = _fit(text, start, width)
        if limit >= len(text):
            found.append((start, len(text)))
            return found
        blank = text.rfind(" ", start + 1, limit + 1)
        end = blank if blank > start else limit
        if not text[start:end].strip():
            end = limit
        found.append((start, end))
        start = end
        while start < len(text) and text[start] == " ":
            start += 1
        if start >= len(text):
            return found


def _fit(text: str, start: int, width: int) -> int:
    """The offset behind the last character that fits into ``width`` cells; moves at least 1."""
    end = min(start + width, len(text))
    if text[start:end].isascii():
        return end
    cells = 0
    for index in range(start, len(text)):
        cells += get_character_cell_size(text[index])
        if cells > width:
            return max(index, start + 1)
    return len(text)


def wrap(pieces: Iterable[Piece], width: int) -> list[list[Piece]]:
    """Break styled text into rows of at most ``width`` cells; a newline ends a row."""
    rows: list[list[Piece]] = []
    paragraph: list[Piece] = []
    for text, style in pieces:
        head, *rest = text.split("\n")
        paragraph.append((head, style))
        for line in rest:
            rows += _wrap_line(paragraph, width)
            paragraph = [(line, style)]
    rows += _wrap_line(paragraph, width)
    return rows


def _wrap_line(pieces: list[Piece], width: int) -> list[list[Piece]]:
    pieces = [(text, style) for text, style in pieces if text]
    spans = breaks("".join(text for text, _ in pieces), width)
    if len(spans) == 1:
        return [pieces]
    rows, first, at = list[list[Piece]](), 0, 0
    for start, end in spans:  # a row begins in the piece in which the last one ended, or behind it
        while first < len(pieces) and at + len(pieces[first][0]) <= start:
            at += len(pieces[first][0])
            first += 1
        last, behind = first, at
        while last < len(pieces) and behind < end:
            behind += len(pieces[last][0])
            last += 1
        rows.append(cut(pieces[first:last], start - at, end - at))
    return rows


def cut(pieces: Iterable[Piece], start: int, end: int) -> list[Piece]:
    """The pieces between two character offsets."""
    found, at = [], 0
    for text, style in pieces:
        behind = at + len(text)
        if behind > start and at < end:
            found.append((text[max(start - at, 0) : end - at], style))
        at = behind
    return found


def clip(text: str, width: int) -> str:
    """The text in at most ``width`` cells, with an ellipsis where something was left out."""
    if cell_len(text) <= width:
        return text
    return text[: _fit(text, 0, width - 1)] + "…" if width > 1 else "…"[:width]


def clip_left(text: str, width: int) -> str:
    """The end of the text in at most ``width`` cells: for paths and live tails."""
    if cell_len(text) <= width:
        return text
    tail = text[-max(width - 1, 1) :]
    while tail and cell_len(tail) > width - 1:
        tail = tail[1:]
    return f"…{tail}"


def make_strip(pieces: Iterable[Piece], width: int, base: Style) -> Strip:
    """A strip exactly ``width`` cells wide on ``base``; what is too long is cropped."""
    return PaintedStrip(_segments(pieces, width, base), width)


def _segments(pieces: Iterable[Piece], width: int, base: Style) -> Iterable[Segment]:
    """What is in such a strip."""
    segments: list[Segment] = []
    last: Style | None = None
    used = 0
    for text, style in pieces:
        if not text:
            continue
        full = _over(base, style)
        used += len(text) if text.isascii() else cell_len(text)
        if full is last:
            segments[-1] = Segment(segments[-1].text + text, full)
        else:
            segments.append(Segment(text, full))
            last = full
    if used < width:
        segments.append(Segment(" " * (width - used), base))
    return PaintedStrip(segments, used).crop(0, width) if used > width else segments


_MOST_MIXED = 4096
_mixed: dict[tuple[int, int], tuple[Style, Style, Style]] = {}
"""Identities of two styles -> both, kept so that these stay theirs, and one over the other."""


def _over(base: Style, style: Style) -> Style:
    """``base + style``, made to read; Rich's own memory hashes both each time, which costs more."""
    key = (id(base), id(style))
    found = _mixed.get(key)
    if found is None:
        if len(_mixed) > _MOST_MIXED:
            _mixed.clear()
        found = _mixed[key] = (base, style, theme.active().legible(base + style))
    return found[2]


def spread(left: list[Piece], right: list[Piece], width: int) -> list[Piece]:
    """Both on one row, ``right`` flush right; ``left`` is cropped where both do not fit."""
    room = width - sum(cell_len(text) for text, _ in right)
    shown: list[Piece] = []
    for text, style in left:
        piece = clip(text, room) if room > 0 else ""
        shown.append((piece, style))
        room -= cell_len(piece)
        if piece != text:
            break
    return [*shown, (" " * max(room, 0), Style.null()), *right]


class StyledLine(NamedTuple):
    """A row of content before it gets its margins."""

    pieces: Iterable[Piece]
    back: str = ""
    """The palette's name of the background that fills the row; empty: the pane's own."""
    target: RowTarget | None = None


class StyledRow:
    """A line with its margins; the strip is made when the row is first painted."""

    __slots__ = ("_line", "_strip", "_width", "target", "waits")

    def __init__(self, line: StyledLine, width: int) -> None:
        """``width`` of the pane in cells, margins included."""
        self.target = line.target
        self._line = line
        self._width = width
        self._strip: Strip | None = None
        self.waits = False
        """It was painted, but some of its colours are still to be made."""

    @property
    def text(self) -> str:
        """What is said on it, without its margin; no colours are made for that."""
        return "".join(text for text, _ in self._line.pieces)

    @property
    def strip(self) -> Strip:
        """The painted row; its colours are those of the theme at the first paint."""
        if self._strip is None or self.waits:
            self._strip = self._paint()
            self.waits = getattr(self._line.pieces, "waits", False)
        return self._strip

    def _paint(self) -> Strip:
        palette = theme.active()
        base = palette.style("foreground", "background")
        margin = (" " * MARGIN, base)
        if not self._line.back:
            return make_strip([margin, *self._line.pieces], self._width, base)
        inner = inner_width(self._width)
        fill = palette.style("foreground", self._line.back)
        segments = _segments(self._line.pieces, inner, fill)
        if MARGIN + inner > self._width:
            pieces = [(segment.text, segment.style or fill) for segment in segments]
            return make_strip([margin, *pieces], self._width, base)
        right = Segment(" " * (self._width - MARGIN - inner), base)
        return PaintedStrip([Segment(*margin), *segments, right], self._width)


def inner_width(width: int) -> int:
    """Cells between the margins of a row ``width`` cells wide."""
    return max(width - MARGIN - 1, 8)
