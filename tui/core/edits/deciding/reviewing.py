"""What a user does with hunks: the part of the workspace that decides, and undoes decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tui.core.edits.deciding import placing, reversal, review
from tui.core.edits.decisions import Entry
from tui.core.edits.disk.disk_plan import settle
from tui.core.edits.hunk import Hunk
from tui.core.edits.ledger import Ledger
from tui.core.edits.roster import Roster
from tui.core.steps import Work, finished


def _nothing(hunks: Sequence[Hunk], whole: bool) -> None:
    """Before somebody reviews, nobody is told that a patch has ended."""


class Reviewing:
    """Decisions on the hunks of a ledger; the workspace is one (`workspace.Workspace`)."""

    ledger: Ledger
    roster: Roster
    on_landed: Callable[[Sequence[Hunk], bool], None] = staticmethod(_nothing)
    """Called with the hunks of a patch that ended, and whether all of it came."""

    @property
    def model_turns(self) -> list[int]:
        """Turns of which something can be taken back, oldest first."""
        ledger = self.ledger
        return sorted({hunk.turn for hunk in ledger.hunks if review.is_undoable(ledger, hunk)})

    @property
    def last_turn(self) -> int:
        """The last turn of which something can be taken back; 0: there is none."""
        ledger = self.ledger
        able = (hunk.turn for hunk in reversed(ledger.hunks) if review.is_undoable(ledger, hunk))
        return next(able, 0)

    def accept(self, hunk_ids: Iterable[int] | None = None) -> list[str]:
        """Accept hunks (None: all decidable); returns the paths to write, in order."""
        return finished(self.accepting(hunk_ids))

    def accepting(self, hunk_ids: Iterable[int] | None = None) -> Work[list[str]]:
        """The same, with a pause after each hunk."""
        chosen = yield from self.roster.chosen(hunk_ids)
        with self.ledger.decisions.entry(Entry("accept")):
            return (yield from review.accept(self.ledger, chosen))

    def reject(
        self, hunk_ids: Iterable[int] | None = None, words: str = "", *, whole: bool = False
    ) -> list[str]:
        """Reject hunks (None: all decidable); returns paths to write, usually none.

        What the user typed in them stays; where it does not fit, the hunk is in conflict and
        pending. ``whole``: it goes with the hunk, a new file with all that is in it;
        `undo_decision` brings it back.
        """
        return finished(self.rejecting(hunk_ids, words, whole=whole))

    def rejecting(
        self, hunk_ids: Iterable[int] | None = None, words: str = "", *, whole: bool = False
    ) -> Work[list[str]]:
        """The same, with a pause after each hunk."""
        chosen = yield from self.roster.chosen(hunk_ids)
        with self.ledger.decisions.entry(Entry("reject", words, whole=whole)) as entry:
            paths = yield from review.reject(self.ledger, chosen, words, whole=whole)
        self._settle(entry)
        return paths

    def place(self, hunk_id: int, line: int) -> None:
        """Put an ambiguous hunk (and its section) at one of its candidates, a 0-based line.

        Raises:
            EditRefused: it cannot be placed there.
        """
        hunk = self.roster.by_id(hunk_id)
        with self.ledger.decisions.entry(Entry("place")):
            placing.place(self.ledger, hunk, line)

    def undo_turn(self, turn: int | None = None) -> list[str]:
        """Take a model's turn back (None: the last); returns the paths to write."""
        return finished(self.undoing_turn(turn))

    def undoing_turn(self, turn: int | None = None) -> Work[list[str]]:
        """The same, with a pause after each hunk."""
        turn = self.last_turn if turn is None else turn
        if not turn:
            return []
        with self.ledger.decisions.entry(Entry("turn", turn=turn)) as entry:
            paths = yield from review.undo_turn(self.ledger, turn)
        self._settle(entry)
        return paths

    def _settle(self, entry: Entry) -> None:
        """After hunks went: see `disk_plan.settle`."""
        for path in {hunk.path for hunk in entry.hunks}:
            if (record := self.ledger.records.get(path)) is not None:
                settle(self.ledger, record)

    def undo_decision(self) -> list[str]:
        """Undo the last decision; returns the paths to write.

        What cannot be undone, as its lines were changed since, stays as it is: `stays` says why.

        Raises:
            EditRefused: there is none, or nothing of it can be undone; the next try passes over
                it.
        """
        return finished(self.undoing_decision())

    def undoing_decision(self) -> Work[list[str]]:
        """The same, with a pause after each hunk."""
        paths, self.ledger.decisions.stays = yield from reversal.undo_decision(self.ledger)
        return paths

    def redo_decision(self) -> list[str]:
        """Decide again what was undone, or bring back a turn that was taken back.

        Returns:
            The paths to write.

        Raises:
            EditRefused: there is nothing, or nothing of it can be done again.
        """
        return finished(self.redoing_decision())

    def redoing_decision(self) -> Work[list[str]]:
        """The same, with a pause after each hunk."""
        paths, self.ledger.decisions.stays = yield from reversal.redo_decision(self.ledger)
        return paths

    def last_decision(self, *, again: bool = False) -> Entry | None:
        """What `undo_decision` (or `redo_decision`) would be about; None: there is nothing."""
        return self.ledger.decisions.last(again=again)

    def may_be_taken_as_read(self, hunk: Hunk) -> bool:
        """True if nobody need look at a hunk before it is accepted (EDITS.md section 8)."""
        return review.may_be_taken_as_read(self.ledger, hunk)

    def typed_in(self, hunks: Iterable[Hunk]) -> list[Hunk]:
        """Of these the files a model made that the user typed in."""
        return [hunk for hunk in hunks if review.is_typed_in(self.ledger, hunk)]
