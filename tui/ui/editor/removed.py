"""Rows between the lines of a text: what undecided hunks took out, struck, in its place.

They are no text: they have no number, the cursor never stands in them, nothing copies them. Asked
for by the lines in sight, never for the whole file. Long ones of hunks that have landed are
folded unless the cursor is there; those of an answer that was cut stay as they were painted.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from tui.core.document.hunk import Hunk
from tui.core.document.removed import Removed, RemovedIn
from tui.core.text.rows import keep_ends
from tui.ui.editor.cells import TAB_SIZE, line_cells
from tui.ui.editor.line_breaks import indent_in, line_starts

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
