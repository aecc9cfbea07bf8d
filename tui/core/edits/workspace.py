"""The workspace: open buffers, hunks, and what belongs on the disk.

Two authors write here: the user through `edit`, models through a `landing.Landing`. Each has
an undo of its own. Nothing here touches a disk: the caller reads and writes, and reports back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from tui.core.edits.deciding import review
from tui.core.edits.deciding.reviewing import Reviewing
from tui.core.edits.disk.disk_plan import DiskPlan, planning, settle, with_hunks
from tui.core.edits.disk.outside import outside_change, take_theirs
from tui.core.edits.file_record import FileRecord
from tui.core.edits.hunk import OPEN, Decision, Hunk, Stage
from tui.core.edits.journal import Apply
from tui.core.edits.ledger import Ledger
from tui.core.edits.user_regions import UserChange
from tui.core.files import FileRead
from tui.core.patches.painted import user_edit
from tui.core.steps import Work, finished
from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Author, Change, Position
from tui.errors import EditRefused

__all__ = ["DiskPlan", "FileRead", "UserChange", "Workspace"]

_NO_TEXT = re.compile("[\0\ud800-\udfff]")


class Workspace(Reviewing):
    """All buffers and hunks of a session; every edit of either author goes through it."""

    def __init__(
        self, read: Callable[[str], FileRead], root: str = "", named: str = "", *, ask: bool = False
    ) -> None:
        """``read`` gives the bytes of a path relative to the root; it never raises.

        ``root`` is the absolute path that absolute paths in patches may begin with, ``named`` is
        the one that the user wrote, if that goes through a link. ``ask``: a
        user is there, so a section that fits in several places ends as CANDIDATES; else as
        REFUSED. Either way `place` puts it at one of its candidates.
        """
        self.ledger = Ledger(read, root, named)
        self.ledger.ask = ask
        """The one mutator, for landings."""
        self.buffers: dict[str, Buffer] = self.ledger.buffers
        self.roster = self.ledger.roster
        self.hunks: list[Hunk] = self.roster.hunks
        """All hunks, in the order in which they came."""
        self.conflicts: set[str] = self.ledger.conflicts
        """Paths whose file on the disk and buffer contradict each other; not to be saved."""

    @property
    def hunks_revision(self) -> int:
        """Grows whenever a stage or a decision changed."""
        return self.ledger.revision

    def open(self, path: str) -> Buffer:
        """The buffer of a file, be it read-only; read if need be. Raises EditRefused."""
        return self.ledger.look(path).buffer

    def read_only(self, path: str) -> str:
        """Why nobody may edit an open file, as a sentence; empty if it may be edited. Cheap."""
        record = self.ledger.records.get(path)
        return "" if record is None else record.read_only

    def create(self, path: str) -> Buffer:
        """An empty buffer for a new file, made when it is saved; nothing of it is unsaved yet.

        Raises:
            EditRefused: there is such a file, or there cannot be one.
        """
        record = self.ledger.create(path)
        record.named, record.synced = True, record.version
        return record.buffer

    def edit(self, path: str, start: Position, end: Position, text: str, group: str = "") -> Change:
        """The user replaces a range.

        Edits with the same non-empty ``group`` that adjoin are undone together. What no text file
        can hold (halves of characters, as a picture of bytes has them, and NUL) becomes U+FFFD:
        saved, it would make the file one that can only be looked at.

        Raises:
            ValueError: there is no such range.
            EditRefused: there is no such file, or it is read-only.
        """
        record = self.ledger.open(path)
        if not text.isascii() or "\0" in text:
            text = _NO_TEXT.sub("\ufffd", text)
        change = user_edit(self.ledger, record, (start, end), text)
        record.history.record(change, group)
        return change

    def undo(self, path: str) -> Position | None:
        """Undo the user's last group of edits; returns where, None if there is none.

        Raises:
            EditRefused: the file has become read-only.
        """
        record = self.ledger.look(path)
        if record.view:
            return None
        _check_open(self, record, again=False)
        place = record.history.undo(_careful(self.ledger, record), record.buffer.slice)
        settle(self.ledger, record)
        return place and record.buffer.clamp(place)

    def redo(self, path: str) -> Position | None:
        """Redo what was undone last; returns where, None if there is nothing.

        Raises:
            EditRefused: the file has become read-only.
        """
        record = self.ledger.look(path)
        if record.view:
            return None
        _check_open(self, record, again=True)
        place = record.history.redo(_careful(self.ledger, record), record.buffer.slice)
        settle(self.ledger, record)
        return place and record.buffer.clamp(place)

    def is_dirty(self, path: str) -> bool:
        """True if the user's text and accepted hunks are not on the disk."""
        record = self.ledger.records.get(path)
        if record is None:
            return False
        if record.gone:
            return record.disk is not None
        return not record.saved

    def decorations(self, path: str, first: int, last: int) -> dict[int, str]:
        """Line -> landing, pending, accepted, struck, partial, conflict or candidate.

        Lines ``first`` to ``last``, 0-based. Accepted lines are shown for the last turn only.
        Where lines were only removed, the line behind them is marked.
        """
        record = self.ledger.records.get(path)
        if record is None:
            return {}
        if record.deletion is not None:
            return dict.fromkeys(range(first, min(last + 1, record.buffer.line_count)), "struck")
        found: dict[int, str] = {}
        latest = self.hunks[-1].turn if self.hunks else 0
        for hunk in record.live.near(first, last + 1):
            word, rows = _decoration(hunk, latest), _rows(hunk)
            if word and rows is not None:
                low, high = max(first, rows.start), min(last, max(rows.stop - 1, rows.start)) + 1
                found.update(dict.fromkeys(range(low, high), word))
        offered = record.offered
        for row in range(first - max(offered.values(), default=0), last + 1) if offered else ():
            for line in range(row, row + offered.get(row, 0)):
                found.setdefault(line, "candidate")
        if record.landing is not None:
            found.update(record.landing.decorations(first, last))
        return {line: word for line, word in found.items() if first <= line <= last}

    def hunks_of(self, call_id: str) -> list[Hunk]:
        """The hunks of one tool call, in order."""
        return list(self.roster.of_call(call_id))

    def hunk(self, hunk_id: int) -> Hunk:
        """The hunk of that id. Raises KeyError."""
        return self.roster.by_id(hunk_id)

    def ghost(self, path: str) -> tuple[int, list[str]] | None:
        """The incoming lines of a section not yet located, and the line to show them under."""
        record = self.ledger.records.get(path)
        if record is None or record.landing is None:
            return None
        return record.landing.ghost()

    def touched(self) -> set[str]:
        """Paths whose text changed since the last call, by whomever."""
        touched, self.ledger.touched = self.ledger.touched, set()
        for path in touched:
            if record := self.ledger.records.get(path):
                record.drift.follow(record.waiting)
        return touched

    def disk_plan(self, path: str) -> DiskPlan:
        """What a save writes: user's text and accepted hunks, pending ones backed out.

        Raises:
            EditRefused: there is no such file.
        """
        return finished(self.planning(path))

    def planning(self, path: str) -> Work[DiskPlan]:
        """The same, with a pause after each few hundred hunks."""
        return planning(self.ledger, path)

    def with_hunks(self, path: str, hunk_ids: Iterable[int]) -> bytes | None:
        """The bytes of a file with exactly these of its hunks; None: no file. Changes nothing.

        Whatever was decided of them; what the user typed is there, and what is landing is not.

        Raises:
            KeyError: there is no such hunk.
            EditRefused: no file of that name is open, or it is only looked at.
        """
        return with_hunks(self.ledger, path, [self.roster.by_id(one) for one in hunk_ids])

    def written(self, path: str, data: bytes | None) -> None:
        """These bytes lie on the disk now (None: the file is gone)."""
        record = self.ledger.records.get(path)
        if record is None:
            return
        planned = record.planned
        record.disk = data
        if data == b"" or record.history.state:
            record.named = False  # it is the user's file from now on, be it empty
        known = planned if planned and planned[0] == data else (data, record.version, [])
        record.synced, record.held = known[1:]
        record.undecided.clear()
        self.conflicts.discard(path)

    def write_failed(self, path: str) -> bool:
        """The write did not happen: what was accepted for it is pending again, if anything."""
        record = self.ledger.records.get(path)
        return record is not None and review.reopen(self.ledger, record)

    def outside_change(self, path: str, read: FileRead, *, theirs: bool = False) -> None:
        """Somebody else changed the file: reload, merge, or note a conflict.

        ``theirs``: the disk's text wins, and undo brings the user's back; raises EditRefused if
        there is nothing that can be edited.
        """
        (take_theirs if theirs else outside_change)(self.ledger, path, read)

    def letting_go(self) -> Work[None]:
        """All hunks are decided, and none comes in: keep nothing that can be made again."""
        for record in self.ledger.records.values():
            record.let_go()
        yield from self.roster.settling()

    def take_user_changes(self) -> list[UserChange]:
        """What the user changed since the last take, one merged region each.

        Taken for a request: the model knows the texts as they are now.
        """
        for record in self.ledger.records.values():
            record.since.forget()
        return [
            change
            for record in self.ledger.records.values()
            for change in record.regions.take(record.buffer)
        ]

    def take_tool_changes(self) -> list[UserChange]:
        """What a formatter changed since the last take, one merged region each."""
        return [
            change
            for record in self.ledger.records.values()
            for change in record.tool_regions.take(record.buffer)
        ]


