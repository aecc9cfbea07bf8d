"""What a patch does to a file that is there: update it (and move it), or delete it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tui.core.document.documents import Documents
from tui.core.document.file_record import FileRecord
from tui.core.document.hunk import OPEN, Hunk, Kind, Stage
from tui.core.document.review import MOVES_OVER
from tui.core.edit_stream.events import (
    Anchor,
    EndOfFile,
    Ev,
    Line,
    MoveTo,
    NoNewline,
    Notation,
    Refusal,
    SectionEnd,
    SectionStart,
)
from tui.core.files import ascii_shown
from tui.core.patches.file_work import FileWork, Gathered, NewHunk, Why
from tui.core.patches.near_miss import nearest_miss
from tui.core.patches.placement import Search
from tui.core.patches.section import Section
from tui.core.text.rows import file_rows, row_count, whole_text
from tui.errors import EditRefused


class UpdateWork(FileWork):
    """Sections that are placed one after the other, then perhaps a move."""

    def __init__(
        self,
        documents: Documents,
        path: str,
        new_hunk: NewHunk,
        notation: Notation = "apply_patch",
    ) -> None:
        super().__init__(documents, path, new_hunk)
        self.record: FileRecord | None = None
        self._notation = notation
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
            placed, standing = self._search.placed, section.record.live
            placed.update(section.hunks)
            first, last = section.placed_rows
            offset, before = _offset(section, first), True
            if not (section.locator.old or section.locator.anchors):
                # at the end of the file, wherever the sections around it are
                last, before = self._search.cursor, self._search.placed_before
            self._search = Search(last, before, placed, standing, self._notation, offset)
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
                if self._notation == "unified_diff" and there.deletion is None:
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

    kind = Kind.DELETE

    def __init__(
        self,
        documents: Documents,
        path: str,
        new_hunk: NewHunk,
        notation: Notation = "apply_patch",
    ) -> None:
        super().__init__(documents, path, new_hunk)
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
