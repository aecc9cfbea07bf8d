"""What the user sees of one buffer: cursor, scroll position, rows with all that lies over them.

The top line is a mark, so an edit above the view moves the view along and nothing jumps. A
view knows no Textual; the editor asks it for its `EditorRow`s and paints those that changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from tui.core.document.removed import removed_lines, struck_above, struck_runs
from tui.core.document.workspace import Workspace
from tui.core.text.buffer import Buffer, LineChange, Mark
from tui.core.text.change_set import Position
from tui.ui.editor.brackets import Brackets
from tui.ui.editor.cells import LONG, line_cells, line_width
from tui.ui.editor.changes import indentation
from tui.ui.editor.cursor import Cursor
from tui.ui.editor.paint import EditorRow, Overlay, RowFrame, gutter_width
from tui.ui.editor.wrapping import (
    Place,
    RemovedRows,
    Slice,
    Wrapping,
    overlays_in,
    removed_words,
    slices,
    spans_in,
)
from tui.ui.finding.search import TextSearch

if TYPE_CHECKING:
    from tui.ui.highlight.colours import BufferColours

Decorations = Callable[[str, int, int], dict[int, str]]
"""Path, first line, line behind the last: what marks which lines."""
COLOUR_BUDGET_S = 0.005
"""Time for colours before a repaint; the rest follows when idle."""
BRACKET_BUDGET_S = 0.001
"""Time for the partner of a bracket before a repaint."""
_ALL = 1 << 60
"""More struck rows than there are."""
_MOST_WRAPPED = 1000
"""Of more struck lines the wrapped rows are not counted in each picture."""
_MARGIN = 2
"""Lines kept between the cursor and the edge of the view."""
_SIDE_MARGIN = 6
_FEWEST_DIGITS = 3


class View:
    """One buffer in the editor."""

    def __init__(
        self,
        buffer: Buffer,
        colours: BufferColours | None = None,
        workspace: Workspace | None = None,
    ) -> None:
        """``colours`` are those of the buffer's other view, if it has one.

        ``workspace`` knows what was removed from the buffer.
        """
        from tui.ui.highlight.colours import BufferColours  # Pygments: not before the first paint

        self.buffer = buffer
        self._workspace = workspace
        if workspace is None:
            self.removed, struck = RemovedRows(), None
            self.struck_above: Callable[[int], int] = lambda line: 0
        else:
            self.removed = RemovedRows(partial(removed_lines, workspace, buffer.path))
            struck = partial(struck_runs, workspace, buffer.path)
            self.struck_above = partial(struck_above, workspace, buffer.path)
        self.wrapping = Wrapping(buffer, self.removed)
        self.cursor = Cursor(buffer, self.wrapping, struck)
        self.colours: BufferColours = BufferColours(buffer) if colours is None else colours
        self.search = TextSearch(buffer)
        self.brackets = Brackets(buffer, lambda line: self.colours.spans(line))
        self.indent = indentation(buffer)
        self.left = 0
        """First cell of the text that is shown."""
        self._written: Mark | None = None
        """Where the model wrote last; edits above take it along."""
        self._top = buffer.mark(0, 0, right=buffer.end != (0, 0))
        self._above = _ALL
        """Removed rows between the first row that is shown and the line below them, if there are
        as many."""
        self._struck = 0
        """Lines from the first one that is shown on that were struck in the last picture."""
        self.newlines = Newlines(buffer)
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
        line, above = self._top.line, self._above
        if self._struck and not self.cursor.struck(line, line):
            above += self._struck
        above = above and min(above, len(self.removed.above(line)))
        if above:
            return (line, -above)
        return self.wrapping.row(self.buffer.clamp(self._top.position))

    @property
    def digits(self) -> int:
        """Digits of the widest line number."""
        return max(len(str(self.buffer.line_count)), _FEWEST_DIGITS)

    @property
    def room(self) -> int:
        """Cells for the text of a row."""
        return max(self._width - gutter_width(self.digits), 1)

    @property
    def written_line(self) -> int | None:
        """The line in which the model wrote last, 0-based; None: it wrote nowhere yet."""
        mark = self._written
        return None if mark is None else min(mark.line, self.buffer.line_count - 1)

    def wrote(self, line: int) -> None:
        """The model wrote in this line."""
        if self._written is None:
            self._written = self.buffer.mark(line, right=True)
        self._written.line, self._written.col = line, 0

    def release(self) -> None:
        """The view is closed."""
        self.cursor.release()
        self.search.limit(None)
        marks = (self._top, self._written)
        self.buffer.release(*(mark for mark in marks if mark is not None))

    def fit(self, width: int, *, wrap: bool) -> None:
        """The view has ``width`` cells, gutter included; to be said before each use of it."""
        self._width = width
        self.wrapping.wrap(self.room if wrap else None)
        if wrap:
            self.left = 0
        self._look()

    def _look(self) -> None:
        """Look again at what is removed, if anything changed."""
        if self._workspace is not None:
            state = (self.buffer.revision, self._workspace.hunks_revision)
            self.removed.look(state, self.cursor.position[0])

    def keep_struck(self) -> None:
        """To be said of each picture: struck lines that leave the text stay where they are."""
        line = self._top.line
        runs = self.cursor.struck(line, line)
        if line or self._struck:
            self._above = max(-self.place[1], 0)
        self._struck = self._rows_to(runs[0].stop) if runs else 0

    def _rows_to(self, stop: int) -> int:
        """Rows from the first one that is shown to the end of the line above ``stop``."""
        lines = stop - self._top.line
        if not self.wrapped or lines > _MOST_WRAPPED:
            return lines
        end = (stop - 1, len(self.buffer.lines[stop - 1]))
        rows = self.wrapping.distance(self.place, self.wrapping.row(end), _ALL)
        return lines if rows is None else rows + 1

    def shown(self, height: int) -> range:
        """The lines that are in sight, at least a part of them."""
        (last, col), _ = self.wrapping.step(self.place, max(height - 1, 0))
        return range(self.top, max(last + (col >= 0), self.top + 1))

    def lines_shown(self, height: int) -> int:
        """How many lines there is room for."""
        if self.wrapped or self.removed.among(self.top, self.top + height):
            return len(self.shown(height))
        return height

    def scroll_to(self, top: int, height: int) -> None:
        """Show ``top`` as the first line, as far as the file is that long."""
        self._put((min(max(top, 0), self.buffer.line_count - 1), 0), height)

    def scroll_rows(self, count: int, height: int) -> None:
        """Show what is ``count`` rows further down."""
        self._put(self.wrapping.step(self.place, count)[0], height)

    def center(self, position: Position, height: int) -> None:
        """Show a position in the middle."""
        self._put(self.wrapping.step(self.wrapping.row(position), -(height // 2))[0], height)

    def reveal(self, line: int, height: int) -> None:
        """Scroll as little as possible so that a line's end is shown, with room below it.

        There text is being written.
        """
        line = min(max(line, 0), self.buffer.line_count - 1)
        end = (line, len(self.buffer.lines[line]))
        self._reveal(self.wrapping.row(end), height, ahead=True)

    def show_lines(self, first: int, last: int, height: int) -> None:
        """Show lines with what was removed above them, in the middle if they are out of sight."""
        self._look()
        head, end = self.wrapping.head(first), self.wrapping.row(self.buffer.clamp((last, 0)))
        rows = self.wrapping.distance(head, end, height)
        rows = height if rows is None else rows + 1
        above = self.wrapping.distance(self.place, head, height)
        if above is None or above + rows > height:
            self._put(self.wrapping.step(head, (rows - height) // 2)[0], height)

    def reveal_cursor(self, width: int, height: int) -> None:
        """Bring the cursor into the view."""
        self._width = width
        self._look()
        self._reveal(self.wrapping.row(self.cursor.position), height)
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
        place, short = self.wrapping.step(self.place, y)
        if short:
            return self.buffer.end if short > 0 else (0, 0)
        return self.wrapping.position(place, max(x - gutter_width(self.digits) + self.left, 0))

    def cursor_spot(self, height: int) -> tuple[int, int] | None:
        """The cell of the view in which the cursor is; None: it is out of sight."""
        position = self.cursor.position
        y = self.wrapping.distance(self.place, self.wrapping.row(position), height)
        x = self.wrapping.cell(position) - self.left
        return None if y is None or not 0 <= x < self.room else (x + gutter_width(self.digits), y)

    def frame(self, width: int) -> RowFrame:
        """What all rows share."""
        return RowFrame(width, self.left, self.digits)

    def rows(
        self,
        height: int,
        focused: bool,
        decorations: Decorations,
    ) -> list[EditorRow]:
        """The rows on the screen, top to bottom."""
        rows = rows_in_sight(self, height, focused, decorations)
        return rows + [EditorRow()] * (height - len(rows))

    @property
    def wrapped(self) -> bool:
        """Lines go on in the next row."""
        return self.wrapping.room is not None

    def _reveal(self, place: Place, height: int, *, ahead: bool = False) -> None:
        margin = min(_MARGIN, max((height - 1) // 2, 0))
        top = self.place
        down = self.wrapping.distance(top, place, height)
        if place < top or (down is not None and down < margin):
            lines = height // 3 if ahead else margin
        elif down is None or down > height - 1 - margin:
            lines = height * 3 // 5 if ahead else height - 1 - margin
        else:
            return
        self._put(self.wrapping.step(place, -lines)[0], height)

    def _put(self, place: Place, height: int) -> None:
        """Make this the first row, as far as the file is that long."""
        rows = max(height - _MARGIN, 1)
        if place[0] + rows >= self.buffer.line_count:
            place = min(place, self.wrapping.step(self.wrapping.last, 1 - rows)[0])
        self._top.line, self._top.col = place[0], max(place[1], 0)
        self._above = max(-place[1], 0) if place > self.wrapping.head(0) else _ALL
        self._struck = 0
        # At the very top of an empty file nothing can jump: let text appear below.
        self._top.right = self.buffer.end != (0, 0)


class UserMarks(NamedTuple):
    """What all rows of one picture have to know of the user."""

    position: Position
    selection: tuple[Position, Position] | None
    focused: bool
    wrapped: bool
    first: int
    """First line that the cursor or the selection is in."""
    last: int
    searching: bool
    """Something is looked for: lines may have matches."""
    bracketed: frozenset[int]
    """Lines with a bracket to show."""
    mixed: bool
    """Line endings differ: the unusual ones are shown."""
    struck: list[range]
    """Lines of hunks that come in which are no text any more."""
    unnumbered: int = 0
    """Such lines above the first one."""

    def number(self, line: int, first: int) -> int:
        """The number of a line that is text, ``first`` being the first one on the screen."""
        gone = sum(max(min(run.stop, line) - max(run.start, first), 0) for run in self.struck)
        return line + 1 - self.unnumbered - gone


def rows_in_sight(
    view: View, height: int, focused: bool, decorations: Decorations
) -> list[EditorRow]:
    """The rows of the text on the screen, top to bottom; fewer than ``height`` below the end."""
    parts = slices(view.wrapping, view.place, max(height, 1), (view.left, view.room))
    first, last = parts[0].line, min(parts[-1].line + 1, view.buffer.line_count)
    view.colours.advance(last, COLOUR_BUDGET_S, first)
    kinds = decorations(view.path, first, last)
    position, selection = view.cursor.position, view.cursor.selection
    view.brackets.look(position if focused and selection is None else None)
    view.brackets.advance(BRACKET_BUDGET_S)
    ends = selection or (position, position)
    sight = UserMarks(
        position,
        selection,
        focused,
        view.wrapped,
        ends[0][0],
        ends[1][0],
        view.search.pattern is not None,
        frozenset(row for row, _ in view.brackets.pair or ()),
        view.newlines.word == MIXED,
        view.cursor.struck(first, last),
        view.struck_above(first),
    )
    return [_row(view, sight, part, kinds.get(part.line, ""), first) for part in parts]


def _row(view: View, sight: UserMarks, part: Slice, kind: str, first: int) -> EditorRow:
    """Everything that a row's strip depends on; ``first`` is the first line on the screen."""
    line = part.line
    if (row := part.removed) is not None:
        return EditorRow(
            removed_words(row.hidden) if row.hidden else row.text,
            kind="struck",
            cell=part.cell,
            phase=part.phase,
            continued=row.continued,
            last=part.last,
            folded=bool(row.hidden),
        )
    text = view.buffer.lines[line]
    struck = kind == "struck" and any(line in run for run in sight.struck)
    touched = sight.first <= line <= sight.last and (not struck or sight.selection is None)
    here = touched and line == sight.position[0] and part.has(sight.position[1])
    matches = view.search.on_line(line, part.start, part.end + 1) if sight.searching else []
    if line in sight.bracketed:
        matches += view.brackets.on_line(line)
    spans = view.colours.spans(line)
    if part.end - part.start < len(text):
        spans = spans_in(spans, part, len(text))
        text = text[part.start : part.end]
    overlays: tuple[Overlay, ...] = ()
    if touched or matches:
        length = len(view.buffer.lines[line])
        overlays = tuple(overlays_in(_overlays(sight, part, matches, length), part))
    alone = sight.selection is None and touched and sight.focused
    return EditorRow(
        text,
        None if struck else sight.number(line, first),
        kind,
        spans,
        alone and (here or not sight.wrapped),
        overlays,
        touched and part.last and sight.selection is not None and line < sight.last,
        kind == "landing" and line == view.written_line and part.last,
        part.cell,
        part.phase,
        sight.wrapped and part.start > 0,
        part.last,
        view.newlines.picture(line) if sight.mixed and part.last else "",
        line=line,
    )


