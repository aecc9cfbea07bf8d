"""The bar under the conversation in which words are typed that are looked for in it."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input, Static

from tui.ui.conversation.layout import TranscriptLayout
from tui.ui.conversation.search import NOT_FOUND, SearchControl
from tui.ui.conversation.viewport import Viewport
from tui.ui.widgets.field import Field

_HINT = "↑ older · ↓ newer · Esc closes "
_ROOMY = 64
_STEPS = {"enter": True, "up": True, "shift+enter": False, "down": False}
"""Key -> whether it goes to an older match; terminals that search go upwards too."""


class SearchBar(Horizontal):
    """What is looked for, and how often it was said."""

    def __init__(
        self, pane: Widget, rows: TranscriptLayout, viewport: Viewport, *, id: str | None = None
    ) -> None:
        """``pane`` shows the rows; it gets the focus when the bar lets go of it."""
        super().__init__(id=id)
        self.field = Field(id="search-words")
        self.control = SearchControl(rows, viewport, self.tell, pane.set_timer)
        self._pane = pane
        self._before: Widget | None = None
        """What had the focus when the bar was opened."""
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

    def open(self) -> None:
        """Show the bar; what was looked for last is selected, so that typing replaces it."""
        if not self.control.is_open:
            self._before = self._pane.screen.focused
        self.control.open()
        self.add_class("-open")
        self.call_after_refresh(self.on_resize)  # shown again in its old size it is not told
        self.field.select_all()
        if self.field.value:
            self.control.look_for(self.field.value)
        self._pane.screen.set_focus(self.field)  # at once: the next key is meant for it

    def close(self) -> bool:
        """Hide the bar and go back to where it was opened; False if it was not open."""
        if not self.control.is_open:
            return False
        had_focus = self.field.has_focus
        self.remove_class("-open")
        self.control.close()
        if had_focus:
            before = self._before if self._before in self.screen.focus_chain else None
            self.screen.set_focus(before or self._pane)
        return True

    def tell(self, words: str) -> None:
        """Say how often it was said."""
        self._count.update(f" {words} " if words else "")
        self._count.set_class(words == NOT_FOUND, "-nothing")

    def on_resize(self) -> None:
        """What is looked for needs the room more than what the keys do."""
        self._hint.display = roomy = self.size.width >= _ROOMY
        self.field.placeholder = "any case; a capital letter counts" if roomy else _HINT.strip()

    def on_key(self, event: events.Key) -> None:
        """Step through the matches, or go on reading where the last one is: they stay lit."""
        if event.key in _STEPS:
            self.control.step(older=_STEPS[event.key])
        elif event.key == "tab":
            self.screen.set_focus(self._pane)
        else:
            return
        event.stop()
        event.prevent_default()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if self.control.is_open:
            self.control.look_for(event.value)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.control.step(older=True)
