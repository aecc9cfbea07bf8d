"""One patch on its way into the live buffers: from text deltas to hunks, while it streams."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from functools import partial
from operator import attrgetter

from msgspec.structs import replace

from tui.core.document.documents import Documents
from tui.core.document.file_record import FileRecord
from tui.core.document.hunk import OPEN, PLACED, Decision, Hunk, Kind, Stage
from tui.core.document.report import Private, landing_report, open_to_all
from tui.core.document.review import MOVES_OVER, above, reject
from tui.core.document.workspace import Workspace
from tui.core.edit_stream import Channel, Format, parser_for
from tui.core.edit_stream.events import (
    Anchor,
    Cut,
    End,
    EndOfFile,
    Ev,
    Failure,
    FileEnd,
    FileOp,
    Line,
    MoveTo,
    NoNewline,
    Notation,
    Partial,
    Prose,
    Refusal,
    SectionEnd,
    SectionStart,
)
from tui.core.files import ascii_shown
from tui.core.patches.candidates import nearest_miss
from tui.core.patches.checks import (
    LOST_CHARACTER,
    flag_lost,
    flag_outside,
    flag_private,
    flag_shrunken,
)
from tui.core.patches.file_work import (
    CutPatch,
    FileWork,
    Gathered,
    NewHunk,
    Why,
    is_file,
    open_file,
    path_of,
)
from tui.core.patches.new_text import AddWork, SearchWork, WholeWork
from tui.core.patches.placement import Search
from tui.core.patches.section import Section
from tui.core.steps import Work, finished
from tui.core.text.rows import file_rows, row_count, rows_text, whole_text
from tui.errors import EditRefused


class UpdateWork(FileWork):
    """Sections that are placed one after the other, then perhaps a move."""

    def __init__(
        self, documents: Documents, path: str, new_hunk: NewHunk, notation: Notation
    ) -> None:
        super().__init__(documents, path, new_hunk, notation)
        self._section: Section | None = None
        self._search = Search(notation=notation)
        self._last_section: Section | None = None
        self._target, self._written = "", path
        self.waiting: FileRecord | None = None
        """The file that is where this one is to go, and may go away later in the same patch."""
        self._before = 0
        """Hunks of the sections before the one that is read."""
        self._refused: Gathered | None = None
        self._lines: list[tuple[str, str]] = []
        """The first lines of the section, as long as more come at once."""
        self._newline = ""
        """The file's first line ending before any of it changed."""
        self._ended = True
        """Its last line had one."""
        self._cr = False
        """Its lines end in a return alone."""
        try:
            self.record = self.found(path)
            self.path = self.record.path
            self._newline = self.record.buffer.newline
            self._ended = not self.record.buffer.lines[-1]
            self._cr = self.record.buffer.form.cr
        except EditRefused as error:
            self._refuse(str(error))

    @property
    def last_row(self) -> int | None:
        """The row that was written last, if any."""
        section = self._section or self._last_section
        return section.painter.last_row if section and section.painter else None

    @property
    def last_hunks(self) -> list[Hunk]:
        """The hunks of what came last."""
        section = self._last_section
        return super().last_hunks if section is None else section.hunks

    def take(self, event: Ev, why: Why) -> None:
        """A section's event, or where the file goes."""
        if isinstance(event, Line) and self._section is not None:
            # to git, which knows no line ends of returns alone, the whole file is one line
            for text in event.text.split("\r") if self._cr else (event.text,):
                if self._section.ops or event.bare:
                    self._hand_on(self._section, more=True)
                    self._section.line(event.op, text, event.bare)
                else:
                    self._lines.append((event.op, text))
        elif isinstance(event, MoveTo):
            self._target = event.path
        elif isinstance(event, Refusal):
            self.record = None
            self._refuse(event.message)
        elif self.record is None:
            if self._refused is not None:
                self._refused.take(event)
        elif isinstance(event, SectionStart):
            number, self._before = event.number, len(self.hunks)
            self._section = Section(
                self.documents,
                self.record,
                self._search,
                self.new_edit,
                number,
            )
            self._section.newline = self._newline
        elif self._section is not None:
            self._pass_on(self._section, event, why)

    def partial(self, text: str) -> None:
        """The unfinished added line, for this frame."""
        self.catch_up()
        if self._section is not None:
            self._section.partial(text)

    def catch_up(self) -> None:
        """No more lines come for now: those that came are to be in the buffer."""
        if self._section is not None:
            self._hand_on(self._section, more=False)

    def end(self, closed: bool, why: Why) -> None:
        """Move the file if it is to go elsewhere and all of it is placed."""
        if self._refused is not None:
            self._refused.keep()
        if not self._target:
            return
        hunk = self.hunk(Kind.MOVE)
        hunk.target = self._target
        if not closed:
            self.ended(hunk, Stage.REFUSED, f"interrupted before the move: {why.words}")
        elif self.record is None or any(h.stage is not Stage.LANDED for h in self.hunks[:-1]):
            reason = "not moved: not all hunks of the file are placed"
            self.ended(hunk, Stage.REFUSED, reason)
        elif self.record.moving is not None:
            self._move_on(self.record, self.record.moving, hunk)
        else:
            self._move(self.record, hunk)

    def resume(self, earlier: FileWork) -> None:
        """Look behind the sections that stand."""
        if isinstance(earlier, UpdateWork) and self.record is earlier.record:
            self._search = earlier._search
            self.hunks[:0] = [one for one in earlier.hunks if one.stage is Stage.LANDED]

    def _refuse(self, reason: str) -> None:
        if self._refused is None:
            self._refused = Gathered(self.hunk(Kind.EDIT))
        self.ended(self._refused.hunk, Stage.REFUSED, reason)

    def _pass_on(self, section: Section, event: Ev, why: Why) -> None:
        if isinstance(event, NoNewline) and self._cr and self._ended:
            pass
        elif isinstance(event, Anchor | EndOfFile | NoNewline):
            self._hand_on(section, more=True)
            section.told(event)
        elif isinstance(event, SectionEnd):
            self._close(section, event, why)

    def _hand_on(self, section: Section, *, more: bool) -> None:
        lines, self._lines = self._lines, []
        if lines or not more:
            section.lines(lines, more=more)

    def _close(self, section: Section, event: SectionEnd, why: Why) -> None:
        self._hand_on(section, more=True)
        section.flags += event.flags
        section.close(event.closed, why)
        if section.placed_rows is not None:
            placed, landed = self._search.placed, section.record.live
            placed.update(section.hunks)
            first, last = section.placed_rows
            offset, before = _offset(section, first), True
            if not (section.locator.old or section.locator.anchors):
                # at the end of the file, wherever the sections around it are
                last, before = self._search.cursor, self._search.placed_before
            self._search = Search(last, before, placed, landed, self.notation, offset)
        self.hunks[self._before :] = section.hunks
        self._last_section, self._section = section, None

    def _move_on(self, record: FileRecord, earlier: Hunk, hunk: Hunk) -> None:
        """The file is to go on from where an earlier hunk brings it: one move does both."""
        if earlier.call_id != hunk.call_id:
            reason = f"not moved: an earlier move to '{ascii_shown(earlier.target)}' is pending"
            self.ended(hunk, Stage.REFUSED, reason)
            return
        self.documents.arriving.pop(earlier.target, None)
        record.moving = None
        self.documents.hunk_list.moved([hunk], earlier.path)
        self._move(record, hunk)
        if hunk.stage is Stage.LANDED:
            self.documents.forget_hunk(earlier)
        else:
            record.moving = earlier
            self.documents.arriving[earlier.target] = record

    def _move(self, record: FileRecord, hunk: Hunk) -> None:
        try:
            self.documents.refuse_link(self._written, "moved")
            target = self.documents.real(self._target)
            self.refuse_if_arriving(target)
            if target == record.path:
                raise EditRefused(f"'{ascii_shown(target)}' is where the file is")
            there = self.documents.find(target)
            hunk.target = target
            if there is not None and there.moving is None:
                if self.notation == "unified_diff" and there.deletion is None:
                    self.waiting = there
                    return
                if not there.saved or any(other.undecided for other in there.live):
                    raise EditRefused(f"'{ascii_shown(target)}' has changes of its own")
                hunk.flags += (MOVES_OVER,)
        except EditRefused as error:
            self.ended(hunk, Stage.REFUSED, f"not moved: {error}")
            return
        self._go(record, hunk)

    def _go(self, record: FileRecord, hunk: Hunk) -> None:
        record.moving = hunk
        self.documents.arriving[hunk.target] = record
        there = self.documents.records.get(hunk.target)
        if there is not None and not there.gone:
            self.documents.layers.own(hunk).replaces = there.disk
        self.ended(hunk, Stage.LANDED)

    def settle(self, leaving: Collection[FileRecord], why: Why) -> bool:
        """Refuse a move that waits if the file at its target stays; True: it goes elsewhere.

        ``leaving`` are the files that are about to go, as far as is known.
        """
        hunk, there = self.hunks[-1], self.waiting
        if why.words:
            self.ended(hunk, Stage.REFUSED, f"interrupted before the move: {why.words}")
        elif there and there not in leaving and not (there.moving or there.deletion):
            reason = f"not moved: '{ascii_shown(hunk.target)}' already exists"
            self.ended(hunk, Stage.REFUSED, reason)
        return hunk.stage in OPEN

    def go(self) -> None:
        """Move the file that waited."""
        assert self.record is not None
        try:
            self.refuse_if_arriving(self.hunks[-1].target)
        except EditRefused as error:
            self.ended(self.hunks[-1], Stage.REFUSED, f"not moved: {error}")
        else:
            self._go(self.record, self.hunks[-1])


