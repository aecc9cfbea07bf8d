"""Undo and redo of decisions, through the marks that moved with the text (EDITS.md section 8).

The last decision is undone first, each of its steps by what the step noted. Where nothing has
touched the lines since, every byte and every mark is as it was; where somebody has, both are
kept if they fit together, else that hunk stays as it is and the others come back.
"""

from __future__ import annotations

from tui.core.edits.deciding.file_moves import displacer_of, is_taken, move, move_back
from tui.core.edits.deciding.placing import place, wait_again
from tui.core.edits.deciding.review import above, accept, reject, undo_turn
from tui.core.edits.decisions import Beside, Entry, Step, TakenOff
from tui.core.edits.file_record import FileRecord
from tui.core.edits.hunk import PLACED, Decision, Hunk, Kind, Stage
from tui.core.edits.layer import ahead_of
from tui.core.edits.ledger import Ledger
from tui.core.edits.places import kept, nearest
from tui.core.steps import Work
from tui.core.text.buffer import Mark
from tui.core.text.change_set import Author
from tui.core.text.merge import merge3
from tui.core.text.rows import file_rows, row_count, rows_text
from tui.errors import EditRefused

Undone = tuple[list[str], list[str]]
"""The paths to write, and why hunks stay as they are, if any do."""
_OTHERWISE = "it was decided otherwise since"
_TAKEN = "another file is at its path now"
_GONE = "its file is gone"
_TOUCHED = "its lines were changed since"
_LATER = "a later hunk stands in its lines now"
_BELOW = "it stands on a hunk that stays as it is"
_ABOVE = "an accepted hunk stands on it"
_LANDING = "another edit is landing in its file: try again then"


def undo_decision(ledger: Ledger) -> Work[Undone]:
    """Undo the last decision; the paths to write, and why hunks stay as they are, if any do.

    Raises:
        EditRefused: there is none, or nothing of it can be undone; a second try passes over it.
    """
    done = ledger.decisions.done
    while done:
        entry, tried = done[-1], done[-1].tried
        try:
            found = yield from _undo(ledger, entry)
        except EditRefused:
            if not tried:
                raise
            done.pop()
            continue
        done.pop()
        ledger.decisions.undone.append(entry)
        return found
    raise EditRefused("there is no decision to take back")


def redo_decision(ledger: Ledger) -> Work[Undone]:
    """Decide again what was undone last; what was taken back with its turn comes back.

    Returns:
        The paths to write, and why hunks stay as they are, if any do.

    Raises:
        EditRefused: nothing was undone, or nothing of it can be done again.
    """
    decisions = ledger.decisions
    entry = decisions.last(again=True)
    if entry is None:
        raise EditRefused("no decision was taken back")
    if not decisions.undone:  # a turn that was taken back, and nothing decided since
        found = yield from _undo(ledger, entry)
        decisions.done.pop()
        return found
    decisions.undone.pop()
    with decisions.entry(entry.twin([]), again=True) as redone:
        if entry.verb == "accept":
            paths = yield from accept(ledger, entry.hunks)
        elif entry.verb == "reject":
            paths = yield from reject(
                ledger, entry.hunks, entry.words, whole=entry.whole and _agreed(entry)
            )
        elif entry.verb == "place":
            paths = _place_again(ledger, entry.steps[0])
        else:
            paths = yield from undo_turn(ledger, entry.turn)
    again = set(redone.hunks)
    if decisions.enough and (rest := [one for one in entry.steps if one.hunk not in again]):
        decisions.undone.append(entry.twin(rest))
        return paths, []
    refusals = [f"hunk {hunk.id}: {_OTHERWISE}" for hunk in entry.hunks if hunk not in again]
    if not again:
        raise EditRefused(refusals[0] if refusals else _OTHERWISE)
    return paths, refusals


def _place_again(ledger: Ledger, step: Step) -> list[str]:
    """Choose the same place again. Raises EditRefused."""
    placed, rows = step.placing, step.hunk.candidates
    if placed is None or not 0 <= placed.chosen < len(rows):
        raise EditRefused(_OTHERWISE)
    place(ledger, step.hunk, rows[placed.chosen])
    return []


def _agreed(entry: Entry) -> bool:
    """True if what goes with the hunks is what the user had let go, and nothing typed since."""
    return all(_is_unchanged(step.hunk, step.record, step.off) for step in entry.steps if step.off)


def _is_unchanged(hunk: Hunk, record: FileRecord | None, off: TakenOff | None) -> bool:
    if record is None or off is None or off.closed or hunk.start is None or hunk.end is None:
        return False
    return rows_text(record.buffer, hunk.start.line, hunk.end.line) == off.text


