"""Go to a symbol of the file: a list that is filtered by typing; the editor moves along."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import ClassVar

from rich.segment import Segment
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from tui.ui import theme
from tui.ui.editor.cells import part_cells
from tui.ui.editor.view import View
from tui.ui.finding.outline import MOST_SYMBOLS, Symbol, needs_colours, ranked, symbols
from tui.ui.keymap import echo
from tui.ui.sheets import sheet
from tui.ui.widgets.field import Field

_SLICE_S, _PAUSE_S = 0.006, 0.015
_NEAR = 1_000
"""Lines in which a symbol is looked for that was written anew."""
_DEEPEST = 12
"""Cells of indentation shown at most."""

Look = Callable[[Symbol], None]
"""Shows a symbol in the editor."""


class SymbolList(Widget):
    """The symbols, one a row."""

    ALLOW_SELECT = False

    class Lit(Message):
        """Another symbol is lit."""

    class Chosen(Message):
        """A symbol was clicked."""

    def __init__(self) -> None:
        super().__init__()
        self._found: list[Symbol] = []
        self._at = 0
        self._top = 0

    @property
    def chosen(self) -> Symbol | None:
        """The lit symbol."""
        return self._found[self._at] if self._at < len(self._found) else None

    def show(self, found: list[Symbol], at: int = 0) -> None:
        """Show other symbols, one of them lit."""
        self._found = found
        self._at, self._top = 0, 0
        self.step(at)
        self.refresh()

    def step(self, rows: int) -> None:
        """Light another one."""
        self._at = max(min(self._at + rows, len(self._found) - 1), 0)
        height = max(self.size.height, 1)
        self._top = max(min(self._top, self._at), self._at - height + 1)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Its kind muted, its name bright, its line at the right."""
        width, style = self.size.width, theme.active().style
        index = self._top + y
        if index >= len(self._found):
            return Strip([Segment(" " * width, style("", "panel"))], width)
        symbol = self._found[index]
        back = "selection" if index == self._at else "panel"
        lead = (" ▸ " if index == self._at else "   ") + " " * min(symbol.depth, _DEEPEST)
        kind = f"{symbol.kind} " if symbol.kind else ""
        number = f" {symbol.line + 1} "
        room = max(width - len(lead) - len(kind) - len(number), 0)
        cells = part_cells(symbol.name, 0)
        text = "".join(piece.text for piece in cells.window(0, room))
        blanks = " " * (room - min(cells.width, room))
        segments = [
            Segment(lead, style("accent", back)),
            Segment(kind, style("muted", back)),
            Segment(text, style("foreground", back)),
            Segment(blanks, style("", back)),
            Segment(number, style("faint", back)),
        ]
        return Strip(segments).adjust_cell_length(width, style("", back))

    def on_click(self, event: events.Click) -> None:
        """Choose by clicking."""
        event.stop()
        if self._top + event.y < len(self._found):
            self._at = self._top + event.y
            self.refresh()
            self.post_message(self.Chosen())

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The next ones."""
        event.stop()
        self.step(3)
        self.post_message(self.Lit())

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The ones before."""
        event.stop()
        self.step(-3)
        self.post_message(self.Lit())


class OutlineScreen(ModalScreen[Symbol | None]):
    """Type a few letters, Enter stays there, Esc goes back."""

    CSS_PATH = sheet("outline")
    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "leave", show=False, priority=True),
        *echo("outline", "leave", "editor"),
        Binding("up", "step(-1)", show=False, priority=True),
        Binding("down", "step(1)", show=False, priority=True),
        Binding("pageup", "step(-10)", show=False, priority=True),
        Binding("pagedown", "step(10)", show=False, priority=True),
    ]

    def __init__(self, view: View, look: Look) -> None:
        """``look`` shows a symbol behind the list while the user moves through it."""
        super().__init__()
        self._view = view
        self._look = look
        self._line = view.cursor.position[0]
        self._all: list[Symbol] = []
        self._list = SymbolList()
        self._status = Static("", markup=False, id="outline-count")
        self._work: Iterator[Symbol | None] | None = None
        self._revision = -1
        self._timer: Timer | None = None
        self._moved = False

    def compose(self) -> ComposeResult:
        """Input above, symbols below."""
        with Vertical(id="outline"):
            yield Field(placeholder="a few letters of a symbol")
            yield self._list
            yield self._status

    def on_mount(self) -> None:
        """Begin with what is found in a few milliseconds."""
        self._timer = self.set_interval(_PAUSE_S, self._collect)
        self._collect()

    def action_leave(self) -> None:
        """Back to where the cursor was."""
        self.dismiss(None)

    def action_step(self, rows: int) -> None:
        """Light another symbol."""
        self._list.step(rows)
        self._show_lit()

    def on_symbol_list_lit(self, event: SymbolList.Lit) -> None:
        """The wheel was turned."""
        event.stop()
        self._show_lit()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._filter()
        if event.value:
            self._show_lit()

    @on(Input.Submitted)
    @on(SymbolList.Chosen)
    def _entered(self, event: Message) -> None:
        event.stop()
        if (chosen := self._list.chosen) is not None:
            self.dismiss(self._now(chosen))

    def _show_lit(self) -> None:
        self._moved = True
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
            self._work = symbols(view.buffer, colours.spans)
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
        self._filter()
        self._tell(done=True)

    def _filter(self) -> None:
        """Show what fits; with nothing typed the symbol that the cursor is in is lit."""
        words = self.query_one(Input).value
        found = ranked(words, self._all)
        at = 0
        if not words and not self._moved:
            at = sum(symbol.line <= self._line for symbol in found) - 1
        self._list.show(found, max(at, 0))
        self._tell(done=True)

    def _tell(self, *, done: bool) -> None:
        count = len(self._all)
        if not done:
            words = f"looking… {count} so far" if count else "looking…"
        elif not count:
            words = "this file has no symbols that duetto knows · Esc leaves"
        else:
            words = f"{count} · ↑↓ move along · Enter stay there · Esc back"
        self._status.update(words)
