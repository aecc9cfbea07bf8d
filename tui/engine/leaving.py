"""What would be left behind if duetto ended now, in words."""

from __future__ import annotations

from tui.core.inert_text import inert
from tui.engine.session import Session


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
        reasons.append(f"Not saved: {', '.join(map(inert, unsaved[:3]))}{more}.")
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
        reasons.append(f"A command still runs: {inert(status.running)}.")
    return reasons
