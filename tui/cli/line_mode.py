"""The terminal's own line mode is off while `duetto --linear` reads lines: it cuts them at 4,095.

So it is from the first moment on, before anything large is imported: what is typed or pasted
meanwhile waits in the terminal, however long its lines are. readline edits them. For other
programs, where the terminal is to edit its lines itself, and at every end the mode is on again.
"""

from __future__ import annotations

import atexit
import os
import signal
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

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
