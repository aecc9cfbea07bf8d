"""What the work on one file of a patch has in common, whatever the patch does to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tui.core.edit_stream.events import Ev, Line
from tui.core.edits.file_record import FileRecord
from tui.core.edits.hunk import Hunk, Kind, Stage
from tui.core.edits.ledger import Ledger
from tui.core.file_read import ascii_shown
from tui.errors import EditRefused

NewHunk = Callable[[str, Kind, int], Hunk]
"""Path, kind and section -> a hunk of the call, numbered and taken in."""


@dataclass(slots=True)
class Why:
    """Why a patch ended early; empty words if it did not."""

    words: str = ""
    cut: bool = False
    """By an interruption; else by an error in the patch."""


class Gathered:
    """The text of a hunk that was refused before anything of it came: it stays to be looked at."""

    def __init__(self, hunk: Hunk) -> None:
        self.hunk = hunk
        self._base: list[str] = []
        self._agent: list[str] = []

    def take(self, event: Ev) -> None:
        """Keep a removed or an added line."""
        if isinstance(event, Line) and event.op != "=":
            (self._agent if event.op == "+" else self._base).append(event.text + "\n")
            self.hunk.added += event.op == "+"
            self.hunk.removed += event.op == "-"

    def keep(self) -> None:
        """No more lines come."""
        self.hunk.base, self.hunk.agent = "".join(self._base), "".join(self._agent)


class FileWork:
    """What is common: a path, the call's ledger, and a refusal that ends it all."""

    kind = Kind.EDIT

    def __init__(self, ledger: Ledger, path: str, new_hunk: NewHunk) -> None:
        self.ledger = ledger
        self.path = path
        self.hunks: list[Hunk] = []
        self._new_hunk = new_hunk
        self.new_edit = partial(self.hunk, Kind.EDIT)
        """A new hunk of a section; one object for all sections."""

    @property
    def last_row(self) -> int | None:
        """The row that was written last, if any."""
        return None

    @property
    def last_hunks(self) -> list[Hunk]:
        """The hunks of what came last."""
        return self.hunks[-1:]

    def take(self, event: Ev, why: Why) -> None:
        """The next event of this file."""

    def partial(self, text: str) -> None:
        """The unfinished added line, for this frame."""

    def catch_up(self) -> None:
        """No more events come for now: all of them are to be seen."""

    def end(self, closed: bool, why: Why) -> None:
        """No more events of this file come."""

    def hunk(self, kind: Kind, section: int = 0) -> Hunk:
        """A new hunk of this file."""
        hunk = self._new_hunk(self.path, kind, section)
        self.hunks.append(hunk)
        return hunk

    def found(self, path: str) -> FileRecord:
        """The record of a file that is to be edited, be it on its way. Raises EditRefused."""
        record = self.ledger.arriving.get(self.ledger.checked(path))
        record = record or self.ledger.open(path)
        if record.deletion is not None:
            raise EditRefused(f"file not found: '{ascii_shown(path)}' is to be deleted")
        if record.moving is not None and record.path == self.ledger.checked(path):
            target = ascii_shown(record.moving.target)
            raise EditRefused(f"file not found: '{ascii_shown(path)}' is to go to '{target}'")
        return record

    def refuse_if_arriving(self, path: str) -> None:
        """Raises EditRefused if a pending move brings another file to this path."""
        if self.ledger.checked(path) in self.ledger.arriving:
            raise EditRefused(f"'{ascii_shown(path)}' is where an earlier hunk moves a file")

    def ended(self, hunk: Hunk, stage: Stage, reason: str = "") -> None:
        """Give a hunk its last stage."""
        hunk.stage, hunk.reason = stage, reason
        self.ledger.bump()
