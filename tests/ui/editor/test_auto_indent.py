"""Enter, closing brackets and clauses find their depth, in every family of languages."""

from __future__ import annotations

from tests.support.tables import each
from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Position
from tui.ui.editor import auto_indent
from tui.ui.editor.changes import Typing
from tui.ui.editor.cursor import Cursor

FOUR = "    "


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
    assert with_bar(cursor, auto_indent.newline(cursor, FOUR)) == result


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
    assert with_bar(cursor, auto_indent.character(cursor, typed)) == result
