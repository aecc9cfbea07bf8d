"""Which change of a diff is chosen, and which rows are in sight.

The chosen change is always in sight; it is kept by its name when the diff is laid out anew.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import chain

from tui.core.document.hunk import Hunk
from tui.core.document.hunk_list import waits
from tui.ui.review.changes import DiffChange, FileChanges
from tui.ui.review.document import DiffLayout, Key, key_of

ABOVE = 2
"""Rows above the chosen change that are kept in sight."""


class DiffCursor:
    """Steps through the changes of a layout, and scrolls."""

    def __init__(self, height: Callable[[], int], on_moved: Callable[[], object]) -> None:
        """``height``: how many rows are in sight; ``on_moved``: others are, or another change."""
        self.laid = DiffLayout()
        """What is shown."""
        self.top = 0
        """The first row in sight."""
        self.places: dict[int, int] = {}
        """Hunk id -> which place of an ambiguous hunk is chosen; the first if it is not there."""
        self._at = -1
        """Which of the stops is chosen."""
        self._height = height
        self._on_moved = on_moved

    @property
    def height(self) -> int:
        """Rows that are in sight."""
        return max(self._height(), 1)

    @property
    def files(self) -> Sequence[FileChanges]:
        """The files that are shown."""
        return self.laid.files

    @property
    def change(self) -> DiffChange | None:
        """The chosen change."""
        stops = self.laid.stops
        return stops[self._at] if 0 <= self._at < len(stops) else None

    @property
    def hunk(self) -> Hunk | None:
        """The chosen hunk."""
        change = self.change
        return change.hunk if change is not None else None

    @property
    def file(self) -> FileChanges | None:
        """The file of the chosen change; else the one in sight."""
        document = self.laid.document
        return document.file_at(self.row)[0].file if document.files else None

    @property
    def row(self) -> int:
        """The first row of the chosen change; else of what is in sight."""
        return self.laid.rows[self._at] if self.change is not None else self.top

    def take(self, laid: DiffLayout) -> None:
        """Show another layout; what was chosen stays where it is on the screen."""
        name: Key | None = None
        offset = self.row - self.top
        if (change := self.change) is not None:
            name = key_of(change, self.laid.document.file_at(self.row)[0].file)
        self.laid = laid
        place = laid.place(name) if name is not None else None
        if place is not None:
            self._at = place
            self.top = laid.rows[place] - offset
        else:
            self._at = min(max(self._at, 0), len(laid.stops) - 1)
        self.settle()
        if not self.top <= self.row < self.top + self.height:
            self.top = self.row - ABOVE
            self.settle()

    def settle(self) -> None:
        """Keep what is in sight within the rows that there are."""
        self.top = min(max(self.top, 0), max(self.laid.document.height - self.height, 0))

    def step(self, count: int) -> None:
        """Choose another change, ``count`` further down."""
        if stops := self.laid.stops:
            self.choose(min(max(self._at + count, 0), len(stops) - 1))

    def step_file(self, count: int) -> None:
        """Choose the first change of another file, ``count`` further down."""
        starts = self.laid.document.starts
        if starts and self.laid.stops:
            now = bisect_right(starts, self.row) - 1
            self._choose_from(starts[min(max(now + count, 0), len(starts) - 1)])

    def next_pending(self) -> bool:
        """Choose the next hunk that waits for a decision, the first ones last; False: none does."""
        stops = self.laid.stops
        for index in chain(range(self._at + 1, len(stops)), range(self._at + 1)):
            hunk = stops[index].hunk
            if hunk is not None and waits(hunk):
                self.choose(index)
                return True
        return False

    def choose_hunk(self, hunk_id: int) -> bool:
        """Choose this hunk; False if it is not shown."""
        index = self.laid.place(("", hunk_id))
        if index is not None:
            self.choose(index)
        return index is not None

    def choose_path(self, path: str) -> None:
        """Choose the first change of a file."""
        document = self.laid.document
        for start, rows in zip(document.starts, document.files, strict=True):
            if rows.file.path == path and self.laid.stops:
                self._choose_from(start)
                return

    def choose_row(self, number: int, change: DiffChange) -> None:
        """Choose this change, which a row shows."""
        index, stops = bisect_right(self.laid.rows, number) - 1, self.laid.stops
        near = range(max(index, 0), min(index + 2, len(stops)))
        if place := [one for one in near if stops[one] is change]:
            self.choose(place[0])

    def scroll_rows(self, count: int) -> None:
        """Scroll; what is chosen is always in sight."""
        self.top += count
        self.settle()
        if self.change is not None and not self.top <= self.row < self.top + self.height:
            first = bisect_left(self.laid.rows, self.top)
            behind = bisect_left(self.laid.rows, self.top + self.height)
            last = first if count > 0 else behind - 1
            self._at = last if first < behind else max(first - 1, 0)
        self._on_moved()

    def _choose_from(self, row: int) -> None:
        """Choose the first change from a row on; there is a change."""
        rows = self.laid.rows
        self.choose(min(bisect_left(rows, row), len(rows) - 1))

    def choose(self, index: int) -> None:
        """Choose one of the layout's stops."""
        self._at = index
        rows, row, height = self.laid.rows, self.laid.rows[index], self.height
        behind = rows[index + 1] if index + 1 < len(rows) else self.laid.document.height
        last = min(behind, row + height - ABOVE)
        if row < self.top or last > self.top + height:
            near = row - self.top if row >= self.top else -1
            # as little as it takes where that shows all of it, else near the top
            fits = 0 <= near < 2 * height and last - height <= row - 1
            self.top = last - height if fits else row - ABOVE
        self.settle()
        self._on_moved()
