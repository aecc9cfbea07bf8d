"""Sections that land or wait for a place, and where those that wait could stand.

The nearest places are kept, and moved with the text a frame at a time; others are found again: a
section of lines that are all over a file would else keep a hundred thousand numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, overload

from tui.core.document.hunk import Hunk
from tui.core.text.rows import Span, shifted

if TYPE_CHECKING:
    from tui.core.text.change_set import Author


NEAREST = 5
"""So many places are kept."""


class Places(Sequence[int]):
    """First rows, in order; those behind the nearest are looked for in the text as it is then."""

    __slots__ = ("_count", "_finding", "near")

    def __init__(self, near: Sequence[int], count: int, finding: WaitingSection) -> None:
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


def kept(rows: Sequence[int], finding: WaitingSection) -> Sequence[int]:
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


class PaintedRows(Protocol):
    """The rows of a file that an open section has painted so far."""

    row: int
    """The first one."""
    tags: list[str]
    """Of each row: ``=`` context, ``-`` struck, ``+`` painted, ``u`` touched by the user since."""
    trouble: str
    """Why painting had to stop: somebody changed matched lines."""
    shortened: bool
    """The user deletes in painted rows now, and types nothing."""

    @property
    def end(self) -> int:
        """The row behind the last one."""

    @property
    def last_row(self) -> int | None:
        """The row that was written last, if any."""

    @property
    def unfinished(self) -> bool:
        """The last row is the line that is still coming."""

    def hunk_at(self, row: int) -> Hunk | None:
        """The hunk that painted a row."""

    def without(self) -> str:
        """The text that belongs there without the section."""

    def changed(self, span: Span, author: Author) -> None:
        """Rows of the file changed, not by this section."""


class OpenSection(Protocol):
    """A section that is landing in a file."""

    hunks: list[Hunk]

    @property
    def painter(self) -> PaintedRows | None:
        """What it paints with, from the time on that its place is known."""

    def places(self) -> Sequence[int]:
        """First rows at which it could stand, as long as that is not decided."""

    def decorations(self, first: int, last: int) -> dict[int, str]:
        """Line -> landing, struck or candidate, of lines ``first`` to ``last``."""

    def ghost(self) -> tuple[int, list[str]] | None:
        """The line under which incoming lines may be shown, and these lines."""


class WaitingSection(Protocol):
    """A section that fits in several places and waits for the user's choice."""

    hunks: list[Hunk]
    height: int
    """How many rows each of the places has; at least 1."""

    def place_at(self, row: int) -> None:
        """Land at one of the candidates. Raises EditRefused."""

    def every_place(self) -> Sequence[int]:
        """All rows at which it could be placed, in the text as it is now."""


_MOST_SPANS = 64
"""More changes are not put off: they would have to be gone through all at once."""


class PendingShifts:
    """Changes of the text that the places have not followed yet."""

    __slots__ = ("_spans",)

    def __init__(self) -> None:
        self._spans: list[Span] = []

    def add(self, span: Span, waiting: Iterable[WaitingSection]) -> None:
        """A change; ``waiting`` are the sections that were there before it."""
        last = self._spans[-1] if self._spans else None
        if span.n_old == span.n_new < 2:
            return
        if last and not last.n_old and not span.n_old and span.row == last.row + last.n_new:
            self._spans[-1] = Span(last.row, 0, last.n_new + span.n_new)
        else:
            self._spans.append(span)
        if len(self._spans) > _MOST_SPANS:
            self.follow(waiting)

    def follow(self, waiting: Iterable[WaitingSection]) -> None:
        """Bring the places of all waiting sections to where the text is."""
        if not self._spans:
            return
        spans, self._spans = self._spans, []
        first = min(span.row for span in spans)
        for section in waiting:
            places = section.hunks[0].candidates  # all of its hunks have these, in order
            rows = nearest(places)
            if rows and rows[-1] >= first:
                places = moved(places, [_moved(row, spans) for row in rows])
                for hunk in section.hunks:
                    hunk.candidates = places


def _moved(row: int, spans: Iterable[Span]) -> int:
    for span in spans:
        row = shifted(row, row, span)[0]
    return row
