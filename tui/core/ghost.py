"""The ghost: how far a model at 50 tokens/s would be now in the same output, and where.

It begins with the model's own first token, since the way to the server is the same for both,
writes what the model wrote, and waits between two responses as long as the model did (for tools,
and for the next first token). All times are monotonic seconds that the caller hands in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from tui.core.document.hunk import OPEN, Decision, Hunk

GHOST_TOKENS_S = 50.0
_MOST_STEPS = 20_000
"""Lines of one turn that are remembered; the ghost skips the ones before."""


class GhostStretch(NamedTuple):
    """What one response streamed."""

    first_s: float
    last_s: float
    tokens: float
    chars: int


class Written(NamedTuple):
    """What the ghost has written."""

    tokens: float = 0.0
    chars: float = 0.0
    left_s: float = 0.0
    """Seconds that it needs for the rest of what the model has written."""


def written(stretches: Iterable[GhostStretch], now: float) -> Written:
    """How far the ghost is at ``now``."""
    tokens, chars, free_s, last_s = 0.0, 0.0, 0.0, 0.0
    begun = False
    for one in stretches:
        # the model's own pause between two responses is the ghost's, too
        start_s = free_s + max(one.first_s - last_s, 0.0) if begun else one.first_s
        begun, last_s = True, one.last_s
        free_s = start_s + one.tokens / GHOST_TOKENS_S
        if now >= free_s:
            tokens, chars = tokens + one.tokens, chars + one.chars
        elif now > start_s:
            share = (now - start_s) / (free_s - start_s)
            tokens, chars = tokens + share * one.tokens, chars + share * one.chars
    return Written(tokens, chars, max(free_s - now, 0.0) if begun else 0.0)


class GhostPlace(NamedTuple):
    """Where it is in the files."""

    path: str
    line: int | None
    """None: it has not come to its first edit yet, which is in this file."""


class _GhostStep(NamedTuple):
    """After so many characters the model wrote in this row of a hunk."""

    chars: int
    hunk: Hunk
    row: int
    """Counted from the hunk's first row, which moves with edits above."""
    gone: int
    """How many of the rows before it are struck lines, which go when the hunk has landed."""

    @property
    def row_now(self) -> int:
        """The same row as it is counted now."""
        return self.row if self.hunk.stage in OPEN else max(self.row - self.gone, 0)


class Trail:
    """Where the model wrote in one turn, for the ghost that comes after it.

    A frame adds one step at most, and each step is passed once: the cost of a frame does not
    grow with what was written.
    """

    def __init__(self) -> None:
        self._steps: deque[_GhostStep] = deque(maxlen=_MOST_STEPS)
        self._entered = False
        """The ghost has come to the first step."""

    def __bool__(self) -> bool:
        """True if anything was written in a file."""
        return bool(self._steps)

    def clear(self) -> None:
        """A new turn begins."""
        self._steps.clear()
        self._entered = False

    def wrote(self, chars: int, hunk: Hunk, line: int) -> None:
        """After ``chars`` characters of the turn's output the model writes in this line."""
        if hunk.start is not None:
            row = max(line - hunk.start.line, 0)
            gone = hunk.removed if hunk.stage in OPEN else 0
            self._steps.append(_GhostStep(chars, hunk, row, gone))

    def at(self, chars: float) -> tuple[str, int | None] | None:
        """Path and line where the ghost is after so many characters.

        No line: it has not come to its first edit; None: in no file, what it wrote was taken out.
        """
        steps = self._steps
        while len(steps) > 1 and steps[1].chars <= chars:
            steps.popleft()
        if not steps:
            return None
        if not (self._entered or steps[0].chars <= chars):
            return steps[0].hunk.path, None
        self._entered = True
        return _place(steps[0], steps[1] if len(steps) > 1 else None, chars)


def _place(step: _GhostStep, then: _GhostStep | None, chars: float) -> tuple[str, int] | None:
    """At a step, or between it and the next one in the same hunk; None: it was taken out."""
    hunk, row = step.hunk, step.row_now
    if hunk.start is None or hunk.end is None or hunk.decision is Decision.REJECTED:
        return None
    if then is not None and then.hunk is hunk and then.row_now > row:
        share = max(chars - step.chars, 0.0) / (then.chars - step.chars)
        row += int(share * (then.row_now - row))
    last = max(hunk.end.line - 1, hunk.start.line)
    return hunk.path, min(hunk.start.line + row, last)
