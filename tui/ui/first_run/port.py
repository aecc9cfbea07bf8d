"""What the first-run screen needs of the outside; `tui.cli.first_run` gives it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

from tui.engine.connecting import FoundHere, ModelSource

Choice = Literal["practice", "connected", "here", "look"]
"""The practice with the guide, a model was connected, this folder with the rehearsal, or nothing:
what lies under the screen stays."""


class Port(Protocol):
    """The outside of one first run."""

    here: str
    """The current folder, as people write paths; empty: it cannot be opened."""
    under: Literal["practice", "here"]
    """What lies under the screen."""

    async def look(self, tell: Callable[[FoundHere], None]) -> tuple[ModelSource, ...]:
        """Look around this machine; each thing is told as soon as it is known. Never raises."""

    def choose(self, choice: Choice) -> None:
        """This is how it goes on when the screen is gone."""
