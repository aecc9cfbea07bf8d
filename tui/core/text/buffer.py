r"""The one copy of a file's text: lines, their endings, and marks that move with edits.

A buffer splits on ``\n`` only (form feed, NEL and U+2028 are text, EDITS.md section 5).
There is always one more line than there are newlines, as in every editor: ``"a\n"`` is the
lines ``["a", ""]``. Each line keeps its own ending, so untouched lines keep their bytes.
Positions are ``(line, column)``, 0-based, in characters of the line without its ending.
"""

from __future__ import annotations

from array import array
from itertools import chain
from typing import NamedTuple

from tui.core.text.change_set import Change, Position

BOM = "\ufeff"


class Form(NamedTuple):
    """How a file says its text, beside what stands in its lines."""

    bom: bool = False
    """It begins with a byte order mark."""
    cr: bool = False
    r"""Its lines end in ``\r`` alone, as on old Macs; a buffer has them with ``\n``."""

    def encode(self, text: str) -> bytes:
        """The bytes of a buffer's text."""
        text = text.replace("\n", "\r") if self.cr else text
        return ((BOM if self.bom else "") + text).encode("utf-8", "surrogatepass")


def form_of(text: str) -> Form:
    r"""How a file's text is said; with a single ``\n`` in it each ``\r`` is a character."""
    return Form(text.startswith(BOM), "\r" in text and "\n" not in text)


def ended(text: str, newline: str) -> str:
    """A text all of whose lines end alike."""
    return text.replace("\r\n", "\n").replace("\n", newline)


def plain_text(text: str) -> str:
    """A file's text as a buffer has it."""
    plain = text.removeprefix(BOM)
    return plain.replace("\r", "\n") if form_of(text).cr else plain


_LOG_LENGTH = 4096
"""At least so many line changes are remembered for readers that lag behind; they start over
from older ones."""


class LineChange(NamedTuple):
    """Lines ``row .. row + n_old`` were replaced by ``n_new`` lines."""

    row: int
    n_old: int
    n_new: int


class Mark:
    """A position that moves with edits.

    An edit that starts exactly at a ``right`` mark pushes it behind the inserted text, but at the
    end of a line that others are put behind; other marks stay before it. A mark inside a replaced
    range stays with the text before or behind it, where that comes back; else it goes to the
    range's start, or to its end if it is a ``right`` mark.
    """

    __slots__ = ("col", "line", "right")

    def __init__(self, line: int, col: int = 0, *, right: bool = False) -> None:
        self.line = line
        self.col = col
        self.right = right

    @property
    def position(self) -> Position:
        """Where the mark is now."""
        return (self.line, self.col)

    def __repr__(self) -> str:
        return f"Mark({self.line}, {self.col}{', right' if self.right else ''})"


