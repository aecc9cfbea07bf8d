"""Where the lines of a buffer break on the screen: soft wrap, on or off.

A place is a screen row: a line and the column of its first character. All the questions are
about neighbours ("the row twenty further down"), none needs the number of rows above, so their
cost is that of the screen and not of the file. Without wrapping each line is one row. A `Slice` is
the part of a line that one row shows: no more of a long line is painted than can be seen.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Position
from tui.ui.editor.cells import LONG, TAB_SIZE, WIDE, LineCells, line_cells, long_cells, part_cells
from tui.ui.editor.paint import Overlay

if TYPE_CHECKING:
    from tui.ui.highlight.lines import Spans


Part = Literal["whole", "first", "middle", "last"]
"""What a text is of its line."""
Place = tuple[int, int]
"""Line, and column of the row's first character."""

_LEAST = 4
"""Cells that a row has at least, however narrow the screen is."""
_WIDEST_INDENT = 0.5
"""Part of a row that the indentation of a continued one may take."""


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

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.room: int | None = None
        """Cells for the text of a row; None: lines are not wrapped."""

    def wrap(self, room: int | None) -> None:
        """Wrap into this many cells from now on, one of them left for the cursor; None: don't."""
        self.room = None if room is None else max(room - 1, _LEAST)

    def row(self, position: Position) -> Place:
        """The row that a position is in."""
        line, col = position
        if self.room is None:
            return (line, 0)
        block = self._block(line, col)
        return (line, block.first + block.starts[block.row(col)])

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
            line = place[0] + count
            last = self.buffer.line_count - 1
            nearest = min(max(line, 0), last)
            return (nearest, 0), line - nearest
        return self._down(place, count) if count >= 0 else self._up(place, -count)

    def below(self, place: Place, count: int) -> list[tuple[Place, int]]:
        """``count`` rows from a row on, with the columns behind them; fewer at the file's end."""
        found: list[tuple[Place, int]] = []
        line, col = place
        while len(found) < count and line < self.buffer.line_count:
            block = self._block(line, col)
            index, first = block.row(col), block.first
            ends = [first + start for start in block.starts[index + 1 :]]
            ends.append(block.end)
            for start, end in zip(block.starts[index:], ends, strict=True):
                found.append(((line, first + start), end))
            if block.end < len(self.buffer.lines[line]):
                col = block.end
            else:
                line, col = line + 1, 0
        return found[:count]

    def distance(self, top: Place, place: Place, most: int) -> int | None:
        """Rows from ``top`` down to a row; None if it is above, or ``most`` or more below."""
        if place < top:
            return None
        if self.room is None:
            rows = place[0] - top[0]
            return rows if rows < most else None
        if place[0] - top[0] >= most:
            return None
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
        return self._indent(self.buffer.lines[place[0]])

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
        """The position that covers a cell of a row; behind its text the last one in it."""
        line, col = place
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
        room = self.room or _LEAST
        if len(text) <= LONG:
            return WrappedBlock(0, len(text), row_starts(text, room, self._indent(text), "whole"))
        first, end = long_cells(text).block(min(col, len(text) - 1))
        part: Part = "first" if first == 0 else "last" if end == len(text) else "middle"
        return WrappedBlock(first, end, row_starts(text[first:end], room, self._indent(text), part))

    def _indent(self, text: str) -> int:
        head = text[:LONG]
        blank = len(head) - len(head.lstrip(" \t"))
        if not blank:
            return 0
        most = int((self.room or _LEAST) * _WIDEST_INDENT)
        return min(len(head[:blank].expandtabs(TAB_SIZE)), most)

    def _down(self, place: Place, count: int) -> tuple[Place, int]:
        line, col = place
        block = self._block(line, col)
        index = block.row(col)
        while count >= len(block.starts) - index:
            count -= len(block.starts) - index
            if block.end < len(self.buffer.lines[line]):
                block = self._block(line, block.end)
            elif line + 1 < self.buffer.line_count:
                line += 1
                block = self._block(line, 0)
            else:
                return (line, block.first + block.starts[-1]), count + 1
            index = 0
        return (line, block.first + block.starts[index + count]), 0

    def _up(self, place: Place, count: int) -> tuple[Place, int]:
        line, col = place
        block = self._block(line, col)
        index = block.row(col)
        while count > index:
            count -= index + 1
            if block.first:
                block = self._block(line, block.first - 1)
            elif line:
                line -= 1
                block = self._block(line, len(self.buffer.lines[line]))
            else:
                return (0, 0), -count - 1
            index = len(block.starts) - 1
        return (line, block.first + block.starts[index - count]), 0


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

    def has(self, col: int) -> bool:
        """Whether a column is in it; the one behind the line is in its last slice."""
        return self.start <= col and (col < self.end or self.last)


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
    if wrapping.room is not None:
        return [_wrapped(wrapping, row, end) for row, end in wrapping.below(place, count)]
    return [
        Slice(line, 0, len(text), 0, 0, True) if len(text) <= LONG else _window(line, text, window)
        for line, text in enumerate(lines[place[0] : place[0] + count], place[0])
    ]


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
