"""Frames on their way to the terminal: one write each, none before the last one was taken.

Screens over the workbench are put together by Textual, whose renderer knows neither signs nor
widths that terminals disagree about: only the strips of its updates are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from textual.app import App
from textual.geometry import Offset, Region
from textual.strip import Strip

from tui.ui.painting.ink import steady_bytes

_SYNC_START, _SYNC_END = "\x1b[?2026h", "\x1b[?2026l"
"""Between them a terminal that can shows nothing (DEC private mode 2026)."""


def is_behind(app: App[object], again: Callable[[], None]) -> bool:
    """True while a frame waits to be written: another one would be old before it is seen.

    A slow line gets fewer frames, each as it is then; and nobody waits for the line. ``again`` is
    called when the terminal has taken all.
    """
    driver = app._driver
    if not getattr(driver, "behind", False):
        return False
    when_taken: Callable[[Callable[[], None]], None] = getattr(driver, "when_taken", lambda _: None)
    when_taken(again)
    return True


def write_frame(app: App[Any], text: str, cursor: Offset) -> None:
    """Write the bytes of a frame, which the terminal shows at once if it can, and the cursor.

    ``cursor`` is where the terminal's own cursor goes, for input methods.
    """
    driver = app._driver
    if driver is not None and app._running and not app._closed and not app.is_headless:
        text = f"{text}\x1b[{cursor.y + 1};{cursor.x + 1}H"
        if app._sync_available:
            text = f"{_SYNC_START}{text}{_SYNC_END}"
        driver.write(text)
        driver.flush()
    app.post_display_hook()


@runtime_checkable
class WholeUpdate(Protocol):
    """Textual's update of all rows of a region (``LayoutUpdate``)."""

    strips: list[Iterable[Strip]]
    region: Region


@runtime_checkable
class PartsUpdate(Protocol):
    """Textual's update of parts of rows (``ChopsUpdate``)."""

    chops: Sequence[Mapping[int, Strip | None]]
    chop_ends: list[list[int]]
    spans: list[tuple[int, int, int]]


def update_bytes(update: WholeUpdate | PartsUpdate) -> str:
    """The bytes that show it."""
    pieces = _of_whole(update) if isinstance(update, WholeUpdate) else _of_parts(update)
    return "".join([f"\x1b[{y + 1};{x + 1}H{steady_bytes(strip, x)}" for x, y, strip in pieces])


def _of_whole(update: WholeUpdate) -> Iterator[tuple[int, int, Strip]]:
    """Whole rows of a region: column, row and what stands there."""
    left, top, _, _ = update.region
    for y, row in enumerate(update.strips, top):
        x = left
        for strip in row:
            yield x, y, strip
            x += strip.cell_length


def _of_parts(update: PartsUpdate) -> Iterator[tuple[int, int, Strip]]:
    """Parts of rows, cut to the spans that changed."""
    for y, first, last in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is None or x >= last or end <= first:
                continue
            start, stop = max(x, first), min(end, last)
            whole = start == x and stop == end
            yield start, y, strip if whole else strip.crop(start - x, stop - x)
