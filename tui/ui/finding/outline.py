"""The symbols of a file: functions, classes, headings, keys, wherever its language names them.

Common languages are scanned line by line. Of all others the syntax colours are asked: what a
lexer calls the name of a function or class is one. Made in slices, so a long file freezes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.timer import Timer

from tui.core.outline import CHUNK, MOST_SYMBOLS, NAME_CHARS, Symbol, needs_colours, symbols
from tui.core.text.buffer import Buffer
from tui.ui import theme
from tui.ui.editor.brackets import kind_at
from tui.ui.editor.cells import part_cells
from tui.ui.editor.cursor import indent_of
from tui.ui.editor.view import View
from tui.ui.finding.pick_list import PickList, PickScreen
from tui.ui.keymap import echo
from tui.ui.styled_text import Piece

if TYPE_CHECKING:
    from tui.ui.editor.brackets import SpansOf
    from tui.ui.highlight.lines import Spans


def file_symbols(buffer: Buffer, spans: SpansOf) -> Iterator[Symbol | None]:
    """The symbols of a buffer from top to bottom; None again and again, for the clock.

    ``spans`` gives a line's syntax spans. The buffer must not change meanwhile.
    """
    if needs_colours(buffer.path):
        found = _by_colours(buffer, spans)
    else:
        found = symbols(buffer.path, buffer.lines, lambda row, col: kind_at(spans(row), col))
    for count, symbol in enumerate(found):
        yield symbol
        if count > MOST_SYMBOLS * CHUNK:
            return


def ranked(query: str, found: list[Symbol]) -> list[Symbol]:
    """The symbols with all letters of a query in their order; those that hold it as it is first."""
    words = query.replace(" ", "").lower()
    if not words:
        return found
    pattern = re.compile(".*?".join(map(re.escape, words)))
    fitting = [symbol for symbol in found if pattern.search(symbol.name.lower())]

    def rank(symbol: Symbol) -> tuple[int, int]:
        at = symbol.name.lower().find(words)
        return (2 if at < 0 else int(at > 0), symbol.line)

    return sorted(fitting, key=rank)


def _by_colours(buffer: Buffer, spans: SpansOf) -> Iterator[Symbol | None]:
    before = ""
    for row, line in enumerate(buffer.lines):
        if row % CHUNK == 0:
            yield None
        found = _named(spans(row))
        if found is None:
            continue
        start, end = found
        name = line[start:end].strip()[:NAME_CHARS]
        underline = not any(map(str.isalnum, name))
        if name and name != before and not underline:
            yield Symbol(name, row, start, indent_of(line))
        before = name


def _named(spans: Spans) -> tuple[int, int] | None:
    """The first name of a function, class or section in a line."""
    for start, end, token in spans:
        kind = tuple(token)[:2]
        if kind in (("Name", "Function"), ("Name", "Class"), ("Generic", "Heading")):
            return start, end
        if kind == ("Generic", "Subheading"):
            return start, end
    return None


_SLICE_S, _PAUSE_S = 0.006, 0.015
_NEAR = 1_000
"""Lines in which a symbol is looked for that was written anew."""
_DEEPEST = 12
"""Cells of indentation shown at most."""

Look = Callable[[Symbol], None]
"""Shows a symbol in the editor."""


class SymbolList(PickList[Symbol]):
    """The symbols of the file."""

    def row(self, item: Symbol, width: int) -> tuple[list[Piece], list[Piece]]:
        """Its kind muted, its name bright, its line at the right."""
        style = theme.active().style
        indent = " " * min(item.depth, _DEEPEST)
        kind = f"{item.kind} " if item.kind else ""
        number = f" {item.line + 1} "
        room = max(width - len(indent) - len(kind) - len(number), 0)
        text = "".join(piece.text for piece in part_cells(item.name, 0).window(0, room))
        left = [(indent + kind, style("muted")), (text, style("foreground"))]
        return left, [(number, style("faint"))]


class OutlineScreen(PickScreen[Symbol | None]):
    """Type a few letters, Enter stays there, Esc goes back."""

    placeholder = "a few letters of a symbol"
    BINDINGS: ClassVar[list[BindingType]] = [*echo("outline", "leave", "editor")]

    def __init__(self, view: View, look: Look) -> None:
        """``look`` shows a symbol behind the list while the user moves through it."""
        super().__init__()
        self._view = view
        self._look = look
        self._line = view.cursor.position[0]
        self._all: list[Symbol] = []
        self._list = SymbolList()
        self._work: Iterator[Symbol | None] | None = None
        self._revision = -1
        self._timer: Timer | None = None
        self._moved = False

    def on_mount(self) -> None:
        """Begin with what is found in a few milliseconds."""
        self._timer = self.set_interval(_PAUSE_S, self._collect)
        self._collect()

    def look_for(self, words: str) -> None:
        """Show what fits, the first of it in the editor."""
        self._moved = False
        self._filter()
        if words:
            self._show()

    def action_take(self) -> None:
        """Stay there."""
        if (chosen := self._list.chosen) is not None:
            self.dismiss(self._now(chosen))

    def lit(self) -> None:
        """It was lit by a key, and stays so while others are found."""
        self._moved = True
        self._show()

    def _show(self) -> None:
        """Show it in the editor."""
        if (chosen := self._list.chosen) is not None:
            self._look(self._now(chosen))

    def _now(self, symbol: Symbol) -> Symbol:
        """Where a symbol is by now: the model may have written above it since it was found."""
        buffer, line, room = self._view.buffer, symbol.line, 1
        for row, n_old, n_new in buffer.changes_since(self._revision) or ():
            if row + n_old <= line:
                line += n_new - n_old
            elif row <= line:  # its own line was written anew, with others perhaps
                line, room = row, max(room, n_new)
        text = buffer.lines[line : line + min(room, _NEAR)]
        near = (at for at, one in enumerate(text) if symbol.name in one)
        return symbol._replace(line=line + next(near, 0))

    def _collect(self) -> None:
        """Find symbols for some milliseconds; from the start again if the text has changed."""
        view, until = self._view, perf_counter() + _SLICE_S
        colours = view.colours
        if needs_colours(view.path) and colours.pending and colours.wait_s == 0:
            colours.idle(_SLICE_S)
            self._tell(done=False)
            return
        if self._work is None or self._revision != view.buffer.revision:
            self._revision = view.buffer.revision
            self._all = []
            self._work = file_symbols(view.buffer, colours.spans)
        for symbol in self._work:
            if symbol is not None:
                self._all.append(symbol)
            elif perf_counter() >= until:
                self._tell(done=False)
                return
            if len(self._all) >= MOST_SYMBOLS:
                break
        if self._timer is not None:
            self._timer.stop()
        if self._moved:
            self._filter()
        else:
            self.look_for(self._field.value)
        self._tell(done=True)

    def _filter(self) -> None:
        """Show what fits; with nothing typed the symbol that the cursor is in is lit."""
        words, lit = self._field.value, self._list.chosen
        found = ranked(words, self._all)
        at = 0
        if self._moved and lit is not None:
            same = (at for at, symbol in enumerate(found) if symbol.name == lit.name)
            at = min(same, key=lambda at: abs(found[at].line - lit.line), default=0)
        elif not words:
            at = sum(symbol.line <= self._line for symbol in found) - 1
        self._list.show(found, max(at, 0))
        self._tell(done=True)

    def _tell(self, *, done: bool) -> None:
        count = len(self._all)
        if not done:
            words = f"looking… {count} so far" if count else "looking…"
        elif not count:
            words = "no symbols found in this file · Esc leaves"
        else:
            words = f"{count} · ↑↓ move along · Enter stay there · Esc back"
        self._status.update(words)
