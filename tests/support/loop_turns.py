"""How long one turn of the event loop takes, in processor time, whatever else the machine does."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

MOST_MS = 8.0
"""What no input from a socket may take."""
_TRIES = 4
"""Work that takes long takes long each time; a busy machine does not."""


@asynccontextmanager
async def short_turns() -> AsyncIterator[Callable[[], bool]]:
    """No turn of the loop takes long while what is in the block is done.

    It gives what says whether to do it, and whether to do it once more: as a loop's condition.
    """
    loop, turns, tries = asyncio.get_running_loop(), _Turns(), list[float]()
    most_ms = 2 * MOST_MS

    def again() -> bool:
        if turns.going:  # as long as it would take where nothing else runs
            tries.append(turns.longest_ms / max(1.0, _calibrated_s() / 0.0015))
        turns.begin(loop)
        return not tries or (min(tries) > most_ms and len(tries) < 2 * _TRIES)

    gc.collect()
    gc.freeze()  # to look through all that the tests have imported takes longer than a turn
    try:
        yield again
    finally:
        turns.going = False
        gc.unfreeze()
    assert min(tries) <= most_ms


class _Turns:
    """Measures each turn of a loop; other threads do not count."""

    def __init__(self) -> None:
        self.longest_ms = 0.0
        self.going = False

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Measure from now on."""
        self.longest_ms, self._began_s = 0.0, time.thread_time()
        if not self.going:
            self.going, self._loop = True, loop
            loop.call_soon(self._tick)

    def _tick(self) -> None:
        now_s = time.thread_time()
        self.longest_ms = max(self.longest_ms, (now_s - self._began_s) * 1000)
        self._began_s = now_s
        if self.going:
            self._loop.call_soon(self._tick)


def _calibrated_s() -> float:
    """What a work of 1.5 ms takes on this machine now."""
    text, took_s = json.dumps(["a word\n"] * 20_000), list[float]()
    for _ in range(5):
        began_s = time.thread_time()
        json.loads(text)
        took_s.append(time.thread_time() - began_s)
    return sorted(took_s)[2]


def growth(work: Callable[[int], object], size: int) -> float:
    """How many times as long a work takes for four times as much; 4 is in proportion."""
    took_s: list[float] = []
    for count in (size, 4 * size):
        tries: list[float] = []
        for _ in range(_TRIES):
            began_s = time.thread_time()
            work(count)
            tries.append(time.thread_time() - began_s)
        took_s.append(min(tries))
    return took_s[1] / took_s[0]
