"""What a patch does to one file: update (and move), add, delete."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tui.core.edit_stream.events import (
    Anchor,
    EndOfFile,
    Ev,
    Line,
    MoveTo,
    SectionEnd,
    SectionStart,
)
from tui.core.file_read import ascii_shown
from tui.core.hunk import Hunk, Kind, Stage
from tui.core.ledger import Author, FileRecord, Ledger
from tui.core.painter import Painted, Painter
from tui.core.placement import Search
from tui.core.rows import row_count, whole_text
from tui.core.section import Section
from tui.errors import EditRefused

NewHunk = Callable[[str, Kind, int], Hunk]
"""Path, kind and section -> a hunk of the call, numbered and taken in."""


@dataclass(slots=True)
class Why:
    """Why a patch ended early; empty words if it did not."""

    words: str = ""
    cut: bool = False
    """By an interruption; else by an error in the patch."""


class FileWork:
    """What is common: a path, the call's ledger, and a refusal that ends it all."""

    kind = Kind.EDIT

    def __init__(self, ledger: Ledger, path: str, new_hunk: NewHunk) -> None:
        self.ledger = ledger
        self.path = path
        self.hunks: list[Hunk] = []
        self._new_hunk = new_hunk

    @property
    def last_row(self) -> int | None:
        """The row that was written last, if any."""
        return None

    def take(self, event: Ev, why: Why) -> None:
        """The next event of this file."""

    def partial(self, text: str) -> None:
        """The unfinished added line, for this frame."""

    def end(self, closed: bool, why: Why) -> None:
        """No more events of this file come."""

    def hunk(self, kind: Kind, section: int = 0) -> Hunk:
        """A new hunk of this file."""
        hunk = self._new_hunk(self.path, kind, section)
        self.hunks.append(hunk)
        return hunk

    def refuse_if_arriving(self, path: str) -> None:
        """Raises EditRefused if a pending move brings another file to this path."""
        if self.ledger.checked(path) in self.ledger.arriving:
            raise EditRefused(f"'{ascii_shown(path)}' is where an earlier hunk moves a file")

    def ended(self, hunk: Hunk, stage: Stage, reason: str = "") -> None:
        """Give a hunk its last stage."""
        hunk.stage, hunk.reason = stage, reason
        self.ledger.bump()


