"""Decisions: accept and reject by the user, and taking a whole turn back.

Everything happens in the buffers at once; the paths that come back are to be written then,
each as `disk_plan` says, in this order. A write that fails makes its hunks pending again.
"""

from __future__ import annotations

from collections.abc import Iterable

from tui.core.buffer import Buffer
from tui.core.disk_plan import take_off
from tui.core.hunk import OPEN, PLACED, UNDONE, Decision, Hunk, Kind, Stage
from tui.core.ledger import FileRecord, Ledger, WaitingSection
from tui.core.rows import whole_text
from tui.errors import EditRefused

_EDITED = "you changed what this hunk wrote, so it was not taken back"


def accept(ledger: Ledger, hunks: Iterable[Hunk]) -> list[str]:
    """Accept hunks, and with each the hunks that it lies on."""
    paths: dict[str, None] = {}
    for hunk in sorted(hunks, key=lambda h: h.id):
        for one in [*below(ledger, hunk), hunk]:
            if one.decidable:
                paths.update(dict.fromkeys(_accept_one(ledger, one)))
            elif one is hunk and one.stage is Stage.CONFLICT and _is_live(ledger, one):
                one.stage = Stage.LANDED
                paths.update(dict.fromkeys(_accept_one(ledger, one)))
    ledger.roster.reviewed()
    ledger.bump()
    return list(paths)


def reject(ledger: Ledger, hunks: Iterable[Hunk], words: str) -> list[str]:
    """Reject hunks, and with each the hunks that lie on it, newest first."""
    for hunk in sorted(hunks, key=lambda h: -h.id):
        for one in [*_above(ledger, hunk), hunk]:
            if one.decidable:
                _reject_one(ledger, one, words)
            elif one is hunk and one.decision is Decision.PENDING:
                _dismiss(ledger, one, words)
    ledger.roster.reviewed()
    ledger.bump()
    return []


def undo_turn(ledger: Ledger, turn: int) -> list[str]:
    """Take a turn back, whatever was decided, and what later turns built on it."""
    paths: dict[str, None] = {}
    for hunk in sorted(ledger.hunks, key=lambda h: -h.id):
        if hunk.turn == turn:
            for one in [*_above(ledger, hunk), hunk]:
                if is_undoable(ledger, one):
                    paths.update(dict.fromkeys(_undo_one(ledger, one)))
            if _waiting(ledger.records.get(hunk.path), hunk) is not None:
                _dismiss(ledger, hunk, UNDONE)
    ledger.roster.reviewed()
    ledger.bump()
    return list(paths)


def is_undoable(ledger: Ledger, hunk: Hunk) -> bool:
    """True if something of a hunk is in the workspace."""
    if hunk.decision is Decision.REJECTED:
        return False
    if hunk.kind in (Kind.DELETE, Kind.MOVE):
        return hunk.stage is Stage.LANDED
    return hunk.stage in PLACED and _is_live(ledger, hunk)


def reopen(ledger: Ledger, record: FileRecord) -> bool:
    """A write failed: what was accepted for it is pending again; False if that is nothing."""
    undecided, record.undecided = record.undecided, []
    for hunk in undecided:
        if hunk.kind is Kind.DELETE:
            ledger.restore(record)
            record.deletion = hunk
        elif hunk.kind is Kind.MOVE:
            _move_back(ledger, hunk)
            record.moving = hunk
            ledger.arriving[hunk.target] = record
        hunk.decision = Decision.PENDING
        if hunk in ledger.decided:
            ledger.decided.remove(hunk)
        record.accepted -= 1
    ledger.roster.reviewed(*undecided)
    ledger.bump()
    return bool(undecided)


