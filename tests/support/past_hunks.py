"""Hunks as a store has them."""

from __future__ import annotations

from tui.core.document.hunk import Hunk
from tui.core.document.workspace import Workspace
from tui.core.session_record import HunkMade

AROUND = 3
_FROM_TEXT = {"line", "above", "below", "author", "candidates", "typed"}


def past_hunk(workspace: Workspace, hunk: Hunk) -> HunkMade:
    """A hunk as it stands, with what stands around it."""
    row: int | None = None
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    if hunk.start is not None and hunk.end is not None:
        lines = workspace.documents.records[hunk.path].buffer.lines
        row, end = hunk.start.line, hunk.end.line
        above, below = tuple(lines[max(row - AROUND, 0) : row]), tuple(lines[end : end + AROUND])
    fields = {name: getattr(hunk, name) for name in {*HunkMade.__struct_fields__} - _FROM_TEXT}
    return HunkMade(**fields, line=row, above=above, below=below)
