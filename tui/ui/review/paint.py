"""One row of a diff as a strip, in one column or in two, in the syntax colours of its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Literal, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.strip import Strip

from tui.core.document.hunk import RED, Decision, Hunk, Kind
from tui.core.text.buffer import Buffer
from tui.ui.conversation.hunk_card import MINUS, look
from tui.ui.editor.cells import LONG, part_cells
from tui.ui.painting.ink import PaintedStrip
from tui.ui.review.changes import DiffChange, FileChanges
from tui.ui.review.document import DiffRow, DiffSide
from tui.ui.styled_text import Piece, clip, clip_left, make_strip, one_line, spread
from tui.ui.theming.palette import Palette

if TYPE_CHECKING:
    from tui.ui.highlight.lines import Spans


_ROW_S = 0.002
"""For one line, if it has no colours yet."""


class _TextColours:
    """The colours of one of the two texts.

    Until a lexer has come from the top, a row has the colours of one that began near it.
    """

    def __init__(self, buffer: Buffer) -> None:
        from tui.ui.highlight.colours import BufferColours  # Pygments: when a diff is looked at

        self._colours = BufferColours(buffer)
        self.asked: set[int] = set()
        """Rows that were painted with colours that may change."""

    def spans(self, row: int, until: float) -> tuple[Spans, bool]:
        """The spans of a line, and whether they may be others soon; see `SideColours.spans`."""
        colours = self._colours
        most_s = min(until - perf_counter(), _ROW_S)
        if most_s > 0 and colours.loaded:
            colours.advance(row, most_s, row)
        if colours.pending:
            self.asked.add(row)
        return colours.spans(row), colours.pending

    def go_on(self, budget_s: float) -> bool:
        """See `SideColours`."""
        first, last = self._colours.idle(budget_s) or (0, 0)
        anew = not self._colours.pending or any(first <= row < last for row in self.asked)
        if anew:
            self.asked.clear()
        return anew


class SideColours:
    """The colours of one file's old and new text."""

    def __init__(self) -> None:
        self._new: _TextColours | None = None
        self._buffer: Buffer | None = None
        self._old: _TextColours | None = None
        self._old_lines: Sequence[str] = ()
        self._made_for: FileChanges | None = None

    def take(self, file: FileChanges) -> None:
        """These are the file's changes now."""
        if file.buffer is not self._buffer:
            self._buffer = file.buffer
            self._new = None if file.buffer is None else _TextColours(file.buffer)
        if file is not self._made_for:
            self._made_for = file
            old = file.old
            if old != self._old_lines:
                self._old_lines = old
                self._old = _TextColours(_buffer(file.path, old))

    def spans(self, row: int, *, old: bool, until: float) -> tuple[Spans, bool]:
        """The spans of a line, and whether they may be others soon: then `go_on`.

        ``until``: the `perf_counter` up to which there is time to make them.
        """
        text = self._old if old else self._new
        return ((), False) if text is None else text.spans(row, until)

    def go_on(self, budget_s: float) -> bool:
        """Make what is missing for a while; true if rows that were asked for are to be painted."""
        asked = [text for text in (self._new, self._old) if text is not None and text.asked]
        return not asked or any(text.go_on(budget_s) for text in asked)


def _buffer(path: str, lines: Sequence[str]) -> Buffer:
    """A text that is only looked at."""
    made = Buffer(path)
    if lines:
        made.lines = list(lines)
        made.endings = ["\n"] * (len(lines) - 1) + [""]
    return made


