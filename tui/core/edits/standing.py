"""The hunks whose text stands in a buffer, moved with its changes without a walk over them all.

Their rows are kept in a tree of stretches of the file. A change above a stretch moves it whole
(one number); only the stretches that it reaches into are looked at. So what a change costs does
not follow the number of hunks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from operator import attrgetter

from tui.core.edits.hunk import Hunk, Stand
from tui.core.text.buffer import Mark
from tui.core.text.rows import Span, shifted

_FANOUT = 16
"""Parts of a node at most: more, and it is split."""
_FAR = 1 << 60
_RANK = attrgetter("rank")


class _Node:
    """A stretch of the file; its parts' rows are counted from ``shift``.

    ``low`` and ``high`` bound the parts' rows, perhaps widely, counted as these are.
    """

    __slots__ = ("high", "low", "nodes", "parent", "shift", "stands")

    def __init__(self, low: int, high: int, parent: _Node | None = None, shift: int = 0) -> None:
        self.low = low
        self.high = high
        self.parent = parent
        self.shift = shift
        self.nodes: list[_Node] = []
        self.stands: list[_Stand] = []

    def total(self) -> int:
        """What is to be added to a row of its parts."""
        node: _Node | None = self
        total = 0
        while node is not None:
            total += node.shift
            node = node.parent
        return total

    def reach(self, row: int) -> None:
        """Take a row of a part into the bounds, up to the root."""
        node: _Node | None = self
        while node is not None:
            if row < node.low:
                node.low = row
            if row > node.high:
                node.high = row
            row += node.shift
            node = node.parent

    def move(self, row: int, n_old: int, n_new: int) -> None:
        """A change, its row counted as the parts' rows are; it may reach into some of them."""
        low, high, stop, delta = _FAR, -_FAR, row + n_old, n_new - n_old
        for node in self.nodes:
            shift = node.shift
            if node.high + shift >= row:
                if node.low + shift > stop:
                    node.shift = shift = shift + delta
                else:
                    node.move(row - shift, n_old, n_new)
            if node.low + shift < low:
                low = node.low + shift
            if node.high + shift > high:
                high = node.high + shift
        for stand in self.stands:
            if stand.first > stop:
                stand.first += delta
                stand.last += delta
            elif stand.last >= row:
                stand.first, stand.last, _ = shifted(
                    stand.first, stand.last, Span(row, n_old, n_new)
                )
            if stand.first < low:
                low = stand.first
            if stand.last > high:
                high = stand.last
        self.low, self.high = low, high

    def bound(self) -> None:
        """Bounds as tight as the parts allow."""
        if self.nodes:
            self.low = min(node.low + node.shift for node in self.nodes)
            self.high = max(node.high + node.shift for node in self.nodes)
        elif self.stands:
            self.low = min(min(stand.first, stand.last) for stand in self.stands)
            self.high = max(max(stand.first, stand.last) for stand in self.stands)

    def touching(self, first: int, last: int, found: list[_Stand]) -> None:
        """Collect what touches rows, counted as the node's own ``shift`` is."""
        first, last = first - self.shift, last - self.shift
        if self.high < first or self.low > last:
            return
        for node in self.nodes:
            node.touching(first, last, found)
        found += [s for s in self.stands if s.first <= last and s.last >= first]

    def rows(self, total: int, found: dict[Hunk, tuple[int, int]]) -> None:
        """Collect where each hunk stands; ``total`` is to be added to the node's own rows."""
        total += self.shift
        found.update({s.hunk: (s.first + total, s.last + total) for s in self.stands})
        for node in self.nodes:
            node.rows(total, found)

    def leaf_for(self, row: int) -> _Node:
        """The leaf that a new hunk at a row fits best."""
        node, row = self, row - self.shift
        while node.nodes:
            node = min(node.nodes, key=lambda n: max(n.low + n.shift - row, row - n.high - n.shift))
            row -= node.shift
        return node

    def halved(self) -> _Node:
        """Split: the lower half goes to a new node of the same parent, which is returned."""
        self.nodes.sort(key=lambda node: node.low + node.shift)
        self.stands.sort(key=lambda stand: stand.first)
        other = _Node(0, 0, self.parent, self.shift)
        half = max(len(self.nodes), len(self.stands)) // 2
        self.nodes, other.nodes = self.nodes[:half], self.nodes[half:]
        self.stands, other.stands = self.stands[:half], self.stands[half:]
        for node in other.nodes:
            node.parent = other
        for stand in other.stands:
            stand.node = other
        self._count_from_low()
        other._count_from_low()
        return other

    def _count_from_low(self) -> None:
        """Keep small numbers, which Python has once."""
        self.bound()
        low = self.low
        self.shift += low
        self.low, self.high = 0, self.high - low
        for node in self.nodes:
            node.shift -= low
        for stand in self.stands:
            stand.first -= low
            stand.last -= low


