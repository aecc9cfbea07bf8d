"""The way back from HTTP: whether an endpoint that has been idle takes a WebSocket again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

LONGEST_S = 3600.0


class Probe:
    """Tries now and then, each time a while later, until told to stop or it worked."""

    def __init__(
        self, wait_s: float, idle: Callable[[], bool], attempt: Callable[[], Awaitable[bool]]
    ) -> None:
        """``idle`` says whether nobody uses the endpoint; ``attempt`` whether the way is open."""
        self._first_s = self._wait_s = wait_s
        self._idle, self._attempt = idle, attempt
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def postpone(self) -> None:
        """Wait from now on: the endpoint is or was just used."""
        self.stop()
        self._timer = asyncio.get_running_loop().call_later(self._wait_s, self._start)

    def stop(self) -> None:
        """Try no more."""
        for pending in (self._timer, self._task):
            if pending is not None:
                pending.cancel()
        self._timer = self._task = None

    def _start(self) -> None:
        self._timer = None
        if self._idle():
            self._task = asyncio.create_task(self._try())
        else:
            self.postpone()

    async def _try(self) -> None:
        if await self._attempt():
            self._wait_s = self._first_s
            return
        self._wait_s = min(2 * self._wait_s, LONGEST_S)
        self._timer = asyncio.get_running_loop().call_later(self._wait_s, self._start)
