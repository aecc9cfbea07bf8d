"""Accepted moves of files: an open buffer goes to another path, and comes back."""

from __future__ import annotations

from tui.core.edits.file_record import FileRecord
from tui.core.edits.hunk import Decision, Hunk, Kind, Stage
from tui.core.edits.ledger import Ledger
from tui.core.text.buffer import Buffer
from tui.errors import EditRefused

MOVES_OVER = "moves over an existing file"


def is_taken(ledger: Ledger, path: str) -> bool:
    """True if a file is open where an accepted deletion or move left nothing."""
    there = ledger.records.get(path)
    return there is not None and not there.gone


def taker_of(ledger: Ledger, hunk: Hunk) -> Hunk | None:
    """The accepted move that has to be taken back before this one.

    It brought another file where this one's accepted one left nothing, or the file that gave way
    to this one somewhere else.
    """
    if hunk.kind not in (Kind.DELETE, Kind.MOVE):
        return None
    moves = (one for one in reversed(ledger.removals) if one.kind is Kind.MOVE)
    came = [one for one in moves if one.decision is Decision.ACCEPTED and one is not hunk]
    over = ledger.layers[hunk.id].over
    if over is not None and over.path != hunk.target:
        return next((one for one in came if ledger.layers[one.id].record is over), None)
    there = ledger.records[hunk.path] if is_taken(ledger, hunk.path) else None
    displacer = displacer_of(ledger, hunk)
    return next(
        (
            one
            for one in came
            if one.target == hunk.path and ledger.layers[one.id].record is there
            if one is not displacer
        ),
        None,
    )


def displacer_of(ledger: Ledger, hunk: Hunk) -> Hunk | None:
    """The accepted move that brought another file to this one's path before it had gone on.

    So it is where files change places: each gives way to the next one.
    """
    file = ledger.layers[hunk.id].record
    if file is None or hunk.kind is not Kind.MOVE:
        return None
    return next(
        (
            one
            for one in reversed(ledger.removals)
            if one is not hunk and one.decision is Decision.ACCEPTED and one.target == hunk.path
            if ledger.layers[one.id].over is file
        ),
        None,
    )


def move(ledger: Ledger, record: FileRecord, hunk: Hunk) -> bool:
    """Bring an open file to another path; what is there goes, and is remembered."""
    source, target = hunk.path, hunk.target
    try:
        over = ledger.find(target)
    except EditRefused as refused:
        hunk.stage, hunk.reason = Stage.CONFLICT, f"not moved: {refused}"
        return False
    leaving = over.moving if over is not None else None
    if over is not None and leaving is None and (not over.saved or _has_pending(over)):
        hunk.stage, hunk.reason = Stage.CONFLICT, f"'{target}' has unsaved edits: not moved"
        return False
    layer = ledger.layers.own(hunk)
    if leaving is not None:
        ledger.layers.own(leaving).record = over
    elif over is not None and over is layer.over and over.history.state != layer.state:
        hunk.stage, hunk.reason = Stage.CONFLICT, f"'{target}' was edited since: not moved"
        return False
    layer.state = over.history.state if over is not None else 0
    there = over or ledger.records.get(target)  # it may be gone already, and not yet on the disk
    layer.record, layer.over = record, there
    if ledger.records.get(source) is record:  # else it gave way to another one
        ledger.buffers.pop(source, None)
        ledger.records[source] = FileRecord(source, Buffer(source), record.disk, gone=True)
    record.moving = None
    ledger.arriving.pop(target, None)
    _put_at(ledger, record, target, there.disk if there else None)
    ledger.touched |= {source, target}
    return True


def _has_pending(record: FileRecord) -> bool:
    return any(hunk.decision is Decision.PENDING for hunk in record.live)


def move_back(ledger: Ledger, hunk: Hunk) -> list[str]:
    """Bring a moved file back, and what it replaced; returns the paths to write."""
    layer = ledger.layers.own(hunk)
    record, over, source, target = layer.record, layer.over, hunk.path, hunk.target
    assert record is not None
    left = ledger.records.get(source)
    there = record.disk
    ledger.buffers.pop(target, None)
    _put_at(ledger, record, source, left.disk if left else None)
    if over is not None:
        over.disk, over.synced = there, over.synced if there == over.disk else None
        if over.gone:
            ledger.records[target] = over
        else:
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
    waiting = [hunk for section in record.waiting for hunk in section.hunks]
    alone = [record.deletion] if record.deletion is not None else []
    ledger.roster.moved([*record.live, *waiting, *alone], path)
