"""How much is measured."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = ("openai-responses", "openai-chat", "anthropic")
"""The kinds that speak HTTP: each is compared with its upstream asked directly."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one run does."""

    quick: bool = False
    kinds: tuple[str, ...] = KINDS
    starts: int = 7
    turns: int = 120
    """Turns of one token each, direct and through the bridge in turn."""
    streams: int = 200
    tokens_s: int = 50
    """Of each stream."""
    stream_s: float = 10.0
    idle_sockets: int = 1000
    interrupts: int = 40
    burst_tokens: int = 20_000
    """Of one answer without pace."""


FULL = Plan()
QUICK = Plan(
    quick=True,
    kinds=("openai-chat",),
    starts=3,
    turns=30,
    streams=50,
    stream_s=3.0,
    idle_sockets=100,
    interrupts=10,
    burst_tokens=5_000,
)
"""Some ten seconds, and rough."""
