"""The strip right of the editor: where the view is in the file, and where hunks stand.

It is the editor's scroll bar; click or drag to go there. Of very many hunks a part is looked
through in each frame.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from time import monotonic
from typing import NamedTuple

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.core.document.hunk import OPEN, Decision, Hunk, Stage
from tui.core.document.waiting_places import nearest
from tui.core.document.workspace import Workspace, fate_words, stage_words
from tui.ui import theme
from tui.ui.editor.hints import Hints
from tui.ui.editor.view import View

_RANK = (
    *("match", "accepted", "pending", "cut", "candidate", "struck"),
    *("slow", "landing", "conflict"),
)
"""Later ones are shown where several share a cell; ``slow`` is where a slower model would be."""
_COLOURS = {"match": "warning", "slow": "meter-ghost"}
_SLOW = "◃"
_RANKS = {kind: rank for rank, kind in enumerate(_RANK)}


class OverviewMark(NamedTuple):
    """Lines ``first .. last`` (exclusive) deserve a coloured cell."""

    first: int
    last: int
    kind: str


class Overview(Widget):
    """A column that stands for the whole file."""

    ALLOW_SELECT = False

    class Chosen(Message):
        """The user pointed at a line that shall be in the middle of the view."""

        def __init__(self, line: int) -> None:
            super().__init__()
            self.line = line

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._cells: list[tuple[bool, str]] = []
        self._shown: tuple[int, int, int] = (0, 1, 1)
        self._marks: list[OverviewMark] = []
        self._kinds: list[str] = []
        """What each cell has of the marks."""
        self._held = False

    def show(
        self, top: int, shown: int, total: int, marks: Iterable[OverviewMark], *, late: bool = False
    ) -> None:
        """Lines ``top .. top + shown`` of ``total`` are in sight.

        ``late``: the marks are still those of before, and come anew before long.
        """
        self._shown = (top, shown, max(total, 1))
        self._marks = list(marks)
        self._update(late=late)

    def on_resize(self) -> None:
        """The same on more or fewer cells."""
        self._update()

    def render_line(self, y: int) -> Strip:
        """One cell: the thumb's shade, a mark's colour."""
        thumb, kind = self._cells[y] if y < len(self._cells) else (False, "")
        back = "line" if thumb else "background"
        palette = theme.active()
        if not kind:
            return Strip([Segment(" ", palette.style("", back))], 1)
        colour = _COLOURS.get(kind, f"hunk-{kind}")
        return Strip([Segment(_SLOW if kind == "slow" else "▐", palette.style(colour, back))], 1)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Go there."""
        event.stop()
        self._held = True
        self.capture_mouse()
        self._choose(event.y)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the view along."""
        if self._held:
            event.stop()
            self._choose(event.y)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let go."""
        if self._held:
            self._held = False
            self.release_mouse()

    def _choose(self, y: int) -> None:
        height = max(self.size.height, 1)
        total = max(self._shown[2], height)
        self.post_message(self.Chosen(total * max(min(y, height - 1), 0) // height))

    def _update(self, *, late: bool = False) -> None:
        height = self.size.height
        if not late or len(self._kinds) != height:
            self._kinds = mark_cells(height, self._shown[2], self._marks)
        cells = [*zip(thumb_cells(height, self._shown), self._kinds, strict=True)]
        if cells != self._cells:
            self._cells = cells
            self.refresh()


def thumb_cells(height: int, view: tuple[int, int, int]) -> list[bool]:
    """For each cell whether it is the thumb; none is where the whole file is in sight."""
    top, shown, total = view
    scale = height / max(total, height, 1)
    first = min(int(top * scale), height - 1)
    last = max(first + 1, round((top + shown) * scale))
    return [shown < total and first <= y < last for y in range(height)]


def mark_cells(height: int, total: int, marks: Iterable[OverviewMark]) -> list[str]:
    """For each cell the kind of its mark (empty: none)."""
    scale = height / max(total, height, 1)
    kinds, ranks = [""] * height, [-1] * height
    for first_row, last_row, kind in marks if height else ():
        start = min(int(first_row * scale), height - 1)
        stop = max(start + 1, min(int(last_row * scale), height))
        rank = _RANKS[kind]
        for y in range(start, stop):
            if rank > ranks[y]:
                kinds[y], ranks[y] = kind, rank
    return kinds


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


class HunkMarks:
    """The hunks of one file, looked through when it is shown anew."""

    def __init__(self) -> None:
        self._path = ""
        self._hunks: list[OverviewMark] = []
        self._firsts: list[int] = []
        """First rows of what waits or comes in, in order."""
        self._lasts: list[int] = []
        self._due_s = 0.0
        self._took_s = 0.0
        self._scan: Iterator[None] | None = None
        """A look that goes on in the next frame."""
        self.late = False
        """Of very many hunks the last ones came after they were looked through."""

    def hints(self, workspace: Workspace, view: View, height: int) -> Hints:
        """What is said over the text, now that this is in sight."""
        self.look(workspace, view)
        shown = view.shown(height)
        above, below = self.beyond(shown.start, shown.stop - 1)
        path = view.path
        words, fate = stage_words(workspace, path), fate_words(workspace, path)
        if path in workspace.conflicts:
            fate = _TORN
        return Hints(words, above, below, workspace.ghost(path), fate)

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
        marks: dict[OverviewMark, None] = {}
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

    def marks(self, view: View) -> list[OverviewMark]:
        """The coloured cells of the file's overview, as it was looked through last."""
        return [
            *(OverviewMark(line, line + 1, "match") for line in view.search.sample),
            *self._hunks,
        ]

    def beyond(self, first: int, last: int) -> tuple[int, int]:
        """How many hunks that wait or come in stand wholly above ``first`` and below ``last``."""
        above = bisect_left(self._lasts, first)
        return above, len(self._firsts) - bisect_right(self._firsts, last)


def shown_hunks(workspace: Workspace, path: str | None = None) -> Iterator[Hunk]:
    """What waits or comes in in a file, and what the last turn did; the rest is its text.

    ``path``: None for all files.
    """
    latest = workspace.hunks[-1].turn if workspace.hunks else 0
    for tally in list(workspace.hunk_list.in_file(path)):
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


def marks_of_hunk(hunk: Hunk) -> Iterator[OverviewMark]:
    """The coloured cells of one hunk in an overview of its file."""
    kind = kind_of_hunk(hunk)
    if kind == "candidate":
        many = not hunk.reason and len(hunk.candidates) > SHOWN_CANDIDATES
        for line in () if many else nearest(hunk.candidates):
            yield OverviewMark(line, line + 1, kind)
    elif kind and hunk.start is not None and hunk.end is not None:
        yield OverviewMark(hunk.start.line, hunk.end.line, kind)


def coarser(mark: OverviewMark, grain: int) -> OverviewMark:
    """A mark of whole parts of the file: a strip has no use for more."""
    if grain == 1:
        return mark
    first, last = mark.first // grain, (mark.last - 1) // grain
    return OverviewMark(first * grain, (last + 1) * grain, mark.kind)


def kind_of_hunk(hunk: Hunk) -> str:
    """The decoration that a hunk's lines have; empty if it is over."""
    if hunk.decision is Decision.ACCEPTED:
        return "accepted"
    if hunk.decision is Decision.REJECTED or hunk.stage is Stage.REFUSED:
        return ""
    if hunk.stage is Stage.CONFLICT:
        return "conflict"
    if hunk.stage is Stage.CUT:
        return "cut"
    if hunk.candidates and hunk.start is None:
        return "candidate"
    return "landing" if hunk.stage in OPEN else "pending"
