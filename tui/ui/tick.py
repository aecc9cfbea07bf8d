"""The frame: at most 60 times a second, and never when nothing changed.

The session wakes it when there is something to drain; the frame drains and lets the widgets
take up what changed. A frame that was expensive makes the next one wait longer, so that keys
get their turn however fast a model streams.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context, copy_context

FRAME_S = 1 / 60
BUDGET_S = 0.008
"""What draining and synchronising may take; beyond it the pause grows with the cost."""


class Frame:
    """Schedules one call of ``paint`` however often it is woken."""

    def __init__(
        self, paint: Callable[[], None], post: Callable[[Callable[[], None]], object]
    ) -> None:
        """``post`` runs a callable among the app's messages, so that its errors are seen."""
        self.cost_s = 0.0
        """What the last frame took."""
        self.count = 0
        self._paint = paint
        self._post = post
        self._context: Context = copy_context()
        self._loop = asyncio.get_running_loop()
        self._handle: asyncio.TimerHandle | None = None
        self._next_s = 0.0
        self._posted = False

    def wake(self) -> None:
        """There is something to paint; costs nothing when a frame is already scheduled."""
        if self._handle is None and not self._posted:
            delay = max(self._next_s - self._loop.time(), 0.0)
            self._handle = self._loop.call_later(delay, self._due, context=self._context)

    def stop(self) -> None:
        """No more frames."""
        self._posted = True
        if self._handle is not None:
            self._handle.cancel()

    def _due(self) -> None:
        self._handle = None
        self._posted = True
        self._post(self._run)

    def _run(self) -> None:
        self._posted = False
        start = self._loop.time()
        self._next_s = start + FRAME_S
        self._paint()
        self.count += 1
        self.cost_s = self._loop.time() - start
        if self.cost_s > BUDGET_S:
            self._next_s = start + FRAME_S + 2 * self.cost_s
