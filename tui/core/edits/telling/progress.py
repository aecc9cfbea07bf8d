"""What models are doing in the open files now, in words and rows (EDITS.md section 4)."""

from __future__ import annotations

from collections.abc import Sequence

from tui.core.edits.file_record import FileRecord
from tui.core.edits.hunk import Hunk, Kind, Stage
from tui.core.edits.open_section import OpenSection
from tui.core.edits.workspace import Workspace


def written_paths(workspace: Workspace) -> list[str]:
    """Open files that a patch is at work on, the one that was begun first before the others."""
    ledger = workspace.ledger
    return [path for path in ledger.busy if path in ledger.buffers]


def written_row(workspace: Workspace, path: str) -> int | None:
    """The row that a model wrote last in the section that is open there; None: none is."""
    section = _open_section(workspace, path)
    return None if section is None else section.last_row


def stage_words(workspace: Workspace, path: str) -> str:
    """``hunk 3: 4 candidates, reading context``; empty if nothing lands in the file, or waits."""
    section = _open_section(workspace, path)
    number = landing_number(workspace, path)
    if section is not None and number:
        return f"hunk {number}: {_doing(section.hunks[-1], section)}"
    return "" if section is not None else _waiting_words(workspace, path)


def landing_number(workspace: Workspace, path: str) -> int:
    """The id of the hunk that lands in the file now: its number on the screen; 0: none does."""
    section = _open_section(workspace, path)
    return 0 if section is None or not section.hunks else section.hunks[-1].id


def fate_words(workspace: Workspace, path: str) -> str:
    """What is to become of a file as a whole: ``to be deleted``, ``moves to b.py``."""
    record: FileRecord | None = workspace.ledger.records.get(path)
    if record is None:
        return ""
    if record.deletion is not None:
        return "to be deleted"
    return "" if record.moving is None else f"moves to {record.moving.target}"


def _open_section(workspace: Workspace, path: str) -> OpenSection | None:
    record: FileRecord | None = workspace.ledger.records.get(path)
    return None if record is None else record.landing


def _waiting_words(workspace: Workspace, path: str) -> str:
    """Of the hunk that waits for the user to choose its place."""
    record: FileRecord | None = workspace.ledger.records.get(path)
    for section in record.waiting if record is not None else ():
        hunk = section.hunks[0]
        if hunk.placeable:
            count = len(hunk.candidates)
            places = "1 place" if count == 1 else f"{count} places"
            return f"hunk {hunk.id}: fits in {places}, yours to choose"
    return ""


def _doing(hunk: Hunk, section: OpenSection) -> str:
    if section.trouble:
        return f"conflict, {section.trouble}"
    if hunk.stage is Stage.CANDIDATES:
        return _choosing(section.places())
    if hunk.stage in (Stage.LANDING, Stage.LOCATED):
        line = "" if hunk.start is None else f" at line {hunk.start.line + 1}"
        if hunk.stage is Stage.LOCATED:
            return f"found{line}"
        return f"landing{line}, \N{MINUS SIGN}{hunk.removed} +{hunk.added}"
    return "reading the new text" if hunk.kind is Kind.ADD else "reading context"


def _choosing(rows: Sequence[int]) -> str:
    if not rows:
        return "no place found yet, reading context"
    count = len(rows)
    words = "1 candidate" if count == 1 else f"{count} candidates"
    return f"{words}, reading context"
