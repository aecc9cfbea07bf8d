"""What changed in each file, as a diff view shows it: a copy of one moment, for any layout.

The new side is the buffer as it stands, so what is shown is what would be accepted; the old side
is what each hunk replaced. A hunk that is rejected stays where it would stand.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from msgspec import Struct, field

from tui.core.document.hunk import OPEN, PLACED, Decision, Hunk, Kind, Stage
from tui.core.document.hunk_list import waits
from tui.core.document.workspace import Workspace
from tui.core.steps import Work, finished
from tui.core.text.buffer import Buffer, split_text
from tui.core.text.diff import LineBlock, blocks, trimmed
from tui.engine.intents import Against
from tui.engine.session import Session

_NEAR = 64
"""Lines around the expected one in which a rejected hunk's old text is looked for."""


class DiffChange(NamedTuple):
    """One change of a file."""

    first: int
    """First row of the new text that it is about."""
    last: int
    """The row behind the last one."""
    old: Sequence[str]
    """The lines that stood there."""
    new: Sequence[str] | None = None
    """The lines that would stand there, where they do not; None: they do."""
    hunk: Hunk | None = None
    marks: Sequence[str] = ()
    """Of a hunk that is landing, for each row what it is: ``landing``, ``struck`` or nothing."""

    @property
    def number(self) -> int:
        """The id of its hunk, by which the model is told of it; 0 if it is no hunk."""
        return 0 if self.hunk is None else self.hunk.id

    @property
    def is_there(self) -> bool:
        """True if the rows that it is about are in the new text."""
        return self.new is None or self.first < self.last or not self.old

    @property
    def is_lost(self) -> bool:
        """True if the lines that it would replace were not found."""
        return not self.is_there and self.hunk is not None and self.hunk.kind is Kind.EDIT

    @property
    def grows(self) -> int:
        """How many rows the new text has more than the old one for it."""
        if self.marks:
            return sum(mark == "landing" for mark in self.marks)
        return 0 if self.new is not None else self.last - self.first - len(self.old)


class HunkCounts(Struct):
    """How many hunks there are, how they stand, and how many lines they change."""

    total: int = 0
    waiting: int = 0
    """To be decided on, or to be placed."""
    conflicts: int = 0
    """Of these it is to be said what stays."""
    accepted: int = 0
    rejected: int = 0
    refused: int = 0
    decided: int = 0
    """They wait for nothing: the user has decided, or they came to nothing."""
    landing: int = 0
    """They still come in."""
    added: int = 0
    removed: int = 0

    def count(self, hunk: Hunk) -> None:
        """Take one hunk in."""
        open_to = hunk.decidable or hunk.placeable
        self.total += 1
        self.waiting += open_to
        self.conflicts += not open_to and waits(hunk)
        self.accepted += hunk.decision is Decision.ACCEPTED
        self.rejected += hunk.decision is Decision.REJECTED
        self.refused += hunk.stage is Stage.REFUSED
        self.decided += not _waits(hunk)
        self.landing += hunk.comes_in
        self.added += hunk.added
        self.removed += hunk.removed

    def add(self, other: HunkCounts) -> None:
        """Take those of another one in."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class FileChanges(Struct):
    """One file and its changes, in the order of the text."""

    path: str
    lines: Sequence[str]
    """The new text; empty if there is none."""
    changes: list[DiffChange]
    buffer: Buffer | None = None
    """Whose colours the new text has; None: it has none."""
    words: str = ""
    """What the file is, beside its changes: ``new file``, ``deleted``."""
    note: str = ""
    """A sentence shown instead of lines, or above them."""
    hunks: list[Hunk] = field(default_factory=list)
    """All hunks of the file that are shown, in order of their coming."""
    counts: HunkCounts = field(default_factory=HunkCounts)
    """How these stood when the copy was made."""
    old: list[str] = field(default_factory=list)
    """The old text, for its colours; what overlaps is left as it is."""

    def without_changes(self) -> Work[list[str]]:
        """Work out the old text, with a pause after each change."""
        found: list[str] = []
        at = 0
        for change in self.changes:
            yield
            if change.first < at:
                continue
            found += self.lines[at : change.first]
            if change.marks:
                rows = zip(self.lines[change.first : change.last], change.marks, strict=True)
                found += [line for line, mark in rows if mark != "landing"]
            elif not change.is_lost:
                found += change.old
            at = change.last
        return found + list(self.lines[at:])


def of_texts(
    path: str, old: Sequence[str], lines: Sequence[str], buffer: Buffer | None = None
) -> FileChanges:
    """What makes a new text of an old one; ``buffer`` has the new one's colours."""
    found = [
        DiffChange(b.new_first, b.new_last, old[b.old_first : b.old_last])
        for b in blocks(old, lines)
    ]
    file = FileChanges(path, lines, found, buffer)
    file.counts.added = sum(change.last - change.first for change in found)
    file.counts.removed = sum(len(change.old) for change in found)
    file.old = finished(file.without_changes())
    return file


