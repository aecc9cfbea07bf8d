"""What keys do in the editor, and the user's changes on their way into the workspace.

The keys are those of every editor, so they are not in the keymap's table; what duetto adds to them
(save, find, tabs, follow) is. With Shift a move selects.

A step of undo ends where an editor's user expects it: at a pause, at the next word, at another kind
of change, at a move of the cursor and at a save. The document joins the edits of one group that
adjoin; here is where the groups get their names. No time is read here.
"""

from __future__ import annotations

from collections.abc import Callable

from tui.core.document.workspace import undo_stopped, undo_waits
from tui.core.text.change_set import Position
from tui.engine.session import Session
from tui.errors import EditRefused
from tui.ui.editor import changes
from tui.ui.editor.cells import copied
from tui.ui.editor.cursor import Cursor, word_after, word_before
from tui.ui.editor.view import View
from tui.ui.keymap import shown

Move = Callable[[Cursor, int, bool], None]
"""Cursor, lines of a page, whether to select."""
Change = Callable[[Cursor, str], changes.Typing]
"""Cursor, one step of indentation."""


def _lines(count: int) -> Move:
    return lambda cursor, page, select: cursor.lines(count, select=select)


def _pages(count: int) -> Move:
    return lambda cursor, page, select: cursor.lines(count * page, select=select)


def _place(place_of: Callable[[Cursor], Position]) -> Move:
    return lambda cursor, page, select: cursor.place(place_of(cursor), select=select)


_SHIFTED: dict[str, Move] = {
    "left": lambda cursor, page, select: cursor.left(select=select),
    "right": lambda cursor, page, select: cursor.right(select=select),
    "up": _lines(-1),
    "down": _lines(1),
    "pageup": _pages(-1),
    "pagedown": _pages(1),
    "home": lambda cursor, page, select: cursor.line_start(select=select),
    "end": lambda cursor, page, select: cursor.line_end(select=select),
    "ctrl+left": _place(lambda cursor: word_before(cursor.buffer, cursor.position)),
    "ctrl+right": _place(lambda cursor: word_after(cursor.buffer, cursor.position)),
    "ctrl+home": _place(lambda cursor: (0, 0)),
    "ctrl+end": _place(lambda cursor: cursor.buffer.end),
}


_WORD_KEYS = {
    "ctrl+left": ("alt+left", "alt+b"),
    "ctrl+right": ("alt+right", "alt+f"),
    "ctrl+shift+left": ("alt+shift+left",),
    "ctrl+shift+right": ("alt+shift+right",),
}
"""What the Option key of a Mac sends for the moves by words."""


def _moves() -> dict[str, tuple[Move, bool]]:
    moves = {key: (move, False) for key, move in _SHIFTED.items()}
    for key, move in _SHIFTED.items():
        head, plus, last = key.rpartition("+")
        moves[f"{head}{plus}shift+{last}"] = (move, True)
    for word, others in _WORD_KEYS.items():
        moves |= dict.fromkeys(others, moves[word])
    moves["ctrl+e"] = moves["end"]
    moves["ctrl+a"] = (lambda cursor, page, select: cursor.select_all(), False)
    moves["ctrl+l"] = (lambda cursor, page, select: cursor.select_line(), False)
    return moves


MOVES: dict[str, tuple[Move, bool]] = _moves()
"""Key -> the move and whether it selects."""

CHANGES: dict[str, Change] = {
    "enter": changes.newline,
    "tab": changes.indent_lines,
    "shift+tab": changes.dedent_lines,
    # Ctrl+H is what some terminals send for Backspace.
    **dict.fromkeys(("backspace", "shift+backspace", "ctrl+h"), changes.backspace),
    "delete": changes.delete,
    **dict.fromkeys(("ctrl+backspace", "alt+backspace"), changes.delete_word_left),
    **dict.fromkeys(("ctrl+delete", "alt+delete", "alt+d"), changes.delete_word_right),
    "ctrl+k": changes.delete_to_line_end,
    **dict.fromkeys(("ctrl+u", "super+backspace"), changes.delete_to_line_start),
    "ctrl+shift+k": lambda cursor, indent: changes.delete_lines(cursor),
    "ctrl+enter": changes.line_below,
    "ctrl+shift+enter": changes.line_above,
}
"""Key -> what it does to the text."""

SCROLLS: dict[str, int] = {"ctrl+up": -1, "ctrl+down": 1}
"""Key -> lines that the view moves, the cursor staying."""

COPIES: dict[str, bool] = {
    **dict.fromkeys(("ctrl+c", "super+c", "ctrl+insert"), False),
    **dict.fromkeys(("ctrl+x", "super+x", "shift+delete"), True),
}
"""Key -> whether what it copies is taken out of the text."""
PASTES = frozenset({"ctrl+v", "super+v", "shift+insert"})