_STRIPS = 800
_SCOPE_ROWS = 400
"""How far up the function that a change is in is looked for."""
_SCOPE = re.compile(
    r"\s*(?:(?:export|public|private|protected|static|async|pub|abstract|final)\s+)*"
    r"(?:def|class|func|fn|function|impl|struct|enum|trait|interface|module|namespace|sub)\b"
)
_SIGNS = {
    "same": " ",
    "removed": MINUS,
    "added": "+",
    "away": "+",
    "kept": MINUS,
    "lost": MINUS,
}
_BACKS = {"removed": "hunk-struck-line", "added": "hunk-added-line"}
_WORDS = {"removed": "hunk-struck-word", "added": "hunk-added-word"}
_SIGN_COLOURS = {"removed": "hunk-struck", "added": "hunk-added"}
"""Of the others the sign is faint, and the background that of the text."""
_BARS = {"pending": "┃", "blamed": "┃", "accepted": "│", "landing": "▌", "rejected": "┊", "": " "}


class LineFormat(NamedTuple):
    """What all rows share."""

    width: int
    left: int
    """First cell of the lines' text that is shown."""
    digits: int
    split: bool
    plain: bool = False
    """There are no colours: what differs is underlined."""


class ColouredSide(NamedTuple):
    """A side with its colours."""

    side: DiffSide
    spans: Spans


class PaintedLine(NamedTuple):
    """All that the strip of a line depends on."""

    old: ColouredSide | None
    new: ColouredSide | None
    state: str
    chosen: bool


