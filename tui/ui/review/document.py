"""A diff as rows: made when they are looked at, however many hunks there are.

The height of every part is known from how many lines it has; who stands beside whom, and which
words differ, is found out for the rows on the screen.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal, NamedTuple

from tui.core.edits.hunk import UNDONE, Kind
from tui.core.text.diff_rows import Ranges, emphasis, paired
from tui.ui.review.changes import Change, FileChanges
from tui.ui.rows import breaks, one_line

CONTEXT = 3
"""Lines around a change that are shown."""
_FEWEST_FOLDED = 4
_MOST_NOTE_ROWS, _MOST_PLACES = 4, 12
SideKind = Literal["same", "removed", "added", "away", "kept", "lost"]
"""``away``: it would stand there, but does not (the hunk was rejected, or is not placed);
``kept``: it would go, but does not; ``lost``: it was not found."""


class Side(NamedTuple):
    """One line on one side."""

    kind: SideKind
    number: int | None
    """Its number in its text, from 1; None: it stands in none."""
    text: str
    row: int | None
    """Where its colours are, in the old text if it was removed, else in the new one."""
    ranges: Ranges = ()
    """What differs from the line beside it."""


class Row(NamedTuple):
    """What one row of the view is about."""

    kind: Literal["file", "hunk", "note", "fold", "line", "blank"]
    file: FileChanges
    change: Change | None = None
    old: Side | None = None
    new: Side | None = None
    text: str = ""
    gap: int = -1
    """Of a fold: the first row of the new text that it hides."""


class Look(NamedTuple):
    """How the rows are laid out."""

    width: int
    split: bool = False
    unfolded: bool = False
    opened: frozenset[tuple[str, int]] = frozenset()
    """Folds that were opened one by one: path and first row."""
    alone: bool = False
    """There is one file only: its name stands above the view already."""


class Head:
    """One row with words: a file's name, a hunk's state, a note, how many lines are folded."""

    __slots__ = ("_row", "change", "height")

    def __init__(self, row: Row) -> None:
        self.height = 1
        self.change = row.change
        self._row = row

    def row(self, index: int) -> Row:
        """Its row."""
        return self._row


class Context:
    """Lines that both sides have."""

    __slots__ = ("_delta", "_file", "_first", "change", "height")

    def __init__(self, file: FileChanges, rows: range, delta: int, change: Change | None) -> None:
        """``delta``: how many rows the new text has more above them; ``change``: the one near."""
        self.height = len(rows)
        self.change = change
        self._file, self._first, self._delta = file, rows.start, delta

    def row(self, index: int) -> Row:
        """One of its rows."""
        at = self._first + index
        text = self._file.lines[at]
        old = Side("same", at - self._delta + 1, text, at)
        return Row("line", self._file, self.change, old, Side("same", at + 1, text, at))


class Body:
    """The lines of a change: removed and added, or beside each other."""

    __slots__ = (
        "_beside",
        "_delta",
        "_file",
        "_grown",
        "_new",
        "_others",
        "_split",
        "change",
        "height",
    )

    def __init__(self, file: FileChanges, change: Change, delta: int, split: bool) -> None:
        self.change = change
        self._file, self._delta, self._split = file, delta, split
        self._new: Sequence[str] = (
            file.lines[change.first : change.last] if change.new is None else change.new
        )
        self._beside: list[tuple[int | None, int | None]] = []
        self._others: tuple[dict[int, int], dict[int, int]] = {}, {}
        """Old line -> the new one beside it, and back."""
        self._grown: list[int] = []
        old, new = len(change.old), len(self._new)
        self.height = new if change.marks else max(old, new) if split else old + new

    def row(self, index: int) -> Row:
        """One of its rows."""
        change = self.change
        if change.marks:
            return self._landing(index)
        old: int | None = None
        new: int | None = None
        if self._split:
            old, new = self._pairs()[index]
        elif index < len(change.old):
            old = index
        else:
            new = index - len(change.old)
        return Row("line", self._file, change, self._old(old), self._added(new))

    def _pairs(self) -> list[tuple[int | None, int | None]]:
        if not self._beside and self.height:
            self._beside = paired(self.change.old, self._new)
            both = [(a, b) for a, b in self._beside if a is not None and b is not None]
            self._others = dict(both), {b: a for a, b in both}
        return self._beside

    def _old(self, at: int | None) -> Side | None:
        if at is None:
            return None
        self._pairs()
        text, other = self.change.old[at], self._others[0].get(at)
        ranges = emphasis(text, self._new[other])[0] if other is not None else ()
        change = self.change
        if change.is_lost:
            return Side("lost", None, text, None, ranges)
        number = change.first - self._delta + at
        if change.new is not None and change.first < change.last:
            return Side("kept", number + 1, text, change.first + at, ranges)
        return Side("removed", number + 1, text, number, ranges)

    def _added(self, at: int | None) -> Side | None:
        if at is None:
            return None
        self._pairs()
        text, change, other = self._new[at], self.change, self._others[1].get(at)
        ranges = emphasis(change.old[other], text)[1] if other is not None else ()
        if change.new is not None:
            return Side("away", None, text, None, ranges)
        return Side("added", change.first + at + 1, text, change.first + at, ranges)

    def _landing(self, index: int) -> Row:
        change, at = self.change, self.change.first + index
        if not self._grown:
            self._grown = [0, *accumulate(mark == "landing" for mark in change.marks)]
        text, mark = self._new[index], change.marks[index]
        number = at - self._delta - self._grown[index] + 1
        if mark == "struck":
            return Row("line", self._file, change, Side("removed", number, text, number - 1))
        if mark == "landing":
            return Row("line", self._file, change, None, Side("added", at + 1, text, at))
        both = Side("same", number, text, at), Side("same", at + 1, text, at)
        return Row("line", self._file, change, *both)


Part = Head | Context | Body


@dataclass
class FileRows:
    """The rows of one file."""

    file: FileChanges
    parts: list[Part] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    height: int = 0
    stops: list[tuple[int, Change]] = field(default_factory=list)
    """Row and change of each thing that can be stepped to."""

    def add(self, part: Part) -> None:
        """Put a part below the others."""
        if part.height:
            self.parts.append(part)
            self.starts.append(self.height)
            self.height += part.height

    def part(self, row: int) -> tuple[Part, int]:
        """The part in a row, and which of its rows that is."""
        index = bisect_right(self.starts, row) - 1
        return self.parts[index], row - self.starts[index]


def file_rows(file: FileChanges, look: Look) -> FileRows:
    """Lay a file out."""
    rows = FileRows(file)
    if not look.alone:
        rows.add(Head(Row("file", file)))
    for text in _wrapped(file.note, look.width):
        rows.add(Head(Row("note", file, None, text=text)))
    if not file.changes:
        rows.add(Head(Row("blank", file)))
        return rows
    at = delta = 0
    before: Change | None = None
    for change in file.changes:
        if _stands_nowhere(file, change):
            continue
        fresh = before is None or change.hunk is None or before.hunk is not change.hunk
        near = _gap(rows, look, (at, change.first, delta), (before, change if fresh else None))
        if fresh:
            _head(rows, change, look.width)
        if near:
            rows.add(Context(file, near, delta, change))
        rows.add(Body(file, change, delta, look.split))
        at, before, delta = max(at, change.last), change, delta + change.grows
    rest = _gap(rows, look, (at, len(file.lines), delta), (before, None))
    if rest and look.unfolded:
        rows.add(Context(file, rest, delta, None))
    for change in file.changes:
        if _stands_nowhere(file, change):  # no lines belong around it
            _head(rows, change, look.width)
            rows.add(Body(file, change, delta, look.split))
    rows.add(Head(Row("blank", file)))
    return rows


def _stands_nowhere(file: FileChanges, change: Change) -> bool:
    return change.is_lost and change.first >= len(file.lines)


def _gap(
    rows: FileRows,
    look: Look,
    where: tuple[int, int, int],
    between: tuple[Change | None, Change | None],
) -> range:
    """The lines between two changes; returns those that belong below the next one's header."""
    first, last, delta = where
    before, behind = between
    file = rows.file
    if last <= first:
        return range(0)
    above = first if before is None else min(first + CONTEXT, last)
    below = last if behind is None and last == len(file.lines) else max(last - CONTEXT, above)
    whole = look.unfolded or (file.path, above) in look.opened
    if (whole or below - above < _FEWEST_FOLDED) and before is None:
        return range(first, last)
    if whole or below - above < _FEWEST_FOLDED:
        rows.add(Context(file, range(first, below), delta, before or behind))
    else:
        rows.add(Context(file, range(first, above), delta, before))
        hidden = below - above
        words = f"{hidden:,} line{'s' if hidden > 1 else ''}"
        rows.add(Head(Row("fold", file, None, text=words, gap=above)))
    return range(below, last)


