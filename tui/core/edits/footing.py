"""Where hunks stood before an edit of the user's: there they stand again when it is undone.

An edit across an edge of a hunk draws the lines into it, and one that takes out all of its rows
leaves it none. The text that comes back does not say whose it is; the edit's undo does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tui.core.edits.hunk import Decision, Hunk
from tui.core.text.change_set import Change
from tui.core.text.rows import Span

if TYPE_CHECKING:
    from tui.core.edits.file_record import FileRecord

_Rows = tuple[int, int]


@dataclass(slots=True)
class Footing:
    """What an edit of the user's did to hunks; the rows are counted from where it starts."""

    rows: dict[Hunk, tuple[_Rows, _Rows]] = field(default_factory=dict)
    """Where hunks stood before it, and after it."""
    painted: Sequence[Hunk] | None = None
    """Hunks that were being painted: it took out lines of theirs, and nothing else."""

    ahead: bool = False
    """What is painted right there since stands behind what it took out."""
    above: bool = False
    """It took out lines: the same stands before its ends, in its first and its last line."""
    below: bool = False
    """It took out lines: both its ends are ends of lines."""

    @property
    def lost(self) -> bool:
        """What it took out is nobody's any more: these hunks have no place in the text."""
        return self.painted is not None and not any(
            hunk.start is not None and hunk.decision is not Decision.REJECTED
            for hunk in self.painted
        )


def stood(record: FileRecord, span: Span) -> list[tuple[Hunk, _Rows]]:
    """Where the hunks stand that a change touches."""
    rows = (span.row - 1, span.row + span.n_old)
    near = record.live.near(*rows)
    if record.off:
        near = [*near, *record.off.near(*rows)]
    return [(hunk, _rows(hunk)) for hunk in near]


def footing(before: list[tuple[Hunk, _Rows]], row: int) -> Footing:
    """What is to be known to undo a change that started at ``row``, now that it is made."""
    return Footing({hunk: (_from(rows, row), _from(_rows(hunk), row)) for hunk, rows in before})


def stand_again(undone: Footing, now: Footing, change: Change, *, behind: bool = False) -> None:
    """An edit was undone by ``change``: each edge that stood as it had left it goes back.

    Args:
        undone: what that edit had done.
        now: what ``change`` did; it is brought to where the hunks stand then.
        change: what undid it.
        behind: its text stands behind lines that have gone since.
    """
    now.painted = undone.painted
    count = change.new_end[0] - change.start[0]
    for hunk, (was, became) in now.rows.items():
        first, last = became
        if hunk in undone.rows:
            before, after = undone.rows[hunk]
            first = before[0] if was[0] == after[0] else first
            last = before[1] if was[1] == after[1] else last
        elif undone.painted and hunk in undone.painted and change.new_text in hunk.agent:
            first = 0 if not was[0] else first
            last = count if not was[1] else last
        elif behind and was == (0, 0):
            first = last = 0
        if (first, last) != became and first <= last and hunk.start and hunk.end:
            hunk.start.line, hunk.end.line = change.start[0] + first, change.start[0] + last
            now.rows[hunk] = (was, (first, last))


def _rows(hunk: Hunk) -> _Rows:
    assert hunk.start is not None
    assert hunk.end is not None
    return hunk.start.line, hunk.end.line


def _from(rows: _Rows, row: int) -> _Rows:
    return rows[0] - row, rows[1] - row
