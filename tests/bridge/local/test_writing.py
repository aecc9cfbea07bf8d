"""An edit is looked at line by line, and whatever its grammar allows fits."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.gbnf import Gbnf
from tests.support.patches import Disk
from tests.support.tables import each
from tui.bridge.local.writing import (
    MOST_ADDED,
    MOST_CHARS,
    MOST_SEARCHED,
    RejectedLineError,
    WrittenEdit,
    edit_grammar,
    may_go_on,
    reads_well,
    rest_grammar,
)
from tui.core.document.hunk import Stage

PY = ["def f(x):", "    return x", "", "def g():", "    return f(1)"]
HEAD = "a.py\n<<<<<<< SEARCH\ndef f(x):\n    return x\n=======\n"


def begun(path: str = "a.py") -> WrittenEdit:
    edit = WrittenEdit({path: PY})
    edit.take(HEAD.replace("a.py", path))
    return edit


def test_whole_lines_are_shown_as_they_come() -> None:
    edit = WrittenEdit({"a.py": PY})
    shown = [edit.take(sign) for sign in f"{HEAD}def f(x):\n    return 2 * x\n>>>>>>> REPLACE\n"]
    assert [text for text in shown if text][-2:] == [
        "def f(x):\n    return 2 * x\n",
        ">>>>>>> REPLACE\n",
    ]
    assert edit.done
    assert edit.text_with(edit.lines) == ["def f(x):", "    return 2 * x", *PY[2:]]


def test_a_line_that_cannot_become_right_is_rejected_and_forgotten() -> None:
    edit = begun()
    with pytest.raises(RejectedLineError):
        edit.take("def f(x):\n    here it is\n")
    assert (edit.lines, edit.at_end) == (["def f(x):"], False)
    edit.again()
    assert edit.take("def f(x):\n    return 3\n>>>>>>> REPLACE\n").startswith("def f(x):\n")
    assert edit.done


def test_an_end_behind_which_the_file_does_not_read_well_is_rejected() -> None:
    edit = begun()
    with pytest.raises(RejectedLineError):
        edit.take("def f(x):\n>>>>>>> REPLACE\n")
    assert edit.at_end
    assert not edit.done


def test_an_edit_that_changes_nothing_is_none() -> None:
    edit = begun()
    with pytest.raises(RejectedLineError):
        edit.take("def f(x):\n    return x\n>>>>>>> REPLACE\n")
    edit.again()
    assert edit.said == HEAD  # so all of it is written again


def test_more_lines_than_there_is_room_for_are_rejected() -> None:
    edit = begun("a.txt")
    edit.take("x\n" * (2 + MOST_ADDED))
    with pytest.raises(RejectedLineError):
        edit.take("y\n")
    assert edit.room == 0


@each(
    "said, end",
    [
        ("def f(y):\n", "    return x\n>>>>>>> REPLACE\n"),
        ("", "def f(x):\n    return x\n>>>>>>> REPLACE\n"),
        ("def f(x):\n    retu", "def f(x):\n    return x\n>>>>>>> REPLACE\n"),
        ("A = 1\n", "def f(x):\n    return x\n>>>>>>> REPLACE\n"),
        ('def f(x):\n    """Why\n', '    """\n>>>>>>> REPLACE\n'),
        ("def f(x):\n    return (\n", "    )\n>>>>>>> REPLACE\n"),
    ],
)
def test_an_edit_that_comes_to_no_end_is_ended_with_lines_of_the_file(said: str, end: str) -> None:
    edit = begun()
    edit.take(said)
    assert edit.end() == end
    assert reads_well("a.py", edit.text_with(edit.lines))


def test_an_edit_whose_search_has_no_end_is_ended_too() -> None:
    edit = WrittenEdit({"a.py": PY})
    edit.take("a.py\n<<<<<<< SEARCH\ndef f(x):\n    ret")
    assert edit.end() == "=======\ndef f(x):\n>>>>>>> REPLACE\n"
    assert WrittenEdit({"a.py": PY}).end() == ""


@each(
    "text, goes_on",
    [
        ("def f():", True),
        ("x = (1,", True),
        ("x = '''a", True),
        ("try:\n    x", True),
        ("class A:\n    # why", True),
        ("hello world", False),
        ("def f():\n    x\n )", False),
        ("def f():\n# why\nx = 1", False),
        ("x = 'a", False),
    ],
)
def test_python_may_go_on_or_not(text: str, goes_on: bool) -> None:
    assert may_go_on("a.py", text.split("\n")) == goes_on
    assert may_go_on("a.rs", text.split("\n"))


def test_json_and_toml_are_read_whole() -> None:
    assert reads_well("a.json", ['{"a": 1}'])
    assert not reads_well("a.json", ['{"a": 1'])
    assert not reads_well("a.toml", ["a = "])
    assert reads_well("a.go", ["func {"])


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


@pytest.mark.slow
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
