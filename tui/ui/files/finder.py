"""Open a file by a few letters of its path: a modal with the best matches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import chain, islice
from typing import ClassVar, NamedTuple

from textual.binding import BindingType

from tui.core.files import amount, kind_by_name
from tui.core.fuzzy import Sieve
from tui.ui import theme
from tui.ui.editor.cells import LineCells
from tui.ui.file_search import FileSearch
from tui.ui.finding.find import parse_place
from tui.ui.finding.pick_list import PickList, PickScreen
from tui.ui.keymap import echo
from tui.ui.styled_text import Piece
from tui.ui.terminal.terminal_app import TerminalApp

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


def recent_first(paths: Sequence[str], recent: Sequence[str]) -> list[FoundFile]:
    """What is offered without a query: the recent files, then all others."""
    known = set(recent)
    others = (path for path in paths if path not in known)
    return [FoundFile(path) for path in islice(chain(recent, others), _MOST_SHOWN)]


def found_in(sieve: Sieve) -> list[FoundFile]:
    """The best matches first."""
    return [FoundFile(fit.text, fit.offsets) for fit in sieve.best(_MOST_SHOWN)]


class FoundList(PickList[FoundFile]):
    """The matches."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: dict[str, int] = {}
        """Bytes of binaries, as far as they are known."""

    @property
    def in_sight(self) -> list[str]:
        """The paths of the rows that are shown."""
        return [item.path for item in self._items[self._top : self._top + self.size.height]]

    def light(self, path: str) -> None:
        """Light this one, if it is there."""
        self.step(next((at for at, found in enumerate(self._items) if found.path == path), 0))

    def row(self, item: FoundFile, width: int) -> tuple[list[Piece], list[Piece]]:
        """Folder muted, name bright, what matched in the accent colour; the end is in sight."""
        style, name = theme.active().style, item.path.rfind("/") + 1
        cells = LineCells(item.path)
        about = self._about(item.path, width - cells.width)
        width -= len(about)
        first = max(cells.width - width, 0)
        pieces: list[Piece] = []
        for piece in cells.window(first, first + width):
            if piece.step == 0:
                pieces.append((piece.text, style("foreground")))
                continue
            for offset, character in enumerate(piece.text, piece.col):
                colour = "foreground" if offset >= name else "muted"
                more = "bold" if offset in item.offsets else ""
                pieces.append((character, style("accent" if more else colour, more=more)))
        return pieces, [(about, style("faint"))]

    def _about(self, path: str, room: int) -> str:
        """What a binary is, and its size; empty for a text, or where there is no room."""
        if not (kind := kind_by_name(path)):
            return ""
        size = f", {amount(self.sizes[path])}" if path in self.sizes else ""
        words = f"  {kind}{size} "
        return words if len(words) <= room else ""


class FileFinder(PickScreen[ChosenFile | None]):
    """Type a few letters, Enter opens; ``name:12`` goes to a line."""

    title_words = "Open a file"
    placeholder = "a few letters or words of its path, or name:line"
    BINDINGS: ClassVar[list[BindingType]] = [*echo("open_file", "leave")]

    def __init__(
        self,
        paths: Callable[[], list[str]],
        recent: list[str],
        sizes: Callable[[Sequence[str]], Awaitable[Mapping[str, int]]],
    ) -> None:
        """``recent`` are the files to offer before anything is typed.

        ``paths`` are all files; asked at every key, for they may just be listed anew. ``sizes``
        are those of binaries.
        """
        super().__init__()
        self._sizes = sizes
        self._paths = paths
        self._recent = recent
        self._list: FoundList = FoundList()
        self._search = FileSearch(lambda sieve: self._show(found_in(sieve)))

    def look_again(self) -> None:
        """All files were listed anew: the match that is lit stays lit, if it is still one."""
        lit = self._list.chosen
        self.look_for(self._field.value)
        if lit is not None:
            self._list.light(lit.path)

    def lit(self) -> None:
        """Ask for the sizes of the binaries in sight."""
        known = self._list.sizes
        wanted = [p for p in self._list.in_sight if p not in known and kind_by_name(p)]
        if wanted:
            self.run_worker(self._weighed(wanted), exclusive=True)

    async def _weighed(self, wanted: Sequence[str]) -> None:
        self._list.sizes |= await self._sizes(wanted)
        self._list.refresh()

    def action_step(self, rows: int) -> None:
        """Light another of those that fit what is typed now."""
        self._end_search()
        super().action_step(rows)

    def _end_search(self) -> None:
        if (sieve := self._search.end()) is not None:
            self._show(found_in(sieve))

    def action_take(self) -> None:
        """Open what is lit."""
        self._end_search()
        chosen = self._list.chosen
        if chosen is None:
            return
        _, colon, place = self._field.value.partition(":")
        line, col = (parse_place(place) if colon else None) or (None, 0)
        if isinstance(self.app, TerminalApp):
            self.app.focus_comes()
        self.dismiss(ChosenFile(chosen.path, line, col))

    def look_for(self, words: str) -> None:
        """Show the best matches, of many files in a moment."""
        paths, letters = self._paths(), words.partition(":")[0]
        if not letters.strip():
            self._search.forget()
            self._show(recent_first(paths, self._recent))
        elif (sieve := self._search.begin(letters, paths)) is not None:
            self._show(found_in(sieve))

    def _show(self, found: list[FoundFile]) -> None:
        self._list.show(found)
        self.call_after_refresh(self.lit)  # the first time it has no rows yet
        count = len(found)
        said = (
            "no file matches"
            if not count
            else (
                f"{count}{'+' if count == _MOST_SHOWN else ''} of {len(self._paths()):,} files"
                " · ↑↓ choose · Enter open · Esc leave"
            )
        )
        self._status.update(said)
