from __future__ import annotations

from tui.core.buffer import Buffer
from tui.ui.editor.search import Search

TEXT = "Cat cat\ncatcat\nİ cat\n"


def test_all_matches_with_and_without_case() -> None:
    search = Search(Buffer("a", TEXT))
    search.look_for("cat", case=False)
    assert search.matches == [(0, 0, 3), (0, 4, 7), (1, 0, 3), (1, 3, 6), (2, 2, 5)]
    search.look_for("cat", case=True)
    assert len(search.matches) == 4


def test_next_and_previous_go_around_the_end() -> None:
    search = Search(Buffer("a", TEXT))
    search.look_for("cat", case=True)
    assert search.go((0, 0)) == (0, 4, 7)
    assert search.index == 0
    assert search.go((2, 5)) == (0, 4, 7)
    assert search.go((0, 4), backwards=True) == (2, 2, 5)
    assert search.index == 3


def test_nothing_found() -> None:
    search = Search(Buffer("a", TEXT))
    search.look_for("dog", case=False)
    assert search.go((0, 0)) is None
    assert search.index is None
    search.look_for("", case=False)
    assert search.matches == []


def test_an_edit_is_seen() -> None:
    buffer = Buffer("a", TEXT)
    search = Search(buffer)
    search.look_for("catcat", case=True)
    search.go((0, 0))
    buffer.replace((1, 0), (1, 1), "")
    assert search.matches == []
    assert search.index is None


def test_matches_of_a_line() -> None:
    search = Search(Buffer("a", TEXT))
    search.look_for("cat", case=True)
    search.go((1, 1))
    assert search.on_line(1) == [(0, 3, "match"), (3, 6, "match-now")]
    assert search.on_line(3) == []