class UpdateWork(FileWork):
    """Sections that are placed one after the other, then perhaps a move."""

    def __init__(self, ledger: Ledger, path: str, new_hunk: NewHunk) -> None:
        super().__init__(ledger, path, new_hunk)
        self.record: FileRecord | None = None
        self.last_section: Section | None = None
        self._section: Section | None = None
        self._search = Search()
        self._target = ""
        self._before = 0
        """Hunks of the sections before the one that is read."""
        self._refused: Hunk | None = None
        try:
            self.record = self._found(path)
            self.path = self.record.path
        except EditRefused as error:
            self._refused = self.hunk(Kind.EDIT)
            self.ended(self._refused, Stage.REFUSED, str(error))

    @property
    def last_row(self) -> int | None:
        """The row that was written last, if any."""
        section = self._section or self.last_section
        return section.last_row if section else None

    def take(self, event: Ev, why: Why) -> None:
        """A section's event, or where the file goes."""
        if isinstance(event, MoveTo):
            self._target = event.path
        elif self.record is None:
            self._count(event)
        elif isinstance(event, SectionStart):
            number, self._before = event.number, len(self.hunks)
            self._section = Section(
                self.ledger,
                self.record,
                self._search,
                lambda: self.hunk(Kind.EDIT, number),
            )
        elif self._section is not None:
            self._pass_on(self._section, event, why)

    def partial(self, text: str) -> None:
        """The unfinished added line, for this frame."""
        if self._section is not None:
            self._section.partial(text)

    def end(self, closed: bool, why: Why) -> None:
        """Move the file if it is to go elsewhere and all of it is placed."""
        if not self._target:
            return
        hunk = self.hunk(Kind.MOVE)
        hunk.target = self._target
        if not closed:
            self.ended(hunk, Stage.DROPPED, f"interrupted before the move: {why.words}")
        elif self.record is None or any(h.stage is not Stage.LANDED for h in self.hunks[:-1]):
            reason = "not moved: not all hunks of the file are placed"
            self.ended(hunk, Stage.REFUSED, reason)
        elif self.record.moving is not None:
            self._move_on(self.record, self.record.moving, hunk)
        else:
            self._move(self.record, hunk)

    def _found(self, path: str) -> FileRecord:
        record = self.ledger.arriving.get(self.ledger.checked(path))
        record = record or self.ledger.open(path)
        if record.deletion is not None:
            raise EditRefused(f"file not found: '{ascii_shown(path)}' is to be deleted")
        if record.moving is not None and record.path == self.ledger.checked(path):
            target = ascii_shown(record.moving.target)
            raise EditRefused(f"file not found: '{ascii_shown(path)}' is to go to '{target}'")
        return record

    def _count(self, event: Ev) -> None:
        if isinstance(event, Line) and self._refused is not None:
            self._refused.added += event.op == "+"
            self._refused.removed += event.op == "-"

    def _pass_on(self, section: Section, event: Ev, why: Why) -> None:
        if isinstance(event, Line):
            section.line(event.op, event.text)
        elif isinstance(event, Anchor):
            section.anchor(event.text, event.line_hint)
        elif isinstance(event, EndOfFile):
            section.end_of_file()
        elif isinstance(event, SectionEnd):
            section.close(event.closed, why.words)
            if section.placed_rows is not None:
                placed, standing = self._search.placed, section.record.live
                placed.update(section.hunks)
                self._search = Search(section.placed_rows[1], True, placed, standing)
            self.hunks[self._before :] = section.hunks
            self.last_section, self._section = section, None

    def _move_on(self, record: FileRecord, earlier: Hunk, hunk: Hunk) -> None:
        """The file is to go on from where an earlier hunk brings it: one move does both."""
        if earlier.call_id != hunk.call_id:
            reason = f"not moved: an earlier move to '{ascii_shown(earlier.target)}' is pending"
            self.ended(hunk, Stage.REFUSED, reason)
            return
        self.ledger.arriving.pop(earlier.target, None)
        record.moving = None
        hunk.path = earlier.path
        self._move(record, hunk)
        if hunk.stage is Stage.LANDED:
            self.ledger.forget_hunk(earlier)
        else:
            record.moving = earlier
            self.ledger.arriving[earlier.target] = record

    def _move(self, record: FileRecord, hunk: Hunk) -> None:
        try:
            target = self.ledger.checked(self._target)
            self.refuse_if_arriving(target)
            if target == record.path:
                raise EditRefused(f"'{ascii_shown(target)}' is where the file is")
            if self.ledger.find(target) is not None:
                hunk.flags.append("moves over an existing file")
        except EditRefused as error:
            self.ended(hunk, Stage.REFUSED, f"not moved: {error}")
            return
        hunk.target = target
        record.moving = hunk
        self.ledger.arriving[target] = record
        self.ended(hunk, Stage.LANDED)


