"""Where a section that waits for a choice could stand: the nearest are kept, others found again.

A section of lines that are all over a file would else keep a hundred thousand numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, overload

NEAREST = 5
"""So many places are kept."""


class Finding(Protocol):
    """Knows how to look for places."""

    def every_place(self) -> Sequence[int]:
        """All rows at which it could be placed, in the text as it is now."""


class Places(Sequence[int]):
    """First rows, in order; those behind the nearest are looked for in the text as it is then."""

    __slots__ = ("_count", "_finding", "near")

    def __init__(self, near: Sequence[int], count: int, finding: Finding) -> None:
        """``finding`` looks for all of them; there were ``count`` when that was last done."""
        self.near = tuple(near)
        self._count = count
        self._finding = finding

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> int: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[int]: ...

    def __getitem__(self, at: int | slice) -> int | Sequence[int]:
        if isinstance(at, slice):
            last = at.indices(self._count)[1]
            return self.near[at] if last <= len(self.near) else self._all()[at]
        if not -self._count <= at < self._count:
            raise IndexError(at)
        at %= self._count
        if at < len(self.near):
            return self.near[at]
        rows = self._all()
        return rows[min(at, len(rows) - 1)]

    def __iter__(self) -> Iterator[int]:
        return iter(self._all())

    def __contains__(self, row: object) -> bool:
        return row in self.near or row in self._all()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Places):
            return NotImplemented
        return (self.near, self._count) == (other.near, other._count)

    def __hash__(self) -> int:
        return hash((self.near, self._count))

    def moved(self, near: Sequence[int]) -> Places:
        """The same, with the nearest where the text brought them."""
        return Places(near, self._count, self._finding)

    def _all(self) -> Sequence[int]:
        """All of them now; if there are others than there were, these count from now on."""
        rows = self._finding.every_place()
        if len(rows) in (0, self._count):
            return rows or self.near
        self.near, self._count = tuple(rows[:NEAREST]), len(rows)
        return rows


def kept(rows: Sequence[int], finding: Finding) -> Sequence[int]:
    """What is kept of so many places."""
    return tuple(rows) if len(rows) <= NEAREST else Places(rows[:NEAREST], len(rows), finding)


def alike(places: Sequence[int], others: Sequence[int]) -> Sequence[int]:
    """The same places, of which the nearest are one object with others that are the same."""
    near = nearest(others)
    return moved(places, near) if near == nearest(places) else places


def nearest(places: Sequence[int]) -> tuple[int, ...]:
    """Those of the places that are kept."""
    return places.near if isinstance(places, Places) else tuple(places[:NEAREST])


def moved(places: Sequence[int], near: Sequence[int]) -> Sequence[int]:
    """The same places, with the nearest where the text brought them."""
    return places.moved(near) if isinstance(places, Places) else tuple(near)
