"""A list with one row lit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.ui.first_run.chooser import Chooser, Item

THREE = [Item("a", "Ollama"), Item("b", "Groq"), Item("c", "Mistral large")]


def test_the_ends_stop_it() -> None:
    chooser = Chooser(THREE)
    chooser.step(-1)
    assert chooser.chosen == THREE[0]
    chooser.step(9999)
    assert chooser.chosen == THREE[2]


def test_a_digit_chooses_its_row_and_no_other() -> None:
    chooser = Chooser(THREE)
    assert chooser.type("2")
    assert chooser.chosen == THREE[1]
    assert not chooser.type("4")
    assert not chooser.type("0")
    assert not chooser.type("x")
    assert not chooser.type("²"), "a digit for Unicode, no number"
    assert chooser.chosen == THREE[1]


def test_letters_cut_a_long_list_down_and_come_back() -> None:
    chooser = Chooser(THREE, filtered=True)
    for character in "lar mis":
        assert not chooser.type(character)
    assert chooser.shown == [THREE[2]]
    chooser.type("z")
    assert chooser.chosen is None
    while chooser.erase():
        pass
    assert chooser.shown == THREE


@given(st.integers(1, 60), st.integers(-5, 100), st.integers(-3, 30))
def test_the_lit_row_is_always_seen(count: int, step: int, rows: int) -> None:
    chooser = Chooser([Item(str(number), str(number)) for number in range(count)])
    chooser.step(step)
    window = chooser.window(rows)
    assert chooser.at in window
    assert len(window) <= max(rows, 1)