def _overlays(sight: UserMarks, part: Slice, matches: list[Overlay], length: int) -> list[Overlay]:
    """What lies over a line, counted from the line's start; later ones are seen."""
    line, selection = part.line, sight.selection
    overlays = [match for match in matches if match[2] == "match"]
    if selection and sight.first <= line <= sight.last:
        start = selection[0][1] if selection[0][0] == line else 0
        end = selection[1][1] if selection[1][0] == line else length
        overlays.append((start, end, "selection"))
    overlays += [match for match in matches if match[2] != "match"]
    cursor_line, col = sight.position
    if line == cursor_line and part.has(col) and (sight.focused or not selection):
        overlays.append((col, col + 1, "cursor" if sight.focused else "cursor-away"))
    return overlays


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


LF, CRLF, MIXED = "LF", "CRLF", "mixed"

_PICTURES = {"\n": "␊", "\r\n": "␍␊"}
_IS_CRLF = bytes(int(length == 2) for length in range(256))


class Newlines:
    """Kept up with the buffer by what changed: a line costs the same in every file."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        self._revision = buffer.revision
        self._crlf = _flags(buffer.endings)
        """A byte a line: 1 if it ends in CRLF."""
        self._many = self._crlf.count(1)

    @property
    def word(self) -> str:
        """``LF``, ``CRLF`` or ``mixed``."""
        self._catch_up()
        if not self._many:
            return LF
        return CRLF if self._many == len(self._crlf) - 1 else MIXED

    def picture(self, line: int) -> str:
        """The line's ending as something to look at, if it is not the one that most have."""
        self._catch_up()
        ended = len(self._crlf) - 1
        if not self._many or self._many == ended:
            return ""
        ending = self._buffer.endings[line]
        usual = "\r\n" if self._many * 2 > ended else "\n"
        return _PICTURES.get(ending, "") if ending != usual else ""

    def _catch_up(self) -> None:
        buffer = self._buffer
        if buffer.revision == self._revision:
            return
        changes = buffer.changes_since(self._revision)
        self._revision = buffer.revision
        if changes is None:
            self._crlf = _flags(buffer.endings)
        else:
            # A change within one line changes no ending.
            changes = [change for change in changes if (change.n_old, change.n_new) != (1, 1)]
            if not changes:
                return
            self._take(changes)
        self._many = self._crlf.count(1)

    def _take(self, changes: list[LineChange]) -> None:
        """Look again at the lines between the first and the last one that came or went."""
        crlf, endings = self._crlf, self._buffer.endings
        first = min(change.row for change in changes)
        count = below = len(crlf)
        for row, n_old, n_new in changes:
            below = min(below, count - row - n_old)
            count += n_new - n_old
        below = min(below, len(crlf) - first, len(endings) - first)
        crlf[first : len(crlf) - below] = _flags(endings[first : len(endings) - below])


def _flags(endings: Iterable[str]) -> bytearray:
    return bytearray(map(len, endings)).translate(_IS_CRLF)
