"""One line of words for the model, with a rejection."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from tui.ui.stylesheets import sheet
from tui.ui.widgets.field import Field


class RejectReasonScreen(ModalScreen[str | None]):
    """Gives the words (perhaps none); None: the hunk is left as it is."""

    CSS_PATH = sheet("reject_reason")
    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "leave", show=False, priority=True)
    ]

    def compose(self) -> ComposeResult:
        """A field, and what it is for."""
        with Vertical(id="why"):
            yield Field(placeholder="what is wrong with it?")
            words = "The model reads it with your next message · Enter rejects · Esc leaves it"
            yield Static(words, markup=False, id="why-words")

    def action_leave(self) -> None:
        """Nothing is rejected."""
        self.dismiss(None)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value.strip())
