"""One editor, or two beside each other; the landing edit is followed where the user is not.

Both may show one file: there is one buffer with one set of colours, and each side has a cursor
and a scroll position of its own. Where two do not fit, the one that the user is in is seen.

The open files above the editor: one row, the active one lit, ``●`` for unsaved. Right of the tabs
stand the cursor's place and whether the view follows the landing edit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.strip import Strip
from textual.widget import Widget

from tui.core.text.buffer import Buffer
from tui.engine.session import Session
from tui.ui import theme
from tui.ui.editor.editor import Editor, Follow
from tui.ui.editor.overview import Overview, OverviewMark
from tui.ui.editor.view import View
from tui.ui.painting.ink import PaintedStrip
from tui.ui.styled_text import clip_left, one_line
from tui.ui.widgets.painted import PaintedWidget

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


class Tabs(PaintedWidget):
    """The row of tabs."""

    def __init__(
        self,
        choose: Callable[[str], None],
        close: Callable[[str], None],
        follow: Callable[[], None],
    ) -> None:
        """What clicks do: to a tab, to its cross (or the middle button), to the follow mode."""
        super().__init__(id="tabs")
        self._choose, self._close, self._follow_again = choose, close, follow
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
        widths = [cell_len(name) + 5 for name in names]
        notes = self._notes(width, widths)
        room = width - sum(cell_len(segment.text) for segment in notes)
        segments = self._row(room, names, widths)
        used = sum(cell_len(segment.text) for segment in segments)
        blank = Segment(" " * (room - used), theme.active().style("", "panel"))
        return PaintedStrip([*segments, blank, *notes], width)

    def on_click(self, event: events.Click) -> None:
        """Choose or close a tab, or follow again."""
        event.stop()
        for cell in self._cells:
            if cell.first <= event.x < cell.last:
                closing = cell.close or event.button == 2
                (self._close if closing else self._choose)(cell.path)
                return
        if self._follow_cells and event.x >= self.size.width - self._follow_cells:
            self._follow_again()

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
        if tab.writing:  # in the place of the other marks: no name moves when it goes
            mark, mark_colour = WRITING, "hunk-landing"
        if tab.torn:
            mark, mark_colour = TORN, "hunk-conflict"
        return [
            edge,
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


FEWEST_COLUMNS = 45
"""A side that is narrower than this is not shown beside another one."""


class Heading(NamedTuple):
    """What stands over one of two editors."""

    path: str = ""
    place: str = ""
    dirty: bool = False
    used: bool = False
    """The user is in this one."""
    follows: bool = False
    """The landing edit is followed here."""


class SideTitle(PaintedWidget):
    """The row over one of two editors."""

    def __init__(self) -> None:
        super().__init__()
        self._heading = Heading()

    def show(self, heading: Heading) -> None:
        """Show another file's name, or the same in another state."""
        if heading != self._heading:
            self._heading = heading
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Name left, the cursor's place right."""
        said, width = self._heading, self.size.width
        style = theme.active().style
        place = f" {said.place} " if said.place and width >= 30 else ""
        marks = f"{FOLLOWS} " * said.follows + f"{UNSAVED} " * said.dirty
        room = max(width - 2 - cell_len(place) - cell_len(marks), 1)
        name = clip_left(one_line(said.path), room)
        text = style("foreground", "panel", "bold") if said.used else style("muted", "panel")
        segments = [
            Segment("▎" if said.used else " ", style("accent", "panel")),
            Segment(f"{name} ", text),
            Segment(f"{FOLLOWS} " * said.follows, style("hunk-landing", "panel")),
            Segment(f"{UNSAVED} " * said.dirty, style("warning", "panel")),
        ]
        used = sum(cell_len(segment.text) for segment in segments)
        segments.append(Segment(" " * max(width - used - cell_len(place), 0), text))
        segments.append(Segment(place, style("faint", "panel")))
        return PaintedStrip(segments).crop(0, width)


