"""Where the lines of a buffer break on the screen: soft wrap, on or off, and rows between lines.

A place is a screen row: a line and the column of its first character. Removed lines stand above
a line as rows that are no text: their columns are negative, the last of them has -1. All the
questions are about neighbours ("the row twenty further down"), none needs the number of rows
above, so their cost is that of the screen and not of the file. A `Slice` is the part of a line
that one row shows: no more of a long line is painted than can be seen.

Rows between the lines of a text: what undecided hunks took out, struck, in its place. They are no
text: they have no number, the cursor never stands in them, nothing copies them. Asked for by the
lines in sight, never for the whole file. Long ones of hunks that have landed are folded unless
the cursor is there; those of an answer that was cut stay as they were painted.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from tui.core.document.hunk import Hunk
from tui.core.document.removed import Removed, RemovedIn
from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Position
from tui.core.text.rows import keep_ends
from tui.ui.editor.cells import LONG, TAB_SIZE, WIDE, LineCells, line_cells, long_cells, part_cells
from tui.ui.editor.paint import Overlay

if TYPE_CHECKING:
    from tui.ui.highlight.lines import Spans


Part = Literal["whole", "first", "middle", "last"]
"""What a text is of its line."""
LEAST_ROOM = 4
"""Cells that a row has at least, however narrow the screen is."""
_WIDEST_INDENT = 0.5
"""Part of a row that the indentation of a continued one may take."""


def indent_in(text: str, room: int) -> int:
    """Cells before the text of a line's further rows: they are indented as the line is."""
    head = text[:LONG]
    blank = len(head) - len(head.lstrip(" \t"))
    if not blank:
        return 0
    return min(len(head[:blank].expandtabs(TAB_SIZE)), int(room * _WIDEST_INDENT))


def block_at(text: str, col: int) -> tuple[int, int, Part]:
    """The block of a line in which a column is, and what it is of the line."""
    if len(text) <= LONG:
        return 0, len(text), "whole"
    first, end = long_cells(text).block(min(col, len(text) - 1))
    return first, end, "first" if first == 0 else "last" if end == len(text) else "middle"


def line_starts(text: str, room: int) -> list[int]:
    """Where all rows of a line begin."""
    indent, starts, end = indent_in(text, room), [0], 0
    while True:
        first, end, part = block_at(text, end)
        starts[-1:] = [first + start for start in row_starts(text[first:end], room, indent, part)]
        if end >= len(text):
            return starts
        starts.append(end)


@lru_cache(maxsize=2048)
def row_starts(text: str, room: int, indent: int, part: Part) -> tuple[int, ...]:
    """Where the rows of a text begin: before words, else where a row is full.

    ``room`` is in cells; rows but the line's first are ``indent`` cells shorter. One blank may
    stand in the cell behind the row, but at the line's end, where the cursor needs the cell.
    """
    first = room if part in ("whole", "first") else room - indent
    if len(text) <= first and text.isascii() and text.isprintable():
        return (0,)
    cells = part_cells(text, 0)
    starts = [0]
    limit = cells.column(first)
    while limit < len(text):
        start = _break(text, starts[-1], limit, cells)
        if start >= len(text):
            if part in ("whole", "last") and limit > starts[-1]:
                starts.append(limit)
            break
        starts.append(start)
        limit = cells.column(cells.cell(start) + room - indent)
    return tuple(starts)


def _break(text: str, start: int, limit: int, cells: LineCells) -> int:
    """Where the row that begins at ``start`` ends, if ``limit`` is what does not fit any more."""
    if limit <= start:  # one grapheme wider than the row
        return cells.after(start)
    if text[limit] == " " and text[limit - 1] not in " \t" and cells.after(limit) == limit + 1:
        return limit + 1
    if text[limit] == "\t" or _is_wide(text[limit]) or _is_wide(text[limit - 1]):
        return limit
    place = max(text.rfind(" ", start, limit), text.rfind("\t", start, limit)) + 1
    if not text.isascii():
        wide = (col for col in range(limit - 1, max(place, start), -1) if _is_wide(text[col]))
        place = cells.snap(next(wide, place - 1) + 1)
    # Not behind the bare indentation: the word would be cut all the same.
    return place if place > start and text[start:place].strip() else limit


def _is_wide(character: str) -> bool:
    return character > "\u3000" and _in_wide(character)


