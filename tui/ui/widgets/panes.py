"""Conversation, editor and prompt: beside each other, or one pane at a time over the prompt.

Where it is very wide the turn's map stands beside the editor.

Where it is narrow one of conversation and editor takes the width and the prompt stays under it,
with the focus, whichever it is. The pane changes by itself at two moments only: a prompt that is
sent, or a test run that is started from it, shows the conversation, and the first edit of an
answer that lands shows the editor, where it stays. A pane that the user chose stays until the
next prompt.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from tui.ui.conversation.transcript import TranscriptPane
from tui.ui.editor.pane import EditorPane
from tui.ui.prompt.box import PromptBox
from tui.ui.review.turn_map import TurnMap

Pane = Literal["conversation", "editor"]

NARROW_COLUMNS = 100
"""Below it one pane takes the width."""
DIVIDED_COLUMNS = 160
"""The same while the editor pane is divided into two sides."""
_TIGHT_COLUMNS = 116
"""Below it the conversation gets more than its two fifths: it needs 46 columns."""
WIDE_COLUMNS = 200
"""From it on the turn's map is a third column."""


class Panes(Vertical):
    """Arranges the three; what they do is theirs."""

    def __init__(
        self,
        transcript: TranscriptPane,
        prompt_box: PromptBox,
        editor: EditorPane,
        turn_map: TurnMap,
    ) -> None:
        super().__init__(id="panes")
        self.turn_map = turn_map
        self.shown: Pane = "conversation"
        """The pane that has the width where there is one; the last one used elsewhere."""
        self.narrow = False
        self.on_fitted: Callable[[], None] = lambda: None
        """Called when there is room for more or for less."""
        self._chosen = False
        """The user chose the pane: nothing else changes it before the next prompt."""
        self._divided = False
        self._parts = (transcript, prompt_box, editor)

    def compose(self) -> ComposeResult:
        """The editor is docked to the right where there is room for both."""
        self._fit(self.app.size.width)  # the first frame, too, has the panes that it will have
        transcript, prompt_box, editor = self._parts
        with Vertical(id="editor-side"):
            yield editor
            yield self.turn_map
        yield transcript
        yield prompt_box

    def on_resize(self, event: events.Resize) -> None:
        """One pane or two."""
        self._fit(event.size.width)
        self.on_fitted()

    def divide(self, divided: bool) -> None:
        """Two editors side by side need more room."""
        self._divided = divided
        self._fit(self.size.width)

    def in_sight(self, pane: Pane) -> bool:
        """True if the pane is on the screen."""
        return not self.narrow or self.shown == pane

    def show(self, pane: Pane) -> None:
        """Where one pane takes the width: this one."""
        self.shown = pane
        self.set_class(pane == "editor", "-editor")

    def _fit(self, width: int) -> None:
        self.narrow = width < (DIVIDED_COLUMNS if self._divided else NARROW_COLUMNS)
        self.set_class(self.narrow, "-narrow")
        self.set_class(width < _TIGHT_COLUMNS, "-tight")
        self.set_class(width >= WIDE_COLUMNS, "-wide")

    def choose(self, pane: Pane) -> None:
        """The user wants to see this pane."""
        self._chosen = True
        self.show(pane)

    def sent(self) -> None:
        """The user sent something: the answer comes in the conversation."""
        self._chosen = False
        self.show("conversation")

    def landed(self) -> None:
        """An edit lands in the editor."""
        if not self._chosen and self.shown != "editor":
            self.show("editor")
