"""Notes on the lines of one text; they stay with their lines and are no part of the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from tui.core.text.anchors import AnchorIndex, RowAnchor
from tui.core.text.buffer import Buffer
from tui.core.text.rows import Span

Severity = Literal["", "error", "warning", "hint"]
"""Of what a model found; empty: the user says it."""


class Note(Struct, eq=False):
    """Some words about a line."""

    id: int
    path: str
    text: str
    severity: Severity = ""
    turn: int = 0
    """It went to the model with this turn, or a model found it in it; 0: it waits to be sent."""
    line: str = ""
    """What its line says, or said when it was last there."""
    lost: bool = False
    """Its line is gone, or another one: it waits among the rows that took its place."""
    offset: int = 0
    """Of a lost one: how far below the first of these it is."""
    anchor: RowAnchor[Note] | None = None
    """Where it stands; None: nowhere."""

    @property
    def by_model(self) -> bool:
        """A model found it."""
        return bool(self.severity)

    @property
    def waits(self) -> bool:
        """It goes with the next request."""
        return not self.turn

    @property
    def row(self) -> int | None:
        """Its line, 0-based; None: it has none."""
        if self.anchor is None:
            return None
        first, last = self.anchor.rows
        return first + max(min(self.offset, last - first - 1), 0)


class KeptNote(Struct, frozen=True, array_like=True):
    """A note as it is kept of a session."""

    id: int
    path: str
    row: int | None
    """0-based; None: nowhere."""
    text: str
    line: str = ""
    severity: Severity = ""
    turn: int = 0
    lost: bool = False


class LineNotes:
    """The notes on one text."""

    def __init__(self) -> None:
        self._anchors: AnchorIndex[Note] = AnchorIndex()
        self._count = 0

    def __bool__(self) -> bool:
        return self._count > 0

    def put(self, note: Note, row: int, buffer: Buffer) -> None:
        """A note stands on a row from now on."""
        note.anchor = self._anchors.add(note, (row, row + 1), note.id)
        note.line, note.lost, note.offset = buffer.lines[row], False, 0
        self._count += 1

    def take_out(self, note: Note) -> None:
        """It stands here no more."""
        if note.anchor is not None:
            self._anchors.remove(note.anchor)
            note.anchor = None
            self._count -= 1

    def among(self, first: int, last: int) -> list[tuple[int, Note]]:
        """The notes on rows ``first .. last``, each with its row; the oldest of a row first."""
        notes = (anchor.item for anchor in self._anchors.touching(first, last))
        found = [(note.row or 0, note) for note in notes]
        return sorted(
            ((row, note) for row, note in found if first <= row <= last),
            key=lambda one: (one[0], one[1].id),
        )

    def __iter__(self) -> Iterator[Note]:
        return iter(self._anchors.rows())

    def follow(self, buffer: Buffer, span: Span) -> None:
        """Rows of the text changed; the buffer is as it is after that.

        A note whose line is taken out or written anew waits there, and is on its line again when
        that comes back: by an undo, by a hunk that is rejected, from the disk.
        """
        row, n_old, n_new = span
        before = [(a, *a.rows) for a in self._anchors.touching(row, row + n_old)]
        self._anchors.move(span)
        for anchor, first, last in before:
            note = anchor.item
            if not (note.lost or row <= first < row + n_old):
                continue
            top = min(first, row) if note.lost else row
            end = max(last, row + n_old) if note.lost else row + n_old
            offset = note.offset + first - top if note.lost else first - row
            self._settle(note, anchor, (top, end + n_new - n_old, offset), (buffer, span))

    def _settle(
        self,
        note: Note,
        anchor: RowAnchor[Note],
        place: tuple[int, int, int],
        change: tuple[Buffer, Span],
    ) -> None:
        """Find the line of a note among new rows; else it is somewhere in ``place``.

        That is its first row, the one behind its last, and how far below the first it was.
        """
        (top, end, offset), (buffer, (row, n_old, n_new)) = place, change
        found = _nearest(buffer, note.line, range(row, row + n_new), top + offset)
        if found is None and n_old == n_new and not note.lost:
            found = top + offset
            note.line = buffer.lines[found]
        note.lost, note.offset = found is None, offset if found is None else 0
        anchor.put((top, end) if found is None else (found, found + 1))


def _nearest(buffer: Buffer, line: str, rows: Iterable[int], row: int) -> int | None:
    """Of the rows that say this the one nearest to ``row``."""
    same = [one for one in rows if one < buffer.line_count and buffer.lines[one] == line]
    return min(same, key=lambda one: abs(one - row), default=None)
