"""The part of a line that one screen row shows, and everything of the row that follows from it.

A row holds no more of a line than can be seen, so a line of a megabyte costs what its screen
rows cost: to compare, to paint and to keep.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tui.ui.editor.cells import LONG, TAB_SIZE, line_cells
from tui.ui.editor.long_lines import long_cells
from tui.ui.editor.paint import Overlay
from tui.ui.editor.wrapping import Layout, Place

if TYPE_CHECKING:
    from tui.ui.highlight.lines import Spans

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


def measure_on(layout: Layout, shown: range, budget_s: float) -> bool:
    """Measure very long lines in sight, for when the user goes to their end; True: there is more.

    Rows of wrapped lines are counted from their block, they need no measure.
    """
    if layout.room is not None:
        return False
    for line in layout.buffer.lines[shown.start : shown.stop]:
        if len(line) > LONG and long_cells(line).idle(budget_s):
            return True
    return False


def slices(layout: Layout, place: Place, count: int, window: tuple[int, int]) -> list[Slice]:
    """What ``count`` rows from ``place`` on show; fewer below the end.

    ``window`` is the first cell of the text that is shown, and how many there are.
    """
    lines = layout.buffer.lines
    if layout.room is not None:
        return [_wrapped(layout, row, end) for row, end in layout.below(place, count)]
    return [
        Slice(line, 0, len(text), 0, 0, True) if len(text) <= LONG else _window(line, text, window)
        for line, text in enumerate(lines[place[0] : place[0] + count], place[0])
    ]


def _wrapped(layout: Layout, place: Place, end: int) -> Slice:
    line, col = place
    text = layout.buffer.lines[line]
    phase = 0
    if col and text.find("\t", col, end) >= 0:
        phase = layout.cells(place)[1] % TAB_SIZE
    return Slice(line, col, end, layout.indent(place), phase, end >= len(text))


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