PAUSE_S = 1.5
"""Who stopped for so long begins something new."""
_JOINING = frozenset({"type", "backspace", "delete", "word-left", "word-right", "line", "indent"})
"""Kinds of which several keys are one step; all others are a step each."""
_WHOLE = frozenset({"move-lines"})
"""Kinds whose edits make sense together only: one puts in what another took out."""


class Editing:
    """Makes the changes of one editor: typing, undo, clipboard."""

    def __init__(self, session: Session, say: Callable[[str, bool], None]) -> None:
        """``say`` tells the user something; True: it is a warning."""
        self._session = session
        self._say = say
        self._groups = 0
        """Groups of undo that were begun."""
        self._kind = ""
        """The kind of the last change; empty: the next one begins a group."""
        self._last_s = float("-inf")
        self._after_blank = False
        self._cut_line = ""
        """The line on the clipboard that was cut as a whole; empty if something else is."""
        self._refused: tuple[str, str] | None = None
        """The refusal that the user has read."""

    def end_step(self) -> None:
        """What is typed next is a step of undo of its own."""
        self._kind = ""

    def make(self, view: View, typing: changes.Typing, now_s: float) -> bool:
        """Change the text and place the cursor; False if that is refused, which is said once."""
        cursor, edit = view.cursor, self._session.workspace.edit
        group = self._group(typing, now_s)
        selection = cursor.selection
        try:
            for item in typing.replacements:
                done = edit(view.path, item.start, item.end, item.text, group)
        except EditRefused as refused:
            self._refuse(view, str(refused))
            return False
        self._refused = None
        cursor.moves += 1  # wherever it stays
        if typing.goes_to is not None:
            cursor.select(*typing.goes_to)
        elif not typing.keep_selection:
            cursor.place(done.new_end)
        elif selection is not None and selection[0][1] == 0 and (now := cursor.selection):
            cursor.select((selection[0][0], 0), now[1])
        self._session.touched(view.path)
        return True

    def undo(self, view: View, *, again: bool) -> Position | None:
        """Take the user's own last edit back (or do it again); never the model's.

        Returns where that was; None: there is nothing, which is said.
        """
        workspace, path = self._session.workspace, view.path
        try:
            where = workspace.redo(path) if again else workspace.undo(path)
        except EditRefused as refused:
            self._refuse(view, str(refused))
            return None
        if where is None:
            if undo_waits(workspace, path, again=again):
                said = "The model is writing in these lines: try again when it is done."
            else:
                said = "Nothing to redo." if again else "Nothing of yours to undo."
            self._say(said, False)
            return None
        if undo_stopped(workspace, path):
            key = shown("redo" if again else "undo", "editor")
            said = f"That text has changed since, so it stays: {key} again skips it."
            self._say(said, False)
        self._session.touched(path)
        return where

    def copy(self, cursor: Cursor) -> str:
        """What Copy and Cut put on the clipboard; without a selection the cursor's line."""
        text = copied(cursor.selected_text or changes.whole_lines(cursor))
        self._cut_line = "" if cursor.selection else text
        return text

    def paste(self, cursor: Cursor, text: str) -> changes.Typing:
        """Text as it is, as one edit; a line that was cut as a whole goes above the cursor's."""
        insert = changes.insert_above if text == self._cut_line else changes.insert
        return insert(cursor, text, "paste")

    def _group(self, typing: changes.Typing, now_s: float) -> str:
        """The group of a change that is made at ``now_s`` (seconds of any steady clock)."""
        if not self._goes_on(typing, now_s):
            self._groups += 1
        self._kind = typing.group
        self._last_s = now_s
        text = typing.replacements[-1].text if typing.replacements else ""
        self._after_blank = text[-1:].isspace()
        # With a colon the edits of one action join wherever they are (`History.record`).
        between = ":" if len(typing.replacements) > 1 else " "
        if typing.group in _WHOLE:
            between = "::"
        return f"{typing.group}{between}{self._groups}"

    def _goes_on(self, typing: changes.Typing, now_s: float) -> bool:
        if typing.group != self._kind or typing.group not in _JOINING:
            return False
        if now_s - self._last_s >= PAUSE_S or len(typing.replacements) != 1:
            return False
        if typing.group != "type":
            return True
        item = typing.replacements[0]
        begins_word = self._after_blank and not item.text[:1].isspace()
        return item.start == item.end and not begins_word

    def _refuse(self, view: View, why: str) -> None:
        """Say why the text stays as it is; a held key complains once."""
        if self._refused != (view.path, why):
            self._refused = (view.path, why)
            self._say(why, True)
