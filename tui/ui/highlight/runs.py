"""One run of a lexer down a text: lines get their spans, line starts their states.

A run can pause at any token and go on later, as long as nobody edits the text.
"""

from __future__ import annotations

from enum import Enum
from time import perf_counter
from typing import TYPE_CHECKING

from tui.ui.highlight.checkpoints import CheckpointLexer, Pass, State, Token
from tui.ui.highlight.embedded import Embedded, flat
from tui.ui.highlight.guard import LexerUnfit, look
from tui.ui.highlight.lines import SpanWriter, Store

if TYPE_CHECKING:
    from tui.ui.highlight.incremental import IncrementalLines

_CLOCK_EVERY = 64
"""Tokens between two looks at the clock."""
_STUCK_LOOKS = 200
"""Looks at the clock between which the lexer must have come further."""
_LONG_TOKEN = 200
"""Characters; shorter ones are not worth a region."""


class Outcome(Enum):
    """Why a run stopped."""

    PAUSED = "paused"
    """No time left, or far enough for now: it can go on."""
    SETTLED = "settled"
    """From here on all is as it was."""
    WINDOW = "window"
    """It came near the end of what it was shown; begin anew from here."""
    END = "end"
    """The end of the text."""


class Run:
    """A lexer on its way."""

    def __init__(
        self, lexer: CheckpointLexer, text: tuple[str, int, int], line: int, state: State
    ) -> None:
        """``text``: the text, the position of ``line`` in it, and where to stop in a window."""
        whole, pos, self.limit = text
        self._items = iter(Pass(lexer, whole, pos, state))
        self._size = len(whole)
        self._writer = SpanWriter(line, pos, whole)
        self._start = self.line = line
        """Where the last line begins whose state is known."""
        self._met: set[int] = set()
        self._looks = self._looked_at = 0
        self._tokens = 0

    def drive(self, owner: IncrementalLines, until: int, deadline: float) -> Outcome:
        """Go on until a line behind ``until`` begins, or the deadline, or the end."""
        count = len(owner.store.lines)
        for item in self._items:
            if len(item) == 3:
                self._take(item, owner)
                self._tokens += 1
                if not self._tokens % _CLOCK_EVERY and self._late(deadline):
                    return Outcome.PAUSED
                continue
            for line, spans in self._writer.skip(item[0]):
                owner.store.put(line, spans)
            line = self._writer.line
            if line >= count:
                break
            owner.passed(self.line + 1, line)
            self.line = line
            if owner.reached(self, line, item[1]):
                self._sweep(owner, line)
                return Outcome.SETTLED
            if line >= self.limit and self.limit < count:
                self._sweep(owner, line)
                return Outcome.WINDOW
            if line > until or perf_counter() > deadline:
                self._sweep(owner, line)
                return Outcome.PAUSED
        if self.limit < count:
            self._sweep(owner, self.line)
            return Outcome.WINDOW
        owner.store.put(*self._writer.rest())
        owner.passed(self.line + 1, count)
        self._sweep(owner, count)
        return Outcome.END

    def guess(self, store: Store, first: int, deadline: float) -> None:
        """Colour the lines from ``first`` to the limit, without keeping any state."""
        for count, item in enumerate(self._items):
            if not count % _CLOCK_EVERY and self._late(deadline):
                return
            if len(item) != 3:
                continue
            for line, spans in self._writer.write(*item):
                if line >= self.limit:
                    return
                if line >= first and not store.known[line]:
                    store.put(line, spans)

    def _take(self, token: Token, owner: IncrementalLines) -> None:
        pos, kind, value = token
        writer, store = self._writer, owner.store
        mark = kind if isinstance(kind, Embedded) else None
        if mark is None:
            if len(value) > _LONG_TOKEN:
                mark = flat(kind, value)
            if mark is None:
                for line, spans in writer.write(pos, kind, value):
                    store.put(line, spans)
                return
        for line, spans in writer.skip(pos):
            store.put(line, spans)
        start = (writer.line, writer.column)
        begun = writer.leap(pos + len(value))
        if begun is not None:
            store.put(*begun)
            store.blank(start[0] + 1, writer.line)
        region = owner.regions.met(mark, start, (writer.line, writer.column), value)
        self._met.add(id(region))

    def _sweep(self, owner: IncrementalLines, line: int) -> None:
        """Regions that were above and are not there any more go."""
        owner.regions.sweep(self._start, line, self._met)
        self._start = line

    def _late(self, deadline: float) -> bool:
        """Whether the time is over. Raises LexerUnfit if the lexer makes no progress."""
        if self._writer.at > self._size:
            raise LexerUnfit("it goes beyond the text")
        if self._writer.at > self._looked_at:
            self._looked_at, self._looks = self._writer.at, 0
        self._looks += 1
        if self._looks > _STUCK_LOOKS:
            raise LexerUnfit("it makes no progress")
        look()
        return perf_counter() > deadline
