"""Decisions: accept and reject by the user, and taking a whole turn back.

Everything happens in the buffers at once; the paths that come back are to be written then,
each as `disk_plan` says, in this order. A write that fails makes its hunks pending again.
"""

from __future__ import annotations

from collections.abc import Iterable

from tui.core.edits.deciding.file_moves import (
    MOVES_OVER,
    displacer_of,
    is_taken,
    move,
    move_back,
    taker_of,
)
from tui.core.edits.decisions import Beside, Step, Stood, TakenOff
from tui.core.edits.disk.disk_plan import comes_off, count_as_saved, is_on_disk, take_off
from tui.core.edits.file_record import FileRecord
from tui.core.edits.hunk import EDITED, OPEN, PLACED, UNDONE, Decision, Hunk, Kind, Stage
from tui.core.edits.ledger import Ledger
from tui.core.edits.open_section import WaitingSection
from tui.core.edits.roster import take_out
from tui.core.steps import Work, picked
from tui.core.text.rows import rows_text, whole_text


def accept(ledger: Ledger, hunks: Iterable[Hunk]) -> Work[list[str]]:
    """Accept hunks, in the order of their ids, and with each the hunks that it lies on."""
    paths: dict[str, None] = {}
    for hunk in hunks:
        for one in [*below(ledger, hunk), hunk]:
            if one.decidable or (one.undecided and _is_live(ledger, one)):
                paths.update(dict.fromkeys(_accept_one(ledger, one)))
        yield
        if ledger.decisions.enough:
            break
    ledger.roster.reviewed()
    ledger.bump()
    return list(paths)


def reject(
    ledger: Ledger, hunks: Iterable[Hunk], words: str, *, whole: bool = False
) -> Work[list[str]]:
    """Reject hunks, and with each the hunks that lie on it, newest first.

    ``whole``: what the user changed in these goes with them, and comes back when the decision
    is undone; else it stays, or the hunk is in conflict. Returns the paths to write.
    """
    paths: dict[str, None] = {}
    asked = dict.fromkeys(hunks)
    for one in (yield from _newest_first(ledger, asked)):
        edited = one.stage is Stage.CONFLICT and _is_live(ledger, one)
        if whole and one in asked and (one.decidable or edited):
            paths.update(dict.fromkeys(_reject_one(ledger, one, words, whole=True)))
        elif one.decidable or (one in asked and _comes_apart_again(ledger, one)):
            _reject_one(ledger, one, words)
        elif one in asked and one.decision is Decision.PENDING:
            _dismiss(ledger, one, words)
        yield
        if ledger.decisions.enough:
            break
    ledger.roster.reviewed()
    ledger.bump()
    return list(paths)


def undo_turn(ledger: Ledger, turn: int) -> Work[list[str]]:
    """Take a turn back, whatever was decided, and what later turns built on it."""
    paths: dict[str, None] = {}
    picked_ones = yield from picked([*ledger.hunks], lambda hunk: hunk.turn == turn)
    of_turn = dict.fromkeys(picked_ones)
    for one in (yield from _newest_first(ledger, of_turn)):
        if is_undoable(ledger, one):
            paths.update(dict.fromkeys(_undo_one(ledger, one)))
        if one in of_turn and _waiting(ledger.records.get(one.path), one) is not None:
            _dismiss(ledger, one, UNDONE)
        yield
        if ledger.decisions.enough:
            break
    ledger.roster.reviewed()
    ledger.bump()
    return list(paths)


def _newest_first(ledger: Ledger, hunks: Iterable[Hunk]) -> Work[list[Hunk]]:
    """Hunks and what lies on them, as they are to be taken out: last landed first."""
    found: dict[Hunk, int] = {}
    for hunk in hunks:
        for one in (*above(ledger, hunk), hunk):
            record = ledger.records.get(one.path)
            live = record is not None and one in record.live
            found[one] = record.live.rank(one) if record and live else _NOT_IN_TEXT + one.id
        yield
        if ledger.decisions.enough:
            return []
    return sorted(found, key=found.__getitem__, reverse=True)


