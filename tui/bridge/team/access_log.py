"""The structured log of a team's bridge: one JSON object a line, on stderr or in a file.

What users and models say is never in it, nor any key: who, when, which model, how many tokens, how
long, how it ended. It is written in a thread: a log that is slow to take lines holds up nobody.
"""

from __future__ import annotations

import contextlib
import datetime
import logging
import os
import queue
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from tui.errors import FileRefused

MOST_WAITING = 10_000
"""Lines; what comes when as many wait is counted and dropped."""
_MOST_CHARS = 128
"""Of one text in a line: names are shorter, and what is longer is no name."""
_MOST_WHY_CHARS = 1000
"""Of a sentence of ours."""
_CLOSE_S = 2.0


class AccessLog:
    """Writes lines while it is open."""

    def __init__(self, file: Path | None = None) -> None:
        """Without a file: stderr. Raises FileRefused: the file cannot be written."""
        self.dropped = 0
        """Lines that could not be written."""
        self._file = file
        self._out = _opened(file)
        self._waiting: queue.Queue[bytes | None] = queue.Queue(MOST_WAITING)
        self._reopening = threading.Event()
        self._writer = threading.Thread(target=self._write, daemon=True, name="access log")
        self._writer.start()

    def note(self, event: str, **fields: Any) -> None:
        """Write one line; fields that are None are left out, texts are cut."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        told = {name: _short(name, value) for name, value in fields.items() if value is not None}
        line = {"time": now.replace("+00:00", "Z"), "event": event, **told}
        try:
            self._waiting.put_nowait(msgspec.json.encode(line) + b"\n")
        except queue.Full:
            self.dropped += 1

    def reopen(self) -> None:
        """Go on in a new file under the same name: the old one was moved away."""
        self._reopening.set()

    def close(self) -> None:
        """Write what waits, for two seconds at most."""
        try:
            self._waiting.put(None, timeout=_CLOSE_S)
        except queue.Full:
            return
        self._writer.join(_CLOSE_S)

    def _write(self) -> None:
        while True:
            line = self._waiting.get()
            if line is None:
                break
            self._reopen_if_asked()
            try:
                self._out.write(line)
                if self._waiting.empty():
                    self._out.flush()
            except (OSError, ValueError):
                self.dropped += 1
        if self._file is not None:
            _close(self._out)

    def _reopen_if_asked(self) -> None:
        if not self._reopening.is_set() or self._file is None:
            return
        self._reopening.clear()
        try:
            anew = _opened(self._file)
        except FileRefused:
            return  # better in the old one than nowhere
        _close(self._out)
        self._out = anew


class FaultHandler(logging.Handler):
    """Notes what goes wrong inside: what it was and where, without its words.

    The words of an exception may quote what a user or a provider said.
    """

    def __init__(self, log: AccessLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler`."""
        error = record.exc_info[1] if record.exc_info else None
        trace = error.__traceback__ if error is not None else None
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        where = getattr(record, "place", f"{record.name}:{record.lineno}")
        if trace is not None:
            where = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
        # what our own bridge logs of a fault (`client.log_without_words`)
        kind, what = getattr(record, "kind", None), getattr(record, "what", None)
        told = {"error": type(error).__name__ if error is not None else kind, "what": what}
        self._log.note("fault", level=record.levelname.lower(), where=where, **told)


def _opened(file: Path | None) -> BinaryIO:
    if file is None:
        return sys.stderr.buffer
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    except OSError as error:
        raise FileRefused(f"the log {file} cannot be written: {error.strerror}") from error
    return os.fdopen(descriptor, "ab")


def _close(out: BinaryIO) -> None:
    with contextlib.suppress(OSError):  # the disk is full: what was buffered is lost
        out.close()


def _short(name: str, value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 3)
    if not isinstance(value, str):
        return value
    most = _MOST_WHY_CHARS if name == "why" else _MOST_CHARS
    text = value if len(value) <= most else f"{value[: most - 1]}…"
    return text.encode("utf-8", "replace").decode()
