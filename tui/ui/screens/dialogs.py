"""Small questions over a screen: leave, perhaps saving before; why a hunk is rejected."""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from tui.core.document.hunk import Hunk, Kind, Stage
from tui.ui.stylesheets import sheet
from tui.ui.widgets.field import Field

Choice = Literal["save", "leave", "stay"]
_CHOICES: tuple[tuple[Choice, str], ...] = (
    ("save", "s  Save, then leave"),
    ("leave", "y  Leave"),
    ("stay", "n  Stay (Enter, Esc)"),
)


class LeaveScreen(ModalScreen[Choice]):
    """Whether to leave, and whether to save before."""

    CSS_PATH = sheet("dialogs")
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


class Rejection(NamedTuple):
    """Why a hunk is rejected."""

    words: str
    redo: bool = False
    """It is to be redone now; else the words go with the next message."""


class RejectReasonScreen(ModalScreen[Rejection | None]):
    """Gives the words (perhaps none); None: the hunk is left as it is."""

    CSS_PATH = sheet("dialogs")
    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "leave", show=False, priority=True),
        Binding("alt+enter,ctrl+t", "redo", show=False, priority=True),
    ]

    def __init__(self, hunk: Hunk) -> None:
        super().__init__()
        self._can_redo = hunk.stage is Stage.LANDED and hunk.kind in (Kind.EDIT, Kind.ADD)

    def compose(self) -> ComposeResult:
        """A field, and what it is for."""
        with Vertical(id="why"):
            yield Field(placeholder="what is wrong with it?")
            redo = " · Alt+Enter redoes now" * self._can_redo
            words = f"Enter rejects, with your next message{redo} · Esc leaves it"
            yield Static(words, markup=False, id="why-words")

    def action_leave(self) -> None:
        """Nothing is rejected."""
        self.dismiss(None)

    def action_redo(self) -> None:
        """These words are sent now."""
        if self._can_redo and (words := self.query_one(Field).value.strip()):
            self.dismiss(Rejection(words, redo=True))

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(Rejection(event.value.strip()))
