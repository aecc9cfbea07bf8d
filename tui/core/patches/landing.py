"""One patch on its way into the live buffers: from text deltas to hunks, while it streams."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import partial
from operator import attrgetter

from msgspec.structs import replace

from tui.core.document.documents import Documents
from tui.core.document.file_record import FileRecord
from tui.core.document.hunk import PLACED, Hunk, Kind, Stage
from tui.core.document.report import Private, landing_report, open_to_all
from tui.core.document.workspace import Workspace
from tui.core.edit_stream import Channel, Format, parser_for
from tui.core.edit_stream.events import (
    Cut,
    End,
    Ev,
    Failure,
    FileEnd,
    FileOp,
    Line,
    Partial,
    Prose,
    SectionStart,
)
from tui.core.files import is_ignore_file, why_private
from tui.core.patches.file_ops import DeleteWork, UpdateWork, settle
from tui.core.patches.file_work import FileWork, NewHunk, Why, is_file, path_of
from tui.core.patches.new_text import AddWork, SearchWork, WholeWork
from tui.core.steps import Work, finished
from tui.core.text.rows import file_rows
from tui.errors import EditRefused


def work_for(documents: Documents, op: FileOp, new_hunk: NewHunk) -> FileWork:
    """The work that a file header asks for; its path is the one of the file."""
    if op.notation == "search_replace":
        return SearchWork(documents, op.path, new_hunk)
    if op.notation == "whole_file" and (record := _existing(documents, op.path)) is not None:
        return WholeWork(documents, record, new_hunk)
    if op.kind is Kind.ADD:
        return AddWork(documents, op.path, new_hunk, op.notation)
    if op.kind is Kind.DELETE:
        return DeleteWork(documents, op.path, new_hunk, op.notation)
    return UpdateWork(documents, op.path, new_hunk, op.notation)


def _existing(documents: Documents, path: str) -> FileRecord | None:
    """The file if its text can be changed as it is; None: it is new, or it cannot be."""
    try:
        record = documents.find(path)
    except EditRefused:
        return None
    if record is None or record.blank or record.deletion or record.moving:
        return None
    return record


LEAST_LINES = 10
"""Of a shorter file the half is soon gone."""


def flag_private(documents: Documents, hunks: Sequence[Hunk], call_id: str) -> None:
    """Flag what touches a secret by its name, or what says which files are ignored.

    A model need not have seen a file to give it another name, under which it is no secret.
    ``call_id`` is that of the hunks: of very many none is looked at where no name is odd.
    """
    targets = {hunk.target for hunk in documents.removals if hunk.call_id == call_id}
    names = {*documents.hunk_list.files_of(call_id), *targets}
    odd = {path for path in names if path and _private_flag([path])}
    for hunk in hunks if odd else ():
        if odd & {hunk.path, hunk.target}:
            hunk.flags += (_private_flag([path for path in (hunk.path, hunk.target) if path]),)


def _private_flag(paths: list[str]) -> str:
    reason = next(filter(None, map(why_private, paths)), "")
    if reason:
        return f"a private file: {reason}"
    return "it says which files are ignored" if any(map(is_ignore_file, paths)) else ""


def flag_shrunken(documents: Documents, hunks: Sequence[Hunk], call_id: str) -> None:
    """Flag the hunks that take lines away, if more than half of a file's lines go."""
    paths = documents.hunk_list.files_of(call_id)
    by_path: dict[str, list[Hunk]] = {
        path: [] for path in paths if _may_be_shrunken(documents, path)
    }
    for hunk in hunks if by_path else ():
        landed = hunk.kind is not Kind.DELETE and hunk.stage in PLACED
        if landed and hunk.path in by_path:
            by_path[hunk.path].append(hunk)
    for path, shrinking in by_path.items():
        gone = sum(hunk.removed - hunk.added for hunk in shrinking)
        before = gone + _rows(documents, path)
        if before < LEAST_LINES or 2 * gone <= before:
            continue
        for hunk in shrinking:
            if hunk.removed > hunk.added:
                hunk.flags += (f"shrink: {gone} of {before} lines of the file go",)


def _may_be_shrunken(documents: Documents, path: str) -> bool:
    """Whether hunks took more lines away than there are now, whatever they added."""
    return sum(tally.removed for tally in documents.hunk_list.in_file(path)) > _rows(
        documents, path
    )


def _rows(documents: Documents, path: str) -> int:
    record = documents.records.get(path)
    return file_rows(record.buffer) if record is not None else 0


_LONG_TAIL = 16_384
"""Characters: an unfinished line of so many is painted in every second frame, of twice as many in
every third, and so on."""
_ID, _STAGE = attrgetter("id"), attrgetter("stage")
_MANY = 100
"""Of so many that were forgotten one walk over all hunks finds the rest."""
_NO_END_PATCH = "no End Patch"
_NO_FENCE = "no closing fence: there may be more of the file"


