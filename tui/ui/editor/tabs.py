"""The open files above the editor: one row, the active one lit, ``●`` for unsaved.

Right of the tabs stand the cursor's place and whether the view follows the landing edit.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.ui import theme
from tui.ui.styled_text import one_line

_LONGEST_TITLE = 28
_ROOMY = 60
"""A row that is narrower says the follow mode by a sign before it hides a tab."""
UNSAVED, CLOSE, WRITING, FOLLOWS, TORN = "●", "×", "✎", "▸", "!"


class Tab(NamedTuple):
    """One open file."""

    path: str
    dirty: bool = False
    writing: bool = False
    """The model is writing into it now."""
    beside: bool = False
    """It is shown in the other one of two editors."""
    fate: str = ""
    """What is to become of the whole file, in words; empty: it stays."""
    torn: bool = False
    """It changed on disk, too, and is not saved until the user says whose text stays."""


class _Cell(NamedTuple):
    """A stretch of the row that can be clicked."""

    first: int
    last: int
    path: str
    close: bool


class Tabs(Widget):
    """The row of tabs."""

    ALLOW_SELECT = False

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, path: str) -> None:
            super().__init__()
            self.path = path

    class Closed(Message):
        """A tab's cross (or its middle button) was clicked."""

        def __init__(self, path: str) -> None:
            super().__init__()
            self.path = path

    class FollowWanted(Message):
        """The follow indicator was clicked."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._tabs: tuple[Tab, ...] = ()
        self._active = ""
        self._place = ""
        self._follow = ""
        self._follow_cells = 0
        """How wide the follow mode's words are in the row."""
        self._bright = False
        """The editor has the keys."""
        self._first = 0
        """The first tab that is shown."""
        self._cells: list[_Cell] = []

    def show(self, tabs: tuple[Tab, ...], active: str) -> None:
        """Show these files."""
        if (tabs, active) != (self._tabs, self._active):
            self._tabs, self._active = tabs, active
            self.refresh()

    def bright(self, bright: bool) -> None:
        """Whether the editor has the keys."""
        if bright != self._bright:
            self._bright = bright
            self.refresh()

    def note(self, place: str, follow: str) -> None:
        """Show the cursor's place and the follow mode, in words; empty: nothing."""
        if (place, follow) != (self._place, self._follow):
            self._place, self._follow = place, follow
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The row."""
        width = self.size.width
        names = titles([tab.path for tab in self._tabs])
        names = [name + _goes(tab) for name, tab in zip(names, self._tabs, strict=True)]
        widths = [
            cell_len(name) + 5 + 2 * tab.writing
            for name, tab in zip(names, self._tabs, strict=True)
        ]
        notes = self._notes(width, widths)
        room = width - sum(cell_len(segment.text) for segment in notes)
        segments = self._row(room, names, widths)
        used = sum(cell_len(segment.text) for segment in segments)
        blank = Segment(" " * (room - used), theme.active().style("", "panel"))
        return Strip([*segments, blank, *notes], width)

    def on_click(self, event: events.Click) -> None:
        """Choose or close a tab, or follow again."""
        event.stop()
        for cell in self._cells:
            if cell.first <= event.x < cell.last:
                closing = cell.close or event.button == 2
                self.post_message((self.Closed if closing else self.Chosen)(cell.path))
                return
        if self._follow_cells and event.x >= self.size.width - self._follow_cells:
            self.post_message(self.FollowWanted())

    def _notes(self, width: int, widths: list[int]) -> list[Segment]:
        """What stands at the right; where it would hide tabs, the follow mode is one sign.

        Whoever types wants to know where: the place goes last of all.
        """
        place, follow = (f" {words} " if words else "" for words in (self._place, self._follow))
        on = self._follow.startswith(FOLLOWS)
        active = next((i for i, tab in enumerate(self._tabs) if tab.path == self._active), 0)
        least = widths[active] + 2 * (len(widths) > 1) if widths else 0
        all_of_them = sum(widths) if width < _ROOMY else least
        if all_of_them + cell_len(place + follow) > width:
            follow = f" {FOLLOWS} " if on else ""
        if least + cell_len(place + follow) > width:
            follow = ""
        if least + cell_len(place) > width:
            place = ""
        self._follow_cells = cell_len(follow)
        style = theme.active().style
        notes = (
            Segment(place, style("faint", "panel")),
            Segment(follow, style("hunk-landing" if on else "muted", "panel")),
        )
        return [note for note in notes if note.text]

    def _row(self, room: int, names: list[str], widths: list[int]) -> list[Segment]:
        self._scroll_to_active(widths, room)
        style = theme.active().style
        segments: list[Segment] = []
        self._cells = []
        used = 0
        if self._first:
            segments.append(Segment("‹", style("faint", "panel")))
            used = 1
        for index in range(self._first, len(self._tabs)):
            if used + widths[index] > room - (index + 1 < len(self._tabs)):
                segments.append(Segment("›"[: max(room - used, 0)], style("faint", "panel")))
                break
            tab = self._tabs[index]
            segments += self._tab(tab, names[index])
            end = used + widths[index]
            self._cells.append(_Cell(end - 3, end, tab.path, True))
            self._cells.append(_Cell(used, end - 3, tab.path, False))
            used = end
        return segments

    def _tab(self, tab: Tab, name: str) -> list[Segment]:
        style = theme.active().style
        active = tab.path == self._active
        back = "background" if active else "panel"
        edge_colour = "accent" if active and self._bright else "muted"
        edge = Segment("▎" if active or tab.beside else " ", style(edge_colour, back))
        lit = active and self._bright
        text = style("foreground" if lit else "muted", back, "bold" if active else "")
        if tab.fate == "to be deleted":
            text = style("hunk-struck", back, "strike")
        mark = UNSAVED if tab.dirty else CLOSE
        mark_colour = "warning" if tab.dirty else "faint"
        if tab.torn:
            mark, mark_colour = TORN, "hunk-conflict"
        pen = [Segment(f"{WRITING} ", style("hunk-landing", back))] if tab.writing else []
        return [
            edge,
            *pen,
            Segment(f"{name} ", text),
            Segment(f"{mark}  ", style(mark_colour, back)),
        ]

    def _scroll_to_active(self, widths: list[int], room: int) -> None:
        """Choose the first tab so that the active one is in sight."""
        self._first = min(self._first, max(len(widths) - 1, 0))
        active = next((i for i, tab in enumerate(self._tabs) if tab.path == self._active), 0)
        if sum(widths) <= room:
            self._first = 0
        self._first = min(self._first, active)
        while self._first < active and sum(widths[self._first : active + 1]) > room - 2:
            self._first += 1


def _goes(tab: Tab) -> str:
    """Where a file that is to be moved goes, behind its name: what is another name of it."""
    target = tab.fate.removeprefix("moves to ")
    if target == tab.fate:
        return ""
    folder, _, name = target.rpartition("/")
    if name == tab.path.rpartition("/")[2]:
        name = f"{folder or '.'}/"
    return f" → {_short(one_line(name))}"


def titles(paths: list[str]) -> list[str]:
    """File names, with as much of the folder as tells equal ones apart."""
    parts = [path.split("/") for path in paths]
    ends = Counter("/".join(one[-n:]) for one in parts for n in range(1, len(one) + 1))
    found = []
    for mine in parts:
        count = 1
        while count < len(mine) and ends["/".join(mine[-count:])] > 1:
            count += 1
        found.append(_short(one_line("/".join(mine[-count:]))))
    return found


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_TITLE else "…" + name[1 - _LONGEST_TITLE :]