@lru_cache(maxsize=4096)
def _in_wide(character: str) -> bool:
    return any(
        first <= character <= last for first, last in zip(WIDE[::3], WIDE[2::3], strict=True)
    )


FOLDED_ROWS = 8
"""Rows that a folded run of removed lines has, the one with the count included."""
_AHEAD = 24
"""Lines around those asked for that are looked at with them."""
_KEPT = 256


class RemovedRow(NamedTuple):
    """One row that is no text."""

    text: str
    cell: int = 0
    """The cell of the text area in which it begins, before scrolling sideways."""
    phase: int = 0
    """Cells from the last tab stop to there."""
    continued: bool = False
    """Not its line's first row."""
    last: bool = True
    """It goes up to its line's end."""
    hidden: int = 0
    """So many lines are folded away here."""


Rows = tuple[RemovedRow, ...]


class RemovedRows:
    """The removed rows of one view."""

    def __init__(self, find: RemovedIn | None = None) -> None:
        self.room: int | None = None
        """Cells for the text of a row; None: lines are not wrapped."""
        self._find = find
        self._key: object = None
        self._at = -1
        self._hidden_to: int | None = None
        self._range = range(0)
        """Lines that were looked at since the last change."""
        self._rows: dict[int, Rows] = {}
        self._lines: list[int] = []
        """Those that have rows above them, in order."""

    @property
    def hidden(self) -> bool:
        """They are not shown."""
        return self._hidden_to is not None

    def hide(self, up_to: int | None) -> None:
        """Show none of the hunks that there are, up to this id; None: show all.

        Later ones are not shown either, but those of an answer that is cut: it stays as it is.
        """
        if up_to != self._hidden_to:
            self._hidden_to, self._key = up_to, None

    def look(self, key: object, cursor: int) -> None:
        """Look again if anything changed: ``key`` is the state of the text and of the hunks."""
        whole = (key, cursor, self.room)
        if whole != self._key:
            self._key, self._at = whole, cursor
            self._range, self._rows, self._lines = range(0), {}, []

    def above(self, line: int) -> Rows:
        """The rows above a line, top to bottom; for the number of lines: behind the last one."""
        if self._find is None:
            return ()
        if line not in self._range:
            self._fetch(line, line)
        return self._rows.get(line, ())

    def among(self, first: int, last: int) -> list[int]:
        """Those of the lines ``first .. last`` that have rows above them, in order."""
        if self._find is None or last < first:
            return []
        if first not in self._range or last not in self._range:
            self._fetch(first, last)
        lines = self._lines
        return lines[bisect_left(lines, first) : bisect_right(lines, last)]

    def _fetch(self, first: int, last: int) -> None:
        if self._find is None:
            return
        first, last = max(first - _AHEAD, 0), last + _AHEAD
        known = self._range
        if known and first <= known.stop and last >= known.start - 1:
            first, last = min(first, known.start), max(last, known.stop - 1)
        found: dict[int, list[RemovedRow]] = {}
        for one in self._find(first, last):
            if rows := self._shown(one):
                found.setdefault(one.line, []).extend(rows)
        self._range = range(first, last + 1)
        self._rows = {line: tuple(rows) for line, rows in found.items()}
        self._lines = sorted(found)

    def _shown(self, removed: Removed) -> Rows:
        hunk = removed.hunk
        if self._hidden_to is not None and (hunk.id <= self._hidden_to or not hunk.frozen):
            return ()
        return _rows(removed.text, self.room, not (hunk.frozen or self._is_at(hunk)))

    def _is_at(self, hunk: Hunk) -> bool:
        start, end = hunk.start, hunk.end
        if start is None or end is None:
            return False
        return start.line <= self._at < max(end.line, start.line + 1)


def removed_words(count: int) -> str:
    """What stands in the place of lines that are folded away."""
    return f"⋯ {count} more removed line{'' if count == 1 else 's'}"


@lru_cache(maxsize=_KEPT)
def _rows(text: str, room: int | None, folded: bool) -> Rows:
    """The rows of removed lines; ``folded``: at most `FOLDED_ROWS`."""
    lines = keep_ends(text)
    rows: list[RemovedRow] = []
    whole = 0
    """Lines that are shown to their end if these are folded."""
    for line in lines:
        rows += _rows_of_line(line.rstrip("\r\n"), room)
        whole += len(rows) < FOLDED_ROWS
        if folded and len(rows) > FOLDED_ROWS:
            return (*rows[: FOLDED_ROWS - 1], RemovedRow("", hidden=len(lines) - whole))
    return tuple(rows)


