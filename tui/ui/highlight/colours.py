"""Syntax colours for buffers: Pygments per line, never the whole file before a repaint.

`BufferColours` follows one buffer. It costs what changed: lines above the edit keep their
spans, lines below are lexed until the lexer is in the state it was in before. What is not seen
is done in slices when nobody needs the processor. A lexer that raises, hangs or eats memory is
dropped for that file, and the text stays plain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from time import perf_counter
from weakref import WeakKeyDictionary

from tui.core.text.buffer import Buffer, LineChange
from tui.ui.highlight.guard import BUILD_CPU_S, Guard, LexerTroubles
from tui.ui.highlight.languages import LexerLanguage, by_first_line, candidates, choice, language
from tui.ui.highlight.lines import ColouredLines, NoLines, Range, Spans

_MOST = 32
"""More places than these are taken for one long one."""
Hunk = tuple[int, int, int, int]
"""Row and number of the old lines; first line and line behind the last of what they became."""


def hunks(changes: Iterable[LineChange]) -> Iterator[Hunk]:
    """Edits that together have the effect of the changes, last lines first.

    Applied in this order, rows count in the text as it is then; the lines that they became are
    those of the text after all changes.
    """
    found: list[list[int]] = []  # row now, lines now, lines before; in order, disjoint
    for row, n_old, n_new in changes:
        _merge(found, row, n_old, n_new)
        if len(found) > _MOST:
            first, end = found[0][0], found[-1][0] + found[-1][1]
            growth = sum(now - before for _, now, before in found)
            found = [[first, end - first, end - first - growth]]
    above = sum(now - before for _, now, before in found)
    for row, now, before in reversed(found):
        above -= now - before
        yield row - above, before, row, row + now


def _merge(found: list[list[int]], row: int, n_old: int, n_new: int) -> None:
    """Take a change, in the text as the ones before left it, into the disjoint ones."""
    end = row + n_old
    low = 0
    while low < len(found) and found[low][0] + found[low][1] < row:
        low += 1
    high = low
    grown = 0
    first, last = row, end
    while high < len(found) and found[high][0] <= end:
        start, now, before = found[high]
        first, last = min(first, start), max(last, start + now)
        grown += now - before
        high += 1
    delta = n_new - n_old
    found[low:high] = [[first, last - first + delta, last - first - grown]]
    for one in found[low + 1 :]:
        one[0] += delta


MOST_LINES = 200_000
MOST_CHARACTERS = 8 * 2**20
"""Longer files are not coloured."""
_FEW_LINES = 2_000
"""So many lines are measured at once."""
_SAMPLE_LINES = 40
_SAMPLE_COLUMNS = 1_000
"""What is shown to Pygments where a file name fits several languages."""
_troubles: WeakKeyDictionary[Buffer, LexerTroubles] = WeakKeyDictionary()
"""What failed in a file is not tried again when it is shown again."""


class BufferColours:
    """The spans of one buffer's lines."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        self._revision = buffer.revision
        self._troubles = _troubles.setdefault(buffer, LexerTroubles(buffer.path))
        self._language: LexerLanguage | None = None
        self._choice: Iterator[LexerLanguage | None] = iter(())
        self._lines: ColouredLines | None = None
        """None until the language is loaded."""
        self._first_line: str | None = None
        """What the language was known by; None: by the file's name."""
        self._endless = False
        """The file is too long for colours now."""
        self._choose()

    @property
    def pending(self) -> bool:
        """True while there is work left for idle moments."""
        behind = self._revision != self._buffer.revision
        return self._lines is None or self._lines.pending or behind

    @property
    def loaded(self) -> bool:
        """The language is known and loaded; until then the text is plain."""
        return self._lines is not None

    @property
    def failed(self) -> bool:
        """A lexer was dropped for this file: the file is plain, or some part of it."""
        return bool(self._troubles.languages)

    @property
    def wait_s(self) -> float:
        """Seconds until `idle` has something to do; 0: now."""
        if self._lines is None or self._revision != self._buffer.revision:
            return 0.0
        return self._lines.wait_s

    def spans(self, line: int) -> Spans:
        """The spans of a line, as far as they are known."""
        return () if self._lines is None else self._lines.spans(line)

    def advance(self, until: int, budget_s: float, first: int | None = None) -> Range | None:
        """Catch up with the buffer and colour lines ``first .. until``.

        With ``first`` only what a repaint of these lines needs is done, and text whose language
        is not loaded stays plain. Without it all lines from the top are meant, and what
        is left of ``budget_s`` (seconds) goes to what `idle` does.

        Returns the range of lines whose spans may have changed.
        """
        deadline = perf_counter() + budget_s
        self._catch_up()
        if first is None:
            self._get_ready(deadline)
        elif self._lines is None and self._language is not None and self._language.ready:
            self._make()
        lines = self._lines
        if lines is None:
            return None
        left_s = max(deadline - perf_counter(), 0.0)
        done = self._guarded(lines.advance, first or 0, until, left_s)
        if first is None and until >= self._buffer.line_count - 1 and self._lines is lines:
            done = _both(done, self._guarded(lines.idle, max(deadline - perf_counter(), 0.0)))
        return done

    def idle(self, budget_s: float) -> Range | None:
        """Load the language, colour the rest, then repair, for ``budget_s`` (seconds).

        Returns the range of lines whose spans may have changed.
        """
        deadline = perf_counter() + budget_s
        self._catch_up()
        if self._lines is None:
            # From here on a repaint colours what it shows, wherever that is.
            return (0, self._buffer.line_count) if self._get_ready(deadline) else None
        return self._guarded(self._lines.idle, max(deadline - perf_counter(), 0.0))

    def _choose(self) -> None:
        """Which language it is, as far as the name tells."""
        self._lines = None
        self._language = self._first_line = None
        self._endless = _too_long(self._buffer)
        if self._endless:
            self._lines = NoLines()
            return
        found = candidates(self._buffer.path)
        if not found:
            self._first_line = self._buffer.lines[0]
            self._language = by_first_line(self._first_line)
            self._lines = NoLines() if self._language is None else None
        elif len(found) == 1:
            self._language = language(found[0][0])
        else:
            lines = self._buffer.lines[:_SAMPLE_LINES]
            sample = "\n".join(line[:_SAMPLE_COLUMNS] for line in lines)
            self._choice = choice(found, sample)

    def _get_ready(self, deadline: float) -> bool:
        """Load the language, for a while; true when the lines are there."""
        if self._lines is not None:
            return True
        if self._language is None and not self._decide(deadline):
            return False
        if self._language is not None and not self._language.step(deadline):
            return False
        self._make()
        return True

    def _decide(self, deadline: float) -> bool:
        """Go on to choose among several languages."""
        with Guard(BUILD_CPU_S) as guard:
            for found in self._choice:
                self._language = found
                if perf_counter() > deadline:
                    return found is not None
        if guard.failure:
            self._troubles.add("a", guard.failure)
        return True

    def _make(self) -> None:
        self._lines = NoLines()
        with Guard() as guard:
            if self._language is not None:
                self._lines = self._language.lines(self._buffer.lines, "\n", self._troubles)
        if guard.failure:
            self._drop(guard.failure)

    def _guarded(self, call: Callable[..., Range | None], *arguments: float) -> Range | None:
        if self._lines is None or isinstance(self._lines, NoLines):
            return None
        done, failure = self._troubles.step("", self._lines, call, *arguments)
        if failure:
            self._drop(failure)
            return (0, self._buffer.line_count)
        return done

    def _drop(self, failure: str) -> None:
        self._lines = NoLines()
        self._troubles.add(self._language.name if self._language else "", failure)

    def _catch_up(self) -> None:
        buffer = self._buffer
        if buffer.revision == self._revision:
            return
        changes = buffer.changes_since(self._revision)
        self._revision = buffer.revision
        renamed = self._first_line not in (None, buffer.lines[0])
        if renamed and by_first_line(buffer.lines[0]) is not self._language:
            self._choose()
            return
        if self._endless:
            if changes is None or buffer.line_count < _FEW_LINES or _shorter(changes):
                self._choose()
            return
        if isinstance(self._lines, NoLines):
            return
        if changes is None:
            self._choose()
            return
        if self._lines is None:
            return
        if _too_long(buffer, changes[-1].n_new):
            self._lines, self._endless = NoLines(), True
            return
        for row, n_old, first, last in hunks(changes):
            self._lines.edit(row, n_old, buffer.lines[first:last])


def _too_long(buffer: Buffer, new: int | None = None) -> bool:
    """Whether a file is too long for colours; ``new``: after so many lines came."""
    if buffer.line_count > MOST_LINES:
        return True
    if new is not None and new < _SAMPLE_LINES:
        return False
    return sum(map(len, buffer.lines)) > MOST_CHARACTERS


def _shorter(changes: Sequence[LineChange]) -> bool:
    """Whether lines were taken out."""
    return sum(change.n_new - change.n_old for change in changes) < 0


def _both(one: Range | None, other: Range | None) -> Range | None:
    if one is None or other is None:
        return one or other
    return min(one[0], other[0]), max(one[1], other[1])
