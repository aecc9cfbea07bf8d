"""The standard streams as a command finds them: closed, full, broken, or not made for UTF-8."""

from __future__ import annotations

import _thread
import atexit
import errno
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, BinaryIO

from tui import kept_frame
from tui.errors import EXIT_INTERRUPTED, UsageError

LIMIT_BYTES = 64 * 1024 * 1024
"""More than this is no prompt and no patch."""
_LOOK_S = 0.1
"""How late Ctrl+C may be heard while a line is being typed."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})


def prepare() -> None:
    """Make every stream one that can be used; call it before anything is written.

    A closed one becomes the null device (else the next file that is opened would take its place
    and get the output); a character that the terminal cannot show is written as an escape.
    """
    for name, flags in (("stdin", os.O_RDONLY), ("stdout", os.O_WRONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            mode = "r" if flags == os.O_RDONLY else "w"
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def why_unwritten(error: OSError) -> str:
    """What happened to the output, in words; empty if the error is not about that."""
    if error.filename is not None or error.errno not in _FULL:
        return ""
    return f"cannot write the output: {(error.strerror or str(error)).lower()}"


def abandon() -> None:
    """Nothing more can be written to stdout; the interpreter must not complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def text_of(source: BinaryIO, name: str) -> str:
    """All of a prompt or a patch. Raises UsageError: no text, or more than anybody means."""
    data = source.read(LIMIT_BYTES + 1)
    if len(data) > LIMIT_BYTES:
        raise UsageError(f"{name} holds more than {LIMIT_BYTES >> 20} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8 (byte {error.start + 1})") from error


_INPUT = 0
_LFLAG, _CC = 3, 6
"""Places in what termios gives."""
_before: list[Any] = []
"""What the terminal was, while its mode is off."""


def is_wanted(args: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether the linear mode is asked for, as far as can be seen without its settings."""
    said = environment.get("DUETTO_LINEAR", "").strip().lower()
    return "--linear" in args or said in ("1", "true", "t", "yes", "y", "on")


def begin() -> None:
    """Turn it off, and on again at every end. Called in the main thread."""
    turn_off()
    if not _before:
        return
    atexit.register(turn_on)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _killed)


def turn_off() -> None:
    """Let go of line mode, if standard input is a terminal and ours to change."""
    import termios

    try:
        if _before or not os.isatty(_INPUT) or os.tcgetpgrp(_INPUT) != os.getpgrp():
            return
        before, now = termios.tcgetattr(_INPUT), termios.tcgetattr(_INPUT)
        now[_LFLAG] &= ~termios.ICANON
        now[_CC][termios.VMIN], now[_CC][termios.VTIME] = 1, 0
        termios.tcsetattr(_INPUT, termios.TCSANOW, now)
        _before[:] = before
    except (OSError, termios.error):
        return


def turn_on() -> None:
    """Give the terminal back as it was."""
    if _before:
        import termios

        before, _before[:] = _before[:], []
        try:
            termios.tcsetattr(_INPUT, termios.TCSANOW, before)
        except (OSError, termios.error):
            return  # it is gone


def _killed(number: int, frame: FrameType | None) -> None:
    """By a signal, before anybody else wants to know of it."""
    turn_on()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def end_at_once() -> None:
    """From now on Ctrl+C ends the process: no traceback, and 130 as its exit code.

    Who is told to ignore it (``nohup``) still does. While Python takes itself down it is ignored:
    there the system would end the process by the signal.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _end)
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
        # A Ctrl+C in code that was made from a string (any dataclass) makes `python -m` end by the
        # signal, caught or not: Python forgets it with the next string (pythonrun.c,
        # unhandled_keyboard_interrupt).
        exec("")


def _end(number: int, frame: FrameType | None) -> None:
    turn_on()
    kept_frame.leave()
    os._exit(EXIT_INTERRUPTED)


_ended: list[int] = []
"""The exit code, once the command has come to its end."""


def ended(code: int) -> None:
    """The command has come to its end: `leave` may end the process with this exit code."""
    _ended.append(code)


def leave() -> None:
    """End the process, unless the command broke or something cannot be written."""
    if _ended:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):
            return  # Python says so as it goes on
        os._exit(_ended[-1])


END_S = 10.0
"""So long the way out may take."""
_LAST_S = 10.0
"""What must be kept then is written within this time: a disk may be slow."""
_ways_out: list[_thread.LockType] = []
"""Held by the way out that has begun, until it is no longer one."""


def end_in_time(code: int, last: Callable[[], None] = lambda: None) -> None:
    """The way out begins: whatever hangs, the process ends within `END_S`, with this exit code.

    ``last`` is called before, in a thread of its own, for what must be said and kept even then. The
    first call counts. A handler of a signal may call it: no lock of Python's is taken.
    """
    if not _ways_out:
        held = _thread.allocate_lock()
        held.acquire()
        _ways_out.append(held)
        _thread.start_new_thread(_end_overdue, (held, code, last))


def stay() -> None:
    """The way out led to another session."""
    while _ways_out:
        _ways_out.pop().release()


def _end_overdue(held: _thread.LockType, code: int, last: Callable[[], None]) -> None:
    """Unless it is let go of in time."""
    if held.acquire(timeout=END_S):
        return
    done = _thread.allocate_lock()
    done.acquire()

    def say() -> None:
        try:
            last()
            _say_what_hangs()
        finally:
            done.release()

    _thread.start_new_thread(say, ())
    done.acquire(timeout=_LAST_S)
    turn_on()
    kept_frame.leave()
    os._exit(code)


def _say_what_hangs() -> None:
    """On stderr that something does; where all threads are, in the log."""
    import faulthandler

    from tui.settings import Paths

    log_file = Paths.find().log_file
    words = f"duetto: not everything ended within {END_S:.0f} s"
    try:
        with log_file.open("a", encoding="utf-8") as opened:
            print(f"{words}; the threads:", file=opened, flush=True)
            faulthandler.dump_traceback(opened)
        words += f"; details are in {log_file}"
    finally:
        os.write(2, f"{words}\n".encode("utf-8", "replace"))


def raise_again() -> None:
    """A command is there: Ctrl+C is `KeyboardInterrupt`, as Python has it at first."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def hearing_ctrl_c() -> Iterator[None]:
    """Ctrl+C in the line that is being typed is `KeyboardInterrupt`, at whatever moment it comes.

    A signal between Python's last look for one and the system call that waits for the line ends
    no wait: it would be heard with the next key only. A timer makes Python look again.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timed = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, _LOOK_S, _LOOK_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, timed)
        signal.signal(signal.SIGINT, before)
