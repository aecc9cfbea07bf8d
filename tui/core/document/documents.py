"""The one mutator: every change of every buffer, by either author, goes through here.

The documents keeps what belongs to a file beside its text: the bytes on the disk, the user's
history, the hunks that stand in it, the section that is landing; and moves them all with
every change.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Hashable, Sequence
from operator import attrgetter
from typing import NamedTuple

from msgspec.structs import replace

from tui.core.document.decision_log import DecisionLog
from tui.core.document.file_record import FileRecord, Layers, stand, stood_near
from tui.core.document.hunk import Hunk, Kind, Stage
from tui.core.document.hunk_list import HunkList
from tui.core.document.waiting_places import OpenSection
from tui.core.files import FileRead, ascii_shown, checked_path, decoded, unwritable, viewed
from tui.core.text.buffer import Buffer, Mark
from tui.core.text.change_set import Author, Change, ChangeSet, Position, end_of
from tui.core.text.diff import line_changes, removed, same_start
from tui.core.text.rows import (
    Span,
    file_rows,
    keep_ends,
    row_count,
    rows_range,
    rows_text,
    shifted,
    touched_span,
)
from tui.core.text.woven_pieces import WovenEdit
from tui.errors import EditRefused

_OTHERS = frozenset({Author.USER, Author.DISK, Author.TOOL})


class Maker(NamedTuple):
    """Who changes a text."""

    author: Author
    by: Hashable = None
    """What the change belongs to, as a hunk: it goes, and comes back, with that."""
    section: OpenSection | None = None
    """The open section that makes it, and is not told of it."""
    ahead: bool = False
    """As of `Weave.change`."""


class AskedLines(NamedTuple):
    """The lines that a change was asked for; they move with their text."""

    buffer: Buffer
    first: Mark
    end: Mark
    """Behind the last of them."""

    def hold(self, rows: tuple[int, int]) -> bool:
        """True if these rows, the last one not included, are all within."""
        last = self.end.line + bool(self.end.col)
        return self.first.line <= rows[0] and rows[1] <= max(last, self.first.line)


class Documents:
    """All files and hunks; the workspace is its public face."""

    def __init__(self, read: Callable[[str], FileRead], *roots: str) -> None:
        self.read = read
        self.roots = roots
        self.ask = self.first = False
        """Ambiguous sections wait for a choice (CANDIDATES), or land first; else REFUSED."""
        self.freeze = False
        """A hunk that is cut stays as it is painted (CUT); else what is whole of it lands."""
        self.names: Callable[[], Sequence[str]] = list
        """All paths of the workspace, for names without their folder; asked only for those."""
        self.buffers: dict[str, Buffer] = {}
        self.records: dict[str, FileRecord] = {}
        self.links: dict[str, str] = {}
        """Other names of files, as they were written -> the paths of their records."""
        self._spelled: dict[str, str] = {}
        self._refused: dict[str, FileRead] = {}
        """Path -> why its file is not edited: decided once a patch, not once a section."""
        self._there: dict[str, bool] = {}
        """Path -> whether there is a file, asked once a patch, too."""
        self.searched_bytes = 0
        """How much was read in this patch to find out which files its nameless blocks mean."""
        self.at_hand: dict[str, FileRead] = {}
        """Path -> what was read to find the real one, as long as it is being opened."""
        self.hunk_list = HunkList()
        self.hunks: list[Hunk] = self.hunk_list.hunks
        self.layers = Layers()
        self.forgotten: list[int] = []
        """Ids of the hunks that were taken out again, oldest first."""
        self.removals: list[Hunk] = []
        """Deletions and moves, in the order in which they came."""
        self.revision = 0
        self.rewritten = 0
        """Grows when somebody else than a model changes the lines of a hunk."""
        self.unplaced: dict[str, tuple[int, int, list[str]]] = {}
        """Path -> the text's revision, a row, and the lines that were shown under it when they were
        cut and had no place yet: they stay in sight up to the next instruction."""
        self._ids = 0
        self.touched: set[str] = set()
        self.conflicts: set[str] = set()
        self.decisions = DecisionLog()
        self.arriving: dict[str, FileRecord] = {}
        """Target path -> the file that a pending move brings there."""
        self.busy: dict[str, object] = {}
        """Path -> the landing that is at work on it."""
        self.asked_lines: AskedLines | None = None
        """What the model is asked to change now, and nothing else; None: whatever it needs."""
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
        self.remember(hunk)
        if hunk.kind in (Kind.DELETE, Kind.MOVE):
            self.removals.append(hunk)
        return hunk

    def remember(self, hunk: Hunk) -> None:
        """Take a hunk in that stands nowhere; one from before has its number already."""
        hunk.id = hunk.id or self._ids + 1
        self._ids = max(self._ids, hunk.id)
        self.hunk_list.add(hunk)
        self.bump()

    def forget_hunk(self, hunk: Hunk) -> None:
        """Take a hunk out that came to nothing."""
        if hunk.stage is Stage.LANDED:
            self.decisions.lose(hunk)
        hunk.stage = Stage.REFUSED
        self.layers.pop(hunk.id, None)
        self.forgotten.append(hunk.id)
        if hunk in self.removals:
            self.removals.remove(hunk)
        self.hunk_list.forget(hunk)
        self.bump()

    @property
    def last_id(self) -> int:
        """The number of the newest hunk."""
        return self._ids

    def number_again(self) -> None:
        """The last hunks were forgotten, and come again: they get the same numbers."""
        self._ids = self.hunks[-1].id if self.hunks else 0

    def ask_again(self) -> None:
        """A new patch begins: what the disk said may be so no more."""
        self._refused.clear()
        self._there.clear()
        self.searched_bytes = 0

    def is_there(self, path: str) -> bool:
        """True if a path is a file that was not opened yet, be it none that can be edited."""
        if path not in self._there:
            read = self._read(path)
            there = read.data is not None or bool(read.refusal)
            self._there[path] = there and read.kind != "directory"
        return self._there[path]

    def _read(self, path: str) -> FileRead:
        """What the disk says of a path; why it is refused is not asked again and again."""
        known = self._refused.get(path)
        if known is None:
            known = self.read(path)
            if known.refusal:
                self._refused[path] = known = replace(known, head=b"")
        return known

    def real(self, path: str, *, to_open: bool = False) -> str:
        """The path of a file without links: it has one record. Raises EditRefused.

        ``to_open``: what was read for that is kept at hand, until the caller has opened it.
        """
        real, read = self._meant(path)
        if to_open and read is not None:
            self.at_hand[self.checked(path)] = read
        return real

    def refuse_link(self, path: str, done: str) -> None:
        """Raise EditRefused if a name is itself a link: the file has another one."""
        path = self.checked(path)
        if path in self.links and self.read(path).link:
            raise EditRefused(f"'{ascii_shown(path)}' is a symlink, which is not {done}")

    def open(self, path: str) -> FileRecord:
        """The record of a file that may be edited, read if need be. Raises EditRefused."""
        return self._opened(path, *self._meant(path))

    def _opened(self, named: str, path: str, found: FileRead | None) -> FileRecord:
        """The record of the file at ``path``, asked for as ``named``. Raises EditRefused."""
        record = self._known(path)
        if record is None:
            read = found or self._read(path)
            if read.data is None and not read.refusal and "\\" in path:
                return self.open(path.replace("\\", "/"))
            if read.data is None:
                raise EditRefused(read.refusal or f"file not found: '{ascii_shown(path)}'")
            try:
                text = decoded(path, read.data)
                if read.unwritable:
                    raise EditRefused(unwritable(path, read))
            except EditRefused as error:
                refused = replace(read, data=None, refusal=str(error))
                self._refused |= {self.checked(named): refused, path: refused}
                raise
            return self._take_in(path, Buffer(path, text), read.data)
        if record.read_only:
            raise EditRefused(record.read_only)
        return record

    def look(self, path: str) -> FileRecord:
        """The record of a file that is shown, be it read-only; read if need be.

        Raises:
            EditRefused: there is nothing to be shown.
        """
        path, found = self._meant(path)
        record = self._known(path)
        if record is not None:
            return record
        read = found if found and not found.refusal else self.read(path)  # its head is shown
        if read.data is None and not read.refusal and "\\" in path:
            return self.look(path.replace("\\", "/"))
        return self._looked_at(path, read)

    def quotable(self, path: str) -> Buffer | None:
        """The buffer of an open file as a model may see it; None: not open, or only a view."""
        path = self.links.get(path, path)
        record = self.records.get(path)
        return None if record is None or record.view else self.buffers.get(path)

    def find(self, path: str) -> FileRecord | None:
        """The record of a file, None if there is no such file. Raises EditRefused."""
        real, found = self._meant(path)
        record = self.records.get(real)
        if record is not None and record.gone:
            return None
        if record is None:
            found = found or self._read(real)
            if found.data is None and not found.refusal:
                return self.find(real.replace("\\", "/")) if "\\" in real else None
        return self._opened(path, real, found)

    def create(self, path: str) -> FileRecord:
        """A new, empty, unsaved file. Raises EditRefused."""
        path, found = self._meant(path)
        record = self.records.get(path)
        if record is None or record.gone:
            read = found or self._read(path)
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
        return self.apply_own(record, (start, end), text, Maker(author))

    def apply_own(
        self, record: FileRecord, where: tuple[Position, Position], text: str, maker: Maker
    ) -> Change:
        """Replace a range on somebody's behalf: an open section is not told of its own changes."""
        weave = record.weave
        change = record.buffer.replace(*where, text)
        span = self._follow(record, change, maker.author, maker.section)
        by = maker.by
        if by is None:
            user = maker.author is Author.USER
            by = record.undo_log.step if user else (maker.author, record.times_told)
        weave.change(change, by, ahead=maker.ahead)
        if not span.n_old and maker.author in _OTHERS:
            self._stand_beside(record, span)
        record.note(maker.author, by)
        return change

    def switch(
        self, record: FileRecord, edits: Collection[WovenEdit], author: Author
    ) -> Sequence[Change]:
        """Have edits off, or on again; returns what that changed, as it stands now."""
        weave = record.weave
        changes = ChangeSet(record.buffer.end, tuple(weave.switching(edits)))
        for change in reversed(changes.changes):
            done = record.buffer.replace(change.start, change.old_end, change.new_text)
            self._follow(record, done, author, None)
        for edit in edits:
            record.note(author, edit.key, was_on=edit.on)
        weave.switch(edits)
        return [change.inverse for change in changes.invert().changes]

    def _follow(
        self, record: FileRecord, change: Change, author: Author, own: OpenSection | None
    ) -> Span:
        """Let all that stands beside a text follow its change; returns the rows that it touched."""
        span = touched_span(record.buffer, change)
        if record.live and author in _OTHERS:
            self._note_writer(record, span, author)
        record.live.move(span)
        if record.off:
            record.off.move(span)
        if record.notes:
            record.notes.follow(record.buffer, span)
        if record.waiting:
            record.shifts.add(span, record.waiting)
            if author not in (Author.MODEL, Author.REVIEW):
                record.shifts.follow(record.waiting)
        for section in record.sections:
            if section is not own and section.painter is not None:
                section.painter.changed(span, author)
        if author is not Author.USER:
            record.undo_log.foreign(change)
        self.touched.add(record.path)
        return span

    def _stand_beside(self, record: FileRecord, span: Span) -> None:
        """Rows were put in where hunks had only taken some out: these stand above, or below.

        Their rows do not say which; the weave knows on which side the text was put in.
        """
        row = span.row + span.n_new
        near = (*record.live.near(row, row), *record.off.near(row, row))
        places = ((one, one.start, one.end) for one in near)
        stand(record, [one for one, at, end in places if at and end and at.line == end.line])

    def _note_writer(self, record: FileRecord, span: Span, author: Author) -> None:
        """Somebody else than a model is about to change rows: note in which hunks."""
        for hunk in record.live.near(span.row, span.row + span.n_old):
            assert hunk.start is not None
            assert hunk.end is not None
            first, last = hunk.start.line, hunk.end.line
            if shifted(first, last, span)[2] or first == last == span.row:
                self.layers.own(hunk).changed_by = author
                self.rewritten += 1

    def rewrite(
        self,
        record: FileRecord,
        rows: tuple[int, int],
        text: str,
        author: Author,
        by: Hashable = None,
    ) -> None:
        """Make a text of rows, line by line, so that marks in kept lines stay."""
        first, last = rows
        old = rows_text(record.buffer, first, last)
        for change in reversed(line_changes(old, text).changes):
            (row, col), (end, stop) = change.start, change.old_end
            new, kept = change.new_text, 0
            if not (new.endswith("\n") and change.old_text.endswith("\n")):
                # the last line got its newline, or lost it: what is in it is not written again
                kept = len(new[: same_start(new, change.old_text)].partition("\n")[0])
                kept -= new[:kept].endswith("\r")
            where = (row + first, col + kept), (end + first, stop)
            self.apply_own(record, where, new[kept:], Maker(author, by))

    def cut_to_changes(self, record: FileRecord, hunk: Hunk, first: int) -> tuple[int, int]:
        """Of rows that a hunk made anew only what it changed is its text; returns these rows.

        It stands where its edit is (`stand`), and its texts are those of its rows.
        """
        base, agent = keep_ends(hunk.base), keep_ends(hunk.agent)
        edit, last = record.weave.edit(hunk), first + len(agent)
        place = record.weave.range(edit, lambda one: False) if edit is not None else None
        if place is not None:
            (top, _), (end, col) = place
            above, below = max(top - first, 0), max(last - end - bool(col), 0)
            base, agent = base[above : len(base) - below], agent[above : len(agent) - below]
            first, last = first + above, last - below
        hunk.base, hunk.agent = "".join(base), "".join(agent)
        hunk.woven = removed(hunk.base, hunk.agent)
        return first, last

    def settle(self, record: FileRecord, hunk: Hunk, rows: tuple[int, int]) -> None:
        """A hunk's text stands in these rows from now on."""
        if hunk in record.live:
            record.live.replace(hunk, rows)
        else:
            hunk.start, hunk.end = Mark(rows[0]), Mark(rows[1], right=True)
            record.live.append(hunk)
            if hunk.kind is Kind.ADD:
                record.made.append(hunk)
        for piece in edit.pieces if (edit := record.weave.edit(hunk)) else ():
            piece.share((hunk.base, hunk.agent))
        record.weave.fold_above()
        beside = [*record.live.near(*rows), *record.off.near(*rows)]
        if beside != [hunk]:
            stand(record, beside)
        if record.gone and self.records.get(record.path) is record:
            self.restore(record)

    def take_off(self, record: FileRecord, hunk: Hunk, text: str | None) -> None:
        """Put ``text`` where a hunk stands, and what lay under it back to its rows.

        None: what is left without what it put in, and with what it took out.
        """
        assert hunk.start is not None
        assert hunk.end is not None
        rows = hunk.start.line, hunk.end.line
        record.live.remove(hunk)
        hunk.end.line = self.switch_hunk(record, hunk, rows, text, on=False)

    def switch_hunk(
        self, record: FileRecord, hunk: Hunk, rows: tuple[int, int], text: str | None, *, on: bool
    ) -> int:
        """Take what a hunk did out of its rows, or do it again; returns the row behind them.

        Where somebody wrote in it, what is left is corrected to ``text``, for as long as that
        stands there.
        """
        edit = record.weave.edit(hunk)
        if edit is None:
            self.rewrite(record, rows, text or "", Author.REVIEW)
            return rows[0] + row_count(text or "")
        buffer, (first, last) = record.buffer, rows
        (top, _), (end, _) = record.weave.range(edit, lambda one: False) or ((first, 0), (last, 0))
        top, end = max(min(top, first) - 1, 0), max(end, last) + 1
        for change in record.weave.switching([edit]) if edit.on is not on else ():
            # what was corrected before may come apart
            top, end = min(top, change.start[0]), max(end, change.old_end[0] + 1)
        above, below = rows_text(buffer, top, first), rows_text(buffer, last, end)
        beside = [*record.live.near(first - 1, last + 1), *record.off.near(first - 1, last + 1)]
        rows_before = file_rows(buffer)
        if edit.on is not on:
            self.switch(record, [edit], Author.REVIEW)
        last, end = (row + file_rows(buffer) - rows_before for row in (last, end))
        if text is not None:
            whole = above + text + below
            if self._correct(record, edit, (top, end), whole):
                last = first + row_count(text)
        stand(record, beside)
        return last

    def _correct(
        self,
        record: FileRecord,
        edit: WovenEdit,
        rows: tuple[int, int],
        text: str,
    ) -> bool:
        """Have a text in rows, for as long as what others wrote there stands; False: it is right.

        It is, too, where nobody but models wrote.
        """
        buffer, weave = record.buffer, record.weave
        begin, end = rows_range(buffer, *rows)
        old = buffer.slice(begin, end)
        near = weave.edits_near(edit, begin, end) if old != text else set()
        if all(isinstance(one.key, Hunk) for one in near):
            return False
        head = same_start(old, text)
        head -= old[:head].endswith("\r")
        tail = same_start(old[head:][::-1], text[head:][::-1])
        before = old[: len(old) - tail][-1:], text[: len(text) - tail][-1:]
        tail -= "\r" in before and old[len(old) - tail :].startswith("\n")
        where = end_of(begin, old[:head]), end_of(begin, old[: len(old) - tail])
        new, key = text[head : len(text) - tail], object()
        near = weave.edits_near(edit, *where)
        self.apply_own(record, where, new, Maker(Author.REVIEW, key))
        weave.correct(key, {**dict.fromkeys(near, True), edit: edit.on})
        return True

    def sweep(self, record: FileRecord) -> None:
        """Take out what is left of hunks that do not stand in the text, where nobody wrote in it.

        What the user had typed or deleted there kept it; he has taken that back.
        """
        coming = {hunk for section in record.sections for hunk in section.hunks}
        left = [
            edit
            for edit in record.weave.edits
            if isinstance(hunk := edit.key, Hunk) and edit.on and hunk not in record.live
            if hunk not in coming and record.weave.is_alone(edit)
        ]
        if left:
            near = stood_near(record, left)
            self.switch(record, left, Author.REVIEW)
            stand(record, near)
        steps = [step for edit in left if (step := self.decisions.keeping(edit.key))]
        for step in sorted(steps, key=attrgetter("version"), reverse=True):
            if step.version is not None:
                record.undecide(step.version)  # the disk is to have it no more
                step.version = None

    def drop(self, record: FileRecord) -> None:
        """Close a buffer: nothing belongs at its path any more."""
        record.gone = True
        if self.buffers.get(record.path) is record.buffer:
            del self.buffers[record.path]
        self.touched.add(record.path)

    def restore(self, record: FileRecord) -> None:
        """Open a closed buffer again."""
        record.gone = False
        self.records[record.path] = record
        self.buffers[record.path] = record.buffer
        self.touched.add(record.path)

    def _meant(self, path: str) -> tuple[str, FileRead | None]:
        """The path under which a file's record is, or is to be, and what was read for that.

        A link, and a name in other letters on a volume that takes them for the same, lead to the
        one record of the file: two buffers would write over each other. Raises EditRefused.
        """
        path = self.checked(path)
        if path in self.records:
            return path, None
        read = self.at_hand.get(path) or self._read(path)
        real, twin = read.real or path, self._spelled.get(_folded(read.real or path), "")
        if twin not in ("", real) and read.place and self.read(twin).place == read.place:
            real = twin
        if real == path:
            self.links.pop(path, None)
        else:
            self.links[path] = real
        return real, None if real in self.records else read

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
        self._spelled[_folded(path)] = path
        return record


def _folded(path: str) -> str:
    """A path in the letters in which names that differ by case or accents are the same."""
    return unicodedata.normalize("NFC", path).casefold()
