"""Hunks that stand at one place: their texts come back in the order of the file."""

from __future__ import annotations

import pytest

from tests.support.notations import NOTATIONS, told
from tests.support.patches import Disk, Edit, disk, patch, patch_of
from tests.support.tables import each
from tui.core.edit_stream.events import Notation
from tui.core.files import FileRead

LINES = list("abcde")
TEXT = "a\nb\nc\nd\ne\n"


def without(first: int, second: int) -> Disk:
    """Both lines are taken out by hunks that land in this order."""
    place = disk(a=TEXT)
    place.land(patch_of(LINES, [Edit(first, first + 1, ())], 2, "a.txt"))
    lines = [line for line in LINES if line != LINES[first]]
    second -= first < second
    place.land(patch_of(lines, [Edit(second, second + 1, ())], 2, "a.txt"), turn=2)
    return place


@pytest.mark.case("I01", "G02")
@each("order", [(0, 2), (2, 0)])
@each("remover", ["user", "disk"])
def test_the_line_between_two_removed_ones_goes(order: tuple[int, int], remover: str):
    """Nothing is left between them: a save and a rejection still give the lines in order."""
    place = without(*order)
    if remover == "user":
        place.workspace.edit("a.txt", (0, 0), (1, 0), "")
    else:
        place.files["a.txt"] = b"a\nc\nd\ne\n"
        place.workspace.outside_change("a.txt", FileRead(place.files["a.txt"]))
    assert place.text("a.txt") == "d\ne\n"
    assert place.workspace.disk_plan("a.txt").data == b"a\nc\nd\ne\n"
    place.workspace.reject()
    assert place.text("a.txt") == "a\nc\nd\ne\n"
    place.workspace.undo_decision()
    assert place.text("a.txt") == "d\ne\n"
    place.workspace.redo_decision()
    assert place.text("a.txt") == "a\nc\nd\ne\n"


@pytest.mark.case("I01")
@each("one", [1, 2])
def test_one_of_two_is_rejected_and_the_other_accepted(one: int):
    place = without(0, 2)
    place.workspace.edit("a.txt", (0, 0), (1, 0), "")
    place.write(place.workspace.accept([one]))
    place.workspace.reject()
    assert place.text("a.txt").encode() == place.files["a.txt"]
    assert place.text("a.txt") == ("c\nd\ne\n" if one == 1 else "a\nd\ne\n")
    place.write(place.workspace.undo_decision())
    place.write(place.workspace.undo_decision())
    place.workspace.reject()
    assert place.text("a.txt") == "a\nc\nd\ne\n"


@pytest.mark.case("I01")
def test_three_side_by_side_of_which_the_middle_one_was_off_meanwhile():
    place = disk(a=TEXT)
    place.land(patch_of(LINES, [Edit(1, 2, ())], 2, "a.txt"))
    place.workspace.reject([1])
    place.land(patch_of(LINES, [Edit(0, 1, ())], 2, "a.txt"), turn=2)
    place.land(patch_of(LINES[1:], [Edit(1, 2, ())], 2, "a.txt"), turn=3)
    place.workspace.undo_decision()
    assert place.text("a.txt") == "d\ne\n"
    assert place.workspace.disk_plan("a.txt").data == TEXT.encode()
    for number in (3, 1, 2):
        place.workspace.reject([number])
    assert place.text("a.txt") == TEXT


@pytest.mark.case("I01")
@each("fmt", NOTATIONS)
def test_a_rejected_deletion_comes_back_above_what_landed_below_it(fmt: Notation):
    """New lines are painted before the old ones are gone: they must not push it along."""
    place = disk(a=TEXT)
    place.land(patch("@@", "-a"))
    rest = LINES[1:]
    place.land(told(fmt, rest, [Edit(0, 1, ("B",))], 1, "a.txt"), turn=2, fmt=fmt)
    place.workspace.reject([1])
    assert place.text("a.txt") == "a\nB\nc\nd\ne\n"
    place.workspace.reject()
    assert place.text("a.txt") == TEXT


@pytest.mark.case("I01")
@each("fmt", NOTATIONS)
def test_an_insertion_taken_back_by_an_undo_stands_where_it_stood_beside_later_hunks(fmt: Notation):
    place = disk(a=TEXT)
    place.land(patch("@@", " b", "+new"))
    place.workspace.reject([1])
    place.workspace.take_user_changes()  # the next request: the model knows of it
    place.land(told(fmt, LINES, [Edit(2, 3, ("C",))], 1, "a.txt"), turn=2, fmt=fmt)
    place.workspace.undo_decision()
    assert place.text("a.txt") == "a\nb\nnew\nC\nd\ne\n"
    assert place.workspace.disk_plan("a.txt").data == TEXT.encode()


@pytest.mark.case("I01")
@each("first", [0, 1])
def test_deletions_side_by_side_come_back_in_order_whichever_was_decided_again(first: int):
    """One landed while the other was rejected: they know of each other all the same."""
    lines, gone = LINES, LINES[:2]
    place = disk(a=TEXT)
    place.land(patch_of(lines, [Edit(first, first + 1, ())], 2, "a.txt"))
    place.workspace.reject([1])
    place.land(patch_of(lines, [Edit(1 - first, 2 - first, ())], 2, "a.txt"), turn=2)
    place.workspace.undo_decision()
    assert place.text("a.txt") == TEXT.removeprefix("\n".join([*gone, ""]))
    assert place.workspace.disk_plan("a.txt").data == TEXT.encode()
    place.workspace.reject([1])
    place.workspace.reject([2])
    assert place.text("a.txt") == TEXT
