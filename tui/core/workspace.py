"""The workspace: open buffers, hunks, and what belongs on the disk.

First stone: the names that others import. Bodies grow here; signatures stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tui.core.buffer import Buffer, Change, Position
from tui.core.hunk import Hunk


@dataclass(frozen=True, slots=True)
class FileRead:
    """What reading a file gave."""

    data: bytes | None
    """Its bytes; None if there is no such file, or if it is refused."""
    refusal: str = ""
    """Why it is not to be had, in words; empty if it was read or is missing."""
    kind: str = "file"
    """``file`` or ``directory`` or what else lies there."""


@dataclass(frozen=True, slots=True)
class DiskPlan:
    """What must lie on the disk for a path."""

    expected: bytes | None
    """What lies there now as far as we know; None: nothing."""
    data: bytes | None
    """What to write; None: delete."""


@dataclass(frozen=True, slots=True)
class UserChange:
    """A region that the user changed since the last take."""

    path: str
    first_line: int
    """0-based, in the text as it is now."""
    old_text: str
    new_text: str


class Workspace:
    """All buffers and hunks of a session; every edit of either author goes through it."""

    def __init__(self, read: Callable[[str], FileRead]) -> None:
        """``read`` gives the bytes of a path relative to the root; it never raises."""
        self._read = read
        self.buffers: dict[str, Buffer] = {}
        self.hunks: list[Hunk] = []
        self.hunks_revision = 0
        self.conflicts: set[str] = set()
        self.model_turns: list[int] = []

    def open(self, path: str) -> Buffer:
        """The buffer of a file, read if need be. Raises EditRefused."""
        raise NotImplementedError

    def create(self, path: str) -> Buffer:
        """A new empty buffer, unsaved. Raises EditRefused."""
        raise NotImplementedError

    def edit(
        self, path: str, start: Position, end: Position, text: str, group: str = ""
    ) -> Change:
        """The user replaces a range. Raises ValueError if there is no such range."""
        raise NotImplementedError

    def undo(self, path: str) -> Position | None:
        """Undo the user's last group of edits; returns where, None if there is none."""
        raise NotImplementedError

    def redo(self, path: str) -> Position | None:
        """Redo what was undone last; returns where, None if there is nothing."""
        raise NotImplementedError

    def is_dirty(self, path: str) -> bool:
        """True if the user's text and accepted hunks are not on the disk."""
        raise NotImplementedError

    def decorations(self, path: str, first: int, last: int) -> dict[int, str]:
        """Line -> landing, pending, accepted, struck, partial, conflict or candidate."""
        raise NotImplementedError

    def hunks_of(self, call_id: str) -> list[Hunk]:
        """The hunks of one tool call, in order."""
        raise NotImplementedError

    def hunk(self, hunk_id: int) -> Hunk:
        """The hunk of that id. Raises KeyError."""
        raise NotImplementedError

    def hunk_at(self, path: str, line: int) -> Hunk | None:
        """The hunk that stands on a line."""
        raise NotImplementedError

    def ghost(self, path: str) -> tuple[int, list[str]] | None:
        """The incoming lines of a hunk not yet located, and the line to show them under."""
        raise NotImplementedError

    def touched(self) -> set[str]:
        """Paths whose text changed since the last call, by whomever."""
        raise NotImplementedError

    def disk_plan(self, path: str) -> DiskPlan:
        """What a save writes: user's text and accepted hunks, pending ones backed out."""
        raise NotImplementedError

    def written(self, path: str, data: bytes | None) -> None:
        """These bytes lie on the disk now (None: the file is gone)."""
        raise NotImplementedError

    def outside_change(self, path: str, read: FileRead) -> None:
        """Somebody else changed the file: reload, merge, or note a conflict."""
        raise NotImplementedError

    def accept(self, hunk_ids: Iterable[int] | None = None) -> list[str]:
        """Accept hunks (None: all decidable); returns the paths to write, in order."""
        raise NotImplementedError

    def reject(self, hunk_ids: Iterable[int] | None = None, words: str = "") -> list[str]:
        """Reject hunks (None: all decidable); returns paths to write, usually none."""
        raise NotImplementedError

    def place(self, hunk_id: int, line: int) -> None:
        """Put an ambiguous hunk at one of its candidates. Raises EditRefused."""
        raise NotImplementedError

    def undo_turn(self, turn: int | None = None) -> list[str]:
        """Take a model's turn back (None: the last); returns the paths to write."""
        raise NotImplementedError

    def take_user_changes(self) -> list[UserChange]:
        """What the user changed since the last take, one merged region each."""
        raise NotImplementedError

    def take_decisions(self) -> list[Hunk]:
        """Hunks decided since the last take."""
        raise NotImplementedError
