"""No colours in what widgets render, where there shall be none: also in pictures of the screen."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from tui.ui.painting.ink import ink


class WithoutColours(LineFilter):
    """In place of Textual's own, which makes greys of colours: those are colours too."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same in reverse video, bold, underlined and faint."""
        reduced = ink().reduced
        return [
            Segment(text, style if style is None else reduced(style), control)
            for text, style, control in segments
        ]
