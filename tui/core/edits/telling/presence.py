"""Whether what a hunk wrote is still in its file: EDITS.md section 10, state what is there now.

The user or the disk may take a hunk's lines away without a decision (`git checkout`): it is
placed still, and so it may be decided on, but nobody may be told that its text is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from tui.core.edits.file_record import FileRecord
from tui.core.edits.hunk import PLACED, Decision, Hunk, Kind, Stage
from tui.core.edits.ledger import Ledger
from tui.core.steps import Work, in_parts
from tui.core.text.change_set import Author
from tui.core.text.rows import row_count, rows_text

_IN = (Decision.PENDING, Decision.ACCEPTED)
_WHO = {Author.USER: "the user", Author.DISK: "the disk", Author.TOOL: "the formatter"}


class Presence(StrEnum):
    """What became of the text of a hunk that is placed."""

    WHOLE = "whole"
    """As the model wrote it, or wrote over it itself."""
    EDITED = "edited"
    """Somebody else changed a part of it."""
    GONE = "gone"
    """The old text is back, or nothing is left."""


def presence(ledger: Ledger, hunk: Hunk) -> Presence:
    """How a hunk's text stands now. Cheap for those in which nobody else has written."""
    layer = ledger.layers.get(hunk.id)
    if layer is None or layer.changed_by is None or hunk.kind not in (Kind.EDIT, Kind.ADD):
        return Presence.WHOLE
    record = ledger.records.get(hunk.path)
    if record is None or record.gone or hunk not in record.live:
        return Presence.WHOLE
    now = _rows(record, hunk)
    if now == hunk.agent:
        return Presence.GONE if not now and _is_back(record, hunk) else Presence.WHOLE
    above = [one for one in reversed(layer.above) if one in record.live]
    if any(_rows(record, one) == one.agent for one in above):
        return Presence.WHOLE
    if not now or now == hunk.base:
        return Presence.GONE
    by_disk = layer.changed_by is Author.DISK
    return Presence.GONE if by_disk and _is_old(hunk, now) else Presence.EDITED


def is_kept(ledger: Ledger, hunk: Hunk) -> bool:
    """True if its text is in the buffer, and nobody has rejected it."""
    placed = hunk.stage in PLACED and hunk.decision in _IN
    return placed and presence(ledger, hunk) is not Presence.GONE


def odd_ones(ledger: Ledger, hunks: Iterable[Hunk]) -> Work[list[Hunk]]:
    """The hunks of which more is to be said than whether they are accepted.

    All others landed whole, nothing is odd about them, and nobody wrote in their lines since:
    of a hundred thousand hunks that is all that is looked at one by one.
    """
    layers, landed, rejected = ledger.layers, Stage.LANDED, Decision.REJECTED
    found: list[Hunk] = []
    for part in in_parts(hunks):
        found += [
            hunk
            for hunk in part
            if hunk.stage is not landed
            or hunk.flags
            or hunk.decision is rejected
            or ((layer := layers.get(hunk.id)) is not None and (layer.changed_by or layer.above))
        ]
        yield len(part)
    return found


def not_kept(ledger: Ledger, hunks: Iterable[Hunk]) -> Work[list[Hunk]]:
    """The hunks of which the text is not in the buffer, or that the user has rejected."""
    lost: list[Hunk] = []
    for part in in_parts((yield from odd_ones(ledger, hunks))):
        lost += [hunk for hunk in part if not is_kept(ledger, hunk)]
        yield len(part)
    return lost


def any_kept(ledger: Ledger, hunks: Iterable[Hunk]) -> Work[bool]:
    """True if the text of one is in its buffer, and nobody has rejected it."""
    for part in in_parts(hunks):
        if any(is_kept(ledger, hunk) for hunk in part):
            return True
        yield len(part)
    return False


def changed_by(ledger: Ledger, hunk: Hunk) -> str:
    """Who wrote last in a hunk's lines; empty if nobody but models did."""
    who = ledger.layers[hunk.id].changed_by
    return _WHO.get(who, "") if who else ""


def _rows(record: FileRecord, hunk: Hunk) -> str:
    if hunk.start is None or hunk.end is None:
        return ""
    return rows_text(record.buffer, hunk.start.line, hunk.end.line)


def _is_back(record: FileRecord, hunk: Hunk) -> bool:
    """True if the lines that a hunk took out stand where they were."""
    if hunk.start is None or not hunk.base:
        return False
    at, count = hunk.start.line, row_count(hunk.base)
    beside = ((max(0, at - count), at), (at, at + count))
    return any(rows_text(record.buffer, first, last) == hunk.base for first, last in beside)


def _is_old(hunk: Hunk, now: str) -> bool:
    """True for rows, drawn together by a change around them, that have the old lines only."""
    lines = set(now.splitlines())
    new = set(hunk.agent.splitlines()) - set(hunk.base.splitlines())
    old = f"\n{hunk.base}" in f"\n{now}" if hunk.base else False
    return old and bool(new or not hunk.agent) and not new & lines