_NOT_IN_TEXT = 1 << 60
"""Those are the first ones."""


def is_undoable(ledger: Ledger, hunk: Hunk) -> bool:
    """True if something of a hunk is in the workspace."""
    if hunk.decision is Decision.REJECTED:
        return False
    if hunk.kind in (Kind.DELETE, Kind.MOVE):
        return hunk.stage is Stage.LANDED
    placed = hunk.stage in PLACED or _comes_apart_again(ledger, hunk)
    return placed and _is_live(ledger, hunk)


def _comes_apart_again(ledger: Ledger, hunk: Hunk) -> bool:
    """True for a hunk that was in conflict, as the user had edited it, and can be taken out now."""
    if not (hunk.stands_edited and _is_live(ledger, hunk)):
        return False
    return comes_off(ledger.records[hunk.path], hunk)


def may_be_taken_as_read(ledger: Ledger, hunk: Hunk) -> bool:
    """True if nothing about a hunk, and what it lies on, asks for a look (EDITS.md section 8)."""
    return hunk.decidable and not any(
        one.flags or one.stage is not Stage.LANDED
        for one in [*below(ledger, hunk), hunk]
        if one.decision is Decision.PENDING
    )


def is_typed_in(ledger: Ledger, hunk: Hunk) -> bool:
    """True for a pending file of a model's making that holds text of somebody else."""
    if hunk.kind is not Kind.ADD or not hunk.decidable or not ledger.layers[hunk.id].made_file:
        return False
    record = ledger.records.get(hunk.path)
    if record is None or record.gone:
        return False
    return bool(record.history.state) and whole_text(record.buffer) != hunk.agent


def reopen(ledger: Ledger, record: FileRecord) -> bool:
    """A write failed: what was accepted for it is pending again; False if that is nothing."""
    undecided, others = record.undecided, dict[FileRecord, None]()
    for hunk in undecided:
        if hunk.kind is Kind.DELETE:
            ledger.restore(record)
            record.deletion = hunk
        elif hunk.kind is Kind.MOVE and hunk.decision is Decision.ACCEPTED:
            _reopen_move(ledger, hunk, others)
        hunk.decision = Decision.PENDING
    record.undecided = {}
    for states in reversed(undecided.values()):
        record.undecide(states)
    ledger.decisions.forget(undecided)
    ledger.roster.reviewed(*undecided)
    ledger.bump()
    for other in others:
        reopen(ledger, other)
    return bool(undecided)


def _reopen_move(ledger: Ledger, hunk: Hunk, others: dict[FileRecord, None]) -> None:
    """Bring a file back, in turn with ``others`` that took its place or that gave way to it."""
    record = ledger.layers[hunk.id].record
    if record is None or hunk.decision is not Decision.ACCEPTED or hunk not in record.undecided:
        return
    if (taker := taker_of(ledger, hunk)) is not None:
        _reopen_move(ledger, taker, others)
    if record in others:
        return  # it gave way to the one before it, and went back with that one
    displacer = displacer_of(ledger, hunk)
    move_back(ledger, hunk)
    record.moving = hunk
    ledger.arriving[hunk.target] = record
    hunk.decision = Decision.PENDING
    others[record] = None
    if displacer is not None:
        _reopen_move(ledger, displacer, others)


def below(ledger: Ledger, hunk: Hunk) -> list[Hunk]:
    """What a hunk lies on, lowest first; the hunk that made its file is always under it.

    A file that goes where another one is goes after that one's own move or deletion; files that
    change places go together.
    """
    found: dict[int, Hunk] = {}
    stack = _under(ledger, hunk)
    while stack:
        one = stack.pop()
        if one.id not in found:
            found[one.id] = one
            stack += ledger.layers[one.id].below if one.kind is Kind.EDIT else _under(ledger, one)
    return [found[number] for number in sorted(found)]


