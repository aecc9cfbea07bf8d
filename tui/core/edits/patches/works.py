"""From a file header to the work that it asks for."""

from __future__ import annotations

from tui.core.edit_stream.events import FileOp
from tui.core.edits.file_record import FileRecord
from tui.core.edits.hunk import Kind
from tui.core.edits.ledger import Ledger
from tui.core.edits.patches.add_work import AddWork
from tui.core.edits.patches.block_work import SearchWork, WholeWork
from tui.core.edits.patches.file_ops import DeleteWork, UpdateWork
from tui.core.edits.patches.file_work import FileWork, NewHunk
from tui.errors import EditRefused


def work_for(ledger: Ledger, op: FileOp, new_hunk: NewHunk) -> FileWork:
    """The work that a file header asks for; its path is the one of the file."""
    if op.notation == "search_replace":
        return SearchWork(ledger, op.path, new_hunk)
    if op.notation == "whole_file" and (record := _existing(ledger, op.path)) is not None:
        return WholeWork(ledger, record, new_hunk)
    if op.kind is Kind.ADD:
        return AddWork(ledger, op.path, new_hunk, op.notation)
    if op.kind is Kind.DELETE:
        return DeleteWork(ledger, op.path, new_hunk, op.notation)
    return UpdateWork(ledger, op.path, new_hunk, op.notation)


def _existing(ledger: Ledger, path: str) -> FileRecord | None:
    """The file if its text can be changed as it is; None: it is new, or it cannot be."""
    try:
        record = ledger.find(path)
    except EditRefused:
        return None
    if record is None or record.blank or record.deletion or record.moving:
        return None
    return record
