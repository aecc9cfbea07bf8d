"""The one mutator: every change of every buffer, by either author, goes through here.

The ledger keeps what belongs to a file beside its text: the bytes on the disk, the user's
history, the hunks that stand in it, the section that is landing; and moves them all with
every change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from tui.core.buffer import Buffer, Change, Mark, Position
from tui.core.file_read import FileRead, ascii_shown, checked_path, decoded, unwritable, viewed
from tui.core.hunk import Decision, Hunk, Kind, Stage
from tui.core.journal import History
from tui.core.line_index import LineIndex
from tui.core.patch import replacements
from tui.core.roster import Roster
from tui.core.rows import (
    Span,
    keep_ends,
    row_count,
    rows_range,
    rows_text,
    shifted,
    touched_span,
)
from tui.core.standing import Standing
from tui.core.user_regions import UserRegions
from tui.errors import EditRefused


class Author(Enum):
    """Who changes a text."""

    USER = "user"
    MODEL = "model"
    DISK = "disk"


class OpenSection(Protocol):
    """A section that is landing in a file."""

    def changed(self, span: Span, author: Author) -> None:
        """Rows of the file changed, not by this section."""

    def without(self) -> tuple[int, int, str]:
        """Rows that it has painted, and the text that belongs there without it."""

    def decorations(self) -> dict[int, str]:
        """Line -> landing, struck or candidate."""

    def ghost(self) -> tuple[int, list[str]] | None:
        """The line under which incoming lines may be shown, and these lines."""


class WaitingSection(Protocol):
    """A section that fits in several places and waits for the user's choice."""

    hunks: list[Hunk]
    height: int
    """How many rows each of the places has; at least 1."""

    def place_at(self, row: int) -> None:
        """Land at one of the candidates. Raises EditRefused."""


@dataclass(eq=False, slots=True)
class FileRecord:
    """One file of the workspace: its buffer and all that stands beside it."""

    path: str
    buffer: Buffer
    disk: bytes | None
    """What lies on the disk as far as we know; None: nothing."""
    history: History = field(default_factory=History)
    regions: UserRegions = field(default_factory=UserRegions)
    live: Standing = field(default_factory=Standing)
    """Hunks whose text stands in the buffer, in the order in which they landed."""
    made: list[Hunk] = field(default_factory=list)
    """Hunks that made the file, or all of its text."""
    sections: list[OpenSection] = field(default_factory=list)
    """Those that are landing; a later one ends before the earlier ones go on."""
    waiting: list[WaitingSection] = field(default_factory=list)
    deletion: Hunk | None = None
    """The pending deletion of the file."""
    moving: Hunk | None = None
    """The pending move of the file."""
    gone: bool = False
    """An accepted deletion or move: nothing belongs at this path."""
    accepted: int = 0
    """Counts the decisions that change what belongs on the disk."""
    synced: tuple[int, int] | None = None
    """The user's state and `accepted` that lie on the disk; None: they never did."""
    planned: tuple[bytes | None, tuple[int, int]] | None = None
    undecided: list[Hunk] = field(default_factory=list)
    """Accepted, but not yet written."""
    read_only: str = ""
    """Why nobody may edit it, as a sentence; empty if it may be edited."""
    view: bool = False
    """Its text is a part of the file or a picture of its bytes: never written, never quoted."""
    seen: int = 0
    """Of a view, the hash of the bytes that were looked at."""
    named: bool = False
    """The user gave the name of a file that was not there: it stays open while it is empty."""
    _index: LineIndex | None = None

    @property
    def landing(self) -> OpenSection | None:
        """The section that is landing; of several the newest."""
        return self.sections[-1] if self.sections else None

    @property
    def version(self) -> tuple[int, int]:
        """What belongs on the disk, as a number of the user's state and of the decisions."""
        return (self.history.state, self.accepted)

    @property
    def blank(self) -> bool:
        """True for a new file that the user has named and typed nothing into."""
        return self.named and self.disk is None and self.version == self.synced and not self.live

    @property
    def index(self) -> LineIndex:
        """Where lines occur, built when first asked for."""
        if self._index is None:
            self._index = LineIndex(self.buffer)
        return self._index

    @property
    def addition(self) -> Hunk | None:
        """The pending hunk that made this file."""
        pending = (hunk for hunk in self.made if hunk.decision is Decision.PENDING)
        return next((hunk for hunk in pending if hunk in self.live), None)


