"""A screen that paints soon, and only what is damaged.

Textual repaints at ticks of a clock, 60 a second, after several messages between widget, screen and
timer. Here a damaged `PaintedWidget` says so to the screen itself, and the screen paints in
the same turn of the event loop, or in the frame that damaged it: a key's repaint waits for no
tick. A repaint that was expensive is followed by a pause as long as it took. What a key changed in
the widget with the focus waits for neither: it is painted alone, as soon as the key was taken.

It leans on names of Textual's (`Screen._on_timer_update`, ``_compositor_refresh``,
``_refresh_layout``, ``_dirty_widgets``, ``_compositor``): ``tests/ui/test_textual_names`` fails
when Textual moves them. Screens over this one, and what lies under them, are put together by
Textual, whose renderer knows neither signs nor widths that terminals disagree about: only the
strips of its updates are taken (`update_bytes`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import Context, copy_context
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple, Protocol, runtime_checkable

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.app import App
from textual.geometry import Offset, Region, Size
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from tui.ui.painting.ink import is_unsure, segment_bytes, steady_bytes

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


class HandedOn:
    """Around code outside the app's messages: its error is raised among them, once.

    The loop's own handler would log it and go on with a screen that is not painted any more.
    """

    def __init__(self, post: Callable[[Callable[[], None]], object]) -> None:
        """``post`` runs a callable among the app's messages."""
        self._post = post

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """Hand an error on; what ends the process goes its own way."""
        if not isinstance(error, Exception):
            return False
        self._post(partial(_raised, error))
        return True


def _raised(error: Exception) -> None:
    raise error


class Picture:
    """Remembers what was written where; forgets what it cannot know any more."""

    def __init__(self) -> None:
        self._shown: dict[tuple[int, int], tuple[int, Strip]] = {}
        """Row and first cell -> behind the last cell, and what stands there."""

    def forget(self) -> None:
        """Something else wrote to the terminal, or pieces lie elsewhere now."""
        self._shown.clear()

    def put(self, y: int, span: tuple[int, int], strip: Strip) -> str:
        """The bytes that make ``span`` of row ``y`` show the strip; empty if it does already.

        The strip must be as wide as the span.
        """
        start, end = span
        before = self._shown.get((y, start))
        if before is not None and before[0] == end:
            if before[1] is strip:
                return ""
            self._shown[y, start] = (end, strip)
            return changed_cells(before[1], strip, (start, y))
        self._shown[y, start] = (end, strip)
        return f"{_move(start, y)}{steady_bytes(strip, start)}"


def changed_cells(old: Strip, new: Strip, at: tuple[int, int]) -> str:
    """What must be written at ``at`` (column, row) so that it shows ``new`` instead of ``old``."""
    x, y = at
    if new._render_cache is not None:  # a row that only moved: its bytes are there already
        return f"{_move(x, y)}{new._render_cache}"
    before, after = old._segments, new._segments
    most = head = min(len(before), len(after))
    for index, ((text, style, _), (text_now, style_now, _)) in enumerate(
        zip(before, after, strict=False)
    ):
        if text != text_now or (style is not style_now and style != style_now):
            head = index
            break
    if head == len(before) == len(after):
        return ""
    tail = 0
    while tail < most - head and _same(before[-1 - tail], after[-1 - tail]):
        tail += 1
    if (head + tail) * 2 < len(after) or old.cell_length != new.cell_length:
        return f"{_move(x, y)}{steady_bytes(new, x)}"
    changed = after[head : len(after) - tail]
    if changed and is_unsure(changed[-1].text):
        changed = after[head:]  # it may be drawn over what stands behind it
    skipped = sum(cell_len(segment.text) for segment in after[:head])
    return f"{_move(x + skipped, y)}{segment_bytes(changed, x + skipped)}"


def _same(one: Segment, other: Segment) -> bool:
    return one is other or (
        one.text == other.text and (one.style is other.style or one.style == other.style)
    )


def _move(x: int, y: int) -> str:
    return f"\x1b[{y + 1};{x + 1}H"


Visible = Mapping[Widget, tuple[Region, Region]]
"""Widget -> its region on the screen and what clips it; the front-most widget first."""


class SeenWidget(NamedTuple):
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


