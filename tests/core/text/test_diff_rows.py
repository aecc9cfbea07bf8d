"""Pairs of lines and the words that differ in them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each
from tui.core.text.diff_rows import (
    MOST_CHARS,
    emphasis,
    paired,
)

lines = st.lists(st.text("ab {}", max_size=4), max_size=20)


@given(lines, lines)
def test_each_line_stands_somewhere_in_its_order(old: list[str], new: list[str]) -> None:
    found = paired(old, new)
    assert len(found) == max(len(old), len(new))
    assert [one for one, _ in found if one is not None] == list(range(len(old)))
    assert [other for _, other in found if other is not None] == list(range(len(new)))


@each(
    "old, new, was, becomes",
    [
        ("x = get(key)", "x = get(key, None)", "", ", None"),
        ("return nowhere", "return somewhere", "nowhere", "somewhere"),
        ("    return x", "        return x", "", "    "),
        ("total = 1 + 2", "total = one + 2", "1", "one"),
        ("if a and b:", "if a or c:", "and b", "or c"),
    ],
)
def test_the_words_that_differ_are_named(old: str, new: str, was: str, becomes: str) -> None:
    left, right = emphasis(old, new)
    assert "".join(old[a:b] for a, b in left) == was
    assert "".join(new[a:b] for a, b in right) == becomes


def test_lines_that_have_nothing_in_common_are_just_two_lines() -> None:
    assert emphasis("import os", "class Cache(dict): pass") == ((), ())


@given(st.text("ab =+(", max_size=30), st.text("ab =+(", max_size=30))
def test_what_is_not_named_is_in_both(old: str, new: str) -> None:
    left, right = emphasis(old, new)
    if left or right:
        assert _without(old, left).replace(" ", "") == _without(new, right).replace(" ", "")


def _without(text: str, ranges: tuple[tuple[int, int], ...]) -> str:
    for start, end in reversed(ranges):
        text = text[:start] + text[end:]
    return text


def test_of_a_long_line_both_ends_are_compared() -> None:
    tail = "y" * (2 * MOST_CHARS)
    left, right = emphasis(f"{tail}1{tail}", f"{tail}22{tail}")
    assert left == ((2 * MOST_CHARS, 2 * MOST_CHARS + 1),)
    assert right == ((2 * MOST_CHARS, 2 * MOST_CHARS + 2),)
