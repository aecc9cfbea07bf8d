"""Keys that change text, whole lines, and what one undo takes back."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.fake_session import FakeWorkspace, editing_of
from tests.support.tables import each
from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Position
from tui.ui.editor import changes
from tui.ui.editor.changes import Typing
from tui.ui.editor.cursor import Cursor
from tui.ui.editor.editing import CHANGES
from tui.ui.editor.view import View

FOUR = "    "


def press(text: str, key: str, *ends: Position) -> str:
    """The text after a key, the cursor (or the selection) being at ``ends``."""
    cursor = Cursor(Buffer("a.py", text))
    cursor.place(ends[0])
    cursor.place(ends[-1], select=True)
    for edit in CHANGES[key](cursor, FOUR).replacements:
        cursor.buffer.replace(edit.start, edit.end, edit.text)
    return cursor.buffer.text()


@each(
    "text, key, ends, result",
    [
        ("  a", "enter", [(0, 3)], "  a\n  "),
        ("if x:", "enter", [(0, 5)], "if x:\n    "),
        ("f(  # note", "enter", [(0, 10)], "f(  # note\n    "),
        ("    a", "enter", [(0, 2)], "  \n    a"),
        ("abc", "enter", [(0, 1), (0, 2)], "a\nc"),
        ("a\r\nb", "enter", [(1, 1)], "a\r\nb\r\n"),
        ("ab", "tab", [(0, 1)], "a   b"),
        ("a\n\nb", "tab", [(0, 0), (2, 1)], "    a\n\n    b"),
        ("a\nb\nc", "tab", [(0, 0), (2, 0)], "    a\n    b\nc"),
        ("      a\n\tb", "shift+tab", [(0, 0), (1, 1)], "  a\nb"),
        ("  a", "shift+tab", [(0, 3)], "a"),
        ("a", "shift+tab", [(0, 0)], "a"),
        ("      x", "backspace", [(0, 6)], "    x"),
        ("a\nb", "backspace", [(1, 0)], "ab"),
        ("a\r\nb", "backspace", [(1, 0)], "ab"),
        ("a", "backspace", [(0, 0)], "a"),
        ("👩\u200d👧", "backspace", [(0, 3)], ""),
        ("abc", "backspace", [(0, 0), (0, 2)], "c"),
        ("e\u0301x", "delete", [(0, 0)], "x"),
        ("a\nb", "delete", [(0, 1)], "ab"),
        ("one two", "ctrl+backspace", [(0, 7)], "one "),
        ("one two", "alt+d", [(0, 3)], "one"),
        ("a\nb\nc", "ctrl+shift+k", [(1, 0)], "a\nc"),
        ("a\nb", "ctrl+shift+k", [(1, 0)], "a"),
        ("a", "ctrl+shift+k", [(0, 1)], ""),
    ],
)
def test_keys(text: str, key: str, ends: list[Position], result: str) -> None:
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
        self.view.cursor.place(self.view.buffer.end)

    def make(self, typing: changes.Typing) -> None:
        self.editing.make(self.view, typing, self.now_s)
        self.now_s += 0.1

    def types(self, text: str) -> None:
        for character in text:
            if character == "\n":
                self.make(changes.newline(self.view.cursor, "    "))
            else:
                self.make(changes.character(self.view.cursor, character))

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


def at_the_bar(text: str, path: str) -> Cursor:
    """A cursor where the text has a ``|``."""
    head, _, tail = text.partition("|")
    cursor = Cursor(Buffer(path, head + tail))
    rows = head.split("\n")
    cursor.place((len(rows) - 1, len(rows[-1])))
    return cursor


def with_bar(cursor: Cursor, typing: Typing) -> str:
    done: Position = cursor.position
    for edit in typing.replacements:
        done = cursor.buffer.replace(edit.start, edit.end, edit.text).new_end
    line, col = typing.goes_to[1] if typing.goes_to else done
    text = cursor.buffer.lines[line]
    lines = [*cursor.buffer.lines]
    lines[line] = text[:col] + "|" + text[col:]
    return "\n".join(lines)


ENTER = [
    ("a.py", "def f():|", "def f():\n    |"),
    ("a.py", "    return x|", "    return x\n|"),
    ("a.py", "    return foo(|", "    return foo(\n        |"),
    ("a.py", "    return [1,|", "    return [1,\n    |"),
    ("a.py", "    return_value = 1|", "    return_value = 1\n    |"),
    ("a.py", "        pass  # nothing: here|", "        pass  # nothing: here\n    |"),
    ("a.py", "    break|", "    break\n|"),
    ("a.py", "    raise X from y|", "    raise X from y\n|"),
    ("a.py", "    return| x", "    return\n    | x"),
    ("a.py", "x = ':'|", "x = ':'\n|"),
    ("a.py", 'x = "a # {"|', 'x = "a # {"\n|'),
    ("a.py", "f({|})", "f({\n    |\n})"),
    ("a.py", "    |", "\n    |"),
    ("a.txt", "Note:|", "Note:\n|"),
    ("a.md", "- one (|", "- one (\n|"),
    ("a.js", "if (x) {|", "if (x) {\n    |"),
    ("a.js", "  return x;|", "  return x;\n  |"),
    ("a.js", "const f = () => {|}", "const f = () => {\n    |\n}"),
    ("a.c", "case 1:|", "case 1:\n    |"),
    ("a.c", 'char *s = "{"; // {|', 'char *s = "{"; // {\n|'),
    ("a.yaml", "jobs:|", "jobs:\n    |"),
    ("a.yaml", "run: ||", "run: |\n    |"),
    ("a.sh", "if true; then|", "if true; then\n    |"),
    ("a.rb", "def go|", "def go\n    |"),
    ("a.lua", "local function f(x)|", "local function f(x)\n    |"),
    ("a.html", "<div class='a'>|", "<div class='a'>\n    |"),
    ("a.html", "<div>|</div>", "<div>\n    |\n</div>"),
    ("a.html", "<br>|", "<br>\n|"),
    ("a.html", "<p>x</p>|", "<p>x</p>\n|"),
    ("noname", "x {|", "x {\n    |"),
]


@each("path, text, result", ENTER)
def test_enter(path: str, text: str, result: str) -> None:
    if text.count("|") == 2:
        head = text[:-1]
        cursor = Cursor(Buffer(path, head))
        cursor.place((0, len(head)))
    else:
        cursor = at_the_bar(text, path)
    assert with_bar(cursor, changes.newline(cursor, FOUR)) == result


TYPED = [
    ("a.js", "f() {\n    x\n    |", "}", "f() {\n    x\n}|"),
    ("a.js", "f() {\n  if (x) {\n    y\n    |", "}", "f() {\n  if (x) {\n    y\n  }|"),
    ("a.js", "f('{') {\n    // }\n    |", "}", "f('{') {\n    // }\n}|"),
    ("a.py", "x = [\n    1,\n    |", "]", "x = [\n    1,\n]|"),
    ("a.js", "  |", "}", "  }|"),
    ("a.js", "x = {|", "}", "x = {}|"),
    ("a.py", "if a:\n    b\n    else|", ":", "if a:\n    b\nelse:|"),
    ("a.py", "if a:\n    b\nelse|", ":", "if a:\n    b\nelse:|"),
    ("a.py", "if a:\n    if b:\n        c\n        elif d|", ":",
     "if a:\n    if b:\n        c\n    elif d:|"),
    ("a.py", "if a:\n    if b:\n        c\n    else|", ":",
     "if a:\n    if b:\n        c\n    else:|"),
    ("a.py", "try:\n    a\n    except E|", ":", "try:\n    a\nexcept E:|"),
    ("a.py", "try:\n    a\n    finally|", ":", "try:\n    a\nfinally:|"),
    ("a.py", "for x in y:\n    a\n    else|", ":", "for x in y:\n    a\nelse:|"),
    ("a.py", "match x:\n    case 1:\n        a\n        case 2|", ":",
     "match x:\n    case 1:\n        a\n    case 2:|"),
    ("a.py", "def f():\n    a\n    else|", ":", "def f():\n    a\n    else:|"),
    ("a.py", "    x|", ":", "    x:|"),
    ("a.js", "  else|", ":", "  else:|"),
]  # fmt: skip


@each("path, text, typed, result", TYPED)
def test_typing(path: str, text: str, typed: str, result: str) -> None:
    cursor = at_the_bar(text, path)
    assert with_bar(cursor, changes.character(cursor, typed)) == result
