"""Writes to the terminal without a thread and without ever waiting for it.

A terminal may take its time (a slow line, a stopped tmux): what it does not take stays here, and
goes out when it can. The event loop, and with it every key, never waits. The terminal is opened
anew for it: not to wait is a property of the opened file, which the shell's must not get.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import termios
import time
from collections.abc import Callable

from tui.core.stamping import Stamp, no_stamp

MOST_BYTES = 2**20
"""More than this is not kept for a terminal that takes nothing; it is painted anew later."""
_CANCEL = "\x18"
"""Ends a sequence of which the terminal has got the beginning only."""
_LAST_S = 0.1
_CHUNK_BYTES = 65536
_SHY_BYTES = 256
"""For a terminal that could only be had in the waiting way: so much it always has room for."""


class OutputPipe:
    """What is written goes out in order, as soon as the terminal takes it."""

    def __init__(self, fileno: int, stamp: Stamp = no_stamp) -> None:
        """``fileno`` is the terminal's; a running event loop is needed for what has to wait."""
        self.on_missed: Callable[[], None] = lambda: None
        """Called when there is room again after something was not kept."""
        self.on_drained: Callable[[], None] | None = None
        """Called once when all is written that the terminal did not take at first."""
        self.frames = 0
        """How often a flush was written through."""
        self._loop = asyncio.get_running_loop()
        self._stamp = stamp
        self._fd, self._patient = _opened(fileno)
        self._waiting = bytearray()
        self._written = self._taken = 0
        self._marks: list[int] = []
        """Where the flushes that wait end, in bytes taken."""
        self._listening = self._scheduled = self._missed = False
        self.gone = False
        """The terminal was closed: nothing is written any more."""

    @property
    def behind(self) -> bool:
        """The terminal has not taken all yet: a frame painted now would only wait."""
        return self._listening

    def write(self, text: str, *, must: bool = False) -> None:
        """Queue text; it goes out with the next `flush`, or at the end of this turn of the loop.

        ``must``: it is no picture, which is painted anew later where there is no room for it now.
        """
        if self.gone or self._fd < 0:
            return
        if len(self._waiting) > MOST_BYTES and not must:
            self._missed = True
            return
        data = text.encode("utf-8", "replace")
        self._waiting += data
        self._taken += len(data)
        if not (self._scheduled or self._loop.is_closed()):
            self._scheduled = True
            self._loop.call_soon(self._flush_late)

    def flush(self) -> None:
        """Write what the terminal takes now."""
        self._scheduled = False
        if self._taken > (self._marks[-1] if self._marks else self._written):
            self._marks.append(self._taken)
        if not self._listening:
            self._pump()

    def finish(self, deadline_s: float, last: str = "") -> None:
        """Write the rest and ``last``, waiting so many seconds at most; then nothing is queued.

        What the terminal has not taken by then is dropped, wherever it waits; ``last`` is not.
        """
        self.write(last, must=True)
        self._drain(deadline_s)
        if self._waiting and not self.gone:
            with contextlib.suppress(termios.error, OSError):
                termios.tcflush(self._fd, termios.TCOFLUSH)
            self._waiting[:] = (_CANCEL + last).encode()
            self._drain(_LAST_S)
        self._waiting.clear()
        self._marks.clear()
        self._written = self._taken
        self._missed = False
        self._listen(False)

    def _drain(self, deadline_s: float) -> None:
        until = time.monotonic() + deadline_s
        while self._waiting and not self.gone and (left_s := until - time.monotonic()) > 0:
            with contextlib.suppress(OSError, ValueError):
                select.select([], [self._fd], [], min(left_s, 0.1))
            self._pump()

    def close(self) -> None:
        """Give the file back."""
        self._listen(False)
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def _flush_late(self) -> None:
        if self._scheduled:
            self.flush()

    def _pump(self) -> None:
        """Write until the terminal is full or nothing is left."""
        try:
            while self._waiting and self._fd >= 0:
                self._took(os.write(self._fd, self._chunk()))
        except BlockingIOError:
            self._listen(True)
            return
        except OSError:
            self.gone = True
            self._waiting.clear()
        self._listen(False)
        if self._missed and not self.gone:
            self._missed = False
            self.on_missed()
        if (call := self.on_drained) is not None:
            self.on_drained = None
            call()

    def _chunk(self) -> bytes:
        """As much as can be written without waiting. Raises BlockingIOError: nothing."""
        if self._patient:
            return bytes(self._waiting[:_CHUNK_BYTES])
        if not select.select([], [self._fd], [], 0)[1]:
            raise BlockingIOError
        return bytes(self._waiting[:_SHY_BYTES])

    def _took(self, size: int) -> None:
        del self._waiting[:size]
        self._written += size
        while self._marks and self._marks[0] <= self._written:
            del self._marks[0]
            self.frames += 1
            self._stamp("painted", str(self.frames))

    def _listen(self, wanted: bool) -> None:
        if wanted == self._listening:
            return
        self._listening = wanted
        if self._loop.is_closed():
            return
        if wanted:
            self._loop.add_writer(self._fd, self._pump)
        else:
            self._loop.remove_writer(self._fd)


def _opened(fileno: int) -> tuple[int, bool]:
    """The terminal once more, and whether it can be written to without waiting."""
    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    with contextlib.suppress(OSError):
        return os.open(os.ttyname(fileno), flags), True
    return os.dup(fileno), False
