"""Token spans per line, kept while lines come, go and change.

`ColouredLines` is what colours a text: `IncrementalLines` follows checkpoints, `WholeLines` runs
any lexer from the top in slices, `FlatLines` is text of one kind, `NoLines` plain text. All keep
the spans of a line relative to the line, so nothing moves when lines come above.
"""

from __future__ import annotations

from collections.abc import Sequence

from pygments.token import Text, Whitespace

TokenType = tuple[str, ...]
"""Pygments' token types are tuples of names."""
Span = tuple[int, int, TokenType]
"""First column, column behind the last, token type."""
Spans = tuple[Span, ...]
Range = tuple[int, int]
"""First line, line behind the last."""

LONGEST_LINE = 10_000
"""Characters; longer lines stay neutral, and the lexer sees them as empty."""
_PLAIN = frozenset({Text, Whitespace})
_TOKEN_TYPE = type(Text)
_MOST_SHARED = 20_000
_shared_spans: dict[Span, Span] = {}
_shared_lines: dict[Spans, Spans] = {}
"""Equal spans, and equal lines of spans, are one object: a file of 50,000 lines has few kinds."""


class ColouredLines:
    """Spans of every line of a text that changes; by itself, those of plain text."""

    @property
    def wide(self) -> bool:
        """The lexer is shown a long text at once; `narrow` can change that."""
        return False

    def narrow(self) -> None:
        """From now on show the lexer a part of the text at a time: a step took too long.

        What it would see only in all of the text stays unknown then.
        """

    @property
    def pending(self) -> bool:
        """True while lines may still be coloured as before the last edit."""
        return False

    @property
    def wait_s(self) -> float:
        """Seconds until `idle` has something to do; 0: now."""
        return 0.0

    def spans(self, line: int) -> Spans:
        """The spans of a line, as far as they are known."""
        return ()

    def edit(self, row: int, n_old: int, new: Sequence[str]) -> None:
        """Lines ``row .. row + n_old`` became ``new``."""

    def advance(self, first: int, until: int, budget_s: float) -> Range | None:
        """Colour lines ``first .. until``, for ``budget_s``; returns the range that changed."""
        return None

    def idle(self, budget_s: float) -> Range | None:
        """Colour the rest, then repair; returns the range that changed."""
        return None


class NoLines(ColouredLines):
    """Plain text."""


class FlatLines(ColouredLines):
    """Text that is all of one kind: the inside of a docstring or a comment."""

    def __init__(self, kind: TokenType, lines: Sequence[str]) -> None:
        self._kind = kind
        self._lengths = [len(line) for line in lines]

    def spans(self, line: int) -> Spans:
        """One span, or none in an empty line."""
        length = self._lengths[line] if line < len(self._lengths) else 0
        return ((0, length, self._kind),) if length else ()

    def edit(self, row: int, n_old: int, new: Sequence[str]) -> None:
        """Lines ``row .. row + n_old`` became ``new``."""
        self._lengths[row : row + n_old] = [len(line) for line in new]


