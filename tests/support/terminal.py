"""The real binary in a pseudo-terminal: keys in, screen out, as a person has it.

::

    with Terminal(["duetto"], env=env) as term:
        term.wait_for("send")
        term.type("make it safe\\r")
        term.wait_for("landed")
        term.leave()
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import pyte

QUERY = re.compile(
    rb"\x1b\[(?P<prefix>[?>=]?)(?P<number>[0-9;]*)(?P<final>\$p|[cnqtu])"
    rb"|\x1b\](?P<osc>1[0-2]|4;\d+);\?(?:\x07|\x1b\\)"
)
UNSUPPORTED = re.compile(
    rb"\x1b\[[<>=][0-9;:]*[ -/]*[@-~]|\x1b\[\?[0-9;]*(?:u|\$p)|\x1b[P_^X].*?(?:\x1b\\|\x07)"
    rb"|\x1b\[[0-9;]*(?: q|t)",
    re.S,
)
"""Sequences that pyte would print: modes of the Kitty protocol, DCS, APC."""
COLON_SGR = re.compile(rb"\x1b\[[0-9;]*:[0-9;:]*m")
MODE = re.compile(rb"\x1b\[\?([0-9;]+)([hl])")
KITTY = re.compile(rb"\x1b\[(?:>(?P<push>\d*)|<(?P<pop>\d*))u")
OTHER_KEYS = re.compile(rb"\x1b\[>4(?:;(?P<level>\d+))?m")
KIND = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
DEADLINE_S = 120.0
"""Long, for a busy machine: it is only ever reached by what fails."""
FRAME_END = b"\x1b[?2026l"
"""Ends a synchronised update: what is shown by then is a whole frame."""
WRAP = 7
ALT_SCREEN, CURSOR, PASTE, FOCUS, SYNC = 1049, 25, 2004, 1004, 2026
MOUSE = (1000, 1002, 1003, 1006, 1015, 1016)


class Screen(pyte.Screen):
    """pyte's screen, which answers nothing by itself."""

    def report_device_status(self, *args: object, **kwargs: object) -> None:
        """Answered by `Terminal`."""

    def report_device_attributes(self, *args: object, **kwargs: object) -> None:
        """Answered by `Terminal`."""


