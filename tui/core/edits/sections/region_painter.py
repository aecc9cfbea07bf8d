"""A painter that knows all its old lines from the start: of a SEARCH, or of a whole file.

The old lines are matched as one block before anything is painted. So an edit of one that the
painting has not reached yet is seen at once, and can be merged when the section ends.
"""

from __future__ import annotations

from tui.core.edits.file_record import FileRecord
from tui.core.edits.hunk import Hunk
from tui.core.edits.ledger import Ledger
from tui.core.edits.open_section import OpenSection
from tui.core.edits.sections.painter import EDITED, STRETCH, SWALLOWED, Painter, step_over_gap
from tui.core.edits.sections.placement import Spot
from tui.core.text.change_set import Author
from tui.core.text.rows import Span, rows_text


class RegionPainter(Painter):
    """Paints over ``count`` rows that have been matched."""

    def __init__(
        self, ledger: Ledger, record: FileRecord, spot: Spot, count: int, owner: OpenSection
    ) -> None:
        super().__init__(ledger, record, spot.row, spot.indent, owner)
        self.ahead = count
        """Rows of the region that the painting has not reached."""
        rows = slice(spot.row, spot.row + count)
        self._before_it = (record.buffer.lines[rows], record.buffer.endings[rows])

    @property
    def region(self) -> list[str]:
        """The old lines as they were matched, with their endings."""
        return self._texts(0, len(self._before_it[0]))

    @property
    def region_end(self) -> int:
        """The row behind the region's last one."""
        return self.end + self.gap + self.ahead

    def old_line(self, struck: bool, hunk: Hunk | None) -> None:
        """The next row is the next old line."""
        self._step()
        super().old_line(struck, hunk)
        self.ahead -= 1

    def strike(self, hunk: Hunk, count: int) -> None:
        """The next rows go: thousands of them when a file is rewritten."""
        self._step()
        group = self._group(hunk)
        at = len(self.base)
        texts = self._texts(at, at + count)
        while texts:
            if len(self.base) >= len(self._met) * STRETCH:
                self._meet()
            some = texts[: len(self._met) * STRETCH - len(self.base)]
            del texts[: len(some)]
            self.base += some
            group.base += some
            self.tags += ["-"] * len(some)
        group.old = (group.old[0], len(self.base))
        group.last = len(self.tags)
        self.ahead -= count
        self._show()

    def live_text(self) -> str:
        """The region as it is, as if nothing had been painted."""
        return self.without() + rows_text(self._record.buffer, self.end, self.region_end)

    def changed(self, span: Span, author: Author) -> None:
        """Rows of the file changed, not by this section.

        What the user puts in right behind the painted rows is outside: it is stepped over.
        """
        first, rows = self.end, self.gap + self.ahead
        low, last = first + self.gap, first + rows
        row, stop = span.row, span.row + span.n_old
        overlap = max(0, min(stop, last) - max(row, first)) if span.n_old else 0
        reached = min(stop, last) > max(row, low) if span.n_old else low < row < last
        gone = span.n_old and row <= self.row and stop >= last and not span.n_new
        inside = first <= row < last and (row > self.row or bool(span.n_old))
        trouble = self.trouble
        super().changed(span, author)
        if rows:
            self.ahead = max(0, rows - overlap + (span.n_new if inside else 0) - self.gap)
        if reached:
            self.trouble = self.trouble or EDITED[author]
        if self.trouble and not trouble:
            self.trouble = SWALLOWED if gone else EDITED[author]

    def _step(self) -> None:
        self.drop_partial()
        if self.gap and self.ahead:
            step_over_gap(self)

    def _texts(self, first: int, last: int) -> list[str]:
        lines, endings = self._before_it
        return [
            text + ending
            for text, ending in zip(lines[first:last], endings[first:last], strict=True)
        ]
