"""A diff as rows: made when they are looked at, however many hunks there are.

The height of every part is known from how many lines it has; who stands beside whom, and which
words differ, is found out for the rows on the screen.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

from msgspec import Struct, field

from tui.core.document.hunk import Kind
from tui.core.steps import Work
from tui.core.text.diff import Ranges, emphasis, paired
from tui.ui.conversation.hunk_card import reasons
from tui.ui.editor.overview import OverviewMark, coarser, kind_of_hunk
from tui.ui.review.changes import DiffChange, FileChanges, HunkCounts
from tui.ui.styled_text import breaks, one_line

CONTEXT = 3
"""Lines around a change that are shown."""
_FEWEST_FOLDED = 4
_MOST_NOTE_ROWS, _MOST_PLACES = 4, 12
SideKind = Literal["same", "removed", "added", "away", "kept", "lost"]
"""``away``: it would stand there, but does not (the hunk was rejected, or is not placed);
``kept``: it would go, but does not; ``lost``: it was not found."""


class DiffSide(NamedTuple):
    """One line on one side."""

    kind: SideKind
    number: int | None
    """Its number in its text, from 1; None: it stands in none."""
    text: str
    row: int | None
    """Where its colours are, in the old text if it was removed, else in the new one."""
    ranges: Ranges = ()
    """What differs from the line beside it."""


class DiffRow(NamedTuple):
    """What one row of the view is about."""

    kind: Literal["file", "hunk", "note", "fold", "line", "blank"]
    file: FileChanges
    change: DiffChange | None = None
    old: DiffSide | None = None
    new: DiffSide | None = None
    text: str = ""
    gap: int = -1
    """Of a fold: the first row of the new text that it hides."""


class DiffOptions(NamedTuple):
    """How the rows are laid out."""

    width: int
    split: bool = False
    unfolded: bool = False
    opened: frozenset[tuple[str, int]] = frozenset()
    """Folds that were opened one by one: path and first row."""
    alone: bool = False
    """There is one file only: its name stands above the view already."""


class HeadRow:
    """One row with words: a file's name, a hunk's state, a note, how many lines are folded."""

    __slots__ = ("_row", "change", "height")

    def __init__(self, row: DiffRow) -> None:
        self.height = 1
        self.change = row.change
        self._row = row

    @property
    def begins(self) -> bool:
        """True for the row of a change that can be stepped to."""
        return self._row.kind == "hunk"

    def row(self, index: int) -> DiffRow:
        """Its row."""
        return self._row


class ContextLines:
    """Lines that both sides have."""

    __slots__ = ("_delta", "_file", "_first", "change", "height")

    def __init__(
        self, file: FileChanges, rows: range, delta: int, change: DiffChange | None
    ) -> None:
        """``delta``: how many rows the new text has more above them; ``change``: the one near."""
        self.height = len(rows)
        self.change = change
        self._file, self._first, self._delta = file, rows.start, delta

    def row(self, index: int) -> DiffRow:
        """One of its rows."""
        at = self._first + index
        text = self._file.lines[at]
        old = DiffSide("same", at - self._delta + 1, text, at)
        return DiffRow("line", self._file, self.change, old, DiffSide("same", at + 1, text, at))


class ChangeLines:
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

    def __init__(
        self, file: FileChanges, change: DiffChange, delta: int, look: DiffOptions
    ) -> None:
        self.change = change
        self._file, self._delta, self._split = file, delta, look.split
        self._new: Sequence[str] = (
            file.lines[change.first : change.last] if change.new is None else change.new
        )
        self._beside: Sequence[tuple[int | None, int | None]] = ()
        self._others: tuple[dict[int, int], dict[int, int]] = _NOT_YET
        """Old line -> the new one beside it, and back."""
        self._grown: Sequence[int] = ()
        old, new = len(change.old), len(self._new)
        self.height = new if change.marks else max(old, new) if look.split else old + new

    def row(self, index: int) -> DiffRow:
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
        return DiffRow("line", self._file, change, self._old(old), self._added(new))

    def _pairs(self) -> Sequence[tuple[int | None, int | None]]:
        if not self._beside and self.height:
            self._beside = paired(self.change.old, self._new)
            both = [(a, b) for a, b in self._beside if a is not None and b is not None]
            self._others = dict(both), {b: a for a, b in both}
        return self._beside

    def _old(self, at: int | None) -> DiffSide | None:
        if at is None:
            return None
        self._pairs()
        text, other = self.change.old[at], self._others[0].get(at)
        ranges = emphasis(text, self._new[other])[0] if other is not None else ()
        change = self.change
        if change.is_lost:
            return DiffSide("lost", None, text, None, ranges)
        number = change.first - self._delta + at
        if change.new is not None and change.first < change.last:
            return DiffSide("kept", number + 1, text, change.first + at, ranges)
        return DiffSide("removed", number + 1, text, number, ranges)

    def _added(self, at: int | None) -> DiffSide | None:
        if at is None:
            return None
        self._pairs()
        text, change, other = self._new[at], self.change, self._others[1].get(at)
        ranges = emphasis(change.old[other], text)[1] if other is not None else ()
        if change.new is not None:
            return DiffSide("away", None, text, None, ranges)
        return DiffSide("added", change.first + at + 1, text, change.first + at, ranges)

    def _landing(self, index: int) -> DiffRow:
        change, at = self.change, self.change.first + index
        if not self._grown:
            self._grown = [0, *accumulate(mark == "landing" for mark in change.marks)]
        text, mark = self._new[index], change.marks[index]
        number = at - self._delta - self._grown[index] + 1
        if mark == "struck":
            return DiffRow(
                "line", self._file, change, DiffSide("removed", number, text, number - 1)
            )
        if mark == "landing":
            return DiffRow("line", self._file, change, None, DiffSide("added", at + 1, text, at))
        both = DiffSide("same", number, text, at), DiffSide("same", at + 1, text, at)
        return DiffRow("line", self._file, change, *both)


_NOT_YET: tuple[dict[int, int], dict[int, int]] = ({}, {})
RowsPart = HeadRow | ContextLines | ChangeLines
_NOWHERE = -1
_MOST_MADE = 64
"""So many changes' rows are kept for the next time that they are asked for."""


