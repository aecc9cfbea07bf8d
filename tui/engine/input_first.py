"""A key goes first: until it shows, what streams and decisions on very many hunks stand aside.

What streams is not even read from the network then, nor while what was read before still waits.

A key takes several turns of the event loop until it is painted. Each of them would otherwise be
shared with a slice of such work, and with a frame.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from tui.core.steps import Work

T = TypeVar("T")
SLICE_S = 0.004
REST_S = 0.002
"""Long work goes on for so long, then rests for so long, as a key takes several turns of the event
loop until it is painted."""
MOST_S = 0.05
"""A key that changes nothing on the screen holds nothing up for longer."""
_STOPPING = ("escape", "ctrl+c", "enter")
"""These may stop the answer: what has come till then lands before, so that nothing is lost."""


class InputFirst:
    """Whether a key is on its way to the screen; the front end says so, work in slices asks."""

    def __init__(self) -> None:
        self.untaken = False
        """No widget has taken it yet: frames wait."""
        self.unshown = False
        """It is not painted yet: all that is done in slices waits."""
        self.full: set[object] = set()
        """Those who hold enough of what was read."""
        self._shown = asyncio.Event()
        self._until: asyncio.TimerHandle | None = None

    def holds_reading(self) -> bool:
        """Whether what streams is better left where it is."""
        return self.untaken or self.unshown or bool(self.full)

    def came(self, key: str, loop: asyncio.AbstractEventLoop) -> None:
        """A key was read."""
        self.untaken = True
        self.unshown |= key not in _STOPPING
        self._shown.clear()
        if self._until is None:
            self._until = loop.call_later(MOST_S, self._over)

    def taken(self) -> None:
        """A widget, or a binding, did what it means."""
        self.untaken = False

    def shown(self) -> None:
        """What had the focus was painted; a key that was not taken by then is not on it."""
        if not self.untaken:
            self._over()

    def _over(self) -> None:
        """It is shown, or takes too long."""
        self.untaken = self.unshown = False
        self._shown.set()
        if self._until is not None:
            self._until.cancel()
            self._until = None

    async def do(self, work: Work[T], now: Callable[[], float]) -> T:
        """Work in slices between which keys are taken; ``now`` gives seconds."""
        until = now() + SLICE_S
        while True:
            try:
                next(work)
            except StopIteration as end:
                found: T = end.value
                return found
            if now() > until:
                await asyncio.sleep(REST_S)
                await self.pass_by()
                until = now() + SLICE_S

    async def pass_by(self) -> None:
        """Return when a key that is on its way is painted, after `MOST_S` at the latest."""
        if self.unshown:
            await self._shown.wait()
