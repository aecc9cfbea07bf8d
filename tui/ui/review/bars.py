"""What stands above the diff: what is shown in one row, and the files with their states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip

from tui.core.edits.hunk import Hunk
from tui.ui import theme
from tui.ui.conversation.hunk_card import MINUS, look
from tui.ui.review.changes import FileChanges
from tui.ui.review.paint import counts
from tui.ui.rows import Piece, clip, clip_left, make_strip, one_line, spread
from tui.ui.widgets.bar import Bar
from tui.ui.widgets.painted import Painted

_MOST_GLYPHS = 14
_ROOM_FOR_GLYPHS, _ROOM_FOR_HOW = 100, 90
_ROWS_A_FILE_ROW = 5
"""The list has one row for so many of the screen."""
_FEWEST_ROWS, _MOST_ROWS = 3, 12


class Title(NamedTuple):
    """What the first row says."""

    what: str
    words: str = ""
    alert: str = ""
    """What else is going on, in the colour of warnings."""
    right: str = ""
    added: int = 0
    removed: int = 0


class TitleBar(Bar):
    """The first row."""

    BACK = "panel"

    _title = Title("review")

    def say(self, title: Title) -> None:
        """Show this."""
        self._title = title
        self.update_bar()

    def pieces(self, width: int) -> list[Piece]:
        """Left what is shown, right how."""
        style, title = theme.active().style, self._title
        right: list[Piece] = []
        if title.added or title.removed:
            right += [
                (f"  +{title.added} ", style("hunk-added")),
                (f"{MINUS}{title.removed}", style("hunk-struck")),
            ]
        right.append((f"   {title.right} " if width >= _ROOM_FOR_HOW else " ", style("faint")))
        left: list[Piece] = [(f" {title.what} ", style("accent", more="bold"))]
        room = width - sum(cell_len(text) for text, _ in (*left, *right))
        if title.alert:
            alert = clip(f" {title.alert}  ", max(room, 0))
            left.append((alert, style("warning")))
            room -= cell_len(alert)
        left.append((clip(f" {one_line(title.words)}", max(room, 0)), style("muted")))
        return spread(left, right, width)


class FileList(Painted):
    """One row a file, the one in sight lit; it scrolls along."""

    class Chosen(Message):
        """A file was clicked."""

        def __init__(self, path: str) -> None:
            super().__init__()
            self.path = path

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._files: Sequence[FileChanges] = ()
        self._now = 0
        self._top = 0

    def show(self, files: Sequence[FileChanges], now: FileChanges | None) -> None:
        """These files; ``now`` is in sight."""
        self._files = files
        self._now = next((i for i, file in enumerate(files) if file is now), 0)
        rows = self.rows(len(files))
        if self.styles.height is None or self.styles.height.value != rows:
            self.styles.height = rows
        self._top = min(self._top, self._now, max(len(files) - rows, 0))
        self._top = max(self._top, self._now - rows + 1)
        self.refresh()

    def rows(self, files: int) -> int:
        """How many rows are shown of so many files."""
        share = self.screen.size.height // _ROWS_A_FILE_ROW
        return max(min(files, min(max(share, _FEWEST_ROWS), _MOST_ROWS)), 1)

    def render_line(self, y: int) -> Strip:
        """A file: its name, how its hunks stand, how much it is."""
        width, palette = self.size.width, theme.active()
        index = self._top + y
        base = palette.style("foreground", "surface")
        if index >= len(self._files):
            return make_strip([], width, base)
        file, lit = self._files[index], index == self._now
        style = palette.style
        more = self._more(y)
        right = [*_states(file.hunks, width), *counts(palette, file), (more, style("faint"))]
        room = width - sum(cell_len(text) for text, _ in right) - 4
        name = clip_left(one_line(file.path), max(room, 6))
        left: list[Piece] = [
            (" ▸ " if lit else "   ", style("accent")),
            (name, style("foreground" if lit else "muted", more="bold" if lit else "")),
        ]
        if file.words:
            left.append((f"  {file.words}", style("faint")))
        return make_strip(spread(left, right, width), width, base)

    def _more(self, y: int) -> str:
        """Whether there are files above or below the ones in sight."""
        if y == 0 and self._top:
            return " ↑ "
        below = self._top + self.size.height < len(self._files)
        return " ↓ " if below and y == self.size.height - 1 else "   "

    def recolour(self) -> None:
        """The theme changed."""
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Go to that file."""
        event.stop()
        if self._top + event.y < len(self._files):
            self.post_message(self.Chosen(self._files[self._top + event.y].path))


def _states(hunks: Sequence[Hunk], width: int) -> list[Piece]:
    """A glyph a hunk, as far as there is room."""
    if width < _ROOM_FOR_GLYPHS or not hunks:
        return []
    style = theme.active().style
    shown = [look(hunk) for hunk in hunks[:_MOST_GLYPHS]]
    pieces: list[Piece] = [(state.glyph, style(state.colour)) for state in shown]
    pieces.append(("… " if len(hunks) > _MOST_GLYPHS else "  ", style("faint")))
    return pieces
