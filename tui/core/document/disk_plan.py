"""What belongs on the disk: the user's text and the accepted hunks, the others backed out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from msgspec import Struct, structs

from tui.core.document.documents import Documents
from tui.core.document.file_record import FileRecord, stand
from tui.core.document.hunk import Hunk, Kind
from tui.core.document.hunk_list import HunkIndex
from tui.core.files import FileRead, ascii_shown
from tui.core.steps import Work, finished, in_parts, while_same
from tui.core.text.buffer import Buffer, Form, Mark, split_text
from tui.core.text.change_set import Author
from tui.core.text.diff import merge3, merge_theirs
from tui.core.text.rows import file_rows, rows_text
from tui.core.text.weave import StillWeave, Weave
from tui.core.text.woven_pieces import WovenEdit
from tui.errors import EditRefused

T = TypeVar("T")
_TRIES = 3


class DiskPlan(Struct, frozen=True):
    """What must lie on the disk for a path."""

    expected: bytes | None
    """What lies there now as far as we know; None: nothing."""
    data: bytes | None
    """What belongs there; None: nothing, delete it."""
    hunks: tuple[int, ...] = ()
    """Ids of the hunks that were accepted and are not on the disk yet."""
    origin: str = ""
    """Where it is moved from."""


def planning(documents: Documents, path: str) -> Work[DiskPlan]:
    """The plan for one path. Nothing is changed but the note of what was planned.

    It pauses after each few hundred hunks, and is of one moment all the same: where the file is
    changed meanwhile it begins anew, and in the end does not pause.

    Raises:
        EditRefused: no file of that name is open, or ever was; or it is only looked at.
    """
    record = _planned_record(documents, path)
    for _ in range(_TRIES):
        work = _backing_out(documents, record)
        found = yield from while_same(work, lambda: _moment(documents, record))
        if found is not None:
            break
    text, held = found or _backed_out(documents, record)
    belongs = not record.gone and _belongs(documents, record, empty=not text)
    data = record.buffer.form.encode(text) if belongs else None
    record.planned = (data, record.version, held)
    origins = [h.path for h in record.undecided if h.kind is Kind.MOVE and h.target == path]
    ids = tuple(hunk.id for hunk in record.undecided)
    return DiskPlan(record.disk, data, ids, origins[-1] if origins else "")


def _planned_record(documents: Documents, path: str) -> FileRecord:
    """The record of a file of which there is something to write. Raises EditRefused."""
    record = documents.records.get(path)
    if record is None:
        raise EditRefused(f"'{ascii_shown(path)}' is not open")
    if record.view:
        raise EditRefused(record.read_only)
    return record


def _is_open(hunk: Hunk) -> bool:
    """True if a hunk is not decided, so that it does not belong on the disk."""
    return bool(hunk.need) and hunk.undecided


def _moment(documents: Documents, record: FileRecord) -> tuple[object, ...]:
    """What is another one when something else belongs on the disk."""
    buffer, landing = record.buffer, record.landing
    return (id(buffer), buffer.revision, record.version, id(landing), documents.hunk_list.reviews)


def backed_out(documents: Documents, record: FileRecord) -> str:
    """The text without what is landing and what is not decided."""
    return _backed_out(documents, record)[0]


def is_on_disk(documents: Documents, record: FileRecord) -> bool:
    """True if a save would write what lies there already."""
    text = None if record.disk is None else backed_out(documents, record)
    return text is not None and record.buffer.form.encode(text) == record.disk


def count_as_saved(documents: Documents, record: FileRecord) -> None:
    """What belongs on the disk lies there now."""
    record.synced, record.held = record.version, _backed_out(documents, record)[1]


def with_hunks(documents: Documents, path: str, hunks: Collection[Hunk]) -> bytes | None:
    """The bytes of a file with exactly these of its hunks, whatever was decided; None: no file.

    Nothing is changed. What the user typed is there, and what is landing is not. Where a hunk
    lies on one that is left out, it is there as far as it does not touch that one's lines. Hunks
    that are not in the text (rejected, refused) do not come into it.

    Raises:
        EditRefused: no file of that name is open, or it is only looked at.
    """
    record = _planned_record(documents, path)
    chosen = set(hunks)
    if record.gone or chosen.intersection(one for one in (record.deletion,) if one):
        return None
    text, _ = finished(_backing_out(documents, record, lambda hunk: hunk not in chosen))
    maker = next((hunk for hunk in record.made if hunk in record.live), None)
    made = maker is not None and maker not in chosen and documents.layers[maker.id].made_file
    return None if made and not text else record.buffer.form.encode(text)


def held_in(documents: Documents, path: str, hunks: Collection[Hunk]) -> list[Hunk]:
    """Those of these hunks that cannot be left out without what somebody else wrote in them.

    Raises:
        EditRefused: no file of that name is open, or it is only looked at.
    """
    work = _backing_out(documents, _planned_record(documents, path), set(hunks).__contains__)
    return finished(work)[1]


def _backing_out(
    documents: Documents, record: FileRecord, goes: Callable[[Hunk], bool] = _is_open
) -> Work[tuple[str, list[Hunk]]]:
    """The text without what is landing and the hunks that go, and those that do not come apart.

    These are hunks in which somebody wrote so that it goes with them.
    """
    out: list[Hunk] = []
    for part in in_parts(list(record.live)):
        out += [hunk for hunk in part if goes(hunk)]
        yield len(part)
    if not out and record.landing is None:
        return record.buffer.text(), []
    if record.landing is None:
        edits = _alone(record, out)
        if edits is not None and not (yield from record.weave.torn(edits)):
            return record.weave.without(edits, record.buffer.text()), []
    buffer, held = still_text(documents, record, goes).apart()
    return buffer.text(), held


def _backed_out(documents: Documents, record: FileRecord) -> tuple[str, list[Hunk]]:
    return finished(_backing_out(documents, record))


def _alone(record: FileRecord, hunks: Iterable[Hunk]) -> set[WovenEdit] | None:
    """What hunks did to the text; None: one of them ends, or ended, the file's last line."""
    edits: set[WovenEdit] = set()
    for hunk in hunks:
        if (edit := record.weave.edit(hunk)) is None or not _is_whole(hunk):
            return None
        edits.add(edit)
    return edits


