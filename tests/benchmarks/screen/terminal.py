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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.benchmarks import processes
from tui.errors import DuettoError

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


_UNKNOWN = re.compile(
    rb"\x1b\[[<>=][0-9;:]*[ -/]*[@-~]|\x1b\[\?[0-9;]*(?:u|\$p)|\x1b[P_^X].*?(?:\x1b\\|\x07)"
    rb"|\x1b\[[0-9;]*(?: q|t)|\x1b\[[0-9;]*:[0-9;:]*m",
    re.DOTALL,
)
"""Sequences that pyte would print: of the Kitty protocol, DCS, APC, window reports, colons."""
_WHOLE = re.compile(
    rb"\x1b\[[0-9;:?<>=]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-B]"
    rb"|\x1b[P_^X].*?(?:\x1b\\|\x07)|\x1b[^\[\]()P_^X]",
    re.DOTALL,
)
_BEGIN, _END = b"\x1b[?2026h", b"\x1b[?2026l"


@dataclass(slots=True)
class Picture:
    """What was seen, and when: seconds of `time.monotonic`."""

    first_text_s: float | None = None
    """The first character that is not a blank."""
    marks: list[tuple[float, int]] = field(default_factory=list)
    """Whenever a mark with a higher number than all before was there."""
    seen: dict[str, float] = field(default_factory=dict)
    """When the words that were looked for were there for the first time."""
    last: str = ""
    """The screen at the end."""


class Emulator:
    """A terminal's screen, which reads on from piece to piece. Raises DuettoError: no pyte."""

    def __init__(self, rows: int = ROWS) -> None:
        self._screen, self._stream = _emulator(rows)
        self._rows = [""] * rows
        self._carry = b""
        self._is_open = False

    @property
    def text(self) -> str:
        """The whole screen."""
        return "\n".join(row.rstrip() for row in self._rows)

    def read(
        self,
        pieces: Iterable[Piece],
        words: Sequence[str] = (),
        mark: re.Pattern[str] | None = None,
        since_s: float = 0.0,
    ) -> Picture:
        """Look for words and marks in what is painted from ``since_s`` on."""
        picture, pending, highest = Picture(), list(words), -1
        for now_s, rows in self.changes(pieces):
            if picture.first_text_s is None and any(row.strip() for row in rows):
                picture.first_text_s = now_s
            if now_s < since_s:
                continue
            text = "\n".join(rows)
            for word in [word for word in pending if word in text]:
                picture.seen[word] = now_s
                pending.remove(word)
            found = max(map(int, mark.findall(text)), default=-1) if mark is not None else -1
            if found > highest:
                highest = found
                picture.marks.append((now_s, found))
        picture.last = self.text
        return picture

    def changes(self, pieces: Iterable[Piece]) -> Iterator[tuple[float, list[str]]]:
        """Each time that the text of some rows changed, with those rows.

        What is between the begin and the end of a synchronized update counts from its end, as a
        terminal shows it.
        """
        for now_s, data in pieces:
            data, self._carry = _split(self._carry + data)
            self._is_open = _open_behind(data, self._is_open)
            self._stream.feed(_UNKNOWN.sub(b"", data))
            if not self._is_open and (changed := self._changed()):
                yield now_s, changed

    def _changed(self) -> list[str]:
        changed = []
        for number in sorted(row for row in self._screen.dirty if row < len(self._rows)):
            text = _text(self._screen.buffer[number])
            if text != self._rows[number]:
                self._rows[number] = text
                changed.append(text)
        self._screen.dirty.clear()
        return changed


def _split(data: bytes) -> tuple[bytes, bytes]:
    """Whole sequences, and the beginning of one whose end has not come."""
    at = data.rfind(b"\x1b")
    if at < 0 or _WHOLE.match(data, at) or len(data) - at > 1 << 16:
        return data, b""
    return data[:at], data[at:]


def _open_behind(data: bytes, was_open: bool) -> bool:
    """Whether a synchronized update is going on at the end of a piece."""
    begin, end = data.rfind(_BEGIN), data.rfind(_END)
    return was_open if begin == end else begin > end


def _text(row: Any) -> str:
    return "".join([row[column].data for column in range(COLUMNS)])


def _emulator(rows: int) -> tuple[Any, Any]:
    """The screen and the stream of pyte, which answer nothing and know how to scroll."""
    try:
        import pyte
    except ImportError:
        raise DuettoError(
            "this reads the painted screen with pyte, which is not installed:"
            " pip install 'duetto[bench]'"
        ) from None

    csi = {**pyte.ByteStream.csi, "S": "scroll_up", "T": "scroll_down"}
    events = frozenset([*pyte.ByteStream.events, "scroll_up", "scroll_down"])
    reports = dict.fromkeys(("report_device_status", "report_device_attributes"), _silent)
    scrolls = {"scroll_up": _scroll_up, "scroll_down": _scroll_down}
    screen = type("Screen", (pyte.Screen,), {**reports, **scrolls})(COLUMNS, rows)
    return screen, type("Stream", (pyte.ByteStream,), {"csi": csi, "events": events})(screen)


def _silent(screen: Any, *args: object, **kwargs: object) -> None:
    """What is asked of the terminal is answered by `PseudoTerminal`."""


def _scroll_up(screen: Any, count: int = 1, **kwargs: object) -> None:
    """SU, which pyte does not know."""
    _scrolled(screen, count, 1, screen.index)


def _scroll_down(screen: Any, count: int = 1, **kwargs: object) -> None:
    """SD."""
    _scrolled(screen, count, 0, screen.reverse_index)


def _scrolled(screen: Any, count: int, edge: int, step: Callable[[], None]) -> None:
    margins, line = screen.margins or (0, screen.lines - 1), screen.cursor.y
    for _ in range(count or 1):
        screen.cursor.y = margins[edge]
        step()
    screen.cursor.y = line
