"""A widget of one row, painted as a line of styled pieces; header, meter and footer are bars."""

from __future__ import annotations

from rich.cells import cell_len
from textual.strip import Strip

from tui.ui import theme
from tui.ui.rows import Piece, make_strip
from tui.ui.widgets.painted import Painted


class Bar(Painted):
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
