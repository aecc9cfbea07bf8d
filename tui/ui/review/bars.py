"""What stands above the diff: what is shown in one row, and the files with their states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip

from tui.core.document.hunk import Hunk
from tui.ui import theme
from tui.ui.conversation.hunk_card import MINUS, look
from tui.ui.review.changes import FileChanges
from tui.ui.review.paint import counts
from tui.ui.styled_text import Piece, clip, clip_left, make_strip, one_line, spread
from tui.ui.widgets.painted import Bar, PaintedWidget

_MOST_GLYPHS = 14
_ROOM_FOR_GLYPHS, _ROOM_FOR_HOW = 100, 90
_ROWS_A_FILE_ROW = 5
"""Rows of the screen for each row of the list."""
_FEWEST_ROWS, _MOST_ROWS = 3, 12
_ROWS_IN_COLUMN = 2
"""Of each file where the list is a column: its name, and how its hunks stand."""


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


class FileList(PaintedWidget):
    """The files, the one in sight lit; it scrolls along.

    Over the diff each has one row; in a column of its own (`in_column`) it has two.
    """

    in_column = False

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
        self._height = ""

    def show(self, files: Sequence[FileChanges], now: FileChanges | None) -> None:
        """These files; ``now`` is in sight."""
        self._files = files
        self._now = next((i for i, file in enumerate(files) if file is now), 0)
        rows = self.rows(len(files))
        height = "1fr" if self.in_column else str(rows)
        if self._height != height:
            self._height = self.styles.height = height
        self._top = min(self._top, self._now, max(len(files) - rows, 0))
        self._top = max(self._top, self._now - rows + 1)
        self.refresh()

    def on_unmount(self) -> None:
        """A closed screen may live on: what was shown is large."""
        self._files = ()

    def rows(self, files: int) -> int:
        """How many rows the list has for this many files."""
        if self.in_column:
            return max(self.size.height // _ROWS_IN_COLUMN, 1)
        share = self.screen.size.height // _ROWS_A_FILE_ROW
        return max(min(files, min(max(share, _FEWEST_ROWS), _MOST_ROWS)), 1)

    def render_line(self, y: int) -> Strip:
        """A file: its name, how its hunks stand, how much it is."""
        width, palette = self.size.width, theme.active()
        index = self._index(y)
        base = palette.style("foreground", "surface")
        if index >= len(self._files):
            return make_strip([], width, base)
        file, lit = self._files[index], index == self._now
        style = palette.style
        if self.in_column and y % _ROWS_IN_COLUMN:
            return make_strip([("   ", base), *_glyphs(file.hunks, width - 6)], width, base)
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
        rows = self.rows(len(self._files))
        below = self._top + rows < len(self._files)
        return " ↓ " if below and self._index(y) == self._top + rows - 1 else "   "

    def recolour(self) -> None:
        """The theme changed."""
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Go to that file."""
        event.stop()
        if (index := self._index(event.y)) < len(self._files):
            self.post_message(self.Chosen(self._files[index].path))

    def _index(self, y: int) -> int:
        """Of the file on that row."""
        return self._top + (y // _ROWS_IN_COLUMN if self.in_column else y)


def _states(hunks: Sequence[Hunk], width: int) -> list[Piece]:
    """A glyph a hunk, as far as there is room."""
    return _glyphs(hunks, _MOST_GLYPHS) if width >= _ROOM_FOR_GLYPHS and hunks else []


def _glyphs(hunks: Sequence[Hunk], most: int) -> list[Piece]:
    """So many of them at most, and whether there are more."""
    style = theme.active().style
    shown = [look(hunk) for hunk in hunks[:most]]
    pieces: list[Piece] = [(state.glyph, style(state.colour)) for state in shown]
    pieces.append(("… " if len(hunks) > most else "  ", style("faint")))
    return pieces
