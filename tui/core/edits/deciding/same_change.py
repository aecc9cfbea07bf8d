"""Pending hunks that somebody else brought to the disk: they count as accepted.

Case I03 of EDIT-CASES.md (zed's keep_committed_edits): who pulls, checks out or applies the same
change and commits it has decided. Only what is the same line by line counts. git is not asked:
a pending hunk is not on the disk, so what is committed with it has come to the disk before.
"""

from __future__ import annotations

from collections.abc import Sequence

from tui.core.edits.hunk import Decision, Hunk, Kind
from tui.core.edits.ledger import FileRecord, Ledger
from tui.core.file_read import FileRead
from tui.core.text.patch import Replacement
from tui.core.text.rows import keep_ends


def same_hunks(
    record: FileRecord, base: str, mine: Sequence[Replacement], others: Sequence[Replacement]
) -> list[Hunk]:
    """Pending hunks all of whose lines somebody else changed in the same way.

    ``mine`` and ``others`` are the changes of ``base``: those that stand in the buffer, and
    what was made of it elsewhere.
    """
    if not any(hunk.decidable for hunk in record.live):
        return []
    theirs, lines, found, down = set(others), list[str](), dict[Hunk, None](), 0
    for change in mine:
        first = change.first + down
        last = first + len(change.lines)
        down += len(change.lines) - (change.last - change.first)
        if change in theirs:
            lines = lines or keep_ends(base)
            old = "".join(lines[change.first : change.last])
            near = record.live.near(first, last)
            found.update(dict.fromkeys(h for h in near if _is_within(h, (first, last), old)))
    return list(found)


def count_as_accepted(ledger: Ledger, record: FileRecord, hunks: Sequence[Hunk]) -> None:
    """Hunks that are where they belong already are accepted; nobody has to write them."""
    for hunk in hunks:
        record.decide()
        hunk.decision = Decision.ACCEPTED
    if hunks:
        ledger.roster.reviewed()
        ledger.bump()


def deleted_as_proposed(ledger: Ledger, record: FileRecord, read: FileRead) -> bool:
    """A file whose deletion is pending was deleted by somebody: that accepts it."""
    hunk = record.deletion
    if hunk is None or read.data is not None or read.refusal or record.sections:
        return False
    if record.history.state != ledger.layers[hunk.id].state:
        return False
    pending = [one for one in record.live if one.decidable]
    record.deletion = None
    ledger.layers.own(hunk).record = record
    record.disk = None
    count_as_accepted(ledger, record, [*pending, hunk])
    record.synced = record.version
    ledger.drop(record)
    return True


def _is_within(hunk: Hunk, rows: tuple[int, int], old: str) -> bool:
    """True if all of a pending hunk is in these rows, which were ``old``."""
    if not hunk.decidable or hunk.start is None or hunk.end is None:
        return False
    gone = hunk.start.line == hunk.end.line  # two hunks may have taken lines out at one place
    if gone and hunk.kind is Kind.EDIT and hunk.base not in old:
        return False
    return rows[0] <= hunk.start.line and hunk.end.line <= rows[1]
