"""The bar under the conversation in which words are typed that are looked for in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Static

from tui.ui.widgets.field import Field

_HINT = "↑ older · ↓ newer · Esc closes "
_ROOMY = 64
_STEPS = {"enter": True, "up": True, "shift+enter": False, "down": False}
"""Key -> whether it goes to an older match; terminals that search go upwards too."""


class Wishes(NamedTuple):
    """What the bar has its owner do."""

    seek: Callable[[str], None]
    """Look for these words."""
    step: Callable[[bool], None]
    """To the next match; True: to an older one."""
    leave: Callable[[], None]
    """Go on reading where the match is."""


class SearchBar(Horizontal):
    """What is looked for, and how often it was said."""

    def __init__(self, wishes: Wishes, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.field = Field(id="search-words")
        self._wishes = wishes
        self._count = Static("", markup=False, classes="count")
        self._hint = Static(_HINT, markup=False, classes="hint")
        self._hint.display = False  # until there is known to be room for it
        self.field.placeholder = _HINT.strip()

    def compose(self) -> ComposeResult:
        """Label, field, count, hint."""
        yield Static(" Search", markup=False, classes="label")
        yield self.field
        yield self._count
        yield self._hint

    @property
    def is_open(self) -> bool:
        """True while the bar is shown."""
        return self.has_class("-open")

    def open(self) -> None:
        """Show the bar; what was looked for last is selected, so that typing replaces it."""
        self.add_class("-open")
        self.call_after_refresh(self.on_resize)  # shown again in its old size it is not told
        self.field.select_all()
        if self.field.value:
            self._wishes.seek(self.field.value)

    def close(self) -> None:
        """Hide the bar."""
        self.remove_class("-open")

    def tell(self, words: str, *, nothing: bool = False) -> None:
        """Say how often it was said."""
        self._count.update(f" {words} " if words else "")
        self._count.set_class(nothing, "-nothing")

    def on_resize(self) -> None:
        """What is looked for needs the room more than what the keys do."""
        self._hint.display = roomy = self.size.width >= _ROOMY
        self.field.placeholder = "any case; a capital letter counts" if roomy else _HINT.strip()

    def on_key(self, event: events.Key) -> None:
        """Step through the matches, or go where the last one is."""
        if event.key in _STEPS:
            self._wishes.step(_STEPS[event.key])
        elif event.key == "tab":
            self._wishes.leave()
        else:
            return
        event.stop()
        event.prevent_default()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if self.is_open:
            self._wishes.seek(event.value)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self._wishes.step(True)
