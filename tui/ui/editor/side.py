"""One editor with its overview, and over them its file's name where there are two of them."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.strip import Strip

from tui.core.text.buffer import Buffer
from tui.ui import theme
from tui.ui.editor.editor import Editor
from tui.ui.editor.overview import Overview
from tui.ui.editor.session import EditorSession
from tui.ui.editor.tabs import FOLLOWS, UNSAVED
from tui.ui.editor.view import View
from tui.ui.rows import clip_left, one_line
from tui.ui.widgets.painted import PaintedWidget


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
        return Strip(segments).crop(0, width)


class Side(Horizontal):
    """An editor, its overview, and a view for each file that it has shown."""

    class Dragged(Message):
        """The line left of this side was dragged."""

        def __init__(self, x: int) -> None:
            """``x`` is the column of the screen where the line shall be."""
            super().__init__()
            self.x = x

    def __init__(self, session: EditorSession, *, id: str, editor_id: str) -> None:
        super().__init__(id=id)
        self.title = SideTitle()
        self.editor = Editor(session, id=editor_id)
        self.overview = Overview()
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

    def view_of(self, buffer: Buffer, near: Side | None = None) -> View:
        """The view of a buffer; the first one has its colours of the other side, if it can."""
        view = self._views.get(buffer.path)
        if view is None or view.buffer is not buffer:
            if view is not None:
                view.release()
            other = near._views.get(buffer.path) if near is not None else None
            shared = other.colours if other is not None and other.buffer is buffer else None
            view = self._views[buffer.path] = View(buffer, shared)
            if other is not None and shared is not None:
                view.cursor.place(other.cursor.position)
                view.scroll_to(other.top, self.editor.size.height)
        return view

    def keep(self, paths: Collection[str]) -> None:
        """Only these files are open any more."""
        for path in [path for path in self._views if path not in paths]:
            self._views.pop(path).release()

    def swap(self, other: Side) -> None:
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
            marks = self.editor.landmarks.marks(view) + self.editor.slow_pen.marks(view)
            lines = len(view.shown(height)) if view.wrapped else height
            late = self.editor.landmarks.late
            self.overview.show(view.top, lines, view.buffer.line_count, marks, late=late)

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
            self.post_message(self.Dragged(event.screen_x))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let go of it."""
        if self._held:
            event.stop()
            self._held = False
            self.release_mouse()

    @on(Overview.Chosen)
    def _line_chosen(self, event: Overview.Chosen) -> None:
        event.stop()
        self.editor.scroll_to_line(event.line)
