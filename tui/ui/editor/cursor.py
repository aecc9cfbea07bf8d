"""The cursor and the selection of one buffer: marks that move with everybody's edits.

No Textual here. The cursor and the anchor are marks, so that an edit of the model above them
moves them along; a position is never inside a grapheme. What is typed goes elsewhere
(`changes`), this module only moves.

A word is a run of letters, digits and underscores with the accents that belong to them; a run of
signs is a word of its own. With the mouse a click places the cursor, two select a word, three a
line, and dragging goes on by what the first click selected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal
from unicodedata import category

from tui.core.document.removed import StruckIn
from tui.core.text.buffer import Buffer, Mark
from tui.core.text.change_set import Position
from tui.core.text.patterns import pattern
from tui.ui.editor.cells import line_cells
from tui.ui.editor.wrapping import Wrapping

_WORD = re.compile(r"\w+")
_SIGNS = re.compile(r"[^\w\s]+")
_BLANKS = pattern(r"\s*")
_LONGEST = 4000
"""Characters gone back at most: what is longer is no word of a person."""
_JOINERS = "\u200c\u200d"


def word_at(line: str, col: int) -> tuple[int, int]:
    """Start and end of the word, run of signs or run of blanks around a column."""
    if col >= len(line):
        col = max(_base(line, len(line) - 1), 0) if line and not line[-1].isspace() else len(line)
    if col < len(line) and not line[col].isspace():
        return _start(line, _end(line, col)), _end(line, col)
    start = len(line[max(col - _LONGEST, 0) : col].rstrip()) + max(col - _LONGEST, 0)
    blanks = _BLANKS.match(line, col)
    return start, blanks.end() if blanks else col


def word_before(buffer: Buffer, position: Position) -> Position:
    """The start of the word before a position; at a line's start the end of the line above."""
    line, col = position
    if col == 0:
        return (line - 1, len(buffer.lines[line - 1])) if line else (0, 0)
    text = buffer.lines[line]
    return (line, _start(text, len(text[:col].rstrip())))


def word_after(buffer: Buffer, position: Position) -> Position:
    """The end of the word behind a position; at a line's end the start of the line below."""
    line, col = position
    text = buffer.lines[line]
    if col == len(text):
        return (line + 1, 0) if line + 1 < buffer.line_count else position
    blanks = _BLANKS.match(text, col)
    start = blanks.end() if blanks else col
    return (line, _end(text, start) if start < len(text) else len(text))


def _end(line: str, col: int) -> int:
    """Behind the run that the character at ``col`` belongs to."""
    pattern = _WORD if _is_word(line[_base(line, col)]) else _SIGNS
    end = col
    while end < len(line):
        run = pattern.match(line, end)
        last = run.end() if run else end
        while last < len(line) and _extends(line[last]):
            last += 1
        if last == end:
            break
        end = last
    return end


def _start(line: str, end: int) -> int:
    """Where the run begins that ends at ``end``."""
    if end == 0:
        return 0
    start = _base(line, end - 1)
    word = _is_word(line[start])
    while start > max(end - _LONGEST, 0):
        before = _base(line, start - 1)
        character = line[before]
        if character.isspace() or _is_word(character) != word:
            break
        start = before
    return start


def _base(line: str, col: int) -> int:
    """The character that the accent at ``col`` belongs to; ``col`` if it is none."""
    while col > 0 and _extends(line[col]):
        col -= 1
    return col


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _extends(character: str) -> bool:
    """True for what has no place of its own: accents, vowel signs, joiners."""
    return character >= "\u0300" and (character in _JOINERS or category(character)[0] == "M")


