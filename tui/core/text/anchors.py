"""Row ranges of a text that move with its changes, without a walk over them all.

They are kept in a tree of stretches of the file. A change above a stretch moves it whole (one
number); only the stretches that it reaches into are looked at. So what a change costs does not
follow the number of anchors: each is mapped once, when somebody asks for it.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from tui.core.text.buffer import Mark
from tui.core.text.rows import Span, shifted

T = TypeVar("T")
_FANOUT = 16
"""Parts of a node at most: more, and it is split."""
_FAR = 1 << 60


class _Node(Generic[T]):
    """A stretch of the file; its parts' rows are counted from ``shift``.

    ``low`` and ``high`` bound the parts' rows, perhaps widely, counted as these are.
    """

    __slots__ = ("anchors", "high", "low", "nodes", "parent", "shift")

    def __init__(self, low: int, high: int, parent: _Node[T] | None = None, shift: int = 0) -> None:
        self.low = low
        self.high = high
        self.parent = parent
        self.shift = shift
        self.nodes: list[_Node[T]] = []
        self.anchors: list[RowAnchor[T]] = []

    def total(self) -> int:
        """What is to be added to a row of its parts."""
        node: _Node[T] | None = self
        total = 0
        while node is not None:
            total += node.shift
            node = node.parent
        return total

    def reach(self, row: int) -> None:
        """Take a row of a part into the bounds, up to the root."""
        node: _Node[T] | None = self
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
        for anchor in self.anchors:
            if anchor.first > stop:
                anchor.first += delta
                anchor.last += delta
            elif anchor.last >= row:
                anchor.first, anchor.last, _ = shifted(
                    anchor.first, anchor.last, Span(row, n_old, n_new)
                )
            if anchor.first < low:
                low = anchor.first
            if anchor.last > high:
                high = anchor.last
        self.low, self.high = low, high

    def bound(self) -> None:
        """Bounds as tight as the parts allow."""
        if self.nodes:
            self.low = min(node.low + node.shift for node in self.nodes)
            self.high = max(node.high + node.shift for node in self.nodes)
        elif self.anchors:
            self.low = min(min(anchor.first, anchor.last) for anchor in self.anchors)
            self.high = max(max(anchor.first, anchor.last) for anchor in self.anchors)

    def touching(self, first: int, last: int, found: list[RowAnchor[T]]) -> None:
        """Collect what touches rows, counted as the node's own ``shift`` is."""
        first, last = first - self.shift, last - self.shift
        if self.high < first or self.low > last:
            return
        for node in self.nodes:
            node.touching(first, last, found)
        found += [a for a in self.anchors if a.first <= last and a.last >= first]

    def rows(self, total: int, found: dict[T, tuple[int, int]]) -> None:
        """Collect where each anchor is; ``total`` is to be added to the node's own rows."""
        total += self.shift
        found.update({a.item: (a.first + total, a.last + total) for a in self.anchors})
        for node in self.nodes:
            node.rows(total, found)

    def leaf_for(self, row: int) -> _Node[T]:
        """The leaf that a new anchor at a row fits best."""
        node: _Node[T] = self
        row -= self.shift
        while node.nodes:
            node = min(node.nodes, key=lambda n: max(n.low + n.shift - row, row - n.high - n.shift))
            row -= node.shift
        return node

    def halved(self, *, even: bool) -> _Node[T]:
        """Split: the higher half goes to a new node of the same parent, which is returned.

        Not ``even``: the highest only, as what comes in the order of the rows goes on behind it.
        """
        self.nodes.sort(key=lambda node: node.low + node.shift)
        self.anchors.sort(key=lambda anchor: anchor.first)
        other: _Node[T] = _Node(0, 0, self.parent, self.shift)
        half = max(len(self.nodes), len(self.anchors)) // 2 if even else _FANOUT
        self.nodes, other.nodes = self.nodes[:half], self.nodes[half:]
        self.anchors, other.anchors = self.anchors[:half], self.anchors[half:]
        for node in other.nodes:
            node.parent = other
        for anchor in other.anchors:
            anchor.node = other
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
        for anchor in self.anchors:
            anchor.first -= low
            anchor.last -= low


