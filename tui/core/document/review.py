"""Decisions: accept and reject by the user, taking a whole turn back, and moves of files.

Everything happens in the buffers at once; the paths that come back are to be written then,
each as `disk_plan` says, in this order. A write that fails makes its hunks pending again.
"""

from __future__ import annotations

from collections.abc import Iterable

from tui.core.document.decision_log import Beside, DecisionEntry, DecisionStep, Stood, TakenOff
from tui.core.document.disk_plan import comes_off, count_as_saved, is_on_disk, take_off
from tui.core.document.documents import Documents
from tui.core.document.file_record import FileRecord
from tui.core.document.hunk import (
    EDITED,
    OPEN,
    PLACED,
    TAKEN_BACK,
    UNDONE,
    Decision,
    Hunk,
    Kind,
    Stage,
)
from tui.core.document.hunk_list import take_out
from tui.core.document.waiting_places import WaitingSection
from tui.core.steps import Work, finished, picked
from tui.core.text.buffer import Buffer
from tui.core.text.rows import rows_text, whole_text
from tui.errors import EditRefused

MOVES_OVER = "moves over an existing file"


def is_taken(documents: Documents, path: str) -> bool:
    """True if a file is open where an accepted deletion or move left nothing."""
    there = documents.records.get(path)
    return there is not None and not there.gone


def taker_of(documents: Documents, hunk: Hunk) -> Hunk | None:
    """The accepted move that has to be taken back before this one.

    It brought another file where this one's accepted one left nothing, or the file that gave way
    to this one somewhere else.
    """
    if hunk.kind not in (Kind.DELETE, Kind.MOVE):
        return None
    moves = (one for one in reversed(documents.removals) if one.kind is Kind.MOVE)
    came = [one for one in moves if one.decision is Decision.ACCEPTED and one is not hunk]
    over = documents.layers[hunk.id].over
    if over is not None and over.path != hunk.target:
        return next((one for one in came if documents.layers[one.id].record is over), None)
    there = documents.records[hunk.path] if is_taken(documents, hunk.path) else None
    displacer = displacer_of(documents, hunk)
    return next(
        (
            one
            for one in came
            if one.target == hunk.path and documents.layers[one.id].record is there
            if one is not displacer
        ),
        None,
    )


def displacer_of(documents: Documents, hunk: Hunk) -> Hunk | None:
    """The accepted move that brought another file to this one's path before it had gone on.

    So it is where files change places: each gives way to the next one.
    """
    file = documents.layers[hunk.id].record
    if file is None or hunk.kind is not Kind.MOVE:
        return None
    return next(
        (
            one
            for one in reversed(documents.removals)
            if one is not hunk and one.decision is Decision.ACCEPTED and one.target == hunk.path
            if documents.layers[one.id].over is file
        ),
        None,
    )


def move(documents: Documents, record: FileRecord, hunk: Hunk) -> bool:
    """Bring an open file to another path; what is there goes, and is remembered."""
    source, target = hunk.path, hunk.target
    try:
        over = documents.find(target)
    except EditRefused as refused:
        hunk.stage, hunk.reason = Stage.CONFLICT, f"not moved: {refused}"
        return False
    leaving = over.moving if over is not None else None
    if over is not None and leaving is None and (not over.saved or _has_pending(over)):
        hunk.stage, hunk.reason = Stage.CONFLICT, f"'{target}' has unsaved edits: not moved"
        return False
    layer = documents.layers.own(hunk)
    edited = over is not None and over is layer.over and over.undo_log.state != layer.state
    if leaving is not None:
        documents.layers.own(leaving).record = over
    elif edited or (over is not None and over.disk != layer.replaces):
        hunk.stage, hunk.reason = Stage.CONFLICT, f"'{target}' was edited since: not moved"
        return False
    layer.state = over.undo_log.state if over is not None else 0
    there = over or documents.records.get(target)  # it may be gone already, and not yet on the disk
    layer.record, layer.over = record, there
    if documents.records.get(source) is record:  # else it gave way to another one
        documents.buffers.pop(source, None)
        documents.records[source] = FileRecord(source, Buffer(source), record.disk, gone=True)
    record.moving = None
    documents.arriving.pop(target, None)
    _put_at(documents, record, target, there.disk if there else None)
    documents.touched |= {source, target}
    return True