class FileRows:
    """The rows of one file; of each change is kept where they begin, and how to make them."""

    def __init__(self, file: FileChanges, look: DiffOptions) -> None:
        self.file = file
        self.height = 0
        self.stops: list[DiffChange] = []
        """What can be stepped to."""
        self.rows = array("q")
        """The rows of these."""
        self._look = look
        self._starts = array("q")
        self._changes: list[DiffChange | None] = []
        """Whose rows begin there; None: they are among the fixed ones."""
        self._fixed: dict[int, list[RowsPart]] = {}
        self._reached = array("q")
        """Up to which row of the new text all is shown above the change; `_NOWHERE`."""
        self._deltas = array("q")
        """How many rows the new text has more above the change."""
        self._notes: dict[int, list[str]] = {}
        """What was said of a change when it was laid out: most need no words."""
        self._made: dict[int, list[RowsPart]] = {}
        """Those in sight, more or less."""

    def fix(self, *parts: RowsPart) -> None:
        """Put parts below the others."""
        self._fixed[len(self._changes)] = [*parts]
        self._begin(None, 0, 0)
        self.height += sum(part.height for part in parts)

    def add(self, change: DiffChange, reached: int, delta: int) -> None:
        """Put a change below the others."""
        index = len(self._changes)
        fresh = self._is_fresh(change, index)
        if fresh and (said := notes(change)):
            self._notes[index] = [one for note in said for one in _wrapped(note, self._look.width)]
        self._begin(change, reached, delta)
        for part in self._parts(index):
            if fresh and isinstance(part, HeadRow) and part.begins:
                self.stops.append(change)
                self.rows.append(self.height)
            self.height += part.height

    def _begin(self, change: DiffChange | None, reached: int, delta: int) -> None:
        self._starts.append(self.height)
        self._changes.append(change)
        self._reached.append(reached)
        self._deltas.append(delta)

    def _is_fresh(self, change: DiffChange, index: int) -> bool:
        """Whether it has a row of its own: it is not a further part of the hunk before it."""
        before = self._changes[index - 1]
        return before is None or change.hunk is None or before.hunk is not change.hunk

    def _parts(self, index: int) -> list[RowsPart]:
        """What shows one change: the lines above it, its own row and notes, its lines."""
        change = self._changes[index]
        if change is None:
            return self._fixed[index]
        file, look, delta = self.file, self._look, self._deltas[index]
        above: list[RowsPart] = []
        near, fresh = range(0), self._is_fresh(change, index)
        if (reached := self._reached[index]) != _NOWHERE:
            between = self._changes[index - 1], change if fresh else None
            above, near = _gap(file, look, (reached, change.first, delta), between)
        own = [HeadRow(DiffRow("hunk", file, change))] if fresh else []
        own += [
            HeadRow(DiffRow("note", file, change, text=one)) for one in self._notes.get(index, ())
        ]
        return [
            *above,
            *own,
            ContextLines(file, near, delta, change),
            ChangeLines(file, change, delta, look),
        ]

    def part(self, row: int) -> tuple[RowsPart, int]:
        """The part in a row, and which of its rows that is."""
        index = bisect_right(self._starts, row) - 1
        parts = self._made.get(index)
        if parts is None:
            if len(self._made) >= _MOST_MADE:
                self._made.clear()
            parts = self._made[index] = self._parts(index)
        row -= self._starts[index]
        for part in parts:
            if row < part.height:
                break
            row -= part.height
        return part, row


