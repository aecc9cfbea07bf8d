"""Moves to where another file is about to go away (EDIT-CASES.md, B06 and B07)."""

from __future__ import annotations

from contextlib import suppress

import pytest

from tests.support.patches import Disk
from tui.core.edits.hunk import Decision, Stage
from tui.errors import EditRefused

TREE = {"a": b"1\n2\n", "b": b"x\n"}
DELETED = "*** Delete File: b\n*** Update File: a\n*** Move to: b\n@@\n-1\n+one\n"
MOVED = "*** Update File: b\n*** Move to: c\n*** Update File: a\n*** Move to: b\n@@\n-1\n+one\n"
SWAPPED = (
    "*** Update File: a\n*** Move to: t\n*** Update File: b\n*** Move to: a\n"
    "*** Update File: t\n*** Move to: b\n"
)


def land(body: str):
    place = Disk(dict(TREE))
    return place, place.land(f"*** Begin Patch\n{body}*** End Patch\n")


def bring(place: Disk, paths: list[str]) -> None:
    """All plans are made before the first file is written, as the engine does it."""
    plans = {path: place.workspace.disk_plan(path) for path in paths}
    for path, plan in plans.items():
        assert place.files.get(path) == plan.expected, path
        place.files.pop(path, None)
        if plan.data is not None:
            place.files[path] = plan.data
        place.workspace.written(path, plan.data)


@pytest.mark.case("B06", "B07")
@pytest.mark.parametrize(
    ("body", "after"),
    [
        (DELETED, {"b": b"one\n2\n"}),
        (MOVED, {"c": b"x\n", "b": b"one\n2\n"}),
    ],
)
def test_a_file_goes_where_another_one_has_gone_away(body, after):
    place, landing = land(body)
    assert {hunk.stage for hunk in landing.hunks} == {Stage.LANDED}
    bring(place, place.workspace.accept())
    assert place.files == after
    bring(place, place.workspace.undo_turn())
    assert place.files == TREE


@pytest.mark.case("B06", "B07")
@pytest.mark.parametrize("body", [DELETED, MOVED])
def test_who_accepts_such_a_move_accepts_that_the_other_file_goes(body):
    place, landing = land(body)
    bring(place, place.workspace.accept([landing.hunks[-1].id]))
    assert landing.hunks[0].decision is Decision.ACCEPTED
    assert place.files["b"].endswith(b"2\n")
    assert "a" not in place.files
    assert ("c" in place.files) == (body is MOVED)


@pytest.mark.case("B06", "I07")
@pytest.mark.parametrize("body", [DELETED, MOVED])
def test_if_the_other_file_is_to_stay_the_move_over_it_is_flagged(body):
    place, landing = land(body)
    place.workspace.reject([landing.hunks[0].id])
    assert "moves over an existing file" in landing.hunks[-1].flags
    bring(place, place.workspace.accept())
    assert place.files == {"b": b"one\n2\n"}
    bring(place, place.workspace.undo_turn())
    assert place.files == TREE


def test_two_files_do_not_change_places_and_none_is_lost():
    place, landing = land(SWAPPED)
    assert landing.hunks[-1].reason == "not moved: two files cannot change places in one patch"
    bring(place, place.workspace.accept())
    assert sorted(place.files.values()) == sorted(TREE.values())
    bring(place, place.workspace.undo_turn())
    assert place.files == TREE


def test_a_pending_deletion_goes_with_its_file_when_a_move_is_taken_back():
    """A13: it came to be about the file that the move had replaced, and took that away."""
    place = Disk({"c": b"c0\nc1\n", "d": b"d0\nd1\n"})
    start, space = dict(place.files), place.workspace
    place.land("*** Begin Patch\n*** Update File: d\n*** Move to: c\n@@\n-d1\n+D1\n*** End Patch\n")
    bring(place, space.accept())
    place.land("*** Begin Patch\n*** Delete File: c\n*** End Patch\n", turn=2)
    bring(place, space.undo_decision())
    assert space.hunks[2].path == "d"
    bring(place, space.undo_turn())
    with suppress(EditRefused):
        bring(place, space.undo_decision())
    bring(place, space.accept())
    for turn in (2, 1):
        bring(place, space.undo_turn(turn))
    assert place.files == start


def test_a_move_is_taken_back_with_the_one_that_took_its_files_place():
    """The older turn's file went where the newer turn's made room: that one could not go back."""
    place = Disk({"a": b"a0\n", "d": b"d0\n"})
    start, space = dict(place.files), place.workspace
    place.land("*** Begin Patch\n*** Update File: d\n*** Move to: a\n*** End Patch\n")
    space.undo_turn()
    place.land("*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch\n", turn=2)
    space.redo_decision()
    bring(place, space.accept())
    assert place.files == {"a": b"d0\n", "b": b"a0\n"}
    bring(place, space.undo_turn(2))
    bring(place, space.undo_turn(1))
    assert place.files == start
