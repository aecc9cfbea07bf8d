"""Keys that change text, whole lines, and what one undo takes back."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.fake_session import FakeWorkspace, editing_of
from tests.support.tables import each
from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Position
from tui.ui.editor import auto_indent, changes
from tui.ui.editor.cursor import Cursor
from tui.ui.editor.view import View

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


@each(
    "text, key, ends, result",
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
        ("a\nb\nc", changes.delete_lines, [(1, 0)], "a\nc"),
        ("a\nb", changes.delete_lines, [(1, 0)], "a"),
        ("a", changes.delete_lines, [(0, 1)], ""),
    ],
)
def test_keys(text: str, key: Key, ends: list[Position], result: str) -> None:
    assert press(text, key, *ends) == result


@settings(max_examples=75)
@given(
    st.lists(st.text("ab", max_size=2), min_size=1, max_size=7),
    st.lists(st.integers(0, 8), min_size=2, max_size=2),
    st.lists(st.sampled_from([-1, 1]), max_size=8),
)
def test_moving_only_reorders(lines: list[str], ends: list[int], steps: list[int]) -> None:
    workspace = FakeWorkspace({"a": "\n".join(lines)})
    view, editing = View(workspace.open("a")), editing_of(workspace)
    view.cursor.select((min(ends), 0), (max(ends), 1))
    before = view.cursor.selected_text
    for step in steps:
        typing = changes.move(view.cursor, step)
        if typing.replacements:
            editing.make(view, typing, 0.0)
        assert sorted(view.buffer.lines) == sorted(lines)
        assert view.cursor.selected_text.rstrip("\n") == before.rstrip("\n")
    while workspace.undo("a") is not None:
        pass
    assert view.buffer.lines == lines


class Desk:
    """Typing into one file, with a clock that the test turns."""

    def __init__(self, text: str = "") -> None:
        self.workspace = FakeWorkspace({"a.py": text})
        self.view = View(self.workspace.open("a.py"))
        self.editing = editing_of(self.workspace)
        self.now_s = 0.0
        self.view.cursor.file_end()

    def make(self, typing: changes.Typing) -> None:
        self.editing.make(self.view, typing, self.now_s)
        self.now_s += 0.1

    def types(self, text: str) -> None:
        for character in text:
            if character == "\n":
                self.make(auto_indent.newline(self.view.cursor, "    "))
            else:
                self.make(auto_indent.character(self.view.cursor, character))

    def undone(self) -> list[str]:
        """The texts that undo goes through."""
        seen = []
        while (where := self.workspace.undo("a.py")) is not None:
            self.view.cursor.place(where)
            seen.append(self.view.buffer.text())
        return seen


def test_indenting_lines_is_one_step_and_each_time_one() -> None:
    desk = Desk("a\nb")
    desk.view.cursor.select_all()
    for _ in range(2):
        desk.make(changes.indent_lines(desk.view.cursor, "  "))
    assert desk.undone() == ["  a\n  b", "a\nb"]
