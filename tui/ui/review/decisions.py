"""What the keys of the review do: decisions on the hunks that are shown."""

from __future__ import annotations

from collections.abc import Iterable

from textual.message import Message
from textual.timer import Timer

from tui.core.edits.decisions import Entry
from tui.core.edits.hunk import Decision, Hunk
from tui.engine.intents import (
    Accept,
    Intent,
    OpenFile,
    PlaceHunk,
    RedoDecision,
    Reject,
    UndoDecision,
)
from tui.engine.session import Session
from tui.ui.keymap import bindings
from tui.ui.messages import HunkShown, Wanted
from tui.ui.review.looking import LookingScreen

_SAID_S = 5.0


class DecidingScreen(LookingScreen):
    """The actions of the scope "turn"."""

    BINDINGS = bindings("turn")

    session: Session
    said = ""
    """What is told now."""
    _said_timer: Timer | None = None

    @property
    def decides(self) -> bool:
        """True if hunks are shown; else a diff that is only looked at."""
        raise NotImplementedError

    def leave(self, message: Message | None = None) -> None:
        """Back to the workbench, which gets this message."""
        raise NotImplementedError

    def submit(self, intent: Intent) -> None:
        """Hand an intent to the engine."""
        self.session.submit(intent)

    # -- one hunk

    def action_accept_hunk(self) -> None:
        """Accept the chosen hunk, and choose the next one that waits."""
        hunk = self._deciding()
        if hunk is None or self._place(hunk):
            return
        self.submit(Accept((hunk.id,)))
        self.view.next_pending()

    def action_reject_hunk(self) -> None:
        """Reject the chosen hunk, and choose the next one that waits."""
        self.reject("")

    def reject(self, words: str) -> None:
        """Reject the chosen hunk; the model gets the words."""
        if (hunk := self._deciding()) is not None:
            self.submit(Reject((hunk.id,), words))
            self.view.next_pending()

    async def action_reject_why(self) -> None:
        """Ask why, then reject."""
        from tui.ui.review.why import WhyScreen

        hunk = self._deciding()
        if hunk is None:
            return
        if hunk.decision is not Decision.PENDING:
            self.say("This hunk is decided already; u takes that back.")
            return

        def answered(words: str | None) -> None:
            if words is not None and self.view.choose_hunk(hunk.id):
                self.reject(words)

        self.app.push_screen(WhyScreen(), answered)

    def action_edit_hunk(self) -> None:
        """Go and edit the hunk in the editor; copy the text of one that is not there."""
        hunk = self._deciding()
        if hunk is not None and hunk.is_out:
            self.app.copy_to_clipboard(hunk.agent or hunk.base)
            self.say("The hunk's text is copied: paste it where it belongs.")
        elif hunk is not None:
            self.leave(HunkShown(hunk.id, edit=hunk.decidable, review=True))

    def action_go(self) -> None:
        """Go to what is chosen in the editor; an ambiguous hunk is placed."""
        hunk, change, file = self.view.hunk, self.view.change, self.view.file
        if hunk is not None:
            if not self._place(hunk):
                self.leave(HunkShown(hunk.id))
        elif file is not None:
            line = change.first if change is not None else None
            self.leave(Wanted(OpenFile(file.path, line), enter=True))

    def _place(self, hunk: Hunk) -> bool:
        """Place an ambiguous hunk where it is shown; False if it is none."""
        if not hunk.placeable:
            return False
        at = self.view.places.get(hunk.id, 0) % len(hunk.candidates)
        self.submit(PlaceHunk(hunk.id, hunk.candidates[at]))
        return True

    # -- many

    def action_accept_file(self) -> None:
        """Accept what waits in this file."""
        self._decide(self.view.file.hunks if self.view.file is not None else (), accept=True)

    def action_reject_file(self) -> None:
        """Reject what waits in this file."""
        self._decide(self.view.file.hunks if self.view.file is not None else (), accept=False)

    def action_accept_all(self) -> None:
        """Accept all that waits among what is shown."""
        self._decide((hunk for file in self.view.files for hunk in file.hunks), accept=True)

    def action_reject_all(self) -> None:
        """Reject all that waits among what is shown."""
        self._decide((hunk for file in self.view.files for hunk in file.hunks), accept=False)

    def _decide(self, hunks: Iterable[Hunk], *, accept: bool) -> None:
        if self._deciding(any_hunk=True) is None:
            return
        waiting = tuple(hunk.id for hunk in hunks if hunk.decidable)
        if waiting:
            self.submit(Accept(waiting) if accept else Reject(waiting))
            self.view.next_pending()
        else:
            self.say("No hunk waits for a decision here.")

    def action_undo_decision(self) -> None:
        """Take the last decision back."""
        if self._deciding(any_hunk=True) is not None:
            entry = self.session.workspace.last_decision()
            self.submit(UndoDecision())
            self._follow(entry)

    def action_redo_decision(self) -> None:
        """Bring it back."""
        if self._deciding(any_hunk=True) is not None:
            entry = self.session.workspace.last_decision(again=True)
            self.submit(RedoDecision())
            self._follow(entry)

    def _follow(self, entry: Entry | None) -> None:
        """Choose what was decided on, where that is shown."""
        for hunk in entry.hunks if entry is not None else ():
            if self.view.choose_hunk(hunk.id):
                return

    def _deciding(self, *, any_hunk: bool = False) -> Hunk | None:
        """The chosen hunk (or the first there is); says so if nothing can be decided here."""
        if not self.decides:
            self.say("This diff is only looked at; d leads back to the review.")
            return None
        hunk = self.view.hunk
        if hunk is None and any_hunk:
            hunk = next((hunk for file in self.view.files for hunk in file.hunks), None)
        return hunk

    def update_bars(self) -> None:
        """Title, files and footer say what there is now."""
        raise NotImplementedError

    def say(self, words: str) -> None:
        """Tell something in the title, for a moment: a toast would cover what is looked at."""
        if self._said_timer is not None:
            self._said_timer.stop()
        self.said = words
        self._said_timer = self.set_timer(_SAID_S, lambda: self.say("")) if words else None
        self.update_bars()