def undo_stopped(workspace: Workspace, path: str) -> bool:
    """True if the last undo or redo changed nothing: others wrote into what it is about."""
    record = workspace.ledger.records.get(path)
    return record is not None and record.history.stopped


def undo_waits(workspace: Workspace, path: str, *, again: bool = False) -> bool:
    """True if the user's last edit is not undone (or redone) as a model writes in its lines."""
    record = workspace.ledger.records.get(path)
    return record is not None and record.landing is not None and record.history.has(again=again)


def _check_open(workspace: Workspace, record: FileRecord, *, again: bool) -> None:
    """Raise EditRefused if a read-only file's text would become another than its disk's.

    What was typed before it became read-only, and was not saved, can be taken back.
    """
    if not record.read_only or workspace.is_dirty(record.path):
        return
    if record.history.has(again=again):
        raise EditRefused(record.read_only)


def _careful(ledger: Ledger, record: FileRecord) -> Apply:
    """How undo changes a text: not inside a section that is landing."""

    def apply(start: Position, end: Position, text: str) -> Change | None:
        if record.landing is not None:
            first, last, _ = record.landing.without()
            if first < last and start[0] < last and end[0] >= first:
                return None
        return ledger.apply(record, start, end, text, Author.USER)

    return apply


def _decoration(hunk: Hunk, latest_turn: int) -> str:
    if hunk.stage in OPEN or hunk.decision is Decision.REJECTED:
        return ""
    if hunk.decision is Decision.ACCEPTED:
        return "accepted" if hunk.turn == latest_turn else ""
    words = {Stage.PARTIAL: "partial", Stage.CONFLICT: "conflict"}
    return words.get(hunk.stage, "pending")


def _rows(hunk: Hunk) -> range | None:
    if hunk.start is None or hunk.end is None:
        return None
    return range(hunk.start.line, hunk.end.line)
