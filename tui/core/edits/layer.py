"""How hunks lie on each other, and what else is needed to take one off exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from tui.core.edits.hunk import Hunk

if TYPE_CHECKING:
    from tui.core.edits.file_record import FileRecord
    from tui.core.text.change_set import Author


Edges = tuple[Hunk, int | None, int | None]
"""Where a hunk's first row and the row behind its last one were, if they were in another."""


@dataclass(slots=True)
class Layer:
    """How a hunk lies on others: needed to take it off exactly."""

    below: Sequence[Hunk] = ()
    """Hunks that it changed the text of."""
    above: list[Hunk] | tuple[()] = ()
    """Hunks that changed its text. Most have none: no list is kept for them."""
    edges: Sequence[Edges] = ()
    """Where their first and last rows were, counted from this hunk's first row."""
    record: FileRecord | None = None
    """The file that an accepted deletion, move or a rejected addition took away."""
    state: int = 0
    """The user's state of the text that a deletion takes away, or an accepted move replaced."""
    over: FileRecord | None = None
    """The file that an accepted move replaced."""
    place: int = 0
    """Of hunks without rows at one place the one with the least stands first in the text."""
    made_file: bool = False
    """An ADD whose file was not there: without it there is none."""
    changed_by: Author | None = None
    """Who, beside models, wrote last in its lines."""

    def goes_under(self, hunk: Hunk) -> None:
        """A newer hunk changed its text."""
        if self.above:
            self.above.append(hunk)
        else:
            self.above = [hunk]


class _None(Layer):
    """That of a hunk of which nothing is noted; shared, so nothing may be."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"ask for a layer of its own to note {name}")


def _none() -> Layer:
    layer = _None.__new__(_None)
    for one in fields(Layer):
        object.__setattr__(layer, one.name, one.default)
    return layer


class Layers(dict[int, Layer]):
    """Layers by the ids of their hunks; of most hunks nothing is to be noted, so none is kept."""

    _NONE = _none()

    def __missing__(self, hunk_id: int) -> Layer:
        """That of a hunk of which nothing is noted: to be read only."""
        return self._NONE

    def own(self, hunk: Hunk) -> Layer:
        """The layer of a hunk, to be written in."""
        return self.setdefault(hunk.id, Layer())


Older = tuple[Hunk, int, int, bool]
"""An older hunk, its rows in the old lines of a newer one's section, and whether it stands there;
else a decision took it out, and another may bring it back."""


def lay(layers: Layers, hunk: Hunk, old: tuple[int, int], older: Iterable[Older]) -> None:
    """Note which older hunks a new one lies on, and where they stood in ``old``, its old lines."""
    low, high = old
    below: list[Hunk] = []
    met_ones: list[Edges] = []
    for one, start, end, stands in older:
        inside = (low <= start <= high, low <= end <= high)
        if any(inside):
            edges = (start - low if inside[0] else None, end - low if inside[1] else None)
            met_ones.append((one, *edges))
        inner = max(start, low) < min(end, high) or start < low == high < end
        if stands and (inner or low < start < high):
            below.append(one)
            layers.own(one).goes_under(hunk)
    if below or met_ones or hunk.id in layers:
        layer = layers.own(hunk)
        layer.below, layer.edges = below or (), met_ones or ()


def keep_apart(record: FileRecord, layers: Layers, hunk: Hunk, count: int) -> None:
    """Hunks without rows that stood right at ``count`` old lines stand right at the new ones.

    New lines that are painted before the old ones are taken out push them along.
    """
    assert hunk.start is not None
    assert hunk.end is not None
    edges = layers[hunk.id].edges if count else []
    for one, start, end in edges:
        if start != end or not (one.start and one.end) or one.start.line != one.end.line:
            continue
        if start == 0:
            one.start.line = one.end.line = min(one.start.line, hunk.start.line)
        elif start == count:
            one.start.line = one.end.line = max(one.start.line, hunk.end.line)
    if hunk.start.line == hunk.end.line:
        behind = {one for one, start, _ in edges if start == count}
        near = in_order(record, layers, (hunk.start.line, hunk.start.line))
        near = [one for one in near if one is not hunk]
        ahead = [one for one in near if one not in behind]
        number(layers, [*ahead, hunk, *(one for one in near if one in behind)])


def in_order(record: FileRecord, layers: Layers, rows: tuple[int, int]) -> list[Hunk]:
    """The hunks that touch rows, those that a decision took out too, as they are in the text."""

    def place(hunk: Hunk) -> tuple[int, int, int]:
        assert hunk.start is not None
        assert hunk.end is not None
        return hunk.start.line, hunk.end.line, layers[hunk.id].place

    return sorted([*record.live.near(*rows), *record.off.near(*rows)], key=place)


def number(layers: Layers, hunks: Iterable[Hunk]) -> None:
    """Keep the order of hunks in the text: rows between them may go, and come back."""
    for place, hunk in enumerate(hunks):
        if layers[hunk.id].place != place:
            layers.own(hunk).place = place


def ahead_of(record: FileRecord, layers: Layers, hunk: Hunk) -> list[Hunk]:
    """Hunks without rows right before a hunk: they stay there when rows are put in its place."""
    assert hunk.start is not None
    assert hunk.end is not None
    first, layer = hunk.start.line, layers[hunk.id]
    found: list[Hunk] = []
    for one in in_order(record, layers, (first, first)):
        if one is hunk or not one.start or not one.end or one.end.line != one.start.line:
            continue
        later = layers[one.id].place > layer.place if first == hunk.end.line else one in layer.above
        if one.start.line == first and not later:
            found.append(one)
    return found


def met_again(edges: Edges, rows: tuple[int, int, int]) -> Edges:
    """Where the edges of another hunk go when the one that they were in is taken off.

    ``rows``: as of `met`.
    """
    one, start, end = edges
    assert one.start is not None
    assert one.end is not None
    first, last = one.start.line, one.end.line
    start, end = met(first, start, rows), met(last, end, rows, end=True)
    # it may have had rows when it was met, and have none any more: then both edges are one
    return one, end if start is None and first == last else start, end


def met(edge: int, was: int | None, rows: tuple[int, int, int], *, end: bool = False) -> int | None:
    """Where an edge was in a hunk's old text; None: it is right where it is.

    Others that landed between two hunks, or were taken off there, move edges that only met.

    Args:
        edge: the first row of another hunk (``end``: the row behind its last one), now.
        was: where that was in the old text.
        rows: the hunk's first row, the one behind its last, and how many its old text has.
        end: whether it is the end of the other hunk.
    """
    first, last, count = rows
    if was == (0 if end else count):  # the other one stood before it (or behind it)
        return was if first <= edge <= last else None
    beyond = (was == count and edge > last) if end else (was == 0 and edge < first)
    return None if beyond else was
