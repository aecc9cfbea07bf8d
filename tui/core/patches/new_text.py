"""Work on a file whose text comes new: added, written whole, or in SEARCH/REPLACE blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from tui.core.document.documents import Documents
from tui.core.document.file_record import FileRecord, lay
from tui.core.document.hunk import Hunk, Kind, Stage
from tui.core.edit_stream.events import (
    Divider,
    Ev,
    Line,
    NoNewline,
    Notation,
    Refusal,
    SectionEnd,
    SectionStart,
)
from tui.core.files import ascii_shown
from tui.core.patches.checks import LEFT_OUT, end_bare, is_placeholder
from tui.core.patches.diff_section import DiffSection, Fit, LineDiff, SearchSection, difference
from tui.core.patches.file_work import FileWork, Gathered, NewHunk, Why, files_with, unknown_name
from tui.core.patches.painter import Painter, RegionPainter, shown
from tui.core.patches.placement import Miss, Spot
from tui.core.patches.section import GHOST_LINES, MERGED, merge_whole, show_both
from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Author
from tui.core.text.diff import merge3
from tui.core.text.rows import file_rows, keep_ends, row_count, whole_text
from tui.errors import EditRefused

_BEFORE = "the file was changed after the model had seen it, where its new text differs"


def _lines(text: str) -> list[str]:
    """The lines of a text as a patch counts them."""
    buffer = Buffer("", text)
    return buffer.lines[: file_rows(buffer)]


class WholeSection(DiffSection):
    """The new text of a file that is there.

    It is what becomes of the text as the model was sent it. What was changed since, before the
    new text came or while it does, is merged with it at its end (EDITS.md section 5).
    """

    in_parts = False

    def __init__(
        self, documents: Documents, record: FileRecord, new_hunk: Callable[[int], Hunk]
    ) -> None:
        super().__init__(documents, record, new_hunk)
        sent = record.sent()
        self._sent = keep_ends(sent)
        """The lines as the model was sent them, with their endings."""
        self.old = _lines(sent)
        self._begin(Fit(Spot(0), LineDiff(self.old)))
        if self.painter is not None and sent != whole_text(record.buffer):
            self.painter.trouble = _BEFORE

    def place_at(self, row: int) -> None:
        """The user takes the text that was held (its only place is the whole file).

        Raises:
            EditRefused: it and what was changed since do not fit together.
        """
        fit = Fit(Spot(0, flags=("placed by hand",)), LineDiff(self.old))
        decided = [one for line in self.new for one in fit.diff.take(line)]
        merged = self._merged([*decided, *fit.diff.rest()])
        if merged is None:
            raise EditRefused("the file was changed since, where the held text is another one")
        self.hunks[0].reason = ""
        self._land_merged(fit, merged)

    def ghost(self) -> tuple[int, list[str]] | None:
        """The new lines, where they are not painted but merged at their end."""
        lines = [*self.new[-GHOST_LINES:], *([self.unfinished] if self.unfinished else [])]
        if not (self.painter and self.painter.trouble) or not lines:
            return None
        return self.record.buffer.line_count - 1, lines[-GHOST_LINES:]

    def _new_painter(self, spot: Spot) -> Painter:
        rows = file_rows(self.record.buffer)
        return RegionPainter(self._documents, self.record, spot, rows, self)

    def _finish(self) -> None:
        fit = self._fit
        assert fit is not None
        if reason := self._doubt():
            self._take_back()
            self._refuse(Miss(f"{reason}; held, the file is as it was", (0,)))
        elif self.painter is not None and self.painter.trouble:
            self._merge(fit)
        else:
            self._complete(fit)

    def _merge(self, fit: Fit) -> None:
        """Land the new text with what others changed, where both fit; else show both."""
        painter = self.painter
        assert painter is not None
        self._emit(fit.diff.rest())
        painter.take_back()
        merged = self._merged([(op, text) for op, text, _ in self.ops])
        if merged is None:
            show_both(self._documents, self, painter)
        else:
            self._land_merged(fit, merged)

    def _merged(self, ops: Iterable[tuple[str, str]]) -> str | None:
        """The new text with what others changed; None if they changed the same lines.

        Lines that stay have the endings that they had.
        """
        newline, seen, theirs = self.record.buffer.newline, 0, list[str]()
        for op, text in ops:
            if op != "-":
                if theirs and not theirs[-1].endswith("\n"):
                    theirs[-1] += newline
                theirs.append(self._sent[seen] if op == "=" else text + newline)
            seen += op != "+"
        return merge_whole("".join(self._sent), whole_text(self.record.buffer), "".join(theirs))

    def _land_merged(self, fit: Fit, merged: str) -> None:
        mine = whole_text(self.record.buffer)
        if mine != "".join(self._sent):
            self.flags.append(MERGED)
        self._take_back()
        now = _lines(mine)
        self._begin(Fit(fit.spot, LineDiff(now)))
        self._emit(difference(now, _lines(merged)))
        self._land_all(fit)

    def _doubt(self) -> str:
        """Why it is held: a part of the file would be lost that nobody wanted to lose (E03)."""
        known = set(self.old)
        shorter = len(self.new) < len(self.old)
        for number, line in enumerate(self.new, 1):
            if line not in known and is_placeholder(line, shorter=shorter):
                return f"placeholder: line {number} says that the rest is elsewhere"
        if 2 * len(self.new) < len(self.old):
            lines = f"{len(self.new)} lines for a file of {len(self.old)}"
            return f"shrink: {lines}, under half the lines"
        return ""


class AddWork(FileWork):
    """A new file, whose lines are there as they come; an existing one is replaced at the end."""

    def __init__(
        self, documents: Documents, path: str, new_hunk: NewHunk, notation: Notation
    ) -> None:
        super().__init__(documents, path, new_hunk, notation)
        self.painter: Painter | None = None
        self._lines: list[str] = []
        self._bare = False
        """The last line has no newline."""
        self._sent = ""
        """The file's text as the model was sent it."""
        self._hunk = self.hunk(Kind.ADD)
        self._refusal = ""
        try:
            self._begin(path)
        except EditRefused as error:
            self._refusal = str(error)

    def take(self, event: Ev, why: Why) -> None:
        """The next line."""
        if isinstance(event, Refusal):
            self._refuse(event.message)
        elif isinstance(event, NoNewline):
            self._bare = True
        elif isinstance(event, SectionEnd):
            self._hunk.flags += tuple(event.flags)
        if not isinstance(event, Line):
            return
        self._hunk.added += 1
        self._bare = False
        if is_placeholder(event.text) and LEFT_OUT not in self._hunk.flags:
            self._hunk.flags += (LEFT_OUT,)
        if self.painter is not None:
            self.painter.line("+", event.text, self._hunk)
        else:
            self._lines.append(event.text)

    def partial(self, text: str) -> None:
        """The unfinished line, for this frame."""
        if self.painter is not None:
            self.painter.partial_line(text, self._hunk)

    def end(self, closed: bool, why: Why) -> None:
        """The whole file is there, or what came of it."""
        record, hunk = self.record, self._hunk
        if record is None:
            self.ended(hunk, Stage.REFUSED, self._refusal)
        elif self.painter is None:
            self._replace(record, closed, why)
        else:
            self._end_text(record, self.painter, closed, why)

    def _end_text(self, record: FileRecord, painter: Painter, closed: bool, why: Why) -> None:
        """The new file is whole, or was cut: then it stays as it is painted, or its whole lines."""
        hunk = self._hunk
        if why.freeze:
            hunk.added += painter.keep_partial()
        painter.drop_partial()
        record.sections.remove(self)
        nothing = not hunk.added or self.notation == "search_replace"
        if not closed and not why.freeze and nothing:
            self._take_back(record, painter)
            self.ended(hunk, Stage.REFUSED, f"incomplete: {why.words}")
            return
        self._land(record, painter)
        if closed:
            self.ended(hunk, Stage.LANDED)
        elif why.freeze:
            self.ended(hunk, Stage.CUT, "" if why.cut else why.words)
        else:
            hunk.flags += ("the file is incomplete",)
            self.ended(hunk, Stage.LANDED, f"partial: {why.words}")

    # What a front end reads (OpenSection).

    @property
    def last_row(self) -> int | None:
        """The row that was written last, if any."""
        return self.painter.last_row if self.painter else None

    def places(self) -> Sequence[int]:
        """None: the file has no place in another one."""
        return []

    def decorations(self, first: int, last: int) -> dict[int, str]:
        """Line -> landing or struck, of lines ``first`` to ``last``."""
        return shown(self.painter, first, last) if self.painter else {}

    def ghost(self) -> tuple[int, list[str]] | None:
        """The lines of an existing file's new text."""
        if self.painter is not None or self.record is None or not self._lines:
            return None
        return self.record.buffer.line_count - 1, self._lines[-40:]

    def _begin(self, path: str) -> None:
        if not path:
            raise EditRefused(unknown_name(()))
        self.refuse_if_arriving(path)
        record = self.documents.find(path)
        if record is not None and record.moving is not None:
            raise EditRefused(f"'{ascii_shown(path)}' is to be moved by an earlier hunk")
        blank = record is None or record.blank
        if record is not None and not blank and self.notation == "unified_diff":
            raise EditRefused(f"'{ascii_shown(path)}' already exists: the diff makes it new")
        self.record = record or self.documents.create(path)
        self._sent = self.record.sent()
        self.path = self.record.path
        self.documents.hunk_list.moved([self._hunk], self.path)
        self._hunk.stage = Stage.READING
        self.record.sections.append(self)
        if blank:
            self.documents.layers.own(self._hunk).made_file = True
            self.record.synced = self.record.version
            self.painter = Painter(self.documents, self.record, 0, owner=self)
            self._hunk.stage = Stage.LANDING

    def _refuse(self, reason: str) -> None:
        """Nothing of it is to be: no file, or the one that is there."""
        record, self._refusal = self.record, reason
        if record is not None:
            record.sections.remove(self)
            if self.painter is not None:
                self._take_back(record, self.painter)
        self.record = self.painter = None

    def _take_back(self, record: FileRecord, painter: Painter) -> None:
        hunk = self._hunk
        painter.drop_partial()
        hunk.agent = "".join(line for group in painter.groups for line in group.agent)
        painter.take_back()
        hunk.start = hunk.end = None
        if not record.named and not file_rows(record.buffer):
            self.documents.drop(record)

    def _land(self, record: FileRecord, painter: Painter) -> None:
        painter.finish()
        if not painter.groups:
            self.documents.settle(record, self._hunk, (0, 0))
        elif self._bare:
            end_bare(self.documents, record, painter, self)

    def _replace(self, record: FileRecord, closed: bool, why: Why) -> None:
        hunk = self._hunk
        record.sections.remove(self)
        newline = record.buffer.newline
        hunk.agent = "".join(line + newline for line in self._lines)
        if not closed or why.stops:
            words = f"incomplete: the existing file is as it was, {why.words}"
            self.ended(hunk, Stage.REFUSED, why.unpainted(words))
            return
        if self._is_replay(record):
            self.ended(hunk, Stage.REFUSED, "already applied: this file is what it says")
            return
        merged = merge3(self._sent, whole_text(record.buffer), hunk.agent)
        if merged is None:
            self.ended(hunk, Stage.CONFLICT, "the file was changed after the model had seen it")
            return
        if merged != hunk.agent:
            hunk.agent = merged
            hunk.flags += (MERGED,)
        if record.deletion is not None:
            self.documents.forget_hunk(record.deletion)
            record.deletion = None
            hunk.flags += ("replaces the file that it deleted",)
        else:
            hunk.flags += ("overwrites an existing file",)
        hunk.base = whole_text(record.buffer)
        hunk.removed = row_count(hunk.base)
        stood = [(h, h.start.line, h.end.line) for h in record.live if h.start and h.end]
        self.documents.rewrite(record, (0, hunk.removed), hunk.agent, Author.MODEL, hunk)
        rows = self.documents.cut_to_changes(record, hunk, 0)
        lay(self.documents.layers, hunk, (rows[0], rows[0] + row_count(hunk.base)), stood)
        self.documents.settle(record, hunk, rows)
        self.ended(hunk, Stage.LANDED)

    def _is_replay(self, record: FileRecord) -> bool:
        """True if the same text came already in this turn, by another call (A18)."""
        hunk = self._hunk
        return any(
            one.turn == hunk.turn and one.call_id != hunk.call_id
            for one in record.made
            if one in record.live
        ) and hunk.agent == whole_text(record.buffer)