def _under(ledger: Ledger, hunk: Hunk) -> list[Hunk]:
    """What a hunk lies on without anything between."""
    under = list(ledger.layers[hunk.id].below)
    record = ledger.records.get(hunk.path)
    if record and record.addition and hunk.kind is Kind.EDIT:
        under.append(record.addition)
    if record and hunk.kind is Kind.DELETE:
        under += record.live
    if hunk.kind is Kind.MOVE and (there := ledger.records.get(hunk.target)) not in (None, record):
        under += [one for one in (there.deletion, there.moving) if one is not None]
    return under


def above(ledger: Ledger, hunk: Hunk) -> list[Hunk]:
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
        for one in (reversed(ledger.removals) if record.gone else ())
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


def _step(hunk: Hunk, record: FileRecord | None) -> Step:
    """How a hunk is before it is decided on."""
    step = Step(hunk, hunk.decision, hunk.stage, hunk.reason, hunk.words, record)
    if record is not None:
        step.disk = None if hunk.kind is Kind.EDIT else record.disk
        if hunk.decision is Decision.ACCEPTED:
            step.unwritten = record.undecided.get(hunk)
    return step


def _decide(ledger: Ledger, step: Step, decision: Decision, words: str = "") -> None:
    step.became = step.hunk.decision = decision
    step.hunk.words = words
    ledger.decisions.note(step)


def _stuck(ledger: Ledger, step: Step) -> list[str]:
    """It could not be decided so: the hunk is in conflict, which an undo takes back, too."""
    if step.hunk.stage is Stage.CONFLICT:
        step.stuck, step.became = True, step.was
        ledger.decisions.note(step)
    return []


def _accept_one(ledger: Ledger, hunk: Hunk) -> list[str]:
    record = ledger.records.get(hunk.path)
    own = ledger.layers[hunk.id].record if hunk.kind is Kind.MOVE else None
    if own is not None and own.moving is hunk:
        record = own  # another file may be at its path
    if record is None:
        return []
    step = _step(hunk, record)
    if hunk.stage is Stage.CONFLICT:
        hunk.stage = Stage.LANDED
    if hunk.kind is Kind.DELETE:
        if record.history.state != ledger.layers[hunk.id].state:
            hunk.stage, hunk.reason = Stage.CONFLICT, "the file was edited since: not deleted"
            record.deletion = None
            return _stuck(ledger, step)
        record.deletion = None
        ledger.layers.own(hunk).record = record
        ledger.drop(record)
    elif hunk.kind is Kind.MOVE and not move(ledger, record, hunk):
        return _stuck(ledger, step)
    step.version = record.undecided[hunk] = record.decide()
    _decide(ledger, step, Decision.ACCEPTED)
    return [record.path, hunk.path] if hunk.kind is Kind.MOVE else [record.path]


def _reject_one(ledger: Ledger, hunk: Hunk, words: str, *, whole: bool = False) -> list[str]:
    record = ledger.records.get(hunk.path)
    if record is None:
        return []
    step = _step(hunk, record)
    if hunk.kind is Kind.DELETE:
        record.deletion = None
    elif hunk.kind is Kind.MOVE:
        record.moving = None
        ledger.arriving.pop(hunk.target, None)
    else:
        step.off = _remove(ledger, record, hunk, whole=whole)
        if step.off is None:
            return _stuck(ledger, step)
        if whole or hunk.stage is Stage.CONFLICT:
            hunk.stage, hunk.reason = Stage.LANDED, ""
        if whole:
            _let_go(ledger, record, step)
    if hunk.kind in (Kind.DELETE, Kind.MOVE) and (coming := ledger.arriving.get(hunk.path)):
        mover = coming.moving
        if mover is not None and MOVES_OVER not in mover.flags:
            mover.flags += (MOVES_OVER,)
    _decide(ledger, step, Decision.REJECTED, words)
    closed = step.off is not None and step.off.closed
    return [record.path] if closed and record.disk is not None else []


def _let_go(ledger: Ledger, record: FileRecord, step: Step) -> None:
    """What the user had typed in a hunk went with it: a part of that may lie on the disk."""
    if step.off is None or step.off.closed or step.off.text == step.hunk.agent:
        return
    there = is_on_disk(ledger, record)
    if there and record.saved:
        return
    step.version = record.decide()
    if there:
        count_as_saved(ledger, record)