class Store:
    """A text and its spans, and which of them changed since somebody asked."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = [*map(shown, lines)] if longest(lines) > LONGEST_LINE else list(lines)
        """As the lexer sees them; too long ones are empty."""
        self.spans: list[Spans] = [()] * len(lines)
        self.known = bytearray(len(lines))
        """1 for each line that has colours, be they old or guessed."""
        self._changed: Range | None = None

    def splice(self, row: int, n_old: int, new: Sequence[str]) -> list[str]:
        """Lines ``row .. row + n_old`` became ``new``; returns the old ones.

        Old colours stay with the lines that are still there, until there are new ones.
        """
        last = row + n_old
        old = self.lines[row:last]
        kept = min(n_old, len(new))
        more = len(new) - kept
        self.lines[row:last] = [shown(line) for line in new]
        self.spans[row:last] = self.spans[row : row + kept] + [()] * more
        self.known[row:last] = self.known[row : row + kept] + bytes(more)
        return old

    def put(self, line: int, spans: Spans) -> None:
        """The colours of a line are these."""
        if line >= len(self.spans):
            return
        self.known[line] = 1
        if self.spans[line] != spans:
            self.spans[line] = spans
            self.touch(line, line + 1)

    def blank(self, first: int, last: int) -> None:
        """Lines that have no colours of their own."""
        last = min(last, len(self.spans))
        self.spans[first:last] = [()] * (last - first)
        self.known[first:last] = b"\1" * (last - first)

    def touch(self, first: int, last: int) -> None:
        """These lines look different now."""
        if self._changed is not None:
            first, last = min(self._changed[0], first), max(self._changed[1], last)
        self._changed = (first, last)

    def changed(self) -> Range | None:
        """The range of lines that look different since the last call."""
        changed, self._changed = self._changed, None
        return changed


class SpanWriter:
    """Cuts tokens at line ends; columns are counted from the line's start."""

    def __init__(self, line: int, line_start: int, text: str = "") -> None:
        """Position ``line_start`` of the text is the start of ``line``.

        With ``text``, line ends that the lexer gives no token for are counted too.
        """
        self.line = line
        self.at = line_start
        """The position behind the last token."""
        self._text = text
        self._start = line_start
        self._spans: list[Span] = []

    @property
    def column(self) -> int:
        """Where in the line the last token ended."""
        return self.at - self._start

    def write(self, pos: int, kind: TokenType, value: str) -> list[tuple[int, Spans]]:
        """Take a token; returns the lines that it finished."""
        skipped = self.skip(pos) if pos > self.at and self._text else []
        self.at = max(self.at, pos + len(value))
        if "\n" not in value:
            if kind is not Text:
                self._add(pos - self._start, pos - self._start + len(value), kind)
            return skipped
        *whole, last = value.split("\n")
        for part in whole:
            self._add(pos - self._start, pos - self._start + len(part), kind)
            skipped.append(self._finished())
            pos += len(part) + 1
            self._start = pos
        self._add(0, len(last), kind)
        return skipped

    def skip(self, pos: int) -> list[tuple[int, Spans]]:
        """No token came up to here; returns the lines that ended on the way."""
        finished = []
        while (newline := self._text.find("\n", self.at, pos)) >= 0:
            finished.append(self._finished())
            self.at = self._start = newline + 1
        self.at = max(self.at, pos)
        return finished

    def leap(self, pos: int) -> tuple[int, Spans] | None:
        """What comes up to here has no colours; returns the line in which that begins.

        None: it does not reach a line end.
        """
        newlines = self._text.count("\n", self.at, pos)
        first = self._finished() if newlines else None
        if newlines:
            self.line += newlines - 1
            self._start = self._text.rfind("\n", self.at, pos) + 1
        self.at = pos
        return first

    def rest(self) -> tuple[int, Spans]:
        """The unfinished line."""
        return self.line, shared(tuple(self._spans))

    def _finished(self) -> tuple[int, Spans]:
        done = self.rest()
        self._spans.clear()
        self.line += 1
        return done

    def _add(self, start: int, end: int, kind: TokenType) -> None:
        if start >= end or start < 0 or kind in _PLAIN or type(kind) is not _TOKEN_TYPE:
            return  # what is no token type is nothing to paint, whoever gave it
        spans = self._spans
        if spans and spans[-1][1] == start and spans[-1][2] is kind:
            spans[-1] = (spans[-1][0], end, kind)
        else:
            spans.append((start, end, kind))


def shared(spans: Spans) -> Spans:
    """An equal tuple, which may be in use already."""
    if not spans:
        return ()
    found = _shared_lines.get(spans)
    if found is None:
        if len(_shared_lines) + len(_shared_spans) > _MOST_SHARED:
            _shared_lines.clear()
            _shared_spans.clear()
        found = tuple([_shared_spans.setdefault(span, span) for span in spans])
        _shared_lines[found] = found
    return found


def shown(line: str) -> str:
    """A line as the lexer sees it: too long ones are empty."""
    return line if len(line) <= LONGEST_LINE else ""


def longest(lines: Sequence[str]) -> int:
    """Characters of the longest line."""
    return max(map(len, lines), default=0)