class SearchWork(FileWork):
    """SEARCH/REPLACE blocks of one file: each is placed on its own, in the text as it is then."""

    def __init__(
        self, documents: Documents, path: str, new_hunk: NewHunk, notation: Notation
    ) -> None:
        """``path`` is empty where no file name was above the block."""
        super().__init__(documents, path, new_hunk, notation)
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
        return work.painter.last_row if work and work.painter else None

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
                self._adding = AddWork(self.documents, self.path, self._new_hunk, "search_replace")
                return
            self.record = self.found(self.path)
            self.path = self.record.path
            self._newline = self._newline or self.record.buffer.newline
        except EditRefused as error:
            self._refused = Gathered(self.hunk(Kind.EDIT, number))
            self.ended(self._refused.hunk, Stage.REFUSED, str(error))
            return
        self._section = SearchSection(self.documents, self.record, self.new_edit, number)
        self._section.newline = self._newline

    def _is_missing(self) -> bool:
        record = self.documents.arriving.get(self.documents.checked(self.path))
        record = record or self.documents.find(self.path)
        return record is None or record.blank

    def _close(self, event: SectionEnd, why: Why) -> None:
        section, self._section = self._section, None
        adding, self._adding = self._adding, None
        refused, self._refused = self._refused, None
        if refused is not None:
            refused.keep()
            if not self.path:
                found = files_with(self.documents, self._search)
                refused.hunk.reason = unknown_name(found)
                self._search.clear()
        elif adding is not None:
            adding.end(event.closed, why)
            adding.hunks[0].section = self._number
            adding.hunks[0].flags += tuple(event.flags)
            self.hunks += adding.hunks
        elif section is not None:
            section.flags += event.flags
            section.close(event.closed, why)
            self.hunks[self._before :] = section.hunks
            self._last = section


class WholeWork(FileWork):
    """The new text of a file that is there."""

    def __init__(
        self, documents: Documents, record: FileRecord, new_hunk: NewHunk, notation: Notation
    ) -> None:
        super().__init__(documents, record.path, new_hunk, notation)
        self.record = record
        self._section = WholeSection(documents, record, self.new_edit)

    @property
    def last_row(self) -> int | None:
        """The row that was written last, if any."""
        return self._section.painter.last_row if self._section.painter else None

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
        self._section.close(closed, why if why.freeze else replace(why, words=words))
        self.hunks[:] = self._section.hunks
