"""The hunk cards of the conversation: one is selected, the keys of the scope "review" act on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tui.core.edits.hunk import Decision, Hunk, Stage
from tui.engine.intents import (
    Accept,
    Place,
    RedoDecision,
    Reject,
    UndoDecision,
)
from tui.engine.session import Session
from tui.ui.conversation.layout import Stop
from tui.ui.conversation.pane import TranscriptPane
from tui.ui.conversation.views import Focus
from tui.ui.messages import HunkSelected, HunkShown, Wanted


class HunkPane(TranscriptPane):
    """Selecting hunks and deciding on them."""

    def __init__(self, session: Session, *, root: str = "", id: str | None = None) -> None:
        super().__init__(session, root=root, id=id)
        self._session = session
        self._candidate = 0
        self._opened = False
        """The selected hunk's text is shown in its card."""
        self._has_keys = False

    def select_pending(self) -> bool:
        """Select the next hunk that waits for a decision; False if there is none."""
        here = self.rows.chosen if self.marked is not None else -1
        stop = next(self._waiting(here), None) or next(self._waiting(-1), None)
        self._select(stop)
        return stop is not None

    def has_waiting(self) -> bool:
        """True if a hunk waits for the user."""
        return self._session.workspace.roster.has_waiting()

    def return_to(self, path: str, line: int) -> bool:
        """Select the hunk that wrote a line (0-based), else stay at what was selected last.

        False if no card wrote it.
        """
        hunk = newest_at(self._session.workspace.roster.hunks, path, line)
        calls = () if hunk is None else (hunk.call_id,)
        stop = next(self.rows.stops_of_hunks(lambda one: one is hunk, calls), None)
        if stop is not None:
            self._select(stop)
        elif self.marked is not None:
            self.show_row(self.rows.chosen)
        if stop is None:
            self.notify("No card wrote this line; this is where you were.", markup=False)
        return stop is not None

    def selected_hunk(self) -> Hunk | None:
        """The hunk that the review keys act on."""
        if self.marked is None or self.marked.kind != "hunk":
            return None
        return _hunk(self._session, self.marked.key)

    def action_accept_hunk(self) -> None:
        """Accept the selected hunk; an ambiguous one is placed at the chosen candidate."""
        hunk = self.selected_hunk()
        if hunk is None:
            return
        if self._place(hunk):
            return
        self.post_message(Wanted(Accept((hunk.id,))))
        self.action_next_hunk(waiting=True)

    def action_reject_hunk(self) -> None:
        """Reject the selected hunk."""
        if (hunk := self.selected_hunk()) is not None:
            self.post_message(Wanted(Reject((hunk.id,))))
            self.action_next_hunk(waiting=True)

    def action_reject_why(self) -> None:
        """Reject the selected hunk with words for the model."""
        from tui.ui.review.why import WhyScreen

        hunk = self.selected_hunk()
        if hunk is None:
            return

        def answered(words: str | None) -> None:
            if words is not None:
                self.post_message(Wanted(Reject((hunk.id,), words)))
                self.action_next_hunk(waiting=True)

        self.app.push_screen(WhyScreen(), answered)

    def action_accept_all(self) -> None:
        """Accept every decidable hunk."""
        self.post_message(Wanted(Accept()))

    def action_reject_all(self) -> None:
        """Reject every decidable hunk."""
        self.post_message(Wanted(Reject()))

    def action_undo_decision(self) -> None:
        """Take the last decision back."""
        self.post_message(Wanted(UndoDecision()))

    def action_redo_decision(self) -> None:
        """Decide again what was taken back last."""
        self.post_message(Wanted(RedoDecision()))

    def action_next_hunk(self, waiting: bool = False) -> None:
        """Select the hunk below; ``waiting``: the next one that waits for a decision."""
        here = self.rows.chosen
        stops = self._waiting(here) if waiting else self.rows.stops(here + 1)
        self._select(next((stop for stop in stops if stop.target.kind == "hunk"), None))

    def action_previous_hunk(self) -> None:
        """Select the hunk above."""
        above = self.rows.stops(self.rows.chosen, back=True)
        self._select(next((stop for stop in above if stop.target.kind == "hunk"), None))

    def action_edit_hunk(self) -> None:
        """Go and edit the hunk's text in the editor."""
        hunk = self.selected_hunk()
        if hunk is not None and hunk.is_out:
            self.app.copy_to_clipboard(hunk.agent or hunk.base)
            self.notify("The hunk's text is copied: paste it where it belongs.", markup=False)
        elif hunk is not None:
            self.post_message(HunkShown(hunk.id, edit=True))

    def action_next_candidate(self, step: int = 1) -> None:
        """Choose another place for an ambiguous hunk, and show it in the editor."""
        hunk = self.selected_hunk()
        if hunk is not None and hunk.placeable:
            self._candidate = (self._candidate + step) % len(hunk.candidates)
            self._refocus(hunk.id)
            self.post_message(_selected(hunk, self._candidate))

    def _waiting(self, here: int) -> Iterator[Stop]:
        """The rows of hunks that wait for the user, below a row."""
        calls = self._session.workspace.roster.calls_waiting()
        stops = self.rows.stops_of_hunks(_is_waiting, calls, here + 1)
        return (stop for stop in stops if stop.row > here)

    def _place(self, hunk: Hunk) -> bool:
        """Put an ambiguous hunk at the chosen place; False if it is none."""
        if hunk.placeable:
            line = hunk.candidates[self._candidate % len(hunk.candidates)]
            self.post_message(Wanted(Place(hunk.id, line)))
        return hunk.placeable

    def _open(self, hunk: Hunk) -> bool:
        """Show or hide the text of a hunk that is not in the buffer; False if it is there."""
        if hunk.is_out:
            self._peek(hunk)
        return hunk.is_out

    def _peek(self, hunk: Hunk) -> None:
        """Show or hide what a hunk takes away and puts there."""
        self._opened = not self._opened
        self._refocus(hunk.id)

    def _select(self, stop: Stop | None) -> None:
        """Have the keys act on this one; nothing changes if there is none."""
        if stop is None:
            return
        if stop.target != self.marked:
            self._candidate, self._opened = 0, False
        self.marked, self.rows.chosen = stop.target, stop.row
        self._refocus(stop.target.key if stop.target.kind == "hunk" else 0)
        self.show_row(self.rows.chosen)
        if (hunk := self.selected_hunk()) is not None:
            self.post_message(_selected(hunk, self._candidate))

    def _refocus(self, hunk_id: int) -> None:
        """The card of this hunk says what the keys do."""
        self.scene.focus = Focus(hunk_id, self._candidate, self._opened, self._has_keys)
        self.rows.refocus()
        self.settle()  # the card has a row more or less
        self.refresh()


def newest_at(hunks: Sequence[Hunk], path: str, line: int) -> Hunk | None:
    """The hunk that wrote this line last, or took lines out of it; None: none did."""
    for hunk in reversed(hunks):
        if hunk.path != path or hunk.start is None or hunk.decision is Decision.REJECTED:
            continue
        end = hunk.end.line if hunk.end is not None else hunk.start.line
        if hunk.start.line <= line < max(end, hunk.start.line + 1):
            return hunk
    return None


def _hunk(session: Session, hunk_id: int) -> Hunk | None:
    roster = session.workspace.roster
    return roster.by_id(hunk_id) if hunk_id in roster else None


def _is_waiting(hunk: Hunk) -> bool:
    undecided = hunk.decision is Decision.PENDING
    open_question = hunk.stage in (Stage.CANDIDATES, Stage.CONFLICT)
    return hunk.decidable or (undecided and open_question)


def _selected(hunk: Hunk, candidate: int) -> HunkSelected:
    """The editor shall show this hunk; an ambiguous one at one of its places."""
    places = hunk.candidates if hunk.placeable else ()
    return HunkSelected(hunk.id, places[candidate % len(places)] if places else None)