def _dismiss(ledger: Ledger, hunk: Hunk, words: str) -> None:
    """Reject what is not in the buffer, or keep the text of a conflict as it is."""
    record = ledger.records.get(hunk.path)
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
        _decide(ledger, step, Decision.REJECTED, words)


def _waiting(record: FileRecord | None, hunk: Hunk) -> WaitingSection | None:
    """The section of a hunk, if it waits for the user to choose its place."""
    waiting = reversed(record.waiting) if record is not None else ()  # mostly the newest goes
    return next((section for section in waiting if hunk in section.hunks), None)


def _remove(
    ledger: Ledger, record: FileRecord, hunk: Hunk, *, whole: bool = False
) -> TakenOff | None:
    """Take a hunk's text out of its buffer; a new file that is empty then goes.

    One that the user named stays open. ``whole``: also what the user changed in it, and all of
    a new file. None: the text is as it was.
    """
    if hunk not in record.live or hunk.start is None or hunk.end is None:
        return None
    first, last = hunk.start.line, hunk.end.line
    near = [*record.live.near(first, last), *record.off.near(first, last)]
    under = [one for one, _, _ in ledger.layers[hunk.id].edges if one in record.live]
    near = [one for one in dict.fromkeys([*near, *under]) if one is not hunk]
    before = [(one, _stood(ledger, one, first)) for one in near]
    off = TakenOff(rows_text(record.buffer, first, last), "", record.live.rank(hunk), [])
    made = ledger.layers[hunk.id].made_file and not record.named
    if whole and made:
        record.live.remove(hunk)  # the text stays as it is in the buffer that is closed
    elif not take_off(ledger, record, hunk, whole=whole):
        hunk.stage, hunk.reason = Stage.CONFLICT, EDITED
        return None
    off.left = rows_text(record.buffer, hunk.start.line, hunk.end.line)
    record.off.append(hunk)
    first = hunk.start.line
    off.beside = [Beside(one, stood, _stood(ledger, one, first)) for one, stood in before]
    if made and (whole or not whole_text(record.buffer)):
        ledger.layers.own(hunk).record = record
        ledger.drop(record)
        off.closed = True
    return off


def _stood(ledger: Ledger, hunk: Hunk, first: int) -> Stood:
    """Where a hunk stands, counted from a row."""
    assert hunk.start is not None
    assert hunk.end is not None
    edges = ledger.layers[hunk.id].edges
    return Stood(hunk.start.line - first, hunk.end.line - first, hunk.base, hunk.agent, edges)


def _undo_one(ledger: Ledger, hunk: Hunk) -> list[str]:
    record = _record(ledger, hunk)
    if record is None:
        return []
    accepted, paths = hunk.decision is Decision.ACCEPTED, list[str]()
    taker = taker_of(ledger, hunk)
    if accepted and taker is not None and is_undoable(ledger, taker):
        paths += _undo_one(ledger, taker)
    taken = is_taken(ledger, hunk.path) and displacer_of(ledger, hunk) is None
    if accepted and hunk.kind in (Kind.DELETE, Kind.MOVE) and taken:
        step = _step(hunk, record)
        hunk.stage, hunk.reason = Stage.CONFLICT, "another file is at its path now"
        return _stuck(ledger, step)
    paths, step = [*paths, record.path], _step(hunk, record)
    if hunk.kind is Kind.DELETE:
        record.deletion = None
        if accepted:
            ledger.restore(record)
    elif hunk.kind is Kind.MOVE:
        if accepted:
            paths = paths[:-1] + move_back(ledger, hunk)
        else:
            record.moving = None
            ledger.arriving.pop(hunk.target, None)
    else:
        step.off = _remove(ledger, record, hunk)
        if step.off is None:
            return _stuck(ledger, step)
        if hunk.stage is Stage.CONFLICT:
            hunk.stage, hunk.reason = Stage.LANDED, ""
    record.undecided.pop(hunk, None)
    if accepted:
        step.version = record.decide()
    _decide(ledger, step, Decision.REJECTED, UNDONE)
    return paths if accepted else []
