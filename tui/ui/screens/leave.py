"""The question before leaving, when something would be left behind."""

from __future__ import annotations

from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.engine.session import Session
from tui.ui.rows import one_line

Choice = Literal["save", "leave", "stay"]
_CHOICES: tuple[tuple[Choice, str], ...] = (
    ("save", "s  Save, then leave"),
    ("leave", "y  Leave"),
    ("stay", "n  Stay (Enter, Esc)"),
)


class LeaveScreen(ModalScreen[Choice]):
    """Whether to leave, and whether to save before."""

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


def unsaved_paths(session: Session) -> list[str]:
    """Files whose text in the editor is not on the disk, and is not on its way there; sorted."""
    workspace, later = session.workspace, session.written_later()
    return sorted(
        path for path in workspace.buffers if workspace.is_dirty(path) and path not in later
    )


def reasons_to_stay(session: Session, draft: str) -> list[str]:
    """What would be left behind, in sentences that are safe to show."""
    status, reasons = session.status, []
    if unsaved := unsaved_paths(session):
        more = f" and {len(unsaved) - 3} more" if len(unsaved) > 3 else ""
        reasons.append(f"Not saved: {', '.join(map(one_line, unsaved[:3]))}{more}.")
    pending = sum(hunk.decidable for hunk in session.workspace.hunks)
    if pending:
        plural = "s" if pending > 1 else ""
        reasons.append(f"{pending} hunk{plural} not decided on; the files are as if rejected.")
    if draft.strip():
        reasons.append("A draft in the prompt is not sent.")
    if queued := len(status.queued):
        are = "s are" if queued > 1 else " is"
        reasons.append(f"{queued} queued prompt{are} not sent.")
    if status.busy:
        reasons.append("An answer is still streaming.")
    if status.running:
        reasons.append(f"A command still runs: {one_line(status.running)}.")
    return reasons
