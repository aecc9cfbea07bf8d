"""The workspace: open buffers, hunks, decisions on them, and what belongs on the disk.

Two authors write here: the user through `edit`, models through a `landing.Landing`. Each has
an undo of its own. Nothing here touches a disk: the caller reads and writes, and reports back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from tui.core.document import decision_undo, review
from tui.core.document.decision_log import DecisionEntry
from tui.core.document.disk_changes import outside_change, take_theirs
from tui.core.document.disk_plan import (
    DiskPlan,
    StillScreen,
    keeping_still,
    planning,
    with_hunks,
)
from tui.core.document.documents import Documents
from tui.core.document.file_record import EditsSince, FileRecord, UserChange, stand, stood_near
from tui.core.document.hunk import OPEN, Decision, Fold, Hunk, Kind, Stage, landing_lines
from tui.core.document.note_list import NoteList
from tui.core.document.undo_log import Apply
from tui.core.document.waiting_places import OpenSection
from tui.core.files import FileRead
from tui.core.patches.painter import user_edit
from tui.core.steps import Work, finished
from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Author, Change, Position
from tui.core.text.patterns import pattern
from tui.core.text.woven_pieces import WovenEdit
from tui.errors import EditRefused


def _nothing(hunks: Sequence[Hunk], whole: bool) -> None:
    """Before somebody reviews, nobody is told that a patch has ended."""


_NO_TEXT = pattern("[\0\ud800-\udfff]")


class Workspace:
    """All buffers and hunks of a session; every edit of either author goes through it."""

    def __init__(
        self,
        read: Callable[[str], FileRead],
        root: str = "",
        named: str = "",
        *,
        ask: bool = False,
        freeze: bool = False,
    ) -> None:
        """``read`` gives the bytes of a path relative to the root; it never raises.

        ``root`` is the absolute path that absolute paths in patches may begin with, ``named`` is
        the one that the user wrote, if that goes through a link. ``ask``: a
        user is there, so a section that fits in several places ends as CANDIDATES; else as
        REFUSED. Either way `place` puts it at one of its candidates. ``freeze``: the user sees
        what is painted, so a hunk that is cut stays so until it is decided on.
        """
        self.documents = Documents(read, root, named)
        self.documents.ask, self.documents.freeze = ask, freeze
        """The one mutator, for landings."""
        self.buffers: dict[str, Buffer] = self.documents.buffers
        self.hunk_list = self.documents.hunk_list
        self.hunks: list[Hunk] = self.hunk_list.hunks
        """All hunks, in the order in which they came."""
        self.conflicts: set[str] = self.documents.conflicts
        """Paths whose file on the disk and buffer contradict each other; not to be saved."""
        self.notes = NoteList(self.documents)
        """What is noted on lines; no text has it in it."""
        self.on_landed: Callable[[Sequence[Hunk], bool], None] = _nothing
        """Called with the hunks of a patch that ended, and whether all of it came."""

    @property
    def hunks_revision(self) -> int:
        """Grows whenever a stage or a decision changed."""
        return self.documents.revision

    def open(self, path: str) -> Buffer:
        """The buffer of a file, be it read-only; read if need be. Raises EditRefused."""
        return self.documents.look(path).buffer

    def read_only(self, path: str) -> str:
        """Why nobody may edit an open file, as a sentence; empty if it may be edited. Cheap."""
        record = self.documents.records.get(path)
        return "" if record is None else record.read_only

    def create(self, path: str) -> Buffer:
        """An empty buffer for a new file, made when it is saved; nothing of it is unsaved yet.

        Raises:
            EditRefused: there is such a file, or there cannot be one.
        """
        record = self.documents.create(path)
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
        record = self.documents.open(path)
        if not text.isascii() or "\0" in text:
            text = _NO_TEXT.sub("\ufffd", text)
        change = user_edit(self.documents, record, (start, end), text)
        record.undo_log.record(record.weave, change, group)
        return change

    def undo(self, path: str) -> Position | None:
        """Undo the user's last group of edits; returns where, None if there is none.

        Raises:
            EditRefused: the file has become read-only.
        """
        return self._undo(path, again=False)

    def redo(self, path: str) -> Position | None:
        """Redo what was undone last; returns where, None if there is nothing.

        Raises:
            EditRefused: the file has become read-only.
        """
        return self._undo(path, again=True)

    def _undo(self, path: str, *, again: bool) -> Position | None:
        record = self.documents.look(path)
        if record.view:
            return None
        _check_open(self, record, again=again)
        step = record.undo_log.redo if again else record.undo_log.undo
        place = step(record.weave, _careful(self.documents, record))
        self.documents.sweep(record)
        return place and record.buffer.clamp(place)

    def is_dirty(self, path: str) -> bool:
        """True if the user's text and accepted hunks are not on the disk."""
        record = self.documents.records.get(path)
        if record is None:
            return False
        if record.gone:
            return record.disk is not None
        return not record.saved

    def decorations(
        self, path: str, first: int, last: int, *, removed: bool = False
    ) -> dict[int, str]:
        """Line -> landing, pending, blamed, accepted, struck, cut, conflict or candidate.

        Lines ``first`` to ``last``, 0-based. Accepted lines are shown for the last turn only.
        Where lines were only removed, the line behind them is marked, unless these are shown
        themselves (``removed``).
        """
        record = self.documents.records.get(path)
        if record is None:
            return {}
        if record.deletion is not None:
            return dict.fromkeys(range(first, min(last + 1, record.buffer.line_count)), "struck")
        found: dict[int, str] = {}
        latest = self.hunks[-1].turn if self.hunks else 0
        for hunk in record.live.near(first, last + 1):
            word, rows = _decoration(hunk, latest), _rows(hunk)
            if removed and not rows and hunk.decidable:
                continue
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
        return list(self.hunk_list.of_call(call_id))

    def ghost(self, path: str) -> tuple[int, list[str]] | None:
        """The incoming lines of a section not yet located, and the line to show them under.

        Where the stream was cut in it they stay, until the text changes or the user goes on.
        """
        record = self.documents.records.get(path)
        if record is None:
            return None
        if record.landing is not None:
            return record.landing.ghost()
        revision, row, lines = self.documents.unplaced.get(path, (-1, 0, []))
        return (row, lines) if revision == record.buffer.revision else None

    def touched(self) -> set[str]:
        """Paths whose text changed since the last call, by whomever."""
        touched, self.documents.touched = self.documents.touched, set()
        for path in touched:
            if record := self.documents.records.get(path):
                record.shifts.follow(record.waiting)
        return touched

    def disk_plan(self, path: str) -> DiskPlan:
        """What a save writes: user's text and accepted hunks, pending ones backed out.

        Raises:
            EditRefused: there is no such file.
        """
        return finished(self.planning(path))

    def planning(self, path: str) -> Work[DiskPlan]:
        """The same, with a pause after each few hundred hunks."""
        return planning(self.documents, path)

    def with_hunks(self, path: str, hunk_ids: Iterable[int]) -> bytes | None:
        """The bytes of a file with exactly these of its hunks; None: no file. Changes nothing.

        Whatever was decided of them; what the user typed is there, and what is landing is not.

        Raises:
            KeyError: there is no such hunk.
            EditRefused: no file of that name is open, or it is only looked at.
        """
        return with_hunks(self.documents, path, [self.hunk_list.by_id(one) for one in hunk_ids])

    def keeping_still(self) -> Work[StillScreen]:
        """What is on the screen and not on the disk; any thread may take some hunks out of it."""
        return keeping_still(self.documents)

    def written(self, path: str, data: bytes | None) -> None:
        """These bytes lie on the disk now (None: the file is gone)."""
        record = self.documents.records.get(path)
        if record is None:
            return
        planned = record.planned
        record.disk = data
        if data == b"" or record.undo_log.state:
            record.named = False  # it is the user's file from now on, be it empty
        known = planned if planned and planned[0] == data else (data, record.version, [])
        record.synced, record.held = known[1:]
        record.undecided.clear()
        self.conflicts.discard(path)

    def write_failed(self, path: str) -> bool:
        """The write did not happen: what was accepted for it is pending again, if anything."""
        record = self.documents.records.get(path)
        return record is not None and review.reopen(self.documents, record)

    def outside_change(self, path: str, read: FileRead, *, theirs: bool = False) -> None:
        """Somebody else changed the file: reload, merge, or note a conflict.

        ``theirs``: the disk's text wins, and undo brings the user's back; raises EditRefused if
        there is nothing that can be edited.
        """
        (take_theirs if theirs else outside_change)(self.documents, path, read)

    def letting_go(self) -> Work[None]:
        """All hunks are decided, and none comes in: keep nothing that can be made again."""
        for record in list(self.documents.records.values()):
            yield from record.letting_go()
        Fold.close()
        yield from self.hunk_list.settling()

    def take_user_changes(self) -> list[UserChange]:
        """What the user changed since the last take, one merged region each.

        Taken for a request: the model knows the texts as they are now.
        """
        for record in self.documents.records.values():
            record.by_others.forget()
        return self._taken(lambda record: record.by_user)

    def take_tool_changes(self) -> list[UserChange]:
        """What a formatter changed since the last take, one merged region each."""
        return self._taken(lambda record: record.by_tool)

    def take_disk_changes(self) -> list[UserChange]:
        """What other programs changed since the last take, one merged region each."""
        return self._taken(lambda record: record.by_disk)

    def untold_changes(
        self, path: str
    ) -> tuple[list[UserChange], list[UserChange], list[UserChange]]:
        """What the user, a formatter and others changed in a file since the last takes."""
        record = self.documents.records[path]
        all_of = (record.by_user, record.by_tool, record.by_disk)
        user, tool, disk = (one.look(record.weave, record.buffer) if one else [] for one in all_of)
        return user, tool, disk

    def _taken(self, edits: Callable[[FileRecord], EditsSince]) -> list[UserChange]:
        found: list[UserChange] = []
        for record in self.documents.records.values():
            record.times_told += 1
            if since := edits(record):
                found += since.take(record.weave, record.buffer)
        return found

    @property
    def last_turn(self) -> int:
        """The last turn of which something can be taken back, or waits for a place; 0: none."""
        documents = self.documents
        newest = reversed(documents.hunks)
        able = (one for one in newest if one.placeable or review.is_undoable(documents, one))
        return next((hunk.turn for hunk in able), 0)

    def accept(self, hunk_ids: Iterable[int] | None = None) -> list[str]:
        """Accept hunks (None: all but cut ones); returns the paths to write, in order."""
        return finished(self.accepting(hunk_ids))

    def accepting(self, hunk_ids: Iterable[int] | None = None) -> Work[list[str]]:
        """The same, with a pause after each hunk."""
        chosen = yield from self.hunk_list.chosen(hunk_ids)
        with self.documents.decisions.entry(DecisionEntry("accept")):
            return (yield from review.accept(self.documents, chosen))

    def reject(
        self, hunk_ids: Iterable[int] | None = None, words: str = "", *, whole: bool = False
    ) -> list[str]:
        """Reject hunks (None: all, those that were cut, too); returns paths to write, usually none.

        What the user typed in them stays; where it does not fit, the hunk is in conflict and
        pending. ``whole``: it goes with the hunk, a new file with all that is in it;
        `undo_decision` brings it back.
        """
        return finished(self.rejecting(hunk_ids, words, whole=whole))

    def rejecting(
        self, hunk_ids: Iterable[int] | None = None, words: str = "", *, whole: bool = False
    ) -> Work[list[str]]:
        """The same, with a pause after each hunk."""
        chosen = yield from self.hunk_list.chosen(hunk_ids, cut=True)
        with self.documents.decisions.entry(DecisionEntry("reject", words, whole=whole)):
            return (yield from review.reject(self.documents, chosen, words, whole=whole))

    def place(self, hunk_id: int, line: int) -> None:
        """Put an ambiguous hunk (and its section) at one of its candidates, a 0-based line.

        Raises:
            EditRefused: it cannot be placed there.
        """
        hunk = self.hunk_list.by_id(hunk_id)
        with self.documents.decisions.entry(DecisionEntry("place")):
            decision_undo.place(self.documents, hunk, line)

    def undo_turn(self, turn: int | None = None) -> list[str]:
        """Take a model's turn back (None: the last); returns the paths to write."""
        return finished(self.undoing_turn(turn))

    def undoing_turn(self, turn: int | None = None) -> Work[list[str]]:
        """The same, with a pause after each hunk."""
        turn = self.last_turn if turn is None else turn
        if not turn:
            return []
        hunks = yield from review.of_turn(self.documents, turn)
        return (yield from self.taking_back(hunks, DecisionEntry("turn", turn=turn)))

    def taking_back(self, hunks: Iterable[Hunk], entry: DecisionEntry) -> Work[list[str]]:
        """Take these back, whatever was decided, as one decision; returns the paths to write."""
        with self.documents.decisions.entry(entry):
            return (yield from review.take_back(self.documents, hunks))

    def undo_decision(self) -> list[str]:
        """Undo the last decision; returns the paths to write.

        What cannot be undone, as its lines were changed since, stays as it is: `stays` says why.

        Raises:
            EditRefused: there is none, or nothing of it can be undone; the next try passes over
                it.
        """
        return finished(self.undoing_decision())

    def undoing_decision(self) -> Work[list[str]]:
        """The same, with a pause after each hunk."""
        paths, self.documents.decisions.stays = yield from decision_undo.undo_decision(
            self.documents
        )
        return paths

    def redo_decision(self) -> list[str]:
        """Decide again what was undone, or bring back a turn that was taken back.

        Returns:
            The paths to write.

        Raises:
            EditRefused: there is nothing, or nothing of it can be done again.
        """
        return finished(self.redoing_decision())

    def redoing_decision(self) -> Work[list[str]]:
        """The same, with a pause after each hunk."""
        paths, self.documents.decisions.stays = yield from decision_undo.redo_decision(
            self.documents
        )
        return paths

    def last_decision(self, *, again: bool = False) -> DecisionEntry | None:
        """What `undo_decision` (or `redo_decision`) would be about; None: there is nothing."""
        return self.documents.decisions.last(again=again)

    def may_be_taken_as_read(self, hunk: Hunk) -> bool:
        """True if nobody need look at a hunk before it is accepted (EDITS.md section 8)."""
        return review.may_be_taken_as_read(self.documents, hunk)

    def typed_in(self, hunks: Iterable[Hunk]) -> list[Hunk]:
        """Of these the files a model made that the user typed in."""
        return [hunk for hunk in hunks if review.is_typed_in(self.documents, hunk)]


