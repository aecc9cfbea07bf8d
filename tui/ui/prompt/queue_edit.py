"""A queued message whose text stands in the prompt, and the draft that stood there before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tui.ui.prompt.queued import place_of


@dataclass(frozen=True, slots=True)
class QueueEdit:
    """It stays queued as it was until the edited text is put back."""

    index: int
    """Where it stood when the edit began, 0-based."""
    text: str
    """As it is queued."""
    aside: str
    """The draft; it comes back when the edit ends."""

    def place(self, queued: Sequence[str]) -> int | None:
        """Where it stands now; None if it was sent or removed meanwhile."""
        return place_of(queued, self.index, self.text)