def _offset(section: Section, row: int) -> int:
    """How far below its line number a section was placed, as the text is now."""
    hint = section.locator.hint
    if hint is None:
        return 0
    return row - hint + sum(hunk.added - hunk.removed for hunk in section.hunks)


def settle(works: Sequence[UpdateWork], why: Why) -> None:
    """Decide on the moves that waited for the patch to say if the file at their target goes.

    One that is refused keeps its own file where it is, which may be the target of another.
    """
    waiting, count = list(works), -1
    while len(waiting) != count:
        count = len(waiting)
        leaving = {work.record for work in waiting if work.record is not None}
        waiting = [work for work in waiting if work.settle(leaving, why)]
    for work in waiting:
        work.go()


class DeleteWork(FileWork):
    """A deletion: nothing happens before the next header or the end is there."""

    def __init__(
        self, documents: Documents, path: str, new_hunk: NewHunk, notation: Notation
    ) -> None:
        super().__init__(documents, path, new_hunk, notation)
        self._removed: list[str] | None = [] if notation == "unified_diff" else None
        """The lines that a unified diff says the file has."""
        self._refusal = ""

    def take(self, event: Ev, why: Why) -> None:
        """A line that the file must have."""
        if isinstance(event, Refusal):
            self._refusal = event.message
        elif isinstance(event, Line) and self._removed is not None:
            self._removed.append(event.text)

    def end(self, closed: bool, why: Why) -> None:
        """Strike the whole file, if the stream went on behind the header."""
        hunk = self.hunk(Kind.DELETE)
        if not closed:
            words = "interrupted before the delete" if why.cut else f"not deleted: {why.words}"
            self.ended(hunk, Stage.REFUSED, words)
            return
        try:
            if self._refusal:
                raise EditRefused(self._refusal)
            self.refuse_if_arriving(self.path)
            record = self.documents.open(self.path)
            self.documents.refuse_link(self.path, "deleted")
            self._compare(record)
            if record.deletion is not None or record.moving is not None:
                raise EditRefused(f"file not found: '{ascii_shown(self.path)}' is gone already")
        except EditRefused as error:
            self.ended(hunk, Stage.REFUSED, str(error))
            return
        self.documents.hunk_list.moved([hunk], record.path)
        hunk.base = whole_text(record.buffer)
        hunk.removed = row_count(hunk.base)
        hunk.flags += ("deletes the file",)
        if record.sent() != hunk.base:
            hunk.flags += ("it was changed after the model had seen it",)
        record.deletion = hunk
        self.documents.layers.own(hunk).state = record.undo_log.state
        self.ended(hunk, Stage.LANDED)

    def _compare(self, record: FileRecord) -> None:
        """Raises EditRefused if the file is not what the diff removes."""
        buffer = record.buffer
        there = buffer.lines[: file_rows(buffer)]
        old = self._removed
        if old is None or [line.rstrip() for line in old] == [line.rstrip() for line in there]:
            return
        if not old:
            raise EditRefused("context not found: the diff does not quote what it deletes")
        if len(old) != len(there) and old == there[: len(old)]:
            more = len(there) - len(old)
            raise EditRefused(f"context not found: the file has {more} more lines than it quotes")
        near = nearest_miss(buffer, record.index, old, ())
        raise EditRefused(f"context not found: {near.words}")