def undo_stopped(workspace: Workspace, path: str) -> bool:
    """True if the last undo or redo changed nothing: others wrote into what it is about."""
    record = workspace.documents.records.get(path)
    return record is not None and record.undo_log.stopped


def undo_waits(workspace: Workspace, path: str, *, again: bool = False) -> bool:
    """True if the user's last edit is not undone (or redone) as a model writes in its lines."""
    record = workspace.documents.records.get(path)
    return record is not None and record.landing is not None and record.undo_log.has(again=again)


def _check_open(workspace: Workspace, record: FileRecord, *, again: bool) -> None:
    """Raise EditRefused if a read-only file's text would become another than its disk's.

    What was typed before it became read-only, and was not saved, can be taken back.
    """
    if not record.read_only or workspace.is_dirty(record.path):
        return
    if record.undo_log.has(again=again):
        raise EditRefused(record.read_only)


def _careful(documents: Documents, record: FileRecord) -> Apply:
    """How undo changes a text: not inside a section that is landing."""

    def apply(edits: Collection[WovenEdit]) -> Sequence[Change] | None:
        rows = None if record.landing is None else record.landing.painter
        if rows and rows.row < rows.end:
            for change in record.weave.switching(edits):
                if change.start[0] < rows.end and change.old_end[0] >= rows.row:
                    return None
        near = stood_near(record, edits)
        changes = documents.switch(record, edits, Author.USER)
        stand(record, near)
        return changes

    return apply