def _undo(ledger: Ledger, entry: Entry) -> Work[Undone]:
    """Undo the steps of a decision, the last one first; all that can be.

    Raises:
        EditRefused: none of them can be.
    """
    paths: dict[str, None] = {}
    stays: dict[Hunk, str] = {}
    yield from entry.unpacking()
    steps, left = entry.steps, len(entry.steps)
    while left and not (ledger.decisions.enough and left < len(steps)):
        left -= 1
        step, hunk = steps[left], steps[left].hunk
        try:
            if any(one in stays for one in ledger.layers[hunk.id].below):
                raise EditRefused(_BELOW)
            paths.update(dict.fromkeys(_undo_step(ledger, step)))
        except EditRefused as refused:
            stays[hunk] = f"hunk {hunk.id} of {hunk.path}: {refused}"
            continue
        ledger.decisions.made += 1
        yield
    if left:
        ledger.decisions.done.insert(-1, entry.twin(steps[:left]))
        entry.steps = steps[left:]
    if len(stays) == len(entry.steps):
        entry.tried = True
        raise EditRefused(next(iter(stays.values())))
    entry.steps = [step for step in entry.steps if step.hunk not in stays]
    ledger.roster.reviewed(*entry.hunks)
    ledger.bump()
    return list(paths), list(stays.values())


def _undo_step(ledger: Ledger, step: Step) -> list[str]:
    """Undo what a decision did to one hunk; returns the paths to write. Raises EditRefused."""
    hunk, record = step.hunk, step.record
    if hunk.decision is not step.became:
        raise EditRefused(_OTHERWISE)
    paths: list[str] = []
    if step.stuck:
        if record is not None and hunk.kind is Kind.DELETE and step.was is Decision.PENDING:
            record.deletion = record.deletion or hunk
    elif record is not None and step.placing is not None:
        wait_again(ledger, record, step, step.placing)
    elif record is not None and step.waiting is not None:
        _ask_again(record, step)
    elif record is not None and step.became is Decision.ACCEPTED:
        paths = _take_back_acceptance(ledger, record, step)
    elif record is not None and hunk.kind is Kind.DELETE and step.stage in PLACED:
        paths = _delete_again(ledger, record, step)
    elif record is not None and hunk.kind is Kind.MOVE and step.stage in PLACED:
        paths = _move_again(ledger, record, step)
    elif record is not None and (step.off or step.rank is not None):
        paths = _put_on(ledger, record, step)
    # else it was not in the text, so nothing is to be put back
    hunk.stage, hunk.reason = step.stage, step.reason
    hunk.decision, hunk.words = step.was, step.words
    if record is not None and step.version is not None:
        record.undecide(step.version)
        if step.unwritten is not None:
            record.undecided.setdefault(hunk, step.unwritten)
    return paths


def _ask_again(record: FileRecord, step: Step) -> None:
    """A section that was given up waits for the user's choice again."""
    if record.gone:
        raise EditRefused(_GONE)
    section, places = step.waiting, step.candidates
    if section is not None and section not in record.waiting[-1:]:  # its hunks come one by one
        record.waiting.append(section)
    if section is not None and step.revision != record.buffer.revision:
        last = record.buffer.line_count - 1
        rows = section.every_place() or [min(row, last) for row in nearest(places)]
        places = kept(rows, section)
    step.hunk.candidates = places


def _take_back_acceptance(ledger: Ledger, record: FileRecord, step: Step) -> list[str]:
    """An accepted hunk is pending again; what it did to files is undone."""
    hunk, paths = step.hunk, [record.path]
    if hunk.kind in (Kind.DELETE, Kind.MOVE) and record.sections:
        raise EditRefused(_LANDING)
    if hunk.kind is Kind.DELETE:
        _check_free(ledger, record, step)
        ledger.restore(record)
        record.deletion = hunk
    elif hunk.kind is Kind.MOVE:
        there, over = ledger.records.get(hunk.target), ledger.layers[hunk.id].over
        taken = is_taken(ledger, hunk.path) and displacer_of(ledger, hunk) is None
        if record.gone or taken or (there is not record and (there is None or there is not over)):
            raise EditRefused(_TAKEN)
        paths = move_back(ledger, hunk)
        record.moving = hunk
        ledger.arriving[hunk.target] = record
    elif record.gone or hunk not in record.live:
        raise EditRefused(_GONE)
    elif any(one.decision is Decision.ACCEPTED for one in above(ledger, hunk)):
        raise EditRefused(_ABOVE)
    record.undecided.pop(hunk, None)
    return paths


def _delete_again(ledger: Ledger, record: FileRecord, step: Step) -> list[str]:
    """A deletion that was rejected is pending again, or done again if it had been accepted."""
    if record.gone or record.deletion or record.moving:
        raise EditRefused(_GONE)
    if step.was is Decision.PENDING:
        record.deletion = step.hunk
        return []
    if record.sections:
        raise EditRefused(_LANDING)
    if record.history.state != ledger.layers[step.hunk.id].state:
        raise EditRefused("the file was edited since: not deleted")
    ledger.layers.own(step.hunk).record = record
    ledger.drop(record)
    return [record.path]


