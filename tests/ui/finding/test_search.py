"""Finding: switches, patterns, ranges, edits, and that nothing waits for a long file."""

from __future__ import annotations

import random
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui.core.text.buffer import Buffer
from tui.ui.finding.pattern import MOST_IN_LINE, TOO_SLOW, Pattern, Query
from tui.ui.finding.replacing import replace_one
from tui.ui.finding.search import Match, Search

TEXT = "Cat cat\ncatcat\nİ cat\n"


def found(text: str, query: Query) -> list[Match]:
    return everything(searching(Buffer("a", text), query))


def searching(buffer: Buffer, query: Query) -> Search:
    search = Search(buffer)
    search.look_for(query)
    return search


def everything(search: Search) -> list[Match]:
    while search.pending:
        search.advance(1.0)
    rows = range(search._buffer.line_count)
    matches = [(row, *span) for row in rows for span in search.spans(row)]
    assert search.count == len(matches)
    return matches


def test_all_matches_with_and_without_case() -> None:
    everywhere = [(0, 0, 3), (0, 4, 7), (1, 0, 3), (1, 3, 6), (2, 2, 5)]
    assert found(TEXT, Query("cat")) == everywhere
    assert found(TEXT, Query("cat", case=True)) == everywhere[1:]


@pytest.mark.parametrize(
    ("text", "query", "columns"),
    [
        ("cat concat cat_ cat", Query("cat", word=True), [(0, 3), (16, 19)]),
        ("a==b == c", Query("==", word=True), [(1, 3), (5, 7)]),
        ("a.c abc a.c", Query("a.c"), [(0, 3), (8, 11)]),
        ("a.c abc", Query("a.c", regex=True), [(0, 3), (4, 7)]),
        ("ab12 x3", Query(r"\d+", regex=True), [(2, 4), (6, 7)]),
        ("foo(1) foo", Query(r"foo(?=\()", regex=True), [(0, 3)]),
        ("xfoo foo", Query("fo+", regex=True, word=True), [(5, 8)]),
        ("axb", Query("x*", regex=True), [(0, 0), (1, 2), (2, 2), (3, 3)]),
        ("ÄRGER ärger", Query("ärger"), [(0, 5), (6, 11)]),
        ("[[a]]", Query("[[a]]"), [(0, 5)]),
        (r"a\n", Query(r"\\n", regex=True), [(1, 3)]),
    ],
)
def test_switches(text: str, query: Query, columns: list[tuple[int, int]]) -> None:
    assert found(text, query) == [(0, *span) for span in columns]


