"""How often words were said in each block: counted in slices, newest first."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence
from time import perf_counter

from tui.ui.conversation.counting import counted
from tui.ui.conversation.fences import colours_for
from tui.ui.conversation.seeking import Needle
from tui.ui.conversation.views import BlockView

SLICE_S = 0.004
"""What one slice of counting may take."""
_MOST_GROWING = 20_000
"""Characters of a block that is counted again while it grows; a longer one is at its end."""


class Tally:
    """The counts of one search; blocks without a match have none."""

    def __init__(self, needle: Needle, views: Sequence[BlockView]) -> None:
        self.hits: list[int] = []
        """Indexes of the blocks that have a match, in order."""
        self._needle = needle
        self._views = views
        self._first = views[0] if views else None
        """The oldest block: it is another one in another conversation."""
        self._counts: dict[int, int] = {}
        self._next = len(views) - 1 if needle else -1
        """The block to be counted next; the older ones follow it."""
        self._changed: set[int] = set()
        """Blocks that are to be counted once more."""
        self._work: tuple[int, Iterator[int], int] | None = None
        """The block that is being counted, its parts to come, and what they gave so far."""

    @property
    def counting(self) -> bool:
        """True if older blocks are still to be counted."""
        return self._next >= 0

    @property
    def waiting(self) -> bool:
        """True if a slice would find something to do."""
        return self._next >= 0 or bool(self._changed) or self._work is not None

    @property
    def total(self) -> int:
        """Matches that were counted so far."""
        return sum(self._counts.values())

    @property
    def stands(self) -> bool:
        """False if the conversation was begun anew since."""
        return self._first is None or (bool(self._views) and self._views[0] is self._first)

    def of(self, index: int) -> int:
        """Matches of a block."""
        return self._counts.get(index, 0)

    def newer(self, index: int) -> int:
        """Matches of all blocks below this one."""
        return sum(self._counts[hit] for hit in self.hits[bisect_right(self.hits, index) :])

    def note(self, index: int, count: int) -> None:
        """A block has so many matches."""
        known = index in self._counts
        if count:
            self._counts[index] = count
            if not known:
                insort(self.hits, index)
        elif known:
            del self._counts[index]
            self.hits.remove(index)

    def grown(self, first: int) -> None:
        """Blocks from this one on changed, or are new."""
        if self._needle:
            known = self._work[0] if self._work else self._next + 1
            first = max(first, min(known, self._next + 1))
            self._changed.update(range(first, len(self._views)))

    def slice(self, seconds: float = SLICE_S) -> None:
        """Count for so long."""
        until = perf_counter() + seconds
        with colours_for(0):
            while self._work is not None or self._begin():
                self._go_on()
                if perf_counter() > until:
                    return

    def _begin(self) -> bool:
        """Take the next block; False if all are counted."""
        while self._changed or self._next >= 0:
            if self._next >= 0:
                index, self._next = self._next, self._next - 1
            else:
                index = self._changed.pop()
            if index >= len(self._views):
                continue
            block = self._views[index].block
            if block.state != "open" or block.length <= _MOST_GROWING:
                self._work = (index, counted(self._views[index], self._needle), 0)
                return True
        return False

    def _go_on(self) -> None:
        """Count one part."""
        if self._work is None:
            return
        index, parts, so_far = self._work
        found = next(parts, None)
        if found is None:
            self._work = None
            self.note(index, so_far)
        else:
            self._work = (index, parts, so_far + found)
