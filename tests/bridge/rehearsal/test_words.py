from __future__ import annotations

import pytest

from tui.bridge.rehearsal.words import has_all, likeness, words_of


def test_words_have_no_case_accents_or_punctuation() -> None:
    assert words_of("Make `Café` THREAD-safe!") == ["make", "cafe", "thread", "safe"]
    assert words_of("max_length") == ["max_length", "max", "length"]
    assert words_of("…") == []


@pytest.mark.parametrize(
    "typed", ["Fix split, so that no cent gets LOST!", "fix spilt so that no cnet gets lost"]
)
def test_case_punctuation_and_typos_cost_little(typed: str) -> None:
    assert likeness(typed, "fix split so that no cent gets lost") > 0.85


def test_other_sentences_are_not_alike() -> None:
    assert likeness("what is the weather like", "fix split so that no cent gets lost") < 0.6
    assert likeness("", "fix split") == 0


def test_each_set_needs_a_word() -> None:
    sets = [["cache"], ["threads", "lock"]]
    assert has_all(["a", "lock", "for", "cache"], sets)
    assert has_all(["cahce", "thraeds"], sets)
    assert not has_all(["cache"], sets)
    assert not has_all(["cache", "look"], sets)
    assert not has_all(["anything"], [])
