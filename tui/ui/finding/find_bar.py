"""The bar under the editor: find in the file, replace what is found, or go to a line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from textual import events, on
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from tui.ui.finding.search import Query
from tui.ui.widgets.field import Field

Mode = Literal["find", "replace", "line"]

_LABELS: dict[Mode, str] = {"find": " Find", "replace": " Find", "line": " Line"}
_HINTS: dict[Mode, str] = {
    "find": "Alt+C case · Alt+W word · Alt+X regex · Alt+I in selection ",
    "replace": "Alt+C case · Alt+W word · Alt+X regex · Alt+I in selection ",
    "line": "line, line:column, +3 or -3 ",
}
_REPLACE_HINT = "Enter this one · Alt+Enter all "
_ROOMY, _ROOMY_BELOW = 100, 60
_SWITCHES = {"alt+c": "case", "alt+w": "word", "alt+x": "regex"}
_SIGNS = {"case": "Aa", "word": "|ab|", "regex": ".*"}


class FindBar(Vertical):
    """What is looked for and how often it is there; below it what replaces it."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.on_sought: Callable[[], None] = lambda: None
        """Called when something else is to be looked for (`query`)."""
        self.on_stepped: Callable[[bool], None] = lambda backwards: None
        """Called to go to the next match, or to the one before."""
        self.on_scope: Callable[[], None] = lambda: None
        """Called to look in the selection only, or everywhere again."""
        self.on_replace: Callable[[str, bool], None] = lambda text, everything: None
        """Called to replace the match that is shown, or all of them."""
        self.on_line: Callable[[int, int], None] = lambda line, col: None
        """Called to go to a line and column (0-based)."""
        self.mode: Mode = "find"
        self.switches: set[str] = set()
        """Of ``case``, ``word`` and ``regex`` those that are on."""
        self._scope = ""
        self._line = 0
        self._label = Static(_LABELS["find"], markup=False, classes="label")
        self._input = Field(id="find-needle")
        self._count = Static("", markup=False, classes="count")
        self._hint = Static(_HINTS["find"], markup=False, classes="hint")
        self._hint.display = False  # until there is known to be room for it
        self._replacement = Field(id="find-replacement")
        self._below = Static(_REPLACE_HINT, markup=False, classes="hint")

    def _fill(self) -> None:
        """Label, input, count, hint; below the replacement and its keys: when first opened."""
        rows = Horizontal(), Horizontal(id="find-below")
        self.mount(*rows)
        rows[0].mount(self._label, self._input, self._count, self._hint)
        with_ = Static(" With", markup=False, classes="label")
        rows[1].mount(with_, self._replacement, self._below)

    def on_resize(self, event: events.Resize) -> None:
        """What is looked for needs the room more than what the keys do."""
        self._hint.display = event.size.width >= _ROOMY
        self._name_keys()
        self._below.display = event.size.width >= _ROOMY_BELOW

    @property
    def is_open(self) -> bool:
        """True while the bar is shown."""
        return self.has_class("-open")

    @property
    def has_user(self) -> bool:
        """The user is in it."""
        focused = self.screen.focused
        return focused is not None and self in focused.ancestors

    @property
    def query_wanted(self) -> Query:
        """What is looked for; an empty needle: nothing is."""
        if not self.is_open or self.mode == "line":
            return Query()
        return Query(self._input.value, **dict.fromkeys(self.switches, True))

    def open(self, mode: Mode, text: str = "", *, line: int = 0) -> None:
        """Show the bar and put the focus into it; ``text`` replaces what stood there.

        ``line`` is where the cursor is, 0-based, for lines counted from there.
        """
        if not self.children:
            self._fill()
        seeks = mode != "line"
        if seeks != (self.mode != "line") or text:
            self._input.value = text
        self.mode, self._line = mode, line
        self._hint.update(_HINTS[mode])
        self._name_keys()
        self.set_class(mode == "replace", "-replace")
        self.count("")
        self.add_class("-open")
        self.name_switches()
        self.screen.set_focus(self._input)  # at once: the next key is meant for it
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

    def scope(self, words: str) -> None:
        """Show where is looked; empty: in the whole file."""
        self._scope = words
        self.name_switches()

    def name_switches(self) -> None:
        """Show which switches are on."""
        on = [_SIGNS[name] for name in _SIGNS if name in self.switches]
        words = " ".join([_LABELS[self.mode], *on, *([self._scope] if self._scope else [])])
        self._label.update(_LABELS["line"] if self.mode == "line" else words)

    def _name_keys(self) -> None:
        """Where the hint has no room, what the keys do is said until something is typed."""
        self._input.placeholder = "" if self._hint.display else _HINTS[self.mode].strip()

    def on_key(self, event: events.Key) -> None:
        """Step through the matches, turn a switch, go to the other input, or accept the line."""
        take = self._take_line if self.mode == "line" else self._take_find
        if take(event.key):
            event.stop()
            event.prevent_default()

    def _take_line(self, key: str) -> bool:
        if key == "enter":
            self._choose_line()
        return key == "enter"

    def _take_find(self, key: str) -> bool:
        below = self._replacement.has_focus
        if self.mode == "replace" and key in ("tab", "shift+tab"):
            self.screen.set_focus(self._input if below else self._replacement)
        elif self.mode == "replace" and key in ("alt+enter", "ctrl+j"):
            self._replace(everything=True)
        elif below and key == "enter":
            self._replace(everything=False)
        elif key in ("enter", "down", "shift+enter", "up"):
            self.on_stepped(key in ("shift+enter", "up"))
        elif key in _SWITCHES:
            self.switches ^= {_SWITCHES[key]}
            self.name_switches()
            self._seek()
        elif key == "alt+i":
            self.on_scope()
        else:
            return False
        return True

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if event.input is self._input:
            self._seek()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        if self.mode == "line":
            self._choose_line()
        elif event.input is self._replacement:
            self._replace(everything=False)
        else:
            self.on_stepped(False)

    def _seek(self) -> None:
        if self.is_open and self.mode != "line":
            self.on_sought()

    def _replace(self, *, everything: bool) -> None:
        self.on_replace(self._replacement.value, everything)

    def _choose_line(self) -> None:
        place = parse_jump(self._input.value, self._line)
        if place is None:
            self.count("type a number", nothing=True)
        else:
            self.on_line(*place)


def parse_place(text: str) -> tuple[int, int] | None:
    """``12`` or ``12:5`` as people count, to 0-based line and column."""
    line, _, col = text.strip().lstrip(":").partition(":")
    if not line.isdecimal() or (col and not col.isdecimal()):
        return None
    return (max(_number(line) - 1, 0), max(_number(col or "1") - 1, 0))


def parse_jump(text: str, line: int) -> tuple[int, int] | None:
    """The same, or ``+3`` and ``-3`` from a 0-based line."""
    found = re.fullmatch(r"\s*([+-])(\d{1,9})\s*", text)
    if found is None:
        return parse_place(text)
    return (max(line + int(found[1] + found[2]), 0), 0)


def _number(digits: str) -> int:
    """A number of any length; Python refuses those of more than 4,300 digits."""
    return int(digits[:12])
