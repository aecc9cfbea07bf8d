"""What the user sees of one buffer: cursor, scroll position, colours, matches.

The top line is a mark, so an edit above the view moves the view along and nothing jumps. A
view knows no Textual; the editor asks it for its `Row`s and paints those that changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tui.core.buffer import Buffer
from tui.ui.editor.cells import line_width
from tui.ui.editor.changes import indentation
from tui.ui.editor.cursor import Cursor
from tui.ui.editor.paint import Frame, Overlay, Row, gutter_width
from tui.ui.editor.search import Search

if TYPE_CHECKING:
    from tui.ui.highlight.colours import BufferColours

Decorations = Callable[[str, int, int], dict[int, str]]
Ghost = tuple[int, list[str]] | None

COLOUR_BUDGET_S = 0.005
"""Time for colours before a repaint; the rest follows when idle."""
_MARGIN = 2
"""Lines kept between the cursor and the edge of the view."""
_SIDE_MARGIN = 6
_GHOST_ROWS = 4
_FEWEST_DIGITS = 3


class View:
    """One buffer in the editor."""

    def __init__(self, buffer: Buffer, colours: BufferColours | None = None) -> None:
        """``colours`` are those of the buffer's other view, if it has one."""
        from tui.ui.highlight.colours import BufferColours  # Pygments: not before the first paint

        self.buffer = buffer
        self.cursor = Cursor(buffer)
        self.colours: BufferColours = BufferColours(buffer) if colours is None else colours
        self.search = Search(buffer)
        self.indent = indentation(buffer)
        self.left = 0
        """First cell of the text that is shown."""
        self.pen_line: int | None = None
        """Where the model wrote last."""
        self._top = buffer.mark(0, 0)

    @property
    def path(self) -> str:
        """The buffer's path."""
        return self.buffer.path

    @property
    def top(self) -> int:
        """The first line that is shown."""
        return min(self._top.line, self.buffer.line_count - 1)

    @property
    def digits(self) -> int:
        """Digits of the widest line number."""
        return max(len(str(self.buffer.line_count)), _FEWEST_DIGITS)

    def release(self) -> None:
        """The view is closed."""
        self.cursor.release()
        self.buffer.release(self._top)

    def scroll_to(self, top: int, height: int) -> None:
        """Show ``top`` as the first line, as far as the file is that long."""
        highest = max(self.buffer.line_count - max(height - _MARGIN, 1), 0)
        self._top.line = max(min(top, highest), 0)
        self._top.col = 0
        # At the very top of an empty file nothing can jump: let text appear below.
        self._top.right = self.buffer.end != (0, 0)

    def reveal(self, line: int, height: int, *, ahead: bool = False) -> None:
        """Scroll as little as possible so that a line is shown with some lines around it.

        ``ahead`` leaves room below, for text that is being written there.
        """
        margin = min(_MARGIN, max((height - 1) // 2, 0))
        top = self.top
        if line < top + margin:
            self.scroll_to(line - margin if not ahead else line - height // 3, height)
        elif line > top + height - 1 - margin:
            lines = height * 3 // 5 if ahead else height - 1 - margin
            self.scroll_to(line - lines, height)

    def reveal_cursor(self, width: int, height: int) -> None:
        """Bring the cursor into the view."""
        self.reveal(self.cursor.position[0], height)
        room = max(width - gutter_width(self.digits), 1)
        side = min(_SIDE_MARGIN, max((room - 2) // 2, 0))
        cell = self.cursor.cell
        if cell < self.left + side:
            self.left = max(cell - side, 0)
        elif cell > self.left + room - 1 - side:
            self.left = cell - room + 1 + side
        if cell < room - 1 and self._widest(height) < room:
            self.left = 0

    def scroll_sideways(self, cells: int, width: int, height: int) -> None:
        """Show text further right or left."""
        room = max(width - gutter_width(self.digits), 1)
        most = max(self._widest(height) - room + _SIDE_MARGIN, 0)
        self.left = max(min(self.left + cells, most), 0)

    def frame(self, width: int) -> Frame:
        """What all rows share."""
        return Frame(width, self.left, self.digits)

    def rows(
        self, height: int, focused: bool, decorations: Decorations, ghost: Ghost = None
    ) -> list[Row]:
        """The rows on the screen, top to bottom."""
        first = self.top
        last = min(first + height, self.buffer.line_count)
        self.colours.advance(last, COLOUR_BUDGET_S)
        kinds = decorations(self.path, first, last)
        rows = [self._row(line, kinds.get(line, ""), focused) for line in range(first, last)]
        rows += [Row()] * (height - len(rows))
        if ghost is not None and height > 2 * _GHOST_ROWS:
            incoming = _ghost_rows(ghost)
            rows[height - len(incoming) :] = incoming
        return rows

    def _row(self, line: int, kind: str, focused: bool) -> Row:
        """Everything that this line's strip depends on."""
        text = self.buffer.lines[line]
        cursor_line, cursor_col = self.cursor.position
        matches: list[Overlay] = list(self.search.on_line(line))
        overlays = [match for match in matches if match[2] == "match"]
        newline_selected = False
        selection = self.cursor.selection
        if selection and selection[0][0] <= line <= selection[1][0]:
            start = selection[0][1] if selection[0][0] == line else 0
            end = selection[1][1] if selection[1][0] == line else len(text)
            overlays.append((start, end, "selection"))
            newline_selected = line < selection[1][0]
        overlays += [match for match in matches if match[2] != "match"]
        if line == cursor_line and (focused or not selection):
            shown = "cursor" if focused else "cursor-away"
            overlays.append((cursor_col, cursor_col + 1, shown))
        return Row(
            text,
            line + 1,
            kind,
            self.colours.spans(line),
            line == cursor_line and focused and selection is None,
            tuple(overlays),
            newline_selected,
            kind == "landing" and line == self.pen_line,
        )

    def _widest(self, height: int) -> int:
        lines = self.buffer.lines[self.top : self.top + height]
        return max(map(line_width, lines), default=0) + 1


def _ghost_rows(ghost: tuple[int, list[str]]) -> list[Row]:
    """Lines on their way to a place that is not known yet."""
    lines = ghost[1]
    count = f"{len(lines)} line{'' if len(lines) == 1 else 's'} incoming, looking for the place"
    tail = lines[-(_GHOST_ROWS - 1) :]
    return [Row(text, kind="ghost") for text in (count, *tail)]
