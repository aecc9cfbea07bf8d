"""What makes a person look at a whole patch, beside the flags of its sections (EDITS.md 8)."""

from __future__ import annotations

from collections.abc import Iterable

from tui.core.edits.hunk import Hunk, Kind, Stage
from tui.core.edits.ledger import Ledger
from tui.core.privacy import is_ignore_file, why_private
from tui.core.text.rows import file_rows

LEAST_LINES = 10
"""Of a shorter file the half is soon gone."""


def flag_private(hunks: Iterable[Hunk]) -> None:
    """Flag what touches a secret by its name, or what says which files are ignored.

    A model need not have seen a file to give it another name, under which it is no secret.
    """
    known: dict[tuple[str, str], str] = {}
    for hunk in hunks:
        where = (hunk.path, hunk.target)
        if (flag := known.get(where)) is None:
            flag = known[where] = _private_flag([path for path in where if path])
        if flag:
            hunk.flags.append(flag)


def _private_flag(paths: list[str]) -> str:
    reason = next(filter(None, map(why_private, paths)), "")
    if reason:
        return f"a private file: {reason}"
    return "it says which files are ignored" if any(map(is_ignore_file, paths)) else ""


def flag_shrunken(ledger: Ledger, hunks: Iterable[Hunk]) -> None:
    """Flag the hunks that take lines away, if more than half of a file's lines go."""
    by_path: dict[str, list[Hunk]] = {}
    for hunk in hunks:
        if hunk.kind is not Kind.DELETE and hunk.stage in (Stage.LANDED, Stage.PARTIAL):
            by_path.setdefault(hunk.path, []).append(hunk)
    for path, landed in by_path.items():
        gone = sum(hunk.removed - hunk.added for hunk in landed)
        record = ledger.records.get(path)
        before = gone + (file_rows(record.buffer) if record is not None else 0)
        if before < LEAST_LINES or 2 * gone <= before:
            continue
        for hunk in landed:
            if hunk.removed > hunk.added:
                hunk.flags.append(f"shrink: {gone} of {before} lines of the file go")
