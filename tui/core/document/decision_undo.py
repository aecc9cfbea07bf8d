"""Undo and redo of decisions, through the marks that moved with the text (EDITS.md section 8).

The last decision is undone first, each of its steps by what the step noted. Where nothing has
touched the lines since, every byte and every mark is as it was; where somebody has, both are
kept if they fit together, else that hunk stays as it is and the others come back. To choose a
place for a hunk that fits in several is a decision, too: its section is placed as a copy of
itself, so that it can wait again just as it did.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from tui.core.document.decision_log import (
    Beside,
    DecisionEntry,
    DecisionStep,
    Held,
    Placing,
    TakenOff,
)
from tui.core.document.disk_plan import comes_off, take_off
from tui.core.document.documents import Documents
from tui.core.document.file_record import FileRecord, stand
from tui.core.document.hunk import PLACED, Decision, Hunk, Kind, Stage
from tui.core.document.review import (
    above,
    accept,
    displacer_of,
    is_taken,
    move,
    move_back,
    reject,
    take_back,
)
from tui.core.document.waiting_places import WaitingSection, kept, moved, nearest
from tui.core.steps import Work
from tui.core.text.buffer import Mark
from tui.core.text.change_set import Author
from tui.core.text.diff import merge3
from tui.core.text.rows import file_rows, rows_text
from tui.errors import EditRefused

_LANDING = "another edit is landing in this file: try again then"


def place(documents: Documents, hunk: Hunk, row: int) -> None:
    """Put a hunk, and its section, at one of its candidates.

    Raises:
        EditRefused: it cannot be placed there.
    """
    record = documents.records.get(hunk.path)
    section = next((one for one in record.waiting if hunk in one.hunks), None) if record else None
    if record is None or section is None:
        raise EditRefused("this hunk does not wait for a place")
    if record.landing is not None:
        raise EditRefused(_LANDING)
    first = section.hunks[0]
    held = [_held(one) for one in section.hunks]
    step = DecisionStep(first, first.decision, first.stage, first.reason, first.words, record)
    step.places = [record.buffer.mark(one, right=True) for one in nearest(first.candidates)]
    step.candidates = first.candidates
    chosen = first.candidates.index(row) if row in first.candidates else -1
    placed = _copied(section)
    try:
        placed.place_at(row)
    except EditRefused:
        record.buffer.release(*step.places)
        raise
    record.shifts.follow(record.waiting)
    record.waiting.remove(section)
    documents.hunk_list.reviewed()
    landed = [one for one in placed.hunks if one in record.live]
    start = landed[0].start if landed else None
    down = 0 if start is None else start.line - row
    if any(one.hunk.id not in documents.hunk_list for one in held):
        return  # it changes nothing there: there is nothing to be taken back
    step.waiting = section
    step.placing = Placing(held, list(placed.hunks), chosen, down)
    documents.decisions.note(step)


def wait_again(
    documents: Documents, record: FileRecord, step: DecisionStep, placing: Placing
) -> None:
    """A section that was placed waits for a choice again; nothing of it is in the text.

    Raises:
        EditRefused: what it wrote was decided on or changed since, or something lies on it.
    """
    landed = [hunk for hunk in placing.hunks if hunk in record.live]
    _check(documents, record, placing, landed)
    for hunk in reversed(record.live.ordered(landed)):
        take_off(documents, record, hunk)
    rows = [mark.line for mark in step.places]
    record.buffer.release(*step.places)
    if landed and 0 <= placing.chosen < len(rows) and (start := landed[0].start) is not None:
        rows[placing.chosen] = start.line - placing.down
    for hunk in placing.hunks:
        if all(hunk is not one.hunk for one in placing.held):
            documents.forget_hunk(hunk)
    for one in placing.held:
        _hold(documents, one, moved(step.candidates, rows))
    record.shifts.follow(record.waiting)
    if step.waiting is not None:
        record.waiting.append(step.waiting)


def _check(documents: Documents, record: FileRecord, placing: Placing, landed: list[Hunk]) -> None:
    if record.gone:
        raise EditRefused("its file is gone")
    if record.sections:
        raise EditRefused(_LANDING)
    others = [one for one in placing.hunks if not one.decidable and one.stage in PLACED]
    if others or any(one.stage in PLACED and one not in landed for one in placing.hunks):
        raise EditRefused("it was decided otherwise since")
    for hunk in landed:
        if hunk.start is None or hunk.end is None:
            continue
        if any(one not in landed for one in above(documents, hunk)):
            raise EditRefused("a later hunk stands in its lines now")
        if rows_text(record.buffer, hunk.start.line, hunk.end.line) != hunk.agent:
            raise EditRefused("its lines were changed since")


def _copied(section: WaitingSection) -> WaitingSection:
    """The same section, of which the lists are its own."""
    twin = copy(section)
    for name, value in vars(twin).items():
        if isinstance(value, list):
            setattr(twin, name, [*value])
    return twin


def _held(hunk: Hunk) -> Held:
    numbers = (hunk.added, hunk.removed)
    return Held(hunk, hunk.stage, hunk.reason, hunk.base, hunk.agent, hunk.flags, numbers)


def _hold(documents: Documents, held: Held, places: Sequence[int]) -> None:
    hunk = held.hunk
    hunk.stage, hunk.reason = held.stage, held.reason
    hunk.base, hunk.agent, hunk.flags = held.base, held.agent, held.flags
    hunk.added, hunk.removed = held.numbers
    hunk.start = hunk.end = None
    hunk.candidates = places
    if hunk.id in documents.layers:
        layer = documents.layers[hunk.id]
        layer.below = ()


Undone = tuple[list[str], list[str]]
"""The paths to write, and why hunks stay as they are, if any do."""
_OTHERWISE = "it was decided otherwise since"
_TAKEN = "another file is at its path now"
_GONE = "its file is gone"
_TOUCHED = "its lines were changed since"
_LATER = "a later hunk stands in its lines now"
_BELOW = "it stands on a hunk that stays as it is"
_ABOVE = "an accepted hunk stands on it"
_LANDING_REVERSAL = "another edit is landing in its file: try again then"


def undo_decision(documents: Documents) -> Work[Undone]:
    """Undo the last decision; the paths to write, and why hunks stay as they are, if any do.

    Raises:
        EditRefused: there is none, or nothing of it can be undone; a second try passes over it.
    """
    done = documents.decisions.done
    while done:
        entry, tried = done[-1], done[-1].tried
        try:
            found = yield from _undo(documents, entry)
        except EditRefused:
            if not tried:
                raise
            done.pop()
            continue
        done.pop()
        documents.decisions.undone.append(entry)
        return found
    raise EditRefused("there is no decision to take back")


def undo_entry(documents: Documents, entry: DecisionEntry) -> Work[Undone]:
    """Undo this decision, whatever was decided since; what it returns is as of `undo_decision`.

    Raises:
        EditRefused: nothing of it can be undone.
    """
    try:
        return (yield from _undo(documents, entry))
    finally:
        done = documents.decisions.done
        done[:] = [one for one in done if one is not entry]


def redo_decision(documents: Documents) -> Work[Undone]:
    """Decide again what was undone last; what was taken back with its turn comes back.

    Returns:
        The paths to write, and why hunks stay as they are, if any do.

    Raises:
        EditRefused: nothing was undone, or nothing of it can be done again.
    """
    decisions = documents.decisions
    entry = decisions.last(again=True)
    if entry is None:
        raise EditRefused("no decision was taken back")
    if not decisions.undone:  # a turn that was taken back, and nothing decided since
        found = yield from _undo(documents, entry)
        decisions.done.pop()
        return found
    decisions.undone.pop()
    with decisions.entry(entry.twin([]), again=True) as redone:
        if entry.verb == "accept":
            paths = yield from accept(documents, entry.hunks)
        elif entry.verb in ("reject", "cut"):
            paths = yield from reject(
                documents, entry.hunks, entry.words, whole=entry.whole and _agreed(entry)
            )
            redone.remade = entry.remade
        elif entry.verb == "place":
            paths = _place_again(documents, entry.steps[0])
        else:
            paths = yield from take_back(documents, entry.hunks)
    if entry.away is not None and redone.hunks:
        paths += (yield from _undo(documents, entry.away))[0]
    again = set(redone.hunks)
    if decisions.enough and (rest := [one for one in entry.steps if one.hunk not in again]):
        decisions.undone.append(entry.twin(rest))
        return paths, []
    refusals = [f"hunk {hunk.id}: {_OTHERWISE}" for hunk in entry.hunks if hunk not in again]
    if not again:
        raise EditRefused(refusals[0] if refusals else _OTHERWISE)
    return paths, refusals


def _place_again(documents: Documents, step: DecisionStep) -> list[str]:
    """Choose the same place again. Raises EditRefused."""
    placed, rows = step.placing, step.hunk.candidates
    if placed is None or not 0 <= placed.chosen < len(rows):
        raise EditRefused(_OTHERWISE)
    place(documents, step.hunk, rows[placed.chosen])
    return []


def _agreed(entry: DecisionEntry) -> bool:
    """True if what goes with the hunks is what the user had let go, and nothing typed since."""
    return all(_is_unchanged(step.hunk, step.record, step.off) for step in entry.steps if step.off)


def _is_unchanged(hunk: Hunk, record: FileRecord | None, off: TakenOff | None) -> bool:
    if record is None or off is None or off.closed or hunk.start is None or hunk.end is None:
        return False
    return rows_text(record.buffer, hunk.start.line, hunk.end.line) == off.text


def _undo(documents: Documents, entry: DecisionEntry) -> Work[Undone]:
    """Undo a decision, and take out before what came in the place of its hunks.

    Raises:
        EditRefused: nothing of it can be undone.
    """
    remade = [hunk for hunk in entry.remade if hunk.decidable]
    if not remade:
        return (yield from _undo_steps(documents, entry))
    decisions = documents.decisions
    with decisions.entry(DecisionEntry("reject"), again=True) as away:
        paths = yield from reject(documents, remade, "")
    if not away.size:
        raise EditRefused(_LATER)
    decisions.done.remove(away)
    try:
        more, stays = yield from _undo_steps(documents, entry)
    except EditRefused:
        yield from _undo_steps(documents, away)
        raise
    entry.away = away
    return [*paths, *more], stays


def _undo_steps(documents: Documents, entry: DecisionEntry) -> Work[Undone]:
    """Undo the steps of a decision, the last one first; all that can be.

    Raises:
        EditRefused: none of them can be.
    """
    paths: dict[str, None] = {}
    stays: dict[Hunk, str] = {}
    yield from entry.unpacking()
    steps, left = entry.steps, len(entry.steps)
    while left and not (documents.decisions.enough and left < len(steps)):
        left -= 1
        step, hunk = steps[left], steps[left].hunk
        try:
            if any(one in stays for one in documents.layers[hunk.id].below):
                raise EditRefused(_BELOW)
            paths.update(dict.fromkeys(_undo_step(documents, step)))
        except EditRefused as refused:
            stays[hunk] = f"hunk {hunk.id} of {hunk.path}: {refused}"
            continue
        documents.decisions.made += 1
        documents.hunk_list.reopened(hunk)
        yield
    if left:
        documents.decisions.done.insert(-1, entry.twin(steps[:left]))
        entry.steps = steps[left:]
    if len(stays) == len(entry.steps):
        entry.tried = True
        raise EditRefused(next(iter(stays.values())))
    if stays:
        entry.steps = [step for step in entry.steps if step.hunk not in stays]
    documents.hunk_list.reviewed()
    documents.bump()
    return list(paths), list(stays.values())


def _undo_step(documents: Documents, step: DecisionStep) -> list[str]:
    """Undo what a decision did to one hunk; returns the paths to write. Raises EditRefused."""
    hunk, record = step.hunk, step.record
    if hunk.decision is not step.became:
        raise EditRefused(_OTHERWISE)
    paths: list[str] = []
    if step.stuck:
        if record is not None and hunk.kind is Kind.DELETE and step.was is Decision.PENDING:
            record.deletion = record.deletion or hunk
    elif record is not None and step.placing is not None:
        wait_again(documents, record, step, step.placing)
    elif record is not None and step.waiting is not None:
        _ask_again(record, step)
    elif record is not None and step.became is Decision.ACCEPTED:
        paths = _take_back_acceptance(documents, record, step)
    elif record is not None and hunk.kind is Kind.DELETE and step.stage in PLACED:
        paths = _delete_again(documents, record, step)
    elif record is not None and hunk.kind is Kind.MOVE and step.stage in PLACED:
        paths = _move_again(documents, record, step)
    elif record is not None and (step.off or step.rank is not None):
        paths = _put_on(documents, record, step)
    # else it was not in the text, so nothing is to be put back
    hunk.stage, hunk.reason = step.stage, step.reason
    hunk.decision, hunk.words = step.was, step.words
    if record is not None and step.version is not None:
        record.undecide(step.version)
        if step.unwritten is not None:
            record.undecided.setdefault(hunk, step.unwritten)
    return paths


def _ask_again(record: FileRecord, step: DecisionStep) -> None:
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


def _take_back_acceptance(
    documents: Documents, record: FileRecord, step: DecisionStep
) -> list[str]:
    """An accepted hunk is pending again; what it did to files is undone."""
    hunk, paths = step.hunk, [record.path]
    if hunk.kind in (Kind.DELETE, Kind.MOVE) and record.sections:
        raise EditRefused(_LANDING_REVERSAL)
    if hunk.kind is Kind.DELETE:
        _check_free(documents, record, step)
        documents.restore(record)
        record.deletion = hunk
    elif hunk.kind is Kind.MOVE:
        there, over = documents.records.get(hunk.target), documents.layers[hunk.id].over
        taken = is_taken(documents, hunk.path) and displacer_of(documents, hunk) is None
        if record.gone or taken or (there is not record and (there is None or there is not over)):
            raise EditRefused(_TAKEN)
        paths = move_back(documents, hunk)
        record.moving = hunk
        documents.arriving[hunk.target] = record
    elif record.gone or hunk not in record.live:
        raise EditRefused(_GONE)
    elif any(one.decision is Decision.ACCEPTED for one in above(documents, hunk)):
        raise EditRefused(_ABOVE)
    elif documents.layers[hunk.id].changed_by is Author.DISK and not comes_off(record, hunk):
        raise EditRefused(_TOUCHED)  # what another program wrote would be missing on the disk
    record.undecided.pop(hunk, None)
    return paths


def _delete_again(documents: Documents, record: FileRecord, step: DecisionStep) -> list[str]:
    """A deletion that was rejected is pending again, or done again if it had been accepted."""
    if record.gone or record.deletion or record.moving:
        raise EditRefused(_GONE)
    if step.was is Decision.PENDING:
        record.deletion = step.hunk
        return []
    if record.sections:
        raise EditRefused(_LANDING_REVERSAL)
    if record.undo_log.state != documents.layers[step.hunk.id].state:
        raise EditRefused("the file was edited since: not deleted")
    documents.layers.own(step.hunk).record = record
    documents.drop(record)
    return [record.path]


def _move_again(documents: Documents, record: FileRecord, step: DecisionStep) -> list[str]:
    """A move that was rejected is pending again, or done again if it had been accepted."""
    hunk = step.hunk
    if record.gone or record.deletion or record.moving or record.path != hunk.path:
        raise EditRefused(_GONE)
    if hunk.target in documents.arriving:
        raise EditRefused("another file is to go where it goes")
    if step.was is Decision.PENDING:
        record.moving = hunk
        documents.arriving[hunk.target] = record
        return []
    if record.sections:
        raise EditRefused(_LANDING_REVERSAL)
    if not move(documents, record, hunk):
        why, hunk.stage, hunk.reason = hunk.reason, Stage.LANDED, ""
        raise EditRefused(why)
    return [record.path, hunk.path]


def _check_free(documents: Documents, record: FileRecord, step: DecisionStep) -> None:
    """Raise EditRefused if another file is where a closed one was, in a buffer or on the disk."""
    others = record.disk is not None and record.disk != step.disk
    if is_taken(documents, record.path) or others:
        raise EditRefused(_TAKEN)


def _put_on(documents: Documents, record: FileRecord, step: DecisionStep) -> list[str]:
    """Put a hunk's text back where it stood, keeping what was changed there meanwhile."""
    hunk, off = step.hunk, step.off
    if record.gone and (off is None or not off.closed):
        raise EditRefused(_GONE)
    if hunk not in record.off or hunk.start is None or hunk.end is None:
        raise EditRefused(_OTHERWISE)
    if record.gone:
        _check_free(documents, record, step)
    first, last = hunk.start.line, hunk.end.line
    if off is None:  # its text was kept; unless the user took back what he had typed in it
        if (edit := record.weave.edit(hunk)) is not None and not edit.on:
            documents.switch_hunk(record, hunk, (first, last), None, on=True)
        rows = hunk.start.line, hunk.end.line
        _stand_again(documents, record, hunk, rows, step.rank)
        return []
    now = rows_text(record.buffer, first, last)
    known = {one.hunk for one in off.beside}
    if any(_overlap(one, first, last) for one in record.live.near(first, last) if one not in known):
        raise EditRefused(_LATER)
    text = _with_what_came(record, (first, last), now, off)
    still = [one for one in off.beside if now == off.left and _stands(one, first)]
    was_gone = record.gone
    if was_gone:
        documents.restore(record)
    last = documents.switch_hunk(record, hunk, (first, last), text, on=True)
    _stand_again(documents, record, hunk, (first, last), off.rank)
    for one, before, after in still:  # each says what it said before
        if (one.base, one.agent) == (after.base, after.agent):
            one.base, one.agent = before.base, before.agent
            stand(record, [one])
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
    documents: Documents, record: FileRecord, hunk: Hunk, rows: tuple[int, int], rank: int | None
) -> None:
    """A hunk stands in its text again, at its place in the order of landing."""
    record.off.remove(hunk)
    hunk.start, hunk.end = Mark(rows[0]), Mark(rows[1], right=True)
    record.live.append(hunk, rank)
    documents.hunk_list.moved([hunk], record.path)


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
