"""What the user sees of one buffer: cursor, scroll position, colours, matches.

The top line is a mark, so an edit above the view moves the view along and nothing jumps. A
view knows no Textual; the editor asks it for its `Row`s and paints those that changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.core.text.buffer import Buffer, Position
from tui.ui.editor.brackets import Brackets
from tui.ui.editor.cells import LONG, line_cells, line_width
from tui.ui.editor.changes import indentation
from tui.ui.editor.cursor import Cursor
from tui.ui.editor.newlines import Newlines
from tui.ui.editor.paint import Frame, Row, gutter_width
from tui.ui.editor.pen import Pen
from tui.ui.editor.rail import NOTHING, Said, lay_over
from tui.ui.editor.sight import Decorations, rows_in_sight
from tui.ui.editor.wrapping import Layout, Place
from tui.ui.finding.search import Search

if TYPE_CHECKING:
    from tui.ui.highlight.colours import BufferColours

_MARGIN = 2
"""Lines kept between the cursor and the edge of the view."""
_SIDE_MARGIN = 6
_FEWEST_DIGITS = 3


class View:
    """One buffer in the editor."""

    def __init__(self, buffer: Buffer, colours: BufferColours | None = None) -> None:
        """``colours`` are those of the buffer's other view, if it has one."""
        from tui.ui.highlight.colours import BufferColours  # Pygments: not before the first paint

        self.buffer = buffer
        self.layout = Layout(buffer)
        self.cursor = Cursor(buffer, self.layout)
        self.colours: BufferColours = BufferColours(buffer) if colours is None else colours
        self.search = Search(buffer)
        self.brackets = Brackets(buffer, lambda line: self.colours.spans(line))
        self.indent = indentation(buffer)
        self.left = 0
        """First cell of the text that is shown."""
        self.pen = Pen(buffer)
        """Where the model wrote last."""
        self._top = buffer.mark(0, 0, right=buffer.end != (0, 0))
        self._newlines = Newlines(buffer)
        self._width = 80

    @property
    def path(self) -> str:
        """The buffer's path."""
        return self.buffer.path

    @property
    def top(self) -> int:
        """The first line that is shown, at least a part of it."""
        return min(self._top.line, self.buffer.line_count - 1)

    @property
    def place(self) -> Place:
        """The first row that is shown."""
        return self.layout.row(self.buffer.clamp(self._top.position))

    @property
    def digits(self) -> int:
        """Digits of the widest line number."""
        return max(len(str(self.buffer.line_count)), _FEWEST_DIGITS)

    @property
    def room(self) -> int:
        """Cells for the text of a row."""
        return max(self._width - gutter_width(self.digits), 1)

    @property
    def newline_words(self) -> str:
        """The file's line endings: ``LF``, ``CRLF`` or ``mixed``."""
        return self._newlines.word

    def release(self) -> None:
        """The view is closed."""
        self.cursor.release()
        self.pen.release()
        self.search.limit(None)
        self.buffer.release(self._top)

    def fit(self, width: int, *, wrap: bool) -> None:
        """The view has ``width`` cells, gutter included; to be said before each use of it."""
        self._width = width
        self.layout.wrap(self.room if wrap else None)
        if wrap:
            self.left = 0

    def shown(self, height: int) -> range:
        """The lines that are in sight, at least a part of them."""
        last, _ = self.layout.step(self.place, max(height - 1, 0))
        return range(self.top, last[0] + 1)

    def scroll_to(self, top: int, height: int) -> None:
        """Show ``top`` as the first line, as far as the file is that long."""
        self._put((min(max(top, 0), self.buffer.line_count - 1), 0), height)

    def scroll_rows(self, count: int, height: int) -> None:
        """Show what is ``count`` rows further down."""
        self._put(self.layout.step(self.place, count)[0], height)

    def center(self, position: Position, height: int) -> None:
        """Show a position in the middle."""
        self._put(self.layout.step(self.layout.row(position), -(height // 2))[0], height)

    def reveal(self, line: int, height: int, *, ahead: bool = False) -> None:
        """Scroll as little as possible so that a line's end is shown with some rows around it.

        ``ahead`` leaves room below, for text that is being written there.
        """
        line = min(max(line, 0), self.buffer.line_count - 1)
        end = (line, len(self.buffer.lines[line]))
        self._reveal(self.layout.row(end), height, ahead=ahead)

    def reveal_cursor(self, width: int, height: int) -> None:
        """Bring the cursor into the view."""
        self._width = width
        self._reveal(self.layout.row(self.cursor.position), height)
        if self.wrapped:
            return
        room = self.room
        side = min(_SIDE_MARGIN, max((room - 2) // 2, 0))
        cell = self.cursor.cell
        if cell < self.left + side:
            self.left = max(cell - side, 0)
        elif cell > self.left + room - 1 - side:
            self.left = cell - room + 1 + side
        if self.left and cell < room - 1 and _reach(self.buffer, self.shown(height), room) < room:
            self.left = 0

    def scroll_sideways(self, cells: int, width: int, height: int) -> None:
        """Show text further right or left."""
        if self.wrapped:
            return
        self._width = width
        wanted = self.left + cells + self.room
        most = _reach(self.buffer, self.shown(height), wanted) - self.room + _SIDE_MARGIN
        self.left = max(min(self.left + cells, most), 0)

    def position_at(self, x: int, y: int) -> Position:
        """The position under a cell of the view; outside of the text the nearest one."""
        place, short = self.layout.step(self.place, y)
        if short:
            return self.buffer.end if short > 0 else (0, 0)
        return self.layout.position(place, max(x - gutter_width(self.digits) + self.left, 0))

    def cursor_spot(self, height: int) -> tuple[int, int] | None:
        """The cell of the view in which the cursor is; None: it is out of sight."""
        position = self.cursor.position
        y = self.layout.distance(self.place, self.layout.row(position), height)
        x = self.layout.cell(position) - self.left
        return None if y is None or not 0 <= x < self.room else (x + gutter_width(self.digits), y)

    def frame(self, width: int) -> Frame:
        """What all rows share."""
        return Frame(width, self.left, self.digits)

    def rows(
        self,
        height: int,
        focused: bool,
        decorations: Decorations,
        said: Said = NOTHING,
    ) -> list[Row]:
        """The rows on the screen, top to bottom."""
        rows = rows_in_sight(self, height, focused, decorations)
        rows += [Row()] * (height - len(rows))
        if said != NOTHING:
            lay_over(rows, self._width, said, self.cursor_spot(height))
        return rows

    def ending(self, line: int) -> str:
        """The line's ending as a picture, if it is not like the others in the file."""
        return self._newlines.picture(line)

    @property
    def wrapped(self) -> bool:
        """Lines go on in the next row."""
        return self.layout.room is not None

    def _reveal(self, place: Place, height: int, *, ahead: bool = False) -> None:
        margin = min(_MARGIN, max((height - 1) // 2, 0))
        top = self.place
        down = self.layout.distance(top, place, height)
        if place < top or (down is not None and down < margin):
            lines = height // 3 if ahead else margin
        elif down is None or down > height - 1 - margin:
            lines = height * 3 // 5 if ahead else height - 1 - margin
        else:
            return
        self._put(self.layout.step(place, -lines)[0], height)

    def _put(self, place: Place, height: int) -> None:
        """Make this the first row, as far as the file is that long."""
        rows = max(height - _MARGIN, 1)
        if place[0] + rows >= self.buffer.line_count:
            end = self.layout.row(self.buffer.end)
            place = min(place, self.layout.step(end, 1 - rows)[0])
        self._top.line, self._top.col = place
        # At the very top of an empty file nothing can jump: let text appear below.
        self._top.right = self.buffer.end != (0, 0)


def _reach(buffer: Buffer, shown: range, wanted: int) -> int:
    """Cells up to which lines reach, as far as ``wanted`` is asked about, and one more."""
    most = 0
    for line in buffer.lines[shown.start : shown.stop]:
        if len(line) <= LONG:
            most = max(most, line_width(line))
        else:
            cells = line_cells(line)
            beyond = cells.column(wanted) < cells.length
            most = max(most, wanted if beyond else cells.width)
    return most + 1
