"""Word boundaries: accents, signs, blanks, very long lines."""

from __future__ import annotations

import time

import pytest

from tui.core.text.buffer import Buffer
from tui.ui.editor.words import word_after, word_at, word_before


@pytest.mark.parametrize(
    ("line", "col", "span"),
    [
        ("foo = bar", 1, (0, 3)),
        ("foo = bar", 9, (6, 9)),
        ("a   b", 2, (1, 4)),
        ("a += 1", 3, (2, 4)),
    ],
)
def test_words(line: str, col: int, span: tuple[int, int]) -> None:
    assert word_at(line, col) == span


STOPS = [
    ("foo.bar(baz)", [3, 4, 7, 8, 11, 12]),
    ("a == b", [1, 4, 6]),
    ("cafe\u0301s au lait", [6, 9, 14]),
    ("\u0915\u094d\u200d\u0937\u093e x", [5, 7]),
    ("漢字 \U0001f469\u200d\U0001f467!", [2, 7]),
    ("  ", [2]),
    ("_a1-b", [3, 4, 5]),
]


@pytest.mark.parametrize(("line", "ends"), STOPS)
def test_moving_right_stops_behind_each_word(line: str, ends: list[int]) -> None:
    buffer, at, seen = Buffer("a", line), (0, 0), []
    while at[1] < len(line):
        at = word_after(buffer, at)
        seen.append(at[1])
    assert seen == ends


def test_moving_left_stops_before_each_word_and_at_line_ends() -> None:
    buffer = Buffer("a", "one\n  cafe\u0301s x.y  ")
    at, seen = buffer.end, []
    while at != (0, 0):
        at = word_before(buffer, at)
        seen.append(at)
    assert seen == [(1, 11), (1, 10), (1, 9), (1, 2), (1, 0), (0, 3), (0, 0)]


def test_the_ends_of_a_file_are_the_ends() -> None:
    buffer = Buffer("a", "x")
    assert word_after(buffer, (0, 1)) == (0, 1)
    assert word_before(buffer, (0, 0)) == (0, 0)


def test_a_word_in_a_long_line_costs_the_word() -> None:
    line = "word " * 200_000
    started = time.process_time()
    for _ in range(50):
        assert word_at(line, 500_001) == (500_000, 500_004)
    assert time.process_time() - started < 0.1
