"""Open a file by a few letters of its path: a modal with the best matches."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static

from tui.core.fuzzy import Sieve
from tui.ui import theme
from tui.ui.editor.cells import LineCells
from tui.ui.finding.find_bar import parse_place
from tui.ui.keymap import echo
from tui.ui.stylesheets import sheet
from tui.ui.widgets.field import Field

_MOST_SHOWN = 200


class FoundFile(NamedTuple):
    """One match."""

    path: str
    offsets: tuple[int, ...] = ()
    """The characters that matched."""


class ChosenFile(NamedTuple):
    """What the user chose."""

    path: str
    line: int | None = None
    col: int = 0


def find_files(query: str, paths: list[str], recent: list[str]) -> list[FoundFile]:
    """The best matches first; without a query the recent files, then all others."""
    words = query.replace(" ", "")
    if not words:
        known = set(recent)
        rest = [path for path in paths if path not in known]
        return [FoundFile(path) for path in [*recent, *rest][:_MOST_SHOWN]]
    sieve = Sieve(words, paths)
    sieve.step(len(paths))
    return [FoundFile(fit.text, fit.offsets) for fit in sieve.best(_MOST_SHOWN)]


class FoundList(Widget):
    """The matches, one a row."""

    ALLOW_SELECT = False

    class Chosen(Message):
        """A match was clicked."""

    def __init__(self) -> None:
        super().__init__()
        self._found: list[FoundFile] = []
        self._at = 0
        self._top = 0

    @property
    def chosen(self) -> FoundFile | None:
        """The lit match."""
        return self._found[self._at] if self._found else None

    def show(self, found: list[FoundFile]) -> None:
        """Show other matches, the first one lit."""
        self._found, self._at, self._top = found, 0, 0
        self.refresh()

    def light(self, path: str) -> None:
        """Light this one, if it is there."""
        self.step(next((at for at, found in enumerate(self._found) if found.path == path), 0))

    def step(self, rows: int) -> None:
        """Light another one."""
        if self._found:
            self._at = max(min(self._at + rows, len(self._found) - 1), 0)
            height = max(self.size.height, 1)
            self._top = max(min(self._top, self._at), self._at - height + 1)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Folder muted, name bright, what matched in the accent colour."""
        width = self.size.width
        style = theme.active().style
        index = self._top + y
        if index >= len(self._found):
            return Strip([Segment(" " * width, style("", "panel"))], width)
        found = self._found[index]
        back = "selection" if index == self._at else "panel"
        name = found.path.rfind("/") + 1
        cells = LineCells(found.path)
        room = max(width - 3, 0)
        first = max(cells.width - room, 0)
        segments = [Segment(" ▸ " if index == self._at else "   ", style("accent", back))]
        for piece in cells.window(first, first + room):
            if piece.step == 0:
                segments.append(Segment(piece.text, style("foreground", back)))
                continue
            for offset, character in enumerate(piece.text, piece.col):
                colour = "foreground" if offset >= name else "muted"
                more = "bold" if offset in found.offsets else ""
                segments.append(Segment(character, style("accent" if more else colour, back, more)))
        used = min(cells.width, room)
        segments.append(Segment(" " * (room - used), style("", back)))
        return Strip(segments, width)

    def on_click(self, event: events.Click) -> None:
        """Choose by clicking."""
        event.stop()
        if self._top + event.y < len(self._found):
            self._at = self._top + event.y
            self.refresh()
            self.post_message(self.Chosen())


class FileFinder(ModalScreen[ChosenFile | None]):
    """Type a few letters, Enter opens; ``name:12`` goes to a line."""

    CSS_PATH = sheet("finder")
    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "leave", show=False, priority=True),
        *echo("open_file", "leave"),
        Binding("up", "step(-1)", show=False, priority=True),
        Binding("down", "step(1)", show=False, priority=True),
        Binding("pageup", "step(-10)", show=False, priority=True),
        Binding("pagedown", "step(10)", show=False, priority=True),
    ]

    def __init__(self, paths: Callable[[], list[str]], recent: list[str]) -> None:
        """``recent`` are the files to offer before anything is typed.

        ``paths`` are all files; asked at every key, for they may just be listed anew.
        """
        super().__init__()
        self._paths = paths
        self._recent = recent
        self._field = Field(placeholder="a few letters of its path, or name:line")
        self._list = FoundList()
        self._status = Static("", markup=False, id="found-count")

    def compose(self) -> ComposeResult:
        """Input above, matches below."""
        with Vertical(id="file-finder"):
            yield Static("Open a file", markup=False, id="file-finder-title")
            yield self._field
            yield self._list
            yield self._status

    def on_mount(self) -> None:
        """Offer what is recent."""
        self._look("")

    def look_again(self) -> None:
        """All files were listed anew: the match that is lit stays lit, if it is still one."""
        lit = self._list.chosen
        self._look(self._field.value)
        if lit is not None:
            self._list.light(lit.path)

    def action_leave(self) -> None:
        """Open nothing."""
        self.dismiss(None)

    def action_step(self, rows: int) -> None:
        """Light another match."""
        self._list.step(rows)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._look(event.value)

    @on(Input.Submitted)
    @on(FoundList.Chosen)
    def _entered(self, event: Message) -> None:
        event.stop()
        chosen = self._list.chosen
        if chosen is None:
            return
        _, colon, place = self._field.value.partition(":")
        line, col = (parse_place(place) if colon else None) or (None, 0)
        self.dismiss(ChosenFile(chosen.path, line, col))

    def _look(self, text: str) -> None:
        paths = self._paths()
        found = find_files(text.partition(":")[0], paths, self._recent)
        self._list.show(found)
        count = len(found)
        words = (
            "no file has these letters in this order"
            if not count
            else (
                f"{count}{'+' if count == _MOST_SHOWN else ''} of {len(paths)} files"
                " · ↑↓ choose · Enter open · Esc leave"
            )
        )
        self._status.update(words)
