"""One row of the editor as a strip: gutter, coloured text, selection, cursor, what landed.

A `EditorRow` holds all that a strip depends on, so equal rows are equal strips: the editor repaints
the rows that differ from the ones on the screen, and scrolling reuses painted strips.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.strip import Strip

from tui.ui.editor.cells import TAB_SIZE, LineCells, Piece, part_cells
from tui.ui.painting.ink import PaintedStrip
from tui.ui.theming.palette import Palette

if TYPE_CHECKING:
    from tui.ui.highlight.lines import Spans

BARS = {
    "landing": "▌",
    "pending": "┃",
    "blamed": "┃",
    "accepted": "│",
    "struck": "╌",
    "cut": "╏",
    "conflict": "!",
    "candidate": "┆",
    "incoming": "┊",
}
"""What the gutter shows beside a line."""

_WRITING = "▍"
"""Where the model is writing."""
NOTE = "◆"
"""Something is noted on this line."""
GUTTER_GHOST = "▹"
"""Where a model at 50 tokens/s would be writing."""
_REMOVED = "-"
"""In the place of a number: this row is removed, and goes when that is accepted."""
_MORE_LEFT, _MORE_RIGHT = "‹", "›"
_CONTINUED = "↳"
"""In the place of a number: this row belongs to the line above."""
_MANY_SPANS = 40
_BLANK = ("blank",)
"""In the place of a token: the indentation of a struck row."""
_STRIPS = 240
"""Painted strips kept."""
Chip = tuple[str, str]
"""Words over the right end of a row, and their colour's name."""
Overlay = tuple[int, int, str]
"""First column, column behind the last, and what lies over the text there."""


class EditorRow(NamedTuple):
    """All that one screen row depends on."""

    text: str = ""
    """The line, or the part of it that this row is about."""
    number: int | None = None
    """The line's number on the screen, from 1; None below the end and for what is no text."""
    kind: str = ""
    """The line's decoration (`Workspace.decorations`), ``incoming``, or empty."""
    spans: Spans = ()
    current: bool = False
    """The cursor's line, to be lifted a little."""
    overlays: tuple[Overlay, ...] = ()
    """``match``, ``match-now``, ``bracket``, ``selection``, ``cursor``, ``cursor-away``; the later
    ones win."""
    newline_selected: bool = False
    writing: bool = False
    """The model writes at the end of this line."""
    cell: int = 0
    """The cell of the text area in which ``text`` begins, before scrolling sideways."""
    phase: int = 0
    """Cells from the last tab stop to there."""
    continued: bool = False
    """Not the line's first row."""
    last: bool = True
    """The text goes up to the line's end."""
    ending: str = ""
    """The line's ending as a picture, if it is not like the others in the file."""
    chips: tuple[Chip, ...] = ()
    ghost: bool = False
    """A model at 50 tokens/s would be writing in this line."""
    folded: bool = False
    """It says how many removed lines are folded away."""
    line: int | None = None
    """The line of the buffer, from 0."""
    note: str = ""
    """The colour of the mark beside a line on which something is noted; empty: nothing is."""


class RowFrame(NamedTuple):
    """What all rows of a view share."""

    width: int
    """Cells of the whole row, gutter included."""
    left: int
    """First cell of the text that is shown."""
    digits: int
    """Digits of the line numbers."""


def gutter_width(digits: int) -> int:
    """Cells before the text: blank, number, blank, bar, blank."""
    return digits + 4


