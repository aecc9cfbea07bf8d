"""Cells of a line, its words, and its ending."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each
from tui.core.text.buffer import Buffer
from tui.ui.editor.cells import copied
from tui.ui.editor.cursor import word_after, word_before
from tui.ui.editor.view import Newlines


def test_what_is_copied_can_be_encoded() -> None:
    assert copied("a\r\nb\rc\n") == "a\nb\rc\n"
    assert copied("half \ud800\udfff, byte \udcff") == "half \ufffd\ufffd, byte \udcff"


STOPS = [
    ("foo.bar(baz)", [3, 4, 7, 8, 11, 12]),
    ("a == b", [1, 4, 6]),
    ("cafe\u0301s au lait", [6, 9, 14]),
    ("\u0915\u094d\u200d\u0937\u093e x", [5, 7]),
    ("漢字 \U0001f469\u200d\U0001f467!", [2, 7]),
    ("  ", [2]),
    ("_a1-b", [3, 4, 5]),
]


@each("line, ends", STOPS)
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