class Buffer:
    """The text of one file."""

    def __init__(self, path: str, text: str = "") -> None:
        """Take over a file's ``text``; its form is split off and kept.

        ``path`` is relative to the workspace's root, with ``/``.
        """
        self.path = path
        self.form = form_of(text)
        self.lines: list[str]
        """The lines without endings. Read it; change it only through `replace`."""
        self.endings: list[str]
        """``"\\n"`` or ``"\\r\\n"`` a line; ``""`` for the last one."""
        self.lines, self.endings = split_text(plain_text(text))
        self._newline = "\n"
        """The first line ending that there was; a file may come to have none."""
        self._alike = "\r" not in text
        """All endings are the same but the last: of them only the number changes."""
        self.revision = 0
        self._marks: list[Mark] = []
        self._log = array("I")

    @classmethod
    def of(cls, path: str, form: Form, lines: list[str], endings: list[str]) -> Buffer:
        """A buffer with these lines, which are its own from now on."""
        buffer = cls(path)
        buffer.form, buffer.lines, buffer.endings = form, lines, endings
        buffer._alike = "\r\n" not in endings
        return buffer

    @property
    def line_count(self) -> int:
        """Number of lines; at least 1."""
        return len(self.lines)

    @property
    def end(self) -> Position:
        """The position behind the last character."""
        return (len(self.lines) - 1, len(self.lines[-1]))

    @property
    def newline(self) -> str:
        r"""The file's first line ending, which new lines get; ``"\n"`` if it never had one."""
        return self.endings[0] or self._newline

    def text(self) -> str:
        """The whole text with its line endings, without what is of its form."""
        return "".join(chain.from_iterable(zip(self.lines, self.endings, strict=True)))

    def encode(self) -> bytes:
        """The bytes of the file: UTF-8, in its form."""
        return self.form.encode(self.text())

    def clamp(self, position: Position) -> Position:
        """The nearest position that exists."""
        line = min(max(position[0], 0), len(self.lines) - 1)
        return (line, min(max(position[1], 0), len(self.lines[line])))

    def _exists(self, position: Position) -> bool:
        line, col = position
        return 0 <= line < len(self.lines) and 0 <= col <= len(self.lines[line])

    def slice(self, start: Position, end: Position) -> str:
        """The text between two positions, with line endings."""
        (row, col), (last, last_col) = start, end
        if row == last:
            return self.lines[row][col:last_col]
        parts = [self.lines[row][col:], self.endings[row]]
        for line in range(row + 1, last):
            parts += (self.lines[line], self.endings[line])
        parts.append(self.lines[last][:last_col])
        return "".join(parts)

    def replace(self, start: Position, end: Position, text: str) -> Change:
        """Replace ``start .. end`` by ``text``: the only way in which a buffer changes.

        The text's own line endings are kept as they are. Where a carriage return comes to
        stand before a newline, the change takes both in, so that it can be undone.

        Raises:
            ValueError: the range does not exist; nothing was changed.
        """
        if not (self._exists(start) and self._exists(end) and start <= end):
            raise ValueError(f"no such range in {self.path}: {start} to {end}")
        start, end, text = self._whole_endings(start, end, text)
        old_text, self._newline = self.slice(start, end), self.newline
        lines, endings = split_text(text)
        (row, col), (last, last_col) = start, end
        new_end = (
            row + len(lines) - 1,
            len(lines[-1]) + (col if len(lines) == 1 else 0),
        )
        head, tail = self.lines[row][:col], self.lines[last][last_col:]
        if len(lines) == 1:
            lines[0] = f"{head}{lines[0]}{tail}"
        else:
            lines[0], lines[-1] = head + lines[0], lines[-1] + tail
        endings[-1] = self.endings[last]
        stay = start == end and col > 0 and len(lines) > 1 and lines[0] == head and not tail
        self.lines[row : last + 1] = lines
        self._alike = self._alike and "\r" not in text
        if self._alike:
            more, at = len(lines) - (last - row + 1), len(self.endings) - 1
            self.endings[at + min(more, 0) : at] = endings[: max(more, 0)]
        else:
            self.endings[row : last + 1] = endings
        self.revision += 1
        self._log.extend((row, last - row + 1, len(lines)))
        if len(self._log) > 2 * 3 * _LOG_LENGTH:
            del self._log[: 3 * _LOG_LENGTH]
        change = Change(start, end, new_end, old_text, text)
        self._move_marks(change, stay=stay)
        return change

    def end_lines(self, newline: str) -> None:
        """Have all lines end alike; no position is another one then."""
        self.endings = [newline] * (len(self.lines) - 1) + [""]
        self._newline, self._alike = newline, newline == "\n"
        self.revision += 1
        self._log.extend((0, 0, 0))

    def mark(self, line: int, col: int = 0, *, right: bool = False) -> Mark:
        """A new mark, moved with every edit until it is released."""
        mark = Mark(line, col, right=right)
        self._marks.append(mark)
        return mark

    def release(self, *marks: Mark) -> None:
        """Stop moving these marks."""
        gone = set(map(id, marks))
        self._marks = [mark for mark in self._marks if id(mark) not in gone]

    @property
    def marked(self) -> bool:
        """True if marks move with its changes."""
        return bool(self._marks)

    def changes_since(self, revision: int) -> list[LineChange] | None:
        """The line changes after ``revision``, oldest first; None if too old: start over."""
        missing = self.revision - revision
        if missing < 0 or missing > len(self._log) // 3:
            return None
        log = self._log[len(self._log) - 3 * missing :]
        return list(map(LineChange, log[::3], log[1::3], log[2::3]))

    def _whole_endings(
        self, start: Position, end: Position, text: str
    ) -> tuple[Position, Position, str]:
        r"""Widen a change that would tear a ``\r`` from the ``\n`` behind it."""
        line, col = start
        before = self.lines[line][max(col - 1, 0) : col]  # not the head of a line of a megabyte
        bare_newline = end[1] == len(self.lines[end[0]]) and self.endings[end[0]] == "\n"
        if bare_newline and (text or before).endswith("\r"):
            end, text = (end[0] + 1, 0), text + "\n"
        if text.startswith("\n") and before.endswith("\r"):
            start, text = (start[0], start[1] - 1), "\r" + text
        return start, end, text

    def _move_marks(self, change: Change, *, stay: bool) -> None:
        """``stay``: lines were put behind a line; who is at its end stays in it."""
        start = change.start
        for mark in self._marks:
            here = (mark.line, mark.col)
            if here >= start:
                right = mark.right and not (stay and here == start)
                mark.line, mark.col = change.map(here, right=right)


def split_text(text: str) -> tuple[list[str], list[str]]:
    r"""Split into lines and their endings (``\\n`` or ``\\r\\n``; the last line has none)."""
    lines = text.split("\n")
    if "\r" not in text:
        return lines, ["\n"] * (len(lines) - 1) + [""]
    endings = []
    for index, line in enumerate(lines[:-1]):
        if line.endswith("\r"):
            lines[index] = line[:-1]
            endings.append("\r\n")
        else:
            endings.append("\n")
    endings.append("")
    return lines, endings
