"""The only source of time."""

from __future__ import annotations

import asyncio

from tui.effects.clock import MonotonicClock


async def test_it_runs_with_the_loop_s_own_clock() -> None:
    clock = MonotonicClock()
    before = clock.now()
    assert abs(asyncio.get_running_loop().time() - before) < 1.0
    assert clock.now() >= before
