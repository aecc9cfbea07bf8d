from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.ui.editor.cells import LineCells, _known, copied, line_cells, line_width, picture

TEXT = st.text(
    alphabet=st.one_of(
        st.characters(exclude_characters="\n"),
        st.sampled_from("ab \t\x1b漢字é\u0301\u200d\ufe0f👩👍🏽→…\u202e☁"),
    ),
    max_size=30,
)


@pytest.mark.parametrize(
    ("line", "width"),
    [
        ("", 0),
        ("abc", 3),
        ("\tx", 5),
        ("ab\tx", 5),
        ("漢字", 4),
        ("e\u0301", 1),
        ("👩\u200d👩\u200d👧", 2),
        ("\x1b[31m", 5),
        ("\u0301", 1),
    ],
)
def test_width_in_cells(line: str, width: int) -> None:
    assert LineCells(line).width == width
    assert line_width(line) == width


@given(TEXT)
def test_what_is_shown_is_as_wide_as_it_says_and_inert(line: str) -> None:
    cells = LineCells(line)
    shown = "".join(run.text for run in cells.runs)
    assert all(cell_len(run.text) == run.cells for run in cells.runs)
    assert all(unicodedata.category(character) not in ("Cc", "Cs") for character in shown)
    assert not set(shown) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069")


@given(TEXT)
def test_runs_cover_the_line_without_gaps(line: str) -> None:
    cells = LineCells(line)
    places = [(run.col, run.end) for run in cells.runs]
    assert [end for _, end in places[:-1]] == [start for start, _ in places[1:]]
    assert (places[0][0], places[-1][1]) == (0, len(line)) if places else not line


@given(TEXT)
def test_steps_there_and_back_are_the_same_places(line: str) -> None:
    cells = LineCells(line)
    forth = [0]
    while forth[-1] < len(line):
        forth.append(cells.after(forth[-1]))
    back = [len(line)]
    while back[-1] > 0:
        back.append(cells.before(back[-1]))
    assert forth == back[::-1]
    assert all(cells.column(cells.cell(col)) == col for col in forth)
    assert all(cells.snap(col) == col for col in forth)


@given(TEXT, st.integers(0, 40), st.integers(0, 40))
def test_a_window_fills_its_cells(line: str, first: int, count: int) -> None:
    cells = LineCells(line)
    pieces = list(cells.window(first, first + count))
    wide = sum(cell_len(piece.text) for piece in pieces)
    assert wide == max(min(first + count, cells.width) - first, 0) * (count > 0)


def test_a_wide_character_cut_in_half_leaves_a_blank() -> None:
    assert "".join(piece.text for piece in LineCells("漢字漢").window(1, 5)) == " 字 "


def test_pictures() -> None:
    assert [picture(character) for character in "\x1b\x00\x7f\u202e"] == ["␛", "␀", "␡", "<202e>"]


def test_a_plain_line_is_one_run() -> None:
    assert len(LineCells("x = 1; " * 200).runs) == 1


def test_what_is_copied_can_be_encoded() -> None:
    assert copied("a\r\nb\rc\n") == "a\nb\rc\n"
    assert copied("half \ud800\udfff, byte \udcff") == "half \ufffd\ufffd, byte \udcff"


def test_what_is_remembered_has_a_bound_in_runs() -> None:
    for number in range(300):
        line_cells(f"{number}" + "e\u0301😀" * 400)
    remembered = sum(len(cells.runs) for cells in _known._cells.values())
    assert 0 < remembered <= 40_000
    assert line_cells("known") is line_cells("known")