def work_for(documents: Documents, op: FileOp, new_hunk: NewHunk) -> FileWork:
    """The work that a file header asks for; its path is the one of the file."""
    if op.notation == "search_replace":
        return SearchWork(documents, op.path, new_hunk, op.notation)
    if op.notation == "whole_file" and (record := _existing(documents, op.path)) is not None:
        return WholeWork(documents, record, new_hunk, op.notation)
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
        self._format, self.channel = fmt, channel
        self._parser = parser_for(fmt, channel, partial(is_file, self._documents))
        self._before_cut = 0
        """Hunks with a greater number were made by the cut itself."""
        self._work: FileWork | None = None
        self._last_work: FileWork | None = None
        self._hunks: list[Hunk] = []
        self._forgotten = len(self._documents.forgotten)
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
        self._lost = False
        """Something came that no text can hold."""
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
            delta = delta.replace("\0", LOST_CHARACTER)
        self._lost = self._lost or LOST_CHARACTER in delta
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
        self._before_cut = self._hunks[-1].id if self._hunks else 0
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
        flag_outside(self._documents, hunks)
        flag_lost(hunks if self._lost else ())
        self._documents.bump()
        self.workspace.on_landed(hunks, not (self.failure or self.was_cut))

    def reopen(self, text: str, *, probe: bool = False) -> int | None:
        """Go on behind ``text``, all of it that stands, as if it had not been cut there.

        Sections that are whole in it stay, whatever became of them; what was cut is painted again
        and goes on. Returns how much of ``text`` is prose; None: it cannot go on, as somebody
        typed in what was cut or decided on it. ``probe``: only say whether it can.
        """
        cut = self._cut_in(text)
        work = self._last_work if cut.begun else None
        busy = work is not None and bool(work.path) and work.path in self._documents.busy
        unlike = self.channel == "shell" or self.alone or bool(self.failure)
        if busy or unlike or not all(self._is_untouched(one) for one in cut.hunks):
            return None
        if not probe:
            self._reopen(cut)
        return sum(len(event.text) for event in cut.events if isinstance(event, Prose))

    def land_again(self, hunks: Sequence[Hunk], text: str) -> bool:
        """Have what an earlier landing left of this patch painted anew, up to where it was cut.

        False: it stays as it is, since the user typed in one of its ``hunks`` or decided on it.
        """
        if not all(map(self._is_untouched, hunks)):
            return False
        self._take_out(hunks)
        self.feed(text)
        self.finish(cut=True)
        return True

    def cut_alike(self, text: str, other: str) -> bool:
        """True if the same section is open behind both texts."""
        one, two = self._cut_in(text), self._cut_in(other)
        return one.whole == two.whole and bool(one.begun) == bool(two.begun)

    def take_out_cut(self, text: str) -> None:
        """What is cut behind ``text`` comes anew in another patch: it goes, as far as it can."""
        self._take_out([one for one in self._cut_in(text).hunks if self._is_untouched(one)])

    def _cut_in(self, text: str) -> CutPatch:
        channel: Channel = "text" if self.channel == "text" else "custom"
        parser = parser_for(self._format, channel, partial(is_file, self._documents))
        events = parser.feed(text)
        begun, whole = open_file(events)
        work = self._last_work if begun else None
        hunks = dict.fromkeys(one for one in work.hunks if one.section not in whole) if work else {}
        hunks.update(dict.fromkeys(one for one in self.hunks if one.id > self._before_cut))
        return CutPatch(parser, events, begun, whole, [*hunks])

    def _is_untouched(self, hunk: Hunk) -> bool:
        """True if it stands as it was painted, and nobody decided on it."""
        if hunk.decision is not Decision.PENDING:
            return False
        record = self._documents.records.get(hunk.path)
        if hunk.start is None or hunk.end is None or record is None or record.gone:
            return hunk.stage not in PLACED or hunk.kind in (Kind.MOVE, Kind.DELETE)
        now = rows_text(record.buffer, hunk.start.line, hunk.end.line)
        return now == hunk.agent and not above(self._documents, hunk)

    def _take_out(self, hunks: Sequence[Hunk]) -> None:
        known = self._documents.records
        paths = {hunk.path for hunk in hunks if hunk.path in known}
        before = [(known[path], known[path].by_others.copy()) for path in paths]
        finished(reject(self._documents, hunks, ""))
        for record, others in before:  # nobody but the model did this
            record.by_others = others
        for hunk in hunks:
            self._documents.forget_hunk(hunk)
        self._hunks = [*self.hunks]
        self._documents.number_again()

    def _reopen(self, cut: CutPatch) -> None:
        earlier = self._last_work
        self._documents.unplaced.clear()
        self._documents.ask_again()
        self._take_out(cut.hunks)
        self.finished = self.was_cut = False
        self._why, self._parser, self._rest = Why(), cut.parser, 0
        skipped = False
        for event in cut.begun:
            if isinstance(event, SectionStart):
                skipped = event.number in cut.whole
            if skipped:
                continue
            new = self._work is None
            self._take(event)
            if new and earlier is not None:
                self._resume(earlier)
        self._note_line()

    def _resume(self, earlier: FileWork) -> None:
        if self._work is not None:
            self._work.resume(earlier)

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