def _has_pending(record: FileRecord) -> bool:
    return any(hunk.decision is Decision.PENDING for hunk in record.live)


def move_back(documents: Documents, hunk: Hunk) -> list[str]:
    """Bring a moved file back, and what it replaced; returns the paths to write."""
    layer = documents.layers.own(hunk)
    record, over, source, target = layer.record, layer.over, hunk.path, hunk.target
    assert record is not None
    left = documents.records.get(source)
    there = record.disk
    documents.buffers.pop(target, None)
    _put_at(documents, record, source, left.disk if left else None)
    if over is not None:
        over.disk, over.synced = there, over.synced if there == over.disk else None
        if over.gone:
            documents.records[target] = over
        else:
            documents.restore(over)
    else:
        documents.records[target] = FileRecord(target, Buffer(target), there, gone=True)
    documents.touched |= {source, target}
    return [source, target]


def _put_at(documents: Documents, record: FileRecord, path: str, disk: bytes | None) -> None:
    record.path = record.buffer.path = path
    record.disk = disk
    documents.records[path] = record
    documents.buffers[path] = record.buffer
    waiting = [hunk for section in record.waiting for hunk in section.hunks]
    alone = [record.deletion] if record.deletion is not None else []
    documents.hunk_list.moved([*record.live, *waiting, *alone], path)


def accept(documents: Documents, hunks: Iterable[Hunk]) -> Work[list[str]]:
    """Accept hunks, in the order of their ids, and with each the hunks that it lies on."""
    paths: dict[str, None] = {}
    for hunk in hunks:
        for one in [*below(documents, hunk), hunk]:
            if one.decidable or (one.undecided and _is_live(documents, one)):
                paths.update(dict.fromkeys(_accept_one(documents, one)))
        yield
        if documents.decisions.enough:
            break
    documents.hunk_list.reviewed()
    documents.bump()
    return list(paths)


def reject(
    documents: Documents, hunks: Iterable[Hunk], words: str, *, whole: bool = False
) -> Work[list[str]]:
    """Reject hunks, and with each the hunks that lie on it, newest first.

    ``whole``: what the user changed in these goes with them, and comes back when the decision
    is undone; else it stays, or the hunk is in conflict. Returns the paths to write.
    """
    paths: dict[str, None] = {}
    asked = dict.fromkeys(hunks)
    for one in (yield from _newest_first(documents, asked)):
        edited = one.stage is Stage.CONFLICT and _is_live(documents, one)
        if whole and one in asked and (one.decidable or edited):
            paths.update(dict.fromkeys(_reject_one(documents, one, words, whole=True)))
        elif one.decidable or (one in asked and _comes_apart_again(documents, one)):
            _reject_one(documents, one, words)
        elif one in asked and one.decision is Decision.PENDING:
            _dismiss(documents, one, words)
        yield
        if documents.decisions.enough:
            break
    documents.hunk_list.reviewed()
    documents.bump()
    return list(paths)


FINISHED = "it was cut, and somebody went on with it"


def take_back_cut(documents: Documents) -> list[Hunk]:
    """Take back what was cut and not decided on: the next instruction is given.

    Where somebody typed in one, or a later hunk lies on it, it was gone on with: it is pending as
    any other. Returns the hunks that went; `decision_undo` brings them back.
    """
    documents.unplaced.clear()
    alone: list[Hunk] = []
    for hunk in documents.hunk_list.cut():
        record = documents.records.get(hunk.path)
        if record is None or hunk.start is None or hunk.end is None:
            continue
        now = rows_text(record.buffer, hunk.start.line, hunk.end.line)
        if now == hunk.agent and not above(documents, hunk):
            alone.append(hunk)
        else:
            hunk.stage, hunk.reason = Stage.LANDED, ""
            hunk.flags += (FINISHED,)
            documents.bump()
    with documents.decisions.entry(DecisionEntry("cut")):
        finished(reject(documents, alone, ""))
    taken = [hunk for hunk in alone if hunk.decision is Decision.REJECTED]
    for hunk in taken:
        hunk.reason = TAKEN_BACK
    return taken


