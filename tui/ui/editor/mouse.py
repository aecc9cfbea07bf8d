"""The mouse over the editor: click, double and triple click, drag by characters, words, lines.

Pure but for the clock's value, which is handed in: the editor turns events into positions.
"""

from __future__ import annotations

from typing import Literal

from tui.core.text.buffer import Buffer, Mark
from tui.core.text.change_set import Position
from tui.ui.editor.cursor import Cursor, word_at

DOUBLE_CLICK_S = 0.45
WHEEL_LINES = 3
"""Lines a turn of the wheel."""
EDGE_SCROLL_S = 0.05
"""While dragging beyond the edge the view scrolls this often."""
_FASTER_TICKS = 16
"""Held beyond the edge for as many of these, it scrolls by as much again."""
_FASTEST = 40
"""Times as fast as at first, at most: a long file is a matter of seconds."""

Unit = Literal["character", "word", "line"]
_UNITS: tuple[Unit, ...] = ("character", "word", "line")


class Drag:
    """One selection with the mouse, from pressing the button to letting it go."""

    def __init__(self) -> None:
        self.active = False
        self.outside = 0
        """Rows by which the mouse is above (negative) or below the view."""
        self.aside = 0
        """Cells by which it is left (negative) or right of the text."""
        self.x = 0
        """The last column of the mouse."""
        self.y = 0
        """The row in the view that it is nearest to."""
        self._held = 0
        self._unit: Unit = "character"
        self._origin: tuple[Buffer, Mark, Mark] | None = None
        """What the first click selected; the model may write above it meanwhile."""
        self._clicks = 0
        self._last_click: tuple[float, Position] = (float("-inf"), (0, 0))

    def press(
        self, cursor: Cursor, position: Position, now_s: float, *, shift: bool, line: bool
    ) -> None:
        """The button went down; ``line`` is True in the gutter, which selects whole lines."""
        again = now_s - self._last_click[0] < DOUBLE_CLICK_S and self._last_click[1] == position
        self._clicks = self._clicks % 3 + 1 if again else 1
        self._last_click = (now_s, position)
        self._unit = "line" if line else _UNITS[self._clicks - 1]
        self.release()
        self.active = True
        if shift:
            self._unit = "character"
            cursor.place(position, select=True)
            origin = (cursor.anchor, cursor.anchor)
        else:
            origin = self._extent(cursor.buffer, position)
            cursor.select(*origin)
        buffer = cursor.buffer
        self._origin = buffer, buffer.mark(*origin[0], right=True), buffer.mark(*origin[1])

    def move(self, cursor: Cursor, position: Position) -> None:
        """The mouse moved with the button down: select from the origin to here."""
        if self._origin is None or self._origin[0] is not cursor.buffer:  # another file is shown
            return
        start, end = self._extent(cursor.buffer, position)
        first, last = (cursor.buffer.clamp(mark.position) for mark in self._origin[1:])
        if position < first:
            cursor.place(max(first, last))
            cursor.place(start, select=True)
        else:
            cursor.place(first)
            cursor.place(max(end, last), select=True)

    def aim(self, outside: int, aside: int) -> None:
        """The mouse is this far from the text, in rows and in cells."""
        if (outside > 0, outside < 0) != (self.outside > 0, self.outside < 0):
            self._held = 0
        self.outside, self.aside = outside, aside

    @property
    def is_beyond(self) -> bool:
        """The mouse is outside of the text."""
        return bool(self.outside or self.aside)

    def scroll(self) -> tuple[int, int]:
        """Rows and cells to scroll by now: the further out and the longer held, the more."""
        self._held += 1
        times = min(1 + self._held // _FASTER_TICKS, _FASTEST)
        return self.outside * times, self.aside * times

    def release(self) -> None:
        """The button went up."""
        self.active = False
        self.outside = self.aside = self._held = 0
        if self._origin is not None:
            buffer, *marks = self._origin
            buffer.release(*marks)
            self._origin = None

    def _extent(self, buffer: Buffer, position: Position) -> tuple[Position, Position]:
        """What one unit of the selection at a position covers."""
        line, col = position
        if self._unit == "word":
            start, end = word_at(buffer.lines[line], col)
            return (line, start), (line, end)
        if self._unit == "line":
            below = (line + 1, 0)
            return (line, 0), below if line + 1 < buffer.line_count else buffer.end
        return position, position
