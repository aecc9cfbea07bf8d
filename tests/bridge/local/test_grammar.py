"""Whatever the grammar allows is an edit that fits."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.gbnf import Gbnf
from tests.support.patches import Disk
from tui.bridge.local.grammar import (
    MOST_ADDED,
    MOST_CHARS,
    MOST_SEARCHED,
    edit_grammar,
    rest_grammar,
)
from tui.bridge.local.writing import RejectedLineError, WrittenEdit
from tui.core.document.hunk import Stage

LINE = st.one_of(
    st.sampled_from(["", "    ", "a", "ab", "abc", "=======", "<<<<<<< SEARCH", '"q\\n"', "\tö"]),
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs", "Cc"]), max_size=9),
)
FILES = st.dictionaries(
    st.sampled_from(["a.txt", "b/c d.txt"]),
    st.lists(LINE, min_size=1, max_size=30),
    min_size=1,
)


@settings(max_examples=40)
@given(FILES, st.integers(0, 10**9))
def test_any_text_of_the_grammar_lands_where_it_says(
    files: dict[str, list[str]], seed: int
) -> None:
    grammar = edit_grammar(files, {})
    if not grammar:
        return  # no line is there only once
    edit, text = WrittenEdit(files), Gbnf(grammar, Random(seed)).drawn()
    try:
        edit.take(text)
    except RejectedLineError:
        return  # it changes nothing, or puts in more than is taken
    disk = Disk({path: "".join(f"{x}\n" for x in lines).encode() for path, lines in files.items()})
    disk.land(text, fmt="search_replace")
    assert {hunk.stage for hunk in disk.workspace.hunks} <= {Stage.LANDED}, text
    assert disk.text(edit.path) == "".join(f"{x}\n" for x in edit.text_with(edit.lines))


@settings(max_examples=20)
@given(st.integers(0, 10**9), st.integers(0, 9), st.integers(0, 9))
def test_what_is_written_again_has_so_many_lines(seed: int, least: int, more: int) -> None:
    text = Gbnf(rest_grammar(least, least + more), Random(seed)).drawn()
    *lines, end = text.removesuffix("\n").split("\n")
    assert least <= len(lines) <= least + more
    assert end == ">>>>>>> REPLACE"
    assert all(len(line) <= MOST_CHARS for line in lines)
    assert not any(line.startswith(("<<<<<<<", "=======", ">>>>>>>")) for line in lines)


def test_long_lines_and_signs_that_nobody_sees_are_not_looked_for() -> None:
    assert edit_grammar({"a.txt": ["x" * (MOST_CHARS + 1), "a\x1bb", "  ", "y", "y"]}, {}) == ""
    assert edit_grammar({"a.txt": []}, {}) == ""


def test_a_search_is_bounded_and_so_is_what_comes_for_it() -> None:
    lines = [f"line {row}" for row in range(100)]
    drawn = [Gbnf(edit_grammar({"a": lines}, {}), Random(seed)).drawn() for seed in range(9)]
    for text in drawn:
        searched, _, put = text.partition("=======\n")
        assert searched.count("\n") - 2 <= MOST_SEARCHED
        assert put.count("\n") - 1 <= MOST_SEARCHED + MOST_ADDED


def test_a_model_may_end_only_where_it_is_allowed_to() -> None:
    texts = {
        Gbnf(edit_grammar({"a": ["b"]}, {}, may_end=True), Random(n)).drawn() for n in range(20)
    }
    assert "" in texts
    assert len(texts) > 1
