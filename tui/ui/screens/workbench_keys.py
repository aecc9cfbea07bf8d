"""What the keys of the workbench do."""

from __future__ import annotations

from collections.abc import Callable

from textual import events

from tui.core.edits.hunk import Hunk
from tui.engine.intents import (
    Accept,
    Against,
    Intent,
    Interrupt,
    SendFailure,
    SetEffort,
    StopCommand,
    StopDeciding,
    Switch,
    UndoTurn,
    Verify,
)
from tui.engine.notices import Notices
from tui.engine.slash import EFFORTS
from tui.ui.conversation.transcript import TranscriptPane
from tui.ui.keymap import bindings
from tui.ui.screens.workbench_panes import WorkbenchPanes

_QUIT_WINDOW_S = 2.0
"""A second Ctrl+C within it leaves."""


class WorkbenchKeys(WorkbenchPanes):
    """The other actions of the scope "global"; `Workbench` adds the widgets."""

    BINDINGS = bindings("global")

    transcript: TranscriptPane
    _quit_until_s = 0.0
    over: Callable[[Notices], None] | None = None
    """Takes up what changed while a screen lies over this one."""
    _edited = 0
    """The hunk that was opened for editing; 0: none."""
    _edited_in_review = False
    """It was opened from the review of the turn."""

    def submit(self, intent: Intent) -> None:
        """Hand an intent to the engine."""
        self.session.submit(intent)

    def on_key(self, event: events.Key) -> None:
        """What is typed while nothing has the focus (the window was too small) is the prompt's."""
        if self.focused is None and event.is_printable and event.character:
            event.stop()
            self.prompt_box.focus_prompt(event.character)

    @property
    def stoppable(self) -> bool:
        """An answer streams, or is waited for."""
        status = self.session.status
        return status.busy or status.retry_s is not None

    def disarm_quit(self) -> None:
        """The next Ctrl+C is a first one again."""
        self._quit_until_s = 0.0

    def decide(self, accept: bool) -> None:
        """Accept or reject all that is pending."""
        raise NotImplementedError

    def action_interrupt(self) -> None:
        """Stop first, always; else deciding, or a running command; else close what is open."""
        if self.stoppable:
            self.submit(Interrupt())
        elif self.session.status.deciding:
            self.submit(StopDeciding())
        elif self.session.status.running:
            self.submit(StopCommand())
        elif not any(leave() for leave in self._ways_out()):
            self.app.clear_notifications()
            self.prompt_box.focus_prompt()

    def _ways_out(self) -> tuple[Callable[[], bool], ...]:
        """What Esc closes when nothing streams, one at a time."""
        editor, box = self.editor, self.prompt_box
        closing = (box.refuse, box.leave_edit, editor.dock.leave, editor.find.close)
        first = (box.close_list, self.transcript.close_search)
        return *first, *closing, self.leave_guide

    def action_cancel(self) -> None:
        """Copy, else stop, else clear the draft, else (twice) leave."""
        if selected := str(getattr(self.focused, "selected_text", "")):
            self.app.copy_to_clipboard(selected)
        elif self.stoppable:
            self.submit(Interrupt())
        elif self.session.status.running:
            self.submit(StopCommand())
        elif not self.prompt_box.leave_edit() and not self.prompt_box.prompt.clear_draft():
            if self.session.now() < self._quit_until_s:
                self.app.call_later(self.app.action_quit)
                return
            self._quit_until_s = self.session.now() + _QUIT_WINDOW_S
            self.notify("Ctrl+C again leaves duetto.", timeout=_QUIT_WINDOW_S, markup=False)

    def action_accept(self) -> None:
        """Accept all pending hunks."""
        self.decide(True)

    def action_reject(self) -> None:
        """Reject all pending hunks."""
        self.decide(False)

    def edited_hunk(self) -> Hunk | None:
        """The hunk that was opened for editing, while it can be decided on."""
        roster = self.session.workspace.roster
        hunk = roster.by_id(self._edited) if self._edited in roster else None
        return hunk if hunk is not None and hunk.decidable else None

    def action_accept_edited(self) -> None:
        """Accept it, and go on with the review."""
        hunk, self._edited = self.edited_hunk(), 0
        if hunk is None:
            self.notify("e on a hunk opens it for editing; this accepts it.", markup=False)
            return
        self.submit(Accept((hunk.id,)))
        if self._edited_in_review and self.session.workspace.roster.has_waiting():
            self._look(None, "", after=hunk.id)
        elif self.transcript.selection.select_pending():
            self.set_focus(self.transcript)
        else:
            self.prompt_box.focus_prompt()

    def action_review(self) -> None:
        """Go to the next pending hunk."""
        if self.transcript.selection.select_pending():
            self.set_focus(self.transcript)
        else:
            self.notify("No hunk waits for a decision.", timeout=3, markup=False)

    def action_review_turn(self) -> None:
        """Review the whole turn, on a screen of its own."""
        self._look(None, "")

    def show_diff(self, against: Against, path: str) -> None:
        """Show a file, or all that differ, against something."""
        self._look(against, path)

    def _look(self, against: Against | None, path: str, *, after: int = 0) -> None:
        from tui.ui.review.screen import ReviewScreen

        if isinstance(self.app.screen, ReviewScreen):
            if against is not None:
                self.app.screen.show_diff(against, path)
            return
        screen = ReviewScreen(self.session, self.post_message, against=against, path=path)
        screen.after = after
        self.over = screen.sync
        self.app.push_screen(screen, self._looked)

    def _looked(self, result: object) -> None:
        """The screen over this one was left."""
        self.over = None

    def action_queue(self) -> None:
        """Go to the queued messages."""
        if not self.prompt_box.focus_queue():
            self.notify("Nothing is queued; Tab queues while an answer streams.", markup=False)

    def action_undo_turn(self) -> None:
        """Take the model's last turn back."""
        self.submit(UndoTurn())

    def action_switch(self) -> None:
        """The other model."""
        self.submit(Switch("deep" if self.session.status.role == "fast" else "fast"))

    def action_effort(self) -> None:
        """The next effort."""
        status = self.session.status
        now = status.efforts.get(status.role)
        levels = [one for one in EFFORTS if one != "none"]  # which not every model can
        at = levels.index(now) + 1 if now in levels else 1
        self.submit(SetEffort(levels[at % len(levels)]))

    def action_verify(self) -> None:
        """Run the tests; their output comes in the conversation."""
        self.submit(Verify())
        if not self.in_editor(self.focused):
            self.panes.show("conversation")

    def action_send_failure(self) -> None:
        """Tell the model what failed."""
        self.submit(SendFailure())
