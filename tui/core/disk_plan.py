"""What belongs on the disk: the user's text and the accepted hunks, the others backed out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from tui.core.buffer import Buffer, Mark
from tui.core.file_read import FileRead, ascii_shown
from tui.core.hunk import Hunk
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
    return buffer if _belongs(record, empty=not file_rows(buffer)) else None


def backed_out(ledger: Ledger, record: FileRecord) -> Buffer:
    """A copy of the buffer without what is landing and what is not decided."""
    if record.landing is None and not any(hunk.decidable for hunk in record.live):
        return record.buffer
    return still_text(ledger, record).backed_out()


def _belongs(record: FileRecord, *, empty: bool) -> bool:
    """Whether there is to be a file, if its text is ``empty`` or is not."""
    untouched = record.version == record.synced or (record.addition is not None and empty)
    # the user named it, the model filled it and was taken back: there was no such file
    never_was = record.named and empty and not record.history.state
    return (record.disk is not None or not untouched) and not never_was


class _Stood(NamedTuple):
    """A hunk as it stood in a text."""

    hunk: Hunk
    first: int
    last: int
    base: str
    agent: str
    edges: list[tuple[Hunk, int | None, int | None]]
    is_open: bool
    """It is not decided, so it does not belong on the disk."""


@dataclass(frozen=True, slots=True)
class StillText:
    """A file at one moment; any thread may work out from it what belonged on the disk then."""

    path: str
    bom: bool
    lines: list[str]
    endings: list[str]
    stood: tuple[_Stood, ...] = ()
    landing: tuple[int, int, str] | None = None
    """Rows that a section had painted, and the text that belongs there without it."""
    belongs: tuple[bool, bool] = (True, True)
    """Whether there is to be a file if there is text, and if there is none."""

    def buffer(self) -> Buffer:
        """A buffer with the text as it stood, hunks and all."""
        copy = Buffer(self.path)
        copy.bom = self.bom
        copy.lines, copy.endings = list(self.lines), list(self.endings)
        return copy

    def planned(self) -> Buffer | None:
        """What belonged on the disk; None: nothing."""
        text = self.backed_out()
        return text if self.belongs[not file_rows(text)] else None

    def backed_out(self) -> Buffer:
        """The text without what was landing and what was not decided."""
        if self.landing is None and not any(one.is_open for one in self.stood):
            return self.buffer()
        copies = {
            one.hunk.id: replace(
                one.hunk,
                start=Mark(one.first),
                end=Mark(one.last),
                base=one.base,
                agent=one.agent,
            )
            for one in self.stood
        }
        scratch = Ledger(lambda path: FileRead(None))
        for one in self.stood:
            edges = [(copies[o.id], first, last) for o, first, last in one.edges if o.id in copies]
            scratch.layers[one.hunk.id] = Layer(edges=edges)
        record = FileRecord(self.path, self.buffer(), None, live=Standing(copies.values()))
        if self.landing is not None:
            first, last, text = self.landing
            scratch.rewrite(record, (first, last), text, Author.MODEL)
        for one in reversed(self.stood):
            if one.is_open:
                take_off(scratch, record, copies[one.hunk.id])
        return record.buffer


def still_text(ledger: Ledger, record: FileRecord) -> StillText:
    """An open file as it stands now; costs a copy of its lists of lines and of hunks."""
    buffer = record.buffer
    stood = tuple(
        _Stood(
            hunk,
            hunk.start.line,
            hunk.end.line,
            hunk.base,
            hunk.agent,
            list(ledger.layers[hunk.id].edges),
            hunk.decidable,
        )
        for hunk in record.live
        if hunk.start and hunk.end
    )
    return StillText(
        record.path,
        buffer.bom,
        list(buffer.lines),
        list(buffer.endings),
        stood,
        None if record.landing is None else record.landing.without(),
        (_belongs(record, empty=False), _belongs(record, empty=True)),
    )


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
