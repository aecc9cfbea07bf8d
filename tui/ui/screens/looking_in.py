"""A lane's conversation while it works: to look into, not to take part in."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from tui.engine.notices import Notices
from tui.engine.session import Session
from tui.ui.conversation.transcript import TranscriptPane
from tui.ui.painting.screen import PaintedScreen
from tui.ui.styled_text import one_line


class LookingIn(PaintedScreen):
    """The conversation of a lane fills the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,ctrl+c", "leave", show=False, priority=True)
    ]

    def __init__(self, session: Session, title: str, root: str) -> None:
        super().__init__()
        self._pane = TranscriptPane(session, root=root)
        self._pane.styles.height = "1fr"
        self._title = one_line(title)

    def compose(self) -> ComposeResult:
        """Who it is, what it says, and the way back."""
        for words in (self._title, " Esc back"):
            bar = Static(words, markup=False)
            bar.styles.dock, bar.styles.height = "top" if words == self._title else "bottom", 1
            yield bar
        yield self._pane

    def on_mount(self) -> None:
        """It scrolls by its own keys."""
        self._pane.focus()

    def on_resize(self, event: events.Resize) -> None:
        """It is laid out anew."""
        self.sync(Notices(transcript_from=0))

    def sync(self, notices: Notices) -> None:
        """Something changed in the lane."""
        self._pane.sync(notices)

    def action_leave(self) -> None:
        """Back."""
        self.dismiss(None)
