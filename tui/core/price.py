"""What tokens cost, and the names of service tiers."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tui.core.wire.events import Usage

_MILLION = 1_000_000


class Price(msgspec.Struct, frozen=True):
    """US dollars for a million tokens. Reasoning tokens are output tokens."""

    input: float
    output: float
    cached_input: float | None = None
    """Of input that was found in a cache; None: as ``input``."""

    def of(self, usage: Usage) -> float:
        """US dollars for one response."""
        cached = min(usage.cached_tokens or 0, usage.input_tokens)
        rate = self.input if self.cached_input is None else self.cached_input
        fresh = usage.input_tokens - cached
        total = fresh * self.input + cached * rate + usage.output_tokens * self.output
        return total / _MILLION


class Quote(msgspec.Struct, frozen=True):
    """What is known of one response."""

    usd: float | None = None
    """What it cost; None: its price is not known."""
    unknown: bool = False
    """It is charged for, and nobody here knows how much."""
    context_window: int | None = None
    """Tokens that its model takes, as the list of prices says; None: not known."""


SameTiers = Sequence[Sequence[str]]
"""Groups of names that mean the same tier."""


def names_of(tier: str, same: SameTiers) -> tuple[str, ...]:
    """All names of a tier, this one first."""
    group = next((names for names in same if tier in names), ())
    return tuple(dict.fromkeys([tier, *group]))
