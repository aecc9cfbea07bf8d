"""The parts of a document that have lines of their own: fences, scripts, docstrings.

Each `EmbeddedRegion` is a text with its own colours. An edit inside that cannot move the region's
end is taken by the region alone: it costs the same in a script of ten lines and of ten thousand.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter

from tui.ui.highlight.embedded import Embedded
from tui.ui.highlight.guard import LexerTroubles
from tui.ui.highlight.lines import ColouredLines, FlatLines, NoLines, Range, Span, Spans, Store

Place = tuple[int, int]
"""Line and column."""


class EmbeddedRegion:
    """A part of a document, and its colours once its language is ready."""

    def __init__(self, mark: Embedded, start: Place, end: Place, lines: list[str]) -> None:
        self.mark = mark
        self.first, self.first_col = start
        self.last, self.last_col = end
        """The line in which it ends, and the column behind it there."""
        self.lines = lines
        """Its text."""
        self.inner: ColouredLines | None = None
        self.planned = False
        """It stands among those that may have work."""
        self.gone = False
        if mark.kind is not None:
            self.inner = FlatLines(mark.kind, lines)

    @property
    def start(self) -> Place:
        """Where it begins."""
        return (self.first, self.first_col)

    @property
    def pending(self) -> bool:
        """There is something left to do."""
        return not self.gone and (self.inner is None or self.inner.pending)

    def spans(self, line: int) -> Spans:
        """The spans of a line of the document, as far as they are the region's."""
        if self.inner is None:
            return ()
        spans = self.inner.spans(line - self.first)
        if line == self.first and (col := self.first_col):
            return tuple((start + col, end + col, kind) for start, end, kind in spans)
        return spans

    def takes(self, row: int, n_old: int, texts: Sequence[str]) -> bool:
        """An edit is inside, and none of these old, new and neighbouring lines moves the end."""
        first = self.first + (self.first_col > 0)
        if row < first or row + n_old > self.last - 1 or self.mark.danger is None:
            return False
        search = self.mark.danger.search
        return not any(search(text) for text in texts)

    def edit(self, row: int, n_old: int, new: Sequence[str]) -> None:
        """Lines of the document that are inside became others."""
        row -= self.first
        self.lines[row : row + n_old] = new
        if self.inner is not None:
            self.inner.edit(row, n_old, new)

    def become(self, lines: list[str]) -> None:
        """The text is another one: what is equal at both ends keeps its colours."""
        old = self.lines
        top, most = 0, min(len(old), len(lines))
        while top < most and old[top] == lines[top]:
            top += 1
        if top == len(old) == len(lines):
            return
        # An edit always has a line before and after, as those of a buffer do.
        top = min(top, most - 1)
        most -= top + 1
        below = 0
        while below < most and old[-1 - below] == lines[-1 - below]:
            below += 1
        self.lines = lines
        if self.inner is not None:
            self.inner.edit(top, len(old) - below - top, lines[top : len(lines) - below])

    def get_ready(self, troubles: LexerTroubles) -> bool:
        """Make the colours if the language is there; false if it is not yet."""
        maker = self.mark.maker
        if self.inner is not None or maker is None:
            return True
        if not maker.ready:
            return False
        self.inner = (
            NoLines()
            if maker.name in troubles.languages
            else maker.lines(list(self.lines), "", troubles)
        )
        return True


