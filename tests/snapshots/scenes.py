"""Every screen and state that is pictured, room by room."""

from __future__ import annotations

from tests.snapshots.rooms import (
    conversation,
    editor,
    first_run,
    painting,
    prompt,
    review,
    screens,
    standing,
)

SCENES = (
    *conversation.SCENES,
    *prompt.SCENES,
    *standing.SCENES,
    *editor.SCENES,
    *review.SCENES,
    *screens.SCENES,
    *first_run.SCENES,
    *painting.SCENES,
)
