"""What a turn is about, and how it can end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tui.engine.intents import Effort, Role
from tui.engine.ports import RoleSpec

GO_ON = "say “go on” to let it continue"
CUTS = {
    "max_output_tokens": "it reached the model's output limit",
    "content_filter": "the server's content filter cut it",
    "interrupted": "the server interrupted it",
    "steered": "the server cut it for another instruction",
}
"""Why an answer is incomplete -> that in words."""
Outcome = Literal["completed", "interrupted", "failed"]


@dataclass(frozen=True, slots=True)
class Errand:
    """What a turn is about."""

    number: int
    text: str
    spec: RoleSpec
    effort: Effort | None
    tier: str
    """Service tier; empty: the server's own choice."""
    throttle: float | None
    round_limit: int

    @property
    def role(self) -> Role:
        """Who answers."""
        return self.spec.role
