"""The user and somebody else in one buffer, with the user's undo and what it is derived from."""

from __future__ import annotations

from collections.abc import Iterable

from tui.core.document.undo_log import UndoLog
from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Change, Position
from tui.core.text.weave import Weave
from tui.core.text.woven_pieces import WovenEdit


class Typist:
    """A buffer with the user's history, and somebody else."""

    def __init__(self, text: str, path: str = "a") -> None:
        self.buffer = Buffer(path, text)
        self.weave = Weave(self.buffer.end)
        self.history = UndoLog()

    def types(self, at: Position, text: str, group: str = "type") -> None:
        self.replaces(at, at, text, group)

    def deletes(self, start: Position, end: Position, group: str = "") -> None:
        self.replaces(start, end, "", group)

    def replaces(self, start: Position, end: Position, text: str, group: str) -> Change:
        change = self.buffer.replace(start, end, text)
        self.weave.change(change, self.history.step)
        self.history.record(self.weave, change, group)
        return change

    def other(self, start: Position, end: Position, text: str, who: str = "other") -> None:
        change = self.buffer.replace(start, end, text)
        self.weave.change(change, who)
        self.history.foreign(change)

    def switch(self, edits: Iterable[WovenEdit | None]) -> list[Change]:
        known = [edit for edit in edits if edit]
        changes = self.weave.switching(known)
        for change in reversed(changes):
            self.buffer.replace(change.start, change.old_end, change.new_text)
        self.weave.switch(known)
        return changes

    def undo(self) -> Position | None:
        return self.history.undo(self.weave, self.switch)

    def redo(self) -> Position | None:
        return self.history.redo(self.weave, self.switch)

    @property
    def text(self) -> str:
        return self.buffer.text()
