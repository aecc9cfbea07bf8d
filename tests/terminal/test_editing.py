"""The editor's keys as a terminal sends them, from the first letter to the file on the disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.terminal import Terminal

Start = Callable[..., Terminal]
EDITOR, SAVE, QUIT, ESCAPE, ENTER, TAB = "\x1b2", "\x13", "\x11", "\x1b", "\r", "\t"
COMMENT, DUPLICATE, DOWN, UP, UNDO = "\x1f", "\x04", "\x1b[1;3B", "\x1b[1;3A", "\x1a"
REPLACE, REGEX, ALL, OUTLINE, BRACKET = "\x12", "\x1bx", "\x1b\r", "\x14", "\x1d"
TEXT = "def first(a):\n    return a\n\n\ndef second(b):\n    return b\n"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The file that is edited."""
    path = tmp_path / "a.py"
    path.write_text(TEXT)
    return path


def test_lines_find_and_replace_and_one_undo(start: Start, work: Path) -> None:
    term = start("a.py", size=(80, 24))
    term.wait_for("send")
    term.type(EDITOR)
    term.wait_for("undo")
    term.type(COMMENT)
    term.wait_for("# def first")
    term.type(DUPLICATE + DOWN + UP + COMMENT)
    term.wait_for(lambda text: text.count("def first") == 2)
    term.type(REPLACE)
    term.wait_for("With")
    term.type(REGEX)
    term.wait_for(".*")
    term.type("def (\\w+)")
    term.wait_for("of 3")
    term.type(TAB + "class $1_")
    term.wait_for("class $1_")
    term.type(ALL)
    term.wait_for("replaced in 3 lines")
    term.type(ESCAPE)
    term.wait_gone("With")
    term.type(SAVE)
    changed = "# " + TEXT.replace("def", "class").replace("(", "_(").replace(
        "class first_", "class first_(a):\nclass first_", 1
    )
    term.wait_for(lambda _: work.read_text() == changed)
    term.type(UNDO)
    term.wait_for(lambda text: text.count("def first") == 2)
    term.type(UNDO * 5)
    term.wait_for(lambda text: text.count("def first") == 1 and "# def" not in text)
    term.type(SAVE)
    term.wait_for(lambda _: work.read_text() == TEXT)
    term.type(QUIT)
    assert term.wait_exit() == 0


def test_outline_and_brackets_at_a_small_size(start: Start, work: Path) -> None:
    term = start("a.py", size=(60, 16))
    term.wait_for("send")
    term.type(EDITOR)
    term.wait_for("1:1")
    term.type(OUTLINE)
    term.wait_for("Enter stay")
    term.type("sec")
    term.wait_for("5:5")
    term.type(ESCAPE)
    term.wait_for("1:1")
    term.type(OUTLINE)
    term.wait_for("Enter stay")
    term.type("sec" + ENTER)
    term.wait_for("5:5")
    term.type(BRACKET)
    term.wait_for("5:13")
    term.type(BRACKET)
    term.wait_for("5:11")
    term.type(QUIT)
    assert term.wait_exit() == 0
