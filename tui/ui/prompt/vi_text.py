"""A text area that can be typed in with the keys of vi, where the user wants them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.widgets.text_area import Location, Selection

from tui.ui.prompt.recalling import RecallingText

if TYPE_CHECKING:
    from tui.core.vi.keys import Act, ViKeys

_MEANT = {"backspace": "h", "space": " "}


class ViText(RecallingText):
    """Without vi it is as it was."""

    _vi: ViKeys | None = None

    def use_vi(self) -> None:
        """Have the keys of vi from now on; one begins in insert mode."""
        from tui.core.vi.keys import ViKeys  # few want it

        self._vi = ViKeys()

    @property
    def vi_words(self) -> str:
        """The mode, and what was typed of a command; empty without vi."""
        if self._vi is None:
            return ""
        return f"{self._vi.mode} {self._vi.waiting}".rstrip()

    def insert_again(self) -> None:
        """The next text begins in insert mode."""
        if self._vi is not None:
            self._vi.mode = "insert"

    def leave_insert(self) -> bool:
        """Esc: normal mode, with nothing begun. False: that is how it is."""
        vi = self._vi
        if vi is None or (vi.mode == "normal" and not vi.waiting):
            return False
        self.move_cursor(self._location(vi.leave(self.text, self._index()).cursor))
        self.on_offers()
        return True

    def walk(self, steps: int) -> None:
        """Walk in the history; `Prompt` knows of it."""
        raise NotImplementedError

    def take_vi_key(self, event: events.Key) -> bool:
        """True: it was one of vi's."""
        vi = self._vi
        if vi is None or vi.mode == "insert" or self.searching:
            return False
        if event.key == "slash":
            return self.search_past()
        if event.key == "ctrl+r":
            self.redo()
            return True
        key = _MEANT.get(event.key) or (event.character if event.is_printable else None)
        if not key or event.key.startswith(("ctrl+", "alt+")):
            return False
        self._do_act(vi.press(key, self.text, self._index()))
        self.keep_silent()
        return True

    def _do_act(self, act: Act) -> None:
        if act.order in ("undo", "redo"):
            for _ in range(min(act.times, 100)):
                self.undo() if act.order == "undo" else self.redo()
            return
        if act.order:
            self.walk(-1 if act.order == "older" else 1)
            return
        if act.text is not None:
            self.history.checkpoint()
            places = self._location(act.start), self._location(act.end)
            self.replace(act.text, *places, maintain_selection_offset=False)
            self.history.checkpoint()
        end = self._location(act.cursor)
        if act.mode == "visual" and self._vi is not None:
            self.selection = Selection(self._location(self._vi.anchor), end)
        else:
            self.move_cursor(end)

    def _index(self) -> int:
        row, column = self.cursor_location
        return sum(len(line) + 1 for line in self.text.split("\n")[:row]) + column

    def _location(self, index: int) -> Location:
        before = self.text[:index]
        return before.count("\n"), len(before) - before.rfind("\n") - 1
