"""The wait before the next try, counted down where the user sees it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tui.engine.board import Board


class Countdown:
    """One wait at a time; to cancel the waiting task ends it."""

    def __init__(self, board: Board, sleep: Callable[[float], Awaitable[None]]) -> None:
        self._board = board
        self._sleep = sleep

    async def wait(self, wait_s: float, *, shown: bool) -> None:
        """Wait so many seconds; `Status.retry_s` says once a second how many are left."""
        left_s = wait_s
        try:
            while left_s > 0:
                if shown:
                    self._show(left_s)
                step_s = left_s % 1.0 or 1.0
                await self._sleep(step_s)
                left_s = max(left_s - step_s, 0.0)
        finally:
            self.end()

    def end(self) -> None:
        """Nothing is waited for any more."""
        if self._board.status.retry_s is not None:
            self._show(None)

    def _show(self, left_s: float | None) -> None:
        self._board.status.retry_s = left_s
        self._board.restated()
