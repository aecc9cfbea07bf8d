r"""Replacing: groups, one step to undo, lines of hunks alone, line endings."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.fake_session import FakeWorkspace
from tui.core.text.buffer import Position
from tui.ui.editor.typist import Typist
from tui.ui.editor.view import View
from tui.ui.finding.pattern import Query
from tui.ui.finding.replacing import AllReplaced, Marked, replace_all, replace_one


def nothing(line: int) -> bool:
    return False


def planned(view: View, by: str, marked: Marked = nothing) -> AllReplaced:
    return next(done for done in replace_all(view.search, view.buffer, by, marked) if done)


def replaced(
    text: str, query: Query, by: str, within: tuple[Position, Position] | None = None
) -> str:
    workspace = FakeWorkspace({"a": text})
    view = View(workspace.open("a"))
    view.search.look_for(query)
    view.search.limit(within)
    done = planned(view, by)
    if done.matches:
        Typist().make(workspace, view, done.typing, 0.0)
        result = view.buffer.text()
        workspace.undo("a")
        assert view.buffer.text() == text
        assert workspace.undo("a") is None
        workspace.redo("a")
        assert view.buffer.text() == result
    return view.buffer.text()


def pattern(needle: str, *, case: bool = False, word: bool = False) -> Query:
    return Query(needle, case=case, word=word, regex=True)


@pytest.mark.parametrize(
    ("text", "query", "by", "result"),
    [
        ("a b a\na", Query("a"), "xy", "xy b xy\nxy"),
        ("a.b", Query("."), "$1\\1", "a$1\\1b"),
        ("one two", pattern(r"(\w+) (\w+)"), r"\2 \1", "two one"),
        ("one two", pattern(r"(\w+) (\w+)"), "$2 $1", "two one"),
        (
            "one",
            pattern(r"(?P<w>\w+)"),
            r"<\g<w>|${w}|\g<1>|${1}|$0|$&>",
            "<one|one|one|one|one|one>",
        ),
        ("ab", pattern("(a)(x)?b"), "[$1$2]", "[a]"),
        ("a b", pattern(" "), r"\n\t$$\\", "a\n\t$\\b"),
        ("a\r\nb", pattern("b"), r"x\ny", "a\r\nx\r\ny"),
        ("a\nb\n", pattern("^"), "> ", "> a\n> b\n> "),
        ("a\nb", pattern("$"), ";", "a;\nb;"),
        ("axxb", pattern("x*"), "-", re.sub("x*", "-", "axxb")),
        ("foo foobar", Query("foo", word=True), "x", "x foobar"),
        ("Foo foo", Query("foo", case=True), "x", "Foo x"),
        ("a\n\na", Query("a"), "", "\n\n"),
        ("abc", Query("x"), "y", "abc"),
        ("10 20", pattern(r"\d+"), "${0}0$", "100$ 200$"),
        ("x", pattern("x"), r"\q$", r"\q$"),
    ],
)
def test_all(text: str, query: Query, by: str, result: str) -> None:
    assert replaced(text, query, by) == result


def test_in_the_selection_only() -> None:
    assert replaced("x x\nx x\nx x", Query("x"), "y", ((0, 2), (1, 1))) == "x y\ny x\nx x"


@pytest.mark.parametrize(
    ("by", "words"),
    [("$2", "the pattern has no group 2"), (r"\g<no>", "the pattern has no group no")],
)
def test_a_group_that_is_not_there(by: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        replaced("a", pattern("(a)"), by)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.text("abx ", max_size=8), max_size=8),
    st.sampled_from(["a", "x*", "(a|b)x?", r"\b", "b+$", "a(b)?"]),
    st.sampled_from(["", "<>", "x\n", r"[\g<0>]"]),
)
def test_as_python_does_it(lines: list[str], needle: str, by: str) -> None:
    text = "\n".join(lines)
    expected = "\n".join(re.sub(needle, by, line) for line in text.split("\n"))
    query = pattern(needle, case=True)
    assert replaced(text, query, by.replace("\n", r"\n")) == expected


@settings(max_examples=30, deadline=None)
@given(st.sets(st.integers(0, 399), max_size=40), st.sets(st.integers(0, 399), max_size=8))
def test_many_lines_are_few_edits_and_marked_ones_stay_alone(
    without: set[int], marked: set[int]
) -> None:
    lines = ["no" if row in without else f"x{row} x" for row in range(400)]
    workspace = FakeWorkspace({"a": "\n".join(lines)})
    view = View(workspace.open("a"))
    view.search.look_for(Query("x"))
    done = planned(view, "yy", marked.__contains__)
    assert len(done.typing.replacements) <= 2 * len(marked) + len(without) + 1
    alone = {edit.start[0] for edit in done.typing.replacements if edit.start[0] == edit.end[0]}
    assert marked - without <= alone
    Typist().make(workspace, view, done.typing, 0.0)
    assert view.buffer.lines == [line.replace("x", "yy") for line in lines]
    workspace.undo("a")
    assert view.buffer.lines == lines


def test_one_after_the_other() -> None:
    workspace = FakeWorkspace({"a": "ab ab"})
    view = View(workspace.open("a"))
    view.search.look_for(pattern("(a)(b)"))
    assert replace_one(view.search, view.buffer, "x") is None
    view.search.go((0, 1))
    typing = replace_one(view.search, view.buffer, "$2$1")
    assert typing is not None
    Typist().make(workspace, view, typing, 0.0)
    assert view.buffer.text() == "ab ba"
    assert view.cursor.position == (0, 5)
    assert replace_one(view.search, view.buffer, "x") is None