def below(ledger: Ledger, hunk: Hunk) -> list[Hunk]:
    """What a hunk lies on, lowest first; the hunk that made its file is always under it."""
    found: dict[int, Hunk] = {}
    stack = list(ledger.layers[hunk.id].below)
    record = ledger.records.get(hunk.path)
    if record and record.addition and hunk.kind is Kind.EDIT:
        stack.append(record.addition)
    if record and hunk.kind is Kind.DELETE:
        stack += record.live
    while stack:
        one = stack.pop()
        if one.id not in found:
            found[one.id] = one
            stack += ledger.layers[one.id].below
    return [found[number] for number in sorted(found)]


def _above(ledger: Ledger, hunk: Hunk) -> list[Hunk]:
    """What lies on a hunk, newest first; on a new file all its edits lie."""
    record = ledger.records.get(hunk.path)
    if record is None:
        return []
    found: dict[int, Hunk] = {}
    stack = [hunk]
    if ledger.layers[hunk.id].made_file:
        stack += [one for one in record.live if one.id > hunk.id]
    while stack:
        one = stack.pop()
        if one.id not in found:
            found[one.id] = one
            stack += ledger.layers[one.id].above
    found.pop(hunk.id)
    gone = [
        one
        for one in (reversed(ledger.hunks) if record.gone else ())
        if one.kind is Kind.DELETE and one is not hunk
        if ledger.layers[one.id].record is record
    ]
    return gone + record.live.ordered(found.values())[::-1]


def _record(ledger: Ledger, hunk: Hunk) -> FileRecord | None:
    owner = ledger.layers[hunk.id].record
    return owner or ledger.records.get(hunk.path)


def _is_live(ledger: Ledger, hunk: Hunk) -> bool:
    record = ledger.records.get(hunk.path)
    return record is not None and not record.gone and hunk in record.live


def _decide(ledger: Ledger, hunk: Hunk, decision: Decision, words: str = "") -> None:
    hunk.decision = decision
    hunk.words = words
    ledger.decided.append(hunk)


def _accept_one(ledger: Ledger, hunk: Hunk) -> list[str]:
    record = ledger.records.get(hunk.path)
    if record is None:
        return []
    if hunk.kind is Kind.DELETE:
        if record.history.state != ledger.layers[hunk.id].state:
            hunk.stage, hunk.reason = Stage.CONFLICT, "the file was edited since: not deleted"
            record.deletion = None
            return []
        record.deletion = None
        ledger.layers[hunk.id].record = record
        ledger.drop(record)
    elif hunk.kind is Kind.MOVE and not _move(ledger, record, hunk):
        return []
    record.accepted += 1
    record.undecided.append(hunk)
    _decide(ledger, hunk, Decision.ACCEPTED)
    return [record.path, hunk.path] if hunk.kind is Kind.MOVE else [record.path]


def _reject_one(ledger: Ledger, hunk: Hunk, words: str) -> None:
    record = ledger.records.get(hunk.path)
    if record is None:
        return
    if hunk.kind is Kind.DELETE:
        record.deletion = None
    elif hunk.kind is Kind.MOVE:
        record.moving = None
        ledger.arriving.pop(hunk.target, None)
    elif not _remove(ledger, record, hunk):
        return
    _decide(ledger, hunk, Decision.REJECTED, words)


def _dismiss(ledger: Ledger, hunk: Hunk, words: str) -> None:
    """Reject what is not in the buffer, or keep the text of a conflict as it is."""
    record = ledger.records.get(hunk.path)
    section = _waiting(record, hunk)
    if hunk.stage in OPEN and section is None:
        return
    if record is not None and section is not None:
        record.waiting.remove(section)
    if record is not None and hunk in record.live:
        record.live.remove(hunk)
    for one in section.hunks if section else [hunk]:
        # a section is placed as one, so it is also given up as one
        one.candidates = ()
        if one.stage is Stage.CANDIDATES:
            one.stage = Stage.REFUSED
        _decide(ledger, one, Decision.REJECTED, words)


def _waiting(record: FileRecord | None, hunk: Hunk) -> WaitingSection | None:
    """The section of a hunk, if it waits for the user to choose its place."""
    waiting = record.waiting if record is not None else []
    return next((section for section in waiting if hunk in section.hunks), None)