class EditorSide(Horizontal):
    """An editor, its overview, and a view for each file that it has shown."""

    def __init__(
        self, session: Session, follow: Follow, drag: Callable[[int], None], *, number: int
    ) -> None:
        """``drag`` is told the column of the screen to which its left line was dragged."""
        super().__init__(id=f"side-{number}")
        self.title = SideTitle()
        self.editor = Editor(
            session, follow, id="editor-text" if number == 1 else f"editor-text-{number}"
        )
        self.overview = Overview(self.editor.scroll_to_line)
        self._drag = drag
        self.path = ""
        """The file that is shown; empty: none."""
        self._views: dict[str, View] = {}
        self._held = False

    def compose(self) -> ComposeResult:
        """The title is seen where there are two sides."""
        yield self.title
        yield self.editor
        yield self.overview

    def has(self, path: str) -> bool:
        """True if this side has a view of the file."""
        return path in self._views

    def view_of(self, buffer: Buffer, near: EditorSide | None = None) -> View:
        """The view of a buffer; the first one has its colours of the other side, if it can."""
        view = self._views.get(buffer.path)
        if view is None or view.buffer is not buffer:
            if view is not None:
                view.release()
            other = near._views.get(buffer.path) if near is not None else None
            shared = other.colours if other is not None and other.buffer is buffer else None
            view = self._views[buffer.path] = View(buffer, shared, self.editor.session.workspace)
            if other is not None and shared is not None:
                view.cursor.place(other.cursor.position)
                view.scroll_to(other.top, self.editor.size.height)
        return view

    def keep(self, paths: Collection[str]) -> None:
        """Only these files are open any more."""
        for path in [path for path in self._views if path not in paths]:
            self._views.pop(path).release()

    def swap(self, other: EditorSide) -> None:
        """Take the other side's file and views, and give it those of this one."""
        self._views, other._views = other._views, self._views
        self.path, other.path = other.path, self.path

    @property
    def shown(self) -> View | None:
        """The view of the file that is to be shown."""
        return self._views.get(self.path)

    def note(self) -> None:
        """Show where the view is in the file."""
        view, height = self.editor.view, self.editor.size.height
        if view is None:
            self.overview.show(0, 1, 1, ())
        else:
            hunks, line = self.editor.background.hunks, self.editor.background.ghost.line(view)
            marks = hunks.marks(view)
            if line is not None:
                marks.append(OverviewMark(line, line + 1, "slow"))
            lines = view.lines_shown(height)
            self.overview.show(view.top, lines, view.buffer.line_count, marks, late=hunks.late)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the line between the two sides: it is this one's left border."""
        if event.button == 1 and event.screen_x < self.content_region.x:
            event.stop()
            self._held = True
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the line along."""
        if self._held:
            event.stop()
            self._drag(event.screen_x)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let go of it."""
        if self._held:
            event.stop()
            self._held = False
            self.release_mouse()


