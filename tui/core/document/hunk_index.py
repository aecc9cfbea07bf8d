"""The hunks whose text stands in a buffer, in the order in which they landed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from operator import attrgetter

from tui.core.document.hunk import Hunk
from tui.core.text.anchors import AnchorIndex, RowAnchor
from tui.core.text.buffer import Mark
from tui.core.text.rows import Span

_RANK = attrgetter("rank")


class HunkIndex:
    """Hunks by the rows in which they stand, and in the order in which they landed."""

    def __init__(self, hunks: Iterable[Hunk] = ()) -> None:
        self._anchors: AnchorIndex[Hunk] = AnchorIndex()
        self._order: list[RowAnchor[Hunk]] = []
        self._ranks = 0
        self._sorted = True
        for hunk in hunks:
            self.append(hunk)

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[Hunk]:
        self._sort()
        return iter([anchor.item for anchor in self._order])

    def __reversed__(self) -> Iterator[Hunk]:
        self._sort()
        return iter([anchor.item for anchor in reversed(self._order)])

    def __contains__(self, hunk: object) -> bool:
        return isinstance(hunk, Hunk) and self._find(hunk) is not None

    def append(self, hunk: Hunk, rank: int | None = None) -> None:
        """A hunk stands where its marks are; from now on they move with every change.

        ``rank``: it stood here before, and has the same place in the order again.

        Raises:
            ValueError: it has no place, or stands here already.
        """
        if hunk.start is None or hunk.end is None or self._find(hunk):
            raise ValueError("a hunk stands in one place, once")
        if rank is None:
            self._ranks = rank = max(hunk.id, self._ranks + 1)  # mostly a number that is kept
        self._sorted = self._sorted and rank == self._ranks
        anchor = self._anchors.add(hunk, (hunk.start.line, hunk.end.line), rank)
        self._order.append(anchor)
        hunk.stand_in(anchor)

    def rank(self, hunk: Hunk) -> int:
        """Its place in the order of landing. Raises KeyError."""
        return self._of(hunk).rank

    def remove(self, hunk: Hunk) -> None:
        """It stands here no more; its marks stay where they are. Raises KeyError."""
        anchor = self._of(hunk)
        self._sort()
        del self._order[bisect_left(self._order, anchor.rank, key=_RANK)]
        first, last = anchor.rows
        hunk.start, hunk.end = Mark(first), Mark(last, right=True)
        self._anchors.remove(anchor)

    def replace(self, hunk: Hunk, rows: tuple[int, int]) -> None:
        """It stands in other rows now, as if it had stood there when it landed."""
        self._of(hunk).put(rows)

    def move(self, span: Span) -> None:
        """Rows of the buffer changed."""
        self._anchors.move(span)

    def near(self, first: int, last: int) -> list[Hunk]:
        """The hunks that overlap or touch rows ``first .. last``, in order of landing."""
        return [anchor.item for anchor in self._anchors.touching(first, last)]

    def rows(self) -> dict[Hunk, tuple[int, int]]:
        """The first row of each hunk and the one behind its last: all as they are at one moment."""
        return self._anchors.rows()

    def ordered(self, hunks: Iterable[Hunk]) -> list[Hunk]:
        """Those that stand here, in order of landing."""
        anchors = {anchor.rank: hunk for hunk in hunks if (anchor := self._find(hunk))}
        return [anchors[rank] for rank in sorted(anchors)]

    def _find(self, hunk: Hunk) -> RowAnchor[Hunk] | None:
        anchor = hunk.stand
        return anchor if anchor is not None and anchor.index is self._anchors else None

    def _of(self, hunk: Hunk) -> RowAnchor[Hunk]:
        """Where it stands. Raises KeyError."""
        anchor = self._find(hunk)
        if anchor is None:
            raise KeyError(hunk)
        return anchor

    def _sort(self) -> None:
        """Bring those that stand here again to their places."""
        if not self._sorted:
            self._order.sort(key=_RANK)
            self._sorted = True
