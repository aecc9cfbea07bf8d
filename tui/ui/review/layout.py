"""What a diff shows, laid out: made a part at a time, as a patch may have 100,000 hunks."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from tui.core.steps import Work
from tui.ui.editor.overview import Mark, coarser, kind_of_hunk
from tui.ui.review.changes import Change, FileChanges, HunkCounts
from tui.ui.review.document import Document, FileRows, Look, laying_rows

_GRAIN = 1000
"""The marks at the right edge are no finer than this part of all rows."""
Key = tuple[str, int]
"""Names a change for longer than one layout: its file and its hunk, or its place in the file."""


@dataclass
class Layout:
    """The rows of all files, and the places in them."""

    files: Sequence[FileChanges] = ()
    wanted: Look | None = None
    """How it was to be laid out."""
    document: Document = field(default_factory=lambda: Document([]))
    stops: list[Change] = field(default_factory=list)
    """Everything that can be stepped to."""
    rows: array[int] = field(default_factory=lambda: array("q"))
    """The rows of these."""
    numbers: array[int] = field(default_factory=lambda: array("q"))
    """The ids of their hunks; 0: it is none."""
    marks: Sequence[Mark] = ()
    """Where the changes stand among all rows, each as long as what it shows."""
    counts: HunkCounts = field(default_factory=HunkCounts)

    def place(self, key: Key) -> int | None:
        """Where the change of that name is among the stops; None: nowhere."""
        path, number = key
        if not path:
            return self.numbers.index(number) if number in self.numbers else None
        at = 0
        for part in self.document.files:
            if part.file.path == path:
                firsts = (change.first for change in part.stops)
                return next((at + i for i, first in enumerate(firsts) if first == number), None)
            at += len(part.stops)
        return None


def laying_out(files: Work[list[FileChanges]] | Sequence[FileChanges], look: Look) -> Work[Layout]:
    """Lay out files, or what becomes them, with a pause after each change."""
    made = files if isinstance(files, Sequence) else (yield from files)
    layout = Layout(made, look)
    parts: list[FileRows] = []
    look = look._replace(alone=len(made) == 1)
    for file in made:
        layout.counts.add(file.standing)
        parts.append((yield from laying_rows(file, look)))
    layout.document = Document(parts)
    for start, part in zip(layout.document.starts, parts, strict=True):
        for row, change in zip(part.rows, part.stops, strict=True):
            layout.stops.append(change)
            layout.rows.append(start + row)
            layout.numbers.append(change.number)
            yield
    layout.marks = yield from _marks(layout)
    return layout


def key_of(change: Change, file: FileChanges) -> Key:
    """The name of a change of this file."""
    if change.hunk is not None:
        return "", change.hunk.id
    return file.path, change.first


def _marks(layout: Layout) -> Work[list[Mark]]:
    found: dict[Mark, None] = {}
    height = layout.document.height
    grain = max(height // _GRAIN, 1)
    for index, change in enumerate(layout.stops):
        row = layout.rows[index]
        end = layout.rows[index + 1] if index + 1 < len(layout.rows) else height
        shown = max(len(change.old), change.last - change.first) + 1
        found[coarser(Mark(row, min(row + shown, end), kind_of(change)), grain)] = None
        yield
    return list(found)


def kind_of(change: Change) -> str:
    """How a change is coloured in the strip: as its hunk stands, else by what it does."""
    if change.hunk is not None:
        return kind_of_hunk(change.hunk) or "struck"
    return "struck" if change.last <= change.first else "accepted"
