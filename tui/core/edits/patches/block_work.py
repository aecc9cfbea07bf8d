"""Work on a file whose new text comes in blocks or whole: SEARCH/REPLACE and whole files."""

from __future__ import annotations

from tui.core.edit_stream.events import Divider, Ev, Line, SectionEnd, SectionStart
from tui.core.edits.file_record import FileRecord
from tui.core.edits.hunk import Hunk, Kind, Stage
from tui.core.edits.ledger import Ledger
from tui.core.edits.patches.add_work import AddWork
from tui.core.edits.patches.file_work import FileWork, Gathered, NewHunk, Why
from tui.core.edits.patches.named_files import files_with, unknown_name
from tui.core.edits.sections.diff_section import WholeSection
from tui.core.edits.sections.search_section import SearchSection
from tui.errors import EditRefused


class SearchWork(FileWork):
    """SEARCH/REPLACE blocks of one file: each is placed on its own, in the text as it is then."""

    def __init__(self, ledger: Ledger, path: str, new_hunk: NewHunk) -> None:
        """``path`` is empty where no file name was above the block."""
        super().__init__(ledger, path, new_hunk)
        self.record: FileRecord | None = None
        self._number = 0
        self._section: SearchSection | None = None
        self._last: SearchSection | None = None
        self._adding: AddWork | None = None
        self._refused: Gathered | None = None
        self._search: list[str] = []
        """SEARCH of a block that has no file."""
        self._before = 0
        self._newline = ""
        """The file's first line ending before any of it changed."""

    @property
    def last_row(self) -> int | None:
        """The row that was written last, if any."""
        work = self._adding or self._section or self._last
        return work.last_row if work else None

    @property
    def last_hunks(self) -> list[Hunk]:
        """The hunks of what came last."""
        return super().last_hunks if self._last is None else self._last.hunks

    def take(self, event: Ev, why: Why) -> None:
        """The next event of a block."""
        if isinstance(event, SectionStart):
            self._number, self._before = event.number, len(self.hunks)
        elif isinstance(event, SectionEnd):
            self._close(event, why)
        elif isinstance(event, Line | Divider):
            self._line(event, why)

    def partial(self, text: str) -> None:
        """The unfinished new line, for this frame."""
        if self._adding is not None:
            self._adding.partial(text)
        elif self._section is not None:
            self._section.partial(text)

    def end(self, closed: bool, why: Why) -> None:
        """All blocks of the file are there; each has ended by itself."""

    def _line(self, event: Line | Divider, why: Why) -> None:
        first = self._section is None and self._adding is None and self._refused is None
        if first:
            self._begin(empty=isinstance(event, Divider))
        section = self._section
        if self._refused is not None and isinstance(event, Line):
            self._refused.take(event)
            if event.op == "-" and not self.path:
                self._search.append(event.text)
        elif self._adding is not None and not first:
            line = event if isinstance(event, Line) else Line("+", event.text)
            self._adding.take(line, why)  # only the first divider can be meant
        elif section is None:
            return
        elif isinstance(event, Divider):
            section.divider(event.text)
        elif event.op == "-":
            section.old_line(event.text)
        else:
            section.new_line(event.text)

    def _begin(self, *, empty: bool) -> None:
        """The first line of a block, or its divider: then SEARCH is ``empty``."""
        number = self._number
        try:
            if not self.path:
                raise EditRefused(unknown_name(()))
            if empty and self.record is None and self._is_missing():
                self._adding = AddWork(self.ledger, self.path, self._new_hunk, "search_replace")
                return
            self.record = self.found(self.path)
            self.path = self.record.path
            self._newline = self._newline or self.record.buffer.newline
        except EditRefused as error:
            self._refused = Gathered(self.hunk(Kind.EDIT, number))
            self.ended(self._refused.hunk, Stage.REFUSED, str(error))
            return
        self._section = SearchSection(self.ledger, self.record, self.new_edit, number)
        self._section.newline = self._newline

    def _is_missing(self) -> bool:
        record = self.ledger.arriving.get(self.ledger.checked(self.path))
        record = record or self.ledger.find(self.path)
        return record is None or record.blank

    def _close(self, event: SectionEnd, why: Why) -> None:
        section, self._section = self._section, None
        adding, self._adding = self._adding, None
        refused, self._refused = self._refused, None
        if refused is not None:
            refused.keep()
            if not self.path:
                found = files_with(self.ledger, self._search)
                refused.hunk.reason = unknown_name(found)
                self._search.clear()
        elif adding is not None:
            adding.end(event.closed, why)
            adding.hunks[0].section = self._number
            adding.hunks[0].flags += tuple(event.flags)
            self.hunks += adding.hunks
        elif section is not None:
            section.flags += event.flags
            section.close(event.closed, why.words)
            self.hunks[self._before :] = section.hunks
            self._last = section


class WholeWork(FileWork):
    """The new text of a file that is there."""

    def __init__(self, ledger: Ledger, record: FileRecord, new_hunk: NewHunk) -> None:
        super().__init__(ledger, record.path, new_hunk)
        self.record = record
        self._section = WholeSection(ledger, record, self.new_edit)

    @property
    def last_row(self) -> int | None:
        """The row that was written last, if any."""
        return self._section.last_row

    def take(self, event: Ev, why: Why) -> None:
        """The next line."""
        if isinstance(event, Line) and event.op == "+":
            self._section.new_line(event.text)
        elif isinstance(event, SectionEnd):
            self._section.flags += event.flags

    def partial(self, text: str) -> None:
        """The unfinished line, for this frame."""
        self._section.partial(text)

    def end(self, closed: bool, why: Why) -> None:
        """The whole text is there, or the file is as it was."""
        words = why.words if closed else f"the existing file is as it was, {why.words}"
        self._section.close(closed, words)
        self.hunks[:] = self._section.hunks