def _is_whole(hunk: Hunk | _Stood) -> bool:
    return hunk.base[-1:] in ("", "\n") and hunk.agent[-1:] in ("", "\n")


def _belongs(documents: Documents, record: FileRecord, *, empty: bool) -> bool:
    """Whether there is to be a file, if its text is ``empty`` or is not."""
    addition = record.addition
    untouched = record.version == record.synced or (addition is not None and empty)
    if addition is not None and empty and documents.layers[addition.id].made_file:
        return False  # there was no file before the hunk, which may have been accepted for a while
    # the user named it, the model filled it and was taken back: there was no such file
    never_was = record.named and empty and not record.undo_log.state
    return (record.disk is not None or not untouched) and not never_was


class _Stood(NamedTuple):
    """A hunk as it stood in a text."""

    hunk: Hunk
    first: int
    last: int
    base: str
    agent: str
    below: Sequence[Hunk]
    is_open: bool
    """It is to go: mostly as it is not decided, so that it does not belong on the disk."""


class StillText(Struct, frozen=True):
    """A file at one moment; any thread may work out from it what belonged on the disk then."""

    path: str
    form: Form
    lines: list[str]
    endings: list[str]
    stood: tuple[_Stood, ...] = ()
    weave: StillWeave | None = None
    landing: tuple[int, int, str] | None = None
    """Rows that a section had painted, and the text that belongs there without it."""
    belongs: tuple[bool, bool] = (True, True)
    """Whether there is to be a file if there is text, and if there is none."""

    def buffer(self) -> Buffer:
        """A buffer with the text as it stood, hunks and all."""
        return Buffer.of(self.path, self.form, list(self.lines), list(self.endings))

    def planned(self, *, typed: bool = False) -> Buffer | None:
        """What belonged on the disk; None: nothing.

        ``typed``: with all that the user typed, and the hunks that it does not come apart from.
        """
        text, _ = self.apart(typed=typed)
        return text if self.belongs[not file_rows(text)] else None

    def backed_out(self) -> Buffer:
        """The text without what was landing and what was not decided."""
        return self.apart()[0]

    def apart(self, *, typed: bool = False) -> tuple[Buffer, list[Hunk]]:
        """That text, and the hunks that the user has changed so that they do not come apart.

        These go, with what the user typed in them: it is in the buffer, and nobody has accepted
        what the model wrote. ``typed``: they stay.
        """
        if self.landing is None and not any(one.is_open for one in self.stood):
            return self.buffer(), []
        scratch = Documents(lambda path: FileRead(None))
        record = FileRecord(self.path, self.buffer(), None)
        if self.weave is not None:
            record.set_weave(self.weave.weave())
        if self.landing is not None:
            first, last, text = self.landing
            scratch.rewrite(record, (first, last), text, Author.MODEL)
        left, whole = self._going(record.weave)
        if whole:
            rest = record.weave.without(whole, record.buffer.text())
            record.weave.switch(whole)
            record.buffer = Buffer.of(self.path, self.form, *split_text(rest))
        copies = [
            replace(
                one.hunk, start=Mark(one.first), end=Mark(one.last), base=one.base, agent=one.agent
            )
            for one in left
        ]
        for one, copy in zip(left, copies, strict=True):
            record.weave.join(copy, one.hunk)
        if whole or self.landing:
            stand(record, copies)
        record.live = HunkIndex(copies)
        held: list[Hunk] = []
        for one, copy in zip(left[::-1], copies[::-1], strict=True):
            if take_off(scratch, record, copy):
                continue
            if not _still(copy, text_now(record, copy))[1]:
                held.append(one.hunk)
            if not typed:
                take_off(scratch, record, copy, still=True)
        return record.buffer, held[::-1]

    def _going(self, weave: Weave) -> tuple[list[_Stood], set[WovenEdit]]:
        """The hunks that are to be taken off one by one, and what the others that go did.

        One by one go those that would leave a torn text, and what they lie on, behind them.
        """
        going = {one.hunk: one for one in self.stood if one.is_open}
        edits = {edit: hunk for hunk in going if (edit := weave.edit(hunk))}
        stack = [edits[edit] for edit in finished(weave.torn(edits))]
        stack += going.keys() - edits.values()
        stack += (one.hunk for one in going.values() if not _is_whole(one))
        left: set[Hunk] = set()
        while stack:
            if (hunk := stack.pop()) in going and hunk not in left:
                left.add(hunk)
                stack += going[hunk].below
        whole = {edit for edit, hunk in edits.items() if hunk not in left}
        return [one for one in self.stood if one.hunk in left], whole


