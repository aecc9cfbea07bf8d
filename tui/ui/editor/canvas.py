"""The editor's painting and scrolling: a line-API widget over `core.buffer`.

It scrolls by itself (the top line is a mark in the buffer), so neither a landing line nor a
keystroke costs a layout. Every repaint asks the view for its rows and paints those that
differ from what is on the screen: the cost depends on the height of the widget, not of the file.
"""

from __future__ import annotations

from collections.abc import Callable

from textual.geometry import Offset, Region
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.timer import Timer

from tui.core.text.buffer import Position
from tui.ui import theme
from tui.ui.editor.overview import Landmarks
from tui.ui.editor.paint import Frame, Painter, Row
from tui.ui.editor.session import EditorSession
from tui.ui.editor.slow_pen import CALM_STEP_S, STEP_S, SlowPen
from tui.ui.editor.view import View
from tui.ui.editor.wrapping import measure_on
from tui.ui.widgets.painted import PaintedWidget

_IDLE_S = 0.03
"""Pause between two slices of colouring."""
_IDLE_BUDGET_S = 0.004
_COLOURS_S = 0.015
_BUSY_BUDGET_S = 0.002
"""For colours while an answer comes; else `_IDLE_BUDGET_S`, every `_COLOURS_S`."""
_LANDMARKS_S = 0.1
"""How soon very many hunks are looked through again, if no frame comes."""
_BUSY_EVERY = 8
"""Once in so many times, then: what is in sight is coloured by its repaint anyway."""


