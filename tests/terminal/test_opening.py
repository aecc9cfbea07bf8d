"""``duetto FILES``: tabs and places, files that are not there yet, those only looked at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.terminal import Terminal

Start = Callable[..., Terminal]
EDITOR, NEXT_TAB, SAVE = "\x1b2", "\x1b.", "\x13"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The folder that `start` works in."""
    (tmp_path / "a.py").write_text("a1\na2\na3\n")
    (tmp_path / "b.py").write_text("b1\nb2\nb3\n")
    return tmp_path


def test_several_files_stand_where_they_were_asked_for(start: Start, work: Path) -> None:
    term = start("a.py:2", "b.py", "+3:2", "new.py")
    term.wait_for("send")
    term.wait_for("2:1")
    assert "a3" in term.text
    assert all(name in term.text for name in ("a.py", "b.py", "new.py"))
    term.type(EDITOR)
    term.wait_for("undo")
    term.type(NEXT_TAB)
    term.wait_for("3:2")
    assert "b3" in term.text
    term.leave()


def test_a_new_file_is_made_when_it_is_saved(start: Start, work: Path) -> None:
    term = start("new.py")
    term.wait_for("send")
    term.type(EDITOR)
    term.wait_for("undo")
    assert not (work / "new.py").exists()
    term.type("x = 1")
    term.wait_for("x = 1")
    term.type(SAVE)
    term.wait_for(lambda _: (work / "new.py").exists())
    assert (work / "new.py").read_text() == "x = 1"
    term.leave()


def test_what_is_only_looked_at_stays_as_it_is(start: Start, work: Path) -> None:
    data = b"caf\xe9 one\n"
    (work / "odd").write_bytes(data)
    term = start("odd")
    term.wait_for("Read-only")
    term.type(EDITOR)
    term.wait_for("undo")
    term.type("typed" + SAVE)
    term.wait_for("read-only")
    assert "typed" not in term.text
    term.leave()
    assert (work / "odd").read_bytes() == data


def test_a_file_that_goes_and_comes_back_while_it_is_open(start: Start, work: Path) -> None:
    term = start("a.py")
    term.wait_for("send")
    term.type(EDITOR)
    term.wait_for("undo")
    (work / "a.py").unlink()
    term.wait_for("a.py was deleted on disk")
    assert "a2" in term.text
    (work / "a.py").mkdir()
    (work / "a.py").rmdir()
    (work / "a.py").write_text("a1\nnew\na3\n")
    term.wait_for(lambda text: "new" in text and "deleted on disk" not in text)
    term.leave()
