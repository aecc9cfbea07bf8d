"""Finding in a buffer: the lines in sight at once, the rest in slices, an edit by its own lines.

Each line's matches are found when they are needed and kept until the line changes, so typing
costs the same in a file of any length while something is looked for.

Plain text goes through Python's `re`, escaped. Regular expressions are Python's too, but run on
the `regex` package, the only matcher with a time limit for a line; a query has one besides.
"""

from __future__ import annotations

import re
import warnings
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from time import perf_counter, thread_time
from typing import NamedTuple

from tui.core.text.buffer import Buffer, LineChange, Mark
from tui.core.text.change_set import Position
from tui.ui.editor.paint import Overlay

LINE_LIMIT_S = 0.05
"""A line that takes longer ends the search."""
TOO_SLOW = "this pattern takes too long here; use a simpler one"
MOST_CHARS = 1000
MOST_IN_LINE = 5000
"""Matches of one line that are counted and shown."""

Span = tuple[int, int]
"""First column of a match, column behind its last."""


class Query(NamedTuple):
    """What the find bar says."""

    needle: str = ""
    case: bool = False
    """Upper and lower case differ."""
    word: bool = False
    """Whole words only."""
    regex: bool = False
    """The needle is a regular expression, with Python's syntax."""


class Pattern:
    """A query that can be looked for."""

    def __init__(self, query: Query) -> None:
        """Compile it.

        Raises:
            ValueError: it cannot be looked for; the text says why, in words for the user.
        """
        self.query = query
        if len(query.needle) > MOST_CHARS:
            raise ValueError(f"too long: at most {MOST_CHARS} characters")
        flags = 0 if query.case else re.IGNORECASE
        if query.regex:
            checked = _checked(query.needle, flags)
            self.groups = checked.groups
            self.names = dict(checked.groupindex)
            import regex  # only who searches by pattern waits for it

            source = rf"\b(?:{query.needle})\b" if query.word else query.needle
            with warnings.catch_warnings(action="ignore"):
                try:
                    self._timed = regex.compile(source, flags)
                except (regex.error, RecursionError, OverflowError, MemoryError) as error:
                    raise ValueError(f"not a pattern: {error}") from None
        else:
            self.groups, self.names = 0, {}
            self._plain = re.compile(
                _whole(query) if query.word else re.escape(query.needle), flags
            )
        self._folded = query.needle if query.case else query.needle.lower()
        self._ascii = query.needle.isascii()

    def matches(self, line: str) -> Iterator[re.Match[str]]:
        """All matches in a line, from left to right. Raises TimeoutError."""
        if self.query.regex:
            found: Iterator[re.Match[str]] = self._timed.finditer(line, timeout=LINE_LIMIT_S)
            return found
        return self._plain.finditer(line)

    def spans(self, line: str) -> tuple[Span, ...]:
        """Where the first `MOST_IN_LINE` matches of a line are. Raises TimeoutError."""
        found: list[Span] = []
        for match in self.matches(line):
            found.append(match.span())
            if len(found) == MOST_IN_LINE:
                break
        return tuple(found)

    def is_nowhere_in(self, lines: Sequence[str]) -> bool:
        """True if there is surely no match in any of these lines; quick."""
        if self.query.regex or not self._ascii:
            return False
        text = "\n".join(lines)
        if self.query.case:
            return self._folded not in text
        return text.isascii() and self._folded not in text.lower()


def _checked(needle: str, flags: int) -> re.Pattern[str]:
    """The pattern as Python understands it. Raises ValueError."""
    from tui.core.text.patterns import (  # as `regex`, when it is needed
        HEAVIEST,
        pattern_weight,
    )

    if re.search(r"(?<!\\)(?:\\\\)*\\n", needle):
        raise ValueError("a pattern looks at one line at a time: leave out \\n")
    if pattern_weight(needle) > HEAVIEST:
        raise ValueError("this pattern repeats too much")
    with warnings.catch_warnings(action="ignore"):
        try:
            return re.compile(needle, flags)
        except re.error as error:
            where = "" if error.pos is None else f" at {error.pos + 1}"
            raise ValueError(f"not a pattern: {error.msg}{where}") from None
        except (RecursionError, OverflowError):
            raise ValueError("not a pattern: too deep or too large") from None