class Sides:
    """The sides of a pane, which one the user is in, and where the landing edit is followed."""

    def __init__(self, session: Session, pane: Widget) -> None:
        self.divided = False
        """There are two."""
        self.follow = Follow()
        self.on_settled: Callable[[], None] = lambda: None
        """Called when sides came, went, or the user is in another one."""
        self._session = session
        self._pane = pane
        self._sides = [EditorSide(session, self.follow, self.drag, number=1)]
        """The left one, and once there were two the right one."""
        self._sides[0].add_class("-used", update=False)
        self._used = 0
        """The side that the user is in, or was in last."""

    def __iter__(self) -> Iterator[EditorSide]:
        """The left one, and once there were two the right one."""
        return iter(self._sides)

    def __len__(self) -> int:
        return len(self._sides)

    def __getitem__(self, index: int) -> EditorSide:
        return self._sides[index]

    @property
    def used(self) -> EditorSide:
        """The side that the user is in, or was in last."""
        if self.divided:
            focused = self._pane.screen.focused
            for side in self._sides:
                if side.editor is focused:
                    return side
        return self._sides[self._used]

    @property
    def other(self) -> EditorSide | None:
        """The other side; None if there is only one."""
        if not self.divided:
            return None
        return self._sides[1] if self.used is self._sides[0] else self._sides[0]

    @property
    def beside(self) -> bool:
        """Two are seen."""
        return self.divided and not self._pane.has_class("-one")

    @property
    def leader(self) -> EditorSide:
        """Where the landing edit is followed: the side that the user is not in, if it is seen."""
        other = self.other
        return other if other is not None and self.beside else self.used

    async def divide(self) -> None:
        """Two sides, showing the same file; the user stays where they are."""
        if self.divided:
            return
        if len(self._sides) == 1:
            right = EditorSide(self._session, self.follow, self.drag, number=2)
            first, second = self._sides[0].editor, right.editor
            second.wrap, second.hidden_to = first.wrap, first.hidden_to
            second.background.ghost.mode = first.background.ghost.mode
            second.leads = False  # unless it turns out to: `_settle`
            first.background.twins, second.background.twins = (second,), (first,)
            self._sides.append(right)
            await self._pane.query_one("#editor-row").mount(right, after=self._sides[0])
        self.divided = True
        self._pane.add_class("-split")
        self.fit()
        left, right = self._sides
        right.path, right.editor.wrap = left.path, left.editor.wrap
        if left.editor.view is not None:
            right.view_of(left.editor.view.buffer, left)
        right.editor.show(right.shown)
        self.on_settled()

    def join(self) -> None:
        """One side: that of the user."""
        if not self.divided:
            return
        left, right = self._sides
        focused = right.editor.screen.focused is right.editor
        if self.used is right:
            left.swap(right)
            left.editor.show(left.shown)
        self._used, self.divided = 0, False
        right.editor.show(None)
        right.keep(())
        right.path = ""
        self._pane.remove_class("-split", "-one")
        left.styles.width = right.styles.width = "1fr"
        self._settle()
        if focused:
            self._pane.screen.set_focus(left.editor)
        self.on_settled()

    def enter(self, side: EditorSide) -> None:
        """The user goes to this side; the focus, if it is in the other one, goes along.

        Whoever goes where the model writes has let go of it: what they left stays as it was.
        """
        if self.beside and side.editor.following and self._session.status.busy:
            side.editor.let_go()
        before, self._used = self._used, self._sides.index(side)
        focused = self._pane.screen.focused
        self._settle()
        if any(one.editor is focused for one in self._sides if one is not side):
            self._pane.screen.set_focus(side.editor)
            self._settle()
        if self._used != before:
            side.editor.report()
            self.on_settled()

    def set_wrap(self, wrap: bool) -> None:
        """Wrap long lines on both sides, or on none."""
        for side in self._sides:
            side.editor.set_wrap(wrap)

    def hide_removed(self, up_to: int | None) -> None:
        """Show no removed lines on either side, or all (None); see `RemovedRows.hide`."""
        for side in self._sides:
            side.editor.hidden_to = up_to
            side.editor.repaint()

    def fit(self) -> None:
        """Two sides, if the pane is wide enough for them."""
        width = self._pane.size.width
        self._pane.set_class(self.divided and 0 < width < 2 * FEWEST_COLUMNS, "-one")
        self._settle()

    def drag(self, x: int) -> None:
        """Put the line between the sides at a column of the screen; each keeps some cells."""
        left, right = self._sides
        total = right.region.right - left.region.x
        least = FEWEST_COLUMNS // 3
        first = max(min(x - left.region.x, total - least), least)
        left.styles.width, right.styles.width = f"{first}fr", f"{total - first}fr"

    def _settle(self) -> None:
        """Which side the user is in, and which one follows the landing edit."""
        leader = self.leader
        for number, side in enumerate(self._sides):
            side.set_class(number == self._used, "-used")
            side.editor.aside = number != self._used
            side.editor.leads = side is leader
