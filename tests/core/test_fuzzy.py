from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.fuzzy import Sieve, fit, folded, holds


def best(letters: str, texts: list[str]) -> list[str]:
    looking = Sieve(letters, texts)
    while not looking.step(2):
        pass
    return [one.text for one in looking.best(10)]


def test_a_name_that_begins_with_the_letters_comes_first() -> None:
    paths = ["tests/test_cache.py", "catalogue/x.py", "ledger/cache.py"]
    assert best("ca", paths)[0] == "ledger/cache.py"
    assert len(best("ca", paths)) == 3


def test_case_is_one_and_folders_count() -> None:
    assert best("UI/thm", ["tui/ui/theme.py", "tui/core/thm.py"]) == [
        "tui/ui/theme.py",
        "tui/core/thm.py",
    ]


@pytest.mark.slow
def test_a_name_made_of_one_letter_takes_no_longer() -> None:
    """All ways to place the letters are too many to try."""
    started_s = time.process_time()
    fit("a" * 30 + "b", "ac" * 2_000 + "b")
    assert time.process_time() - started_s < 2.0


def test_fifty_thousand_paths_are_looked_through_in_slices() -> None:
    paths = [f"package_{at % 97}/module_{at}.py" for at in range(50_000)]
    looking = Sieve("mod4999", paths)
    steps = 1
    while not looking.step(2_000):
        steps += 1
    assert steps == 25
    assert looking.best(1)[0].text.endswith("module_4999.py")


@given(st.text(max_size=6), st.text(max_size=40))
def test_the_offsets_are_the_letters(letters: str, text: str) -> None:
    low = folded(letters)
    assert len(low) == len(letters)
    if holds(low, folded(text)):
        found = fit(low, text)
        assert [folded(text)[at] for at in found.offsets] == list(low)
        assert list(found.offsets) == sorted(set(found.offsets))
