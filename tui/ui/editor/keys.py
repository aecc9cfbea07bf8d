"""What each key does in the editor: moves of the cursor and changes of the text.

These are the keys of every editor, so they are not in the keymap's table; what duetto adds to
them (save, find, tabs, follow) is. With Shift a move selects.
"""

from __future__ import annotations

from collections.abc import Callable

from tui.ui.editor import auto_indent, changes
from tui.ui.editor.cursor import Cursor

Move = Callable[[Cursor, int, bool], None]
"""Cursor, lines of a page, whether to select."""
Change = Callable[[Cursor, str], changes.Typing]
"""Cursor, one step of indentation."""


def _lines(count: int) -> Move:
    return lambda cursor, page, select: cursor.lines(count, select=select)


def _pages(count: int) -> Move:
    return lambda cursor, page, select: cursor.lines(count * page, select=select)


_SHIFTED: dict[str, Move] = {
    "left": lambda cursor, page, select: cursor.left(select=select),
    "right": lambda cursor, page, select: cursor.right(select=select),
    "up": _lines(-1),
    "down": _lines(1),
    "pageup": _pages(-1),
    "pagedown": _pages(1),
    "home": lambda cursor, page, select: cursor.line_start(select=select),
    "end": lambda cursor, page, select: cursor.line_end(select=select),
    "ctrl+left": lambda cursor, page, select: cursor.word_left(select=select),
    "ctrl+right": lambda cursor, page, select: cursor.word_right(select=select),
    "ctrl+home": lambda cursor, page, select: cursor.file_start(select=select),
    "ctrl+end": lambda cursor, page, select: cursor.file_end(select=select),
}


_WORD_KEYS = {
    "ctrl+left": ("alt+left", "alt+b"),
    "ctrl+right": ("alt+right", "alt+f"),
    "ctrl+shift+left": ("alt+shift+left",),
    "ctrl+shift+right": ("alt+shift+right",),
}
"""What the Option key of a Mac sends for the moves by words."""


def _with_shift(key: str) -> str:
    head, plus, last = key.rpartition("+")
    return f"{head}{plus}shift+{last}"


def _moves() -> dict[str, tuple[Move, bool]]:
    moves = {key: (move, False) for key, move in _SHIFTED.items()}
    moves |= {_with_shift(key): (move, True) for key, move in _SHIFTED.items()}
    for word, others in _WORD_KEYS.items():
        moves |= dict.fromkeys(others, moves[word])
    moves["ctrl+e"] = moves["end"]
    moves["ctrl+a"] = (lambda cursor, page, select: cursor.select_all(), False)
    moves["ctrl+l"] = (lambda cursor, page, select: cursor.select_line(), False)
    return moves


MOVES: dict[str, tuple[Move, bool]] = _moves()
"""Key -> the move and whether it selects."""

CHANGES: dict[str, Change] = {
    "enter": auto_indent.newline,
    "tab": changes.indent_lines,
    "shift+tab": changes.dedent_lines,
    "backspace": changes.backspace,
    "shift+backspace": changes.backspace,
    "ctrl+h": changes.backspace,  # what some terminals send for Backspace
    "delete": lambda cursor, indent: changes.delete(cursor),
    "ctrl+backspace": lambda cursor, indent: changes.delete_word_left(cursor),
    "alt+backspace": lambda cursor, indent: changes.delete_word_left(cursor),
    "ctrl+delete": lambda cursor, indent: changes.delete_word_right(cursor),
    "alt+delete": lambda cursor, indent: changes.delete_word_right(cursor),
    "alt+d": lambda cursor, indent: changes.delete_word_right(cursor),
    "ctrl+k": lambda cursor, indent: changes.delete_to_line_end(cursor),
    "ctrl+u": lambda cursor, indent: changes.delete_to_line_start(cursor),
    "super+backspace": lambda cursor, indent: changes.delete_to_line_start(cursor),
    "ctrl+shift+k": lambda cursor, indent: changes.delete_lines(cursor),
    "ctrl+enter": auto_indent.line_below,
    "ctrl+shift+enter": auto_indent.line_above,
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
