"""What the work on one file of a patch has in common, and which file a name in it means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from msgspec import Struct

from tui.core.document.documents import Documents
from tui.core.document.file_record import FileRecord
from tui.core.document.hunk import UNPAINTED, Hunk, Kind, Stage
from tui.core.edit_stream import Parser
from tui.core.edit_stream.events import (
    Ev,
    FileEnd,
    FileOp,
    Line,
    Notation,
    SectionEnd,
    SectionStart,
)
from tui.core.files import ascii_shown
from tui.errors import EditRefused

NewHunk = Callable[[str, Kind, int], Hunk]
"""Path, kind and section -> a hunk of the call, numbered and taken in."""


class Why(Struct):
    """Why a patch ended early; empty words if it did not."""

    words: str = ""
    cut: bool = False
    """By an interruption; else by an error in the patch."""
    freeze: bool = False
    """What is painted stays as it is, for the user to decide on."""

    @property
    def stops(self) -> bool:
        """Nothing more is painted, be it that the last line, which has no end, says it is whole."""
        return self.cut and self.freeze

    def unpainted(self, words: str = "") -> str:
        """Why nothing of a hunk is there; ``words``, where nobody looks at what was painted."""
        if self.stops:
            return UNPAINTED
        return words or f"incomplete: {self.words}"


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
    """What is common: a path, the call's documents, and a refusal that ends it all."""

    def __init__(
        self, documents: Documents, path: str, new_hunk: NewHunk, notation: Notation
    ) -> None:
        self.documents = documents
        self.path = path
        self.notation = notation
        self.record: FileRecord | None = None
        """The file, once it is found."""
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

    def resume(self, earlier: FileWork) -> None:
        """It goes on where an earlier one on the same file was cut."""

    def hunk(self, kind: Kind, section: int = 0) -> Hunk:
        """A new hunk of this file."""
        hunk = self._new_hunk(self.path, kind, section)
        self.hunks.append(hunk)
        return hunk

    def found(self, path: str) -> FileRecord:
        """The record of a file that is to be edited, be it on its way. Raises EditRefused."""
        record = self.documents.arriving.get(self.documents.checked(path))
        record = record or self.documents.open(path)
        if record.deletion is not None:
            raise EditRefused(f"file not found: '{ascii_shown(path)}' is to be deleted")
        if record.moving is not None and record.path == self.documents.checked(path):
            target = ascii_shown(record.moving.target)
            raise EditRefused(f"file not found: '{ascii_shown(path)}' is to go to '{target}'")
        return record

    def refuse_if_arriving(self, path: str) -> None:
        """Raises EditRefused if a pending move brings another file here, or no file is meant."""
        if "\ufffd" in path and not is_file(self.documents, path):
            raise EditRefused(f"'{ascii_shown(path)}' is not a usable path: it lost a character")
        if self.documents.checked(path) in self.documents.arriving:
            raise EditRefused(f"'{ascii_shown(path)}' is where an earlier hunk moves a file")

    def ended(self, hunk: Hunk, stage: Stage, reason: str = "") -> None:
        """Give a hunk its last stage."""
        hunk.stage, hunk.reason = stage, reason
        self.documents.bump()


_READ = 200
"""Files of the workspace that are looked into for a block without a name, at most."""
_READ_BYTES = 4_000_000
_MOST_BYTES = 80_000_000
"""After so many no file is named for the further blocks of a patch that have none."""
_NAMED = 5


def path_of(documents: Documents, op: FileOp, *, basename: bool) -> str:
    """The path of the file that a header names.

    Of several names the first that is a file; with ``basename`` else the one file of the
    workspace whose path ends with it. Else what the header says, be there such a file or not.
    """
    names = [name for name in (op.path, *op.others) if name]
    for name in names:
        if is_file(documents, name):
            return name
    for name in names if basename else ():
        found = _ending_with(documents, name)
        if len(found) == 1:
            return found[0]
    return op.path


def files_with(documents: Documents, lines: Sequence[str]) -> list[str]:
    """The files in which these lines are; open ones and, if there are none, others."""
    if not any(line.strip() for line in lines):
        return []
    if documents.searched_bytes > _MOST_BYTES:
        return []
    text = "\n".join(lines)
    found: list[str] = []
    for path in documents.buffers:
        if buffer := documents.quotable(path):
            whole = "\n".join(buffer.lines)
            documents.searched_bytes += len(whole)
            found += [path] if text in whole else []
    wanted, left = text.encode("utf-8", "replace"), _READ_BYTES
    for path in () if found else list(documents.names())[:_READ]:
        data = None if path in documents.buffers or left < 0 else documents.read(path).data
        if data is not None:
            left -= len(data)
            documents.searched_bytes += len(data)
            found += [path] if wanted in data else []
    return found


def unknown_name(found: Sequence[str]) -> str:
    """Why a block without a name is refused, and which file it may be of."""
    words = "no file name above this block: put the path on the line before it"
    if not found:
        return words
    named = ", ".join(f"'{ascii_shown(path)}'" for path in found[:_NAMED])
    return f"{words}; its SEARCH is in {named}" + (" only" if len(found) == 1 else "")


def is_file(documents: Documents, name: str) -> bool:
    """True if a file is there, or was until it was deleted, be it none that can be edited.

    What is there and is refused must not send its edit to another file (EDIT-CASES C18).
    """
    try:
        path = documents.checked(name)
    except EditRefused:
        return False
    if path in documents.arriving or path in documents.records:
        return True
    if documents.is_there(path):
        return True
    return "\\" in name and is_file(documents, name.replace("\\", "/"))


def _ending_with(documents: Documents, name: str) -> list[str]:
    name = name.replace("\\", "/").removeprefix("./")
    if name.startswith(("/", "..", "~")):
        return []
    known = dict.fromkeys([*documents.buffers, *documents.names()])
    return [path for path in known if path.endswith("/" + name)]


class CutPatch(NamedTuple):
    """A patch that was cut, read once more up to there."""

    parser: Parser
    events: Sequence[Ev]
    begun: Sequence[Ev]
    """Those of the file that is open."""
    whole: set[int]
    """The sections that had their end."""
    hunks: Sequence[Hunk]
    """What is not whole."""


def open_file(events: Sequence[Ev]) -> tuple[Sequence[Ev], set[int]]:
    """The events of the file that is open behind these, and the sections that are whole."""
    whole, section, first = set[int](), 0, len(events)
    for at, event in enumerate(events):
        if isinstance(event, FileOp):
            first = at
        elif isinstance(event, FileEnd):
            first = len(events)
        elif isinstance(event, SectionStart):
            section = event.number
        elif isinstance(event, SectionEnd):
            whole.add(section)
    return events[first:], whole