class Landing:
    """Lands the patch of one tool call, or the patches of one message."""

    alone = False
    """It is about one file, as the diff of the built-in tool's operation is; another ends it."""

    def __init__(
        self,
        workspace: Workspace,
        *,
        turn: int,
        call_id: str,
        channel: Channel = "custom",
        fmt: Format = "apply_patch",
    ) -> None:
        """``channel`` says how the deltas wrap the patch; see `edit_stream.parser_for`."""
        self.workspace = workspace
        self.turn = turn
        self.call_id = call_id
        self.prose: list[str] = []
        """Text channel: the text that is no patch, in pieces; who reads it takes it."""
        self.failure = ""
        """What is wrong with the patch itself, with the line; empty if nothing is."""
        self.was_cut = False
        """The stream was cut inside the patch."""
        self.finished = False
        self.last_line: tuple[str, int] | None = None
        """Path and row where it wrote last, for follow mode."""
        self._documents = workspace.documents
        self._documents.ask_again()
        self._parser = parser_for(fmt, channel, partial(is_file, self._documents))
        self._work: FileWork | None = None
        self._last_work: FileWork | None = None
        self._hunks: list[Hunk] = []
        self._forgotten = 0
        """How many the documents had forgotten when these were taken out here."""
        self._why = Why()
        self._freeze = self._documents.freeze
        self._locked = ""
        self._no_end = _NO_END_PATCH
        """What is missing, if the patch has no end."""
        self._held: list[Ev] | None = None
        """Events that wait until another landing is done with their file."""
        self._unnamed: list[Ev] = []
        """The header of SEARCH/REPLACE blocks: its first line decides which file it means."""
        self._passed: object | None = None
        """The landing that is at work on the file and that this one, ending, did not wait for."""
        self._waiting: list[UpdateWork] = []
        """Files whose move waits for the end of the patch."""
        self._rest = 0
        """Frames to go until an unfinished line that is long is painted again."""

    @property
    def hunks(self) -> Sequence[Hunk]:
        """Its hunks, in order."""
        gone = self._documents.forgotten[self._forgotten :]
        if len(gone) > _MANY:
            self._hunks = [hunk for hunk in self._hunks if hunk.id in self._documents.hunk_list]
        for number in gone if len(gone) <= _MANY else ():
            at = bisect_left(self._hunks, number, key=_ID)
            if at < len(self._hunks) and self._hunks[at].id == number:
                del self._hunks[at]
        self._forgotten += len(gone)
        return self._hunks

    @property
    def last_hunk(self) -> Hunk | None:
        """The hunk that it writes, or wrote last."""
        return self._hunks[-1] if self._hunks else None

    @property
    def unnamed(self) -> int:
        """See `Parser.unnamed`."""
        return self._parser.unnamed

    @property
    def placed_all(self) -> bool:
        """True if the whole patch came and all of it is in the buffers."""
        whole = self.finished and not self.failure and not self.was_cut
        return whole and list(map(_STAGE, self.hunks)).count(Stage.LANDED) == len(self.hunks)

    def feed(self, delta: str) -> None:
        """The next piece of the stream, as the wire gave it; a file with NUL would be no text."""
        if "\0" in delta:
            delta = delta.replace("\0", "\ufffd")
        for event in self._parser.feed(delta):
            work = self._work
            waits = self._held is not None or self._unnamed
            if work is None or waits or not isinstance(event, Line):
                self._take(event)
            else:
                work.take(event, self._why)
        self._note_line()

    def tail(self) -> None:
        """Paint the unfinished added line; call it once a frame at most.

        A long one is painted again only when it has grown by a share of itself: painting it in
        every frame would take the square of its length.
        """
        if self._rest:
            self._rest -= 1
            return
        self._paint_tail()

    def _paint_tail(self) -> None:
        for event in self._parser.tail():
            if isinstance(event, Partial) and self._work is not None and self._held is None:
                self._work.partial(event.text)
                self._rest = len(event.text) // _LONG_TAIL
                self._note_line()

    def finish(self, cut: bool, *, withdrawn: bool = False) -> None:
        """The stream is over: complete as the transport says, or ``cut`` here.

        ``withdrawn``: it was said twice, so nothing that is open of it stays.
        """
        if self.finished:
            return
        self._freeze = self._documents.freeze and not withdrawn
        self._go_on()
        path, unplaced = "", None
        if cut and self._freeze:
            self._paint_tail()
            self._why = Why(cut=True, freeze=True)
            path = self._work.path if self._work is not None else ""
            unplaced = self.workspace.ghost(path)
        for event in self._parser.finish(cut):
            self._take(event)
            self._go_on()
        self._settle()
        self.finished = True
        for record in self._documents.records.values():
            record.shifts.follow(record.waiting)
            record.forget()
        self._unlock()
        if unplaced is not None:
            revision = self._documents.buffers[path].revision
            self._documents.unplaced[path] = (revision, *unplaced)
        hunks = self.hunks
        flag_shrunken(self._documents, hunks, self.call_id)
        flag_private(self._documents, hunks, self.call_id)
        self._documents.bump()
        self.workspace.on_landed(hunks, not (self.failure or self.was_cut))

    def report(self, private: Private = open_to_all) -> str:
        """What the model is told of it: what is where now, and what is not (in words)."""
        return finished(self.reporting(private))

    def reporting(self, private: Private) -> Work[str]:
        """See `report`."""
        return landing_report(self._documents, self.hunks, self.failure, self.was_cut, private)

    def _take(self, event: Ev) -> None:
        if self._held is not None:
            self._held.append(event)
        elif self._unnamed:
            self._name(event)
        elif isinstance(event, Prose):
            self.prose.append(event.text)
        elif isinstance(event, Cut):
            self.was_cut = True
            why = "the stream was cut before it was whole"
            self._why = Why(why, cut=True, freeze=self._freeze)
        elif isinstance(event, Failure):
            self.failure = f"line {event.line}: {event.message}"
            self._why = Why(f"the patch broke off at {self.failure}", freeze=self._freeze)
        elif isinstance(event, End):
            self._end(event)
        elif isinstance(event, FileOp):
            self._start(event)
        elif isinstance(event, FileEnd):
            self._end_file(event)
        elif self._work is not None:
            self._work.take(event, self._why)

    def _name(self, event: Ev) -> None:
        """Go on with a header, once it is known if its first SEARCH has lines."""
        self._unnamed.append(event)
        if isinstance(event, SectionStart):
            return
        (header, *events), self._unnamed = self._unnamed, []
        assert isinstance(header, FileOp)
        path = path_of(self._documents, header, basename=isinstance(event, Line))
        self._open(replace(header, path=path))
        for one in events:
            self._take(one)

    def _start(self, event: FileOp) -> None:
        if self.alone and self._last_work is not None:
            self.failure = self.failure or f"it is about one file, not about '{event.path}' too"
        elif event.notation == "search_replace":
            self._unnamed = [event]
        elif event.notation == "whole_file":
            self._open(replace(event, path=path_of(self._documents, event, basename=False)))
        else:
            self._open(event)

    def _open(self, event: FileOp) -> None:
        path = self._key(event.path, to_open=True)
        other = self._documents.busy.get(path)
        if other is not None and other is not self:
            self._documents.at_hand.clear()
            self._held = [event]
            self._documents.waiters.setdefault(path, []).append(self._go_on)
            return
        self._why = Why()
        self._no_end = _NO_FENCE if event.notation == "whole_file" else _NO_END_PATCH
        self._documents.busy[path] = self
        self._locked = path
        self._work = work_for(self._documents, event, self._new_hunk)
        self._documents.at_hand.clear()

    def _end_file(self, event: FileEnd) -> None:
        self._note_line()
        work, self._work = self._work, None
        if work is not None:
            work.end(event.closed, self._why)
            self._last_work = work
            if isinstance(work, UpdateWork) and work.waiting is not None:
                self._waiting.append(work)
        self._unlock()

    def _settle(self) -> None:
        works, self._waiting = self._waiting, []
        settle(works, self._why)

    def _end(self, event: End) -> None:
        self._settle()
        work = self._last_work
        if event.explicit or work is None:
            return
        for hunk in work.last_hunks:
            hunk.flags += (self._no_end,)

    def _go_on(self) -> None:
        """Take what was held while another landing was at the file."""
        if self._held is None:
            return
        held, self._held = self._held, None
        if isinstance(held[0], FileOp):
            path = self._key(held[0].path)
            self._passed = self._documents.busy.pop(path, None)
            waiters = self._documents.waiters.get(path, [])
            if self._go_on in waiters:
                waiters.remove(self._go_on)
        for event in held:
            self._take(event)
        self._note_line()

    def _unlock(self) -> None:
        passed, self._passed = self._passed, None
        if self._locked and self._documents.busy.get(self._locked) is self:
            del self._documents.busy[self._locked]
            if passed is not None:
                self._documents.busy[self._locked] = passed
                self._locked = ""
                return  # who waits, waits for that one
        waiters = self._documents.waiters.get(self._locked, [])
        self._locked = ""
        if waiters:
            waiters.pop(0)()

    def _key(self, path: str, *, to_open: bool = False) -> str:
        try:
            path = self._documents.real(path, to_open=to_open)
        except EditRefused:
            return path
        record = self._documents.arriving.get(path)
        return record.path if record else path

    def _new_hunk(self, path: str, kind: Kind, section: int) -> Hunk:
        hunk = Hunk(0, self.turn, self.call_id, path, kind, section=section)
        self._hunks.append(self._documents.new_hunk(hunk))
        return hunk

    def _note_line(self) -> None:
        work = self._work
        if work is not None:
            work.catch_up()
        if work is not None and (row := work.last_row) is not None:
            self.last_line = (work.path, row)
