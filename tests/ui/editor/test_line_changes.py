"""Whole lines: cut, duplicate, move; the cursor goes with them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.fake_session import FakeWorkspace
from tui.core.text.buffer import Position
from tui.ui.editor import line_changes
from tui.ui.editor.changes import Typing
from tui.ui.editor.cursor import Cursor
from tui.ui.editor.typist import Typist
from tui.ui.editor.view import View


def up(cursor: Cursor) -> Typing:
    return line_changes.move(cursor, -1)


def down(cursor: Cursor) -> Typing:
    return line_changes.move(cursor, 1)


def pressed(
    text: str, key: Callable[[Cursor], Typing], *ends: Position
) -> tuple[View, FakeWorkspace]:
    workspace = FakeWorkspace({"a": text})
    view = View(workspace.open("a"))
    view.cursor.place(ends[0])
    view.cursor.place(ends[-1], select=True)
    typing = key(view.cursor)
    if typing.replacements:
        Typist().make(workspace, view, typing, 0.0)
    return view, workspace


@pytest.mark.parametrize(
    ("text", "key", "ends", "result", "after"),
    [
        ("a\nb\nc\n", up, [(1, 1)], "b\na\nc\n", [(0, 1)]),
        ("a\nb\nc\n", down, [(0, 0)], "b\na\nc\n", [(1, 0)]),
        ("a\nb", down, [(0, 1)], "b\na", [(1, 1)]),
        ("a\nb", up, [(1, 0)], "b\na", [(0, 0)]),
        ("a\nb", up, [(0, 0)], "a\nb", [(0, 0)]),
        ("a\nb", down, [(1, 0)], "a\nb", [(1, 0)]),
        ("a\nbb\ncc\nd\n", up, [(1, 1), (2, 2)], "bb\ncc\na\nd\n", [(0, 1), (1, 2)]),
        ("a\nbb\ncc\nd\n", down, [(2, 1), (1, 0)], "a\nd\nbb\ncc\n", [(3, 1), (2, 0)]),
        ("a\nb\nc\n", down, [(0, 0), (1, 0)], "b\na\nc\n", [(1, 0), (2, 0)]),
        ("a\r\nb\nc", down, [(0, 0)], "b\r\na\nc", [(1, 0)]),
        ("a\nb\n", line_changes.duplicate, [(0, 1)], "a\na\nb\n", [(1, 1)]),
        ("a\nb", line_changes.duplicate, [(1, 0)], "a\nb\nb", [(2, 0)]),
        ("a\r\n", line_changes.duplicate, [(0, 0)], "a\r\na\r\n", [(1, 0)]),
        ("foo(x)", line_changes.duplicate, [(0, 3), (0, 6)], "foo(x)(x)", [(0, 6), (0, 9)]),
        (
            "a\nb\nc\n",
            line_changes.duplicate,
            [(0, 0), (1, 1)],
            "a\nb\na\nb\nc\n",
            [(2, 0), (3, 1)],
        ),
        ("a\nb\nc\n", line_changes.cut, [(1, 0)], "a\nc\n", [(1, 0)]),
        ("abc", line_changes.cut, [(0, 0), (0, 2)], "c", [(0, 0)]),
    ],
)
def test_lines(
    text: str,
    key: Callable[[Cursor], Typing],
    ends: list[Position],
    result: str,
    after: list[Position],
) -> None:
    view, workspace = pressed(text, key, *ends)
    assert view.buffer.text() == result
    assert (view.cursor.anchor, view.cursor.position) == (after[0], after[-1])
    if result != text:
        workspace.undo("a")
        assert workspace.undo("a") is None
    assert view.buffer.text() == text


def test_a_line_that_was_cut_comes_back_above() -> None:
    view, _ = pressed("a\nb\n", lambda one: line_changes.insert_above(one, "x\n", "paste"), (1, 1))
    assert view.buffer.text() == "a\nx\nb\n"
    assert view.cursor.position == (2, 1)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.text("ab", max_size=2), min_size=1, max_size=7),
    st.lists(st.integers(0, 8), min_size=2, max_size=2),
    st.lists(st.sampled_from([-1, 1]), max_size=8),
)
def test_moving_only_reorders(lines: list[str], ends: list[int], steps: list[int]) -> None:
    workspace = FakeWorkspace({"a": "\n".join(lines)})
    view, typist = View(workspace.open("a")), Typist()
    view.cursor.select((min(ends), 0), (max(ends), 1))
    before = view.cursor.selected_text
    for step in steps:
        typing = line_changes.move(view.cursor, step)
        if typing.replacements:
            typist.make(workspace, view, typing, 0.0)
        assert sorted(view.buffer.lines) == sorted(lines)
        assert view.cursor.selected_text.rstrip("\n") == before.rstrip("\n")
    while workspace.undo("a") is not None:
        pass
    assert view.buffer.lines == lines


def test_moving_costs_the_same_in_a_long_file() -> None:
    counts = []
    for lines in (10, 100_000):
        view, _ = pressed("x\n" * lines, down, (5, 0))
        edits = line_changes.move(view.cursor, 1).replacements
        counts.append(sum(len(edit.text) + edit.end[0] - edit.start[0] for edit in edits))
    assert all(one == other for one, other in pairwise(counts))