def laying_rows(file: FileChanges, look: DiffOptions) -> Work[FileRows]:
    """Lay a file out, with a pause after each change."""
    rows = FileRows(file, look)
    name = [] if look.alone else [HeadRow(DiffRow("file", file))]
    words = [
        HeadRow(DiffRow("note", file, None, text=text)) for text in _wrapped(file.note, look.width)
    ]
    rows.fix(*name, *words)
    at = delta = 0
    before: DiffChange | None = None
    nowhere: list[DiffChange] = []
    for change in file.changes:
        yield
        if change.is_lost and change.first >= len(file.lines):
            nowhere.append(change)
            continue
        rows.add(change, at, delta)
        at, before, delta = max(at, change.last), change, delta + change.grows
    if file.changes:
        above, rest = _gap(file, look, (at, len(file.lines), delta), (before, None))
        rows.fix(*above, ContextLines(file, rest if look.unfolded else range(0), delta, None))
    for change in nowhere:  # no lines belong around it
        rows.add(change, _NOWHERE, delta)
        yield
    rows.fix(HeadRow(DiffRow("blank", file)))
    return rows


def _gap(
    file: FileChanges,
    look: DiffOptions,
    where: tuple[int, int, int],
    between: tuple[DiffChange | None, DiffChange | None],
) -> tuple[list[RowsPart], range]:
    """The lines between two changes, and those that belong below the next one's header."""
    first, last, delta = where
    before, behind = between
    if last <= first:
        return [], range(0)
    above = first if before is None else min(first + CONTEXT, last)
    below = last if behind is None and last == len(file.lines) else max(last - CONTEXT, above)
    if look.unfolded or (file.path, above) in look.opened or below - above < _FEWEST_FOLDED:
        if before is None:
            return [], range(first, last)
        return [ContextLines(file, range(first, below), delta, before)], range(below, last)
    hidden = below - above
    words = f"{hidden:,} line{'s' if hidden > 1 else ''}"
    fold = HeadRow(DiffRow("fold", file, None, text=words, gap=above))
    return [ContextLines(file, range(first, above), delta, before), fold], range(below, last)


def notes(change: DiffChange) -> list[str]:
    """What is said of a hunk beside its state: flags, reason, the user's words."""
    hunk = change.hunk
    if hunk is None:
        return []
    found = reasons(hunk)
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


