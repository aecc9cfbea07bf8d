"""The editor: a line-API widget over the one copy of the text; typing, mouse, scrolling, painting.

It scrolls by itself (the top line is a mark in the buffer), so neither a landing line nor a
keystroke costs a layout. Every repaint asks the view for its rows and paints those that
differ from what is on the screen: the cost depends on the height of the widget, not of the file.

Typing goes straight to the workspace and is painted at once; it waits for no frame. Every key
that is not the editor's bubbles, so that the bindings of the pane and the app see it.
"""

from __future__ import annotations

from functools import partial
from time import monotonic

from textual import events
from textual.geometry import Offset, Region
from textual.message import Message
from textual.strip import Strip

from tui.core.text.change_set import Position
from tui.engine.session import Session
from tui.ui import theme
from tui.ui.editor import changes
from tui.ui.editor.background import Background, Repeats
from tui.ui.editor.cells import copied
from tui.ui.editor.cursor import EDGE_SCROLL_S, WHEEL_LINES, Drag
from tui.ui.editor.editing import CHANGES, COPIES, MOVES, PASTES, SCROLLS, Editing
from tui.ui.editor.note_marks import lay_notes
from tui.ui.editor.overview import lay_over
from tui.ui.editor.paint import EditorRow, RowFrame, RowPainter, gutter_width
from tui.ui.editor.view import View
from tui.ui.key_queue import TypedKey
from tui.ui.widgets.painted import PaintedWidget

_NOT_TYPED = ("alt+", "ctrl+", "meta+", "super+", "hyper+")
"""Keys held down that make a command of a letter; terminals send the letter along."""
_BURST_S = 0.004
"""So long keys that wait are taken one behind the other before the text is painted."""
_SIDE_STEP = 8
"""Cells a sideways turn of the wheel."""
_NO_FRAME = RowFrame(0, 0, 0)


class Follow:
    """Whether the landing edit is followed: ends when the user scrolls or types."""

    def __init__(self) -> None:
        self.on = True
        self.resumes = False
        """The user let go of it while no answer came: the next turn is followed again."""

    def let_go(self, *, busy: bool) -> None:
        """The user goes elsewhere: in an answer for good, else until the next turn."""
        self.resumes = (self.resumes or self.on) and not busy
        self.on = False


