"""The only source of time for the rest of the house."""

from __future__ import annotations

import time

_COUNTING_SLEEP = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""On Linux CLOCK_MONOTONIC stands still while a laptop is suspended; on macOS it does not."""


class MonotonicClock:
    """Seconds that only grow; they date frames, intents and deadlines alike."""

    def now(self) -> float:
        """Monotonic seconds, those of a suspended machine included."""
        return time.clock_gettime(_COUNTING_SLEEP)
