"""Choosing a place for a hunk that fits in several: a decision, undone and redone as the others.

The section that waits is placed as a copy of itself, so that it can wait again just as it did.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from tui.core.edits.deciding.review import above
from tui.core.edits.decisions import Held, Placing, Step
from tui.core.edits.disk.disk_plan import take_off
from tui.core.edits.file_record import FileRecord
from tui.core.edits.hunk import PLACED, Hunk
from tui.core.edits.ledger import Ledger
from tui.core.edits.open_section import WaitingSection
from tui.core.edits.places import moved, nearest
from tui.core.text.rows import rows_text
from tui.errors import EditRefused

_LANDING = "another edit is landing in this file: try again then"


def place(ledger: Ledger, hunk: Hunk, row: int) -> None:
    """Put a hunk, and its section, at one of its candidates.

    Raises:
        EditRefused: it cannot be placed there.
    """
    record = ledger.records.get(hunk.path)
    section = next((one for one in record.waiting if hunk in one.hunks), None) if record else None
    if record is None or section is None:
        raise EditRefused("this hunk does not wait for a place")
    if record.landing is not None:
        raise EditRefused(_LANDING)
    first = section.hunks[0]
    held = [_held(one) for one in section.hunks]
    step = Step(first, first.decision, first.stage, first.reason, first.words, record)
    step.places = [record.buffer.mark(one, right=True) for one in nearest(first.candidates)]
    step.candidates = first.candidates
    chosen = first.candidates.index(row) if row in first.candidates else -1
    placed = _copied(section)
    try:
        placed.place_at(row)
    except EditRefused:
        record.buffer.release(*step.places)
        raise
    record.drift.follow(record.waiting)
    record.waiting.remove(section)
    ledger.roster.reviewed()
    landed = [one for one in placed.hunks if one in record.live]
    start = landed[0].start if landed else None
    down = 0 if start is None else start.line - row
    if any(one.hunk.id not in ledger.roster for one in held):
        return  # it changes nothing there: there is nothing to be taken back
    step.waiting = section
    step.placing = Placing(held, list(placed.hunks), chosen, down)
    ledger.decisions.note(step)


def wait_again(ledger: Ledger, record: FileRecord, step: Step, placing: Placing) -> None:
    """A section that was placed waits for a choice again; nothing of it is in the text.

    Raises:
        EditRefused: what it wrote was decided on or changed since, or something lies on it.
    """
    landed = [hunk for hunk in placing.hunks if hunk in record.live]
    _check(ledger, record, placing, landed)
    for hunk in reversed(record.live.ordered(landed)):
        take_off(ledger, record, hunk)
    rows = [mark.line for mark in step.places]
    record.buffer.release(*step.places)
    if landed and 0 <= placing.chosen < len(rows) and (start := landed[0].start) is not None:
        rows[placing.chosen] = start.line - placing.down
    for hunk in placing.hunks:
        if all(hunk is not one.hunk for one in placing.held):
            ledger.forget_hunk(hunk)
    for one in placing.held:
        _hold(ledger, one, moved(step.candidates, rows))
    record.drift.follow(record.waiting)
    if step.waiting is not None:
        record.waiting.append(step.waiting)


def _check(ledger: Ledger, record: FileRecord, placing: Placing, landed: list[Hunk]) -> None:
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
        if any(one not in landed for one in above(ledger, hunk)):
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


def _hold(ledger: Ledger, held: Held, places: Sequence[int]) -> None:
    hunk = held.hunk
    hunk.stage, hunk.reason = held.stage, held.reason
    hunk.base, hunk.agent, hunk.flags = held.base, held.agent, held.flags
    hunk.added, hunk.removed = held.numbers
    hunk.start = hunk.end = None
    hunk.candidates = places
    if hunk.id in ledger.layers:
        layer = ledger.layers[hunk.id]
        layer.below = layer.edges = ()