def _rows_of_line(line: str, room: int | None) -> list[RemovedRow]:
    if room is None:
        return [RemovedRow(line)]
    starts, indent = line_starts(line, room), indent_in(line, room)
    cells = line_cells(line) if "\t" in line else None
    return [
        RemovedRow(
            line[start:end],
            indent if start else 0,
            cells.cell(start) % TAB_SIZE if cells else 0,
            start > 0,
            end == len(line),
        )
        for start, end in pairwise([*starts, len(line)])
    ]


Place = tuple[int, int]
"""Line, and column of the row's first character; negative: rows above the line."""


class WrappedBlock(NamedTuple):
    """A line, or a block of a very long one, cut into rows."""

    first: int
    """Column of its first character."""
    end: int
    starts: tuple[int, ...]
    """Where its rows begin, counted from ``first``."""

    def row(self, col: int) -> int:
        """The row that a column is in."""
        return max(bisect_right(self.starts, col - self.first) - 1, 0)


class Wrapping:
    """The rows of one buffer's lines in one width."""

    def __init__(self, buffer: Buffer, removed: RemovedRows | None = None) -> None:
        self.buffer = buffer
        self.room: int | None = None
        """Cells for the text of a row; None: lines are not wrapped."""
        self.removed = RemovedRows() if removed is None else removed

    def wrap(self, room: int | None) -> None:
        """Wrap into this many cells from now on, one of them left for the cursor; None: don't."""
        self.room = None if room is None else max(room - 1, LEAST_ROOM)
        self.removed.room = self.room

    def row(self, position: Position) -> Place:
        """The row that a position is in."""
        line, col = position
        if self.room is None:
            return (line, 0)
        block = self._block(line, col)
        return (line, block.first + block.starts[block.row(col)])

    @property
    def last(self) -> Place:
        """The last row of all."""
        count = self.buffer.line_count
        return (count, -1) if self.removed.above(count) else self.row(self.buffer.end)

    def head(self, line: int) -> Place:
        """The first row of a line, what was removed above it included."""
        return (line, -len(self.removed.above(line)))

    def end(self, place: Place) -> int:
        """The column behind the last character of a row."""
        line, col = place
        text = self.buffer.lines[line]
        if self.room is None:
            return len(text)
        block = self._block(line, col)
        index = block.row(col) + 1
        return block.first + block.starts[index] if index < len(block.starts) else block.end

    def step(self, place: Place, count: int) -> tuple[Place, int]:
        """The row ``count`` further down (up, if negative), and by how much the file is shorter."""
        if self.room is None:
            return self._down_lines(place, count) if count >= 0 else self._up_lines(place, -count)
        return self._down(place, count) if count >= 0 else self._up(place, -count)

    def below(self, place: Place, count: int) -> list[tuple[Place, int]]:
        """``count`` rows from a row on, with the columns behind them; fewer at the file's end."""
        found: list[tuple[Place, int]] = []
        line, col = place
        above = max(-col, 0)
        while len(found) < count and line <= self.buffer.line_count:
            least = max(above - count + len(found), 0)
            found += [((line, -number), 0) for number in range(above, least, -1)]
            if line == self.buffer.line_count:
                break
            block = self._block(line, max(col, 0))
            index, first = block.row(max(col, 0)), block.first
            ends = [*(first + start for start in block.starts[index + 1 :]), block.end]
            for start, end in zip(block.starts[index:], ends, strict=True):
                found.append(((line, first + start), end))
            if block.end < len(self.buffer.lines[line]):
                col, above = block.end, 0
            else:
                line, col = line + 1, 0
                above = len(self.removed.above(line))
        return found[:count]

    def distance(self, top: Place, place: Place, most: int) -> int | None:
        """Rows from ``top`` down to a row; None if it is above, or ``most`` or more below."""
        if place < top or place[0] - top[0] >= most:
            return None
        if self.room is None:
            removed = self.removed
            above = sum(len(removed.above(line)) for line in removed.among(top[0] + 1, place[0]))
            rows = place[0] - top[0] + above + place[1] - top[1]
            return rows if rows < most else None
        here = top
        for rows in range(most):
            if here >= place:
                return rows
            here, short = self._down(here, 1)
            if short:
                return None
        return None

    def indent(self, place: Place) -> int:
        """Cells before the text of a row: a continued one is indented as its line is."""
        if self.room is None or place[1] == 0:
            return 0
        return indent_in(self.buffer.lines[place[0]], self.room)

    def cells(self, place: Place) -> tuple[int, int, LineCells]:
        """For a row of a wrapped line: its block's column, its own first cell there, the cells."""
        line, col = place
        block = self._block(line, col)
        cells = part_cells(self.buffer.lines[line][block.first : block.end], 0)
        return block.first, cells.cell(col - block.first), cells

    def cell(self, position: Position) -> int:
        """The cell of the row in which a position stands."""
        line, col = position
        if self.room is None:
            return line_cells(self.buffer.lines[line]).cell(col)
        place = self.row(position)
        first, start, cells = self.cells(place)
        return self.indent(place) + cells.cell(col - first) - start

    def position(self, place: Place, cell: int) -> Position:
        """The position that covers a cell of a row; behind its text the last one in it.

        Of a row that is no text it is that of the text below it.
        """
        line, col = place
        if line == self.buffer.line_count:
            return self.buffer.end
        col = max(col, 0)
        place = (line, col)
        text = self.buffer.lines[line]
        if self.room is None:
            return (line, line_cells(text).column(max(cell, 0)))
        first, start, cells = self.cells(place)
        wanted = max(cell - self.indent(place), 0) + start
        found = first + cells.column(wanted)
        end = self.end(place)
        if found >= end and end < len(text):
            return (line, max(line_cells(text).before(end), col))
        return (line, min(found, end))

    # -- inside ---------------------------------------------------------------------------

    def _block(self, line: int, col: int) -> WrappedBlock:
        text = self.buffer.lines[line]
        if self.room is None:
            return WrappedBlock(0, len(text), (0,))
        first, end, part = block_at(text, col)
        indent = indent_in(text, self.room)
        return WrappedBlock(first, end, row_starts(text[first:end], self.room, indent, part))

    def _down_lines(self, place: Place, count: int) -> tuple[Place, int]:
        """`step` where each line is one row."""
        (line, col), lines, removed = place, self.buffer.line_count, self.removed
        if line == lines:
            return (lines, min(col + count, -1)), max(col + count + 1, 0)
        if count <= -col:
            return (line, col + count), 0
        count += col
        for at in removed.among(line + 1, min(line + count, lines)):
            if count < at - line:
                break
            above = len(removed.above(at))
            count -= at - line
            if count < above:
                return (at, count - above), 0
            count -= above
            line = at
        if line == lines:
            return (lines, -1), count + 1
        short = max(line + count - lines + 1, 0)
        return (line + count - short, 0), short

    def _up_lines(self, place: Place, count: int) -> tuple[Place, int]:
        (line, col), removed = place, self.removed
        count -= col
        for at in reversed(removed.among(max(line - count, 0), line)):
            above = len(removed.above(at))
            if count < line - at:
                break
            count -= line - at
            if count <= above:
                return (at, -count), 0
            count -= above
            line = at
        short = max(count - line, 0)
        if not short:
            return (line - count, 0), 0
        return self.head(0), -short

    def _down(self, place: Place, count: int) -> tuple[Place, int]:
        line, col = place
        if col < 0:
            if line == self.buffer.line_count or count <= -col:
                return self._down_lines(place, count)
            count, col = count + col, 0
        block = self._block(line, col)
        index = block.row(col)
        while count >= len(block.starts) - index:
            count -= len(block.starts) - index
            if block.end < len(self.buffer.lines[line]):
                block = self._block(line, block.end)
            else:
                line += 1
                above = len(self.removed.above(line))
                if count < above:
                    return (line, count - above), 0
                count -= above
                if line == self.buffer.line_count:
                    return self.last, count + 1
                block = self._block(line, 0)
            index = 0
        return (line, block.first + block.starts[index + count]), 0

    def _up(self, place: Place, count: int) -> tuple[Place, int]:
        line, col = place
        index = 0
        if col < 0:
            count, block = count - col, WrappedBlock(0, 0, (0,))
        else:
            block = self._block(line, col)
            index = block.row(col)
        while count > index:
            count -= index + 1
            if block.first:
                block = self._block(line, block.first - 1)
            else:
                above = len(self.removed.above(line))
                if count < above:
                    return (line, -count - 1), 0
                count -= above
                if not line:
                    return self.head(0), -count - 1
                line -= 1
                block = self._block(line, len(self.buffer.lines[line]))
            index = len(block.starts) - 1
        return (line, block.first + block.starts[index - count]), 0


