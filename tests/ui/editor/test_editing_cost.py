"""A key costs the same in a file of 100 and of 100,000 lines, whatever is shown beside it."""

from __future__ import annotations

import time

import pytest

from tests.support.fake_session import FakeWorkspace
from tui.ui.editor import auto_indent, changes, line_changes
from tui.ui.editor.changes import Typing
from tui.ui.editor.comments import HASH, toggle
from tui.ui.editor.cursor import Cursor
from tui.ui.editor.typist import Typist
from tui.ui.editor.view import View
from tui.ui.editor.words import word_after
from tui.ui.finding.pattern import Query

LINE = "    value = f(a, [b], {c: d})\n"
KEYS = {
    "character": lambda one: auto_indent.character(one, "x"),
    "closing": lambda one: auto_indent.character(one, ")"),
    "enter": lambda one: auto_indent.newline(one, "    "),
    "duplicate": line_changes.duplicate,
    "move": lambda one: line_changes.move(one, 1),
    "comment": lambda one: toggle(one, HASH),
    "to line end": changes.delete_to_line_end,
}


def cost_s(lines: int, key: str) -> float:
    """The median CPU time of a key and the rows after it, in the middle of a file."""
    workspace = FakeWorkspace({"a.txt": "class A:\n(\n" + LINE * lines + ")\n"})
    view, typist = View(workspace.open("a.txt")), Typist()
    view.search.look_for(Query("value"))
    while view.search.pending:
        view.search.advance(1.0)
    view.fit(80, wrap=False)
    view.scroll_to(lines // 2, 40)
    spent = []
    for turn in range(31):
        view.cursor.place((lines // 2 + turn % 5, 29))
        started = time.process_time()
        typing: Typing = KEYS[key](view.cursor)
        typist.make(workspace, view, typing, float(turn))
        view.rows(40, True, workspace.decorations)
        spent.append(time.process_time() - started)
    return sorted(spent)[len(spent) // 2]


@pytest.mark.parametrize("key", sorted(KEYS))
def test_keys(key: str) -> None:
    short, long = cost_s(100, key), cost_s(100_000, key)
    assert long < max(3 * short, 0.004)


def test_moves() -> None:
    view = View(FakeWorkspace({"a": "word " * 200_000}).open("a"))
    cursor: Cursor = view.cursor
    started = time.process_time()
    for _ in range(200):
        cursor.word_right()
        cursor.word_left()
    assert time.process_time() - started < 0.5
    assert word_after(view.buffer, (0, 999_996)) == (0, 999_999)