class DiffPainter:
    """Paints rows in the colours of one palette."""

    def __init__(self, palette: Palette) -> None:
        self.palette = palette
        self._strips: LRUCache[tuple[PaintedLine, LineFormat], Strip] = LRUCache(_STRIPS)

    # -- lines

    def line(self, painted: PaintedLine, form: LineFormat) -> Strip:
        """A line, or two beside each other."""
        key = (painted, form)
        strip = self._strips.get(key)
        if strip is None:
            segments = self._bar(painted)
            if form.split:
                segments += self._two(painted, form)
            else:
                segments += self._one(painted, form)
            strip = PaintedStrip(segments, form.width)
            self._strips[key] = strip
        return strip

    def _bar(self, painted: PaintedLine) -> list[Segment]:
        """The left edge: how the hunk stands, and whether the keys are on it."""
        colour = _state_colour(painted.state)
        mark = "▌" if painted.chosen else _BARS.get(painted.state, " ")
        return [
            Segment(mark, self.palette.style("accent" if painted.chosen else colour, "background"))
        ]

    def _one(self, painted: PaintedLine, form: LineFormat) -> list[Segment]:
        """Both numbers, the sign, the text."""
        shown = painted.new or painted.old
        assert shown is not None
        numbers = (_number(side, form.digits) for side in (painted.old, painted.new))
        return self._side(shown, form, "".join(numbers), form.width - 1)

    def _two(self, painted: PaintedLine, form: LineFormat) -> list[Segment]:
        """The old text left, the new one right."""
        room = form.width - 2
        half = room // 2
        rule = Segment("│", self.palette.style("line", "background"))
        return [
            *self._half(painted.old, form, half),
            rule,
            *self._half(painted.new, form, room - half),
        ]

    def _half(self, shown: ColouredSide | None, form: LineFormat, width: int) -> list[Segment]:
        if shown is None:
            return [Segment(" " * width, self.palette.style("", "surface"))]
        return self._side(shown, form, _number(shown, form.digits), width)

    def _side(self, shown: ColouredSide, form: LineFormat, head: str, width: int) -> list[Segment]:
        """Numbers, sign and text."""
        kind = shown.side.kind
        back = _BACKS.get(kind, "background")
        return [
            Segment(head, self.palette.style("faint", back)),
            Segment(
                f"{_SIGNS[kind]} ",
                self.palette.style(_SIGN_COLOURS.get(kind, "faint"), back, "bold"),
            ),
            *self._text(shown, form, max(width - len(head) - 2, 0)),
        ]

    def _text(self, shown: ColouredSide, form: LineFormat, room: int) -> Iterator[Segment]:
        side, back = shown.side, _BACKS.get(shown.side.kind, "background")
        text = side.text
        cells = part_cells(text if len(text) <= LONG else text[:LONG], 0)
        more = cells.width > form.left + room or len(text) > LONG
        fits = max(room - 1, 0) if more else room
        used = 0
        for piece in cells.window(form.left, form.left + fits):
            style = self._style(shown, piece.col, back)
            if piece.step == 0:
                if piece.kind == "inert":
                    warning = Style(color=self.palette.colours["warning"])
                    style = self.palette.legible(style + warning)
                yield Segment(piece.text, style)
                used += cell_len(piece.text)
                continue
            for start, end, coloured in self._styled(shown, form, (piece.col, piece.end)):
                part = piece.text[start - piece.col : end - piece.col]
                used += len(part) * piece.step
                yield Segment(part, coloured)
        if used < fits:
            yield Segment(" " * (fits - used), self.palette.style("", back))
        if more and room:
            yield Segment("›", self.palette.style("faint", back))

    def _styled(
        self, shown: ColouredSide, form: LineFormat, cut: tuple[int, int]
    ) -> Iterator[tuple[int, int, Style]]:
        """Neighbouring columns of one style, together ``cut``."""
        first, last = cut
        side, back = shown.side, _BACKS.get(shown.side.kind, "background")
        cuts = {first, last}
        edges = [(start, end) for start, end, _ in shown.spans]
        for start, end in (*edges, *side.ranges):
            if start < last and end > first:
                cuts.add(max(start, first))
                cuts.add(min(end, last))
        for start, end in pairwise(sorted(cuts)):
            style = self._style(shown, start, back)
            if any(a <= start < b for a, b in side.ranges):
                over = _WORDS.get(side.kind, "panel")
                more = "bold underline" if form.plain else self.palette.faces.get(over, "")
                style = self.palette.legible(style + self.palette.style("", over, more))
            yield start, end, style

    def _style(self, shown: ColouredSide, col: int, back: str) -> Style:
        side, style = shown.side, self.palette.style
        if side.kind in ("away", "lost"):
            return style("muted", back)
        token = next((kind for start, end, kind in shown.spans if start <= col < end), None)
        if token is None:
            return style("syntax-text", back)
        return self.palette.legible(self.palette.syntax_style(token) + style("", back))

    # -- words

    def file(self, file: FileChanges, width: int) -> Strip:
        """A file's name, and what happens to it."""
        style = self.palette.style
        right = [*counts(self.palette, file), (" ", style("faint"))]
        room = width - sum(cell_len(text) for text, _ in right) - 4
        left: list[Piece] = [
            (" ✎ ", style("accent")),
            (clip_left(one_line(file.path), max(room, 6)), style("foreground", more="bold")),
        ]
        if file.words:
            left.append(
                (f"  {file.words}", style("warning" if file.words == "deleted" else "muted"))
            )
        return make_strip(spread(left, right, width), width, style("foreground", "panel"))

    def hunk(self, row: DiffRow, chosen: bool, keys: Sequence[Piece], width: int) -> Strip:
        """A change's own row: its state, where it is, how much it is, what the keys do."""
        style, change = self.palette.style, row.change
        assert change is not None
        back = "selection" if chosen else "surface"
        pieces: list[Piece] = [("▌" if chosen else " ", style("accent"))]
        hunk = change.hunk
        if hunk is None:
            pieces.append((" ", style("faint")))
        else:
            state = look(hunk)
            pieces += [
                (f"{change.number:>3} ", style("faint")),
                (f"{state.glyph} {state.word:<9}", style(state.colour)),
            ]
        if change.is_there and (hunk is None or hunk.kind is not Kind.MOVE):
            pieces.append((f"L{change.first + 1:<4}", style("muted")))
        right, left = list(keys) or [self._size(change)], sum(cell_len(t) for t, _ in pieces)
        while keys and right and left + sum(cell_len(t) for t, _ in right) > width - 1:
            del right[-2:]  # the footer has them, too
        room = width - left - sum(cell_len(t) for t, _ in right) - 4
        if (
            room > 12
            and change.is_there
            and (name := scope(row.file.lines, change.first, change.new))
        ):
            pieces.append((f" {clip(name, room)}", style("muted" if chosen else "faint")))
        base = style("foreground", back)
        return make_strip(spread(pieces, right, width), width, base)

    def _size(self, change: DiffChange) -> Piece:
        added = len(change.new) if change.new is not None else change.last - change.first
        removed = len(change.old)
        if change.marks:
            added, removed = change.marks.count("landing"), change.marks.count("struck")
        if change.hunk is not None:
            added, removed = change.hunk.added, change.hunk.removed
        return f"+{added} {MINUS}{removed} ", self.palette.style("faint")

    def note(self, row: DiffRow, width: int) -> Strip:
        """Why a person must look."""
        style = self.palette.style
        waits = row.change is None or (row.change.hunk is not None and row.change.hunk.decidable)
        alarm = "error" if RED in row.text else "warning"
        pieces = [("       ", style("")), (row.text, style(alarm if waits else "muted"))]
        return make_strip(pieces, width, style("foreground", "background"))

    def fold(self, row: DiffRow, width: int) -> Strip:
        """So many lines are not shown."""
        style = self.palette.style
        words = f"  ⋯ {row.text} "
        rule = "┈" * max(width - cell_len(words) - 1, 0)
        pieces = [(words, style("faint")), (rule, style("line"))]
        return make_strip(pieces, width, style("foreground", "background"))

    def blank(self, width: int) -> Strip:
        """Nothing."""
        return PaintedStrip([Segment(" " * width, self.palette.style("", "background"))], width)


