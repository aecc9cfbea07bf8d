"""The frame of the last start, on the screen before anything heavy is imported.

It is the first picture without its text: header, panes and prompt in the theme's colours. It is
kept for one command line, folder, terminal and size, and holds only while the settings that it was
painted by are as they were; else the start is as if there were none. The terminal is taken with it:
what is typed waits there for the driver, which takes over (`take`). Until then every way out gives
the terminal back (`leave`).

This is the first module of every start: at its top it imports what Python has loaded already.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import FrameType
    from typing import Any

_MAGIC = b"duetto frame 1"
_MOST_BYTES = 256 * 1024
_MOST_FRAMES = 50
_LAST_S = 1.0
"""So long the way out waits for a terminal that takes nothing."""
_INPUT, _OUTPUT = 0, 2
"""As for the driver: the output may be read by another program."""
_VALUES = (
    "TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "NO_COLOR", "FORCE_COLOR",
    "CLICOLOR_FORCE", "COLORFGBG", "KONSOLE_VERSION", "VTE_VERSION", "LANG", "LC_ALL", "LC_CTYPE",
    "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "DUETTO_HOME", "DUETTO_LINEAR",
)  # fmt: skip
_SET = ("WT_SESSION", "TMUX", "STY", "SSH_CONNECTION", "SSH_TTY")
"""Variables of which only matters whether they are there."""
_ENDING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGTSTP")


class TakenTerminal:
    """A kept frame that is on the screen: what the driver takes over."""

    def __init__(self, fd: int, before: list[Any], entering: str, leaving: bytes) -> None:
        """``fd`` is the terminal, opened so that a write does not wait."""
        self.before = before
        """The terminal's mode as the shell had it."""
        self.entering = entering
        """What took the terminal, and asked it."""
        self.leaving = leaving
        self.rest = b""
        """What the terminal has not taken yet."""
        self.ahead = b""
        """What was typed before the terminal was taken."""
        self._fd = fd

    def write(self, data: bytes) -> None:
        """As much as the terminal takes now."""
        self.rest += data
        try:
            while self.rest:
                self.rest = self.rest[os.write(self._fd, self.rest) :]
        except BlockingIOError:
            return

    def close(self) -> None:
        """Nothing more is written here."""
        os.close(self._fd)

    def give_back(self) -> None:
        """Make the terminal what it was; what it still answers is not left to the shell."""
        import select
        import termios

        self.rest = (b"\x18" if self.rest else b"") + self.leaving
        try:
            self.write(b"")
            while self.rest and select.select([], [self._fd], [], _LAST_S)[1]:
                self.write(b"")
            termios.tcflush(_INPUT, termios.TCIFLUSH)
            termios.tcsetattr(_INPUT, termios.TCSANOW, self.before)
            self.close()
        except (OSError, termios.error):
            return  # it is gone


class _ThisStart:
    """Of the process."""

    key: tuple[str, ...] = ()
    """What a frame is kept for, but for the size; empty: none is kept."""
    shown: TakenTerminal | None = None


