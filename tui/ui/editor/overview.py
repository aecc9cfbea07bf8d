"""The strip right of the editor: where the view is in the file, and where hunks stand.

It is the editor's scroll bar; click or drag to go there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.ui import theme

_RANK = (
    *("match", "accepted", "pending", "partial", "candidate", "struck"),
    *("slow", "landing", "conflict"),
)
"""Later ones are shown where several share a cell; ``slow`` is where a slower model would be."""
_COLOURS = {"match": "warning", "slow": "meter-ghost"}
_SLOW = "◃"
_RANKS = {kind: rank for rank, kind in enumerate(_RANK)}


class Mark(NamedTuple):
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
        self._marks: list[Mark] = []
        self._kinds: list[str] = []
        """What each cell has of the marks."""
        self._held = False

    def show(
        self, top: int, shown: int, total: int, marks: Iterable[Mark], *, late: bool = False
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


def overview_cells(
    height: int, view: tuple[int, int, int], marks: Iterable[Mark]
) -> list[tuple[bool, str]]:
    """For each cell whether it is the thumb, and the kind of its mark (empty: none)."""
    return [*zip(thumb_cells(height, view), mark_cells(height, view[2], marks), strict=True)]


def thumb_cells(height: int, view: tuple[int, int, int]) -> list[bool]:
    """For each cell whether it is the thumb; none is where the whole file is in sight."""
    top, shown, total = view
    scale = height / max(total, height, 1)
    first = min(int(top * scale), height - 1)
    last = max(first + 1, round((top + shown) * scale))
    return [shown < total and first <= y < last for y in range(height)]


def mark_cells(height: int, total: int, marks: Iterable[Mark]) -> list[str]:
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
