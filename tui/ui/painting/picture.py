"""What the terminal shows, piece by piece, so that only cells that differ are written."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from tui.ui.painting.steady import is_unsure, steady_bytes


class Picture:
    """Remembers what was written where; forgets what it cannot know any more."""

    def __init__(self) -> None:
        self._shown: dict[tuple[int, int], tuple[int, Strip]] = {}
        """Row and first cell -> behind the last cell, and what stands there."""

    def forget(self) -> None:
        """Something else wrote to the terminal, or pieces lie elsewhere now."""
        self._shown.clear()

    def put(self, y: int, span: tuple[int, int], strip: Strip) -> str:
        """The bytes that make ``span`` of row ``y`` show the strip; empty if it does already.

        The strip must be as wide as the span.
        """
        start, end = span
        before = self._shown.get((y, start))
        if before is not None and before[0] == end:
            if before[1] is strip:
                return ""
            self._shown[y, start] = (end, strip)
            return changed_cells(before[1], strip, (start, y))
        self._shown[y, start] = (end, strip)
        return f"{_move(start, y)}{steady_bytes(strip, start)}"


def changed_cells(old: Strip, new: Strip, at: tuple[int, int]) -> str:
    """What must be written at ``at`` (column, row) so that it shows ``new`` instead of ``old``."""
    x, y = at
    if new._render_cache is not None:  # a row that only moved: its bytes are there already
        return f"{_move(x, y)}{new._render_cache}"
    before, after = list(old), list(new)
    most = min(len(before), len(after))
    head = 0
    while head < most and _same(before[head], after[head]):
        head += 1
    if head == len(before) == len(after):
        return ""
    tail = 0
    while tail < most - head and _same(before[-1 - tail], after[-1 - tail]):
        tail += 1
    if (head + tail) * 2 < len(after) or old.cell_length != new.cell_length:
        return f"{_move(x, y)}{steady_bytes(new, x)}"
    changed = after[head : len(after) - tail]
    if changed and is_unsure(changed[-1].text):
        changed = after[head:]  # it may be drawn over what stands behind it
    skipped = sum(cell_len(segment.text) for segment in after[:head])
    rest = Strip(changed)
    return f"{_move(x + skipped, y)}{steady_bytes(rest, x + skipped)}"


def _same(one: Segment, other: Segment) -> bool:
    return one is other or (
        one.text == other.text and (one.style is other.style or one.style == other.style)
    )


def _move(x: int, y: int) -> str:
    return f"\x1b[{y + 1};{x + 1}H"
