"""Names of service tiers: some providers have two for one."""

from __future__ import annotations

from collections.abc import Sequence

SameTiers = Sequence[Sequence[str]]
"""Groups of names that mean the same tier."""


def names_of(tier: str, same: SameTiers) -> tuple[str, ...]:
    """All names of a tier, this one first."""
    group = next((names for names in same if tier in names), ())
    return tuple(dict.fromkeys([tier, *group]))
