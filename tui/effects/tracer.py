"""Writes the stamps of ``--trace FILE``, a JSON object a line.

::

    {"t_ns": 81223344556677, "name": "key", "detail": "escape"}

``t_ns`` is CLOCK_MONOTONIC, which every process of this machine reads alike: a test bench can lay
its own times beside it. Each stamp is one write to a file that is only added to, so that stamps of
several threads do not mix and a process that is killed leaves a whole trace behind.
"""

from __future__ import annotations

import asyncio
import logging
import os
import stat
import time
from pathlib import Path

import msgspec

from tui.core.stamping import BEAT_S, Name
from tui.errors import FileRefused

_log = logging.getLogger("tui.tracer")


class Tracer:
    """One trace; `stamp` may be called by any thread."""

    def __init__(self, file: Path) -> None:
        """Make the file, mode 0600. Raises FileRefused: it is there already, or cannot be."""
        self.file = file
        self._descriptor = _made(file)
        self._encode = msgspec.json.Encoder().encode
        self._beating: asyncio.TimerHandle | None = None
        self._due_s = 0.0

    def stamp(self, name: Name, detail: str) -> None:
        """Keep that this happened now; a disk that is full ends the trace, nothing else."""
        t_ns = time.monotonic_ns()
        descriptor = self._descriptor
        if descriptor < 0:
            return
        line = self._encode({"t_ns": t_ns, "name": name, "detail": detail}) + b"\n"
        try:
            os.write(descriptor, line)
        except OSError as error:
            self._descriptor = -1
            _log.warning("the trace %s ends here: %s", self.file, error.strerror)

    def watch(self) -> None:
        """Stamp how late the running event loop comes to its turns, from now on."""
        loop = asyncio.get_running_loop()
        self._due_s = loop.time() + BEAT_S
        self._beating = loop.call_at(self._due_s, self._beat)

    def close(self) -> None:
        """No more stamps."""
        if self._beating is not None:
            self._beating.cancel()
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _beat(self) -> None:
        loop = asyncio.get_running_loop()
        late_ms = max(0.0, loop.time() - self._due_s) * 1000
        self.stamp("late", f"{late_ms:.3f}")
        self._due_s = loop.time() + BEAT_S
        self._beating = loop.call_at(self._due_s, self._beat)


def _made(file: Path) -> int:
    """A new file, or an empty one that is there, for this user only."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        descriptor = os.open(file, flags, 0o600)
    except OSError as error:
        raise FileRefused(f"cannot trace to {file}: {(error.strerror or '').lower()}") from error
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and not found.st_size:
        os.fchmod(descriptor, 0o600)
        return descriptor
    os.close(descriptor)
    what = "is there already" if stat.S_ISREG(found.st_mode) else "is no file"
    raise FileRefused(f"cannot trace to {file}: it {what}; name another one")