class AddWork(Painted, FileWork):
    """A new file, whose lines are there as they come; an existing one is replaced at the end."""

    kind = Kind.ADD

    def __init__(self, ledger: Ledger, path: str, new_hunk: NewHunk) -> None:
        super().__init__(ledger, path, new_hunk)
        self.record: FileRecord | None = None
        self._lines: list[str] = []
        self._partial = ""
        self._hunk = self.hunk(Kind.ADD)
        self._refusal = ""
        try:
            self._begin(path)
        except EditRefused as error:
            self._refusal = str(error)

    def take(self, event: Ev, why: Why) -> None:
        """The next line."""
        if not isinstance(event, Line):
            return
        self._hunk.added += 1
        self._partial = ""
        if self._painter is not None:
            self._painter.new_line(event.text, self._hunk)
        else:
            self._lines.append(event.text)

    def partial(self, text: str) -> None:
        """The unfinished line, for this frame."""
        self._partial = text
        if self._painter is not None:
            self._painter.partial_line(text, self._hunk)

    def end(self, closed: bool, why: Why) -> None:
        """The whole file is there, or what came of it."""
        record, hunk = self.record, self._hunk
        if record is None:
            self.ended(hunk, Stage.REFUSED, self._refusal)
        elif self._painter is None:
            self._replace(record, closed, why)
        else:
            self._painter.drop_partial()
            record.sections.remove(self)
            if not closed and not hunk.added:
                if not record.named:
                    self.ledger.drop(record)
                self.ended(hunk, Stage.DROPPED, f"incomplete: {why.words}")
                return
            self._land(record, self._painter)
            if closed:
                self.ended(hunk, Stage.LANDED)
            else:
                hunk.flags.append("the file is incomplete")
                self.ended(hunk, Stage.PARTIAL, f"partial: whole lines kept, but {why.words}")

    # What a front end reads (OpenSection).

    def decorations(self) -> dict[int, str]:
        """All painted lines are landing."""
        painter = self._painter
        if painter is None:
            return {}
        return dict.fromkeys(range(painter.row, painter.end), "landing")

    def ghost(self) -> tuple[int, list[str]] | None:
        """The lines of an existing file's new text."""
        if self._painter is not None or self.record is None or not self._lines:
            return None
        return self.record.buffer.line_count - 1, self._lines[-40:]

    def _begin(self, path: str) -> None:
        self.refuse_if_arriving(path)
        record = self.ledger.find(path)
        if record is not None and record.moving is not None:
            raise EditRefused(f"'{ascii_shown(path)}' is to be moved by an earlier hunk")
        blank = record is None or record.blank
        self.record = record or self.ledger.create(path)
        self.path = self._hunk.path = self.record.path
        self._hunk.stage = Stage.READING
        self.record.sections.append(self)
        if blank:
            self.ledger.layers[self._hunk.id].made_file = True
            self.record.synced = self.record.version
            self._painter = Painter(self.ledger, self.record, 0, owner=self)
            self._hunk.stage = Stage.LANDING

    def _land(self, record: FileRecord, painter: Painter) -> None:
        painter.finish()
        if not painter.groups:
            self.ledger.settle(record, self._hunk, (0, 0))

    def _replace(self, record: FileRecord, closed: bool, why: Why) -> None:
        hunk = self._hunk
        record.sections.remove(self)
        newline = record.buffer.newline
        hunk.agent = "".join(line + newline for line in self._lines)
        if not closed:
            reason = f"incomplete: the existing file is as it was, {why.words}"
            self.ended(hunk, Stage.DROPPED, reason)
            return
        if record.deletion is not None:
            self.ledger.forget_hunk(record.deletion)
            record.deletion = None
            hunk.flags.append("replaces the file that it deleted")
        else:
            hunk.flags.append("overwrites an existing file")
        hunk.base = whole_text(record.buffer)
        hunk.removed = row_count(hunk.base)
        layer = self.ledger.layers[hunk.id]
        for other in record.live:
            if other.start and other.end:
                layer.below.append(other)
                self.ledger.layers[other.id].above.append(hunk)
                layer.edges.append((other, other.start.line, other.end.line))
        self.ledger.rewrite(record, (0, row_count(hunk.base)), hunk.agent, Author.MODEL)
        self.ledger.settle(record, hunk, (0, row_count(hunk.agent)))
        self.ended(hunk, Stage.LANDED)


class DeleteWork(FileWork):
    """A deletion: nothing happens before the next header or the end is there."""

    kind = Kind.DELETE

    def end(self, closed: bool, why: Why) -> None:
        """Strike the whole file, if the stream went on behind the header."""
        hunk = self.hunk(Kind.DELETE)
        if not closed:
            words = "interrupted before the delete" if why.cut else f"not deleted: {why.words}"
            self.ended(hunk, Stage.DROPPED, words)
            return
        try:
            self.refuse_if_arriving(self.path)
            record = self.ledger.open(self.path)
            if record.deletion is not None or record.moving is not None:
                raise EditRefused(f"file not found: '{ascii_shown(self.path)}' is gone already")
        except EditRefused as error:
            self.ended(hunk, Stage.REFUSED, str(error))
            return
        hunk.path = record.path
        hunk.base = whole_text(record.buffer)
        hunk.removed = row_count(hunk.base)
        hunk.flags.append("deletes the file")
        record.deletion = hunk
        self.ledger.layers[hunk.id].state = record.history.state
        self.ended(hunk, Stage.LANDED)


def work_for(ledger: Ledger, kind: Kind, path: str, new_hunk: NewHunk) -> FileWork:
    """The work that a file header asks for."""
    if kind is Kind.ADD:
        return AddWork(ledger, path, new_hunk)
    if kind is Kind.DELETE:
        return DeleteWork(ledger, path, new_hunk)
    return UpdateWork(ledger, path, new_hunk)
