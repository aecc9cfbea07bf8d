"""Which widget is seen where: the front-most one at every cell of a row.

Textual asks all widgets on the screen for all their rows whenever one row of one of them has
changed. With this map only those are asked that are seen in a damaged row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from textual.geometry import Region
from textual.widget import Widget

Visible = Mapping[Widget, tuple[Region, Region]]
"""Widget -> its region on the screen and what clips it; the front-most widget first."""


class Place(NamedTuple):
    """Cells of one row in which a widget is seen."""

    start: int
    """First cell on the screen."""
    end: int
    """Behind the last cell."""
    widget: Widget
    region: Region
    """The widget's, on the screen."""
    seen: Region
    """The part of it that is not clipped."""


class Places:
    """Of one layout; another layout needs another map."""

    def __init__(self, visible: Visible, width: int) -> None:
        """``width`` of the screen in cells."""
        self.visible = visible
        self._width = width
        self._rows: dict[int, list[Place]] = {}

    def on_row(self, y: int) -> list[Place]:
        """What is seen in a row of the screen, from left to right."""
        if (found := self._rows.get(y)) is None:
            found = self._rows[y] = self._look(y)
        return found

    def _look(self, y: int) -> list[Place]:
        free = [(0, self._width)]
        places: list[Place] = []
        for widget, (region, clip) in self.visible.items():
            seen = region.intersection(clip)
            if not seen.y <= y < seen.bottom or not seen.width:
                continue
            left: list[tuple[int, int]] = []
            for start, end in free:
                first, last = max(start, seen.x), min(end, seen.right)
                if first >= last:
                    left.append((start, end))
                    continue
                places.append(Place(first, last, widget, region, seen))
                left += [(a, b) for a, b in ((start, first), (last, end)) if a < b]
            free = left
            if not free:
                break
        return sorted(places, key=lambda place: place.start)