def _head(rows: FileRows, change: Change, width: int) -> None:
    """The change's own row, and why a person must look at it."""
    rows.stops.append((rows.height, change))
    rows.add(Head(Row("hunk", rows.file, change)))
    for note in notes(change):
        for text in _wrapped(note, width):
            rows.add(Head(Row("note", rows.file, change, text=text)))


def notes(change: Change) -> list[str]:
    """What is said of a hunk beside its state: flags, reason, the user's words."""
    hunk = change.hunk
    if hunk is None:
        return []
    found = [f"⚑ {flag}" for flag in hunk.flags]
    found += [hunk.reason] if hunk.reason else []
    if hunk.words and hunk.words != UNDONE:
        found.append(f"you said: {hunk.words}")
    if len(hunk.candidates) > 1 and not (hunk.placeable and "fits at" in hunk.reason):
        places = ", ".join(f"L{line + 1}" for line in hunk.candidates[:_MOST_PLACES])
        found.append(f"fits at {places}" if hunk.placeable else f"may belong at {places}")
    if hunk.kind is Kind.MOVE:
        found.append(f"moves to {hunk.target}")
    if (
        hunk.base
        and hunk.base != hunk.agent
        and hunk.base.split()
        and _only_endings(hunk.base, hunk.agent)
    ):
        found.append("only line endings change")
    return found


