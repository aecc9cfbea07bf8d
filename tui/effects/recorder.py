"""Writes what happens to a file that the user named: what travels over the sockets, or stamps.

A recording (``--record FILE``, for ``duetto replay``) is a JSON object a line::

    {"dir": "c2s" | "s2c", "t": seconds, "conn": number, "frame": {...}}

``frame._meta`` marks what is no frame: a handshake, a close. The event loop only appends to a list;
a thread masks keys and writes, several times a second. A recording that cannot go on (a full disk)
ends with one warning; the turn does not notice.
"""

from __future__ import annotations

import asyncio
import logging
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from queue import SimpleQueue
from typing import Literal

import msgspec

from tui.core.stamping import BEAT_S, Name
from tui.core.wire.masking import Mask, SplitKeys
from tui.errors import FileRefused

Direction = Literal["c2s", "s2c"]
FLUSH_S = 0.25
_LOOK_S = 0.02
CLOSE_S = 3.0
"""So long the end waits for a disk that hangs."""
BACKLOG_BYTES = 256 * 2**20
"""More than this is not kept for a disk that does not take it."""
_Line = tuple[Direction, float, int, bytes | bytearray | str | Mapping[str, object]]
_Place = tuple[Direction, float, int]
_log = logging.getLogger("tui.recorder")


class Recorder:
    """One recording; made before the first dial, closed after the last socket."""

    def __init__(self, file: Path, mask: Mask, about: Mapping[str, object] | None = None) -> None:
        """Make the file, mode 0600; ``about`` becomes its first line.

        Raises FileRefused: it cannot be written, or something lies there already.
        """
        self.on_failed: Callable[[str], None] = lambda words: None
        """Called once in the event loop, with the reason in words, when nothing more is kept."""
        self.file = file
        self._mask = mask
        self._keys: SplitKeys[_Place] = SplitKeys(mask)
        self._descriptor = _made(file, "record")
        self._lines: list[_Line] = []
        self._first_s: float | None = None
        self._taken_bytes = 0
        self._written_bytes = 0
        """Counted by the thread; the difference waits for the disk."""
        self._failure = ""
        self._dead = False
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._batches: SimpleQueue[list[_Line] | threading.Event | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="recorder", daemon=True)
        self._thread.start()
        if about:
            self._batches.put([("c2s", 0.0, 0, {"_meta": "recording", **about})])

    def know(self, mask: Mask) -> None:
        """Mask by this from now on: more keys are in use."""
        self._mask = mask
        self._keys.know(mask)

    def frame(
        self, direction: Direction, t: float, connection: int, text: bytes | bytearray | str
    ) -> None:
        """Keep a frame that travelled at ``t``, in monotonic seconds."""
        if not self._dead:
            self._taken_bytes += len(text)
            self._add((direction, t, connection, text))

    def meta(
        self, direction: Direction, t: float, connection: int, meta: Mapping[str, object]
    ) -> None:
        """Keep what is no frame; ``meta`` has ``_meta``, its kind."""
        if not self._dead:
            self._add((direction, t, connection, dict(meta)))

    async def settled(self) -> None:
        """Wait until what came is written, or could not be: so that a failure can be told."""
        self._flush()
        written = threading.Event()
        self._batches.put(written)
        await asyncio.to_thread(self._wait_for, written)

    def _wait_for(self, written: threading.Event) -> None:
        for _ in range(int(CLOSE_S / _LOOK_S)):
            if written.wait(_LOOK_S) or not self._thread.is_alive():
                return

    async def close(self) -> None:
        """Write the rest, close the file."""
        if self._timer is not None:
            self._timer.cancel()
        self._flush()
        self._dead = True
        self._batches.put(None)
        await asyncio.to_thread(self._thread.join, CLOSE_S)
        if self._thread.is_alive():
            _log.warning("the recording %s was not written to its end", self.file)

    def _add(self, line: _Line) -> None:
        if self._first_s is None:
            self._first_s = line[1]
        self._lines.append(line)
        if self._timer is None:
            self._loop = asyncio.get_running_loop()
            self._timer = self._loop.call_later(FLUSH_S, self._flush)

    def _flush(self) -> None:
        self._timer = None
        lines, self._lines = self._lines, []
        if self._failure:
            self._stop(self._failure)
        elif self._taken_bytes - self._written_bytes > BACKLOG_BYTES:
            self._stop("the disk does not keep up")
        elif lines and not self._dead:
            self._batches.put(lines)

    def _work(self) -> None:
        """The thread: mask and write until told to end."""
        try:
            while (batch := self._batches.get()) is not None:
                if isinstance(batch, threading.Event):
                    batch.set()
                    continue
                self._write(pair for line in batch for pair in self._settled(line))
                self._written_bytes += sum(
                    len(content) for *_, content in batch if not isinstance(content, Mapping)
                )
            self._write(self._keys.rest())
        except (OSError, TypeError, ValueError) as error:
            self._failure = (getattr(error, "strerror", None) or str(error)).lower()
            if self._loop is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._stop, self._failure)
        finally:
            os.close(self._descriptor)

    def _settled(self, line: _Line) -> Iterator[tuple[_Place, str]]:
        """Take a line; gives, masked, what can be written now."""
        direction, t, connection, content = line
        place = (direction, t, connection)
        if isinstance(content, Mapping):
            ended = self._keys.rest() if content.get("_meta") == "close" else ()
            return chain(ended, self._keys.other(place, self._mask.meta(content)))
        text = content if isinstance(content, str) else content.decode("utf-8", "replace")
        if direction == "c2s":
            return self._keys.other(place, self._mask.frame(text))
        return self._keys.frame(place, connection, text)

    def _write(self, settled: Iterable[tuple[_Place, str]]) -> None:
        lines: list[str] = []
        for (direction, t, connection), frame in settled:
            at_s = max(0.0, t - (self._first_s or 0.0))
            head = f'{{"dir":"{direction}","t":{at_s:.6f},"conn":{connection},"frame":'
            lines.append(f"{head}{frame}}}\n")
        data = "".join(lines).encode("utf-8", "replace")
        while data:
            data = data[os.write(self._descriptor, data) :]

    def _stop(self, why: str) -> None:
        if self._dead:
            return
        self._dead = True
        self._lines.clear()
        words = f"the recording {self.file} ends here: {why}"
        _log.warning("%s", words)
        self.on_failed(words)


