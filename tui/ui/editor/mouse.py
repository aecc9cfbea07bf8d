"""The mouse over the editor: click, double and triple click, drag by characters, words, lines.

Pure but for the clock's value, which is handed in: the editor turns events into positions.
"""

from __future__ import annotations

from typing import Literal

from tui.core.buffer import Buffer, Position
from tui.ui.editor.cursor import Cursor
from tui.ui.editor.words import word_at

DOUBLE_CLICK_S = 0.45
WHEEL_LINES = 3
"""Lines a turn of the wheel."""
EDGE_SCROLL_S = 0.05
"""While dragging beyond the edge the view scrolls this often."""

Unit = Literal["character", "word", "line"]
_UNITS: tuple[Unit, ...] = ("character", "word", "line")


class Drag:
    """One selection with the mouse, from pressing the button to letting it go."""

    def __init__(self) -> None:
        self.active = False
        self.outside = 0
        """Lines by which the mouse is above (negative) or below the view."""
        self.x = 0
        """The last column of the mouse."""
        self._unit: Unit = "character"
        self._origin: tuple[Position, Position] = ((0, 0), (0, 0))
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
        self.active = True
        self.outside = 0
        if shift:
            self._unit = "character"
            cursor.place(position, select=True)
            self._origin = (cursor.anchor, cursor.anchor)
            return
        self._origin = self._extent(cursor.buffer, position)
        cursor.select(*self._origin)

    def move(self, cursor: Cursor, position: Position) -> None:
        """The mouse moved with the button down: select from the origin to here."""
        start, end = self._extent(cursor.buffer, position)
        if position < self._origin[0]:
            cursor.place(self._origin[1])
            cursor.place(start, select=True)
        else:
            cursor.place(self._origin[0])
            cursor.place(max(end, self._origin[1]), select=True)

    def release(self) -> None:
        """The button went up."""
        self.active = False
        self.outside = 0

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