def _move_again(ledger: Ledger, record: FileRecord, step: Step) -> list[str]:
    """A move that was rejected is pending again, or done again if it had been accepted."""
    hunk = step.hunk
    if record.gone or record.deletion or record.moving or record.path != hunk.path:
        raise EditRefused(_GONE)
    if hunk.target in ledger.arriving:
        raise EditRefused("another file is to go where it goes")
    if step.was is Decision.PENDING:
        record.moving = hunk
        ledger.arriving[hunk.target] = record
        return []
    if record.sections:
        raise EditRefused(_LANDING)
    if not move(ledger, record, hunk):
        why, hunk.stage, hunk.reason = hunk.reason, Stage.LANDED, ""
        raise EditRefused(why)
    return [record.path, hunk.path]


def _check_free(ledger: Ledger, record: FileRecord, step: Step) -> None:
    """Raise EditRefused if another file is where a closed one was, in a buffer or on the disk."""
    others = record.disk is not None and record.disk != step.disk
    if is_taken(ledger, record.path) or others:
        raise EditRefused(_TAKEN)


def _put_on(ledger: Ledger, record: FileRecord, step: Step) -> list[str]:
    """Put a hunk's text back where it stood, keeping what was changed there meanwhile."""
    hunk, off = step.hunk, step.off
    if record.gone and (off is None or not off.closed):
        raise EditRefused(_GONE)
    if hunk not in record.off or hunk.start is None or hunk.end is None:
        raise EditRefused(_OTHERWISE)
    if record.gone:
        _check_free(ledger, record, step)
    first, last = hunk.start.line, hunk.end.line
    if off is None:
        _stand_again(ledger, record, hunk, (first, last), step.rank)
        return []
    now = rows_text(record.buffer, first, last)
    known = {one.hunk for one in off.beside}
    if any(_overlap(one, first, last) for one in record.live.near(first, last) if one not in known):
        raise EditRefused(_LATER)
    text = _with_what_came(record, (first, last), now, off)
    still = [one for one in off.beside if now == off.left and _stands(one, first)]
    was_gone = record.gone
    if was_gone:
        ledger.restore(record)
    ahead = ahead_of(record, ledger.layers, hunk)
    ledger.rewrite(record, (first, last), text, Author.REVIEW)
    for one in ahead:
        assert one.start is not None
        assert one.end is not None
        one.start.line = one.end.line = first
    _stand_again(ledger, record, hunk, (first, first + row_count(text)), off.rank)
    for beside in still:
        _set_beside(ledger, beside, first)
    if was_gone and step.disk is not None and record.disk is None:
        record.synced = None  # it was on the disk, and is to be there again
        return [record.path]
    return [record.path] if step.was is Decision.ACCEPTED else []


def _with_what_came(record: FileRecord, rows: tuple[int, int], now: str, off: TakenOff) -> str:
    """The text that was taken out, with what was changed in its place since."""
    text = off.text if now == off.left else merge3(off.left, now, off.text)
    torn = rows[0] >= record.buffer.line_count  # the line above has no end any more
    if text is None or (torn and text):
        raise EditRefused(_TOUCHED)
    if rows[1] < file_rows(record.buffer) and text[-1:] not in ("", "\n"):
        text += record.buffer.newline
    return text


def _stand_again(
    ledger: Ledger, record: FileRecord, hunk: Hunk, rows: tuple[int, int], rank: int | None
) -> None:
    """A hunk stands in its text again, at its place in the order of landing."""
    record.off.remove(hunk)
    hunk.start, hunk.end = Mark(rows[0]), Mark(rows[1], right=True)
    record.live.append(hunk, rank)
    ledger.roster.moved([hunk], record.path)


def _overlap(hunk: Hunk, first: int, last: int) -> bool:
    """True if a hunk stands inside of rows, not only at their edge."""
    if hunk.start is None or hunk.end is None:
        return False
    start, end = hunk.start.line, hunk.end.line
    if start == end:
        return first < start < last
    return start < first < end if first == last else max(start, first) < min(end, last)


def _stands(one: Beside, first: int) -> bool:
    """True if a hunk beside stands as it stood after the other one was taken off."""
    start, end, after = one.hunk.start, one.hunk.end, one.after
    if start is None or end is None:
        return False
    return (start.line - first, end.line - first) == (after.first, after.last)


def _set_beside(ledger: Ledger, one: Beside, first: int) -> None:
    """A hunk beside stands as it stood before the other one was taken off."""
    hunk, before, after = one
    if hunk.start is not None and hunk.end is not None:
        hunk.start.line, hunk.end.line = first + before.first, first + before.last
    if (hunk.base, hunk.agent) == (after.base, after.agent):
        hunk.base, hunk.agent = before.base, before.agent
        if ledger.layers[hunk.id].edges != before.edges:
            ledger.layers.own(hunk).edges = before.edges
