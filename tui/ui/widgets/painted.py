"""Bases of widgets that paint whole rows by themselves: panes, bars of one row, boxes of rows."""

from __future__ import annotations

from functools import cached_property
from typing import Self

from rich.cells import cell_len
from rich.segment import Segment
from textual import events, on
from textual.color import Color
from textual.errors import NoWidget
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from tui.ui import theme
from tui.ui.painting.ink import PaintedStrip, ink
from tui.ui.painting.screen import PaintedScreen
from tui.ui.styled_text import Piece, StyledLine, make_strip

_BLACK = Color(0, 0, 0)


class PaintedWidget(Widget):
    """Skips Textual's style cache: it has nothing to add to rows that carry their background.

    Textual asks every widget for all its rows whenever any widget is painted, so rows are kept
    until `refresh` says which of them changed. Such a widget has no border, padding or tint in
    tcss.
    """

    ALLOW_SELECT = False

    _kept: list[Strip] | None = None
    _kept_width = 0
    _dim = False
    _stale: frozenset[int] = frozenset()
    """Rows of ``_kept`` that must be asked for again."""

    def refresh(
        self,
        *regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        """See `Widget.refresh`; without regions all rows changed."""
        if regions:
            self._stale = self._stale.union(*(region.line_range for region in regions))
        else:
            self._kept = None
        screen = self._screen_of_mine if self.is_mounted else None
        if layout or recompose or not repaint or screen is None:
            return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        self._set_dirty(*regions)
        screen.damage(self)
        return self

    @property
    def size(self) -> Size:
        """Its cells, without what Textual's own asks for: the way to the screen, its gutter."""
        screen = self._screen_of_mine if self.is_mounted else None
        if screen is None:
            return super().size
        try:
            return screen._compositor.find_widget(self).region.size
        except NoWidget:
            return Size(0, 0)

    @cached_property
    def _screen_of_mine(self) -> PaintedScreen | None:
        """The screen, if it paints by itself; a widget stays on its screen."""
        screen = self.screen
        return screen if isinstance(screen, PaintedScreen) else None

    @on(events.MouseScrollDown)
    @on(events.MouseScrollUp)
    def _wheel_turned(self, event: events.MouseEvent) -> None:
        if type(self).wheel is not PaintedWidget.wheel:
            event.stop()
            steps = 1 if isinstance(event, events.MouseScrollDown) else -1
            self.wheel(steps, sideways=event.shift or event.ctrl)

    def wheel(self, steps: int, *, sideways: bool) -> None:
        """The wheel was turned, down if positive; heirs that scroll do it here.

        ``sideways``: with Shift or Ctrl held.
        """

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of a region of the widget."""
        width, height = self.size
        if self._kept is None or (self._kept_width, len(self._kept)) != (width, height):
            self._kept_width = width
            self._kept = [self._filtered(y) for y in range(height)]
        else:
            for y in self._stale:
                if 0 <= y < height:
                    self._kept[y] = self._filtered(y)
        self._stale = frozenset()
        left, right = crop.column_span
        rows = self._kept if crop.height == height else self._kept[crop.y : crop.bottom]
        if (left, right) != (0, width):
            return [strip.crop(left, right) for strip in rows]
        return rows

    def _filtered(self, y: int) -> Strip:
        """A row, without its colours where ``NO_COLOR`` is set; Textual's cache would see to it."""
        strip = self.render_line(y)
        if self._dim and ink().many_colours:
            dimmed = theme.active().dimmed
            segments = [Segment(text, style and dimmed(style)) for text, style, _ in strip]
            strip = PaintedStrip(segments, strip.cell_length)
        if self.app.no_color:
            for line_filter in self.get_line_filters():
                strip = strip.apply_filter(line_filter, _BLACK)
        return strip


def set_dim(widget: PaintedWidget, dim: bool) -> None:
    """Whether another pane has the keys: what is written in this one is fainter then."""
    if dim != widget._dim:
        widget._dim = dim
        widget.refresh()


class Bar(PaintedWidget):
    """Base: `pieces` says what is shown; `update_bar` repaints if that changed."""

    BACK = "background"
    """The palette's name of the bar's background."""

    _shown: tuple[list[Piece], int] | None = None
    _strip: Strip | None = None

    def pieces(self, width: int) -> list[Piece]:
        """What is shown in ``width`` cells."""
        raise NotImplementedError

    def update_bar(self) -> None:
        """Look again; repaint only if something is different."""
        width = self.size.width
        shown = (self.pieces(width), width)
        if shown != self._shown:
            self._shown = shown
            palette = theme.active()
            self._strip = make_strip(shown[0], width, palette.style("foreground", self.BACK))
            self.refresh()

    def on_resize(self) -> None:
        """A new width has room for more or less."""
        self.update_bar()

    def recolour(self) -> None:
        """The theme changed."""
        self._shown = None
        self.update_bar()

    def render_line(self, y: int) -> Strip:
        """The one row."""
        if self._strip is None or self._strip.cell_length != self.size.width:
            self.update_bar()
        return self._strip or Strip.blank(self.size.width)


Group = tuple[int, list[Piece]]
"""What belongs together, and how important it is (0 is always shown)."""


def fitting(groups: list[Group], width: int, gap: int = 3) -> list[list[Piece]]:
    """The most important groups that fit side by side into ``width``, in their order."""
    kept: set[int] = set()
    used = 0
    for index in sorted(range(len(groups)), key=lambda at: groups[at][0]):
        cells = sum(cell_len(text) for text, _ in groups[index][1]) + (gap if kept else 0)
        if groups[index][1] and used + cells <= width:
            kept.add(index)
            used += cells
    return [groups[index][1] for index in sorted(kept)]


class RowsBox(PaintedWidget):
    """Base of the lists above the prompt: `_paint` shows what there is, with `show_lines`."""

    _lines: tuple[StyledLine, ...] = ()

    @property
    def rows(self) -> int:
        """How many are shown."""
        return len(self._lines)

    def on_resize(self) -> None:
        """Clip and wrap anew."""
        self._paint()

    def recolour(self) -> None:
        """The theme changed."""
        self._paint()

    def _paint(self) -> None:
        raise NotImplementedError

    def show_lines(self, lines: list[StyledLine]) -> None:
        """Show these; relays out only if their number changed."""
        if len(lines) != len(self._lines):
            self.styles.height = len(lines)
            self.display = bool(lines)
        if tuple(lines) != self._lines:
            self._lines = tuple(lines)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One row."""
        palette = theme.active()
        line = self._lines[y] if y < len(self._lines) else StyledLine([])
        base = palette.style("foreground", line.back or "background")
        return make_strip(line.pieces, self.size.width, base)


def scroll_thumb(top: int, height: int, total: int) -> range:
    """The rows of a scroll bar's thumb; none if all is in sight, or there is no room for a bar."""
    if not total > height >= 3:
        return range(0)
    length = max(height * height // total, 1)
    place = round(top * (height - length) / max(total - height, 1))
    return range(place, place + length)


def scroll_cell(thumb: bool) -> Segment:
    """One cell of a scroll bar."""
    return Segment("▐" if thumb else " ", theme.active().style("line", "background"))
