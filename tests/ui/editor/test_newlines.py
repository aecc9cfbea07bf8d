from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.text.buffer import Buffer
from tui.ui.editor.newlines import Newlines


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "LF"),
        ("one line", "LF"),
        ("a\nb\n", "LF"),
        ("a\r\nb\r\n", "CRLF"),
        ("a\r\nb", "CRLF"),
        ("a\r\nb\n", "mixed"),
        ("a\rb\n", "LF"),
    ],
)
def test_the_word_for_a_file(text: str, word: str) -> None:
    assert Newlines(Buffer("a", text)).word == word


def test_the_odd_ones_are_shown() -> None:
    newlines = Newlines(Buffer("a", "a\r\nb\nc\r\nd\r\ne"))
    assert [newlines.picture(line) for line in range(5)] == ["", "␊", "", "", ""]
    newlines = Newlines(Buffer("a", "a\nb\r\nc\n"))
    assert [newlines.picture(line) for line in range(4)] == ["", "␍␊", "", ""]


def test_nothing_is_shown_where_all_are_the_same() -> None:
    newlines = Newlines(Buffer("a", "a\r\nb\r\n"))
    assert [newlines.picture(line) for line in range(3)] == ["", "", ""]


PIECES = st.sampled_from(["a", "\n", "\r\n", "b\nc\r\n", "", "\r"])
EDITS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.3), PIECES), max_size=12)


@given(st.lists(PIECES, max_size=12).map("".join), EDITS, st.integers(1, 4))
def test_it_keeps_up_with_any_edits(
    text: str, edits: list[tuple[float, float, str]], every: int
) -> None:
    buffer = Buffer("a", text)
    newlines = Newlines(buffer)
    for number, (place, share, new) in enumerate(edits):
        start = buffer.clamp((int(place * buffer.line_count), int(place * 3)))
        end = max(start, buffer.clamp((start[0] + int(share * buffer.line_count), 1)))
        buffer.replace(start, end, new)
        if number % every == 0:  # several edits are taken up at once, too
            assert newlines.word == Newlines(buffer).word
    fresh = Newlines(buffer)
    lines = range(buffer.line_count)
    assert [newlines.picture(line) for line in lines] == [fresh.picture(line) for line in lines]


def test_a_reader_that_lags_far_behind_starts_over() -> None:
    buffer = Buffer("a", "a\n")
    newlines = Newlines(buffer)
    for _ in range(5_000):
        buffer.replace((0, 0), (0, 0), "b\r\n")
    assert newlines.word == "mixed"