def still_text(
    documents: Documents, record: FileRecord, goes: Callable[[Hunk], bool] = _is_open
) -> StillText:
    """An open file as it stands now; costs a copy of its lists of lines and of hunks."""
    buffer, rows = record.buffer, record.live.rows()
    stood = tuple(
        _Stood(
            hunk,
            *rows[hunk],
            hunk.base,
            hunk.agent,
            documents.layers[hunk.id].below,
            goes(hunk),
        )
        for hunk in record.live
    )
    painted = record.landing.painter if record.landing is not None else None
    return StillText(
        record.path,
        buffer.form,
        list(buffer.lines),
        list(buffer.endings),
        stood,
        record.still_weave() if any(one.is_open for one in stood) or painted else None,
        None if painted is None else (painted.row, painted.end, painted.without()),
        (_belongs(documents, record, empty=False), _belongs(documents, record, empty=True)),
    )


class StillFile(Struct, frozen=True):
    """An open file at one moment, and what becomes of it with some of its undecided hunks."""

    text: StillText
    disk: bytes | None
    waiting: tuple[Hunk, ...]
    """Those that are on the screen and not on the disk, from the top; what takes the file away as a
    whole comes last."""
    deletion: Hunk | None
    moving: Hunk | None
    maker: int
    """The one without which there is no such file; 0: none."""

    def files(self, hunk_ids: Collection[int]) -> dict[str, bytes | None]:
        """Path -> what belongs there with these of the hunks that wait; None: no file."""
        text, path = self.text, self.text.path
        if self.deletion is not None and self.deletion.id in hunk_ids:
            return {path: None}
        stood = tuple(
            one._replace(is_open=one.is_open and one.hunk.id not in hunk_ids) for one in text.stood
        )
        buffer, _ = structs.replace(text, stood=stood).apart()
        unmade = bool(self.maker) and self.maker not in hunk_ids and not buffer.text()
        data = None if unmade else buffer.encode()
        if self.moving is not None and self.moving.id in hunk_ids and data is not None:
            return {path: None, self.moving.target: data}
        return {path: data}


class StillScreen(Struct, frozen=True):
    """What the screen shows at one moment, as far as it is not on the disk; for any thread."""

    open_files: tuple[StillFile, ...]

    @property
    def waiting(self) -> list[Hunk]:
        """The hunks that are on the screen and not on the disk, file by file."""
        return [hunk for file in self.open_files for hunk in file.waiting]

    def without(self, hunk_ids: Collection[int]) -> StillScreen:
        """As if these hunks were not on it."""
        return StillScreen(
            tuple(
                structs.replace(
                    file, waiting=tuple(one for one in file.waiting if one.id not in hunk_ids)
                )
                for file in self.open_files
            )
        )

    def files(self, hunk_ids: Collection[int] | None = None) -> dict[str, bytes | None]:
        """Path -> its bytes, where they are not those on the disk; None: there is no such file.

        With these of the hunks that wait for a decision (None: all), and what the user typed, be
        it saved or not. What was landing is not in it.
        """
        ids = frozenset(one.id for one in self.waiting) if hunk_ids is None else hunk_ids
        found: dict[str, bytes | None] = {}
        for file in self.open_files:
            for path, data in file.files(ids).items():
                if path != file.text.path:
                    found[path] = data
                elif data != file.disk:
                    found.setdefault(path, data)
        return found


