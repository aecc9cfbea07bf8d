"""A fence around foreign lexers: what raises, hangs or eats memory is stopped, and said once.

A regular expression that runs away cannot be asked to stop, but Python's matcher looks for
signals: an alarm whose handler raises ends it. The alarm counts the process's own CPU time, so a
busy machine or a suspended process is no reason to give up on a lexer. Signals are for the main
thread; elsewhere (tests) there is no alarm.
"""

from __future__ import annotations

import logging
import resource
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType, TracebackType

_log = logging.getLogger("tui.highlight")

STEP_CPU_S = 0.25
"""No step of a lexer may take longer: the screen stands still meanwhile."""
BUILD_CPU_S = 2.0
"""Loading a language, piece by piece, once a process."""
STEP_BYTES = 192 * 2**20
"""No step may take more memory."""
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


class LexerUnfit(RuntimeError):
    """A lexer hangs, makes no progress or takes too much memory."""


class Guard:
    """A context in which nothing of a lexer's troubles gets out; they are in ``failure``."""

    _depth = 0

    def __init__(self, limit_s: float = STEP_CPU_S) -> None:
        self.failure = ""
        """What went wrong, in a word or two; empty: nothing."""
        self._limit_s = limit_s
        self._alarmed = threading.current_thread() is threading.main_thread()
        self._left_s = 0.0
        self._handler: Callable[[int, FrameType | None], object] | int | None = None
        self._before = 0

    def __enter__(self) -> Guard:
        self._before = _most_bytes()
        if self._alarmed:
            if not Guard._depth:
                self._handler = signal.signal(signal.SIGVTALRM, _ring)
            Guard._depth += 1
            self._left_s = signal.setitimer(signal.ITIMER_VIRTUAL, self._limit_s)[0]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if self._alarmed:
            Guard._depth -= 1
            signal.setitimer(signal.ITIMER_VIRTUAL, self._left_s)
            if not Guard._depth:
                signal.signal(signal.SIGVTALRM, self._handler or signal.SIG_DFL)
        if error is None:
            if _most_bytes() - self._before > STEP_BYTES:
                self.failure = "it takes too much memory"
            return False
        if not isinstance(error, Exception):
            return False
        self.failure = str(error) if isinstance(error, LexerUnfit) else type(error).__name__
        return True


class Troubles:
    """The languages whose lexers failed in one file: they are not tried again there."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.languages: set[str] = set()

    def add(self, language: str, failure: str) -> None:
        """Remember it, and say once, for who reads the log, why text is plain."""
        if language not in self.languages:
            self.languages.add(language)
            text = "%s: text in %s is shown without colours, its lexer failed (%s)"
            _log.warning(text, self.path, language, failure)


def _ring(number: int, frame: FrameType | None) -> None:
    """The alarm: ends whatever Python is running."""
    if Guard._depth:
        raise LexerUnfit("it took too long")


def _most_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _MAXRSS_UNIT
