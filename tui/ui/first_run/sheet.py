"""Rows of styled text on a screen of its own, in the middle of it."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.message import Message
from textual.strip import Strip

from tui.ui import theme
from tui.ui.first_run.pages import Row
from tui.ui.rows import make_strip
from tui.ui.widgets.painted import Painted


class Sheet(Painted):
    """Paints rows; what does not fit is cut off below, so pages are made for the room."""

    class Clicked(Message):
        """A row was clicked."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text
            """What stands in it."""

    _written: Sequence[Row] = ()

    def on_click(self, event: events.Click) -> None:
        """Which row it was."""
        event.stop()
        if 0 <= event.y < len(self._written):
            row = "".join(text for text, _ in self._written[event.y])
            self.post_message(self.Clicked(row))

    def write(self, rows: Sequence[Row]) -> None:
        """Have these rows, and nothing else."""
        self._written = rows
        self.refresh()

    @property
    def text(self) -> str:
        """All that is written, as plain text."""
        return "\n".join("".join(text for text, _ in row) for row in self._written)

    def render_line(self, y: int) -> Strip:
        """One row."""
        pieces = self._written[y] if y < len(self._written) else []
        return make_strip(pieces, self.size.width, theme.active().style("foreground", "background"))
