"""Moves to where another file is about to go away (EDIT-CASES.md, B06 and B07)."""

from __future__ import annotations

from contextlib import suppress

import pytest

from tests.support.patches import Disk
from tests.support.tables import each
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
@each(
    "body, after",
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
@each("body", [DELETED, MOVED])
def test_who_accepts_such_a_move_accepts_that_the_other_file_goes(body):
    place, landing = land(body)
    bring(place, place.workspace.accept([landing.hunks[-1].id]))
    assert landing.hunks[0].decision is Decision.ACCEPTED
    assert place.files["b"].endswith(b"2\n")
    assert "a" not in place.files
    assert ("c" in place.files) == (body is MOVED)


@pytest.mark.case("B06", "I07")
@each("body", [DELETED, MOVED])
def test_if_the_other_file_is_to_stay_the_move_over_it_is_flagged(body):
    place, landing = land(body)
    place.workspace.reject([landing.hunks[0].id])
    assert "moves over an existing file" in landing.hunks[-1].flags
    bring(place, place.workspace.accept())
    assert place.files == {"b": b"one\n2\n"}
    bring(place, place.workspace.undo_turn())
    assert place.files == TREE


def renames(*pairs: str, edited: str = "") -> str:
    """A git diff that renames the first file of each pair to the second one."""
    parts = []
    for old, new in pairs:
        body = f"--- a/{old}\n+++ b/{new}\n@@ -1 +1 @@\n-{old}0\n+{old}1\n" if old == edited else ""
        parts.append(f"diff --git a/{old} b/{new}\nrename from {old}\nrename to {new}\n{body}")
    return "".join(parts)


def land_renames(*pairs: str, edited: str = ""):
    place = Disk({name: f"{name}0\n".encode() for name in "abcd"})
    return place, place.land(renames(*pairs, edited=edited), fmt="unified_diff")


CIRCLES = [
    ("ab", "ba"),
    ("ba", "ab"),
    ("ab", "bc", "ca"),
    ("bc", "ab", "ca"),
    ("ab", "bx", "cd", "dc"),
]


@each("first", [0, 1, -1])
@each("edited", ["", "a", "b"])
@each("pairs", CIRCLES)
def test_files_change_places_whichever_move_is_accepted_first(pairs, edited, first):
    place, landing = land_renames(*pairs, edited=edited)
    start, space = dict(place.files), place.workspace
    assert {hunk.stage for hunk in landing.hunks} == {Stage.LANDED}
    moves = [hunk for hunk in landing.hunks if hunk.target]
    after = {name: data for name, data in start.items() if name not in dict(pairs)}
    after |= {new: start[old].replace(b"0", b"01"[old == edited :][:1]) for old, new in pairs}
    bring(place, space.accept([moves[first].id]))
    bring(place, space.accept())
    assert place.files == after
    for _ in range(2):
        while space.last_decision() is not None:
            bring(place, space.undo_decision())
        assert place.files == start
        assert {hunk.decision for hunk in landing.hunks} == {Decision.PENDING}
        while space.last_decision(again=True) is not None:
            bring(place, space.redo_decision())
        assert place.files == after
    bring(place, space.undo_turn())
    assert place.files == start


@each("pairs", CIRCLES)
@each("failed", ["a", "b"])
def test_files_that_changed_places_are_back_when_a_write_failed(pairs, failed):
    place, _landing = land_renames(*pairs)
    start, space = dict(place.files), place.workspace
    paths = space.accept()
    for path in sorted(paths, key=lambda path: path != failed):
        space.write_failed(path)
    back = {path: buffer.encode() for path, buffer in space.buffers.items()}
    assert back == {path: start[path] for pair in pairs for path in pair if path in start}
    bring(place, space.accept())
    assert sorted(place.files.values()) == sorted(start.values())
    assert place.files["b"] == b"a0\n"


def test_a_swap_over_a_third_name_is_one_too():
    place, landing = land(SWAPPED)
    assert {hunk.stage for hunk in landing.hunks} == {Stage.LANDED}
    bring(place, place.workspace.accept())
    assert place.files == {"a": TREE["b"], "b": TREE["a"]}
    bring(place, place.workspace.undo_turn())
    assert place.files == TREE


@each(
    "pairs, placed",
    [(("ab",), ""), (("ab", "bc"), ""), (("ab", "bc", "cx"), "ab bc cx"), (("ax", "bx"), "ax")],
)
def test_a_file_goes_only_where_none_stays(pairs, placed):
    place, landing = land_renames(*pairs)
    start = dict(place.files)
    moved = [hunk for hunk in landing.hunks if hunk.stage is Stage.LANDED]
    assert [hunk.path + hunk.target for hunk in moved] == placed.split()
    refused = [hunk for hunk in landing.hunks if hunk.stage is Stage.REFUSED]
    assert len(moved) + len(refused) == len(pairs)
    assert all(hunk.reason.startswith("not moved: ") for hunk in refused)
    bring(place, place.workspace.accept())
    assert sorted(place.files.values()) == sorted(start.values())


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
