"""What somebody else did to a file on the disk, and what that means for its buffer."""

from __future__ import annotations

from tui.core.buffer import BOM
from tui.core.disk_plan import backed_out
from tui.core.file_read import FileRead, ascii_shown, decoded
from tui.core.ledger import Author, FileRecord, Ledger
from tui.core.patch import merge3, replacements
from tui.core.review import reject
from tui.core.rows import file_rows, keep_ends, rows_range, whole_text
from tui.errors import EditRefused

_REPLACED = "the file on the disk was taken instead"


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
    # in a conflict the record keeps what both sides began with: nothing is written over the
    # other's text by mistake, and a later change is merged on the same base
    if record.gone:
        record.disk = read.data
        return
    try:
        if read.data is None:
            raise EditRefused(read.refusal or "deleted on the disk")
        new = decoded(path, read.data)
    except EditRefused:
        record.synced = None
        ledger.conflicts.add(path)
        return
    base = "" if record.disk is None else record.disk.decode("utf-8", "replace")
    text = whole_text(record.buffer)
    merged = merge3(base.removeprefix(BOM), text, new.removeprefix(BOM))
    clean = record.version == record.synced
    if merged is None:
        ledger.conflicts.add(path)
        return
    record.disk = read.data
    ledger.rewrite(record, (0, file_rows(record.buffer)), merged, Author.DISK)
    record.buffer.bom = new.startswith(BOM)
    record.history.end_group()
    ledger.conflicts.discard(path)
    if clean or merged == new.removeprefix(BOM):
        record.synced = record.version


def take_theirs(ledger: Ledger, path: str, read: FileRead) -> None:
    """Let the disk's text win over the user's; the user's undo brings it back.

    Pending hunks stay where they fit the new text, else all of the file's are rejected.

    Raises:
        EditRefused: there is nothing on the disk that can be edited.
    """
    record = ledger.records.get(path)
    if record is None or record.gone:
        raise EditRefused(f"'{ascii_shown(path)}' is not open")
    if read.data is None:
        raise EditRefused(read.refusal or f"'{ascii_shown(path)}' is not on the disk any more")
    new = decoded(path, read.data)
    theirs = new.removeprefix(BOM)
    mine = whole_text(backed_out(ledger, record))
    text = merge3(mine, whole_text(record.buffer), theirs)
    if text is None:
        reject(ledger, [hunk for hunk in record.live if hunk.decidable], _REPLACED)
        if record.path not in ledger.buffers:  # the hunks had made it; somebody else did too
            ledger.restore(record)
        text = theirs
    replace_as_user(ledger, record, text, f"theirs:{ledger.revision}")
    record.buffer.bom = new.startswith(BOM)
    record.disk = read.data
    record.synced = record.version
    ledger.conflicts.discard(path)
    ledger.bump()


def replace_as_user(ledger: Ledger, record: FileRecord, text: str, group: str) -> None:
    """Give a buffer another text, by edits of the user's that one undo takes back."""
    old = keep_ends(whole_text(record.buffer))
    for change in reversed(replacements(old, keep_ends(text))):
        where = rows_range(record.buffer, change.first, change.last)
        done = ledger.apply(record, *where, "".join(change.lines), Author.USER)
        record.history.record(done, group)
    record.history.end_group()
