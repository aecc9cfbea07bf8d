"""The conversation: reading, folding and reviewing it with keys and mouse.

A stop is a row on which something can be done: a hunk, a place in a file, a fold. The keys act
on the selected one.
"""

from __future__ import annotations

from textual import events

from tui.engine.intents import (
    OpenFile,
)
from tui.engine.session import Session
from tui.ui.conversation.copy_pane import CopyPane
from tui.ui.conversation.layout import Stop
from tui.ui.keymap import actions, bindings
from tui.ui.messages import HunkShown, PromptWanted, Wanted
from tui.ui.rows import Target

_TALKING, _REVIEWING = actions("conversation"), actions("review")


class Transcript(CopyPane, can_focus=True):
    """The conversation of one session."""

    BINDINGS = bindings("conversation", "review")

    def __init__(self, session: Session, *, root: str = "", id: str | None = None) -> None:
        super().__init__(session, root=root, id=id)
        self._leaving = False
        """Something was typed: the focus is on its way to the prompt."""

    def on_focus(self) -> None:
        """The keys need something to act on: the next pending hunk, else the last stop."""
        self._leaving = False
        self._has_keys = True
        if self.marked is not None:
            self._refocus(self.scene.focus.hunk_id)
        elif not self.select_pending():
            stop = next(self.rows.stops(self.rows.total, back=True), None)
            if stop is not None and stop.row >= self.top:
                self._select(stop)

    def on_blur(self) -> None:
        """The keys go elsewhere: the card does not promise them any more."""
        self._has_keys = False
        if self.marked is not None:
            self._refocus(self.scene.focus.hunk_id)

    def on_click(self, event: events.Click) -> None:
        """Act on the row; on the hint: go to the end."""
        if self.at_hint(event.y):
            self.go_to(self.rows.total)
            return
        number = self.top + event.y
        row = self.rows.row(number)
        if row is not None and row.target is not None:
            self._select(next(self.rows.stops(number + 1, back=True), None))
            self.action_activate()
        elif row is not None:
            self._select_said(number)

    def _select_said(self, number: int) -> None:
        """A click into a message selects it, for the keys that copy."""
        index = self.rows.pages.view_at(number)
        if index >= 0 and self._is_said(self.rows.views[index]):
            self._select(Stop(number, index, Target("message", index)))

    def on_key(self, event: events.Key) -> None:
        """What is typed here belongs into the prompt.

        Keys that come before the focus has moved go there too, whatever they mean here.
        """
        typed = event.character if event.is_printable else None
        if self._leaving and event.key == "enter":
            typed = "\n"
        ours = event.key in _TALKING or event.key in _REVIEWING
        if typed and (self._leaving or not ours):
            self._leaving = True
            event.stop()
            event.prevent_default()
            self.post_message(PromptWanted(typed))

    # -- actions of the scope "conversation"

    def action_prompt(self) -> None:
        """Back to the prompt."""
        self.post_message(PromptWanted())

    def action_activate(self) -> None:
        """Unfold, open the place, or show the hunk."""
        target, hunk = self.marked, self.selected_hunk()
        if target is None or (hunk is not None and (self._place(hunk) or self._open(hunk))):
            return
        if target.kind in ("fold", "file"):
            self.rows.toggle(target.key, target.path)
            self.go_to(self.top)
        elif target.kind == "card":
            self.action_prompt()
        elif target.kind in ("code", "message"):
            self.action_copy_block()
        elif target.kind == "place":
            opened = OpenFile(target.path, target.line, target.col)
            self.post_message(Wanted(opened, enter=True))
        elif target.kind == "hunk":
            self.post_message(HunkShown(target.key))

    def action_peek(self) -> None:
        """Show the selected hunk's lines in its card; do what Enter does on anything else."""
        if (hunk := self.selected_hunk()) is not None:
            self._peek(hunk)
        else:
            self.action_activate()

    def action_previous_stop(self) -> None:
        """Select the stop above, or scroll where there is none."""
        self._step_stop(back=True)

    def action_next_stop(self) -> None:
        """Select the stop below, or scroll where there is none."""
        self._step_stop(back=False)

    def _step_stop(self, *, back: bool) -> None:
        """From what is selected, while it is in sight; else from what is seen."""
        top, height = self.top, self.size.height
        if self.marked is not None and top <= self.rows.chosen < top + height:
            start, seen = self.rows.chosen + (not back), None
        else:
            start, seen = (top + height, top) if back else (top, top + height)
        stop = next(self.rows.stops(start, back=back), None)
        far = stop is not None and seen is not None and (stop.row < seen) == back
        if stop is None or far:
            self.go_to(top + (-1 if back else 1))
        else:
            self._select(stop)