def _only_endings(base: str, agent: str) -> bool:
    same_length = abs(len(base) - len(agent)) <= base.count("\n") + agent.count("\n") + 1
    return same_length and base.splitlines() == agent.splitlines()


def _wrapped(text: str, width: int) -> list[str]:
    if not text:
        return []
    line = one_line(text)
    return [line[a:b] for a, b in breaks(line, max(width - 10, 16))[:_MOST_NOTE_ROWS]]


class Document:
    """The rows of all files, one below the other."""

    def __init__(self, files: Sequence[FileRows]) -> None:
        self.files = files
        self.starts: list[int] = []
        self.height = 0
        for file in files:
            self.starts.append(self.height)
            self.height += file.height

    def row(self, number: int) -> Row:
        """A row, 0-based; it must be there."""
        file, at = self.file_at(number)
        part, index = file.part(at)
        return part.row(index)

    def file_at(self, number: int) -> tuple[FileRows, int]:
        """The file in a row, and which of its rows that is."""
        index = max(bisect_right(self.starts, number) - 1, 0)
        return self.files[index], number - self.starts[index]

    def change_at(self, number: int) -> Change | None:
        """The change that a row belongs to, or is near to."""
        if not 0 <= number < self.height:
            return None
        file, at = self.file_at(number)
        part, _ = file.part(at)
        return part.change

    def stops(self) -> list[tuple[int, Change]]:
        """Row and change of everything that can be stepped to."""
        return [
            (start + row, change)
            for start, file in zip(self.starts, self.files, strict=True)
            for row, change in file.stops
        ]
