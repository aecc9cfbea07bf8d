"""The keys of vi in the prompt, where the user wants them."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.widgets import TextArea
from textual.widgets.text_area import Location, Selection

from tui.core.vi.keys import Act, ViKeys

_MEANT = {"backspace": "h", "space": " "}


class ViController:
    """Turns keys into edits of the draft; one begins in insert mode."""

    def __init__(
        self,
        draft: TextArea,
        walk: Callable[[int], object],
        search: Callable[[], object],
        done: Callable[[], None],
    ) -> None:
        """``walk`` goes through the history by steps, ``search`` looks for words in it.

        ``done`` is called when a key was taken: nothing is offered over what it did.
        """
        self._draft, self._walk, self._search, self._done = draft, walk, search, done
        self._keys = ViKeys()

    @property
    def words(self) -> str:
        """The mode, and what was typed of a command."""
        return f"{self._keys.mode} {self._keys.waiting}".rstrip()

    def insert(self) -> None:
        """The next text begins in insert mode."""
        self._keys.mode = "insert"

    def leave_insert(self) -> bool:
        """Esc: normal mode, with nothing begun. False: that is how it is."""
        if self._keys.mode == "normal" and not self._keys.waiting:
            return False
        act = self._keys.leave(self._draft.text, self._index())
        self._draft.move_cursor(self._location(act.cursor))
        return True

    def take(self, event: events.Key) -> bool:
        """True: it was one of vi's."""
        if self._keys.mode == "insert":
            return False
        if event.key == "slash":
            self._search()
            return True
        if event.key == "ctrl+r":
            self._draft.redo()
            return True
        key = _MEANT.get(event.key) or (event.character if event.is_printable else None)
        if not key or event.key.startswith(("ctrl+", "alt+")):
            return False
        self._do(self._keys.press(key, self._draft.text, self._index()))
        self._done()
        return True

    def _do(self, act: Act) -> None:
        draft = self._draft
        if act.order in ("undo", "redo"):
            for _ in range(min(act.times, 100)):
                draft.undo() if act.order == "undo" else draft.redo()
            return
        if act.order:
            self._walk(-1 if act.order == "older" else 1)
            return
        if act.text is not None:
            draft.history.checkpoint()
            places = self._location(act.start), self._location(act.end)
            draft.replace(act.text, *places, maintain_selection_offset=False)
            draft.history.checkpoint()
        end = self._location(act.cursor)
        if act.mode == "visual":
            draft.selection = Selection(self._location(self._keys.anchor), end)
        else:
            draft.move_cursor(end)

    def _index(self) -> int:
        row, column = self._draft.cursor_location
        return sum(len(line) + 1 for line in self._draft.text.split("\n")[:row]) + column

    def _location(self, index: int) -> Location:
        before = self._draft.text[:index]
        return before.count("\n"), len(before) - before.rfind("\n") - 1