def _decoration(hunk: Hunk, latest_turn: int) -> str:
    if hunk.stage in OPEN or hunk.decision is Decision.REJECTED:
        return ""
    if hunk.decision is Decision.ACCEPTED:
        return "accepted" if hunk.turn == latest_turn else ""
    if hunk.is_blamed:
        return "blamed"
    words = {Stage.CUT: "cut", Stage.CONFLICT: "conflict"}
    return words.get(hunk.stage, "pending")


def _rows(hunk: Hunk) -> range | None:
    if hunk.start is None or hunk.end is None:
        return None
    return range(hunk.start.line, hunk.end.line)


def written_paths(workspace: Workspace) -> list[str]:
    """Open files that a patch is at work on, the one that was begun first before the others."""
    documents = workspace.documents
    return [path for path in documents.busy if path in documents.buffers]


def written_row(workspace: Workspace, path: str) -> int | None:
    """The row that a model wrote last in the section that is open there; None: none is."""
    section = _open_section(workspace, path)
    rows = None if section is None else section.painter
    return rows.last_row if rows else None


def stage_words(workspace: Workspace, path: str) -> str:
    """``hunk 3: 4 candidates, reading context``; empty if nothing lands in the file, or waits."""
    section = _open_section(workspace, path)
    number = landing_number(workspace, path)
    if section is not None and number:
        return f"hunk {number}: {_doing(section.hunks[-1], section)}"
    return "" if section is not None else _waiting_words(workspace, path)