def of_turn(documents: Documents, turn: int) -> Work[list[Hunk]]:
    """The hunks of a turn."""
    return picked([*documents.hunks], lambda hunk: hunk.turn == turn)


def take_back(documents: Documents, hunks: Iterable[Hunk]) -> Work[list[str]]:
    """Take hunks back, whatever was decided, and what later ones built on them."""
    paths: dict[str, None] = {}
    asked = dict.fromkeys(hunks)
    for one in (yield from _newest_first(documents, asked)):
        if is_undoable(documents, one):
            paths.update(dict.fromkeys(_undo_one(documents, one)))
        if one in asked and _waiting(documents.records.get(one.path), one) is not None:
            _dismiss(documents, one, UNDONE)
        yield
        if documents.decisions.enough:
            break
    documents.hunk_list.reviewed()
    documents.bump()
    return list(paths)


def _newest_first(documents: Documents, hunks: Iterable[Hunk]) -> Work[list[Hunk]]:
    """Hunks and what lies on them, as they are to be taken out: last landed first."""
    found: dict[Hunk, int] = {}
    for hunk in hunks:
        for one in (*above(documents, hunk), hunk):
            record = documents.records.get(one.path)
            live = record is not None and one in record.live
            found[one] = record.live.rank(one) if record and live else _NOT_IN_TEXT + one.id
        yield
        if documents.decisions.enough:
            return []
    return sorted(found, key=found.__getitem__, reverse=True)


_NOT_IN_TEXT = 1 << 60
"""Those are the first ones."""


def is_undoable(documents: Documents, hunk: Hunk) -> bool:
    """True if something of a hunk is in the workspace."""
    if hunk.decision is Decision.REJECTED:
        return False
    if hunk.kind in (Kind.DELETE, Kind.MOVE):
        return hunk.stage is Stage.LANDED and hunk in documents.removals
    placed = hunk.stage in PLACED or _comes_apart_again(documents, hunk)
    return placed and _is_live(documents, hunk)


def _comes_apart_again(documents: Documents, hunk: Hunk) -> bool:
    """True for a hunk that was in conflict, as the user had edited it, and can be taken out now."""
    if not (hunk.stands_edited and _is_live(documents, hunk)):
        return False
    return comes_off(documents.records[hunk.path], hunk)


def may_be_taken_as_read(documents: Documents, hunk: Hunk) -> bool:
    """True if nothing about a hunk, and what it lies on, asks for a look (EDITS.md section 8)."""
    return hunk.decidable and not any(
        one.flags or one.stage is not Stage.LANDED
        for one in [*below(documents, hunk), hunk]
        if one.decision is Decision.PENDING
    )


def is_typed_in(documents: Documents, hunk: Hunk) -> bool:
    """True for a pending file of a model's making that holds text of somebody else."""
    if hunk.kind is not Kind.ADD or not hunk.decidable or not documents.layers[hunk.id].made_file:
        return False
    record = documents.records.get(hunk.path)
    if record is None or record.gone:
        return False
    return bool(record.undo_log.state) and whole_text(record.buffer) != hunk.agent


