"""What makes a person look at a whole patch, beside the flags of its sections (EDITS.md 8)."""

from __future__ import annotations

from collections.abc import Sequence

from tui.core.edits.hunk import Hunk, Kind, Stage
from tui.core.edits.ledger import Ledger
from tui.core.privacy import is_ignore_file, why_private
from tui.core.text.rows import file_rows

LEAST_LINES = 10
"""Of a shorter file the half is soon gone."""


def flag_private(ledger: Ledger, hunks: Sequence[Hunk], call_id: str) -> None:
    """Flag what touches a secret by its name, or what says which files are ignored.

    A model need not have seen a file to give it another name, under which it is no secret.
    ``call_id`` is that of the hunks: of very many none is looked at where no name is odd.
    """
    targets = {hunk.target for hunk in ledger.removals if hunk.call_id == call_id}
    names = {*ledger.roster.files_of(call_id), *targets}
    odd = {path for path in names if path and _private_flag([path])}
    for hunk in hunks if odd else ():
        if odd & {hunk.path, hunk.target}:
            hunk.flags += (_private_flag([path for path in (hunk.path, hunk.target) if path]),)


def _private_flag(paths: list[str]) -> str:
    reason = next(filter(None, map(why_private, paths)), "")
    if reason:
        return f"a private file: {reason}"
    return "it says which files are ignored" if any(map(is_ignore_file, paths)) else ""


def flag_shrunken(ledger: Ledger, hunks: Sequence[Hunk], call_id: str) -> None:
    """Flag the hunks that take lines away, if more than half of a file's lines go."""
    paths = ledger.roster.files_of(call_id)
    by_path: dict[str, list[Hunk]] = {path: [] for path in paths if _may_be_shrunken(ledger, path)}
    for hunk in hunks if by_path else ():
        landed = hunk.kind is not Kind.DELETE and hunk.stage in (Stage.LANDED, Stage.PARTIAL)
        if landed and hunk.path in by_path:
            by_path[hunk.path].append(hunk)
    for path, shrinking in by_path.items():
        gone = sum(hunk.removed - hunk.added for hunk in shrinking)
        before = gone + _rows(ledger, path)
        if before < LEAST_LINES or 2 * gone <= before:
            continue
        for hunk in shrinking:
            if hunk.removed > hunk.added:
                hunk.flags += (f"shrink: {gone} of {before} lines of the file go",)


def _may_be_shrunken(ledger: Ledger, path: str) -> bool:
    """Whether hunks took more lines away than there are now, whatever they added."""
    return sum(tally.removed for tally in ledger.roster.in_file(path)) > _rows(ledger, path)


def _rows(ledger: Ledger, path: str) -> int:
    record = ledger.records.get(path)
    return file_rows(record.buffer) if record is not None else 0