def landing_number(workspace: Workspace, path: str) -> int:
    """The id of the hunk that lands in the file now: its number on the screen; 0: none does."""
    section = _open_section(workspace, path)
    return 0 if section is None or not section.hunks else section.hunks[-1].id


def fate_words(workspace: Workspace, path: str) -> str:
    """What is to become of a file as a whole: ``to be deleted``, ``moves to b.py``."""
    record: FileRecord | None = workspace.documents.records.get(path)
    if record is None:
        return ""
    if record.deletion is not None:
        return "to be deleted"
    return "" if record.moving is None else f"moves to {record.moving.target}"


def _open_section(workspace: Workspace, path: str) -> OpenSection | None:
    record: FileRecord | None = workspace.documents.records.get(path)
    return None if record is None else record.landing


def _waiting_words(workspace: Workspace, path: str) -> str:
    """Of the hunk that waits for the user to choose its place."""
    record: FileRecord | None = workspace.documents.records.get(path)
    for section in record.waiting if record is not None else ():
        hunk = section.hunks[0]
        if hunk.placeable:
            count = len(hunk.candidates)
            places = "1 place" if count == 1 else f"{count} places"
            return f"hunk {hunk.id}: fits in {places}, yours to choose"
    return ""


def _doing(hunk: Hunk, section: OpenSection) -> str:
    if section.painter is not None and section.painter.trouble:
        return f"conflict, {section.painter.trouble}"
    if hunk.stage is Stage.CANDIDATES:
        return _choosing(section.places())
    if hunk.stage in (Stage.LANDING, Stage.LOCATED):
        number = landing_lines(section.hunks).get(hunk.id)
        number = hunk.start.line + 1 if number is None and hunk.start is not None else number
        line = "" if number is None else f" at line {number}"
        if hunk.stage is Stage.LOCATED:
            return f"found{line}"
        return f"landing{line}, \N{MINUS SIGN}{hunk.removed} +{hunk.added}"
    return "reading the new text" if hunk.kind is Kind.ADD else "reading context"


def _choosing(rows: Sequence[int]) -> str:
    if not rows:
        return "no place found yet, reading context"
    count = len(rows)
    words = "1 candidate" if count == 1 else f"{count} candidates"
    return f"{words}, reading context"
