"""The list over the prompt: what can be put in at the cursor, the best first, its letters lit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from rich.cells import cell_len
from rich.style import Style
from textual import events

from tui.ui import theme
from tui.ui.messages import CompletionActed
from tui.ui.prompt.completion import CompletionItem
from tui.ui.styled_text import Piece, StyledLine, clip, pictures, spread
from tui.ui.widgets.painted import RowsBox

MOST_ROWS = 8
"""Offers that are seen at once."""
_WIDEST_NAME = 34
"""Cells of a name beside what is said of it."""
_LEAST_SAID = 12
"""Cells: fewer of the words say nothing."""
_NEAREST = 3
"""Rows that stay free over the list."""

Kind = Literal["command", "argument", "file", "past"]
_TITLES: dict[Kind, str] = {
    "command": "commands",
    "argument": "what it takes",
    "file": "files",
    "past": "your earlier prompts",
}


class CompletionList(RowsBox):
    """Lies over the conversation, which stays where it is; its last row is over the prompt."""

    def __init__(self) -> None:
        super().__init__(id="offers")
        self.room: Callable[[], int] = lambda: MOST_ROWS + 1
        """Rows over the prompt."""
        self._kind: Kind = "file"
        self._items: list[CompletionItem] = []
        self._at = 0
        self._top = 0
        self._total = 0

    def show(self, kind: Kind, items: list[CompletionItem], at: int, total: int) -> None:
        """Show these, one of them lit; nothing, if there are none."""
        if items is not self._items:
            self._top = 0
        self._kind, self._items, self._at, self._total = kind, items, at, total
        self._paint()

    def on_click(self, event: events.Click) -> None:
        """Take this one."""
        event.stop()
        at = self._top + event.y - 1
        if event.y >= 1 and at < len(self._items):
            self.post_message(CompletionActed("take", at))

    def wheel(self, steps: int, *, sideways: bool) -> None:
        """Light another one."""
        self.post_message(CompletionActed("step", steps))

    def _paint(self) -> None:
        seen = min(len(self._items), MOST_ROWS, max(self.room() - 1 - _NEAREST, 1))
        if not seen:
            self.show_lines([])
            return
        self._top = max(min(self._top, self._at), self._at - seen + 1)
        shown = self._items[self._top : self._top + seen]
        width = max(self.size.width or self.container_size.width, 20)
        most = width - _WIDEST_NAME if self._kind == "past" else _WIDEST_NAME
        names = min(max(cell_len(item.shown) for item in shown), max(most, _WIDEST_NAME))
        lines = [self._head(width)]
        lines += [
            self._row(item, names, width, lit=self._top + number == self._at)
            for number, item in enumerate(shown)
        ]
        self.styles.offset = (0, -len(lines))
        self.show_lines(lines)

    def _head(self, width: int) -> StyledLine:
        palette = theme.active()
        count = f"{self._at + 1} of {self._total:,} "
        left: list[Piece] = [(f"   {_TITLES[self._kind]}", palette.style("faint"))]
        return StyledLine(spread(left, [(count, palette.style("faint"))], width), "panel")

    def _row(self, item: CompletionItem, names: int, width: int, *, lit: bool) -> StyledLine:
        palette = theme.active()
        pieces: list[Piece] = [(" ▸ " if lit else "   ", palette.style("accent", more="bold"))]
        beside = width - 3 - names - 4
        alone = not item.help or beside < _LEAST_SAID
        room = width - 4 if alone else names
        name = self._name_pieces(item, room)
        pieces += name
        if not alone:
            pad = names - sum(cell_len(text) for text, _ in name) + 2
            said = palette.style("foreground" if lit else "muted")
            pieces += [(" " * pad, said), (clip(pictures(item.help), beside), said)]
        return StyledLine(pieces, "selection" if lit else "panel")

    def _name_pieces(self, item: CompletionItem, room: int) -> list[Piece]:
        """What was typed of it in another colour and bold; the folder of a file is quieter."""
        palette = theme.active()
        text = pictures(item.shown)
        file = self._kind == "file"
        name = text.rfind("/") + 1 if file else 0
        first, last = _window(text, room, left=file)
        found = frozenset(item.offsets)
        pieces: list[Piece] = [("…", palette.style("faint"))] if first else []
        run, before = "", Style.null()
        for at in range(first, last):
            if at in found:
                style = palette.style("accent", more="bold")
            else:
                style = palette.style("foreground" if at >= name else "muted")
            if style is not before and run:
                pieces.append((run, before))
                run = ""
            run, before = run + text[at], style
        pieces += [(run, before)] if run else []
        return [*pieces, ("…", palette.style("faint"))] if last < len(text) else pieces


def _window(text: str, room: int, *, left: bool) -> tuple[int, int]:
    """The part of a text that has room, and an ellipsis for the rest."""
    if cell_len(text) <= room:
        return 0, len(text)
    used, end = 0, len(text)
    if left:
        at = end
        while at > 0 and used + cell_len(text[at - 1]) < room:
            at -= 1
            used += cell_len(text[at])
        return at, end
    at = 0
    while at < end and used + cell_len(text[at]) < room:
        used += cell_len(text[at])
        at += 1
    return 0, at