class WidgetMap:
    """Of one layout; another layout needs another map."""

    def __init__(self, visible: Visible, width: int) -> None:
        """``width`` of the screen in cells."""
        self.visible = visible
        self._width = width
        self._rows: dict[int, list[SeenWidget]] = {}

    def on_row(self, y: int) -> list[SeenWidget]:
        """What is seen in a row of the screen, from left to right."""
        if (found := self._rows.get(y)) is None:
            found = self._rows[y] = self._look(y)
        return found

    def _look(self, y: int) -> list[SeenWidget]:
        free = [(0, self._width)]
        places: list[SeenWidget] = []
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
                places.append(SeenWidget(first, last, widget, region, seen))
                left += [(a, b) for a, b in ((start, first), (last, end)) if a < b]
            free = left
            if not free:
                break
        return sorted(places, key=lambda place: place.start)


_SETTLE_S = 0.003
"""After a layout: its widgets hear of their new sizes before they are painted."""
_LONGEST_PAUSE_S = 0.008
_WAIT_S = 0.001
_BATCH_S = 0.004
"""How soon to look again whether the app still puts widgets together."""


class PaintedScreen(Screen[None]):
    """Paints the widgets on it; `damage` and `paint_now` are for `PaintedWidget` and the frame."""

    def __init__(self) -> None:
        super().__init__()
        self._places: WidgetMap | None = None
        self._picture = Picture()
        self._damaged: set[Widget] = set()
        self._due: asyncio.TimerHandle | None = None
        self._pump: Context | None = None
        self._next_s = 0.0
        self._laying_out = False
        self._told_map = self._compositor._full_map
        """Where the widgets were when they last heard of their sizes."""
        self.on_focused_painted: Callable[[], None] = lambda: None
        """Called when what has the focus was painted."""
        self.waits: Callable[[], bool] = bool
        """Whether a key goes first, for a moment."""
        self._in_frame = False
        self._moved = False
        """Since the last repaint: another widget may be under the mouse."""

    # -- when

    def damage(self, widget: Widget) -> None:
        """A widget has regions to repaint; costs the same however often it is called."""
        self._damaged.add(widget)
        if not self._in_frame:
            self.paint_soon()

    def begin_frame(self) -> None:
        """What is damaged from now on is painted by `paint_now`."""
        self._in_frame = True

    def paint_now(self) -> None:
        """The end of a frame: paint all that is damaged."""
        self._in_frame = False
        if self._damaged:
            self._paint()

    def echo(self) -> None:
        """Paint what has the focus before anything else that is damaged: it has taken a key."""
        widget, context = self.focused, self._pump
        if widget is None or context is None or not self.is_attached or not self.is_current:
            return
        moves = any(one._layout_required or one._scroll_required for one in (self, widget))
        if not (moves or self.app._batch_count or is_behind(self.app, self.paint_soon)):
            with HandedOn(self.app.call_later):
                context.run(self._paint_echo, widget)

    def _paint_echo(self, widget: Widget) -> None:
        later = self._dirty_widgets - {widget}
        self._compositor.update_widgets({widget})
        if self._compositor._dirty_regions:
            widget._repaint_required = False
            self._damaged.discard(widget)
            self._compositor_refresh()
            self._dirty_widgets |= later
            self.on_focused_painted()

    def repaint_all(self) -> None:
        """The terminal may have lost what it showed: write all of it again."""
        if self.is_attached:
            self._picture.forget()
            self._compositor._dirty_regions.add(self.size.region)
            self.paint_soon()

    def paint_soon(self, wait_s: float = 0.0) -> None:
        """Paint in a later turn of the event loop, once for all who ask until then."""
        if self._due is not None or not self.is_attached:
            return
        loop = asyncio.get_running_loop()
        if self._pump is None:
            self._pump = copy_context()
        wait_s = max(self._next_s - loop.time(), wait_s)
        self._due = loop.call_later(wait_s, self._paint_due, context=self._pump)

    def _paint_due(self) -> None:
        self._due = None
        if self.waits():
            self.paint_soon(_WAIT_S)
            return
        with HandedOn(self.app.call_later):
            self._paint()

    def _paint(self) -> None:
        """Lay out if it must be, and paint."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        app = self.app
        if not self.is_attached or not self.is_current:
            return
        if app._batch_count:
            self.paint_soon(_BATCH_S)
            return
        if is_behind(app, self.paint_soon):
            return
        loop = asyncio.get_running_loop()
        start = loop.time()
        damaged, self._damaged = self._damaged, set()
        self._dirty_widgets.update(damaged & self._compositor.visible_widgets.keys())
        echoes = self.focused in self._dirty_widgets
        laid_out = self._layout_required or self._scroll_required
        self._on_timer_update()
        if not laid_out and self._compositor._dirty_regions:
            self._compositor_refresh()
        if echoes:
            self.on_focused_painted()
        end = loop.time()
        self._next_s = end + min(end - start, _LONGEST_PAUSE_S)

    async def _on_idle(self, event: events.Idle) -> None:
        """Something wants to be painted or laid out: soon, not at the next tick of a clock."""
        event.prevent_default()
        if (
            self._layout_required
            or self._scroll_required
            or self._repaint_required
            or self._recompose_required
            or self._dirty_widgets
        ) and self.is_current:
            self.paint_soon()
            return
        await self._invoke_and_clear_callbacks()

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        """Where widgets lie; they are painted when they know of it."""
        self._laying_out = self._places is not None
        compositor = self._compositor
        # whoever asked where a widget is, between a scroll and this, had the map made anew:
        # those that have another size since would not hear of it
        compositor._full_map = self._told_map
        try:
            super()._refresh_layout(size, scroll)
        finally:
            self._laying_out = False
            self._moved = True
            self._told_map = compositor._full_map

    # -- what

    def rows_of(self, whole: Widget) -> Iterator[list[tuple[SeenWidget, Strip]]]:
        """What a widget and those in it show in each row of the screen, from left to right."""
        visible = self._compositor.visible_widgets.items()
        places = WidgetMap(
            {one: seen for one, seen in visible if whole in one.ancestors_with_self},
            self.size.width,
        )
        for y in range(self.size.height):
            yield [(place, _strips([(y, place)])[0]) for place in places.on_row(y)]

    def _compositor_refresh(self) -> None:
        """Write what is damaged."""
        app, compositor = self.app, self._compositor
        if app.is_inline or self is not app.screen or app._background_screens:
            self._picture.forget()
            super()._compositor_refresh()
            return
        if self._laying_out:
            self.paint_soon(_SETTLE_S)
            return
        regions = compositor._dirty_regions.copy()
        compositor._dirty_regions.clear()
        self._dirty_widgets.clear()
        if regions:
            text = self._damage_text(regions, compositor.size)
            if text:
                write_frame(app, text, self.outer_size.clamp_offset(app.cursor_position))
        if self._moved:
            self._moved = False
            app._update_mouse_over(self)

    def _damage_text(self, regions: Iterable[Region], size: Size) -> str:
        """The bytes that bring these regions of the screen up to date."""
        visible = self._compositor.visible_widgets
        places = self._places
        if places is None or places.visible is not visible:
            places = self._places = WidgetMap(visible, size.width)
            self._picture.forget()
        spans = _spans(regions, size)
        if len(spans) == size.height and all(s == (0, size.width) for s in spans.values()):
            self._picture.forget()
        wanted: dict[Widget, list[tuple[int, SeenWidget]]] = {}
        for y, (start, end) in spans.items():
            for place in places.on_row(y):
                if place.start < end and start < place.end:
                    wanted.setdefault(place.widget, []).append((y, place))
        put = self._picture.put
        return "".join(
            [
                put(y, (place.start, place.end), strip)
                for rows in wanted.values()
                for (y, place), strip in zip(rows, _strips(rows), strict=True)
            ]
        )


def _spans(regions: Iterable[Region], size: Size) -> dict[int, tuple[int, int]]:
    """Row -> the first damaged cell and the one behind the last."""
    spans: dict[int, tuple[int, int]] = {}
    for x, y, width, height in regions:
        start, end = max(x, 0), min(x + width, size.width)
        for row in range(max(y, 0), min(y + height, size.height)):
            before = spans.get(row)
            if before is not None:
                spans[row] = (min(before[0], start), max(before[1], end))
            else:
                spans[row] = (start, end)
    return spans


def _strips(rows: list[tuple[int, SeenWidget]]) -> list[Strip]:
    """What a widget shows in some of its rows, cropped to where it is seen."""
    place = rows[0][1]
    region, seen = place.region, place.seen
    first = min(y for y, _ in rows)
    count = max(y for y, _ in rows) + 1 - first
    asked = Region(seen.x - region.x, first - region.y, seen.width, count)
    painted = place.widget.render_lines(asked)
    strips: list[Strip] = []
    for y, (start, end, *_) in rows:
        strip = painted[y - first] if y - first < len(painted) else Strip.blank(seen.width)
        if (start, end) != (seen.x, seen.right):
            strip = strip.crop(start - seen.x, end - seen.x)
        strips.append(strip)
    return strips
