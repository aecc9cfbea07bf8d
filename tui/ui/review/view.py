"""The diff with its places: stepped through, scrolled, clicked."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from textual import events
from textual.message import Message

from tui.core.edits.roster import waits
from tui.ui.review.changes import Change
from tui.ui.review.pane import ABOVE, DiffPane

_WHEEL_ROWS = 3


class DiffView(DiffPane, can_focus=True):
    """Chooses one change of all that are shown; the chosen one is always in sight."""

    class Moved(Message):
        """Another change is chosen, or another file is in sight."""

    def step(self, count: int) -> None:
        """Choose the change so many further down."""
        if self._stops:
            self._choose(min(max(self._at + count, 0), len(self._stops) - 1))

    def step_file(self, count: int) -> None:
        """Choose the first change of the file so many further down."""
        starts, files = self._document.starts, self._document.files
        if not files:
            return
        row = self._stops[self._at][0] if self.change is not None else self.top
        now = next((i for i, start in enumerate(starts) if start > row), len(files)) - 1
        wanted = min(max(now + count, 0), len(files) - 1)
        found = (i for i, (row, _) in enumerate(self._stops) if row >= starts[wanted])
        self._choose(next(found, len(self._stops) - 1))

    def next_pending(self) -> bool:
        """Choose the next hunk that waits for a decision, the first ones last; False: none does."""
        order = [*range(self._at + 1, len(self._stops)), *range(self._at + 1)]
        for index in order:
            hunk = self._stops[index][1].hunk
            if hunk is not None and waits(hunk):
                self._choose(index)
                return True
        return False

    def choose_hunk(self, hunk_id: int) -> bool:
        """Choose this hunk; False if it is not shown."""
        index = self._keys.get(("", hunk_id))
        if index is not None:
            self._choose(index)
        return index is not None

    def choose_path(self, path: str) -> None:
        """Choose the first change of a file."""
        for start, rows in zip(self._document.starts, self._document.files, strict=True):
            if rows.file.path == path:
                found = (i for i, (row, _) in enumerate(self._stops) if row >= start)
                self._choose(next(found, self._at))
                return

    def scroll_rows(self, count: int) -> None:
        """Scroll; what is chosen is always in sight."""
        self.top += count
        self._settle()
        height = max(self.size.height, 1)
        if self.change is not None and not self.top <= self._stops[self._at][0] < self.top + height:
            self._choose_in_sight(height, down=count > 0)
        self.refresh()
        self.post_message(self.Moved())

    def sideways(self, cells: int) -> None:
        """Scroll the lines' text sideways."""
        left = max(self.left + cells, 0)
        if left != self.left:
            self.left = left
            self.refresh()

    def _choose(self, index: int) -> None:
        self._at = index
        row = self._stops[index][0]
        height = max(self.size.height, 1)
        behind = (
            self._stops[index + 1][0] if index + 1 < len(self._stops) else self._document.height
        )
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
        first = bisect_left(self._rows, self.top)
        behind = bisect_left(self._rows, self.top + height)
        if first < behind:
            self._at = first if down else behind - 1
        else:
            self._at = max(first - 1, 0)

    def on_click(self, event: events.Click) -> None:
        """Choose what was clicked; a fold opens."""
        event.stop()
        number = self.top + event.y
        if number >= self._document.height:
            return
        row = self._document.row(number)
        if row.kind == "fold":
            opened = self.look.opened | {(row.file.path, row.gap)}
            self.show(self._files, self.look._replace(opened=opened))
        elif row.change is not None:
            index = bisect_right(self._rows, number) - 1
            same = [i for i in (index, index + 1) if self._stop_is(i, row.change)]
            if same:
                self._choose(same[0])

    def _stop_is(self, index: int, change: Change) -> bool:
        return 0 <= index < len(self._stops) and self._stops[index][1] is change

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll."""
        event.stop()
        self.scroll_rows(_WHEEL_ROWS)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll."""
        event.stop()
        self.scroll_rows(-_WHEEL_ROWS)
