"""The way back from HTTP: whether an endpoint takes a WebSocket again.

It is asked for beside whatever runs, by the time since it was left, so that a user who never rests
comes back, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

LONGEST_S = 3600.0


class Probe:
    """Tries now and then, each time a while later, until told to stop or it worked."""

    def __init__(self, wait_s: float, attempt: Callable[[], Awaitable[bool]]) -> None:
        """``attempt`` says whether the way is open; the first one is after ``wait_s`` seconds."""
        self._first_s = self._wait_s = wait_s
        self._attempt = attempt
        self._worked_at: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Try from now on, unless that has begun; later, where it worked and soon broke again."""
        if self._timer is not None or self._task is not None:
            return
        worked_at, now = self._worked_at, asyncio.get_running_loop().time()
        again = worked_at is not None and now - worked_at < LONGEST_S
        self._wait_s = self._longer() if again else self._first_s
        self._wait()

    def stop(self) -> None:
        """Try no more."""
        for pending in (self._timer, self._task):
            if pending is not None:
                pending.cancel()
        self._timer = self._task = None

    def _longer(self) -> float:
        return min(2 * self._wait_s, LONGEST_S)

    def _wait(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._wait_s, self._start)

    def _start(self) -> None:
        self._timer = None
        self._task = asyncio.create_task(self._try())

    async def _try(self) -> None:
        works = await self._attempt()
        self._task = None
        if works:
            self._worked_at = asyncio.get_running_loop().time()
        else:
            self._wait_s = self._longer()
            self._wait()