class RowPainter:
    """Paints rows in the colours of one palette."""

    def __init__(self, palette: Palette) -> None:
        self.palette = palette
        self._strips: LRUCache[tuple[EditorRow, RowFrame], Strip] = LRUCache(_STRIPS)
        self._bodies: LRUCache[tuple[EditorRow, RowFrame], list[Segment]] = LRUCache(_STRIPS)
        self._token_styles: dict[tuple[object, str], Style] = {}

    def strip(self, row: EditorRow, frame: RowFrame) -> Strip:
        """The row as a strip of ``frame.width`` cells."""
        key = (row, frame)
        strip = self._strips.get(key)
        if strip is None:
            strip = PaintedStrip(self._segments(row, frame), frame.width)
            if row.chips:
                strip = self._with_chips(strip, row.chips)
            self._strips[key] = strip
        return strip

    def _with_chips(self, strip: Strip, chips: tuple[Chip, ...]) -> Strip:
        """The same with words over its right end."""
        style = self.palette.style
        over = [Segment(text, style(colour, "raised")) for text, colour in chips]
        room = strip.cell_length - sum(cell_len(text) for text, _ in chips)
        return PaintedStrip([*strip.crop(0, max(room, 0)), *over], strip.cell_length)

    def _segments(self, row: EditorRow, frame: RowFrame) -> list[Segment]:
        if row.number is None and not row.kind:
            return [Segment(" " * frame.width, self.palette.style("", "background"))]
        # Lines below what lands get other numbers, and are painted as before.
        key = (row._replace(number=None, line=None, ghost=False, note=""), frame)
        body = self._bodies.get(key)
        if body is None:
            body = self._bodies[key] = self._body(row, frame)
        return [*self._gutter(row, frame), *body]

    def _body(self, row: EditorRow, frame: RowFrame) -> list[Segment]:
        """What stands right of the gutter."""
        room = max(frame.width - gutter_width(frame.digits), 0)
        cells = part_cells(row.text, row.phase % TAB_SIZE)
        if row.kind == "struck":  # not through the indentation
            blank = len(row.text) - len(row.text.lstrip())
            row = row._replace(spans=((0, blank, _BLANK),) if blank else ())
        back = self._back(row)
        left = frame.left - row.cell
        cut = cells.width > left + room
        segments: list[Segment] = []
        if left < 0:
            blanks = min(-left, room)
            segments.append(Segment(" " * blanks, self.palette.style("", back)))
            left, room = 0, room - blanks
        shown = room - 1 if cut and room else room
        segments += self._text(row, cells, (left, left + shown))
        used = min(max(cells.width - left, 0), shown)
        if cut and room:
            segments.append(Segment(_MORE_RIGHT, self.palette.style("faint", back)))
        else:
            segments += self._tail(row, cells, left, room - used)
        return segments

    def _back(self, row: EditorRow) -> str:
        if row.kind == "incoming":
            return "panel"
        if row.kind:
            return f"hunk-{row.kind}-line"
        return "panel" if row.current else "background"

    def _gutter(self, row: EditorRow, frame: RowFrame) -> list[Segment]:
        style, back = self.palette.style, self._back(row)
        number = _CONTINUED if row.continued else _REMOVED if row.kind == "struck" else ""
        if row.number is not None and not row.continued:
            number = str(row.number)
        colour = "muted" if row.current else "faint"
        bar_colour = "hunk-landing" if row.kind == "incoming" else f"hunk-{row.kind}"
        bar = style(bar_colour if row.kind else "faint", back)
        margin = _MORE_LEFT if frame.left and row.text else " "
        if row.ghost:
            colour = "meter-ghost"
        number = f"{number:>{frame.digits}} "
        if row.note and not row.ghost:
            head = [Segment(NOTE, style(row.note, back)), Segment(number, style(colour, back))]
        else:  # one run of cells in one style
            before = GUTTER_GHOST if row.ghost else " "
            head = [Segment(f"{before}{number}", style(colour, back))]
        return [
            *head,
            Segment(BARS.get(row.kind, " "), bar),
            Segment(margin, style("faint", back)),
        ]

    def _text(self, row: EditorRow, cells: LineCells, window: tuple[int, int]) -> Iterator[Segment]:
        pieces = list(cells.window(*window))
        if pieces and len(row.spans) > _MANY_SPANS:
            first, last = pieces[0].col, pieces[-1].end
            near = tuple(span for span in row.spans if span[0] < last and span[1] > first)
            row = row._replace(spans=near)
        for piece in pieces:
            if piece.step == 0:
                yield Segment(piece.text, self._style_of(row, piece))
                continue
            for start, end, style in self._styled(row, piece.col, piece.end):
                yield Segment(piece.text[start - piece.col : end - piece.col], style)

    def _style_of(self, row: EditorRow, piece: Piece) -> Style:
        style = next(self._styled(row, piece.col, piece.col + 1))[2]
        if piece.kind == "inert" and style.bgcolor is not None:
            return self.palette.legible(style + Style(color=self.palette.colours["warning"]))
        return style

    def _styled(self, row: EditorRow, first: int, last: int) -> Iterator[tuple[int, int, Style]]:
        """Neighbouring column ranges of one style, together ``first .. last``."""
        overlays = [item for item in row.overlays if item[0] < last and item[1] > first]
        if not overlays:
            yield from self._in_its_colours(row, first, last)
            return
        spans = [span for span in row.spans if span[0] < last and span[1] > first]
        cuts = {first, last}
        for start, end, _ in (*spans, *overlays):
            cuts.add(max(start, first))
            cuts.add(min(end, last))
        places = sorted(cuts)
        index = 0
        for start, end in pairwise(places):
            while index < len(spans) and spans[index][1] <= start:
                index += 1
            token = None
            if index < len(spans) and spans[index][0] <= start:
                token = spans[index][2]
            over = [name for a, b, name in overlays if a <= start < b]
            yield start, end, self._token_style(row, token, over[-1] if over else "")

    def _in_its_colours(
        self, row: EditorRow, first: int, last: int
    ) -> Iterator[tuple[int, int, Style]]:
        """The same where nothing lies over the text, as nearly everywhere."""
        at = first
        for start, end, token in row.spans:
            if end <= at:
                continue
            if start >= last or at >= last:
                break
            if start > at:
                yield at, start, self._token_style(row, None, "")
                at = start
            stop = min(end, last)
            yield at, stop, self._token_style(row, token, "")
            at = stop
        if at < last:
            yield at, last, self._token_style(row, None, "")

    def _token_style(self, row: EditorRow, token: object, over: str) -> Style:
        back = self._back(row)
        key = (token, f"{row.kind}/{back}/{over}")
        style = self._token_styles.get(key)
        if style is None:
            style = self._overlaid(self._plain(row, token) + self.palette.style("", back), over)
            style = self.palette.legible(style)
            self._token_styles[key] = style
        return style

    def _plain(self, row: EditorRow, token: object) -> Style:
        palette = self.palette
        if row.kind == "incoming":
            return palette.style("muted", more="italic")
        if row.kind == "struck":
            more = "italic" if row.folded else "" if token == _BLANK else "strike"
            return palette.style("muted", more=more)
        return palette.syntax_style(token) if token else palette.style("syntax-text")

    def _overlaid(self, style: Style, over: str) -> Style:
        palette = self.palette
        if over == "selection":
            return style + palette.style("", "selection")
        if over == "match":
            return style + palette.style("", "raised", "underline")
        if over == "bracket":
            return style + palette.style("", "raised", "bold")
        if over == "match-now":
            return palette.style("background", "warning", "bold")
        if over == "cursor":
            return palette.style("background", "cursor")
        if over == "cursor-away":
            return style + palette.style("", "raised")
        return style

    def _tail(self, row: EditorRow, cells: LineCells, left: int, room: int) -> Iterator[Segment]:
        """What follows the text: the cursor behind it, the write cursor, the selected line end."""
        back = self._back(row)
        plain = self.palette.style("", back)
        if cells.width < left or not row.last:
            yield Segment(" " * room, plain)
            return
        end = cells.length
        over = [name for a, b, name in row.overlays if a == end and b == end + 1]
        if over and room:
            yield Segment(" ", self._token_style(row, None, over[-1]))
            room -= 1
        elif row.newline_selected and room:
            yield Segment(" ", self._token_style(row, None, "selection"))
            room -= 1
        if row.writing and room:
            yield Segment(_WRITING, self.palette.style("hunk-landing", back, "bold"))
            room -= 1
        if row.ending and room > len(row.ending):
            yield Segment(row.ending, self.palette.style("faint", back))
            room -= len(row.ending)
        if room > 0:
            yield Segment(" " * room, plain)