class Regions:
    """The regions of one document, in order."""

    def __init__(self, store: Store, troubles: LexerTroubles) -> None:
        self._store = store
        self._troubles = troubles
        self._list: list[EmbeddedRegion] = []
        self._due: deque[EmbeddedRegion] = deque()
        """Those that may have work."""

    @property
    def pending(self) -> bool:
        """There is something left to do in some region."""
        while self._due and not self._due[0].pending:
            self._due.popleft().planned = False
        return bool(self._due)

    @property
    def wait_s(self) -> float:
        """Seconds until there is."""
        waits = [0.0 if one.inner is None else one.inner.wait_s for one in self._due if one.pending]
        return min(waits, default=0.0)

    def at(self, line: int) -> list[EmbeddedRegion]:
        """The regions that have a part of this line."""
        if not self._list:
            return []
        found = []
        index = bisect_right(self._list, line, key=lambda region: region.first) - 1
        while index >= 0 and self._list[index].last >= line:
            found.append(self._list[index])
            index -= 1
        return found[::-1]

    def spans(self, line: int, outer: Spans) -> Spans:
        """The spans of a line: the document's own, and those of its regions."""
        found = self.at(line)
        if not found:
            return outer
        if len(found) == 1 and not outer:
            return found[0].spans(line)
        return _joined(sorted([*outer, *(span for one in found for span in one.spans(line))]))

    def edit(self, row: int, old: Sequence[str], new: Sequence[str]) -> bool:
        """Lines changed; true if a region took it and the document need not look at it."""
        delta = len(new) - len(old)
        above = self._store.lines[row - 1 : row] if row else []
        taken = False
        for region in self.at(row):
            if region.takes(row, len(old), [*above, *old, *new]):
                region.edit(row, len(old), new)
                region.last += delta
                self._plan(region)
                taken = True
            else:
                region.last = max(region.first, region.last + delta)
        for region in self._list[bisect_right(self._list, row, key=lambda one: one.first) :]:
            region.first = max(row, region.first + delta)
            region.last = max(region.first, region.last + delta)
        return taken

    def met(self, mark: Embedded, start: Place, end: Place, text: str) -> EmbeddedRegion:
        """The lexer came upon a region: take over the one that is there, or make one."""
        lines = text.split("\n")
        index = bisect_left(self._list, start, key=lambda region: region.start)
        found = self._list[index] if index < len(self._list) else None
        if found is not None and found.start == start and found.mark.same == mark.same:
            found.mark = mark
            found.last, found.last_col = end
            found.become(lines)
        else:
            found = EmbeddedRegion(mark, start, end, lines)
            self._list.insert(index, found)
        self._store.touch(start[0], end[0] + 1)
        self._plan(found)
        return found

    def sweep(self, first: int, last: int, met: set[int]) -> None:
        """The lexer went through ``first .. last``: regions that begin there and were not met go.

        ``met`` has their `id`.
        """
        low = bisect_left(self._list, first, key=lambda region: region.first)
        high = bisect_left(self._list, last, key=lambda region: region.first)
        kept = [region for region in self._list[low:high] if id(region) in met]
        if len(kept) < high - low:
            for region in self._list[low:high]:
                region.gone = id(region) not in met
            self._list[low:high] = kept

    def advance(self, first: int, until: int, deadline: float) -> None:
        """Colour what is between two lines."""
        for region in self._between(first, until):
            if region.pending and region.get_ready(self._troubles) and region.inner is not None:
                start = max(first - region.first, 0)
                left_s = max(deadline - perf_counter(), 0.0)
                self._run(region, region.inner.advance, start, until - region.first, left_s)

    def idle(self, deadline: float) -> None:
        """Colour on wherever there is something to do."""
        for _ in range(len(self._due)):
            region = self._due[0]
            maker = region.mark.maker
            if maker is not None and not region.get_ready(self._troubles):
                if not maker.step(deadline):
                    return
                region.get_ready(self._troubles)
                self._store.touch(region.first, region.last + 1)
                return
            if region.inner is not None and region.inner.pending and not region.inner.wait_s:
                self._run(region, region.inner.idle, max(deadline - perf_counter(), 0.0))
            if not region.pending:
                self._due.popleft().planned = False
            else:
                self._due.rotate(-1)
            if perf_counter() > deadline:
                return

    def _run(
        self, region: EmbeddedRegion, call: Callable[..., Range | None], *arguments: float
    ) -> None:
        """Let a region's lexer work; one that fails is dropped for this file."""
        name = region.mark.maker.name if region.mark.maker else ""
        inner = region.inner or NoLines()
        changed, failure = self._troubles.step(name, inner, call, *arguments)
        if failure:
            region.inner = NoLines()
            self._troubles.add(name, failure)
            changed = (0, region.last - region.first + 1)
        if changed is not None:
            self._store.touch(region.first + changed[0], region.first + changed[1])

    def _between(self, first: int, until: int) -> Iterator[EmbeddedRegion]:
        if not self._list:
            return
        yield from self.at(first)
        index = bisect_right(self._list, first, key=lambda region: region.first)
        while index < len(self._list) and self._list[index].first <= until:
            yield self._list[index]
            index += 1

    def _plan(self, region: EmbeddedRegion) -> None:
        if region.pending and not region.planned:
            region.planned = True
            self._due.append(region)


def _joined(spans: list[Span]) -> Spans:
    """Neighbours of one kind become one span, as when one lexer had seen them all."""
    joined: list[Span] = []
    for span in spans:
        if joined and joined[-1][1] == span[0] and joined[-1][2] is span[2]:
            joined[-1] = (joined[-1][0], span[1], span[2])
        else:
            joined.append(span)
    return tuple(joined)
