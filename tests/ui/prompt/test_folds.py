"""Long texts behind labels: nothing is lost, whatever is done to the labels."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.ui.prompt import folds
from tui.ui.prompt.folds import Folds, is_long

LINES = "".join(f"line {number}\n" for number in range(200))


def test_what_is_short_stays() -> None:
    assert Folds().fold("one\ntwo") == "one\ntwo"


def test_a_label_says_how_long_it_is() -> None:
    store = Folds()
    assert store.fold(LINES * 60) == "[pasted 12,000 lines]"
    assert store.fold("x" * 1_000_000) == "[pasted 1,000,000 characters]"
    assert store.whole("see [pasted 12,000 lines]!") == f"see {LINES * 60}!"


def test_the_same_text_has_one_label_and_another_one_its_own() -> None:
    store = Folds()
    first, again, other = store.fold(LINES), store.fold(LINES), store.fold(LINES.upper())
    assert first == again == "[pasted 200 lines]"
    assert other == "[pasted 200 lines #2]"
    assert store.whole(first + other) == LINES + LINES.upper()


def test_a_label_that_stands_for_nothing_is_text() -> None:
    typed = "[pasted 3 lines] and [pasted 9,999 characters]"
    assert Folds().whole(typed) == typed
    store = Folds()
    store.fold(LINES)
    assert store.whole(typed) == typed


def test_typed_words_around_a_known_text_stay_readable() -> None:
    store = Folds()
    label = store.fold(LINES)
    assert store.fold(f"look at {LINES} and fix it") == f"look at {label} and fix it"


def test_many_short_pastes_fold_too() -> None:
    store, beside = Folds(), ""
    for number in range(200):
        beside += store.fold(f"{number} " + "y" * 1000, beside)
    assert len(beside) < folds.ROOM_CHARS + 200 * 40


def test_the_oldest_that_nothing_shows_are_given_up() -> None:
    store = Folds()
    size = folds.KEPT_CHARS // 4
    shown = store.fold("a" * size)
    for letter in "bcdefg":
        store.fold(letter * (size + 1), shown)
    assert len(store) <= 4
    assert store.whole(shown) == "a" * size


@given(st.lists(st.sampled_from(["hi", LINES, LINES * 2, "z" * 6000, "[pasted 200 lines]", "\n"])))
def test_nothing_is_lost(pieces: list[str]) -> None:
    """But a label that was typed is read as one if it stands for something."""
    store, draft, typed = Folds(), "", ""
    for piece in pieces:
        draft += store.fold(piece, draft)
        typed += piece
    whole = store.whole(draft)
    assert whole.replace("[pasted 200 lines]", LINES) == typed.replace("[pasted 200 lines]", LINES)
    again = store.fold(whole)
    assert store.whole(again) == store.whole(whole)
    assert not is_long(again) or len(pieces) > 100
