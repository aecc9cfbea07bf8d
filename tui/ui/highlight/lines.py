"""Token spans per line, kept right while lines come, go and change.

`IncrementalLines` follows the checkpoints (see `checkpoints`): after an edit it
starts at the nearest line above with a known state and stops as soon as a later line is
entered with the same state as before. `WholeLines` is for lexers without such states: old
spans stay until a whole pass, made in slices, is through.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from time import perf_counter
from typing import Protocol, cast

from pygments.lexer import Lexer
from pygments.token import Text, Whitespace

from tui.ui.highlight.checkpoints import CheckpointLexer, Pass, Stack, Token, TokenType

Span = tuple[int, int, TokenType]
"""First column, column behind the last, token type."""
Spans = tuple[Span, ...]

LONGEST_LINE = 10_000
"""Characters; longer lines stay neutral, and the lexer sees them as empty."""
_PLAIN = frozenset({Text, Whitespace})
_CLOCK_EVERY = 64
"""Tokens between two looks at the clock."""
_RESTART_S = 0.25
"""A whole pass is begun anew at most this often."""
_LOOKAHEAD_LINES = 20
"""Lines gone back where a quote or fence was typed, whose rules look far ahead."""
_FENCES = ('"""', "'''", "```", "~~~")


class Lines(Protocol):
    """Spans of every line of a text that changes."""

    @property
    def pending(self) -> bool:
        """True while lines may still be coloured as before the last edit."""

    def spans(self, line: int) -> Spans:
        """The spans of a line, as far as they are known."""

    def edit(self, row: int, n_old: int, new: Sequence[str]) -> None:
        """Lines ``row .. row + n_old`` became ``new``."""

    def advance(self, lines: list[str], until: int, budget_s: float) -> tuple[int, int] | None:
        """Colour on, up to line ``until`` or for ``budget_s``; returns the range of lines done."""


class NoLines:
    """Plain text."""

    pending = False

    def spans(self, line: int) -> Spans:
        """No spans."""
        return ()

    def edit(self, row: int, n_old: int, new: Sequence[str]) -> None:
        """Nothing to do."""

    def advance(self, lines: list[str], until: int, budget_s: float) -> tuple[int, int] | None:
        """Nothing to do."""
        return None


class SpanWriter:
    """Cuts tokens at line ends; columns are counted from the line's start."""

    def __init__(self, line: int, line_start: int) -> None:
        """Position ``line_start`` of the text is the start of ``line``."""
        self.line = line
        self._start = line_start
        self._spans: list[Span] = []

    def write(self, pos: int, kind: TokenType, value: str) -> Iterator[tuple[int, Spans]]:
        """Take a token; yields the lines that it finished."""
        if "\n" not in value:
            self._add(pos - self._start, pos - self._start + len(value), kind)
            return
        *whole, last = value.split("\n")
        for part in whole:
            self._add(pos - self._start, pos - self._start + len(part), kind)
            yield self.line, tuple(self._spans)
            self._spans.clear()
            pos += len(part) + 1
            self.line += 1
            self._start = pos
        self._add(0, len(last), kind)

    def rest(self) -> tuple[int, Spans]:
        """The unfinished line."""
        return self.line, tuple(self._spans)

    def _add(self, start: int, end: int, kind: TokenType) -> None:
        if start >= end or start < 0 or kind in _PLAIN:
            return
        if self._spans and self._spans[-1][1] == start and self._spans[-1][2] is kind:
            self._spans[-1] = (self._spans[-1][0], end, kind)
        else:
            self._spans.append((start, end, kind))


class IncrementalLines:
    """Spans by a checkpointed lexer."""

    def __init__(self, lexer: Lexer, lines: Sequence[str]) -> None:
        self._lexer = cast("CheckpointLexer", lexer)
        self._spans: list[Spans] = [()] * len(lines)
        self._entry: list[Stack | None] = [None] * len(lines)
        self._entry[0] = ("root",)
        self._dirty: int | None = 0
        self._settled = len(lines)
        """From this line on the entry states are those of before the edit."""
        self._back = 1
        self._long = any(len(line) > LONGEST_LINE for line in lines)

    @property
    def pending(self) -> bool:
        """True while lines below the last advance are not coloured anew."""
        return self._dirty is not None

    def spans(self, line: int) -> Spans:
        """The spans of a line."""
        return self._spans[line] if line < len(self._spans) else ()

    def edit(self, row: int, n_old: int, new: Sequence[str]) -> None:
        """Lines ``row .. row + n_old`` became ``new``."""
        n_new = len(new)
        kept = self._spans[row : row + min(n_old, n_new)]
        self._spans[row : row + n_old] = kept + [()] * (n_new - len(kept))
        first = self._entry[row] if row else ("root",)
        self._entry[row : row + n_old] = [first] + [None] * (n_new - 1)
        if self._dirty is None:
            self._dirty, self._settled = row, row + n_new
        else:
            below = self._dirty - n_old + n_new if self._dirty >= row + n_old else self._dirty
            shifted = self._settled - n_old + n_new if self._settled > row else row
            self._dirty, self._settled = min(below, row), max(shifted, row + n_new)
        self._long = self._long or any(len(line) > LONGEST_LINE for line in new)
        if any(fence in line for line in new for fence in _FENCES):
            self._back = _LOOKAHEAD_LINES

    def advance(self, lines: list[str], until: int, budget_s: float) -> tuple[int, int] | None:
        """Colour on from the first line that is not settled."""
        if self._dirty is None or self._dirty > until:
            return None
        start = max(self._dirty - self._back, 0)
        while self._entry[start] is None:
            start -= 1
        self._back = 1
        context = max(start - 1, 0)
        text, pos = _joined(lines, context, self._long), 0
        if context < start:
            pos = text.index("\n") + 1
        stop = self._lex(text, pos, start, (until, perf_counter() + budget_s))
        return (start, stop)

    def _lex(self, text: str, pos: int, start: int, limit: tuple[int, float]) -> int:
        """Lex from line ``start``; returns the line behind the last one written."""
        until, deadline = limit
        dirty = self._dirty or 0
        writer = SpanWriter(start, pos)
        written = start
        tokens = Pass(self._lexer, text, pos, self._entry[start] or ("root",))
        for item in tokens:
            if len(item) == 3:
                for line, spans in writer.write(*item):
                    self._finish(line, spans)
                continue
            line = writer.line
            if line >= len(self._spans):
                break
            for between in range(written + 1, line):
                self._entry[between] = None
            written = line
            if line >= self._settled and line > dirty and self._entry[line] == item[1]:
                self._dirty = None
                return line
            self._entry[line] = item[1]
            if line > until or (line > dirty and perf_counter() > deadline):
                self._dirty = line
                self._settled = max(self._settled, line + 1)
                return line
        self._finish(*writer.rest())
        for between in range(written + 1, len(self._entry)):
            self._entry[between] = None
        self._dirty = None
        return len(self._spans)

    def _finish(self, line: int, spans: Spans) -> None:
        if line < len(self._spans):
            self._spans[line] = spans


class WholeLines:
    """Spans by any lexer: one pass over the whole text, in slices."""

    def __init__(self, lexer: Lexer, lines: Sequence[str]) -> None:
        self._lexer = lexer
        self._spans: list[Spans] = [()] * len(lines)
        self._fresh: list[Spans] = []
        self._tokens: Iterator[Token] | None = None
        self._writer = SpanWriter(0, 0)
        self._begun = float("-inf")
        self.pending = True
        """True while a pass is under way or due."""

    def spans(self, line: int) -> Spans:
        """The spans of a line as of the last whole pass."""
        return self._spans[line] if line < len(self._spans) else ()

    def edit(self, row: int, n_old: int, new: Sequence[str]) -> None:
        """Lines ``row .. row + n_old`` became ``new``: old spans stay, a new pass is due."""
        kept = self._spans[row : row + min(n_old, len(new))]
        self._spans[row : row + n_old] = kept + [()] * (len(new) - len(kept))
        self._tokens = None
        self.pending = True

    def advance(self, lines: list[str], until: int, budget_s: float) -> tuple[int, int] | None:
        """Go on with the pass; when it is through, its spans replace the old ones."""
        deadline = perf_counter() + budget_s
        if not self.pending or (self._tokens is None and not self._begin(lines)):
            return None
        tokens = self._tokens
        while tokens is not None:
            few = list(islice(tokens, _CLOCK_EVERY))
            for token in few:
                self._fresh += [spans for _, spans in self._writer.write(*token)]
            if len(few) < _CLOCK_EVERY:
                break
            if perf_counter() > deadline:
                return None
        self._fresh.append(self._writer.rest()[1])
        blank: list[Spans] = [()]
        self._spans = (self._fresh + blank * len(lines))[: len(lines)]
        self._tokens = None
        self.pending = False
        return (0, len(lines))

    def _begin(self, lines: list[str]) -> bool:
        now = perf_counter()
        if now - self._begun < _RESTART_S:
            return False
        self._begun = now
        self._fresh = []
        self._writer = SpanWriter(0, 0)
        text = _joined(lines, 0, any(len(line) > LONGEST_LINE for line in lines))
        self._tokens = iter(self._lexer.get_tokens_unprocessed(text))
        return True


def _joined(lines: list[str], first: int, some_long: bool) -> str:
    """The text from a line on; too long lines are empty in it."""
    rest = lines[first:] if first else lines
    if some_long:
        rest = ["" if len(line) > LONGEST_LINE else line for line in rest]
    return "\n".join(rest) + "\n"
