"""A program in a pseudo-terminal of its own: keys in, timed pieces of output out.

::

    with PseudoTerminal(command, environment, folder) as terminal:
        pressed_s = terminal.write(b"x")
        terminal.rest(0.5)
        pieces = terminal.take()

A thread reads, notes when each piece came and answers what a program asks of its terminal;
nothing else is done with the output while it runs.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import secrets
import select
import signal
import struct
import termios
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from tests.benchmarks.screen import processes

COLUMNS, ROWS = 120, 40
CELL = (8, 16)
"""Width and height of a cell in pixels, for programs that ask."""
GRACE_S = 1.0
"""Between the keys that quit, SIGTERM and SIGKILL."""
Piece = tuple[float, bytes]
"""When it came, by `time.monotonic`, and the bytes."""
_QUERY = re.compile(
    rb"\x1b\[(\?|>|=)?([0-9;]*)(\$p|[cnqtu])|\x1b\](1[0-2]|4;\d+);\?(?:\x07|\x1b\\)"
)
_LONGEST_QUERY = 32
LATEST = 64


class PseudoTerminal:
    """One process group of which a terminal is all that it sees. Truecolor, no Kitty keyboard."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        rows: int = ROWS,
    ) -> None:
        """``environment`` is the whole of it but for the terminal's name."""
        self._rows = rows
        self.latest: deque[Piece] = deque(maxlen=LATEST)
        """The last pieces, taken or not."""
        self._pieces: list[Piece] = []
        self._carry = b""
        self._quit = b""
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, _size(COLUMNS, rows))
        modes = termios.tcgetattr(slave)
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, modes)
        known = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}
        self._tag = secrets.token_hex(8)
        known[processes.TAG] = self._tag
        self.started_s = time.monotonic()
        self.pid = os.fork()
        if not self.pid:
            _become(slave, command, {**environment, **known}, folder)
        os.close(slave)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> PseudoTerminal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def runs(self) -> bool:
        """Whether it still writes to its terminal."""
        return self._reader.is_alive()

    def quits_with(self, keys: bytes) -> None:
        """What `close` presses first."""
        self._quit = keys

    def take(self) -> list[Piece]:
        """All pieces since the last time."""
        count = len(self._pieces)
        taken = self._pieces[:count]
        del self._pieces[:count]
        return taken

    def repaint(self) -> None:
        """Make the program paint everything: the window is a column narrower for a moment."""
        for columns in (COLUMNS - 1, COLUMNS):
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, _size(columns, self._rows))
            self.rest(0.3)

    def write(self, keys: bytes) -> float:
        """Press keys; returns when. A terminal whose program has ended takes none."""
        with contextlib.suppress(OSError):
            os.write(self._master, keys)
        return time.monotonic()

    def rest(self, seconds: float) -> None:
        """Let time pass."""
        time.sleep(max(0.0, seconds))

    def quiet(self, seconds: float, within_s: float) -> bool:
        """Wait until it wrote something and then nothing for so long; False: it never was."""
        deadline = time.monotonic() + within_s
        while self.runs and (now := time.monotonic()) < deadline:
            if self.latest and now - self.latest[-1][0] >= seconds:
                return True
            time.sleep(0.02)
        return False

    def processes(self) -> list[int]:
        """The program and all that it started."""
        return processes.family(self.pid, self._tag)

    def close(self) -> None:
        """Quit it, then end all that it started."""
        family = processes.family(self.pid, self._tag)
        self.write(self._quit)
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None:
                processes.send(family, number)
            if processes.wait(family, self.pid, GRACE_S):
                break
        with contextlib.suppress(OSError):
            os.close(self._master)
        self._reader.join(GRACE_S)

    def _read(self) -> None:
        while True:
            try:
                select.select([self._master], [], [], 1.0)
                data = os.read(self._master, 1 << 16)
            except (OSError, ValueError):
                return
            if not data:
                return
            piece = (time.monotonic(), data)
            self._pieces.append(piece)
            self.latest.append(piece)
            if b"\x1b" in data or self._carry:
                self._reply(data)

    def _reply(self, data: bytes) -> None:
        """Answer queries, of which the beginning may have come earlier."""
        text, known = self._carry + data, len(self._carry)
        replies = [
            _reply_to(query, self._rows) for query in _QUERY.finditer(text) if query.end() > known
        ]
        if answer := b"".join(replies):
            with contextlib.suppress(OSError):
                os.write(self._master, answer)
        rest = text[-_LONGEST_QUERY:]
        begins = rest.rfind(b"\x1b")
        self._carry = rest[begins:] if begins >= 0 and not _QUERY.match(rest, begins) else b""


def _size(columns: int, rows: int) -> bytes:
    """A window's size, as the system wants it."""
    return struct.pack("HHHH", rows, columns, columns * CELL[0], rows * CELL[1])


def _reply_to(query: re.Match[bytes], rows: int) -> bytes:
    """What a plain terminal with synchronized output answers."""
    prefix, number, final, colour = query.groups()
    if colour is not None:
        shade = b"0c0c" if colour == b"11" else b"cccc"
        return b"\x1b]" + colour + b";rgb:" + b"/".join([shade] * 3) + b"\x1b\\"
    pixels = (rows * CELL[1], COLUMNS * CELL[0])
    known: dict[tuple[bytes | None, bytes, bytes], bytes] = {
        (None, b"6", b"n"): b"\x1b[1;1R",
        (None, b"5", b"n"): b"\x1b[0n",
        (None, b"14", b"t"): b"\x1b[4;%d;%dt" % pixels,
        (None, b"16", b"t"): b"\x1b[6;%d;%dt" % (CELL[1], CELL[0]),
        (None, b"18", b"t"): b"\x1b[8;%d;%dt" % (rows, COLUMNS),
    }
    if final == b"c":
        return {None: b"\x1b[?62;22c", b">": b"\x1b[>1;10;0c"}.get(prefix, b"")
    if final == b"$p":
        return b"\x1b[?" + number + (b";2$y" if number == b"2026" else b";0$y")
    return known.get((prefix, number, final), b"")


def _become(
    slave: int, command: Sequence[str], environment: Mapping[str, str], folder: Path
) -> None:
    """In the child: a session of its own on the terminal, then the program. Never returns."""
    try:
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for descriptor in (0, 1, 2):
            os.dup2(slave, descriptor)
        os.closerange(3, 256)
        os.chdir(folder)
        os.execvpe(command[0], list(command), dict(environment))
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\r\n".encode())
    finally:
        os._exit(127)
