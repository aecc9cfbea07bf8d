from __future__ import annotations

from collections.abc import Callable

import pytest

from tui.core.text.buffer import Buffer, Position
from tui.ui.editor import auto_indent, changes, line_changes
from tui.ui.editor.cursor import Cursor

Key = Callable[[Cursor], changes.Typing]
FOUR = "    "


def press(text: str, key: Key, *ends: Position) -> str:
    """The text after a key, the cursor (or the selection) being at ``ends``."""
    cursor = Cursor(Buffer("a.py", text))
    cursor.place(ends[0])
    cursor.place(ends[-1], select=True)
    for edit in key(cursor).replacements:
        cursor.buffer.replace(edit.start, edit.end, edit.text)
    return cursor.buffer.text()


def enter(cursor: Cursor) -> changes.Typing:
    return auto_indent.newline(cursor, FOUR)


def tab(cursor: Cursor) -> changes.Typing:
    return changes.indent_lines(cursor, FOUR)


def back_tab(cursor: Cursor) -> changes.Typing:
    return changes.dedent_lines(cursor, FOUR)


def backspace(cursor: Cursor) -> changes.Typing:
    return changes.backspace(cursor, FOUR)


@pytest.mark.parametrize(
    ("text", "key", "ends", "result"),
    [
        ("  a", enter, [(0, 3)], "  a\n  "),
        ("if x:", enter, [(0, 5)], "if x:\n    "),
        ("f(  # note", enter, [(0, 10)], "f(  # note\n    "),
        ("    a", enter, [(0, 2)], "  \n    a"),
        ("abc", enter, [(0, 1), (0, 2)], "a\nc"),
        ("a\r\nb", enter, [(1, 1)], "a\r\nb\r\n"),
        ("ab", tab, [(0, 1)], "a   b"),
        ("a\n\nb", tab, [(0, 0), (2, 1)], "    a\n\n    b"),
        ("a\nb\nc", tab, [(0, 0), (2, 0)], "    a\n    b\nc"),
        ("      a\n\tb", back_tab, [(0, 0), (1, 1)], "  a\nb"),
        ("  a", back_tab, [(0, 3)], "a"),
        ("a", back_tab, [(0, 0)], "a"),
        ("      x", backspace, [(0, 6)], "    x"),
        ("a\nb", backspace, [(1, 0)], "ab"),
        ("a\r\nb", backspace, [(1, 0)], "ab"),
        ("a", backspace, [(0, 0)], "a"),
        ("👩\u200d👧", backspace, [(0, 3)], ""),
        ("abc", backspace, [(0, 0), (0, 2)], "c"),
        ("e\u0301x", changes.delete, [(0, 0)], "x"),
        ("a\nb", changes.delete, [(0, 1)], "ab"),
        ("one two", changes.delete_word_left, [(0, 7)], "one "),
        ("one two", changes.delete_word_right, [(0, 3)], "one"),
        ("a\nb\nc", line_changes.delete_lines, [(1, 0)], "a\nc"),
        ("a\nb", line_changes.delete_lines, [(1, 0)], "a"),
        ("a", line_changes.delete_lines, [(0, 1)], ""),
    ],
)
def test_keys(text: str, key: Key, ends: list[Position], result: str) -> None:
    assert press(text, key, *ends) == result


def test_a_paste_takes_the_line_endings_of_the_file() -> None:
    result = press("a\r\nb", lambda cursor: changes.insert(cursor, "x\ny\r\nz"), (1, 0))
    assert result == "a\r\nx\r\ny\r\nzb"


@pytest.mark.parametrize(
    ("text", "path", "indent"),
    [
        ("a:\n  b\n", "a.py", "  "),
        ("a\n\tb\n", "a.py", "\t"),
        ("a\n    b\n        c\n", "a.js", "    "),
        ("", "a.py", "    "),
        ("", "main.go", "\t"),
    ],
)
def test_indentation_is_the_files_own(text: str, path: str, indent: str) -> None:
    assert changes.indentation(Buffer(path, text)) == indent
