"""What one check of ``duetto doctor`` found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "fix", "unreachable"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    check: str
    state: State
    text: str
    advice: str = ""
    """What to do, empty if nothing is to be done."""
    round_trip_ms: float | None = None
    facts: Mapping[str, object] | None = None
    """What is known of an endpoint, for programs."""
