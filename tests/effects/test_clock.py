"""The only source of time."""

from __future__ import annotations

import sys
import time

from tui.effects.clock import MonotonicClock


def test_it_only_grows_and_counts_the_time_of_a_machine_asleep() -> None:
    clock = MonotonicClock()
    before = clock.now()
    if sys.platform == "linux":
        assert abs(time.clock_gettime(time.CLOCK_BOOTTIME) - before) < 1.0
    assert clock.now() >= before
