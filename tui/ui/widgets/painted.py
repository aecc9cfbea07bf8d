"""Base of widgets that paint whole rows, background included, by `render_line` alone."""

from __future__ import annotations

from functools import cached_property
from typing import Self

from textual.color import Color
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from tui.ui.painting.screen import PaintedScreen

_BLACK = Color(0, 0, 0)


class Painted(Widget):
    """Skips Textual's style cache: it has nothing to add to rows that carry their background.

    Textual asks every widget for all its rows whenever any widget is painted, so rows are kept
    until `refresh` says which of them changed. Such a widget has no border, padding or tint in
    tcss.
    """

    ALLOW_SELECT = False

    _kept: list[Strip] | None = None
    _kept_width = 0
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

    @cached_property
    def _screen_of_mine(self) -> PaintedScreen | None:
        """The screen, if it paints by itself; a widget stays on its screen."""
        screen = self.screen
        return screen if isinstance(screen, PaintedScreen) else None

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
        if self.app.no_color:
            for line_filter in self.get_line_filters():
                strip = strip.apply_filter(line_filter, _BLACK)
        return strip
