"""Pending hunks that somebody else brought to the disk: they count as accepted.

Case I03 of EDIT-CASES.md (zed's keep_committed_edits): who pulls, checks out or applies the same
change and commits it has decided. Only what is the same line by line counts. git is not asked:
a pending hunk is not on the disk, so what is committed with it has come to the disk before.
"""

from __future__ import annotations

from collections.abc import Sequence

from tui.core.edits.file_record import FileRecord
from tui.core.edits.hunk import Decision, Hunk, Kind
from tui.core.edits.ledger import Ledger
from tui.core.files import FileRead
from tui.core.text.change_set import ChangeSet
from tui.core.text.rows import row_count


def same_hunks(record: FileRecord, mine: ChangeSet, others: ChangeSet) -> list[Hunk]:
    """Pending hunks all of whose lines somebody else changed in the same way.

    Both sets change what lay on the disk: ``mine`` to what stands in the buffer, ``others`` to
    what was made of it elsewhere.
    """
    if not any(hunk.decidable for hunk in record.live):
        return []
    theirs, found = set(others.changes), dict[Hunk, None]()
    for change, back in zip(mine.changes, mine.invert().changes, strict=True):
        if change in theirs:
            rows = back.start[0], back.start[0] + row_count(back.old_text)
            near = record.live.near(*rows)
            found.update(dict.fromkeys(h for h in near if _is_within(h, rows, change.old_text)))
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
