"""What is chosen among, and what is typed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.ui.connect.sheet import Chooser, Item, TypedField

THREE = [Item("a", "Ollama"), Item("b", "Groq"), Item("c", "Mistral large")]


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


def test_of_a_secret_only_its_length_is_painted() -> None:
    secret = TypedField("Key", secret=True)
    secret.type("sk-correct\r\nhorse")
    painted = "".join(text for text, _ in secret.row(80))
    assert "sk-" not in painted
    assert "horse" not in painted
    assert "15 characters" in painted
    assert "sk-" not in repr(secret)
    secret.type("x" * 20_000)
    assert len("".join(text for text, _ in secret.row(60))) <= 60
