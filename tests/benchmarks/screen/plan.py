"""What a run of the benchmark measures, and what it found: plain data."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from pathlib import Path

FRESH = "fresh"
"""The place that the others are compared with: a new conversation, no file open."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    rates: tuple[int, ...] = (1_000, 4_000, 10_000, 40_000)
    """Tokens a second; key echo and Esc are measured up to 10,000."""
    stream_s: float = 3.0
    """How long each stream lasts."""
    repeats: int = 2
    """Of what is measured in a new conversation; figures are medians over them."""
    presses: int = 8
    """Of Esc, at each rate."""
    starts: int = 5
    idle_s: float = 30.0
    """How long we are watched doing nothing; a peer at most `PEER_IDLE_S`."""
    edit_rate: int = 4_000
    edit_lines: int = 10_000
    long_lines: int = 50_000
    turns: int = 5_000
    """Of the long conversation."""
    long_tokens: int = 0
    """Of the session after which memory is measured again; 0: it is not."""
    peers: tuple[tuple[str, Path | None], ...] = ()
    """The clients of another make to measure beside us, with their programs if those are named."""
    only_stream: bool = False
    """No starts, keys, Esc and edits."""


FULL = Plan()
QUICK = Plan(
    rates=(1_000,),
    stream_s=0.8,
    repeats=1,
    presses=1,
    starts=1,
    idle_s=1.0,
    edit_lines=2_000,
    long_lines=0,
    turns=0,
)
LONG_TOKENS = 2_000_000
PEER_IDLE_S = 10.0
HIGHEST_KEY_RATE = 10_000


@dataclass(frozen=True, slots=True)
class Spot:
    """What a figure is of."""

    client: str
    figure: str
    """Its name, with its unit."""
    rate: int = 0
    """Tokens a second; 0: nothing streams."""
    place: str = FRESH


@dataclass(slots=True)
class Findings:
    """All figures of one run."""

    runs: dict[Spot, list[float]] = field(default_factory=dict)
    """The figure of each run."""
    troubles: list[str] = field(default_factory=list)
    """What could not be measured, a sentence each."""
    seconds: float = 0.0
    load: float = 0.0
    """Of the machine when it began: programs that wanted a processor."""
    plan: Plan = FULL

    def add(self, spot: Spot, value: float | None) -> None:
        """Keep a figure of one run."""
        if value is not None:
            self.runs.setdefault(spot, []).append(value)

    def value(self, spot: Spot) -> float | None:
        """The median over the runs; None: it was not measured."""
        runs = self.runs.get(spot)
        return statistics.median(runs) if runs else None