class Editor(PaintedWidget, can_focus=True):
    """Shows and edits one view at a time."""

    class Moved(Message):
        """The cursor, the scroll position or the text changed."""

    class Edited(Message):
        """The user changed the text."""

    def __init__(
        self, session: Session, follow: Follow | None = None, *, id: str | None = None
    ) -> None:
        """``follow`` is shared by two editors beside each other."""
        super().__init__(id=id)
        self.view: View | None = None
        self.session = session
        self.follow = Follow() if follow is None else follow
        self.leads = True
        """Of two editors this is the one in which the landing edit is followed."""
        self.wrap = False
        """Lines that are longer than the view go on in the next row."""
        self.hidden_to: int | None = None
        """Removed lines are hidden, of hunks up to this id in any case; None: they are shown."""
        self.aside = False
        """The user is in the other one of two editors: where this one is, is not told."""
        self.repeats = Repeats(self.set_interval)
        self.background = Background(self, session, self.repeats)
        self.editing = Editing(session, self._say)
        self._painter = RowPainter(theme.active())
        self._rows: list[EditorRow] = []
        self._frame = _NO_FRAME
        self._looked = False
        """What was shown last is a hunk under review, not the landing edit."""
        self._drag = Drag()
        self._burst: set[str] | None = None
        """What the keys that are being taken did; None: none are."""

    @property
    def selected_text(self) -> str:
        """The selected text, as the clipboard wants it; empty if nothing is (see `TurnActions`)."""
        return "" if self.view is None else copied(self.view.cursor.selected_text)

    # -- painting -------------------------------------------------------------------------

    @property
    def height(self) -> int:
        """Rows on the screen."""
        return self.size.height

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
                self._rows, self._frame = [], _NO_FRAME
                self.refresh()
            return
        view.removed.hide(self.hidden_to)
        view.fit(width, wrap=self.wrap)
        if self.following:
            # Struck lines that are gone may have left the view beyond the end.
            view.scroll_rows(0, height)
        workspace, background = self.session.workspace, self.background
        hints = background.hunks.hints(workspace, view, height)
        kinds = partial(workspace.decorations, removed=not view.removed.hidden)
        rows = view.rows(height, self.has_focus, kinds)
        view.keep_struck()
        spot = view.cursor_spot(height)
        lay_over(rows, width, hints, spot)
        background.ghost.look()
        background.ghost.lay_over(rows, view, width, spot)
        lay_notes(rows, view, width, spot, workspace.notes)
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
        background.after_repaint(view, calm=self.app.animation_level == "none")

    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        if self._painter.palette is not theme.active():
            self._painter = RowPainter(theme.active())
        row = self._rows[y] if y < len(self._rows) else EditorRow()
        frame = self._frame if self._rows else RowFrame(self.size.width, 0, 0)
        return self._painter.strip(row, frame)

    def coloured(self, first: int, last: int) -> None:
        """Lines have other colours now: paint those that are in sight."""
        if self.view is not None:
            shown = self.view.shown(self.size.height)
            if first < shown.stop and last >= shown.start:
                self.repaint()

    def on_resize(self) -> None:
        """Other rows fit now: the cursor, if it was in sight, or the landing edit stays so.

        The first rows show what was gone to before there were any.
        """
        view, height = self.view, self.size.height
        if view is not None and height:
            before = bool(self._frame.width)
            seen = before and view.cursor_spot(len(self._rows)) is not None
            view.fit(self.size.width, wrap=self.wrap)
            line = view.written_line if self.following else None
            if line is not None and not self._looked:
                view.reveal(line, height)
            elif seen or not before or line is not None:
                view.reveal_cursor(*self.size)
            view.scroll_rows(0, height)
        self.repaint()
        self.tell_moved()

    def watch_has_focus(self, has_focus: bool) -> None:
        """The cursor is drawn bright with the focus, dim without."""
        super().watch_has_focus(has_focus)
        self.repaint()

    # -- moving ---------------------------------------------------------------------------

    @property
    def following(self) -> bool:
        """The landing edit is followed, here."""
        return self.follow.on and self.leads

    def let_go(self) -> None:
        """The user goes elsewhere than the landing edit."""
        if self.leads:
            self.follow.let_go(busy=self.session.status.busy)

    def follow_to(self, line: int) -> None:
        """The model wrote in this line: keep it in sight."""
        self._looked = False
        if self.view is not None:
            self.view.wrote(line)
            if self.following and self.size.height:
                self.view.reveal(line, self.size.height)

    def go(self, position: Position, *, select_to: Position | None = None) -> None:
        """The user goes there (and selects): in the middle of the view if it was out of sight."""
        if (view := self.view) is None:
            return
        self.let_go()
        if select_to is None:
            view.cursor.place(position)
        else:
            view.cursor.select(position, select_to)
        height = self.size.height
        if height and position[0] not in view.shown(height):
            view.center(view.cursor.position, height)
        self.moved()

    def look(self, first: int, last: int) -> None:
        """Show these lines to a user who reviews elsewhere; the landing edit is still followed."""
        if (view := self.view) is None:
            return
        self._looked = True
        view.cursor.place(view.buffer.clamp((first, 0)))
        if height := self.size.height:
            view.show_lines(first, last, height)
        self.moved()

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

    def scroll_cells(self, cells: int) -> None:
        """The user scrolls sideways."""
        if self.view is not None:
            self.view.scroll_sideways(cells, *self.size)
            self.repaint()

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

    def moved(self) -> None:
        """The cursor was moved: shown and told once for all keys that are taken together."""
        if self._burst is not None:
            self._burst.add("moved")
        elif self.view is not None:
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
        self.tell_moved()

    def tell_moved(self) -> None:
        """What is said of the view elsewhere is to be looked at again."""
        self.post_message(self.Moved())

    # -- changing the text ----------------------------------------------------------------

    def change(self, typing: changes.Typing) -> None:
        """Make the user's change, and paint it at once."""
        view = self.view
        if view is None or not typing.replacements:
            return
        self.let_go()
        if self.editing.make(view, typing, monotonic()):
            self.moved()
            self._edited()

    def _edited(self) -> None:
        if self._burst is None:
            self.post_message(self.Edited())
        else:
            self._burst.add("edited")

    def undo(self, *, again: bool = False) -> None:
        """Take the user's own last edit back (or do it again); never the model's."""
        if self.view is not None:
            where = self.editing.undo(self.view, again=again)
            if where is not None:
                self.go(where)
                self.post_message(self.Edited())

    def copy(self, *, cut: bool = False) -> bool:
        """Put the selection on the clipboard (and take it out); False if there is none.

        Cutting without a selection takes the cursor's line.
        """
        view = self.view
        if view is None or not (cut or view.cursor.selection):
            return False
        if text := self.editing.copy(view.cursor):
            self.app.copy_to_clipboard(text)
        if cut:
            self.change(changes.cut(view.cursor))
        return True

    def paste(self, text: str) -> None:
        """Insert text as one edit, as it is; a line that was cut goes above the cursor's."""
        if self.view is not None and text:
            self.change(self.editing.paste(self.view.cursor, text))

    def _say(self, words: str, warning: bool) -> None:
        self.app.notify(words, severity="warning" if warning else "information", markup=False)

    # -- keys and mouse -------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Move, change, or let the key bubble; with it those that wait and are the text's too."""
        view = self.view
        if view is None:
            return
        burst: set[str] = set()
        self._burst = burst
        try:
            taken = self._take_key(view, event)
            until_s = monotonic() + _BURST_S
            while taken and isinstance(event, TypedKey) and monotonic() < until_s:
                if (key := event.further(_is_taken)) is None:
                    break
                self._take_key(view, key)
        finally:
            self._burst = None
            if "moved" in burst:
                self.moved()
            if "edited" in burst:
                self._edited()
        if taken:
            event.stop()
            event.prevent_default()

    def _take_key(self, view: View, event: events.Key) -> bool:
        key = event.key
        if key in MOVES:
            move, select = MOVES[key]
            self.editing.end_step()
            self.let_go()
            move(view.cursor, max(self.size.height - 2, 1), select)
            self.moved()
        elif key in CHANGES:
            self.change(CHANGES[key](view.cursor, view.indent))
        elif key in SCROLLS:
            self.scroll_lines(SCROLLS[key])
        elif key in COPIES:
            return self.copy(cut=COPIES[key])
        elif key in PASTES:
            self.paste(self.app.clipboard)
        elif _is_typed(event) and event.character is not None:
            self.change(changes.character(view.cursor, event.character))
        else:
            return False
        return True

    def on_paste(self, event: events.Paste) -> None:
        """A bracketed paste of the terminal."""
        event.stop()
        self.paste(event.text)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Place the cursor, or select a word or line; with Shift extend the selection."""
        view = self.view
        if view is None or event.button != 1:
            return
        event.stop()
        self.screen.set_focus(self)
        self.editing.end_step()
        self.let_go()
        gutter = event.x < gutter_width(view.digits) - 1
        position = view.position_at(event.x, event.y)
        self._drag.press(view.cursor, position, monotonic(), shift=event.shift, line=gutter)
        self.capture_mouse()
        self.repaint()
        self.report()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the selection; beyond the edge the view scrolls on by itself."""
        drag = self._drag
        if not drag.active or self.view is None:
            return
        event.stop()
        drag.x, drag.y = event.x, min(max(event.y, 0), self.size.height - 1)
        drag.aim(*self._beyond(self.view, event.x, event.y))
        if drag.is_beyond:
            self.repeats.every("edge", EDGE_SCROLL_S, self._drag_on)
        else:
            self.repeats.stop("edge")
            self._drag_to(self.view)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """The selection is made."""
        if self._drag.active:
            event.stop()
            self._drag.release()
            self.repeats.stop("edge")
            self.release_mouse()

    def wheel(self, steps: int, *, sideways: bool) -> None:
        """Scroll."""
        if sideways:
            self.scroll_cells(steps * _SIDE_STEP)
        else:
            self.scroll_lines(steps * WHEEL_LINES)

    def on_mouse_scroll_right(self, event: events.MouseScrollRight) -> None:
        """Scroll sideways."""
        event.stop()
        self.scroll_cells(_SIDE_STEP)

    def on_mouse_scroll_left(self, event: events.MouseScrollLeft) -> None:
        """Scroll sideways."""
        event.stop()
        self.scroll_cells(-_SIDE_STEP)

    def _drag_on(self) -> None:
        """The mouse is held beyond the edge."""
        if self.view is None or not (self._drag.active and self._drag.is_beyond):
            self.repeats.stop("edge")
            return
        rows, cells = self._drag.scroll()
        if rows:
            self.scroll_lines(rows)
        if cells:
            self.scroll_cells(cells)
        self._drag_to(self.view)

    def _beyond(self, view: View, x: int, y: int) -> tuple[int, int]:
        """Rows and cells by which the mouse is beyond the text.

        Where the terminal ends the mouse gets no further: there the last row or cell counts.
        """
        (width, height), region, screen = self.size, self.region, self.screen.size
        below = height - (region.bottom >= screen.height)
        behind = width - (region.right >= screen.width)
        left = x - gutter_width(view.digits) if view.left else 0
        rows = y if y < 0 else max(y - below + 1, 0)
        return rows, min(left, 0) or max(x - behind + 1, 0)

    def _drag_to(self, view: View) -> None:
        self._drag.move(view.cursor, view.position_at(self._drag.x, self._drag.y))
        self.repaint()
        self.report()


def _is_typed(key: events.Key) -> bool:
    return key.is_printable and not key.key.startswith(_NOT_TYPED)


def _is_taken(key: events.Key) -> bool:
    """True for what the editor surely takes, whatever the text is."""
    return key.key in MOVES or key.key in CHANGES or _is_typed(key)