_FEW = 40
"""Spans or overlays that are not worth a search."""


class Slice(NamedTuple):
    """Columns ``start .. end`` of a line, as one row shows them."""

    line: int
    start: int
    end: int
    cell: int
    """The cell of the text area in which it begins, before scrolling sideways."""
    phase: int
    """Cells from the last tab stop to there."""
    last: bool
    """It goes up to the line's end."""
    removed: RemovedRow | None = None
    """What it shows, where that is no text: it stands above the line."""

    def has(self, col: int) -> bool:
        """Whether a column is in it; the one behind the line is in its last slice."""
        return self.removed is None and self.start <= col and (col < self.end or self.last)


def measure_on(wrapping: Wrapping, shown: range, budget_s: float) -> bool:
    """Measure very long lines in sight, for when the user goes to their end; True: there is more.

    Rows of wrapped lines are counted from their block, they need no measure.
    """
    if wrapping.room is not None:
        return False
    for line in wrapping.buffer.lines[shown.start : shown.stop]:
        if len(line) > LONG and long_cells(line).idle(budget_s):
            return True
    return False


def slices(wrapping: Wrapping, place: Place, count: int, window: tuple[int, int]) -> list[Slice]:
    """What ``count`` rows from ``place`` on show; fewer below the end.

    ``window`` is the first cell of the text that is shown, and how many there are.
    """
    lines = wrapping.buffer.lines
    line, col = place
    if wrapping.room is not None or col < 0 or wrapping.removed.among(line, line + count):
        below = wrapping.below(place, count)
        return [_slice(wrapping, row, end, window) for row, end in below]
    return [
        _in_one_row(line, text, window)
        for line, text in enumerate(lines[line : line + count], line)
    ]


