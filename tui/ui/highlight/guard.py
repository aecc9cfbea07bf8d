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
from time import monotonic, process_time
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.ui.highlight.lines import ColouredLines, Range

_GREEDY = "it needs too much memory"
_log = logging.getLogger("tui.highlight")

STEP_CPU_S = 0.25
"""No lexer may go so long without a sign of life: the screen stands still meanwhile."""
WIDE_CPU_S = 0.1
"""Nor so long while it can be shown less of the text at once (`ColouredLines.narrow`)."""
BUILD_CPU_S = 2.0
"""Loading a language, piece by piece, once a process."""
STEP_BYTES = 192 * 2**20
"""No step may take more memory, nor all steps for a file together."""
MOST_EMPTY = 10_000
"""Matches or tokens in a row without progress."""
_QUICK_S = 0.002
"""Nothing takes up much memory in so short a time."""
_STUCK_LOOKS = 200
"""Looks at the clock between which the lexer must have come further."""
SLOW_S, MOST_SLOW_S = 0.03, 0.6
"""A step may be late by so much; what is later adds up, and when it is too much, that is that."""
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


class LexerUnfit(RuntimeError):
    """A lexer hangs, makes no progress or takes too much memory."""


class Guard:
    """A context in which nothing of a lexer's troubles gets out; they are in ``failure``."""

    _depth = 0
    _listens = False
    """The alarm has its handler, which stays: it does nothing outside of a guard."""
    _ceiling = 0
    """Bytes that the process may have come to; 0: nobody looks."""
    _step_s = STEP_CPU_S
    """What the lexer that runs may take until its next sign of life."""

    def __init__(self, limit_s: float = STEP_CPU_S) -> None:
        self.failure = ""
        """What went wrong, in a word or two; empty: nothing."""
        self._limit_s = limit_s
        self._alarmed = threading.current_thread() is threading.main_thread()
        self._left_s = 0.0
        self.took_bytes = 0
        """By so much the process's peak grew."""
        self._before = self._outer_ceiling = 0
        self._began_s = 0.0
        self._outer_step_s = STEP_CPU_S

    def __enter__(self) -> Guard:
        self._began_s, self._before = monotonic(), _most_bytes()
        self._outer_ceiling, Guard._ceiling = Guard._ceiling, self._before + STEP_BYTES
        if self._alarmed:
            self._outer_step_s, Guard._step_s = Guard._step_s, self._limit_s
            if not Guard._listens:
                signal.signal(signal.SIGVTALRM, _ring)
                Guard._listens = True
            Guard._depth += 1
            # again and again: Python ignores what is raised in a __del__ or while it collects
            limits_s = self._limit_s, self._limit_s
            self._left_s = signal.setitimer(signal.ITIMER_VIRTUAL, *limits_s)[0]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if self._alarmed:
            Guard._depth -= 1
            Guard._step_s = self._outer_step_s
            again_s = Guard._step_s if Guard._depth else 0.0
            signal.setitimer(signal.ITIMER_VIRTUAL, self._left_s, again_s)
        if monotonic() - self._began_s > _QUICK_S:
            self.took_bytes = _most_bytes() - self._before
        greedy = self.took_bytes > STEP_BYTES
        Guard._ceiling = self._outer_ceiling
        if error is None:
            self.failure = _GREEDY if greedy else ""
            return False
        if not isinstance(error, Exception):
            return False
        self.failure = str(error) if isinstance(error, LexerUnfit) else type(error).__name__
        return True


def look() -> None:
    """Called now and then by who runs a lexer: it is not stuck.

    Raises:
        LexerUnfit: it took too much memory.
    """
    if Guard._ceiling and _most_bytes() > Guard._ceiling:
        raise LexerUnfit(_GREEDY)
    if Guard._depth:
        signal.setitimer(signal.ITIMER_VIRTUAL, Guard._step_s, Guard._step_s)


class LexerTroubles:
    """The languages whose lexers failed in one file: they are not tried again there.

    The file's own lexer is judged as language ``""``.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.languages: set[str] = set()
        self._late_s: dict[str, float] = {}
        self._took_bytes: dict[str, int] = {}

    def add(self, language: str, failure: str) -> None:
        """Remember it, and say once, for who reads the log, why text is plain."""
        if language not in self.languages:
            self.languages.add(language)
            text = "%s: text in %s is shown without colours, its lexer failed (%s)"
            _log.warning(text, self.path, language, failure)

    def step(
        self,
        language: str,
        lines: ColouredLines,
        call: Callable[..., Range | None],
        *arguments: float,
    ) -> tuple[Range | None, str]:
        """Let a lexer work, the last argument being for how long.

        Returns what changed, and why it is to be dropped; empty: it goes on, perhaps by a part of
        the text at a time.
        """
        changed: Range | None = None
        began = process_time()
        with Guard(WIDE_CPU_S if lines.wide else STEP_CPU_S) as guard:
            changed = call(*arguments)
        failure = self._verdict(language, guard, process_time() - began - arguments[-1])
        if failure and lines.wide:
            lines.narrow()
            self._late_s.pop(language, None)
            self._took_bytes.pop(language, None)
            failure = ""
        return changed, failure

    def _verdict(self, language: str, guard: Guard, late_s: float) -> str:
        """What is wrong with a lexer after a step; empty: nothing.

        One long match is no reason to give up; a lexer that stops the screen again and again is,
        as is one that takes a little more memory with every step.
        """
        if guard.failure:
            return guard.failure
        self._took_bytes[language] = self._took_bytes.get(language, 0) + guard.took_bytes
        if self._took_bytes[language] > (STEP_BYTES if language else 2 * STEP_BYTES):
            return _GREEDY
        if late_s > SLOW_S:
            self._late_s[language] = self._late_s.get(language, 0.0) + late_s
        # The whole file is judged after its regions.
        most_s = MOST_SLOW_S if language else 2 * MOST_SLOW_S
        return "it is too slow" if self._late_s.get(language, 0.0) > most_s else ""


class MatchProgress:
    """Sees to it that a lexer comes further in its text; asked every some tokens."""

    def __init__(self, size: int) -> None:
        """``size`` of the text."""
        self._size = size
        self._reached = self._looks = 0

    def look(self, at: int, *, working: bool = False) -> None:
        """It has come so far; ``working``: it has nothing to show yet, but goes on.

        Raises:
            LexerUnfit: it runs past the text, or stands still, or takes too much memory.
        """
        if at > self._size:
            raise LexerUnfit("it runs past the text")
        if at > self._reached or working:
            self._reached, self._looks = at, 0
        self._looks += 1
        if self._looks > _STUCK_LOOKS:
            raise LexerUnfit("it makes no progress")
        look()


def _ring(number: int, frame: FrameType | None) -> None:
    """The alarm: ends whatever Python is running, but for a guard that comes or goes."""
    while frame is not None and frame.f_code not in _COMING_AND_GOING:
        frame = frame.f_back
    if Guard._depth and frame is None:
        raise LexerUnfit("it took too long")


_COMING_AND_GOING = (Guard.__enter__.__code__, Guard.__exit__.__code__)


def _most_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _MAXRSS_UNIT
