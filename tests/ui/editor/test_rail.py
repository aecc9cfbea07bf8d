"""What lies over the edges of the text never hides the cursor, and fits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.ui.editor.paint import Row
from tui.ui.editor.rail import Said, Spot, lay_over

GHOST = (4, ["one", "two"])


def laid(said: Said, cursor: Spot = None, *, height: int = 20, width: int = 60) -> list[Row]:
    rows = [Row(f"line {number}", number) for number in range(1, height + 1)]
    lay_over(rows, width, said, cursor)
    return rows


def chips(row: Row) -> str:
    return "".join(text for text, _ in row.chips)


def test_counts_stand_above_and_below() -> None:
    rows = laid(Said(above=1, below=12))
    assert (chips(rows[0]), chips(rows[-1])) == (" ↑ 1 hunk ", " ↓ 12 hunks ")
    assert not any(row.chips for row in rows[1:-1])


def test_words_stand_before_the_count() -> None:
    rows = laid(Said("hunk 3: 4 candidates, reading context", below=2))
    assert chips(rows[-1]) == " hunk 3: 4 candidates, reading context  ↓ 2 hunks "
    assert [colour for _, colour in rows[-1].chips] == ["hunk-landing", "hunk-pending"]
    assert len(chips(laid(Said("hunk 3: " + "word " * 40), width=40)[-1])) <= 33


def test_what_becomes_of_the_file_goes_before_the_stage() -> None:
    row = laid(Said("hunk 3: landing at line 4", fate="to be deleted"))[-1]
    assert row.chips == ((" to be deleted ", "hunk-struck"),)


@pytest.mark.parametrize(
    ("line", "cursor", "first"),
    [(4, None, 5), (4, (10, 3), 5), (4, (10, 6), 17), (40, None, 17), (40, (10, 18), 0)],
)
def test_the_strip_is_under_its_line_unless_the_cursor_is_there(
    line: int, cursor: Spot, first: int
) -> None:
    rows = laid(Said("hunk 1: 2 candidates", ghost=(line, ["one", "two"])), cursor)
    assert [y for y, row in enumerate(rows) if row.kind == "ghost"] == [first, first + 1, first + 2]
    assert [row.text for row in rows[first : first + 3]] == [
        "hunk 1: 2 candidates · +2",
        "one",
        "two",
    ]


@given(
    st.integers(0, 40),
    st.integers(0, 90),
    st.tuples(st.integers(0, 89), st.integers(0, 39)),
    st.booleans(),
)
def test_the_cursor_is_never_hidden(height: int, width: int, cursor: Spot, ghost: bool) -> None:
    assert cursor is not None
    said = Said("hunk 1: landing at line 4", 3, 4, GHOST if ghost else None)
    if cursor[0] >= width or cursor[1] >= height:
        cursor = None
    rows = laid(said, cursor, height=height, width=width)
    assert len(rows) == height
    if cursor is not None:
        row = rows[cursor[1]]
        assert row.kind != "ghost"
        assert cursor[0] < width - len(chips(row))