def keeping_still(documents: Documents) -> Work[StillScreen]:
    """The screen as it stands now; it pauses after each file, so nothing may change meanwhile."""
    found: list[StillFile] = []
    for path in sorted(documents.records):
        record = documents.records.get(path)
        if record is None or record.view:
            continue
        yield
        whole = tuple(one for one in (record.moving, record.deletion) if one is not None)
        waiting = [hunk for hunk in record.live if hunk.undecided and hunk not in whole]
        if record.gone or (record.saved and not waiting and not whole and record.landing is None):
            continue
        rows = record.live.rows()
        waiting.sort(key=lambda hunk: (rows[hunk], hunk.id))
        maker = next((hunk for hunk in record.made if hunk in record.live), None)
        made = maker is not None and maker.undecided and documents.layers[maker.id].made_file
        found.append(
            StillFile(
                still_text(documents, record, lambda hunk: hunk.undecided),
                record.disk,
                (*waiting, *whole),
                record.deletion,
                record.moving,
                maker.id if made and maker is not None else 0,
            )
        )
    return StillScreen(tuple(found))


def take_off(
    documents: Documents,
    record: FileRecord,
    hunk: Hunk,
    *,
    whole: bool = False,
    still: bool = False,
) -> bool:
    """Put a hunk's base back, keeping what the user changed in it; False if that conflicts.

    ``whole``: what the user changed goes, too. ``still``: it goes where it conflicts.
    """
    if hunk.start is None or hunk.end is None:
        return False
    current = rows_text(record.buffer, hunk.start.line, hunk.end.line)
    text = hunk.base if whole or current == hunk.agent else _merged(hunk, current)
    if text is None and still:
        text, _ = _still(hunk, current)
    if text is None:
        if comes_off(record, hunk):
            documents.take_off(record, hunk, None)
            return True
        return False
    behind = hunk.end.line < file_rows(record.buffer)
    ended = text + record.buffer.newline if behind and text[-1:] not in ("", "\n") else text
    before = record.weave.ended()
    documents.take_off(record, hunk, ended)
    after = record.weave.ended()
    if after and (before is None or after[1] is not before[1]):
        _hand_on(record, *after)
    return True


def comes_off(record: FileRecord, hunk: Hunk) -> bool:
    """True if `take_off` would take a hunk out, and nothing that others wrote."""
    current = text_now(record, hunk)
    if current == hunk.agent or _merged(hunk, current) is not None:
        return True
    edit = record.weave.edit(hunk)
    if edit is None or not record.weave.intact(edit):
        return False
    return not record.weave.is_written_beside(edit)


def _merged(hunk: Hunk, current: str) -> str | None:
    """The base with what the user changed in a hunk's text; None if that conflicts."""
    base, agent = hunk.base, hunk.agent
    if not base or base.endswith("\n") or not agent.endswith("\n"):
        return merge3(agent, current, base)
    # the file's last line had no newline: that it got one is no change of its text
    newline = agent[len(agent.removesuffix("\n").removesuffix("\r")) :]
    text = merge3(agent, current, base + newline)
    return text and text.removesuffix(newline)


def _still(hunk: Hunk, current: str) -> tuple[str, bool]:
    """What is left without a hunk's lines, and whether that is all that others wrote there."""
    merged = merge3(hunk.agent, current, hunk.base)
    return (merged, True) if merged is not None else merge_theirs(hunk.agent, current, hunk.base)


def text_now(record: FileRecord, hunk: Hunk) -> str:
    """What stands in a hunk's rows."""
    assert hunk.start is not None
    assert hunk.end is not None
    return rows_text(record.buffer, hunk.start.line, hunk.end.line)


def _hand_on(record: FileRecord, row: int, edit: WovenEdit) -> None:
    """The hunk behind a line that had no newline inherits it: taken off, it ends that way."""
    hunk = edit.key
    if not isinstance(hunk, Hunk) or hunk.base or hunk not in record.live:
        return
    if hunk.start is not None and hunk.start.line == row + 1:
        hunk.base, hunk.woven = record.buffer.lines[row], ()
        hunk.agent = rows_text(record.buffer, row, row + 1) + hunk.agent
        hunk.start.line = row