def show(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> None:
    """Take the terminal and show the frame that was kept for this start, if there is one."""
    if os.name != "posix":
        return
    from tui import __version__

    try:
        values = [f"{name}={environment.get(name, '')}" for name in _VALUES]
        there = [str(name in environment) for name in _SET]
        _ThisStart.key = (__version__, sys.prefix, os.getcwd(), *arguments, "", *values, *there)
        size = os.get_terminal_size(_INPUT)
        found = _read(_file((size.columns, size.lines), environment), _name((*size,)))
        if found is not None:
            _take_terminal(*found)
    except (OSError, ValueError):
        leave()


def leave() -> None:
    """Give the terminal back, if a kept frame is on it and the driver has not taken over."""
    shown, _ThisStart.shown = _ThisStart.shown, None
    if shown is not None:
        shown.give_back()


def take() -> TakenTerminal | None:
    """What the driver takes over; None: the terminal is as the shell had it."""
    shown, _ThisStart.shown = _ThisStart.shown, None
    return shown


def end(number: int, frame: FrameType | None) -> None:
    """A signal that ends or stops the process before the driver is there."""
    import signal

    leave()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def keep(size: tuple[int, int], texts: tuple[str, str, str], watched: Iterable[str]) -> None:
    """Keep a frame for the next start like this one.

    ``texts``: what takes the terminal and asks it, the frame, and what gives the terminal back.
    ``watched``: the files that must be as they are now. What cannot be written is not kept.
    """
    if not _ThisStart.key:
        return
    file, name = _file(size, os.environ), _name(size)
    states = "\0".join(f"{path}\n{_state(path)}" for path in watched)
    data = _packed([name, states.encode("utf-8", "surrogateescape"), *map(str.encode, texts)])
    try:
        if _content(file) == data:
            return
        folder = os.path.dirname(file)
        os.makedirs(folder, 0o700, exist_ok=True)
        new = f"{file}.{os.getpid()}"
        fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(fd, "wb") as opened:
            opened.write(data)
        os.replace(new, file)
        _thin_out(folder)
    except OSError:
        return


def _take_terminal(watched: bytes, entering: bytes, frame: bytes, leaving: bytes) -> None:
    import atexit
    import termios

    for line in watched.decode("utf-8", "surrogateescape").split("\0"):
        path, _, state = line.partition("\n")
        if path and _state(path) != state:
            return
    if not all(map(os.isatty, (0, 1, 2))) or os.tcgetpgrp(_INPUT) != os.getpgrp():
        return
    try:
        before, now = termios.tcgetattr(_INPUT), termios.tcgetattr(_INPUT)
    except termios.error:
        return
    # Ctrl+C still ends the start; the driver takes it for a key
    now[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
    now[0] &= ~(termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR)
    now[6][termios.VMIN] = now[6][termios.VTIME] = 0  # a read waits for nothing
    off = bytes([os.fpathconf(_INPUT, "PC_VDISABLE") & 0xFF])
    now[6][termios.VSUSP] = now[6][termios.VQUIT] = off
    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    fd = os.open(os.ttyname(_OUTPUT), flags)
    _ThisStart.shown = shown = TakenTerminal(fd, before, entering.decode(), leaving)
    atexit.register(leave)
    signal = __import__("_signal")  # `signal` has enums made of it, which takes half as long again
    for name in _ENDING:
        number = getattr(signal, name)
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, end)
    try:
        termios.tcsetattr(_INPUT, termios.TCSANOW, now)
        # until now the terminal made Enter a line feed
        shown.ahead = os.read(_INPUT, 65536).replace(b"\n", b"\r")
        now[6][termios.VMIN] = 1
        termios.tcsetattr(_INPUT, termios.TCSANOW, now)
        shown.write(entering + frame)
    except termios.error:
        leave()


def _name(size: tuple[int, int]) -> bytes:
    """All that a frame is kept for, as a number: what it was is nobody's business."""
    from zlib import adler32, crc32

    said = "\0".join((*_ThisStart.key, *map(str, size))).encode("utf-8", "surrogateescape")
    return f"{crc32(said):08x}{adler32(said):08x}{len(said):x}".encode()


def _file(size: tuple[int, int], environment: Mapping[str, str]) -> str:
    """Where the frame of this start is kept."""
    if home := environment.get("DUETTO_HOME"):
        place = os.path.join(os.path.abspath(os.path.expanduser(home)), "cache")
    elif sys.platform == "darwin":
        place = os.path.expanduser("~/Library/Caches/duetto")
    else:
        place = os.path.join(
            environment.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "duetto"
        )
    return os.path.join(place, "frames", _name(size).decode())


def _state(path: str) -> str:
    """When a file was changed, and how long it is; empty: it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return ""
    return f"{found.st_mtime_ns} {found.st_size}"


def _packed(parts: Sequence[bytes]) -> bytes:
    from zlib import crc32

    body = b"".join(parts)
    return b"%s %d %s\n%s" % (_MAGIC, crc32(body), b" ".join(b"%d" % len(p) for p in parts), body)


def _content(file: str) -> bytes:
    """Empty: there is none."""
    try:
        with open(file, "rb") as opened:
            return opened.read(_MOST_BYTES + 1)
    except OSError:
        return b""


def _read(file: str, name: bytes) -> tuple[bytes, bytes, bytes, bytes] | None:
    """The parts of a kept frame; None: there is none, or it is damaged."""
    from zlib import crc32

    head, _, body = _content(file).partition(b"\n")
    if not head.startswith(_MAGIC + b" ") or len(body) > _MOST_BYTES:
        return None
    check, *lengths = map(int, head[len(_MAGIC) :].split())
    if check != crc32(body) or len(lengths) != 5 or sum(lengths) != len(body):
        return None
    parts = []
    for length in lengths:
        parts.append(body[:length])
        body = body[length:]
    kept_for, watched, entering, frame, leaving = parts
    return (watched, entering, frame, leaving) if kept_for == name else None


def _thin_out(folder: str) -> None:
    """The oldest go."""
    with os.scandir(folder) as entries:
        files = sorted((entry.stat().st_mtime_ns, entry.path) for entry in entries)
    for _, path in files[:-_MOST_FRAMES]:
        os.unlink(path)
