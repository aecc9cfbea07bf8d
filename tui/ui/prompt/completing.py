"""A text area that offers what can be put in at the cursor, and puts it in."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from textual.widgets import TextArea

from tui.engine.slash import find_command
from tui.ui.prompt.completer import Completer
from tui.ui.prompt.folding import FoldingText
from tui.ui.prompt.offers import Offer
from tui.ui.prompt.wishes import Wish, wish_at


class _Seen(NamedTuple):
    """What the offers depend on."""

    row: int
    column: int
    line: str
    lines: int


class CompletingText(FoldingText):
    """Asks a `Completer` when something was typed; `on_offers` shows what it says."""

    def __init__(self, completer: Completer, *, id: str | None = None) -> None:
        super().__init__(
            id=id,
            soft_wrap=True,
            show_line_numbers=False,
            highlight_cursor_line=False,
            tab_behavior="focus",
            compact=True,
        )
        self.completer = completer
        completer.on_found = self._found
        self.on_offers: Callable[[], None] = lambda: None
        """Called when other offers are to be shown, or none."""
        self._seen: _Seen | None = None
        self._silent: _Seen | None = None
        """A text that nobody typed here: nothing is offered over it."""
        self._closed_at: tuple[int, int] | None = None
        """Row and column of what Esc closed the list over."""

    @property
    def choosing(self) -> bool:
        """True while the list is open: keys choose in it."""
        return bool(self.completer.offers)

    @property
    def fits_nothing(self) -> bool:
        """Something stands here that would be completed, and there is no such thing."""
        completer = self.completer
        return completer.wish is not None and not completer.offers and not completer.looking

    @property
    def lit_is_typed(self) -> bool:
        """What would be put in stands here already."""
        wish, lit = self.completer.wish, self.completer.lit
        if wish is None or lit is None:
            return False
        line = self.document.get_line(self.cursor_location[0])
        return line[wish.start : wish.end] == lit.text

    @property
    def names_a_command(self) -> bool:
        """The whole name of a command was typed."""
        wish = self.completer.wish
        named = wish is not None and wish.kind == "command"
        return named and wish is not None and find_command(wish.letters.lower()) is not None

    def look(self, *, asked: bool = False) -> None:
        """Offer what fits at the cursor now; ``asked``: also where the list was closed."""
        seen = self._see()
        if seen == self._seen and not asked:
            return
        self._seen = seen
        wish = None
        if self.selection.is_empty and (asked or seen != self._silent):
            alone = seen.lines == 1
            wish = wish_at(seen.line, seen.column, first=not seen.row, alone=alone)
        place = (seen.row, wish.start) if wish is not None else None
        if asked or place != self._closed_at:
            self._closed_at = None
        else:
            wish = None
        self.completer.look(wish)
        if not asked:
            self._forget_what_is_there()
        self.on_offers()

    def keep_silent(self) -> None:
        """What stands here now was not typed: the history's, a suggestion, an edit that ended."""
        self._silent = self._see()
        self._hide()

    def close_offers(self) -> bool:
        """Close the list over what is typed; it opens again over the next. False: there is none."""
        wish = self.completer.wish
        if not self.choosing or wish is None:
            return False
        self._closed_at = (self.cursor_location[0], wish.start)
        self._hide()
        return True

    def step_offers(self, rows: int) -> None:
        """Light another one."""
        self.completer.step(rows)
        self.on_offers()

    def take(self, at: int | None = None) -> Offer | None:
        """Put in the lit offer, or the one at this place of the list; returns which it was."""
        self.look()
        completer = self.completer
        completer.settle()
        if at is not None and at < len(completer.offers):
            completer.at = at
        offer, wish = completer.lit, completer.wish
        if offer is None or wish is None:
            return None
        row = self.cursor_location[0]
        line = self.document.get_line(row)
        self._put_in(offer, wish, line)
        self.look()
        return offer

    def _put_in(self, offer: Offer, wish: Wish, line: str) -> None:
        """With a blank behind it, unless something stands there."""
        row, end = self.cursor_location[0], wish.end
        if line[wish.start : wish.start + 2] == '@"' and line[end : end + 1] == '"':
            end += 1
        behind = line[end : end + 1]
        text = offer.text + ("" if behind else " ")
        self.replace(text, (row, wish.start), (row, end), maintain_selection_offset=False)
        if behind.isspace():
            self.move_cursor((row, wish.start + len(text) + 1))

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        """The cursor left what is completed, or went on in it."""
        if self.choosing:
            self.look()

    def _see(self) -> _Seen:
        row, column = self.cursor_location
        return _Seen(row, column, self.document.get_line(row), self.document.line_count)

    def _forget_what_is_there(self) -> None:
        """What is typed is what would be put in, and there is nothing else to choose."""
        wish = self.completer.wish
        if wish is None or wish.kind == "command" or not self.lit_is_typed:
            return
        if wish.kind == "file" or len(self.completer.offers) == 1:
            self.completer.forget()

    def _hide(self) -> None:
        self._seen = self._see()
        self.completer.forget()
        self.on_offers()

    def _found(self) -> None:
        """What was looked for in slices."""
        self._forget_what_is_there()
        self.on_offers()