class _Stand(Stand):
    """Where one hunk stands; the rows are counted as its leaf's are."""

    __slots__ = ("first", "hunk", "last", "node", "rank", "standing")

    def __init__(
        self, standing: Standing, hunk: Hunk, rows: tuple[int, int], node: _Node, rank: int
    ) -> None:
        self.standing = standing
        self.hunk = hunk
        self.node = node
        self.rank = rank
        shift = node.total()
        self.first, self.last = rows[0] - shift, rows[1] - shift

    def edge(self, *, right: bool) -> Mark:
        """Its first row, or the row behind its last one."""
        return _Edge(self, right=right)


class _Edge(Mark):
    """A hunk's first row, or the row behind its last one (``right``)."""

    __slots__ = ("_stand",)

    def __init__(self, stand: _Stand, *, right: bool) -> None:
        self._stand = stand
        self.right = right
        self.col = 0

    @property
    def line(self) -> int:
        """The row, as it is now."""
        stand = self._stand
        return (stand.last if self.right else stand.first) + stand.node.total()

    @line.setter
    def line(self, row: int) -> None:
        stand = self._stand
        row -= stand.node.total()
        if self.right:
            stand.last = row
        else:
            stand.first = row
        stand.node.reach(row)


class Standing:
    """The hunks that stand in one buffer, in the order in which they landed."""

    def __init__(self, hunks: Iterable[Hunk] = ()) -> None:
        self._root = _Node(0, 0)
        self._stands: list[_Stand] = []
        self._ranks = 0
        self._sorted = True
        for hunk in hunks:
            self.append(hunk)

    def __len__(self) -> int:
        return len(self._stands)

    def __iter__(self) -> Iterator[Hunk]:
        self._sort()
        return iter([stand.hunk for stand in self._stands])

    def __reversed__(self) -> Iterator[Hunk]:
        self._sort()
        return iter([stand.hunk for stand in reversed(self._stands)])

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
        rows = (hunk.start.line, hunk.end.line)
        leaf = self._root.leaf_for(rows[0])
        if rank is None:
            self._ranks = rank = self._ranks + 1
        self._sorted = self._sorted and rank == self._ranks
        stand = _Stand(self, hunk, rows, leaf, rank)
        self._stands.append(stand)
        if not leaf.stands:
            leaf.low, leaf.high = stand.first, stand.last
        leaf.stands.append(stand)
        leaf.reach(stand.first)
        leaf.reach(stand.last)
        hunk.stand_in(stand)
        self._split(leaf)

    def rank(self, hunk: Hunk) -> int:
        """Its place in the order of landing. Raises KeyError."""
        return self._of(hunk).rank

    def remove(self, hunk: Hunk) -> None:
        """It stands here no more; its marks stay where they are. Raises KeyError."""
        stand = self._of(hunk)
        self._sort()
        del self._stands[bisect_left(self._stands, stand.rank, key=_RANK)]
        node, shift = stand.node, stand.node.total()
        hunk.start = Mark(stand.first + shift)
        hunk.end = Mark(stand.last + shift, right=True)
        node.stands.remove(stand)
        while node.parent is not None and not (node.stands or node.nodes):
            node.parent.nodes.remove(node)
            node = node.parent

    def replace(self, hunk: Hunk, rows: tuple[int, int]) -> None:
        """It stands in other rows now, as if it had stood there when it landed."""
        stand = self._of(hunk)
        shift = stand.node.total()
        stand.first, stand.last = rows[0] - shift, rows[1] - shift
        stand.node.reach(stand.first)
        stand.node.reach(stand.last)

    def move(self, span: Span) -> None:
        """Rows of the buffer changed."""
        self._root.move(*span)

    def near(self, first: int, last: int) -> list[Hunk]:
        """The hunks that overlap or touch rows ``first .. last``, in order of landing."""
        found: list[_Stand] = []
        self._root.touching(first, last, found)
        found.sort(key=lambda stand: stand.rank)
        return [stand.hunk for stand in found]

    def rows(self) -> dict[Hunk, tuple[int, int]]:
        """The first row of each hunk and the one behind its last: all as they are at one moment.

        A tenth of what it costs to ask the marks of each.
        """
        found: dict[Hunk, tuple[int, int]] = {}
        self._root.rows(0, found)
        return found

    def ordered(self, hunks: Iterable[Hunk]) -> list[Hunk]:
        """Those that stand here, in order of landing."""
        stands = {stand.rank: hunk for hunk in hunks if (stand := self._find(hunk))}
        return [stands[rank] for rank in sorted(stands)]

    def _find(self, hunk: Hunk) -> _Stand | None:
        stand = hunk.stand
        return stand if isinstance(stand, _Stand) and stand.standing is self else None

    def _of(self, hunk: Hunk) -> _Stand:
        """Where it stands. Raises KeyError."""
        stand = self._find(hunk)
        if stand is None:
            raise KeyError(hunk)
        return stand

    def _sort(self) -> None:
        """Bring those that stand here again to their places."""
        if not self._sorted:
            self._stands.sort(key=_RANK)
            self._sorted = True

    def _split(self, node: _Node) -> None:
        while max(len(node.nodes), len(node.stands)) > _FANOUT:
            parent = node.parent
            if parent is None:
                parent = self._root = _Node(node.low + node.shift, node.high + node.shift)
                parent.nodes.append(node)
                node.parent = parent
            parent.nodes.append(node.halved())
            node = parent
