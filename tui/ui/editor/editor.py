"""The editor: typing, clipboard, undo, keys and mouse over the one copy of the text.

Typing goes straight to the workspace and is painted at once; it waits for no frame. Every key
that is not the editor's bubbles, so that the bindings of the pane and the app see it.
"""

from __future__ import annotations

from functools import partial
from time import monotonic

from textual import events

from tui.core.edits.workspace import undo_stopped, undo_waits
from tui.errors import EditRefused
from tui.ui.editor import auto_indent, changes
from tui.ui.editor.brackets import Brackets, next_bracket
from tui.ui.editor.canvas import EditorCanvas
from tui.ui.editor.cells import copied
from tui.ui.editor.keys import CHANGES, COPIES, MOVES, PASTES, SCROLLS
from tui.ui.editor.mouse import EDGE_SCROLL_S, WHEEL_LINES, Drag
from tui.ui.editor.paint import gutter_width
from tui.ui.editor.session import EditorSession
from tui.ui.editor.typist import Typist
from tui.ui.editor.view import View
from tui.ui.key_order import TypedKey
from tui.ui.keymap import shown

_NOT_TYPED = ("alt+", "ctrl+", "meta+", "super+", "hyper+")
"""Keys held down that make a command of a letter; terminals send the letter along."""
_JUMP_BUDGET_S, _JUMP_PAUSE_S = 0.004, 0.01
"""A slice of the search for a bracket's partner, and the pause between two."""
_BURST_S = 0.004
"""So long keys that wait are taken one behind the other before the text is painted."""
_SIDE_STEP = 8
"""Cells a sideways turn of the wheel."""


