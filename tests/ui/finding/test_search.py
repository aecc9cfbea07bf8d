"""Finding and replacing: switches, patterns, ranges, edits, one step to undo."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.fake_session import FakeWorkspace, editing_of
from tests.support.tables import each
from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Position
from tui.ui.editor.view import View
from tui.ui.finding.replacing import AllReplaced, Marked, replace_all, replace_one
from tui.ui.finding.search import MOST_IN_LINE, Match, Query, TextSearch

TEXT = "Cat cat\ncatcat\nİ cat\n"


def searching(buffer: Buffer, query: Query) -> TextSearch:
    search = TextSearch(buffer)
    search.look_for(query)
    return search


def everything(search: TextSearch) -> list[Match]:
    while search.pending:
        search.advance(1.0)
    rows = range(search._buffer.line_count)
    matches = [(row, *span) for row in rows for span in search.spans(row)]
    assert search.count == len(matches)
    return matches


@each(
    "needle, words",
    [
        ("(", "not a pattern: missing ), unterminated subpattern at 1"),
        ("[a", "not a pattern: unterminated character set at 1"),
        ("a**", "not a pattern: multiple repeat at 3"),
        (r"\k", r"not a pattern: bad escape \k at 1"),
        ("((a{1000}){1000}){1000}", "this pattern repeats too much"),
        (r"a\nb", r"a pattern looks at one line at a time: leave out \n"),
        ("a" * 1001, "too long: at most 1000 characters"),
        ("(" * 900 + ")" * 90, "not a pattern"),
    ],
)
def test_a_wrong_pattern_is_said_in_words(needle: str, words: str) -> None:
    search = searching(Buffer("a", "text"), Query(needle, regex=True))
    assert search.error.startswith(words)
    assert search.go((0, 0)) is None
    assert (search.pending, search.count, search.on_line(0)) == (False, 0, [])


def test_a_slow_pattern_is_said_once_and_left() -> None:
    search = searching(Buffer("a", "a" * 40 + "b"), Query(r"(a|a)*$", regex=True))
    assert search.go((0, 0)) is None
    assert search.error == "this pattern takes too long here; use a simpler one"
    assert (search.pending, search.on_line(0)) == (False, [])


def test_next_and_previous_go_around_the_end() -> None:
    search = searching(Buffer("a", TEXT), Query("cat", case=True))
    assert search.go((0, 0)) == (0, 4, 7)
    assert search.index == 0
    assert search.go((2, 5)) == (0, 4, 7)
    assert search.go((0, 4), backwards=True) == (2, 2, 5)
    assert search.index == 3


def test_an_edit_is_seen() -> None:
    buffer = Buffer("a", TEXT)
    search = searching(buffer, Query("catcat", case=True))
    search.go((0, 0))
    buffer.replace((1, 0), (1, 1), "")
    assert search.on_line(1) == []
    assert search.count == 0
    assert search.index is None


def test_a_line_with_many_matches_is_cut_short() -> None:
    search = searching(Buffer("a", "x" * 1_000_000), Query("x"))
    assert search.go((0, 500_000)) == (0, 0, 1)
    assert search.count == MOST_IN_LINE
    assert search.on_line(0, 900_000, 900_100) == []


LINES = st.lists(st.text("abAB \n", max_size=8), max_size=12)


@settings(max_examples=75)
@given(LINES, st.sampled_from(["a", "ab", "b ", "B"]), st.randoms(use_true_random=False))
def test_edits_leave_the_same_as_a_new_search(
    lines: list[str], needle: str, chance: random.Random
) -> None:
    buffer = Buffer("a", "\n".join(lines))
    search = searching(buffer, Query(needle))
    for _ in range(6):
        search.advance(chance.choice([0, 1.0]))
        for _ in range(chance.randint(1, 3)):
            start, end = sorted(
                buffer.clamp((chance.randint(0, 14), chance.randint(0, 9))) for _ in "12"
            )
            buffer.replace(start, end, chance.choice(["", "a", "x\n", "ab\nAB\n", "b\n" * 80]))
        if chance.random() < 0.5:
            search.go(buffer.clamp((chance.randint(0, 9), 0)))
    fresh = [
        (row, *match.span())
        for row, line in enumerate(buffer.lines)
        for match in re.finditer(re.escape(needle), line, re.IGNORECASE)
    ]
    assert everything(search) == fresh


def test_a_line_that_was_gone_to_and_is_removed_by_another_has_no_matches() -> None:
    buffer = Buffer("a", "one\ntwo\none\n")
    search = TextSearch(buffer)
    search.look_for(Query("one"))
    assert search.go((2, 0)) is not None
    buffer.replace((0, 3), (3, 0), "")
    assert search.spans(2) == ()
    assert replace_one(search, buffer, "new") is None


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
        editing_of(workspace).make(view, done.typing, 0.0)
        result = view.buffer.text()
        workspace.undo("a")
        assert view.buffer.text() == text
        assert workspace.undo("a") is None
        workspace.redo("a")
        assert view.buffer.text() == result
    return view.buffer.text()


def pattern(needle: str, *, case: bool = False, word: bool = False) -> Query:
    return Query(needle, case=case, word=word, regex=True)


@each(
    "text, query, by, result",
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


@each(
    "by, words", [("$2", "the pattern has no group 2"), (r"\g<no>", "the pattern has no group no")]
)
def test_a_group_that_is_not_there(by: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        replaced("a", pattern("(a)"), by)


@settings(max_examples=100)
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


@settings(max_examples=30)
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
    editing_of(workspace).make(view, done.typing, 0.0)
    assert view.buffer.lines == [line.replace("x", "yy") for line in lines]
    workspace.undo("a")
    assert view.buffer.lines == lines