class RowAnchor(Generic[T]):
    """The rows of one thing; they are counted as its leaf's are."""

    __slots__ = ("first", "index", "item", "last", "node", "rank")

    def __init__(self, index: AnchorIndex[T], item: T, node: _Node[T], rank: int) -> None:
        self.index = index
        self.item = item
        self.node = node
        self.rank = rank
        """Its place in an order of the caller's."""
        self.first = self.last = 0

    @property
    def rows(self) -> tuple[int, int]:
        """Its first row, and the one behind its last, as they are now."""
        shift = self.node.total()
        return self.first + shift, self.last + shift

    def put(self, rows: tuple[int, int]) -> None:
        """It is at other rows from now on."""
        shift = self.node.total()
        self.first, self.last = rows[0] - shift, rows[1] - shift
        self.node.reach(self.first)
        self.node.reach(self.last)

    def edge(self, *, right: bool) -> Mark:
        """The mark of its first row, or of the row behind its last one."""
        return _Edge(self, right=right)


class _Edge(Mark):
    """An anchor's first row, or the row behind its last one (``right``)."""

    __slots__ = ("_anchor",)

    def __init__(self, anchor: RowAnchor[Any], *, right: bool) -> None:
        self._anchor = anchor
        self.right = right
        self.col = 0

    @property
    def line(self) -> int:
        """The row, as it is now."""
        anchor = self._anchor
        return (anchor.last if self.right else anchor.first) + anchor.node.total()

    @line.setter
    def line(self, row: int) -> None:
        anchor = self._anchor
        row -= anchor.node.total()
        if self.right:
            anchor.last = row
        else:
            anchor.first = row
        anchor.node.reach(row)


class AnchorIndex(Generic[T]):
    """The anchors of one text."""

    def __init__(self) -> None:
        self._root: _Node[T] = _Node(0, 0)

    def add(self, item: T, rows: tuple[int, int], rank: int) -> RowAnchor[T]:
        """Anchor a thing at rows."""
        leaf = self._root.leaf_for(rows[0])
        anchor = RowAnchor(self, item, leaf, rank)
        if not leaf.anchors:
            leaf.low = leaf.high = rows[0] - leaf.total()
        leaf.anchors.append(anchor)
        anchor.put(rows)
        self._split(leaf, even=leaf.high != anchor.last)
        return anchor

    def remove(self, anchor: RowAnchor[T]) -> None:
        """It moves no more."""
        node = anchor.node
        node.anchors.remove(anchor)
        while node.parent is not None and not (node.anchors or node.nodes):
            node.parent.nodes.remove(node)
            node = node.parent

    def move(self, span: Span) -> None:
        """Rows of the text changed."""
        self._root.move(*span)

    def touching(self, first: int, last: int) -> list[RowAnchor[T]]:
        """The anchors that overlap or touch rows ``first .. last``, by their rank."""
        found: list[RowAnchor[T]] = []
        self._root.touching(first, last, found)
        found.sort(key=lambda anchor: anchor.rank)
        return found

    def rows(self) -> dict[T, tuple[int, int]]:
        """The rows of each, all as they are at one moment: a tenth of asking each for its own."""
        found: dict[T, tuple[int, int]] = {}
        self._root.rows(0, found)
        return found

    def _split(self, node: _Node[T], *, even: bool) -> None:
        while max(len(node.nodes), len(node.anchors)) > _FANOUT:
            parent = node.parent
            if parent is None:
                parent = self._root = _Node(node.low + node.shift, node.high + node.shift)
                parent.nodes.append(node)
                node.parent = parent
            parent.nodes.append(node.halved(even=even))
            node = parent