def state_of(
    hunk: Hunk | None,
) -> Literal["", "pending", "blamed", "accepted", "rejected", "landing"]:
    """How a hunk's lines are marked at the left edge."""
    if hunk is None:
        return ""
    if hunk.decision is Decision.ACCEPTED:
        return "accepted"
    if hunk.decision is Decision.REJECTED or hunk.is_out:
        return "rejected"
    if not hunk.decidable:
        return "landing"
    return "blamed" if hunk.is_blamed else "pending"


def _state_colour(state: str) -> str:
    named = ("pending", "blamed", "accepted", "landing")
    return f"hunk-{state}" if state in named else "faint"


def counts(palette: Palette, file: FileChanges) -> list[Piece]:
    """How many hunks and lines, and how many of them are decided."""
    style = palette.style
    total = len(file.hunks) or len(file.changes)
    word = "hunk" if file.hunks else "change"
    pieces: list[Piece] = [
        (f"{total} {word}{'' if total == 1 else 's'}  ", style("muted")),
        (f"+{file.counts.added} ", style("hunk-added")),
        (f"{MINUS}{file.counts.removed}", style("hunk-struck")),
    ]
    if file.hunks:
        decided = file.counts.decided
        pieces.append((f"  {decided}/{total}", style("success" if decided == total else "faint")))
    return pieces


def _number(shown: ColouredSide | None, digits: int) -> str:
    number = None if shown is None else shown.side.number
    return f"{'' if number is None else number:>{digits}} "


def scope(lines: Sequence[str], row: int, away: Sequence[str] | None = None) -> str:
    """The function or class that a row is in, as its first line says it; empty if in none.

    ``away``: lines that would stand there.
    """
    depth = _depth(away, 0) if away else _depth(lines, row)
    for at in range(min(row, len(lines)) - 1, max(row - _SCOPE_ROWS, -1), -1):
        line = lines[at]
        here = len(line) - len(line.lstrip())
        if line.strip() and here < depth:
            depth = here
            if _SCOPE.match(line[:200]):
                return one_line(line[:200].strip().rstrip("{:").rstrip())
        if not depth:
            return ""
    return ""


def _depth(lines: Sequence[str], row: int) -> int:
    for line in lines[row : row + 3]:
        if line.strip():
            return len(line) - len(line.lstrip())
    return 1_000
