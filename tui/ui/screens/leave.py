"""The question before leaving, when something would be left behind."""

from __future__ import annotations

from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.engine.session import reasons_to_stay as reasons_to_stay
from tui.engine.session import unsaved_paths as unsaved_paths
from tui.ui.stylesheets import sheet

Choice = Literal["save", "leave", "stay"]
_CHOICES: tuple[tuple[Choice, str], ...] = (
    ("save", "s  Save, then leave"),
    ("leave", "y  Leave"),
    ("stay", "n  Stay (Enter, Esc)"),
)


class LeaveScreen(ModalScreen[Choice]):
    """Whether to leave, and whether to save before."""

    CSS_PATH = sheet("leave")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "choose('save')", show=False),
        Binding("y,ctrl+q", "choose('leave')", show=False),
        Binding("n,escape,enter,ctrl+c", "choose('stay')", show=False),
    ]

    def __init__(self, reasons: list[str], *, unsaved: bool) -> None:
        """``reasons`` not to leave, each a sentence; ``unsaved``: saving would be of use."""
        super().__init__()
        self._reasons = reasons
        self._unsaved = unsaved

    def compose(self) -> ComposeResult:
        """The reasons and the choices."""
        choices = [words for choice, words in _CHOICES if self._unsaved or choice != "save"]
        with Vertical(id="leave-box"):
            yield Static("\n".join(self._reasons), id="leave-reasons", markup=False)
            yield Static("\n".join(choices), id="leave-choices", markup=False)

    def action_choose(self, choice: Choice) -> None:
        """The answer."""
        if choice != "save" or self._unsaved:
            self.dismiss(choice)
