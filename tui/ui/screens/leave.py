"""The question before leaving, when something would be left behind."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static


class LeaveScreen(ModalScreen[bool]):
    """True: leave; False: stay."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,1,ctrl+q", "leave(True)", show=False),
        Binding("n,2,escape,enter,ctrl+c", "leave(False)", show=False),
    ]

    def __init__(self, reasons: list[str]) -> None:
        """``reasons`` not to leave, each a sentence."""
        super().__init__()
        self._reasons = reasons

    def compose(self) -> ComposeResult:
        """The reasons and two choices."""
        with Vertical(id="leave-box"):
            yield Static("\n".join(self._reasons), id="leave-reasons", markup=False)
            yield Static("1 y  Leave\n2 n  Stay (Enter, Esc)", id="leave-choices", markup=False)

    def action_leave(self, leave: bool) -> None:
        """The answer."""
        self.dismiss(leave)