class EditorCanvas(PaintedWidget, can_focus=True):
    """Shows one view at a time; `Editor` adds typing and the mouse."""

    following: reactive[bool] = reactive(True, init=False)
    """The view follows the landing edit; ends when the user scrolls or types."""
    resumes = False
    """The user let go of it while no answer came: the next turn is followed again."""

    wrap = False
    """Lines that are longer than the view go on in the next row."""

    aside = False
    """The user is in the other one of two editors: where this one is, is not told."""
    twins: tuple[EditorCanvas, ...] = ()
    """Others that may show the same buffer."""

    class Moved(Message):
        """The cursor, the scroll position or the text changed."""

    class Edited(Message):
        """The user changed the text."""

    def __init__(self, session: EditorSession, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.view: View | None = None
        self.session = session
        self._painter = Painter(theme.active())
        self._rows: list[Row] = []
        self._frame = Frame(0, 0, 0)
        self._passed = 0
        """Times for colours that came, those that were left to an answer counted."""
        self.landmarks = Landmarks()
        self.slow_pen = SlowPen(session)
        self._repeats: dict[str, Timer] = {}
        self._looked = False
        """What was shown last is a hunk under review, not the landing edit."""

    # -- painting -------------------------------------------------------------------------

    def show(self, view: View | None) -> None:
        """Show another view."""
        self.view = view
        self.repaint()
        self.report()

    def repaint(self) -> None:
        """Paint the rows that are not as the screen has them."""
        width, height = self.size
        view = self.view
        if view is None or not height:
            if self._rows:  # a hidden widget that is refreshed costs Textual a layout
                self._rows = []
                self._frame = Frame(0, 0, 0)
                self.refresh()
            return
        view.fit(width, wrap=self.wrap)
        if self.following:
            # Struck lines that are gone may have left the view beyond the end.
            view.scroll_rows(0, height)
        workspace = self.session.workspace
        said = self.landmarks.said(workspace, view, height)
        rows = view.rows(height, self.has_focus, workspace.decorations, said)
        self.slow_pen.look()
        self.slow_pen.lay_over(rows, view, width, view.cursor_spot(height))
        before, frame = self._rows, view.frame(width)
        self._rows = rows
        if frame != self._frame or len(rows) != len(before):
            self._frame = frame
            self.refresh()
        else:
            damaged = [
                Region(0, y, width, 1)
                for y, (old, new) in enumerate(zip(before, rows, strict=True))
                if old is not new and old != new
            ]
            if damaged:
                self.refresh(*damaged)
        self._work_on(view)

    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        if self._painter.palette is not theme.active():
            self._painter = Painter(theme.active())
        row = self._rows[y] if y < len(self._rows) else Row()
        frame = self._frame if self._rows else Frame(self.size.width, 0, 0)
        return self._painter.strip(row, frame)

    def _work_on(self, view: View) -> None:
        """What a repaint had no time for is done in slices, and what moves is looked after."""
        if self.slow_pen.walks:
            self.slow_pen.calm = self.app.animation_level == "none"
            self.every("slow pen", CALM_STEP_S if self.slow_pen.calm else STEP_S, self._walk)
        if view.colours.pending:
            self.every("colours", _COLOURS_S, self._colour_on)
        if view.brackets.pending:
            self.every("brackets", _IDLE_S, self._match_on)
        if self.landmarks.late:
            self.every("landmarks", _LANDMARKS_S, self._look_on)
        elif "landmarks" in self._repeats:
            self.stop("landmarks")
            self.post_message(self.Moved())
        if measure_on(view.layout, view.shown(self.size.height), 0.0):
            self.every("measures", _IDLE_S, self._measure_on)

    def _look_on(self) -> None:
        """Look through hunks, and paint where that is done."""
        if self.view is None or self.landmarks.look(self.session.workspace, self.view):
            self.repaint()

    def _colour_on(self) -> None:
        view = self.view
        if view is None or not view.colours.pending:
            self.stop("colours")
            return
        if view.colours.wait_s:
            return
        busy = self.session.status.busy
        self._passed += 1
        if busy and view.colours.loaded and self._passed % _BUSY_EVERY:
            return
        if done := view.colours.idle(_BUSY_BUDGET_S if busy else _IDLE_BUDGET_S):
            for canvas in (self, *self.twins):
                if canvas.view is not None and canvas.view.colours is view.colours:
                    canvas.coloured(*done)

    def coloured(self, first: int, last: int) -> None:
        """Lines have other colours now: paint those that are in sight."""
        if self.view is not None:
            shown = self.view.shown(self.size.height)
            if first < shown.stop and last >= shown.start:
                self.repaint()

    def _measure_on(self) -> None:
        view = self.view
        if view is None or not measure_on(
            view.layout, view.shown(self.size.height), _IDLE_BUDGET_S
        ):
            self.stop("measures")

    def _walk(self) -> None:
        """The slow pen goes on while nothing else may change; with its last step it is gone."""
        if self.slow_pen.look():
            self.repaint()
            self.post_message(self.Moved())
        elif not self.slow_pen.walks:
            self.stop("slow pen")

    def _match_on(self) -> None:
        """Look on for the partner of the bracket at the cursor."""
        view = self.view
        if view is None or not view.brackets.pending:
            self.stop("brackets")
        elif view.brackets.advance(_IDLE_BUDGET_S, idle=True):
            self.repaint()

    # -- moving ---------------------------------------------------------------------------

    def go(self, position: Position, *, select_to: Position | None = None) -> None:
        """Place the cursor (and select), in the middle of the view if it was out of sight."""
        if self.view is None:
            return
        self.view.cursor.place(position)
        if select_to is not None:
            self.view.cursor.select(position, select_to)
        height = self.size.height
        if height and position[0] not in self.view.shown(height):
            self.view.center(self.view.cursor.position, height)
        self.moved()

    def look(self, first: int, last: int) -> None:
        """Show these lines to a user who reviews elsewhere; the landing edit is still followed."""
        if (view := self.view) is None:
            return
        self._looked = True
        view.cursor.place(view.buffer.clamp((first, 0)))
        height = self.size.height
        lines, shown = min(last - first + 1, height), view.shown(height)
        if height and not shown.start <= first <= shown.stop - lines:
            view.scroll_to(first - (height - lines) // 2, height)
        self.moved()

    def let_go(self) -> None:
        """The user goes elsewhere: in an answer for good, else until the next turn."""
        self.resumes = (self.resumes or self.following) and not self.session.status.busy
        self.following = False

    def follow_to(self, line: int) -> None:
        """The model wrote in this line: keep it in sight."""
        self._looked = False
        if self.view is not None:
            self.view.pen.put(line)
            if self.following and self.size.height:
                self.view.reveal(line, self.size.height, ahead=True)

    def scroll_lines(self, lines: int) -> None:
        """The user scrolls, by rows of the screen."""
        if self.view is not None:
            self.let_go()
            self.view.scroll_rows(lines, self.size.height)
            self.repaint()
            self.report()

    def scroll_to_line(self, line: int) -> None:
        """The user points at a line that shall be in the middle."""
        if self.view is not None:
            self.let_go()
            self.view.scroll_to(line - self.size.height // 2, self.size.height)
            self.repaint()
            self.report()

    def set_wrap(self, wrap: bool) -> None:
        """Wrap long lines, or scroll sideways; what was in sight stays so."""
        self.wrap = wrap
        view, height = self.view, self.size.height
        if view is not None and height:
            seen = view.cursor_spot(height) is not None
            view.fit(self.size.width, wrap=wrap)
            view.scroll_rows(0, height)
            if seen:
                view.reveal_cursor(*self.size)
        self.repaint()
        self.report()

    def scroll_cells(self, cells: int) -> None:
        """The user scrolls sideways."""
        if self.view is not None:
            self.view.scroll_sideways(cells, *self.size)
            self.repaint()

    def moved(self) -> None:
        """The cursor was moved by the user: show it, tell the engine."""
        if self.view is None:
            return
        if self.size.height:
            self.view.reveal_cursor(*self.size)
        self.repaint()
        self.report()

    def report(self) -> None:
        """Tell the engine and the terminal where the cursor is, and the parent that it moved."""
        view = self.view
        if view is not None:
            if not self.aside:
                self.session.cursor(view.path, view.cursor.position, view.cursor.selection)
            spot = view.cursor_spot(self.size.height) if self.has_focus else None
            if spot is not None:
                self.app.cursor_position = self.content_region.offset + Offset(*spot)
        self.post_message(self.Moved())

    def _settle(self, view: View) -> None:
        """The view had no size when it was told what to show, or has another one now."""
        pen = view.pen.line
        if self.following and pen is not None and not self._looked:
            view.reveal(pen, self.size.height, ahead=True)
        else:
            view.reveal_cursor(*self.size)

    # -- events and timers ----------------------------------------------------------------

    def on_resize(self) -> None:
        """Other rows fit now: the cursor, if it was in sight, or the landing edit stays so.

        The first rows show what was gone to before there were any.
        """
        view, height = self.view, self.size.height
        if view is not None and height:
            before = bool(self._frame.width)
            seen = before and view.cursor_spot(len(self._rows)) is not None
            view.fit(self.size.width, wrap=self.wrap)
            if seen or not before or (self.following and view.pen.line is not None):
                self._settle(view)
            view.scroll_rows(0, height)
        self.repaint()

    def watch_has_focus(self, has_focus: bool) -> None:
        """The cursor is drawn bright with the focus, dim without."""
        super().watch_has_focus(has_focus)
        self.repaint()

    def every(self, name: str, seconds: float, call: Callable[[], None]) -> None:
        """Call again and again, unless it is done already."""
        if name not in self._repeats:
            self._repeats[name] = self.set_interval(seconds, call)

    def stop(self, name: str) -> None:
        """No more of these calls."""
        if timer := self._repeats.pop(name, None):
            timer.stop()
