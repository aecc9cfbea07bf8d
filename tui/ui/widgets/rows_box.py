"""A box as high as the lines that it shows; gone when there are none."""

from __future__ import annotations

from textual.strip import Strip

from tui.ui import theme
from tui.ui.rows import Line, make_strip
from tui.ui.widgets.painted import Painted


class RowsBox(Painted):
    """Base of the queue and of questions above the prompt."""

    _lines: tuple[Line, ...] = ()

    @property
    def rows(self) -> int:
        """How many are shown."""
        return len(self._lines)

    def show_lines(self, lines: list[Line]) -> None:
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
        line = self._lines[y] if y < len(self._lines) else Line([])
        base = palette.style("foreground", line.back or "background")
        return make_strip(line.pieces, self.size.width, base)