class DiffDocument:
    """The rows of all files, one below the other."""

    def __init__(self, files: Sequence[FileRows]) -> None:
        self.files = files
        self.starts: list[int] = []
        self.height = 0
        for file in files:
            self.starts.append(self.height)
            self.height += file.height

    def row(self, number: int) -> DiffRow:
        """A row, 0-based; it must be there."""
        file, at = self.file_at(number)
        part, index = file.part(at)
        return part.row(index)

    def file_at(self, number: int) -> tuple[FileRows, int]:
        """The file in a row, and which of its rows that is."""
        index = max(bisect_right(self.starts, number) - 1, 0)
        return self.files[index], number - self.starts[index]


_GRAIN = 1000
"""The marks at the right edge are no finer than this part of all rows."""
Key = tuple[str, int]
"""Names a change for longer than one layout: its file and its hunk, or its place in the file."""


class DiffLayout(Struct):
    """The rows of all files, and the places in them."""

    files: Sequence[FileChanges] = ()
    wanted: DiffOptions | None = None
    """How it was to be laid out."""
    document: DiffDocument = field(default_factory=lambda: DiffDocument([]))
    stops: list[DiffChange] = field(default_factory=list)
    """Everything that can be stepped to."""
    rows: array[int] = field(default_factory=lambda: array("q"))
    """The rows of these."""
    numbers: array[int] = field(default_factory=lambda: array("q"))
    """The ids of their hunks, 0 for a change that is no hunk."""
    marks: Sequence[OverviewMark] = ()
    """Where the changes stand among all rows, each as long as what it shows."""
    counts: HunkCounts = field(default_factory=HunkCounts)

    def place(self, key: Key) -> int | None:
        """Where the change of that name is among the stops; None: nowhere."""
        path, number = key
        if not path:
            return self.numbers.index(number) if number in self.numbers else None
        at = 0
        for part in self.document.files:
            if part.file.path == path:
                firsts = (change.first for change in part.stops)
                return next((at + i for i, first in enumerate(firsts) if first == number), None)
            at += len(part.stops)
        return None


def laying_out(
    files: Work[list[FileChanges]] | Sequence[FileChanges], look: DiffOptions
) -> Work[DiffLayout]:
    """Lay out files, or what becomes them, with a pause after each change."""
    made = files if isinstance(files, Sequence) else (yield from files)
    layout = DiffLayout(made, look)
    parts: list[FileRows] = []
    look = look._replace(alone=len(made) == 1)
    for file in made:
        layout.counts.add(file.counts)
        parts.append((yield from laying_rows(file, look)))
    layout.document = DiffDocument(parts)
    for start, part in zip(layout.document.starts, parts, strict=True):
        for row, change in zip(part.rows, part.stops, strict=True):
            layout.stops.append(change)
            layout.rows.append(start + row)
            layout.numbers.append(change.number)
            yield
    layout.marks = yield from _marks(layout)
    return layout


def key_of(change: DiffChange, file: FileChanges) -> Key:
    """The name of a change of this file."""
    if change.hunk is not None:
        return "", change.hunk.id
    return file.path, change.first


def _marks(layout: DiffLayout) -> Work[list[OverviewMark]]:
    found: dict[OverviewMark, None] = {}
    height = layout.document.height
    grain = max(height // _GRAIN, 1)
    for index, change in enumerate(layout.stops):
        row = layout.rows[index]
        end = layout.rows[index + 1] if index + 1 < len(layout.rows) else height
        shown = max(len(change.old), change.last - change.first) + 1
        found[coarser(OverviewMark(row, min(row + shown, end), kind_of(change)), grain)] = None
        yield
    return list(found)


def kind_of(change: DiffChange) -> str:
    """How a change is coloured in the strip: as its hunk stands, else by what it does."""
    if change.hunk is not None:
        return kind_of_hunk(change.hunk) or "struck"
    return "struck" if change.last <= change.first else "accepted"