def reopen(documents: Documents, record: FileRecord) -> bool:
    """A write failed: what was accepted for it is pending again; False if that is nothing."""
    undecided, others = record.undecided, dict[FileRecord, None]()
    for hunk in undecided:
        if hunk.kind is Kind.DELETE:
            documents.restore(record)
            record.deletion = hunk
        elif hunk.kind is Kind.MOVE and hunk.decision is Decision.ACCEPTED:
            _reopen_move(documents, hunk, others)
        hunk.decision = Decision.PENDING
    record.undecided = {}
    for states in reversed(undecided.values()):
        record.undecide(states)
        documents.hunk_list.reopened(hunk)
    documents.decisions.forget(undecided)
    documents.hunk_list.reviewed()
    documents.bump()
    for other in others:
        reopen(documents, other)
    return bool(undecided)


def _reopen_move(documents: Documents, hunk: Hunk, others: dict[FileRecord, None]) -> None:
    """Bring a file back, in turn with ``others`` that took its place or that gave way to it."""
    record = documents.layers[hunk.id].record
    if record is None or hunk.decision is not Decision.ACCEPTED or hunk not in record.undecided:
        return
    if (taker := taker_of(documents, hunk)) is not None:
        _reopen_move(documents, taker, others)
    if record in others:
        return  # it gave way to the one before it, and went back with that one
    displacer, over = displacer_of(documents, hunk), documents.layers[hunk.id].over
    move_back(documents, hunk)
    record.moving = hunk
    documents.arriving[hunk.target] = record
    hunk.decision = Decision.PENDING
    others[record] = None
    if over is not None and over.gone:
        others[over] = None  # its deletion made room, and was not written either
    if displacer is not None:
        _reopen_move(documents, displacer, others)


def below(documents: Documents, hunk: Hunk) -> list[Hunk]:
    """What a hunk lies on, lowest first; the hunk that made its file is always under it.

    A file that goes where another one is goes after that one's own move or deletion; files that
    change places go together.
    """
    found: dict[int, Hunk] = {}
    stack = _under(documents, hunk)
    while stack:
        one = stack.pop()
        if one.id not in found:
            found[one.id] = one
            stack += (
                documents.layers[one.id].below if one.kind is Kind.EDIT else _under(documents, one)
            )
    return [found[number] for number in sorted(found)]


def _under(documents: Documents, hunk: Hunk) -> list[Hunk]:
    """What a hunk lies on without anything between."""
    under = list(documents.layers[hunk.id].below)
    record = documents.records.get(hunk.path)
    if record and record.addition and hunk.kind is Kind.EDIT:
        under.append(record.addition)
    if record and hunk.kind is Kind.DELETE:
        under += record.live
    if hunk.kind is Kind.MOVE and (there := documents.records.get(hunk.target)) not in (
        None,
        record,
    ):
        under += [one for one in (there.deletion, there.moving) if one is not None]
    return under


def above(documents: Documents, hunk: Hunk) -> list[Hunk]:
    """What lies on a hunk, newest first; on a new file all its edits lie."""
    record = documents.records.get(hunk.path)
    if record is None:
        return []
    found: dict[int, Hunk] = {}
    stack = [hunk]
    if documents.layers[hunk.id].made_file:
        stack += [one for one in record.live if one.id > hunk.id]
    while stack:
        one = stack.pop()
        if one.id not in found:
            found[one.id] = one
            stack += documents.layers[one.id].above
    found.pop(hunk.id)
    gone = [
        one
        for one in (reversed(documents.removals) if record.gone else ())
        if one.kind is Kind.DELETE and one is not hunk
        if documents.layers[one.id].record is record
    ]
    return gone + record.live.ordered(found.values())[::-1]


def _record(documents: Documents, hunk: Hunk) -> FileRecord | None:
    owner = documents.layers[hunk.id].record
    return owner or documents.records.get(hunk.path)


def _is_live(documents: Documents, hunk: Hunk) -> bool:
    record = documents.records.get(hunk.path)
    return record is not None and not record.gone and hunk in record.live


