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

_RANK = ("match", "accepted", "pending", "partial", "candidate", "struck", "landing", "conflict")
"""Later ones are shown where several share a cell."""


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
        self._held = False

    def show(self, top: int, shown: int, total: int, marks: Iterable[Mark]) -> None:
        """Lines ``top .. top + shown`` of ``total`` are in sight."""
        self._shown = (top, shown, max(total, 1))
        self._marks = list(marks)
        self._update()

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
        colour = "warning" if kind == "match" else f"hunk-{kind}"
        return Strip([Segment("▐", palette.style(colour, back))], 1)

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

    def _update(self) -> None:
        cells = overview_cells(self.size.height, self._shown, self._marks)
        if cells != self._cells:
            self._cells = cells
            self.refresh()


def overview_cells(
    height: int, view: tuple[int, int, int], marks: Iterable[Mark]
) -> list[tuple[bool, str]]:
    """For each cell whether it is the thumb, and the kind of its mark (empty: none)."""
    top, shown, total = view
    if not height:
        return []
    scale = height / max(total, height)
    first = min(int(top * scale), height - 1)
    last = max(first + 1, round((top + shown) * scale))
    everything = shown >= total
    kinds = [""] * height
    for mark in marks:
        start = min(int(mark.first * scale), height - 1)
        stop = max(start + 1, min(int(mark.last * scale), height))
        for y in range(start, stop):
            if not kinds[y] or _RANK.index(mark.kind) > _RANK.index(kinds[y]):
                kinds[y] = mark.kind
    return [(not everything and first <= y < last, kinds[y]) for y in range(height)]
