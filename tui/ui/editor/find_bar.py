"""The bar under the editor: find in the file, or go to a line."""

from __future__ import annotations

from typing import Literal

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

Mode = Literal["find", "line"]

_LABELS: dict[Mode, str] = {"find": " Find", "line": " Line"}
_HINTS: dict[Mode, str] = {
    "find": "Enter next · Shift+Enter previous · Alt+C case ",
    "line": "line or line:column ",
}
_ROOMY = 80


class FindBar(Horizontal):
    """One input, how many matches there are, and what the keys do."""

    class Sought(Message):
        """The needle or the case switch changed."""

        def __init__(self, needle: str, *, case: bool) -> None:
            super().__init__()
            self.needle = needle
            self.case = case

    class Stepped(Message):
        """To the next match, or to the one before."""

        def __init__(self, *, backwards: bool) -> None:
            super().__init__()
            self.backwards = backwards

    class LineChosen(Message):
        """Go to this line and column (0-based)."""

        def __init__(self, line: int, col: int) -> None:
            super().__init__()
            self.line = line
            self.col = col

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.mode: Mode = "find"
        self.case = False
        self._label = Static(_LABELS["find"], markup=False, classes="label")
        self._input = Input(compact=True, select_on_focus=True)
        self._count = Static("", markup=False, classes="count")
        self._hint = Static(_HINTS["find"], markup=False, classes="hint")

    def compose(self) -> ComposeResult:
        """Label, input, count, hint."""
        yield self._label
        yield self._input
        yield self._count
        yield self._hint

    def on_resize(self, event: events.Resize) -> None:
        """What is looked for needs the room more than what the keys do."""
        self._hint.display = event.size.width >= _ROOMY

    @property
    def is_open(self) -> bool:
        """True while the bar is shown."""
        return self.has_class("-open")

    @property
    def needle(self) -> str:
        """What is looked for; empty if nothing is."""
        return self._input.value if self.is_open and self.mode == "find" else ""

    def open(self, mode: Mode, text: str = "") -> None:
        """Show the bar and put the focus into it; ``text`` replaces what stood there."""
        if mode != self.mode or text:
            self._input.value = text
        self.mode = mode
        self._label.update(_LABELS[mode])
        self._hint.update(_HINTS[mode])
        self.count("")
        self.add_class("-open")
        self._input.focus()
        self._input.select_all()
        self._seek()

    def close(self) -> bool:
        """Hide the bar; False if it was not open."""
        was_open = self.is_open
        self.remove_class("-open")
        return was_open

    def count(self, words: str, *, nothing: bool = False) -> None:
        """Show how many matches there are."""
        self._count.update(f" {words} " if words else "")
        self._count.set_class(nothing, "-nothing")

    def on_key(self, event: events.Key) -> None:
        """Step through the matches, switch the case, or accept the line."""
        key = event.key
        if key == "enter" and self.mode == "line":
            self._choose_line()
        elif self.mode == "find" and key in ("enter", "down", "shift+enter", "up"):
            self.post_message(self.Stepped(backwards=key in ("shift+enter", "up")))
        elif self.mode == "find" and key == "alt+c":
            self.case = not self.case
            self._label.update(_LABELS["find"] + (" Aa" if self.case else ""))
            self._seek()
        else:
            return
        event.stop()
        event.prevent_default()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._seek()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        if self.mode == "line":
            self._choose_line()
        else:
            self.post_message(self.Stepped(backwards=False))

    def _seek(self) -> None:
        if self.is_open and self.mode == "find":
            self.post_message(self.Sought(self._input.value, case=self.case))

    def _choose_line(self) -> None:
        place = parse_place(self._input.value)
        if place is None:
            self.count("a number, please", nothing=True)
        else:
            self.post_message(self.LineChosen(*place))


def parse_place(text: str) -> tuple[int, int] | None:
    """``12`` or ``12:5`` as people count, to 0-based line and column."""
    line, _, col = text.strip().lstrip(":").partition(":")
    if not line.isdecimal() or (col and not col.isdecimal()):
        return None
    return (max(int(line) - 1, 0), max(int(col or 1) - 1, 0))