def _step(hunk: Hunk, record: FileRecord | None) -> DecisionStep:
    """How a hunk is before it is decided on."""
    step = DecisionStep(hunk, hunk.decision, hunk.stage, hunk.reason, hunk.words, record)
    if record is not None:
        step.disk = None if hunk.kind is Kind.EDIT else record.disk
        if hunk.decision is Decision.ACCEPTED:
            step.unwritten = record.undecided.get(hunk)
    return step


def _decide(documents: Documents, step: DecisionStep, decision: Decision, words: str = "") -> None:
    step.became = step.hunk.decision = decision
    step.hunk.words = words
    documents.decisions.note(step)


def _stuck(documents: Documents, step: DecisionStep) -> list[str]:
    """It could not be decided so: the hunk is in conflict, which an undo takes back, too."""
    if step.hunk.stage is Stage.CONFLICT:
        step.stuck, step.became = True, step.was
        documents.decisions.note(step)
    return []


def _accept_one(documents: Documents, hunk: Hunk) -> list[str]:
    record = documents.records.get(hunk.path)
    own = documents.layers[hunk.id].record if hunk.kind is Kind.MOVE else None
    if own is not None and own.moving is hunk:
        record = own  # another file may be at its path
    if record is None:
        return []
    step = _step(hunk, record)
    if hunk.stage is Stage.CONFLICT:
        hunk.stage = Stage.LANDED
    if hunk.kind is Kind.DELETE:
        if record.undo_log.state != documents.layers[hunk.id].state:
            hunk.stage, hunk.reason = Stage.CONFLICT, "the file was edited since: not deleted"
            record.deletion = None
            return _stuck(documents, step)
        record.deletion = None
        documents.layers.own(hunk).record = record
        documents.drop(record)
    elif hunk.kind is Kind.MOVE and not move(documents, record, hunk):
        return _stuck(documents, step)
    step.version = record.undecided[hunk] = record.decide()
    _decide(documents, step, Decision.ACCEPTED)
    return [record.path, hunk.path] if hunk.kind is Kind.MOVE else [record.path]


def _reject_one(documents: Documents, hunk: Hunk, words: str, *, whole: bool = False) -> list[str]:
    record = documents.records.get(hunk.path)
    if record is None:
        return []
    step = _step(hunk, record)
    if hunk.kind is Kind.DELETE:
        record.deletion = None
    elif hunk.kind is Kind.MOVE:
        record.moving = None
        documents.arriving.pop(hunk.target, None)
    else:
        step.off = _remove(documents, record, hunk, whole=whole)
        if step.off is None:
            return _stuck(documents, step)
        if whole or hunk.stage is Stage.CONFLICT:
            hunk.stage, hunk.reason = Stage.LANDED, ""
        if whole:
            _let_go(documents, record, step)
    if hunk.kind in (Kind.DELETE, Kind.MOVE) and (coming := documents.arriving.get(hunk.path)):
        mover = coming.moving
        if mover is not None and MOVES_OVER not in mover.flags:
            mover.flags += (MOVES_OVER,)
    _decide(documents, step, Decision.REJECTED, words)
    closed = step.off is not None and step.off.closed
    return [record.path] if closed and record.disk is not None else []


def _let_go(documents: Documents, record: FileRecord, step: DecisionStep) -> None:
    """What the user had typed in a hunk went with it: a part of that may lie on the disk."""
    if step.off is None or step.off.closed or step.off.text == step.hunk.agent:
        return
    there = is_on_disk(documents, record)
    if there and record.saved:
        return
    step.version = record.decide()
    if there:
        count_as_saved(documents, record)


def _dismiss(documents: Documents, hunk: Hunk, words: str) -> None:
    """Reject what is not in the buffer, or keep the text of a conflict as it is."""
    record = documents.records.get(hunk.path)
    section = _waiting(record, hunk)
    if hunk.stage in OPEN and section is None:
        return
    if record is not None and section is not None:
        take_out(record.waiting, section)
    for one in section.hunks if section else [hunk]:
        # a section is placed as one, so it is also given up as one
        step = _step(one, record)
        step.waiting = section
        if section is not None and record is not None:
            step.candidates = one.candidates
            step.revision = record.buffer.revision
        if record is not None and one in record.live:
            step.rank = record.live.rank(one)
            step.version = record.decide()  # its text belongs on the disk, as it is now
            record.live.remove(one)
            record.off.append(one)
        one.candidates = ()
        if one.stage is Stage.CANDIDATES:
            one.stage = Stage.REFUSED
        _decide(documents, step, Decision.REJECTED, words)


