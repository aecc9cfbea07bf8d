"""The only source of time for the rest of the house."""

from __future__ import annotations

import time


class MonotonicClock:
    """Seconds that only grow; they date frames, intents and deadlines alike."""

    def now(self) -> float:
        """Monotonic seconds."""
        return time.monotonic()
