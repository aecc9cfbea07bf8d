"""How a command of the workspace ended: what a runner gives and the engine judges."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a command ended."""

    status: int | None
    """Exit status; negative: the signal; None: it could not be started."""
    seconds: float
    timed_out: bool = False
    stopped: bool = False
    error: str = ""
