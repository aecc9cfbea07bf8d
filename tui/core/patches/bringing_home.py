"""What was made of files elsewhere, brought into the buffers as pending hunks of a turn.

A lane works on texts of its own while the user types, accepts and rejects, and other lanes come
home: its changes are carried over the text as it is now. Where both changed the same lines the
hunk has the lane's text and a flag; rejected, what stands there now is back.

To be read before, it is shown as a difference, in hunks that are numbered through all files and can
be taken alone: changes with hardly a line between them are one; so is a file that is new, or gone.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from tui.core.document.documents import Documents
from tui.core.document.file_record import FileRecord, lay
from tui.core.document.hunk import Hunk, Kind, Stage
from tui.core.edit_stream.events import FileOp, MoveTo
from tui.core.files import ascii_shown, decoded
from tui.core.patches.checks import flag_private, flag_shrunken
from tui.core.patches.file_work import NewHunk, Why
from tui.core.patches.landing import work_for
from tui.core.steps import Work
from tui.core.text.buffer import form_of, plain_text
from tui.core.text.carried import Replacement, carried_over
from tui.core.text.change_set import Author
from tui.core.text.diff import LineBlock, blocks, line_changes
from tui.core.text.rows import (
    Span,
    file_rows,
    keep_ends,
    row_count,
    rows_text,
    shifted,
    whole_text,
)
from tui.errors import EditRefused


class LaneFile(NamedTuple):
    """One file of a lane; None: there is no such file."""

    base: bytes | None
    """As the lane found it."""
    now: bytes | None
    """As the lane left it."""


REPLACES = "replaces lines that were changed meanwhile"
BESIDE = "stands behind lines that were put in here meanwhile"
MADE_AGAIN = "the file was deleted meanwhile: this makes it again"
CHANGED = "the file was changed meanwhile"
MET = frozenset({REPLACES, BESIDE, MADE_AGAIN, CHANGED})
"""Flags of hunks that met what was done to their file while the lane worked."""
_FORM = "only its byte order mark or its kind of line ends differs, which no hunk can say"
_CLASHES = {"": (), "replaces": (REPLACES,), "beside": (BESIDE,)}


def bringing_home(
    documents: Documents, files: Mapping[str, LaneFile], turn: int, call_id: str
) -> Work[list[Hunk]]:
    """Bring what a lane made of files home, as pending hunks of a turn; returns all of them.

    What cannot be brought is a hunk, too: refused, with its text and the reason.

    Raises:
        EditRefused: a model writes in one of the files now; nothing was changed.
    """
    changed = {path: one for path, one in files.items() if one.base != one.now}
    paths = [documents.links.get(path, path) for path in changed]
    for path in paths:
        record = documents.records.get(path)
        if path in documents.busy or (record is not None and record.sections):
            raise EditRefused(f"a model writes in '{ascii_shown(path)}': wait until it is done")
    documents.ask_again()
    hunks: list[Hunk] = []

    def new_hunk(path: str, kind: Kind, section: int) -> Hunk:
        hunk = documents.new_hunk(Hunk(0, turn, call_id, path, kind, section=section))
        hunks.append(hunk)
        return hunk

    documents.busy |= dict.fromkeys(paths, hunks)
    try:
        yield from _bring_all(documents, changed, new_hunk)
    finally:
        for path in paths:
            documents.busy.pop(path, None)
            if waiters := documents.waiters.get(path):
                waiters.pop(0)()
    flag_shrunken(documents, hunks, call_id)
    flag_private(documents, hunks, call_id)
    for record in documents.records.values():
        record.shifts.follow(record.waiting)
        record.forget()
    documents.bump()
    return hunks


def _bring_all(
    documents: Documents, changed: Mapping[str, LaneFile], new_hunk: NewHunk
) -> Work[None]:
    moved = _moves(changed)
    for path in sorted(changed.keys() - moved.values()):
        target = moved.get(path)
        one = changed[path] if target is None else LaneFile(changed[path].base, changed[target].now)
        try:
            yield from _bring(documents, path, one, new_hunk)
        except EditRefused as error:
            _refuse(new_hunk(path, Kind.EDIT, 0), one, str(error))
        if target is not None:
            work = work_for(documents, FileOp(Kind.EDIT, path), new_hunk)
            work.take(MoveTo(target), Why())
            work.end(True, Why())
        yield 1


def _moves(changed: Mapping[str, LaneFile]) -> dict[str, str]:
    """Files that went elsewhere, by where they were: half of their lines are the same, at least."""
    new = {path: one.now for path, one in changed.items() if one.base is None and one.now}
    found: dict[str, str] = {}
    for path, one in sorted(changed.items()):
        if one.now is not None or not one.base:
            continue
        lines = Counter(one.base.splitlines())
        for target, data in sorted(new.items()):
            there = Counter(data.splitlines()) if data else Counter[bytes]()
            if 2 * (lines & there).total() >= max(lines.total(), there.total()):
                found[path] = target
                del new[target]
                break
    return found


def _bring(documents: Documents, path: str, one: LaneFile, new_hunk: NewHunk) -> Work[None]:
    """One file. Raises EditRefused."""
    base = plain_text("" if one.base is None else decoded(path, one.base))
    text = "" if one.now is None else decoded(path, one.now)
    record = documents.arriving.get(documents.checked(path)) or documents.find(path)
    is_there = record is not None and not record.blank
    if one.now is None:
        if is_there:
            _delete(documents, path, base, new_hunk)
        return
    if record is None or record.blank:
        _add(documents, path, text, new_hunk).flags += () if one.base is None else (MADE_AGAIN,)
        return
    if record.read_only or record.deletion is not None:
        raise EditRefused(record.read_only or f"'{ascii_shown(path)}' is to be deleted by a hunk")
    if one.base == one.now:
        return  # it only moves
    if base == plain_text(text):
        raise EditRefused(_FORM)
    yield from _edit(documents, record, (base, plain_text(text)), new_hunk)


def _edit(
    documents: Documents, record: FileRecord, sides: tuple[str, str], new_hunk: NewHunk
) -> Work[None]:
    """A hunk for each change that the text has not yet; in its pauses others may write."""
    buffer, more = record.buffer, 0
    left = deque(enumerate(carried_over(sides[0], whole_text(buffer), sides[1]), 1))
    while left:
        number, one = left.popleft()
        before, hunk = file_rows(buffer), new_hunk(record.path, Kind.EDIT, number)
        _put(documents, record, hunk, one._replace(first=one.first + more, last=one.last + more))
        hunk.flags += _CLASHES[one.clash]
        more += file_rows(buffer) - before
        revision = buffer.revision
        yield 1
        for change in buffer.changes_since(revision) or ():
            left = deque((number, _moved(one, more, Span(*change))) for number, one in left)


def _moved(place: Replacement, more: int, span: Span) -> Replacement:
    """Where it belongs when others changed rows; ``more`` rows were put in above it before."""
    first, last, _ = shifted(place.first + more, place.last + more, span)
    return place._replace(first=first - more, last=last - more)


def _put(documents: Documents, record: FileRecord, hunk: Hunk, place: Replacement) -> None:
    """Put a hunk's text over rows of a buffer."""
    first, last, text, _ = place
    near = record.live.near(first - 1, last + 1)
    stood = [(one, one.start.line, one.end.line) for one in near if one.start and one.end]
    hunk.base, hunk.agent = rows_text(record.buffer, first, last), text
    documents.rewrite(record, (first, last), text, Author.MODEL, hunk)
    record.by_others.note(hunk, was_on=False)  # the model that answers here knows nothing of it
    rows = documents.cut_to_changes(record, hunk, first)
    hunk.added, hunk.removed = _counts(hunk)
    lay(documents.layers, hunk, (rows[0], rows[0] + row_count(hunk.base)), stood)
    documents.settle(record, hunk, rows)
    hunk.stage = Stage.LANDED


