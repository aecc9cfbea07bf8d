"""What Textual's own compositor wants shown, as bytes in this terminal's colours and signs.

Screens over the workbench, and what lies under them, are put together by Textual. Its renderer
knows neither signs nor widths that terminals disagree about, so only its strips are taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

from textual.geometry import Region
from textual.strip import Strip

from tui.ui.painting.steady import steady_bytes


@runtime_checkable
class Whole(Protocol):
    """Textual's update of all rows of a region (``LayoutUpdate``)."""

    strips: list[Iterable[Strip]]
    region: Region


@runtime_checkable
class Parts(Protocol):
    """Textual's update of parts of rows (``ChopsUpdate``)."""

    chops: Sequence[Mapping[int, Strip | None]]
    chop_ends: list[list[int]]
    spans: list[tuple[int, int, int]]


def update_bytes(update: Whole | Parts) -> str:
    """The bytes that show it."""
    pieces = _of_whole(update) if isinstance(update, Whole) else _of_parts(update)
    return "".join([f"\x1b[{y + 1};{x + 1}H{steady_bytes(strip, x)}" for x, y, strip in pieces])


def _of_whole(update: Whole) -> Iterator[tuple[int, int, Strip]]:
    """Whole rows of a region: column, row and what stands there."""
    left, top, _, _ = update.region
    for y, row in enumerate(update.strips, top):
        x = left
        for strip in row:
            yield x, y, strip
            x += strip.cell_length


def _of_parts(update: Parts) -> Iterator[tuple[int, int, Strip]]:
    """Parts of rows, cut to the spans that changed."""
    for y, first, last in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is None or x >= last or end <= first:
                continue
            start, stop = max(x, first), min(end, last)
            whole = start == x and stop == end
            yield start, y, strip if whole else strip.crop(start - x, stop - x)
