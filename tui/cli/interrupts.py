"""Ctrl+C before a command is there and behind it, where nothing can be lost."""

from __future__ import annotations

import atexit
import os
import signal
from types import FrameType

from tui.cli import line_mode
from tui.errors import EXIT_INTERRUPTED


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
    line_mode.turn_on()
    os._exit(EXIT_INTERRUPTED)


def raise_again() -> None:
    """A command is there: Ctrl+C is `KeyboardInterrupt`, as Python has it at first."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
