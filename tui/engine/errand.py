"""What a turn is about, and how it can end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tui.engine.intents import Effort, Role
from tui.engine.ports import RoleSpec

Outcome = Literal["completed", "interrupted", "failed"]


@dataclass(frozen=True, slots=True)
class Errand:
    """What a turn is about."""

    number: int
    text: str
    spec: RoleSpec
    effort: Effort | None
    throttle: float | None
    round_limit: int

    @property
    def role(self) -> Role:
        """Who answers."""
        return self.spec.role
