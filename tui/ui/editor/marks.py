"""What stands out in a file: its hunks (in the overview, and counted), a search's matches."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from time import monotonic

from tui.core.edits.hunk import OPEN, Decision, Hunk, Stage
from tui.core.edits.telling.progress import fate_words, stage_words
from tui.core.edits.workspace import Workspace
from tui.ui.editor.overview import Mark
from tui.ui.editor.rail import Said
from tui.ui.editor.view import View

SHOWN_CANDIDATES = 5
"""With more of them no place is marked (EDITS.md section 4)."""
_MANY = 300
"""Hunks from which they are not looked through each frame."""
_SHARE = 20
"""Then the time between two looks is so many times as long as a look."""
_GRAIN = 1000
"""And the overview's marks are no finer than this part of the file."""

_TORN = "changed on disk too: saving asks"


class Landmarks:
    """The hunks of one file, looked through when it is shown anew."""

    def __init__(self) -> None:
        self._path = ""
        self._hunks: list[Mark] = []
        self._firsts: list[int] = []
        """First rows of what waits or comes in, in order."""
        self._lasts: list[int] = []
        self._due_s = 0.0
        self.late = False
        """Of very many hunks the last ones came after they were looked through."""

    def said(self, workspace: Workspace, view: View, height: int) -> Said:
        """What is said over the text, now that this is in sight."""
        self.look(workspace, view)
        shown = view.shown(height)
        above, below = self.beyond(shown.start, shown.stop - 1)
        path = view.path
        words, fate = stage_words(workspace, path), fate_words(workspace, path)
        if path in workspace.conflicts:
            fate = _TORN
        return Said(words, above, below, workspace.ghost(path), fate)

    def look(self, workspace: Workspace, view: View) -> None:
        """Look through the hunks; of very many not each frame."""
        start_s = monotonic()
        self.late = view.path == self._path and start_s < self._due_s
        if self.late:
            return
        self._path = view.path
        shown = [hunk for hunk in shown_hunks(workspace) if hunk.path == view.path]
        waiting = [rows for hunk in shown if _waits(hunk) for rows in _rows(hunk)]
        self._firsts = sorted(first for first, _ in waiting)
        self._lasts = sorted(max(last - 1, first) for first, last in waiting)
        self._hunks = [mark for hunk in shown for mark in marks_of_hunk(hunk)]
        self._due_s = 0.0
        if len(shown) > _MANY:
            self._hunks = _coarser(self._hunks, view.buffer.line_count)
            self._due_s = monotonic() + _SHARE * (monotonic() - start_s)

    def marks(self, view: View) -> list[Mark]:
        """The coloured cells of the file's overview, as it was looked through last."""
        return [*(Mark(line, line + 1, "match") for line in view.search.sample), *self._hunks]

    def beyond(self, first: int, last: int) -> tuple[int, int]:
        """How many hunks that wait or come in stand wholly above ``first`` and below ``last``."""
        above = bisect_left(self._lasts, first)
        return above, len(self._firsts) - bisect_right(self._firsts, last)


def marks_of(workspace: Workspace, view: View) -> list[Mark]:
    """The coloured cells of a file's overview."""
    landmarks = Landmarks()
    landmarks.look(workspace, view)
    return landmarks.marks(view)


def shown_hunks(workspace: Workspace) -> Iterable[Hunk]:
    """What waits or comes in, and what the last turn did; the rest is the file's text."""
    found = {hunk.id: hunk for hunk in workspace.roster.unsettled()}
    for hunk in reversed(workspace.hunks):
        if hunk.turn != workspace.hunks[-1].turn:
            break
        found[hunk.id] = hunk
    return found.values()


def _waits(hunk: Hunk) -> bool:
    """True for what comes in or is to be decided."""
    return kind_of_hunk(hunk) not in ("", "accepted")


def _rows(hunk: Hunk) -> Iterator[tuple[int, int]]:
    """The rows that one hunk has; of one that fits in several places the first of them."""
    if hunk.start is not None and hunk.end is not None:
        yield hunk.start.line, hunk.end.line
    elif hunk.candidates:
        yield hunk.candidates[0], hunk.candidates[0] + 1


def marks_of_hunk(hunk: Hunk) -> Iterator[Mark]:
    """The coloured cells of one hunk in an overview of its file."""
    kind = kind_of_hunk(hunk)
    if kind == "candidate":
        many = not hunk.reason and len(hunk.candidates) > SHOWN_CANDIDATES
        for line in () if many else hunk.candidates:
            yield Mark(line, line + 1, kind)
    elif kind and hunk.start is not None and hunk.end is not None:
        yield Mark(hunk.start.line, hunk.end.line, kind)


def _coarser(marks: Iterable[Mark], lines: int) -> list[Mark]:
    """No more marks than a strip has use for."""
    grain = max(lines // _GRAIN, 1)
    cells = {(mark.first // grain, (mark.last - 1) // grain, mark.kind) for mark in marks}
    return [Mark(first * grain, (last + 1) * grain, kind) for first, last, kind in cells]


def kind_of_hunk(hunk: Hunk) -> str:
    """The decoration that a hunk's lines have; empty if it is over."""
    if hunk.decision is Decision.ACCEPTED:
        return "accepted"
    if hunk.decision is Decision.REJECTED or hunk.stage in (Stage.REFUSED, Stage.DROPPED):
        return ""
    if hunk.stage is Stage.CONFLICT:
        return "conflict"
    if hunk.stage is Stage.PARTIAL:
        return "partial"
    if hunk.candidates and hunk.start is None:
        return "candidate"
    return "landing" if hunk.stage in OPEN else "pending"