def _counts(hunk: Hunk) -> tuple[int, int]:
    """Lines that a hunk adds and removes."""
    changes = line_changes(hunk.base, hunk.agent).changes
    added = sum(row_count(one.new_text) for one in changes)
    return added, sum(row_count(one.old_text) for one in changes)


def _add(documents: Documents, path: str, text: str, new_hunk: NewHunk) -> Hunk:
    """A new file, in the form that the lane gave it."""
    if documents.checked(path) in documents.arriving:
        raise EditRefused(f"'{ascii_shown(path)}' is where an earlier hunk moves a file")
    record = documents.find(path) or documents.create(path)
    hunk = new_hunk(record.path, Kind.ADD, 0)
    record.buffer.form = form_of(text)
    documents.layers.own(hunk).made_file = True
    record.synced = record.version
    plain = plain_text(text)
    _put(documents, record, hunk, Replacement(0, 0, plain))
    hunk.agent, hunk.added = plain, row_count(plain)
    return hunk


def _delete(documents: Documents, path: str, base: str, new_hunk: NewHunk) -> None:
    work = work_for(documents, FileOp(Kind.DELETE, path), new_hunk)
    work.end(True, Why())
    hunk = work.hunks[-1]
    if hunk.stage is Stage.LANDED:
        hunk.flags = hunk.flags[:1] + ((CHANGED,) if hunk.base != base else ())