def _slice(wrapping: Wrapping, place: Place, end: int, window: tuple[int, int]) -> Slice:
    line, col = place
    if col >= 0:
        if wrapping.room is not None:
            return _wrapped(wrapping, place, end)
        return _in_one_row(line, wrapping.buffer.lines[line], window)
    row = wrapping.removed.above(line)[col]
    if wrapping.room is None and len(row.text) > LONG:
        part = _window(line, row.text, window)
        text = row.text[part.start : part.end]
        row = RemovedRow(text, part.cell, part.phase, last=part.last)
    return Slice(line, col, col, row.cell, row.phase, row.last, row)


def _in_one_row(line: int, text: str, window: tuple[int, int]) -> Slice:
    if len(text) > LONG:
        return _window(line, text, window)
    return Slice(line, 0, len(text), 0, 0, True)


def _wrapped(wrapping: Wrapping, place: Place, end: int) -> Slice:
    line, col = place
    text = wrapping.buffer.lines[line]
    phase = 0
    if col and text.find("\t", col, end) >= 0:
        phase = wrapping.cells(place)[1] % TAB_SIZE
    return Slice(line, col, end, wrapping.indent(place), phase, end >= len(text))


def _window(line: int, text: str, window: tuple[int, int]) -> Slice:
    left, room = window
    cells = line_cells(text)
    first = cells.column(left)
    if first == len(text):
        first = cells.before(first)
    # One grapheme more than fits, so that the row knows that it is cut.
    end = cells.after(cells.column(left + room))
    cell = cells.cell(first)
    return Slice(line, first, end, cell, cell % TAB_SIZE, end >= len(text))


def spans_in(spans: Spans, part: Slice, length: int) -> Spans:
    """The spans of a line that lie in a slice, counted from its start."""
    start, end = part.start, part.end
    if start == 0 and end >= length:
        return spans
    if len(spans) > _FEW:
        first = max(bisect_left(spans, start, key=lambda span: span[1]), 0)
        spans = spans[first : bisect_left(spans, end, lo=first, key=lambda span: span[0])]
    return tuple(
        (max(a, start) - start, min(b, end) - start, token)
        for a, b, token in spans
        if a < end and b > start
    )


def overlays_in(overlays: Sequence[Overlay], part: Slice) -> list[Overlay]:
    """The overlays of a line that lie in a slice, counted from its start."""
    start, end = part.start, part.end
    if start == 0 and part.last:
        return list(overlays)
    stop = end + 1 if part.last else end  # the cursor may stand behind the line
    return [
        (max(a, start) - start, min(b, stop) - start, name)
        for a, b, name in overlays
        if a < stop and b > start
    ]
