from __future__ import annotations

from tui.ui.prompt.history import History


def test_walking_keeps_the_draft() -> None:
    past = History()
    past.add("one")
    past.add("two")
    assert past.older("draft") == "two"
    assert past.older("two") == "one"
    assert past.older("one") is None
    assert past.newer() == "two"
    assert past.newer() == "draft"
    assert past.newer() is None


def test_repetitions_and_blanks_are_not_kept() -> None:
    past = History()
    for text in ("one", "one", "  ", ""):
        past.add(text)
    assert past.entries == ["one"]


def test_it_does_not_grow_without_end() -> None:
    past = History()
    for number in range(2000):
        past.add(str(number))
    assert len(past.entries) == 500
    assert past.entries[-1] == "1999"
