"""What the keys of the review do: decisions on the hunks that are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual.message import Message

from tui.core.document.decision_log import DecisionEntry
from tui.core.document.hunk import CUT_WAYS, TAKEN_BACK, Decision, Hunk, Stage
from tui.engine.intents import (
    Accept,
    OpenFile,
    PlaceHunk,
    RedoDecision,
    Reject,
    UndoDecision,
)
from tui.engine.session import Session
from tui.ui.messages import HunkShown, Wanted
from tui.ui.review.content import ReviewContent
from tui.ui.review.cursor import DiffCursor


class ReviewDecisions:
    """Decides on the chosen hunk or on many, and chooses the next one that waits."""

    def __init__(
        self,
        session: Session,
        content: ReviewContent,
        cursor: DiffCursor,
        say: Callable[[str], object],
        leave: Callable[[Message], object],
    ) -> None:
        """``say`` tells why nothing is done; ``leave`` closes the review with a message."""
        self._session = session
        self._content = content
        self._cursor = cursor
        self._say = say
        self._leave = leave

    # -- one hunk

    def accept(self) -> None:
        """Accept the chosen hunk, and choose the next one that waits; place an ambiguous one."""
        hunk = self._chosen()
        if hunk is not None and not self._place(hunk):
            self._session.submit(Accept((hunk.id,)))
            self._cursor.next_pending()

    def reject(self, words: str = "") -> None:
        """Reject the chosen hunk, and choose the next one that waits; the model gets the words."""
        if (hunk := self._chosen()) is not None:
            self._session.submit(Reject((hunk.id,), words))
            self._cursor.next_pending()

    def to_explain(self) -> Hunk | None:
        """The chosen hunk, if it may be rejected with words."""
        hunk = self._chosen()
        if hunk is not None and hunk.decision is not Decision.PENDING:
            self._say("This hunk is already decided; u undoes that.")
            return None
        return hunk

    def edit(self) -> str | None:
        """Go and edit the hunk in the editor; of one that is not there return the text to copy."""
        hunk = self._chosen()
        if hunk is not None and hunk.is_out:
            self._say("The hunk's text is copied: paste it where it belongs.")
            return hunk.agent or hunk.base
        if hunk is not None:
            self._leave(HunkShown(hunk.id, edit=hunk.decidable, review=True))
        return None

    def go(self) -> None:
        """Go to what is chosen in the editor; an ambiguous hunk is placed."""
        hunk, change, file = self._cursor.hunk, self._cursor.change, self._cursor.file
        if hunk is not None:
            if not self._place(hunk):
                self._leave(HunkShown(hunk.id))
        elif file is not None:
            line = change.first if change is not None else None
            self._leave(Wanted(OpenFile(file.path, line), enter=True))

    def _place(self, hunk: Hunk) -> bool:
        """Place an ambiguous hunk where it is shown; False if it is not ambiguous."""
        if not hunk.placeable:
            return False
        at = self._cursor.places.get(hunk.id, 0) % len(hunk.candidates)
        self._session.submit(PlaceHunk(hunk.id, hunk.candidates[at]))
        return True

    # -- many

    def decide_file(self, accept: bool) -> None:
        """Accept or reject what waits in this file."""
        self._decide(self._cursor.file.hunks if self._cursor.file is not None else (), accept)

    def decide_all(self, accept: bool) -> None:
        """Accept or reject all that waits among what is shown."""
        self._decide((hunk for file in self._cursor.files for hunk in file.hunks), accept)

    def _decide(self, hunks: Iterable[Hunk], accept: bool) -> None:
        if self._chosen(any_hunk=True) is None:
            return
        able = [hunk for hunk in hunks if hunk.decidable]
        whole = [hunk for hunk in able if not (accept and hunk.stage is Stage.CUT)]
        waiting = tuple(hunk.id for hunk in whole)
        if len(whole) < len(able):
            left = next(hunk for hunk in able if hunk not in whole)
            self._say(f"Hunk {left.id} was cut, and is left out: {CUT_WAYS}.")
        if waiting:
            self._session.submit(Accept(waiting) if accept else Reject(waiting))
            self._cursor.next_pending()
        elif not able:
            self._say("No hunk is waiting here.")

    def undo(self) -> None:
        """Take the last decision back, and choose what was decided on."""
        if self._chosen(any_hunk=True) is not None:
            hunk = self._cursor.hunk
            back = hunk.id if hunk is not None and hunk.reason == TAKEN_BACK else 0
            self._session.workspace.documents.decisions.bring_up(back)
            entry = self._session.workspace.last_decision()
            self._session.submit(UndoDecision(back))
            self._follow(entry)

    def redo(self) -> None:
        """Bring it back."""
        if self._chosen(any_hunk=True) is not None:
            entry = self._session.workspace.last_decision(again=True)
            self._session.submit(RedoDecision())
            self._follow(entry)

    def _follow(self, entry: DecisionEntry | None) -> None:
        """Choose what was decided on, where that is shown."""
        for hunk in entry.hunks if entry is not None else ():
            if self._cursor.choose_hunk(hunk.id):
                return

    def _chosen(self, *, any_hunk: bool = False) -> Hunk | None:
        """The chosen hunk (or the first there is); says so if nothing can be decided here."""
        if not self._content.decides:
            self._say("This diff is read-only; d goes back to the review.")
            return None
        hunk = self._cursor.hunk
        if hunk is None and any_hunk:
            hunk = next((hunk for file in self._cursor.files for hunk in file.hunks), None)
        return hunk
