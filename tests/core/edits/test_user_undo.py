"""The user's undo beside hunks that are landed, rejected and kept (EDITS.md section 5)."""

from __future__ import annotations

import pytest

from tests.support.patches import Disk, disk, patch
from tests.support.tables import each
from tui.core.edits.workspace import undo_stopped

TEXT = "".join(f"l{number}\n" for number in range(30))
LINE = patch("@@", " l4", "-x=1 l5", "+x = 1 l5", " l6")
BLOCK = "a.txt\n<<<<<<< SEARCH\nl4\nx=1 l5\nl6\n=======\nL4\nx = 1 l5\nL6\n>>>>>>> REPLACE\n"

pytestmark = pytest.mark.case("G05")


def typed_over(text: str, fmt: str) -> Disk:
    """An older edit far below, one on a line, and a hunk over that line."""
    place = disk(a=TEXT)
    place.workspace.open("a.txt")
    place.workspace.edit("a.txt", (25, 0), (25, 0), "OLDER ", "1")
    place.workspace.edit("a.txt", (5, 0), (5, 0), "x=1 ", "2")
    place.land(text, fmt=fmt)
    return place


@each("text, fmt", [(LINE, "apply_patch"), (BLOCK, "search_replace")])
def test_g05_after_a_rejection_undo_takes_back_the_newest_edit(text, fmt):
    place = typed_over(text, fmt)
    place.workspace.reject()
    assert place.workspace.undo("a.txt") == (5, 0)
    assert place.text("a.txt") == TEXT.replace("l25", "OLDER l25")
    assert place.workspace.undo("a.txt") == (25, 0)
    assert place.text("a.txt") == TEXT
    assert not place.workspace.is_dirty("a.txt")


def test_g05_an_edit_that_a_pending_hunk_changed_stops_the_undo_once():
    place = typed_over(LINE, "apply_patch")
    before = place.text("a.txt")
    assert place.workspace.undo("a.txt") == (5, 0)
    assert undo_stopped(place.workspace, "a.txt")
    assert place.text("a.txt") == before
    place.workspace.reject()
    assert place.workspace.undo("a.txt") == (5, 0)
    assert not undo_stopped(place.workspace, "a.txt")
    assert place.text("a.txt") == TEXT.replace("l25", "OLDER l25")


def test_what_is_typed_and_was_passed_over_is_not_saved():
    """The state of the text was an old one again, and so the file not dirty."""
    place = typed_over(LINE, "apply_patch")
    place.workspace.undo("a.txt")
    assert place.workspace.undo("a.txt") == (25, 0)
    place.workspace.reject()
    assert "x=1 l5" in place.text("a.txt")
    assert place.workspace.is_dirty("a.txt")


@each("gone, removed", [("b", "c"), ("c", "b")])
def test_g05_a_line_that_comes_back_beside_a_removed_one_stands_in_order(gone, removed):
    place = disk(a="a\nb\nc\nd\n")
    row = "abcd".index(gone)
    place.workspace.edit("a.txt", (row, 0), (row + 1, 0), "")
    place.land(patch("@@", " a", f"-{removed}", " d"))
    place.workspace.undo("a.txt")
    assert place.text("a.txt") == f"a\n{gone}\nd\n"
    place.workspace.reject()
    assert place.text("a.txt") == "a\nb\nc\nd\n"
