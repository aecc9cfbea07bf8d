"""What one undo takes back: by word, pause, kind and move."""

from __future__ import annotations

import pytest

from tests.support.fake_session import FakeWorkspace
from tui.core.text.buffer import Change, Position
from tui.errors import EditRefused
from tui.ui.editor import auto_indent, changes
from tui.ui.editor.typist import Typist
from tui.ui.editor.undo_groups import PAUSE_S
from tui.ui.editor.view import View


class Desk:
    """Typing into one file, with a clock that the test turns."""

    def __init__(self, text: str = "") -> None:
        self.workspace = FakeWorkspace({"a.py": text})
        self.view = View(self.workspace.open("a.py"))
        self.typist = Typist()
        self.now_s = 0.0
        self.view.cursor.file_end()

    def make(self, typing: changes.Typing) -> None:
        self.typist.make(self.workspace, self.view, typing, self.now_s)
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


def test_a_step_is_a_word() -> None:
    desk = Desk()
    desk.types("one two.go  x")
    assert desk.undone() == ["one two.go  ", "one ", ""]


def test_a_pause_ends_a_step() -> None:
    desk = Desk()
    desk.types("on")
    desk.now_s += PAUSE_S
    desk.types("ce")
    assert desk.undone() == ["on", ""]


def test_a_new_line_and_another_kind_end_a_step() -> None:
    desk = Desk()
    desk.types("ab\ncd")
    for _ in range(2):
        desk.make(changes.backspace(desk.view.cursor, "    "))
    desk.types("x")
    assert desk.undone() == ["ab\n", "ab\ncd", "ab\n", "ab", ""]


def test_a_move_and_a_save_end_a_step() -> None:
    desk = Desk()
    desk.types("ab")
    desk.typist.groups.close()
    desk.types("cd")
    assert desk.undone() == ["ab", ""]


def test_each_paste_is_a_step() -> None:
    desk = Desk()
    for _ in range(2):
        desk.make(changes.insert(desk.view.cursor, "x", "paste"))
    assert desk.undone() == ["x", ""]


def test_typing_over_a_selection_is_one_step() -> None:
    desk = Desk("one two")
    desk.types("x")
    desk.view.cursor.select((0, 0), (0, 3))
    desk.types("abc")
    assert desk.undone() == ["one twox", "one two"]


def test_indenting_lines_is_one_step_and_each_time_one() -> None:
    desk = Desk("a\nb")
    desk.view.cursor.select_all()
    for _ in range(2):
        desk.make(changes.indent_lines(desk.view.cursor, "  "))
    assert desk.undone() == ["  a\n  b", "a\nb"]


class LockedWorkspace(FakeWorkspace):
    """Nothing may be edited."""

    def edit(self, path: str, start: Position, end: Position, text: str, group: str = "") -> Change:
        raise EditRefused("a.py is read-only.")


def test_a_refusal_is_news_once() -> None:
    desk = Desk("a")
    desk.workspace = LockedWorkspace({"a.py": "a"})
    with pytest.raises(EditRefused):
        desk.types("x")
    typist = desk.typist
    assert typist.is_news("a.py", "a.py is read-only.")
    assert not typist.is_news("a.py", "a.py is read-only.")
    assert typist.is_news("b.py", "b.py is read-only.")
    assert desk.view.buffer.text() == "a"
