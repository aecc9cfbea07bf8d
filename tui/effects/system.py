"""The system that duetto runs on: its clock, the only source of time, and its memory."""

from __future__ import annotations

import sys
import time

_COUNTING_SLEEP = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""On Linux CLOCK_MONOTONIC stands still while a laptop is suspended; on macOS it does not."""


class MonotonicClock:
    """Seconds that only grow; they date frames, intents and deadlines alike."""

    def now(self) -> float:
        """Monotonic seconds, those of a suspended machine included."""
        return time.clock_gettime(_COUNTING_SLEEP)


def give_back() -> None:
    """Have the C library return what it keeps of freed memory; does nothing where it cannot.

    Takes some milliseconds, without the interpreter's lock: call it in a thread. Only glibc on
    Linux keeps much and can be asked (``malloc_trim``).
    """
    if sys.platform != "linux":
        return
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(ctypes.c_size_t(0))
