"""What somebody else did to a file on the disk, and what that means for its buffer."""

from __future__ import annotations

from tui.core.buffer import BOM
from tui.core.file_read import FileRead, decoded
from tui.core.ledger import Author, Ledger
from tui.core.patch import merge3
from tui.core.rows import file_rows, whole_text
from tui.errors import EditRefused


def outside_change(ledger: Ledger, path: str, read: FileRead) -> None:
    """Reload a clean buffer line by line, merge into a changed one, or note a conflict.

    The user's text and pending hunks are never overwritten; a file that was deleted keeps its
    buffer and is not made again without being asked.
    """
    record = ledger.records.get(path)
    if record is None or read.data == record.disk:
        if record is not None and not read.refusal:
            ledger.conflicts.discard(path)
        return
    if record.gone:
        record.disk = read.data
        return
    try:
        if read.data is None:
            raise EditRefused(read.refusal or "deleted on the disk")
        new = decoded(path, read.data)
    except EditRefused:
        record.disk = read.data
        record.synced = None
        ledger.conflicts.add(path)
        return
    base = "" if record.disk is None else record.disk.decode("utf-8", "replace")
    text = whole_text(record.buffer)
    merged = merge3(base.removeprefix(BOM), text, new.removeprefix(BOM))
    clean = record.version == record.synced
    record.disk = read.data
    if merged is None:
        ledger.conflicts.add(path)
        return
    ledger.rewrite(record, (0, file_rows(record.buffer)), merged, Author.DISK)
    record.buffer.bom = new.startswith(BOM)
    record.history.end_group()
    ledger.conflicts.discard(path)
    if clean or merged == new.removeprefix(BOM):
        record.synced = record.version