def _remove(ledger: Ledger, record: FileRecord, hunk: Hunk) -> bool:
    """Take a hunk's text out of its buffer; a new file that is empty then goes.

    One that the user named stays open.
    """
    if hunk not in record.live:
        return False
    if not take_off(ledger, record, hunk):
        hunk.stage, hunk.reason = Stage.CONFLICT, _EDITED
        return False
    empty = not whole_text(record.buffer)
    if ledger.layers[hunk.id].made_file and empty and not record.named:
        ledger.layers[hunk.id].record = record
        ledger.drop(record)
    return True


def _undo_one(ledger: Ledger, hunk: Hunk) -> list[str]:
    record = _record(ledger, hunk)
    if record is None:
        return []
    accepted = hunk.decision is Decision.ACCEPTED
    if accepted and hunk.kind in (Kind.DELETE, Kind.MOVE) and _is_taken(ledger, hunk.path):
        hunk.stage, hunk.reason = Stage.CONFLICT, "another file is at its path now"
        return []
    paths = [record.path]
    if hunk.kind is Kind.DELETE:
        record.deletion = None
        if accepted:
            ledger.restore(record)
    elif hunk.kind is Kind.MOVE:
        if accepted:
            paths = _move_back(ledger, hunk)
        else:
            record.moving = None
            ledger.arriving.pop(hunk.target, None)
    elif not _remove(ledger, record, hunk):
        return []
    if hunk in record.undecided:
        record.undecided.remove(hunk)
    _decide(ledger, hunk, Decision.REJECTED, UNDONE)
    if accepted:
        record.accepted += 1
    return paths if accepted else []


def _is_taken(ledger: Ledger, path: str) -> bool:
    """True if a file is open where an accepted deletion or move left nothing."""
    there = ledger.records.get(path)
    return there is not None and not there.gone


def _move(ledger: Ledger, record: FileRecord, hunk: Hunk) -> bool:
    """Bring an open file to another path; what is there goes, and is remembered."""
    source, target = hunk.path, hunk.target
    try:
        over = ledger.find(target)
    except EditRefused as refused:
        hunk.stage, hunk.reason = Stage.CONFLICT, f"not moved: {refused}"
        return False
    if over is not None and (over.version != over.synced or _has_pending(over)):
        hunk.stage, hunk.reason = Stage.CONFLICT, f"'{target}' has unsaved edits: not moved"
        return False
    layer = ledger.layers[hunk.id]
    layer.record, layer.over = record, over
    left = FileRecord(source, Buffer(source), record.disk, gone=True)
    ledger.buffers.pop(source, None)
    ledger.records[source] = left
    record.moving = None
    ledger.arriving.pop(target, None)
    _put_at(ledger, record, target, over.disk if over else None)
    ledger.touched |= {source, target}
    return True


def _has_pending(record: FileRecord) -> bool:
    return any(hunk.decision is Decision.PENDING for hunk in record.live)


def _move_back(ledger: Ledger, hunk: Hunk) -> list[str]:
    """Bring a moved file back, and what it replaced; returns the paths to write."""
    layer = ledger.layers[hunk.id]
    record, over, source, target = layer.record, layer.over, hunk.path, hunk.target
    assert record is not None
    left = ledger.records.get(source)
    there = record.disk
    ledger.buffers.pop(target, None)
    _put_at(ledger, record, source, left.disk if left else None)
    if over is not None:
        over.disk, over.synced = there, over.synced if there == over.disk else None
        ledger.restore(over)
    else:
        ledger.records[target] = FileRecord(target, Buffer(target), there, gone=True)
    ledger.touched |= {source, target}
    return [source, target]


def _put_at(ledger: Ledger, record: FileRecord, path: str, disk: bytes | None) -> None:
    record.path = record.buffer.path = path
    record.disk = disk
    ledger.records[path] = record
    ledger.buffers[path] = record.buffer
    for hunk in record.live:
        hunk.path = path