def _made(file: Path, verb: str, extra_flags: int = 0) -> int:
    """A new file, or an empty one that is there, for this user only. Raises FileRefused."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | extra_flags
    try:
        descriptor = os.open(file, flags, 0o600)
    except OSError as error:
        raise FileRefused(f"cannot {verb} to {file}: {(error.strerror or '').lower()}") from error
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and not found.st_size:
        os.fchmod(descriptor, 0o600)
        return descriptor
    os.close(descriptor)
    what = "is there already" if stat.S_ISREG(found.st_mode) else "is not a file"
    raise FileRefused(f"cannot {verb} to {file}: it {what}; name another one")


_trace_log = logging.getLogger("tui.tracer")


class Tracer:
    """Writes the stamps of ``--trace FILE``, a JSON object a line; any thread may call `stamp`.

    ::

        {"t_ns": 81223344556677, "name": "key", "detail": "escape"}

    ``t_ns`` is CLOCK_MONOTONIC, which every process of this machine reads alike: a test bench can
    lay its own times beside it. Each stamp is one write to a file that is only added to, so that
    stamps of several threads do not mix and a process that is killed leaves a whole trace behind.
    """

    def __init__(self, file: Path) -> None:
        """Make the file, mode 0600. Raises FileRefused: it is there already, or cannot be."""
        self.file = file
        self._descriptor = _made(file, "trace", os.O_APPEND)
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
            _trace_log.warning("the trace %s ends here: %s", self.file, error.strerror)

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
