"""What the network brings, read a little at a time, so that others have their turn between.

A library that reads at once all that came holds the loop for as long as that takes: 256 kB of empty
frames, or of chunks of one byte, are a tenth of a second and more.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

BUDGET_S = 0.002
"""After so long the rest of the loop has its turn."""


class Sliced(asyncio.Protocol):
    """A protocol before the library's in the order of bases, which gets its data in slices."""

    SLICE_BYTES = 1024
    """What the library reads of it in some milliseconds, whatever it is."""
    transport: Any
    """Some libraries set it to None once the connection is closed."""
    _waiting, _at = b"", 0
    """What came and has to wait for its turn, and how much of it was read."""
    _resuming = _feeding = False
    _eof = _gone = False
    _gone_for: Any = None
    _spent_s = _left_at_s = 0.0
    """How long this kept the loop, less what it has left to others since; and until when."""

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`. Nothing: the library wants to go on with what it has."""
        if not data:
            super().data_received(data)
            return
        self._waiting, self._at = self._waiting[self._at :] + data, 0
        if not self._resuming and not self._feeding:
            now_s = time.monotonic()
            self._spent_s = max(0.0, self._spent_s - now_s + self._left_at_s)
            self._feed(now_s)

    def eof_received(self) -> None:
        """See `asyncio.Protocol`: it ends behind what waits."""
        if self._waiting:
            self._eof = True
        else:
            super().eof_received()

    def connection_lost(self, exc: Any) -> None:
        """See `asyncio.Protocol`: it ends behind what waits."""
        if self._waiting:
            self._gone, self._gone_for = True, exc
            self._regulate()
        else:
            super().connection_lost(exc)

    def holds(self) -> bool:
        """Whether nothing more is to be read now."""
        return False

    def fed(self) -> None:
        """Called behind all slices of a turn."""

    def forget(self) -> None:
        """What waits is not read any more."""
        self._waiting, self._at = b"", 0

    def _resume(self) -> None:
        """Go on in a later turn of the loop."""
        self._resuming, self._spent_s = False, 0.0
        if self._waiting:
            self._feed(time.monotonic())
        else:
            self._regulate()
        if self._waiting or self._resuming:
            return
        if self._eof:
            self._eof = False
            super().eof_received()
        if self._gone:
            super().connection_lost(self._gone_for)

    def _feed(self, began_s: float) -> None:
        """Read what waits, as far as there is time."""
        until_s = began_s + BUDGET_S - self._spent_s
        if len(self._waiting) > self.SLICE_BYTES:
            turns = _turns()
            turns.begin()
            until_s = min(until_s, turns.until_s)
        self._feeding = True
        try:
            while self._waiting and (self._gone or not self.holds()):
                piece = self._waiting[self._at : self._at + self.SLICE_BYTES]
                self._at += self.SLICE_BYTES
                if self._at >= len(self._waiting):
                    self.forget()
                super().data_received(piece)
                if time.monotonic() > until_s:
                    break
            self.fed()
        finally:
            self._feeding = False
        self._left_at_s = time.monotonic()
        self._spent_s += self._left_at_s - began_s
        self._regulate()

    def _regulate(self) -> None:
        """Have the network wait while something waits here, and go on with that soon."""
        held = self.holds() and not self._gone
        due = bool(self._waiting) or self._spent_s > BUDGET_S
        if due and not held and not self._resuming and not self._feeding:
            self._resume_soon()
        if self.transport is None or self.transport.is_closing():
            return
        if held or self._waiting or self._resuming:
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()

    def _resume_soon(self) -> None:
        self._resuming = True
        _turns().soon(self._resume)


class Share:
    """What one task takes of the loop's time before others have their turn."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Others have had their turn just now."""
        self._until_s = time.monotonic() + BUDGET_S

    @property
    def spent(self) -> bool:
        """Others are due."""
        return time.monotonic() > self._until_s

    async def pause(self) -> None:
        """Let others have their turn, if they are due."""
        if self.spent:
            await others()
            self.begin()


async def others() -> None:
    """Let all others have their turn that have much to do."""
    woken = asyncio.Event()
    _turns().soon(woken.set)
    await woken.wait()


async def own_turn() -> None:
    """Before what may take a while: at once if this turn of the loop has time left for it."""
    turns = _turns()
    turns.begin()
    if turns.taken:
        await others()


class _Turns:
    """The turns of one loop: of all that have much to do each gets one, in their order."""

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], object]] = deque()
        self._begun = False
        self.until_s = 0.0
        """When the one that has begun is to end."""

    @property
    def taken(self) -> bool:
        """Others wait for their turn, or its time is over."""
        return bool(self._waiting) or time.monotonic() > self.until_s

    def begin(self) -> None:
        """Measure this turn of the loop."""
        if not self._begun:
            self._begun = True
            self._begin()

    def soon(self, work: Callable[[], object]) -> None:
        """Do this when it is its turn."""
        self._waiting.append(work)
        self.begin()

    def _begin(self) -> None:
        self.until_s = time.monotonic() + BUDGET_S
        asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        if self._waiting:
            self._begin()
            self._waiting.popleft()()
        else:
            self._begun = False


_of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Turns] = WeakKeyDictionary()


def _turns() -> _Turns:
    loop = asyncio.get_running_loop()
    found = _of_loops.get(loop)
    if found is None:
        found = _of_loops[loop] = _Turns()
    return found
