"""An edit is looked at line by line while a model writes it."""

from __future__ import annotations

import pytest

from tests.support.tables import each
from tui.bridge.local.grammar import MOST_ADDED
from tui.bridge.local.writing import (
    RejectedLineError,
    WrittenEdit,
    may_go_on,
    reads_well,
)

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
