"""What stands out in a file: its hunks (in the overview, and counted), a search's matches."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from time import monotonic

from tui.core.edits.hunk import OPEN, Decision, Hunk, Stage
from tui.core.edits.places import nearest
from tui.core.edits.telling.progress import fate_words, stage_words
from tui.core.edits.workspace import Workspace
from tui.ui.editor.overview import Mark
from tui.ui.editor.rail import Said
from tui.ui.editor.view import View

SHOWN_CANDIDATES = 5
"""With more of them no place is marked (EDITS.md section 4)."""
_MANY = 300
"""Hunks that are looked through at once; of more of them a part each frame."""
_SLICE_S = 0.003
"""For so long."""
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
        self._took_s = 0.0
        self._scan: Iterator[None] | None = None
        """A look that goes on in the next frame."""
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

    def look(self, workspace: Workspace, view: View) -> bool:
        """Look through the hunks; of very many at a part in each frame; True: it is done."""
        start_s = monotonic()
        if view.path != self._path:
            self._path, self._scan, self._due_s = view.path, None, 0.0
            self._hunks, self._firsts, self._lasts = [], [], []
        self.late = start_s < self._due_s
        if self.late:
            return False
        if self._scan is None:
            self._scan, self._took_s = self._through(workspace, view), 0.0
        for _ in self._scan:
            self.late = monotonic() - start_s > _SLICE_S
            if self.late:
                break
        self._took_s += monotonic() - start_s
        if not self.late:
            self._scan = None
            self._due_s = monotonic() + _SHARE * self._took_s if self._took_s > _SLICE_S else 0.0
        return not self.late

    def _through(self, workspace: Workspace, view: View) -> Iterator[None]:
        """Look through all hunks, with pauses."""
        firsts: list[int] = []
        lasts: list[int] = []
        marks: dict[Mark, None] = {}
        grain = 1
        for number, hunk in enumerate(shown_hunks(workspace, view.path)):
            if _waits(hunk):
                for first, last in _rows(hunk):
                    firsts.append(first)
                    lasts.append(max(last - 1, first))
            for mark in marks_of_hunk(hunk):
                marks[coarser(mark, grain)] = None
            if number and not number % _MANY:
                if grain == 1 and (grain := max(view.buffer.line_count // _GRAIN, 1)) > 1:
                    marks = {coarser(mark, grain): None for mark in marks}
                yield
        self._firsts, self._lasts = sorted(firsts), sorted(lasts)
        self._hunks = list(marks)

    def marks(self, view: View) -> list[Mark]:
        """The coloured cells of the file's overview, as it was looked through last."""
        return [*(Mark(line, line + 1, "match") for line in view.search.sample), *self._hunks]

    def beyond(self, first: int, last: int) -> tuple[int, int]:
        """How many hunks that wait or come in stand wholly above ``first`` and below ``last``."""
        above = bisect_left(self._lasts, first)
        return above, len(self._firsts) - bisect_right(self._firsts, last)


def shown_hunks(workspace: Workspace, path: str | None = None) -> Iterator[Hunk]:
    """What waits or comes in in a file, and what the last turn did; the rest is its text.

    ``path``: None for all files.
    """
    latest = workspace.hunks[-1].turn if workspace.hunks else 0
    for tally in list(workspace.roster.in_file(path)):
        hunks = tally.hunks
        of_latest = bool(hunks) and hunks[0].turn == latest
        if of_latest or tally.waiting:
            yield from (hunk for hunk in hunks if of_latest or hunk.need)


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
        for line in () if many else nearest(hunk.candidates):
            yield Mark(line, line + 1, kind)
    elif kind and hunk.start is not None and hunk.end is not None:
        yield Mark(hunk.start.line, hunk.end.line, kind)


def coarser(mark: Mark, grain: int) -> Mark:
    """A mark of whole parts of the file: a strip has no use for more."""
    if grain == 1:
        return mark
    first, last = mark.first // grain, (mark.last - 1) // grain
    return Mark(first * grain, (last + 1) * grain, mark.kind)


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
