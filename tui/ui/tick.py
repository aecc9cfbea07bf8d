"""The frame: at most 60 times a second, and never when nothing changed.

The session wakes it when there is something to drain; the frame drains, lets the widgets take up
what changed and paints it, all in one turn of the event loop. After a frame that was expensive
there is a pause as long as it took, so that keys get their turn however fast a model streams; but
never longer than a frame: the next one would have so much more to take up that its own pause grew,
and so on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context, copy_context
from time import thread_time

from tui.core.stamping import Stamp, no_stamp
from tui.ui.painting.screen import HandedOn

FRAME_S = 1 / 60
_WAIT_S = 0.001


class FrameTimer:
    """Schedules one call of ``paint`` however often it is woken."""

    def __init__(
        self, paint: Callable[[], None], post: Callable[[Callable[[], None]], object]
    ) -> None:
        """``post`` runs a callable among the app's messages: errors are raised there."""
        self.cost_s = 0.0
        """What the last frame took."""
        self.count = 0
        self.stamp: Stamp = no_stamp
        """Hears of each frame what it cost."""
        self._used_s = 0.0
        """Processor time of this thread at the end of the last frame."""
        self.waits: Callable[[], bool] = bool
        """Whether something goes first, for a moment."""
        self._paint = paint
        self._errors = HandedOn(post)
        self._context: Context = copy_context()
        self._loop = asyncio.get_running_loop()
        self._handle: asyncio.TimerHandle | None = None
        self._next_s = 0.0
        self._wanted = False
        """It was woken since the last frame began."""
        self._stopped = False

    def wake(self) -> None:
        """There is something to paint; costs nothing when a frame is already scheduled."""
        self._wanted = True
        if self._handle is None and not self._stopped:
            delay = max(self._next_s - self._loop.time(), 0.0)
            self._handle = self._loop.call_later(delay, self._due, context=self._context)

    def stop(self) -> None:
        """No more frames."""
        self._stopped = True
        if self._handle is not None:
            self._handle.cancel()

    def _due(self) -> None:
        if self.waits():
            self._handle = self._loop.call_later(_WAIT_S, self._due, context=self._context)
            return
        self._wanted = False
        with self._errors:
            self._run()
        self._handle = None
        if self._wanted:  # woken while it was painted: the pause is known only now
            self.wake()

    def _run(self) -> None:
        start, used_s = self._loop.time(), thread_time()
        self._next_s = start + FRAME_S
        self._paint()
        self.count += 1
        end = self._loop.time()
        self.cost_s = end - start
        before_s, self._used_s = self._used_s, thread_time()
        work_ms, all_ms = (self._used_s - used_s) * 1000, (self._used_s - before_s) * 1000
        self.stamp("frame", f"{work_ms:.3f} {all_ms:.3f}")
        self._next_s = max(start + FRAME_S, end + min(self.cost_s, FRAME_S))