class Cursor:
    """Where the user is in a buffer, and what is selected."""

    def __init__(
        self,
        buffer: Buffer,
        wrapping: Wrapping | None = None,
        struck: StruckIn | None = None,
    ) -> None:
        """Start at the first character. ``wrapping`` says what a row is, for moves up and down.

        ``struck`` gives the lines that are struck: no text to stand in, or to copy.
        """
        self.buffer = buffer
        self._struck = struck
        self.wrapping = Wrapping(buffer) if wrapping is None else wrapping
        self._head = buffer.mark(0, 0)
        self._anchor = buffer.mark(0, 0)
        self._goal: int | None = None
        """The cell that moving up and down aims for."""
        self.moves = 0
        """How often the user put it somewhere: what is done later sees that they went on."""
        self._lean()

    @property
    def position(self) -> Position:
        """The cursor."""
        self._close()
        return self.buffer.clamp(self._head.position)

    @property
    def anchor(self) -> Position:
        """The other end of the selection; the cursor itself if nothing is selected."""
        self._close()
        return self.buffer.clamp(self._anchor.position)

    @property
    def selection(self) -> tuple[Position, Position] | None:
        """Start and end of what is selected."""
        ends = (self.anchor, self.position)
        return None if ends[0] == ends[1] else (min(ends), max(ends))

    @property
    def selected_text(self) -> str:
        """The selected text with its line endings."""
        if (selection := self.selection) is None:
            return ""
        return "".join(self.buffer.slice(*part) for part in self._text_parts(*selection))

    @property
    def cell(self) -> int:
        """The cell in which the cursor stands."""
        line, col = self.position
        return line_cells(self.buffer.lines[line]).cell(col)

    def struck(self, first: int, last: int) -> list[range]:
        """The runs of struck lines that lines ``first .. last`` are part of."""
        return [] if self._struck is None else self._struck(first, last)

    def place(self, position: Position, *, select: bool = False) -> None:
        """Go to the nearest position that exists; ``select`` keeps the anchor."""
        self._goal = None
        self.moves += 1
        line, col = self._beside_struck(self.buffer.clamp(position))
        self._head.line = line
        self._head.col = line_cells(self.buffer.lines[line]).snap(col)
        if not select:
            self._anchor.line, self._anchor.col = self._head.position
        self._lean()

    def select(self, start: Position, end: Position) -> None:
        """Select a range; the cursor goes to its end."""
        self.place(start)
        self.place(end, select=True)

    def release(self) -> None:
        """The cursor is not needed any more."""
        self.buffer.release(self._head, self._anchor)

    def left(self, *, select: bool = False) -> None:
        """One grapheme left, or to the start of the selection."""
        if self.selection and not select:
            self.place(self.selection[0])
            return
        line, col = self.position
        if col:
            self.place((line, line_cells(self.buffer.lines[line]).before(col)), select=select)
        elif line:
            self.place((line - 1, len(self.buffer.lines[line - 1])), select=select)

    def right(self, *, select: bool = False) -> None:
        """One grapheme right, or to the end of the selection."""
        if self.selection and not select:
            self.place(self.selection[1])
            return
        line, col = self.position
        if col < len(self.buffer.lines[line]):
            self.place((line, line_cells(self.buffer.lines[line]).after(col)), select=select)
        elif line + 1 < self.buffer.line_count:
            self.place((line + 1, 0), select=select)

    def lines(self, count: int, *, select: bool = False) -> None:
        """``count`` rows down (up if negative), in the same cell where there is one."""
        wrapping, here = self.wrapping, self.position
        goal = wrapping.cell(here) if self._goal is None else self._goal
        place, short = wrapping.step(wrapping.row(here), count)
        if place[1] < 0 and count < 0 and not short:  # what was removed is no place to stand
            line = place[0] - 1
            short = min(line, 0)
            place = wrapping.row((line, len(self.buffer.lines[line])))
        if short:
            self.place(self.buffer.end if count > 0 else (0, 0), select=select)
            return
        for run in self.struck(place[0], place[0]):
            line = run.stop if count > 0 else run.start - 1
            if not 0 <= line < self.buffer.line_count:
                return
            place = wrapping.row((line, 0 if count > 0 else len(self.buffer.lines[line])))
        self.place(wrapping.position(place, goal), select=select)
        self._goal = goal

    def line_start(self, *, select: bool = False) -> None:
        """To the row's start; there, or in a row that is a line: see `line_margin`."""
        row = self.wrapping.row(self.position)
        if row[1] and row != self.position:
            self.place(row, select=select)
        else:
            self.line_margin(select=select)

    def line_margin(self, *, select: bool = False) -> None:
        """To the first character that is not blank; there already: to the first column."""
        line, col = self.position
        indent = indent_of(self.buffer.lines[line])
        self.place((line, 0 if col == indent else indent), select=select)

    def line_end(self, *, select: bool = False) -> None:
        """To the last character of the row; there, or in a line's last row: behind it."""
        line, col = self.position
        text = self.buffer.lines[line]
        end = self.wrapping.end(self.wrapping.row((line, col)))
        if end < len(text) and (last := line_cells(text).before(end)) > col:
            self.place((line, last), select=select)
        else:
            self.place((line, len(text)), select=select)

    def select_all(self) -> None:
        """Select the whole file."""
        self.select((0, 0), self.buffer.end)

    def select_line(self) -> None:
        """Select the line with its ending."""
        line = self.position[0]
        below = (line + 1, 0)
        self.select((line, 0), below if below <= self.buffer.end else self.buffer.end)

    def _beside_struck(self, position: Position) -> Position:
        """The nearest text in the direction in which the cursor goes to a position."""
        for run in self.struck(position[0], position[0]):
            above, below = run.start - 1, run.stop
            if above >= 0 and (position < self._head.position or below >= self.buffer.line_count):
                return above, len(self.buffer.lines[above])
            return (below, 0) if below < self.buffer.line_count else position
        return position

    def _text_parts(self, start: Position, end: Position) -> Iterator[tuple[Position, Position]]:
        """A range without the struck lines in it."""
        for run in self.struck(start[0], end[0]):
            if start < (run.start, 0):
                yield start, min((run.start, 0), end)
            start = (run.stop, 0)
        if start < end:
            yield start, end

    def _close(self) -> None:
        """Nothing is selected any more when all that was selected is gone.

        What others put in there then has pushed the start behind the end: it is not selected.
        """
        head, anchor = self._head, self._anchor
        if head.right != anchor.right:
            start, end = (head, anchor) if head.right else (anchor, head)
            if start.position >= end.position:
                end.line, end.col = start.position
                self._lean()

    def _lean(self) -> None:
        """Text put at an edge of the selection by another stays outside of it.

        Text put at the bare cursor pushes it along, so that the cursor stays with the line
        that the user was on; in an empty file it stays at the top.
        """
        reach = self.buffer.end != (0, 0)
        head, anchor = self._head, self._anchor
        if head.position == anchor.position:
            head.right = anchor.right = reach
        else:
            head.right = head.position < anchor.position
            anchor.right = not head.right


def indent_of(line: str) -> int:
    """Column of the first character that is not a space or tab."""
    return len(line) - len(line.lstrip(" \t"))


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
