"""A field of one line to type into, whose text is inert on the screen and true in its value.

Textual paints the value of an `Input` as it is: an escape sequence of a file that is looked for,
or of the clipboard, would act on the terminal. So no other `Input` is made in this package.
"""

from __future__ import annotations

from rich.cells import cell_len
from rich.highlighter import Highlighter
from rich.text import Text
from textual import events
from textual.widgets import Input

from tui.ui.key_queue import TypedKey
from tui.ui.styled_text import pictures

MOST_CHARS = 4_000
"""Longer ones are cut: Textual looks at the whole value for each key."""


def tame(foreign: Input) -> None:
    """Make Textual's own `Input` (the command palette's) inert, and short."""
    foreign.highlighter = _Pictures()
    foreign.max_length = MOST_CHARS


class _Pictures(Highlighter):
    def highlight(self, text: Text) -> None:
        """Show pictures for control characters."""
        text.plain = pictures(text.plain)


class Field(Input):
    """An `Input` in which control characters can be typed, pasted, looked for and seen."""

    def __init__(self, *, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(placeholder=placeholder, compact=True, id=id)

    def on_key(self, event: events.Key) -> None:
        """What was typed faster than it is taken is put in, and looked for, at once."""
        if isinstance(event, TypedKey) and _is_typed(event):
            typed = event.typed(_is_typed)
            if len(typed) > 1:  # one alone is put in by Textual
                self.replace(typed, *self.selection)
                event.stop()
                event.prevent_default()

    def validate_value(self, value: str) -> str:
        """As much as fits; what is left out is said."""
        if len(value) <= MOST_CHARS:
            return value
        self.app.notify(
            f"Only the first {MOST_CHARS:,} characters fit here.", severity="warning", markup=False
        )
        return value[:MOST_CHARS]

    @property
    def _value(self) -> Text:
        """What is shown; Textual's loses some control characters, and columns with them."""
        return Text(pictures(self.value), no_wrap=True, overflow="ignore", end="")

    def _position_to_cell(self, position: int) -> int:
        """The cell in which a character begins, as it is shown."""
        return cell_len(pictures(self.value[:position]))

    def _cell_offset_to_index(self, offset: int) -> int:
        """The character in a cell of the widget, as it is shown."""
        cell = offset + self.scroll_offset.x
        used = 0
        for index, character in enumerate(pictures(self.value)):
            used += cell_len(character)
            if cell < used:
                return index
        return len(self.value)


def _is_typed(key: events.Key) -> bool:
    return key.is_printable and "+" not in key.key