@pytest.mark.parametrize(
    ("needle", "words"),
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


@pytest.mark.parametrize(
    ("needle", "line"),
    [
        (r"(a|a)*$", "a" * 40 + "b"),
        (r"(.*?,){25}P", "1," * 50),
        (r"(?=(a+))*(a|aa)+$", "a" * 60 + "b"),
        (r"(\w|\d)*-", "a1" * 40),
        (r"(a|b|ab|aa)*(a|aa|aaa)*c\1", "a" * 5000),
    ],
)
def test_no_pattern_freezes_the_search(needle: str, line: str) -> None:
    search = searching(Buffer("a", f"x = 1\n{line}\n" * 50), Query(needle, regex=True))
    started = time.process_time()
    search.go((0, 0))
    while search.pending:
        search.advance(0.01)
    assert time.process_time() - started < 1.0


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


def test_empty_matches_are_stepped_through() -> None:
    search = searching(Buffer("a", "a\nb\nc"), Query("^", regex=True))
    seen = [search.go((0, 0))]
    for _ in range(3):
        assert search.now is not None
        seen.append(search.go((search.now[0], search.now[2])))
    assert seen == [(0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 0, 0)]


def test_nothing_found() -> None:
    search = searching(Buffer("a", TEXT), Query("dog"))
    assert search.go((0, 0)) is None
    assert search.index is None
    search.look_for(Query())
    assert (search.count, search.pending, search.sample) == (0, False, ())


def test_an_edit_is_seen() -> None:
    buffer = Buffer("a", TEXT)
    search = searching(buffer, Query("catcat", case=True))
    search.go((0, 0))
    buffer.replace((1, 0), (1, 1), "")
    assert search.on_line(1) == []
    assert search.count == 0
    assert search.index is None


def test_matches_of_a_line() -> None:
    search = searching(Buffer("a", TEXT), Query("cat", case=True))
    search.go((1, 1))
    assert search.on_line(1) == [(0, 3, "match"), (3, 6, "match-now")]
    assert search.on_line(1, 4, 9) == [(3, 6, "match-now")]
    assert search.on_line(3) == []


def test_only_in_a_range_that_moves_with_the_text() -> None:
    buffer = Buffer("a", "x x\nx x\nx x\n")
    search = searching(buffer, Query("x"))
    search.limit(((0, 2), (1, 1)))
    assert everything(search) == [(0, 2, 3), (1, 0, 1)]
    buffer.replace((0, 0), (0, 0), "x\n")
    assert everything(search) == [(1, 2, 3), (2, 0, 1)]
    assert search.go((3, 0)) == (1, 2, 3)
    search.limit(None)
    assert len(everything(search)) == 7


def test_an_overview_gets_a_sample() -> None:
    search = searching(Buffer("a", "x\ny\n" * 10_000), Query("x"))
    assert len(everything(search)) == 10_000
    assert len(search.sample) <= 501
    assert {row % 2 for row in search.sample} == {0}


def test_a_line_with_many_matches_is_cut_short() -> None:
    search = searching(Buffer("a", "x" * 1_000_000), Query("x"))
    assert search.go((0, 500_000)) == (0, 0, 1)
    assert search.count == MOST_IN_LINE
    assert search.on_line(0, 900_000, 900_100) == []


LINES = st.lists(st.text("abAB \n", max_size=8), max_size=12)


@settings(max_examples=150, deadline=None)
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


def test_a_key_costs_the_same_in_a_long_file() -> None:
    buffer = Buffer("a", "value = 1\n" * 100_000)
    search = searching(buffer, Query("value"))
    slices = []
    search.go((50_000, 0))
    while search.pending:
        started = time.process_time()
        search.advance(0.004)
        slices.append(time.process_time() - started)
    assert search.count == 100_000
    assert sorted(slices)[len(slices) // 2] < 0.008
    started = time.process_time()
    for _ in range(100):
        buffer.replace((10, 0), (10, 0), "value ")
        search.on_line(10)
        assert search.sample
    assert time.process_time() - started < 0.1


@pytest.mark.parametrize("needle", [r"^(a|a)*$", r"(.*?,){12}P"])
def test_lines_that_are_slow_one_by_one_are_slow_together(needle: str) -> None:
    """Each is below the limit for a line; a query has one for all, and a repaint waits for none."""
    pattern = Pattern(Query(needle, regex=True))
    line = ""
    for length in range(4, 60):
        longer = "1," * length if "," in needle else "a" * length + "b"
        began = time.process_time()
        try:
            pattern.spans(longer)
        except TimeoutError:
            break
        if time.process_time() - began > 0.025:
            break
        line = longer
    buffer = Buffer("a", f"{line}\n" * 2_000)
    search = Search(buffer)
    taken = 0.0
    search.look_for(Query(needle, regex=True))
    began = time.process_time()
    search.go((0, 0))
    assert time.process_time() - began < 0.1
    while search.pending:
        began = time.process_time()
        search.advance(0.004)
        for row in range(40):
            search.on_line(row)
        buffer.replace((7, 0), (7, 0), "a\na\n" * 20)
        search.on_line(8)
        step = time.process_time() - began
        assert step < 0.1
        taken += step
    assert search.error == TOO_SLOW
    assert taken < 1.0


def test_a_line_that_was_gone_to_and_is_removed_by_another_has_no_matches() -> None:
    buffer = Buffer("a", "one\ntwo\none\n")
    search = Search(buffer)
    search.look_for(Query("one"))
    assert search.go((2, 0)) is not None
    buffer.replace((0, 3), (3, 0), "")
    assert search.spans(2) == ()
    assert replace_one(search, buffer, "new") is None
