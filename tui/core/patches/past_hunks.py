"""Hunks of a session that goes on: the waiting ones are placed again by the code that placed them.

What was decided and lies on the disk is only remembered. A hunk whose new text stands in the
file already counts as accepted; one that fits nowhere any more is in conflict, and says why.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct, field

from tui.core.document.documents import Documents
from tui.core.document.file_record import FileRecord
from tui.core.document.hunk import OPEN, PLACED, UNPAINTED, Decision, Hunk, Kind, Stage
from tui.core.edit_stream.events import (
    Anchor,
    Ev,
    FileOp,
    Line,
    MoveTo,
    NoNewline,
    SectionEnd,
    SectionStart,
)
from tui.core.patches.file_work import FileWork, Why
from tui.core.patches.landing import work_for
from tui.core.session_record import HunkMade
from tui.core.steps import Work
from tui.core.text.buffer import Buffer
from tui.core.text.rows import file_rows, keep_ends, whole_text
from tui.errors import EditRefused

_AROUND = 3
"""Lines above and below a hunk by which it is found."""


class BroughtBack(Struct):
    """What became of the hunks that waited, or were accepted and not written."""

    placed: list[Hunk] = field(default_factory=list)
    """They wait again."""
    unwritten: list[Hunk] = field(default_factory=list)
    """They wait again, and the user had accepted them."""
    on_disk: list[Hunk] = field(default_factory=list)
    """Their text stands in the file: they count as accepted."""
    typed: list[tuple[Hunk, str]] = field(default_factory=list)
    """Of those that wait, these with what the user had made of their lines."""
    lost: list[Hunk] = field(default_factory=list)
    """They fit nowhere any more."""


def bringing_back(
    documents: Documents, past: Iterable[HunkMade], unwritten: Collection[int] = ()
) -> Work[BroughtBack]:
    """Take in all hunks of a session, in the order of their ids; none of them is there yet.

    ``unwritten``: ids of those that were accepted, and did not come to the disk since.
    """
    found = BroughtBack()
    documents.ask_again()
    touched: dict[str, FileRecord] = {}
    for one in past:
        incomplete = one.stage in OPEN and not (one.stage is Stage.CANDIDATES and one.reason)
        if not incomplete and _waits(one, written=one.id not in unwritten):
            _place(documents, one, found)
            if record := documents.records.get(documents.links.get(one.path, one.path)):
                touched[record.path] = record
        else:
            documents.remember(settled(one))
        yield 1
    for record in touched.values():
        record.shifts.follow(record.waiting)
        record.forget()
    documents.bump()
    return found


def _waits(past: HunkMade, *, written: bool) -> bool:
    """True if its text belongs into the buffer, or a place is looked for."""
    if past.decision is Decision.ACCEPTED:
        return not written and past.stage in PLACED
    if past.decision is Decision.REJECTED:
        return False
    return past.stage in PLACED or past.stage in (Stage.CONFLICT, Stage.CANDIDATES)


def settled(past: HunkMade) -> Hunk:
    """A hunk that stands nowhere, and for which no place is looked for."""
    if past.stage in OPEN and not (past.stage is Stage.CANDIDATES and past.reason):
        return _hunk(past, Stage.REFUSED, past.reason or UNPAINTED)
    return _hunk(past, past.stage, past.reason)


def _remember(documents: Documents, past: HunkMade, stage: Stage, reason: str) -> Hunk:
    hunk = _hunk(past, stage, reason)
    documents.remember(hunk)
    return hunk


def _hunk(past: HunkMade, stage: Stage, reason: str) -> Hunk:
    hunk = Hunk(past.id, past.turn, past.call_id, past.path, past.kind, section=past.section)
    hunk.base, hunk.agent, hunk.woven = past.base, past.agent, past.woven
    hunk.added, hunk.removed = past.added, past.removed
    hunk.target, hunk.flags, hunk.words = past.target, past.flags, past.words
    hunk.redone = past.redone
    hunk.stage, hunk.decision, hunk.reason = stage, past.decision, reason
    return hunk


def _place(documents: Documents, past: HunkMade, found: BroughtBack) -> None:
    """Through the same code as a patch that comes; what does not fit is told by its reason."""
    if _is_done(documents, past):
        hunk = _remember(documents, past, Stage.LANDED, "")
        hunk.decision = Decision.ACCEPTED
        found.on_disk.append(hunk)
        return
    hunks: list[Hunk] = []

    def new_hunk(path: str, kind: Kind, section: int) -> Hunk:
        number = past.id if not hunks else 0
        hunk = Hunk(number, past.turn, past.call_id, path, kind, section=past.section)
        hunks.append(documents.new_hunk(hunk))
        return hunk

    work = work_for(documents, FileOp(past.kind, past.path, "unified_diff"), new_hunk)
    _tell(work, _events(documents, past))
    if not (hunks and hunks[0].id in documents.hunk_list):
        found.lost.append(_remember(documents, past, Stage.CONFLICT, past.reason))
        return
    hunk = hunks[0]
    hunk.flags, hunk.redone = tuple(dict.fromkeys((*past.flags, *hunk.flags))), past.redone
    if hunk.stage is Stage.LANDED:
        if past.stage is Stage.CUT:
            hunk.stage, hunk.frozen, hunk.reason = Stage.CUT, past.frozen, past.reason
        held = found.unwritten if past.decision is Decision.ACCEPTED else found.placed
        held.append(hunk)
        if past.typed is not None:
            found.typed.append((hunk, past.typed))
    elif hunk.placeable:
        found.placed.append(hunk)
    else:
        hunk.stage = Stage.CONFLICT
        hunk.base, hunk.agent, hunk.woven = past.base, past.agent, past.woven
        hunk.added, hunk.removed = past.added, past.removed
        found.lost.append(hunk)
    documents.bump()


def _tell(work: FileWork, said: Iterable[Ev]) -> None:
    why = Why()
    for event in said:
        work.take(event, why)
    work.end(True, why)


def _events(documents: Documents, past: HunkMade) -> list[Ev]:
    """What a patch with nothing but this hunk would say."""
    if past.kind is Kind.DELETE:
        return [Line("-", text) for text in _texts(past.base)]
    if past.kind is Kind.MOVE:
        return [MoveTo(past.target)]
    old: list[Ev] = [Line("-", text) for text in _texts(past.base)]
    new: list[Ev] = [Line("+", text) for text in _texts(past.agent)]
    if past.agent and not past.agent.endswith("\n"):
        new.append(NoNewline("+"))
    if past.kind is Kind.ADD:
        return new
    above, below, row = _around(documents, past)
    hint = None if row is None else row - len(above)
    return [
        SectionStart(past.section, first=True),
        Anchor("", hint),
        *(Line("=", text) for text in above),
        *old,
        *new,
        *(Line("=", text) for text in below),
        SectionEnd(closed=True),
    ]


def _around(
    documents: Documents, past: HunkMade
) -> tuple[Sequence[str], Sequence[str], int | None]:
    """As much of the lines that stood around it as still stand there, and its row."""
    whole = past.above, past.below, past.line
    buffer = _buffer(documents, past.path)
    if buffer is None:
        return whole
    old = _texts(past.base)
    for above, below in _narrower(past.above, past.below):
        rows = _places(buffer, [*above, *old, *below])
        if len(rows) == 1:  # what else stands around it now makes it surer
            first = rows[0] + len(above)
            last, lines = first + len(old), buffer.lines[: file_rows(buffer)]
            return lines[max(first - _AROUND, 0) : first], lines[last : last + _AROUND], first
        if rows:
            return above, below, past.line
    return whole


def _narrower(
    above: Sequence[str], below: Sequence[str]
) -> Iterable[tuple[Sequence[str], Sequence[str]]]:
    """Fewer and fewer lines around a hunk, those next to it last."""
    most = max(len(above), len(below))
    for count in range(most, -1, -1):
        near = above[len(above) - min(count, len(above)) :]
        yield near, below[:count]
        if count:
            yield near, ()
            yield (), below[:count]


def _places(buffer: Buffer, wanted: Sequence[str]) -> list[int]:
    """Two rows at most at which these lines follow each other; blank ones say nothing."""
    lines, count, found, at = buffer.lines, len(wanted), list[int](), -1
    last = file_rows(buffer) - count
    while len(found) < 2 and any(map(str.strip, wanted)):
        try:
            at = lines.index(wanted[0], at + 1, last + 1)
        except ValueError:
            break
        if lines[at : at + count] == wanted:
            found.append(at)
    return found


def _is_done(documents: Documents, past: HunkMade) -> bool:
    """True if the file is as the hunk makes it: it was written there meanwhile."""
    if past.kind is Kind.DELETE:
        return not _is_there(documents, past.path)
    if past.kind is Kind.MOVE:
        return not _is_there(documents, past.path) and _is_there(documents, past.target)
    buffer = _buffer(documents, past.path)
    if buffer is None or past.stage is not Stage.LANDED:
        return False
    if past.kind is Kind.ADD:
        return whole_text(buffer) == past.agent
    old, new = _texts(past.base), _texts(past.agent)
    above, below = list(past.above), list(past.below)
    if _places(buffer, [*above[-1:], *old, *below[:1]]) or not (new or (above and below)):
        return False
    near = [*above[-1:], *new, *below[:1]] if above and below else ()
    return bool(_places(buffer, [*above, *new, *below]) or _places(buffer, near))


def _is_there(documents: Documents, path: str) -> bool:
    try:
        return documents.find(path) is not None
    except EditRefused:
        return True


def _buffer(documents: Documents, path: str) -> Buffer | None:
    """The text of a file that can be edited; None: there is none."""
    try:
        record = documents.find(path)
    except EditRefused:
        return None
    return None if record is None else record.buffer


def _texts(text: str) -> list[str]:
    """The lines without their endings."""
    return [line.removesuffix("\n").removesuffix("\r") for line in keep_ends(text)]