def _waiting(record: FileRecord | None, hunk: Hunk) -> WaitingSection | None:
    """The section of a hunk, if it waits for the user to choose its place."""
    waiting = reversed(record.waiting) if record is not None else ()  # mostly the newest goes
    return next((section for section in waiting if hunk in section.hunks), None)


def _remove(
    documents: Documents, record: FileRecord, hunk: Hunk, *, whole: bool = False
) -> TakenOff | None:
    """Take a hunk's text out of its buffer; a new file that is empty then goes.

    One that the user named stays open. ``whole``: also what the user changed in it, and all of
    a new file. None: the text is as it was.
    """
    if hunk not in record.live or hunk.start is None or hunk.end is None:
        return None
    first, last = hunk.start.line, hunk.end.line
    near = [*record.live.near(first, last), *record.off.near(first, last)]
    before = [(one, _stood(one, first)) for one in near if one is not hunk]
    off = TakenOff(rows_text(record.buffer, first, last), "", record.live.rank(hunk), [])
    made = documents.layers[hunk.id].made_file and not record.named
    if whole and made:
        record.live.remove(hunk)  # the text stays as it is in the buffer that is closed
    elif not take_off(documents, record, hunk, whole=whole):
        hunk.stage, hunk.reason = Stage.CONFLICT, EDITED
        return None
    off.left = rows_text(record.buffer, hunk.start.line, hunk.end.line)
    record.off.append(hunk)
    first = hunk.start.line
    off.beside = [Beside(one, stood, _stood(one, first)) for one, stood in before]
    if made and (whole or not whole_text(record.buffer)):
        documents.layers.own(hunk).record = record
        documents.drop(record)
        off.closed = True
    return off


def _stood(hunk: Hunk, first: int) -> Stood:
    """Where a hunk stands, counted from a row."""
    assert hunk.start is not None
    assert hunk.end is not None
    return Stood(hunk.start.line - first, hunk.end.line - first, hunk.base, hunk.agent)


def _undo_one(documents: Documents, hunk: Hunk) -> list[str]:
    record = _record(documents, hunk)
    if record is None:
        return []
    accepted, paths = hunk.decision is Decision.ACCEPTED, list[str]()
    taker = taker_of(documents, hunk)
    if accepted and taker is not None and is_undoable(documents, taker):
        paths += _undo_one(documents, taker)
    taken = is_taken(documents, hunk.path) and displacer_of(documents, hunk) is None
    if accepted and hunk.kind in (Kind.DELETE, Kind.MOVE) and taken:
        step = _step(hunk, record)
        hunk.stage, hunk.reason = Stage.CONFLICT, "another file is at its path now"
        return _stuck(documents, step)
    paths, step = [*paths, record.path], _step(hunk, record)
    if hunk.kind is Kind.DELETE:
        record.deletion = None
        if accepted:
            documents.restore(record)
    elif hunk.kind is Kind.MOVE:
        if accepted:
            paths = paths[:-1] + move_back(documents, hunk)
        else:
            record.moving = None
            documents.arriving.pop(hunk.target, None)
    else:
        step.off = _remove(documents, record, hunk)
        if step.off is None:
            return _stuck(documents, step)
        if hunk.stage is Stage.CONFLICT:
            hunk.stage, hunk.reason = Stage.LANDED, ""
    record.undecided.pop(hunk, None)
    if accepted:
        step.version = record.decide()
    _decide(documents, step, Decision.REJECTED, UNDONE)
    return paths if accepted else []