def making(
    workspace: Workspace, hunks: Iterable[Hunk], places: Mapping[int, int] | None = None
) -> Work[list[FileChanges]]:
    """What these hunks do, a file each, in the order in which the files came.

    There is a pause after each hunk; a file is shown as it is when its turn comes. ``places``:
    hunk id -> which of its candidates an ambiguous one is shown at; else the first.
    """
    files: dict[str, list[Hunk]] = {}
    for hunk in hunks:
        files.setdefault(hunk.path, []).append(hunk)
        yield
    made: list[FileChanges] = []
    for path, found in files.items():
        made.append((yield from _file(workspace, path, found, places or {})))
    return made


def _file(
    workspace: Workspace, path: str, hunks: list[Hunk], places: Mapping[int, int]
) -> Work[FileChanges]:
    buffer, record = workspace.buffers.get(path), workspace.documents.records.get(path)
    lines = [] if buffer is None else without_end(buffer.lines.copy())
    stood = record.live.rows() if record is not None else {}
    file = FileChanges(path, lines, [], buffer, hunks=hunks)
    kinds: set[Kind] = set()
    for hunk in hunks:
        file.counts.count(hunk)
        if hunk.decision is not Decision.REJECTED:
            kinds.add(hunk.kind)
        yield
    file.words = _words(kinds)
    if Kind.DELETE in kinds:
        for hunk in hunks:
            old = _lines(hunk.base) if hunk.kind is Kind.DELETE else ()
            file.changes.append(DiffChange(0, 0, old, (), hunk))
        file.lines, file.buffer = (), None
        file.old = yield from file.without_changes()
        return file
    unplaced, in_order = _Unplaced(lines, places), True
    for hunk in hunks:
        for change in _of_hunk(workspace, file, hunk, (unplaced, stood.get(hunk))):
            in_order = in_order and (not file.changes or _order(file.changes[-1]) <= _order(change))
            file.changes.append(change)
        yield
    if not in_order:
        file.changes.sort(key=_order)
    file.old = yield from file.without_changes()
    return file


def _order(change: DiffChange) -> tuple[int, int, int]:
    return change.first, change.last, change.number


def _waits(hunk: Hunk) -> bool:
    if hunk.decision is not Decision.PENDING:
        return False
    return hunk.stage in OPEN or hunk.stage is Stage.CONFLICT or hunk.decidable


def _words(kinds: set[Kind]) -> str:
    if Kind.DELETE in kinds:
        return "deleted"
    if Kind.ADD in kinds:
        return "new file"
    return "moved" if Kind.MOVE in kinds else ""


def _of_hunk(
    workspace: Workspace,
    file: FileChanges,
    hunk: Hunk,
    where: tuple[_Unplaced, tuple[int, int] | None],
) -> list[DiffChange]:
    """The changes of one hunk: one, or several where the whole text was written anew.

    ``where``: how the rows of one that does not stand in the text are found, and of one that
    does, where it stood when the lines were copied.
    """
    unplaced, stood = where
    rows = _rows(hunk, stood, len(file.lines))
    if hunk.kind is Kind.MOVE:
        return [DiffChange(0, 0, (), (), hunk)]
    if hunk.stage in OPEN and rows is not None and rows:
        found = workspace.decorations(file.path, rows.start, rows.stop - 1)
        marks = [kind if (kind := found.get(row)) in ("landing", "struck") else "" for row in rows]
        return [DiffChange(rows.start, rows.stop, (), None, hunk, marks)]
    out = hunk.decision is Decision.REJECTED or hunk.stage not in PLACED
    if out or rows is None:
        return [_out(hunk, unplaced)]
    old = _lines(hunk.base)
    if hunk.kind is Kind.ADD and old:
        return _rewritten(old, file.lines, (rows, hunk))
    block = trimmed(old, file.lines, LineBlock(0, len(old), rows.start, rows.stop))
    return [
        DiffChange(
            block.new_first,
            block.new_last,
            old[block.old_first : block.old_last],
            None,
            hunk,
        )
    ]


def _out(hunk: Hunk, unplaced: _Unplaced) -> DiffChange:
    """A hunk whose text does not stand there, as it was when it did."""
    first, last = unplaced.place(hunk)
    old, new = _lines(hunk.base), _lines(hunk.agent)
    if first == last:
        return DiffChange(first, last, old, new, hunk)
    block = trimmed(old, new, LineBlock(0, len(old), 0, len(new)))
    rows = first + block.old_first, first + block.old_last
    removed = old[block.old_first : block.old_last]
    return DiffChange(*rows, removed, new[block.new_first : block.new_last], hunk)


def _rewritten(
    old: Sequence[str], lines: Sequence[str], stood: tuple[range, Hunk]
) -> list[DiffChange]:
    rows, hunk = stood
    new = lines[rows.start : rows.stop]
    found = [
        DiffChange(
            rows.start + b.new_first,
            rows.start + b.new_last,
            old[b.old_first : b.old_last],
            None,
            hunk,
        )
        for b in blocks(old, new)
    ]
    return found or [DiffChange(rows.start, rows.start, (), None, hunk)]


