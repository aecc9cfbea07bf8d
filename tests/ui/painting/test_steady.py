from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from rich.segment import Segment
from textual.strip import Strip

from tui.ui.painting.ink import ink
from tui.ui.painting.picture import Picture
from tui.ui.painting.steady import steady_bytes

FAMILY = "👩\u200d👩\u200d👧"


def columns(*texts: str, at: int = 10) -> list[int]:
    """The columns, from 1, that are gone to after a piece of a row."""
    said = steady_bytes(Strip([Segment(text) for text in texts]), at)
    assert re.sub(r"\x1b\[\d+G", "", said) == "".join(texts)
    return [int(found) for found in re.findall(r"\x1b\[(\d+)G", said)]


@pytest.mark.parametrize("sure", ["plain", "漢字", "é", "→ │ ─ …", "Ж", ""])
def test_what_has_the_same_width_everywhere_is_written_as_it_is(sure: str) -> None:
    assert columns("a", sure, "b") == []


@pytest.mark.parametrize(
    ("unsure", "cells"),
    [
        (FAMILY, 2),
        ("🇩🇪", 2),
        ("👍🏽", 2),
        ("☁\ufe0f", 2),
        ("e\u0301", 1),
        ("✅ done", 7),
        ("⌚", 2),
    ],
)
def test_behind_the_others_the_next_piece_has_its_place(unsure: str, cells: int) -> None:
    assert columns("a", unsure, "b", at=10) == [10 + 1 + cells + 1]


def test_each_such_piece_is_followed_by_its_own() -> None:
    assert columns(FAMILY, FAMILY, "x", FAMILY, at=0) == [3, 5, 8]


def test_a_picture_writes_rows_and_parts_of_rows_so() -> None:
    picture = Picture()
    row = [Segment("head "), Segment(FAMILY), Segment(" tail")]
    said = picture.put(3, (4, 16), Strip(row))
    assert said == f"\x1b[4;5Hhead {FAMILY}\x1b[12G tail"
    row[2] = Segment(" tall")
    assert picture.put(3, (4, 16), Strip(row)) == "\x1b[4;12H tall"
    row[1] = Segment("👍🏽")
    # where it is drawn over more cells it has covered what did not change
    assert picture.put(3, (4, 16), Strip(row)) == "\x1b[4;10H👍🏽\x1b[12G tall"


@pytest.fixture
def wide() -> Iterator[None]:
    """A terminal whose signs of open width take two cells."""
    ink().set_signs("unicode", wide_ambiguous=True)
    yield
    ink().set_signs("unicode")


@pytest.mark.usefixtures("wide")
def test_where_signs_are_wide_ours_are_written_in_ascii_and_letters_keep_their_place() -> None:
    assert steady_bytes(Strip([Segment("─●→"), Segment("b")]), 0) == "-*>b"
    assert steady_bytes(Strip([Segment("Жук"), Segment("b")]), 0) == "Жук\x1b[4Gb"
    assert steady_bytes(Strip([Segment("漢字"), Segment("b")]), 0) == "漢字b"
