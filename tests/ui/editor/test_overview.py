from __future__ import annotations

import pytest
from textual.geometry import Size

from tui.ui.editor.overview import Mark, Overview, overview_cells


def test_the_thumb_is_where_the_view_is() -> None:
    cells = overview_cells(10, (50, 20, 100), [])
    assert [thumb for thumb, _ in cells] == [False] * 5 + [True] * 2 + [False] * 3


def test_a_file_that_is_all_in_sight_has_no_thumb() -> None:
    assert overview_cells(10, (0, 10, 8), [Mark(2, 3, "pending")])[2] == (False, "pending")
    assert not any(thumb for thumb, _ in overview_cells(10, (0, 10, 8), []))


def test_the_weightier_mark_wins_a_cell() -> None:
    marks = [Mark(0, 10, "accepted"), Mark(5, 6, "landing"), Mark(999, 1000, "pending")]
    kinds = [kind for _, kind in overview_cells(10, (0, 10, 1000), marks)]
    assert kinds == ["landing", "", "", "", "", "", "", "", "", "pending"]


def test_no_height_no_cells() -> None:
    assert overview_cells(0, (0, 1, 1), []) == []


def test_late_marks_are_not_put_into_cells_again_but_the_view_is_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Overview, "size", Size(1, 10))
    overview = Overview()
    marks = [Mark(50, 51, "pending")]
    overview.show(0, 10, 100, marks)
    assert overview._cells == overview_cells(10, (0, 10, 100), marks)
    overview.show(30, 10, 110, iter(()), late=True)
    assert overview._cells[5] == (False, "pending")
    assert [thumb for thumb, _ in overview._cells].index(True) == 2
    overview.show(30, 10, 110, marks)
    assert overview._cells == overview_cells(10, (30, 10, 110), marks)
