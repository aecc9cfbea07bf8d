"""What belongs on the disk: the user's text and the accepted hunks, the others backed out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tui.core.buffer import Buffer, Mark
from tui.core.file_read import FileRead, ascii_shown
from tui.core.hunk import PLACED, Decision, Hunk
from tui.core.ledger import Author, FileRecord, Layer, Ledger
from tui.core.patch import merge3
from tui.core.rows import file_rows, keep_ends, rows_text
from tui.core.standing import Standing
from tui.errors import EditRefused


@dataclass(frozen=True, slots=True)
class DiskPlan:
    """What must lie on the disk for a path."""

    expected: bytes | None
    """What lies there now as far as we know; None: nothing."""
    data: bytes | None
    """What belongs there; None: nothing, delete it."""


def disk_plan(ledger: Ledger, path: str) -> DiskPlan:
    """The plan for one path. Nothing is changed but the note of what was planned.

    Raises:
        EditRefused: no file of that name is open, or ever was; or it is only looked at.
    """
    record = ledger.records.get(path)
    if record is None:
        raise EditRefused(f"'{ascii_shown(path)}' is not open")
    if record.view:
        raise EditRefused(record.read_only)
    buffer = planned_text(ledger, record)
    data = None if buffer is None else buffer.encode()
    record.planned = (data, record.version)
    return DiskPlan(record.disk, data)


def planned_text(ledger: Ledger, record: FileRecord) -> Buffer | None:
    """What belongs on the disk, as text; None: nothing. It may be the live buffer itself."""
    if record.gone:
        return None
    buffer = backed_out(ledger, record)
    empty = not file_rows(buffer)
    untouched = record.version == record.synced or (record.addition is not None and empty)
    # the user named it, the model filled it and was taken back: there was no such file
    never_was = record.named and empty and not record.history.state
    belongs = record.disk is not None or not untouched
    return buffer if belongs and not never_was else None


def backed_out(ledger: Ledger, record: FileRecord) -> Buffer:
    """A copy of the buffer without what is landing and what is not decided."""
    pending = [
        hunk for hunk in record.live if hunk.decision is Decision.PENDING and hunk.stage in PLACED
    ]
    if not pending and record.landing is None:
        return record.buffer
    scratch, copy, copies = _copied(ledger, record)
    if record.landing is not None:
        first, last, text = record.landing.without()
        scratch.rewrite(copy, (first, last), text, Author.MODEL)
    for hunk in reversed(pending):
        take_off(scratch, copy, copies[hunk.id])
    return copy.buffer


def take_off(ledger: Ledger, record: FileRecord, hunk: Hunk) -> bool:
    """Put a hunk's base back, keeping what the user changed in it; False if that conflicts."""
    if hunk.start is None or hunk.end is None:
        return False
    current = rows_text(record.buffer, hunk.start.line, hunk.end.line)
    text = hunk.base if current == hunk.agent else merge3(hunk.agent, current, hunk.base)
    if text is None:
        return False
    behind = hunk.end.line < file_rows(record.buffer)
    ended = text + record.buffer.newline if behind and text[-1:] not in ("", "\n") else text
    ledger.take_off(record, hunk, ended)
    if ended != text:
        _hand_on(record, hunk.end.line - 1, keep_ends(text)[-1])
    return True


def _hand_on(record: FileRecord, row: int, line: str) -> None:
    """The hunk behind a line that had no newline inherits it: taken off, it ends that way."""
    for hunk in record.live:
        if hunk.start is not None and hunk.start.line == row + 1 and not hunk.base:
            hunk.base = line
            hunk.agent = rows_text(record.buffer, row, row + 1) + hunk.agent
            hunk.start.line = row
            return


def _copied(ledger: Ledger, record: FileRecord) -> tuple[Ledger, FileRecord, dict[int, Hunk]]:
    buffer = Buffer(record.path)
    buffer.bom = record.buffer.bom
    buffer.lines, buffer.endings = list(record.buffer.lines), list(record.buffer.endings)
    copies = {
        hunk.id: replace(hunk, start=Mark(hunk.start.line), end=Mark(hunk.end.line))
        for hunk in record.live
        if hunk.start and hunk.end
    }
    scratch = Ledger(lambda path: FileRead(None))
    for number, _hunk in copies.items():
        edges = [
            (copies[other.id], first, last)
            for other, first, last in ledger.layers[number].edges
            if other.id in copies
        ]
        scratch.layers[number] = Layer(edges=edges)
    return scratch, FileRecord(record.path, buffer, None, live=Standing(copies.values())), copies