def _refuse(hunk: Hunk, one: LaneFile, reason: str) -> None:
    """Keep what cannot be brought, to be looked at and copied."""
    try:
        base, now = (plain_text(decoded(hunk.path, data or b"")) for data in one)
    except EditRefused:
        base = now = ""
    changes = line_changes(base, now).changes
    hunk.base = "".join(change.old_text for change in changes)
    hunk.agent = "".join(change.new_text for change in changes)
    hunk.added, hunk.removed = len(keep_ends(hunk.agent)), len(keep_ends(hunk.base))
    hunk.stage, hunk.reason = Stage.REFUSED, reason


_SHOWN_LINES = 600
"""Of a difference."""
_AROUND = 2
"""Lines that are shown before and behind what differs."""
_BYTES = "latin-1"
"""Has a sign for every byte, so that no file is too odd to be compared and joined again."""
_Hunks = Sequence[Sequence[LineBlock]]


def difference(changes: Mapping[str, LaneFile]) -> Iterator[str]:
    """The lines of all differences, as far as they are shown; a path begins with ``=``."""
    lines, number = 0, 0
    for path, one in changes.items():
        state = " (new)" if one.base is None else " (deleted)" if one.now is None else ""
        yield f"={path}{state}"
        for line in _compared(one.base or b"", one.now or b""):
            if (lines := lines + 1) > _SHOWN_LINES:
                yield "… the rest is not shown: take it to see all"
                return
            if line.startswith("@@"):
                number += 1
                line = f"{line} {number}"
            yield line


def hunk_count(changes: Mapping[str, LaneFile]) -> int:
    """How many there are."""
    return sum(len(_hunks(one.base or b"", one.now or b"")) for one in changes.values())


def with_hunks(changes: Mapping[str, LaneFile], chosen: Collection[int]) -> dict[str, LaneFile]:
    """The same changes, but only the hunks with these numbers."""
    found: dict[str, LaneFile] = {}
    first = 1
    for path, one in changes.items():
        hunks = _hunks(one.base or b"", one.now or b"")
        mine = [hunk for number, hunk in enumerate(hunks, first) if number in chosen]
        first += len(hunks)
        if len(mine) == len(hunks) > 0:
            found[path] = one
        elif mine:
            found[path] = LaneFile(one.base, _joined(one, mine))
    return found


def _joined(one: LaneFile, hunks: _Hunks) -> bytes:
    """The base with these changes."""
    old, new = _lines(one.base or b""), _lines(one.now or b"")
    text, at = list[str](), 0
    for block in (block for hunk in hunks for block in hunk):
        text += [*old[at : block.old_first], *new[block.new_first : block.new_last]]
        at = block.old_last
    return "".join([*text, *old[at:]]).encode(_BYTES)


def _lines(data: bytes) -> list[str]:
    return keep_ends(data.decode(_BYTES))


@lru_cache(maxsize=32)
def _hunks(was: bytes, now: bytes) -> _Hunks:
    """Changes that are shown together, as the texts are looked at several times a second."""
    found: list[list[LineBlock]] = []
    for block in blocks(_lines(was), _lines(now)):
        if found and block.old_first - found[-1][-1].old_last <= 2 * _AROUND:
            found[-1].append(block)
        else:
            found.append([block])
    return found


@lru_cache(maxsize=32)
def _compared(was: bytes, now: bytes) -> Sequence[str]:
    """The lines of a difference, as far as they may be shown."""
    old, new = _lines(was), _lines(now)
    found: list[str] = []
    for hunk in _hunks(was, now):
        if len(found) > _SHOWN_LINES:
            break
        found += _unified(old, new, hunk)
    return found[: _SHOWN_LINES + 1]


def _unified(old: Sequence[str], new: Sequence[str], hunk: Sequence[LineBlock]) -> Iterator[str]:
    """One hunk, with what stands around it."""
    first, last = hunk[0], hunk[-1]
    at, end = max(first.old_first - _AROUND, 0), min(last.old_last + _AROUND, len(old))
    new_at, new_end = first.new_first - first.old_first + at, last.new_last - last.old_last + end
    yield f"@@ -{_span(at, end)} +{_span(new_at, new_end)} @@"
    for block in hunk:
        yield from (f" {_shown(line)}" for line in old[at : block.old_first])
        yield from (f"-{_shown(line)}" for line in old[block.old_first : block.old_last])
        yield from (f"+{_shown(line)}" for line in new[block.new_first : block.new_last])
        at = block.old_last
    yield from (f" {_shown(line)}" for line in old[at:end])


def _shown(line: str) -> str:
    return line.rstrip("\r\n").encode(_BYTES).decode(errors="replace")


def _span(at: int, end: int) -> str:
    return f"{at + 1}" if end - at == 1 else f"{at + (end > at)},{end - at}"