@dataclass(slots=True)
class Layer:
    """How a hunk lies on others: needed to take it off exactly."""

    below: list[Hunk] = field(default_factory=list)
    """Hunks that it changed the text of."""
    above: list[Hunk] = field(default_factory=list)
    """Hunks that changed its text."""
    edges: list[tuple[Hunk, int | None, int | None]] = field(default_factory=list)
    """Where their first and last rows were, counted from this hunk's first row."""
    record: FileRecord | None = None
    """The file that an accepted deletion, move or a rejected addition took away."""
    state: int = 0
    """The user's state of the text that a deletion would take away."""
    over: FileRecord | None = None
    """The file that an accepted move replaced."""
    made_file: bool = False
    """An ADD whose file was not there: without it there is none."""


class Ledger:
    """All files and hunks; the workspace is its public face."""

    def __init__(self, read: Callable[[str], FileRead], *roots: str) -> None:
        self.read = read
        self.roots = roots
        self.ask = False
        """Somebody is there to choose: ambiguous sections stay CANDIDATES, not REFUSED."""
        self.buffers: dict[str, Buffer] = {}
        self.records: dict[str, FileRecord] = {}
        self.roster = Roster()
        self.hunks: list[Hunk] = self.roster.hunks
        self.layers: dict[int, Layer] = {}
        self.revision = 0
        self._ids = 0
        self.touched: set[str] = set()
        self.conflicts: set[str] = set()
        self.decided: list[Hunk] = []
        self.arriving: dict[str, FileRecord] = {}
        """Target path -> the file that a pending move brings there."""
        self.busy: dict[str, object] = {}
        """Path -> the landing that is at work on it."""
        self.waiters: dict[str, list[Callable[[], None]]] = {}
        """Path -> what to call when the landing is done with it."""

    def checked(self, path: str) -> str:
        """A path of a patch relative to the root. Raises EditRefused."""
        return checked_path(path, *self.roots)

    def bump(self) -> None:
        """A stage or a decision changed."""
        self.revision += 1

    def new_hunk(self, hunk: Hunk) -> Hunk:
        """Number a hunk and take it in."""
        self._ids += 1
        hunk.id = self._ids
        self.roster.add(hunk)
        self.layers[hunk.id] = Layer()
        self.bump()
        return hunk

    def forget_hunk(self, hunk: Hunk) -> None:
        """Take a hunk out that came to nothing."""
        hunk.stage = Stage.DROPPED
        self.layers.pop(hunk.id, None)
        self.roster.forget(hunk)
        self.bump()

    def open(self, path: str) -> FileRecord:
        """The record of a file that may be edited, read if need be. Raises EditRefused."""
        path = self.checked(path)
        record = self._known(path)
        if record is None:
            read = self.read(path)
            if read.data is None and not read.refusal and "\\" in path:
                return self.open(path.replace("\\", "/"))
            if read.data is None:
                raise EditRefused(read.refusal or f"file not found: '{ascii_shown(path)}'")
            text = decoded(path, read.data)
            if read.unwritable:
                raise EditRefused(unwritable(path, read))
            return self._take_in(path, Buffer(path, text), read.data)
        if record.read_only:
            raise EditRefused(record.read_only)
        return record

    def look(self, path: str) -> FileRecord:
        """The record of a file that is shown, be it read-only; read if need be.

        Raises:
            EditRefused: there is nothing to be shown.
        """
        path = self.checked(path)
        record = self._known(path)
        if record is not None:
            return record
        read = self.read(path)
        if read.data is None and not read.refusal and "\\" in path:
            return self.look(path.replace("\\", "/"))
        return self._looked_at(path, read)

    def quotable(self, path: str) -> Buffer | None:
        """The buffer of an open file as a model may see it; None: not open, or only a view."""
        record = self.records.get(path)
        return None if record is None or record.view else self.buffers.get(path)

    def find(self, path: str) -> FileRecord | None:
        """The record of a file, None if there is no such file. Raises EditRefused."""
        path = self.checked(path)
        record = self.records.get(path)
        if record is not None and record.gone:
            return None
        if record is not None:
            return self.open(path)
        read = self.read(path)
        if read.data is None and not read.refusal:
            return self.find(path.replace("\\", "/")) if "\\" in path else None
        return self.open(path)

    def create(self, path: str) -> FileRecord:
        """A new, empty, unsaved file. Raises EditRefused."""
        path = self.checked(path)
        record = self.records.get(path)
        if record is None or record.gone:
            read = self.read(path)
            if read.refusal:
                raise EditRefused(read.refusal)
            if read.data is None and "\\" in path:
                return self.create(path.replace("\\", "/"))
            if read.data is None or record is not None:
                return self._take_in(path, Buffer(path), read.data)
        raise EditRefused(f"'{ascii_shown(path)}' exists already")

    def apply(
        self, record: FileRecord, start: Position, end: Position, text: str, author: Author
    ) -> Change:
        """Replace a range. Raises ValueError if it does not exist."""
        return self.apply_own(record, (start, end), text, author, None)

    def apply_own(
        self,
        record: FileRecord,
        where: tuple[Position, Position],
        text: str,
        author: Author,
        own: OpenSection | None,
    ) -> Change:
        """Replace a range on behalf of an open section, which is not told of it."""
        change = record.buffer.replace(*where, text)
        span = touched_span(record.buffer, change)
        record.live.move(span)
        for waiting in record.waiting:
            rows = waiting.hunks[0].candidates  # all of its hunks have these, in order
            if rows and rows[-1] >= span.row:
                rows = tuple(shifted(row, row, span)[0] for row in rows)
                for hunk in waiting.hunks:
                    hunk.candidates = rows
        for section in record.sections:
            if section is not own:
                section.changed(span, author)
        if author is Author.USER:
            record.regions.edited(record.buffer, change, span)
        else:
            record.history.foreign(change)
            record.regions.moved(span)
        self.touched.add(record.path)
        return change

    def rewrite(self, record: FileRecord, rows: tuple[int, int], text: str, author: Author) -> None:
        """Make a text of rows, line by line, so that marks in kept lines stay."""
        first, last = rows
        old = keep_ends(rows_text(record.buffer, first, last))
        for change in reversed(replacements(old, keep_ends(text))):
            where = rows_range(record.buffer, first + change.first, first + change.last)
            self.apply(record, *where, "".join(change.lines), author)

    def settle(self, record: FileRecord, hunk: Hunk, rows: tuple[int, int]) -> None:
        """A hunk's text stands in these rows from now on."""
        if hunk in record.live:
            record.live.replace(hunk, rows)
        else:
            hunk.start, hunk.end = Mark(rows[0]), Mark(rows[1], right=True)
            record.live.append(hunk)
            if hunk.kind is Kind.ADD:
                record.made.append(hunk)
        if record.gone and self.records.get(record.path) is record:
            self.restore(record)

    def take_off(self, record: FileRecord, hunk: Hunk, text: str) -> None:
        """Put ``text`` where a hunk stands, and what lay under it back to its rows."""
        assert hunk.start is not None
        assert hunk.end is not None
        first = hunk.start.line
        record.live.remove(hunk)
        before = [one for one in record.live.near(first, first) if self._stood_before(one, hunk)]
        self.rewrite(record, (first, hunk.end.line), text, Author.MODEL)
        hunk.end.line = first + row_count(text)
        for one in before:
            assert one.start is not None
            assert one.end is not None
            one.start.line = one.end.line = first
        for other, start, end in self.layers[hunk.id].edges:
            if other in record.live and other.start and other.end:
                limit = hunk.end.line
                if start is not None:
                    other.start.line = min(first + start, limit)
                if end is not None:
                    other.end.line = max(min(first + end, limit), other.start.line)

    def _stood_before(self, deletion: Hunk, hunk: Hunk) -> bool:
        """True if both have no rows left in one place, and the deleted ones were above the hunk."""
        assert hunk.start is not None
        if not deletion.start or not deletion.end:
            return False
        if not deletion.start.line == deletion.end.line == hunk.start.line:
            return False
        rows = row_count(deletion.base)
        return any(
            other is hunk and start is not None and start >= rows > 0
            for other, start, _ in self.layers[deletion.id].edges
        )

    def drop(self, record: FileRecord) -> None:
        """Close a buffer: nothing belongs at its path any more."""
        record.gone = True
        if self.buffers.get(record.path) is record.buffer:
            del self.buffers[record.path]
        self.touched.add(record.path)

    def restore(self, record: FileRecord) -> None:
        """Open a dropped buffer again."""
        record.gone = False
        self.records[record.path] = record
        self.buffers[record.path] = record.buffer
        self.touched.add(record.path)

    def _known(self, path: str) -> FileRecord | None:
        """The record of a file that is open already. Raises EditRefused: it was deleted."""
        record = self.records.get(path)
        if record is None or not record.gone:
            return record
        if record.disk is not None:
            raise EditRefused(f"file not found: '{ascii_shown(path)}' was deleted")
        return None

    def _looked_at(self, path: str, read: FileRead) -> FileRecord:
        """A new record of what was read. Raises EditRefused."""
        seen = viewed(path, read)
        record = self._take_in(path, Buffer(path, seen.text), read.data if seen.exact else None)
        record.read_only, record.view = seen.why, not seen.exact
        record.seen = 0 if seen.exact else hash(read.data or read.head)
        record.synced = record.version
        return record

    def _take_in(self, path: str, buffer: Buffer, disk: bytes | None) -> FileRecord:
        record = FileRecord(path, buffer, disk)
        record.synced = None if disk is None else record.version
        self.records[path] = record
        self.buffers[path] = buffer
        return record