def _rows(hunk: Hunk, stood: tuple[int, int] | None, count: int) -> range | None:
    if stood is None:
        if hunk.start is None or hunk.end is None:
            return None
        stood = hunk.start.line, hunk.end.line
    first = min(max(stood[0], 0), count)
    return range(first, min(max(stood[1], first), count))


class _Unplaced:
    """Where hunks would stand that do not: their marks stayed behind when the text moved on."""

    def __init__(self, lines: Sequence[str], places: Mapping[int, int]) -> None:
        self._lines = lines
        self._places = places
        self._shift = 0

    def place(self, hunk: Hunk) -> tuple[int, int]:
        """The rows that the hunk would change; an empty range if they are not to be found."""
        base = _lines(hunk.base)
        if hunk.start is None:  # it never stood anywhere
            return self._nowhere(hunk, base)
        stood = hunk.start.line
        expected = min(max(stood + self._shift, 0), len(self._lines))
        for away in range(_NEAR if base else 0):
            for first in (expected + away, expected - away):
                if first >= 0 and self._lines[first : first + len(base)] == base:
                    self._shift = first - stood
                    return first, first + len(base)
        return expected, expected

    def _nowhere(self, hunk: Hunk, base: Sequence[str]) -> tuple[int, int]:
        """At the chosen candidate, or where the conflict is; else behind everything."""
        away = _NEAR if base else 0
        if hunk.candidates:
            section = hunk.candidates[self._places.get(hunk.id, 0) % len(hunk.candidates)]
        elif hunk.stage is Stage.CONFLICT and hunk.near is not None:
            section, away = hunk.near, min(away, 1)
        else:
            return len(self._lines), len(self._lines)
        section = min(section, len(self._lines))
        for first in range(section, section + away):
            if self._same(first, base):
                return first, first + len(base)
        return section, section

    def _same(self, first: int, base: Sequence[str]) -> bool:
        """Whether these lines stand there, but for blanks at their ends."""
        there = self._lines[first : first + len(base)]
        return [line.rstrip() for line in there] == [line.rstrip() for line in base]


def _lines(text: str) -> list[str]:
    """The rows of a text, without their endings."""
    return without_end(split_text(text)[0])


def without_end(lines: list[str]) -> list[str]:
    """The lines without the empty one behind the last newline, which is no row of the file."""
    if lines and not lines[-1]:
        lines.pop()
    return lines


_CYCLE: tuple[Against, ...] = ("disk", "head", "turn")
_FEW_LINES = 400
"""Files of fewer lines are compared at once."""


def against_words(against: Against) -> str:
    """What a file is compared with, in words."""
    return {"disk": "the disk", "head": "git's HEAD", "turn": "the turn's start"}[against]


def following(against: Against | None, from_review: bool) -> Against | None:
    """What is shown after this; None: the review."""
    if against is None:
        return _CYCLE[0]
    index = _CYCLE.index(against) + 1
    if index < len(_CYCLE):
        return _CYCLE[index]
    return None if from_review else _CYCLE[0]


def next_words(against: Against | None, from_review: bool) -> str:
    """Where the key leads that goes round."""
    words = {"disk": "vs disk", "head": "vs HEAD", "turn": "vs turn's start"}
    wanted = following(against, from_review)
    return "review" if wanted is None else words[wanted]


class DiffLoad:
    """Makes the diffs of a session's files."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.why = ""
        """Why nothing was compared, where that is so."""

    def words(self, against: Against, files: str) -> str:
        """What is shown, of so many files."""
        return f"against {against_words(against)} · {files} · read-only"

    def nothing(self, against: Against, path: str) -> str:
        """What is said where nothing differs."""
        if self.why:
            return f"Nothing is compared: {self.why}."
        what = f"'{path}'" if path else "Nothing"
        same = "is the same as" if path else "differs from"
        return f"{what} {same} {against_words(against)}."

    async def files(self, against: Against, path: str) -> list[FileChanges]:
        """The diff of a file, or of all that differ (empty path); never raises."""
        found: list[FileChanges] = []
        self.why = ""
        for old in await self._session.diffs.olds(against, path):
            lines, new = without_end(list(old.lines)), without_end(list(old.new))
            work = partial(of_texts, old.path, lines, new, old.buffer)
            if len(new) + len(lines) > _FEW_LINES:
                file = await asyncio.to_thread(work)
            else:
                file = work()
            file.words, file.note = old.words, old.note
            if (
                not file.changes
                and not file.note
                and len(lines) - len(old.lines) != (len(new) - len(old.new))
            ):
                file.note = "Only the newline at the end differs."
            if file.changes or (file.note and (path or old.lines or old.new)):
                found.append(file)
            elif file.note:
                self.why = file.note
        return found