def _whole(query: Query) -> str:
    """The needle between word boundaries, where its ends are letters at all."""
    needle = query.needle
    before = r"(?<!\w)" if re.match(r"\w", needle) else ""
    behind = r"(?!\w)" if re.search(r"\w\Z", needle) else ""
    return before + re.escape(needle) + behind


_CHUNK = 64
"""Lines looked through in one go."""
_CHUNK_CHARS = 65_536
"""Longer neighbours are looked through one by one."""
_SAMPLE = 500
"""Lines with matches that an overview is told of."""
_FIRST_BUDGET_S = 0.004
"""Time to go to a match at once; what takes longer comes by `TextSearch.advance`."""
_SLOW_S, _SLOW_S_PER_CHAR = 0.001, 2e-7
"""CPU time that a line may take; only bad patterns take longer."""
_MOST_SLOW_S = 0.2
"""All that slow lines may take beyond that, for one query; then it is given up."""

Match = tuple[int, int, int]
"""Line, first column, column behind the last."""


class TextSearch:
    """The matches of one query in one buffer; nothing is looked for at first."""

    def __init__(self, buffer: Buffer) -> None:
        self.query = Query()
        self.pattern: Pattern | None = None
        """None: nothing is looked for, or what was typed cannot be."""
        self.error = ""
        """Why nothing can be found, in words."""
        self.now: Match | None = None
        """The match that was gone to."""
        self.count = 0
        """Matches found so far."""
        self._buffer = buffer
        self.revision = buffer.revision
        """The buffer's revision up to which all is known."""
        self._lines: list[tuple[Span, ...] | None] = []
        self._scanned = 0
        """All lines above are known."""
        self._within: tuple[Mark, Mark] | None = None
        self._seek: Iterator[Match | None] | None = None
        self._sample: tuple[int, ...] | None = None
        self._seek_from: tuple[Position, bool] = ((0, 0), False)
        self._slow_s = 0.0
        """CPU time that this query took beyond what its lines may take."""

    @property
    def pending(self) -> bool:
        """True while there are lines that nobody looked at."""
        if self.pattern is None:
            return False
        return self._seek is not None or self._scanned < self._buffer.line_count

    @property
    def within(self) -> tuple[Position, Position] | None:
        """The range in which is searched; None: everywhere."""
        return (
            None if self._within is None else (self._within[0].position, self._within[1].position)
        )

    @property
    def index(self) -> int | None:
        """Which match `now` is, 0-based; None if it is gone or lines above are not known yet."""
        self._catch_up()
        if self.now is None or self._scanned < self.now[0] or self.now[0] >= len(self._lines):
            return None
        row, start, end = self.now
        spans = self._know(row)
        if (start, end) not in spans:
            return None
        return sum(len(known) for known in self._lines[:row] if known) + spans.index((start, end))

    @property
    def sample(self) -> tuple[int, ...]:
        """Lines with matches, at most `_SAMPLE` evenly chosen ones: what an overview can show."""
        self._catch_up()
        if self._sample is None and not self.pending:
            step = max(len(self._lines) // _SAMPLE, 1)
            found = {row // step: row for row, spans in enumerate(self._lines) if spans}
            self._sample = tuple(found.values())
        return self._sample or ()

    def look_for(self, query: Query) -> None:
        """Search for this from now on; what is wrong with it is in `error`."""
        if query == self.query:
            return
        self.query, self.now, self.pattern, self.error = query, None, None, ""
        self._slow_s = 0.0
        if query.needle:
            try:
                self.pattern = Pattern(query)
            except ValueError as error:
                self.error = str(error)
        self._restart()

    def limit(self, within: tuple[Position, Position] | None) -> None:
        """Search in this range only; text put at its edges stays outside."""
        if self._within is not None:
            self._buffer.release(*self._within)
            self._within = None
        if within is not None:
            (line, col), end = within
            self._within = (self._buffer.mark(line, col), self._buffer.mark(*end, right=True))
        self._restart()

    def go(self, position: Position, *, backwards: bool = False) -> Match | None:
        """The next match from a position on (the one before), around the end if need be.

        None: there is none, or it is not found yet (`pending`); then `advance` finds it.
        """
        until = perf_counter() + _FIRST_BUDGET_S
        self._catch_up()
        self._seek = None
        found = False
        if self.pattern is not None:
            self._seek_from = (self._buffer.clamp(position), backwards)
            self._seek = self._walk(*self._seek_from)
            found = self._seek_on(until)
        if not found:
            self.now = None
        if self._seek is None:
            self._scan(until)
        return self.now

    def stay(self) -> None:
        """Go nowhere any more; the matches are still counted."""
        self._seek = None

    def advance(self, budget_s: float) -> bool:
        """Look on for at most so long; True if the match that was gone for is there now."""
        until = perf_counter() + budget_s
        self._catch_up()
        if self._seek is not None:
            return self._seek_on(until)
        self._scan(until)
        return False

    def _scan(self, until: float) -> None:
        """Look at the lines that nobody looked at."""
        while self.pattern is not None and self._scanned < len(self._lines):
            self._know(self._scanned)
            last = min(self._scanned + _CHUNK, len(self._lines))
            while self._scanned < last and self._lines[self._scanned] is not None:
                self._scanned += 1
            if perf_counter() >= until:
                break

    def spans(self, line: int) -> tuple[Span, ...]:
        """The matches of a line, from left to right."""
        self._catch_up()
        return self._know(line)

    def on_line(self, line: int, first: int = 0, last: int | None = None) -> list[Overlay]:
        """What of a line's matches lies between two columns, as overlays.

        With a slow pattern only what `advance` found: a repaint waits for none.
        """
        self._catch_up()
        if self.pattern is None:
            return []
        spans = self._lines[line] if self._slow_s else self._know(line)
        if not spans:
            return []
        low = max(bisect_left(spans, (first, 0)) - 1, 0)
        high = len(spans) if last is None else bisect_left(spans, (last, 0))
        return [
            (start, end, "match-now" if (line, start, end) == self.now else "match")
            for start, end in spans[low:high]
            if end > first
        ]

    def _restart(self) -> None:
        """Know nothing, but of which lines."""
        self.revision = self._buffer.revision
        self._lines = [None] * self._buffer.line_count if self.pattern is not None else []
        self.count, self._scanned, self._seek, self._sample = 0, 0, None, None

    def _catch_up(self) -> None:
        """Follow the buffer: lines that changed are looked at anew, no others."""
        buffer = self._buffer
        if self.pattern is None or buffer.revision == self.revision:
            return
        changes = buffer.changes_since(self.revision)
        self.revision = buffer.revision
        if changes is None:
            self._restart()
        else:
            typed = len(changes) == 1 and changes[0].n_old == changes[0].n_new == 1
            had = typed and bool(self._lines[changes[0].row])
            fresh: list[tuple[int, int]] = []
            for change in changes:
                fresh = self._follow(change, fresh)
            for first, count in fresh:
                for row in range(first, first + count):
                    self._know(row)
            if not typed or bool(self._lines[changes[0].row]) != had:
                self._sample = None
        if self._seek is not None:
            self._seek = self._walk(*self._seek_from)

    def _follow(self, change: LineChange, fresh: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Take over one change; returns the few new lines that are to be looked at at once."""
        row, n_old, n_new = change
        gone = self._lines[row : row + n_old]
        self.count -= sum(len(spans) for spans in gone if spans)
        self._lines[row : row + n_old] = [None] * n_new
        moved = []
        again = row + n_new
        for first, count in fresh:
            if first >= row + n_old:
                moved.append((first + n_new - n_old, count))
            elif first + count <= row:
                moved.append((first, count))
            else:  # two edits of the same lines: the scan goes over them once more
                again = min(again, first, row)
        if row < self._scanned:
            if n_new > _CHUNK or self._slow_s or row + n_old > self._scanned:
                again = row
            else:
                moved.append((row, n_new))
            self._scanned = max(self._scanned + n_new - n_old, row)
        if again <= row:
            self._scanned = min(self._scanned, again)
        return moved

    def _know(self, row: int) -> tuple[Span, ...]:
        """A line's matches, found now if need be; with it its neighbours, if that is quick."""
        pattern = self.pattern
        if pattern is None or row >= len(self._lines):
            return ()  # a line that was gone to, and that somebody has removed since
        known = self._lines[row]
        if known is not None:
            return known
        text = self._buffer.lines
        first = row - row % _CHUNK
        chunk = text[first : first + _CHUNK]
        rows = range(row, row + 1)
        if sum(map(len, chunk)) <= _CHUNK_CHARS:
            if pattern.is_nowhere_in(chunk):
                self._lines[first : first + len(chunk)] = [()] * len(chunk)
                return ()
            if not pattern.query.regex:
                rows = range(first, first + len(chunk))
        try:
            for one in rows:
                if self._lines[one] is None:
                    spans = self._inside(one, self._matched(pattern, text[one]))
                    self._lines[one] = spans
                    self.count += len(spans)
        except TimeoutError:
            self.error = TOO_SLOW
            self.pattern, self.now = None, None
            self._restart()
            return ()
        return self._lines[row] or ()

    def _matched(self, pattern: Pattern, line: str) -> tuple[Span, ...]:
        """The matches of a line. Raises TimeoutError, also if slow lines took too long by now."""
        if not pattern.query.regex:
            return pattern.spans(line)
        began = thread_time()
        spans = pattern.spans(line)
        beyond_s = thread_time() - began - _SLOW_S - _SLOW_S_PER_CHAR * len(line)
        if beyond_s > 0:
            self._slow_s += beyond_s
            if self._slow_s > _MOST_SLOW_S:
                raise TimeoutError
        return spans

    def covers(self, row: int, span: Span) -> bool:
        """True if a match there is in the range in which is searched."""
        if self._within is None:
            return True
        start, end = self._within[0].position, self._within[1].position
        return start <= (row, span[0]) and (row, span[1]) <= end

    def _inside(self, row: int, spans: tuple[Span, ...]) -> tuple[Span, ...]:
        """Those of a line's matches that are in the range."""
        if self._within is None:
            return spans
        return tuple(span for span in spans if self.covers(row, span))

    def _seek_on(self, until: float) -> bool:
        """Go on to the match; True if `now` is it, False if it is not found or not yet."""
        for found in self._seek or ():
            if found is not None:
                self.now, self._seek = found, None
                return True
            if perf_counter() >= until:
                return False
        self._seek = None
        return False

    def _walk(self, position: Position, backwards: bool) -> Iterator[Match | None]:
        """The match that comes next, line by line; None where somebody may look at the clock."""
        row, col = position
        total = self._buffer.line_count
        for step in range(total + 1):
            line = (row - step if backwards else row + step) % total
            spans = self._know(line)
            if spans and step == 0:
                spans = self._beyond(line, col, spans, backwards)
            if spans:
                yield (line, *spans[-1 if backwards else 0])
                return
            if self._slow_s or step % _CHUNK == _CHUNK - 1:
                yield None

    def _beyond(
        self, line: int, col: int, spans: tuple[Span, ...], backwards: bool
    ) -> tuple[Span, ...]:
        """The matches behind a column (before it); an empty one that we stand at is passed."""
        place = bisect_left(spans, (col, 0))
        if backwards:
            return spans[:place]
        here = spans[place] if place < len(spans) else None
        if here == (col, col) and self.now == (line, col, col):
            place += 1
        return spans[place:]
