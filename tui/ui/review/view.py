"""The diff with its places: stepped through, scrolled, clicked."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import chain

from textual import events
from textual.message import Message

from tui.core.edits.roster import waits
from tui.ui.review.pane import ABOVE, DiffPane

_WHEEL_ROWS = 3


class DiffView(DiffPane, can_focus=True):
    """Chooses one change of all that are shown; the chosen one is always in sight."""

    class Moved(Message):
        """Another change is chosen, or another file is in sight."""

    def step(self, count: int) -> None:
        """Choose the change so many further down."""
        if stops := self.laid.stops:
            self._choose(min(max(self._at + count, 0), len(stops) - 1))

    def step_file(self, count: int) -> None:
        """Choose the first change of the file so many further down."""
        starts = self.laid.document.starts
        if starts and self.laid.stops:
            now = bisect_right(starts, self._chosen_row()) - 1
            self._choose_from(starts[min(max(now + count, 0), len(starts) - 1)])

    def next_pending(self) -> bool:
        """Choose the next hunk that waits for a decision, the first ones last; False: none does."""
        stops = self.laid.stops
        for index in chain(range(self._at + 1, len(stops)), range(self._at + 1)):
            hunk = stops[index].hunk
            if hunk is not None and waits(hunk):
                self._choose(index)
                return True
        return False

    def choose_hunk(self, hunk_id: int) -> bool:
        """Choose this hunk; False if it is not shown."""
        index = self.laid.place(("", hunk_id))
        if index is not None:
            self._choose(index)
        return index is not None

    def choose_path(self, path: str) -> None:
        """Choose the first change of a file."""
        document = self.laid.document
        for start, rows in zip(document.starts, document.files, strict=True):
            if rows.file.path == path and self.laid.stops:
                self._choose_from(start)
                return

    def scroll_rows(self, count: int) -> None:
        """Scroll; what is chosen is always in sight."""
        self.top += count
        self._settle()
        height = max(self.size.height, 1)
        if self.change is not None and not self.top <= self._chosen_row() < self.top + height:
            self._choose_in_sight(height, down=count > 0)
        self.refresh()
        self.post_message(self.Moved())

    def sideways(self, cells: int) -> None:
        """Scroll the lines' text sideways."""
        left = max(self.left + cells, 0)
        if left != self.left:
            self.left = left
            self.refresh()

    def _choose_from(self, row: int) -> None:
        """Choose the first change from a row on; there is a change."""
        rows = self.laid.rows
        self._choose(min(bisect_left(rows, row), len(rows) - 1))

    def _choose(self, index: int) -> None:
        self._at = index
        rows = self.laid.rows
        row = rows[index]
        height = max(self.size.height, 1)
        behind = rows[index + 1] if index + 1 < len(rows) else self.laid.document.height
        last = min(behind, row + height - ABOVE)
        if row < self.top or last > self.top + height:
            near = row - self.top if row >= self.top else -1
            # as little as it takes where that shows all of it, else near the top
            self.top = (
                last - height
                if 0 <= near < 2 * height and last - height <= row - 1
                else row - ABOVE
            )
        self._settle()
        self.refresh()
        self.post_message(self.Moved())

    def _choose_in_sight(self, height: int, *, down: bool) -> None:
        """Choose a change that is in sight, or that the rows in sight belong to."""
        first = bisect_left(self.laid.rows, self.top)
        behind = bisect_left(self.laid.rows, self.top + height)
        if first < behind:
            self._at = first if down else behind - 1
        else:
            self._at = max(first - 1, 0)

    def on_click(self, event: events.Click) -> None:
        """Choose what was clicked; a fold opens."""
        event.stop()
        number = self.top + event.y
        if number >= self.laid.document.height:
            return
        row = self.laid.document.row(number)
        if row.kind == "fold":
            opened = self.look.opened | {(row.file.path, row.gap)}
            self.relook(self.look._replace(opened=opened))
        elif row.change is not None:
            index = bisect_right(self.laid.rows, number) - 1
            stops = self.laid.stops
            near = range(max(index, 0), min(index + 2, len(stops)))
            if place := [one for one in near if stops[one] is row.change]:
                self._choose(place[0])

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll."""
        event.stop()
        self.scroll_rows(_WHEEL_ROWS)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll."""
        event.stop()
        self.scroll_rows(-_WHEEL_ROWS)