class Terminal:
    """One process on a pseudo-terminal of its own."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        size: tuple[int, int] = (120, 36),
        kind: Mapping[str, str] | None = None,
    ) -> None:
        """``size`` is columns and rows; ``env`` is the whole environment but for TERM.

        ``kind`` has the variables that say what terminal it is; none: one that can do everything.
        """
        self.columns, self.rows = size
        self._kind = KIND if kind is None else kind
        self.background = b"1010/1010/1414"
        """What it answers when it is asked for its background."""
        self.wide = False
        """A black circle takes two cells."""
        self.output = b""
        """All that the process wrote, to the frame that the screen shows."""
        self.modes: dict[int, bool] = {}
        """Private modes as they were last set (True) or reset."""
        self.kitty_depth = 0
        self.other_keys = False
        """xterm's modifyOtherKeys is on."""
        self.status: int | None = None
        """Exit status once it has ended; negative: the signal."""
        self._screen = Screen(self.columns, self.rows)
        self._stream = pyte.ByteStream(self._screen)
        self._pending = b""
        self._unread = b""
        self._esc = False
        master, slave = pty.openpty()
        self._fd = master
        self.path = os.ttyname(slave)
        self._set_size(slave)
        self._lines_before = termios.tcgetattr(slave)[3]
        self.pid = os.fork()
        if self.pid == 0:
            self._become(slave, [str(part) for part in command], env, cwd)
        os.close(slave)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # what a person does

    def type(self, text: str, gap_s: float = 0.0) -> None:
        """Press keys; with a gap after each character if one is given.

        Behind an Esc they come when it was taken: together they would be Alt and the first of them.
        """
        if self._esc:
            self._let_esc_be_taken()
        self._esc = text.endswith("\x1b")
        if not gap_s:
            os.write(self._fd, text.encode())
            return
        for character in text:
            os.write(self._fd, character.encode())
            self.pump(gap_s)

    def paste(self, text: str) -> None:
        """Paste, bracketed as a terminal does it."""
        os.write(self._fd, b"\x1b[200~" + text.encode() + b"\x1b[201~")

    def offer(self, data: bytes) -> int:
        """Type as much as the process has room for; returns how many bytes that was."""
        _, room, _ = select.select([], [self._fd], [], 0.05)
        return os.write(self._fd, data[:1024]) if room else 0

    def resize(self, columns: int, rows: int) -> None:
        """Change the window's size."""
        self.columns, self.rows = columns, rows
        self._screen.resize(rows, columns)
        self._set_size(self._fd)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process."""
        os.kill(self.pid, number)

    def hang_up(self, timeout_s: float = DEADLINE_S) -> int | None:
        """Close the window; returns the exit status, None if the process runs on."""
        os.close(self._fd)
        self._fd = -1
        deadline = time.monotonic() + timeout_s
        while self.status is None and time.monotonic() < deadline:
            time.sleep(0.02)
            self._reap()
        return self.status

    # what a person sees

    @property
    def lines(self) -> list[str]:
        """The screen, line by line, without blanks at the end."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def text(self) -> str:
        """The screen as one text."""
        return "\n".join(self.lines)

    def cells(self, wanted: Callable[[pyte.screens.Char], object]) -> list[pyte.screens.Char]:
        """The cells of the screen that are so: their text, colours and attributes."""
        rows = (self._screen.buffer[y] for y in range(self.rows))
        return [row[x] for row in rows for x in range(self.columns) if wanted(row[x])]

    def wait_for(
        self, wanted: str | re.Pattern[str] | Callable[[str], object], timeout_s: float = DEADLINE_S
    ) -> str:
        """Read until the text stands on the screen, in a whole frame; returns the screen.

        Each frame is looked at, so that one that is soon painted over is not missed; what the
        process wrote behind the one that is returned is not read yet.
        Raises AssertionError with the screen when it does not come.
        """
        shown = _checker(wanted)
        deadline = time.monotonic() + timeout_s
        while self.modes.get(SYNC) or not shown(self.text):
            left_s = deadline - time.monotonic()
            if left_s <= 0 or (self.status is not None and not self.pump(0.25)):
                raise AssertionError(f"waited for {wanted!r}, the screen shows:\n{self.text}")
            self.pump(min(left_s, 0.25))
        return self.text

    def wait_gone(self, unwanted: str, timeout_s: float = DEADLINE_S) -> str:
        """Read until the text is no longer on the screen."""
        return self.wait_for(lambda text: unwanted not in text, timeout_s)

    def wait_until(self, so: Callable[[], object], timeout_s: float = DEADLINE_S) -> None:
        """Read until something outside of the screen is so, in the middle of a frame, too."""
        deadline = time.monotonic() + timeout_s
        while not so():
            assert time.monotonic() < deadline, f"waited for {so!r}, the screen shows:\n{self.text}"
            self.pump(0.05)

    def settle(self, quiet_s: float = 0.3) -> str:
        """Read until nothing has come for a while in which nobody worked; returns the screen.

        On a busy machine silence alone says nothing: who waits for a processor is silent, too.
        """
        deadline = time.monotonic() + DEADLINE_S
        looks, quiet = 6, 0
        while quiet < looks and self.status is None and time.monotonic() < deadline:
            came = self.pump(quiet_s / looks)
            quiet = 0 if came or self._works() else quiet + 1
        return self.text

    def _let_esc_be_taken(self) -> None:
        """Read until the process has slept for longer than it waits for the rest of a sequence."""
        deadline, looks = time.monotonic() + 10, 3
        while looks and self.status is None and time.monotonic() < deadline:
            until = time.monotonic() + 0.03
            while (left_s := until - time.monotonic()) > 0:
                self.pump(left_s)
            looks -= not self._works()

    def children(self) -> list[int]:
        """The processes that the process has started and that are there."""
        return list(children_of(self.pid))

    def _works(self) -> bool:
        return works(self.pid, self.path)

    def wait_exit(self, timeout_s: float = DEADLINE_S, *, hangs: bool = False) -> int:
        """Read until the process has ended by itself; returns its exit status.

        ``hangs``: something in it does not end, so that it is left after the time for that.
        """
        deadline = time.monotonic() + timeout_s
        while self.status is None:
            if time.monotonic() > deadline:
                raise AssertionError(f"process {self.pid} still runs:\n{self.text}")
            self.pump(0.05)
            self._reap()
        while self.pump(0.25):
            pass  # its last frame, and the terminal given back, may be more than one piece
        assert (b"not everything ended within" in self.output) == hangs, self.text
        return self.status

    def leave(self) -> None:
        """Ctrl+Q, and yes where it is asked; the terminal is as it was then."""
        self.type("\x11")
        self.wait_for(lambda text: self.status is not None or "y  Leave" in text)
        if self.status is None:
            self.type("y")
        status = self.wait_exit()
        assert status == 0, f"exit {status}, the screen shows:\n{self.text}"
        assert self.trouble() == ""

    def trouble(self) -> str:
        """Why the terminal is not as it was before, empty if it is."""
        kept = [mode for mode in (ALT_SCREEN, PASTE, FOCUS, SYNC, *MOUSE) if self.modes.get(mode)]
        words = [f"mode {mode} is still set" for mode in kept]
        if not self.modes.get(CURSOR, True):
            words.append("the cursor is hidden")
        if not self.modes.get(WRAP, True):
            words.append("long lines are not wrapped")
        if self.other_keys:
            words.append("xterm's modifyOtherKeys is still on")
        if self.kitty_depth > 0:
            words.append("the Kitty keyboard protocol is still on")
        with contextlib.suppress(OSError, termios.error):
            if termios.tcgetattr(self._fd)[3] != self._lines_before:
                words.append("the line discipline (echo, canonical mode) was not put back")
        return ", ".join(words)

    @property
    def takes_long_lines(self) -> bool:
        """The line discipline hands every key on; else it cuts a line at 4,095 characters."""
        return not termios.tcgetattr(self._fd)[3] & termios.ICANON

    @property
    def echoes(self) -> bool:
        """The line discipline shows what is typed."""
        return bool(termios.tcgetattr(self._fd)[3] & termios.ECHO)

    def pump(self, seconds: float) -> bool:
        """Read what comes within this time, a frame at most; False when nothing came."""
        if not self._unread:
            try:
                ready, _, _ = select.select([self._fd], [], [], seconds)
                self._unread = os.read(self._fd, 65536) if ready else b""
            except OSError:
                # the other end was closed: the process has ended, or soon will have
                self._reap()
                time.sleep(min(seconds, 0.01))
                return False
        came = self._next_frame()
        self._reap()
        return came

    def _next_frame(self) -> bool:
        """Show what was read, to the end of the first frame in it; False: there was nothing."""
        _, _, behind = (self._pending + self._unread).partition(FRAME_END)
        data = self._unread[: len(self._unread) - len(behind)]
        self._unread = behind
        if data:
            self._take(data)
        return bool(data)

    def close(self) -> None:
        """End the process whatever it does."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.status is None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.pid, number)
                with contextlib.suppress(AssertionError):
                    self.wait_exit(30)
        with contextlib.suppress(OSError):
            os.close(self._fd)

    # inside

    def _become(
        self,
        slave: int,
        command: list[str],
        env: Mapping[str, str] | None,
        cwd: str | Path | None,
    ) -> None:
        """Be the command; never returns."""
        try:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for descriptor in (0, 1, 2):
                os.dup2(slave, descriptor)
            os.closerange(3, 256)
            if cwd is not None:
                os.chdir(cwd)
            base = dict(os.environ if env is None else env)
            for name in ("COLUMNS", "LINES", "NO_COLOR", "TMUX", "STY", *KIND):
                base.pop(name, None)
            base.update(self._kind)
            os.execvpe(command[0], command, base)
        finally:
            os._exit(127)

    def _set_size(self, descriptor: int) -> None:
        size = struct.pack("HHHH", self.rows, self.columns, self.columns * 8, self.rows * 16)
        fcntl.ioctl(descriptor, termios.TIOCSWINSZ, size)

    def _reap(self) -> None:
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)

    def _take(self, data: bytes) -> None:
        """Feed the screen, keep what is half a sequence, answer what is asked."""
        self.output += data
        data, self._pending = self._pending + data, b""
        start = data.rfind(b"\x1b")
        if start >= 0 and len(data) - start < 64 and not _whole(data[start:]):
            data, self._pending = data[:start], data[start:]
        for found in MODE.finditer(data):
            for number in found[1].split(b";"):
                self.modes[int(number)] = found[2] == b"h"
        for changed in OTHER_KEYS.finditer(data):
            self.other_keys = bool(int(changed["level"] or 0))
        for kitty in KITTY.finditer(data):
            self.kitty_depth += 1 if kitty["push"] is not None else -int(kitty["pop"] or 1)
        at = 0
        for query in QUERY.finditer(data):  # an answer is about what stands there by then
            self._show(data[at : query.start()])
            at = query.end()
            if reply := self._reply(query):
                with contextlib.suppress(OSError):
                    os.write(self._fd, reply)
        self._show(data[at:])

    def _show(self, data: bytes) -> None:
        self._stream.feed(COLON_SGR.sub(b"", UNSUPPORTED.sub(b"", data)))

    def _reply(self, query: re.Match[bytes]) -> bytes:
        if query["osc"]:
            colour = self.background if query["osc"] == b"11" else b"d0d0/d0d0/d0d0"
            return b"\x1b]%b;rgb:%b\x1b\\" % (query["osc"], colour)
        prefix, number, final = query["prefix"], query["number"], query["final"]
        if final == b"n":
            row, col = self._screen.cursor.y + 1, self._screen.cursor.x + 1
            before = self._screen.buffer[row - 1][max(col - 2, 0)].data
            col += self.wide and before == "●"
            return b"\x1b[%d;%dR" % (row, col) if number == b"6" else b"\x1b[0n"
        if final == b"c":
            return b"\x1b[>1;10;0c" if prefix == b">" else b"\x1b[?62;22c"
        if final == b"$p":
            return b"\x1b[?%b;%d$y" % (number, 2 if number == b"2026" else 0)
        if final == b"t" and number == b"18":
            return b"\x1b[8;%d;%dt" % (self.rows, self.columns)
        return b""


def _checker(wanted: str | re.Pattern[str] | Callable[[str], object]) -> Callable[[str], object]:
    if isinstance(wanted, str):
        return lambda text: wanted in text
    return wanted.search if isinstance(wanted, re.Pattern) else wanted


def works(pid: int, terminal: str) -> bool:
    """It has keys to read, or one of its threads or children runs or waits for a processor."""
    with contextlib.suppress(OSError):
        slave = os.open(terminal, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            if select.select([slave], [], [], 0)[0]:
                return True
        finally:
            os.close(slave)
    return any(state in "RD" for state in _states(pid))


def _states(pid: int) -> Iterator[str]:
    """A letter of each thread of a process and of its children, where the system tells."""
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(OSError):  # it has just ended
            yield (task / "stat").read_text().rsplit(")", 1)[1].split()[0]
    for child in children_of(pid):
        yield from _states(child)


def children_of(pid: int) -> Iterator[int]:
    """The processes that a process has started, where the system tells."""
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(OSError):  # it has just ended
            yield from map(int, (task / "children").read_text().split())


def _whole(sequence: bytes) -> bool:
    """Whether an escape sequence is there to its end."""
    if sequence[1:2] in (b"]", b"P", b"_", b"^", b"X"):
        return sequence.endswith((b"\x07", b"\x1b\\"))
    if sequence[1:2] == b"[":
        return re.match(rb"\x1b\[[0-?]*[ -/]*[@-~]", sequence) is not None
    return re.match(rb"\x1b[ -/]*[0-~]", sequence) is not None
