"""Base of widgets that paint whole rows, background included, by `render_line` alone."""

from __future__ import annotations

from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget


class Painted(Widget):
    """Skips Textual's style cache: it has nothing to add to rows that carry their background.

    Such a widget has no border, padding or tint in tcss.
    """

    ALLOW_SELECT = False

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of a region of the widget."""
        strips = [self.render_line(y) for y in crop.line_range]
        left, right = crop.column_span
        if (left, right) != (0, self.size.width):
            return [strip.crop(left, right) for strip in strips]
        return strips