class Editor(EditorCanvas):
    """Shows and edits one view at a time."""

    def __init__(self, session: EditorSession, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self._drag = Drag()
        self.typist = Typist()
        self._burst: set[str] | None = None
        """What the keys that are being taken did; None: none are."""

    @property
    def selected_text(self) -> str:
        """The selected text, with line ends as the clipboard wants them; empty if nothing is."""
        return "" if self.view is None else copied(self.view.cursor.selected_text)

    # -- changing the text ----------------------------------------------------------------

    def change(self, typing: changes.Typing) -> None:
        """Make the user's change, and paint it at once."""
        view = self.view
        if view is None or not typing.replacements:
            return
        self.let_go()
        try:
            self.typist.make(self.session.workspace, view, typing, monotonic())
        except EditRefused as refused:
            self._refuse(view, str(refused))
            return
        self.session.touched(view.path)
        self.moved()
        self._edited()

    def moved(self) -> None:
        """The cursor was moved: shown once for all keys that are taken together."""
        if self._burst is None:
            super().moved()
        else:
            self._burst.add("moved")

    def _edited(self) -> None:
        if self._burst is None:
            self.post_message(self.Edited())
        else:
            self._burst.add("edited")

    def undo(self, *, again: bool = False) -> None:
        """Take the user's own last edit back (or do it again); never the model's."""
        view = self.view
        if view is None:
            return
        workspace = self.session.workspace
        try:
            where = workspace.redo(view.path) if again else workspace.undo(view.path)
        except EditRefused as refused:
            self._refuse(view, str(refused))
            return
        if where is None:
            said = "Nothing to redo." if again else "Nothing of yours to undo."
            if undo_waits(workspace, view.path, again=again):
                said = "The model is writing in these lines: try again when it is done."
            self.app.notify(said, markup=False)
            return
        if undo_stopped(workspace, view.path):
            key = shown("redo" if again else "undo", "editor")
            said = f"Your edit here was changed since, and stays: {key} again goes on before it."
            self.app.notify(said, markup=False)
        self.let_go()
        self.session.touched(view.path)
        self.go(where)
        self.post_message(self.Edited())

    def _refuse(self, view: View, why: str) -> None:
        """Say once why the text stays as it is."""
        if self.typist.is_news(view.path, why):
            self.app.notify(why, severity="warning", markup=False)

    def copy(self, *, cut: bool = False) -> bool:
        """Put the selection on the clipboard (and take it out); False if there is none.

        Cutting without a selection takes the cursor's line.
        """
        view = self.view
        if view is None or not (cut or view.cursor.selection):
            return False
        text = self.selected_text or copied(changes.whole_lines(view.cursor))
        self.typist.cut_line = "" if view.cursor.selection else text
        if text:
            self.app.copy_to_clipboard(text)
        if cut:
            self.change(changes.cut(view.cursor))
        return True

    def paste(self, text: str) -> None:
        """Insert text as one edit, as it is; a line that was cut goes above the cursor's."""
        if self.view is not None and text:
            whole = text == self.typist.cut_line
            paste = changes.insert_above if whole else changes.insert
            self.change(paste(self.view.cursor, text, "paste"))

    def jump_to_partner(self) -> bool:
        """Go to the other end of a pair of brackets; False if there surely is none."""
        view = self.view
        at = None if view is None else next_bracket(view.buffer, view.cursor.position)
        if view is None or at is None:
            return False
        pair = Brackets(view.buffer, view.colours.spans)
        pair.look(at)
        if pair.advance(_JUMP_BUDGET_S) and pair.pair is not None:
            self.let_go()
            self.go(pair.pair[1])
        elif pair.pending:
            self.stop("jump")  # one that is still looked for for an earlier key
            step = partial(self._jump_on, view, pair, view.cursor.moves)
            self.every("jump", _JUMP_PAUSE_S, step)
        return pair.pair is not None or pair.pending

    def _jump_on(self, view: View, pair: Brackets, moves: int) -> None:
        """The partner is far away: look on, and go there unless the user went elsewhere."""
        if view is not self.view or view.cursor.moves != moves:
            self.stop("jump")
            return
        if pair.advance(_JUMP_BUDGET_S) and pair.pair is not None:
            self.let_go()
            self.go(pair.pair[1])
        if not pair.pending:
            self.stop("jump")

    # -- events ---------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Move, change, or let the key bubble; with it those that wait and are the text's too."""
        view = self.view
        if view is None:
            return
        burst: set[str] = set()
        self._burst = burst
        try:
            taken = self._take_key(view, event.key, event)
            until_s = monotonic() + _BURST_S
            while taken and isinstance(event, TypedKey) and monotonic() < until_s:
                if (key := event.further(_is_taken)) is None:
                    break
                self._take_key(view, key.key, key)
        finally:
            self._burst = None
            if "moved" in burst:
                self.moved()
            if "edited" in burst:
                self._edited()
        if taken:
            event.stop()
            event.prevent_default()

    def _take_key(self, view: View, key: str, event: events.Key) -> bool:
        if key in MOVES:
            move, select = MOVES[key]
            self.typist.groups.close()
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
            self.change(auto_indent.character(view.cursor, event.character))
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
        self.typist.groups.close()
        self.let_go()
        gutter = event.x < gutter_width(view.digits) - 1
        position = view.position_at(event.x, event.y)
        self._drag.press(view.cursor, position, monotonic(), shift=event.shift, line=gutter)
        self.capture_mouse()
        self.repaint()
        self.report()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the selection; beyond the edge the view scrolls on by itself."""
        if not self._drag.active or self.view is None:
            return
        event.stop()
        self._drag.x, self._drag.y = event.x, min(max(event.y, 0), self.size.height - 1)
        self._drag.aim(*self._beyond(event.x, event.y))
        if self._drag.outside or self._drag.aside:
            self.every("edge", EDGE_SCROLL_S, self._drag_on)
        else:
            self.stop("edge")
            self._drag_to(self._drag.y)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """The selection is made."""
        if self._drag.active:
            event.stop()
            self._drag.release()
            self.stop("edge")
            self.release_mouse()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll; with Shift or Ctrl to the right."""
        self._wheel(event, 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll; with Shift or Ctrl to the left."""
        self._wheel(event, -1)

    def on_mouse_scroll_right(self, event: events.MouseScrollRight) -> None:
        """Scroll sideways."""
        event.stop()
        self.scroll_cells(_SIDE_STEP)

    def on_mouse_scroll_left(self, event: events.MouseScrollLeft) -> None:
        """Scroll sideways."""
        event.stop()
        self.scroll_cells(-_SIDE_STEP)

    def _wheel(self, event: events.MouseEvent, direction: int) -> None:
        event.stop()
        if event.shift or event.ctrl:
            self.scroll_cells(direction * _SIDE_STEP)
        else:
            self.scroll_lines(direction * WHEEL_LINES)

    def _drag_on(self) -> None:
        """The mouse is held beyond the edge."""
        drag = self._drag
        if not drag.active or not (drag.outside or drag.aside):
            self.stop("edge")
            return
        rows, cells = drag.scroll()
        if rows:
            self.scroll_lines(rows)
        if cells:
            self.scroll_cells(cells)
        self._drag_to(drag.y)

    def _beyond(self, x: int, y: int) -> tuple[int, int]:
        """Rows and cells by which the mouse is beyond the text.

        Where the terminal ends the mouse gets no further: there the last row or cell counts.
        """
        width, height = self.size
        right, bottom = self.region.right, self.region.bottom
        below = height - (bottom >= self.screen.size.height)
        behind = width - (right >= self.screen.size.width)
        gutter = gutter_width(self.view.digits) if self.view is not None else 0
        left = x - gutter if self.view is not None and self.view.left else 0
        rows = y if y < 0 else max(y - below + 1, 0)
        return rows, min(left, 0) or max(x - behind + 1, 0)

    def _drag_to(self, y: int) -> None:
        if self.view is not None:
            self._drag.move(self.view.cursor, self.view.position_at(self._drag.x, y))
            self.repaint()
            self.report()


def _is_typed(key: events.Key) -> bool:
    return key.is_printable and not key.key.startswith(_NOT_TYPED)


def _is_taken(key: events.Key) -> bool:
    """True for what the editor surely takes, whatever the text is."""
    return key.key in MOVES or key.key in CHANGES or _is_typed(key)
