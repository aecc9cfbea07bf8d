"""Cells of a line, its words, and its ending."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.support.tables import each
from tui.core.text.buffer import Buffer
from tui.ui.editor.cells import LineCells, LongCells, copied, line_width
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


FAMILY = "👩\u200d👩\u200d👧"
LONG_PIECES = (
    "word ",
    "x" * 37,
    "\t",
    "漢字",
    "é",
    "e\u0301",
    FAMILY,
    "🇩🇪",
    "☁\ufe0f",
    "\x1b[0m",
    "\u202e",
    "한글",
    "\u4dc0",
    "㐀",
    "a\u0301\u0302",
    "\ud800",
)
LINES = {
    "words": "word xyz " * 3_000,
    "one word": "x" * 30_000,
    "tabs": "a\tb cd " * 3_000,
    "wide": "漢字漢 abc" * 2_000,
    "families": FAMILY * 3_000,
    "accents": "e\u0301" * 9_000,
    "piled up": "a" + "\u0301" * 20_000,
    "flags": "🇩🇪🇫🇷" * 3_000,
    "mixed": f"a\tb漢字{FAMILY} " * 1_500,
    "blank": " " * 20_000,
    "control": "\x1b[2J\x07" * 4_000,
}


def some_line(seed: int, pieces: int) -> str:
    pick = random.Random(seed)
    return "".join(pick.choice(LONG_PIECES) for _ in range(pieces))


@each("name", [name for name in LINES if name not in ("piled up", "flags")])
def test_blocks_answer_as_one_piece_would(name: str) -> None:
    line = LINES[name]
    blocks, whole = LongCells(line), LineCells(line)
    assert blocks.width == whole.width == line_width(line)
    for col in random.Random(1).sample(range(len(line)), 150):
        col = whole.snap(col)
        assert blocks.snap(col) == col
        assert blocks.cell(col) == whole.cell(col)
        assert blocks.column(blocks.cell(col)) == col
        assert (blocks.after(col), blocks.before(col)) == (whole.after(col), whole.before(col))
    assert blocks.cell(len(line)) == whole.width
    assert blocks.column(whole.width) == blocks.column(10**9) == len(line)
    assert (blocks.before(0), blocks.after(len(line))) == (0, len(line))


@each("name", LINES)
def test_a_window_of_blocks_fills_its_cells(name: str) -> None:
    cells = LongCells(LINES[name])
    for first in (0, 1, 999, cells.width // 2, max(cells.width - 30, 0)):
        pieces = list(cells.window(first, first + 80))
        wide = sum(cell_len(piece.text) for piece in pieces)
        assert wide == min(80, max(cells.width - first, 0))
        assert [piece.end for piece in pieces[:-1]] == [piece.col for piece in pieces[1:]]


@settings(max_examples=60)
@given(
    st.integers(0, 9),
    st.lists(st.tuples(*[st.floats(0, 1)] * 2, st.sampled_from(LONG_PIECES))),
)
def test_an_edited_line_keeps_what_is_known(
    seed: int, edits: list[tuple[float, float, str]]
) -> None:
    line = some_line(seed, 1_200)
    cells = LongCells(line)
    cells.cell(len(line) // 2)
    for place, share, text in edits[:6]:
        at = int(place * len(line))
        gone = int(share * 50)
        line = line[:at] + text * (gone + 1) + line[at + gone :]
        cells = cells.edited(line) or LongCells(line)
        blocks, col = [], 0
        while col < len(line):
            blocks.append(cells.block(col))
            col = blocks[-1][1]
        assert all(first < end for first, end in blocks)
        by_hand = 0
        for first, end in blocks:
            assert cells.cell(first) == by_hand
            by_hand += LineCells(line[first:end], by_hand % 4).width
        assert cells.width == by_hand


def test_another_line_is_no_edit_of_this_one() -> None:
    assert LongCells("a b " * 2_000).edited("漢字" * 5_000) is None
