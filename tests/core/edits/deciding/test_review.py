"""Decisions, taking turns back, and what lies on the disk (EDIT-CASES.md, groups G and I)."""

from __future__ import annotations

import pytest

from tests.support.patches import Disk, disk, patch
from tui.core.edits.hunk import Decision, Stage
from tui.core.files import FileRead

THREE = patch("@@", "-a", "+A", "@@", "-c", "+C", "+CC", "@@", "-e", "@@", " g", "+h")
TEXT = "a\nb\nc\nd\ne\nf\ng\n"


def landed() -> Disk:
    place = disk(a=TEXT)
    assert place.land(THREE).placed_all
    return place


def test_a_write_that_failed_makes_its_hunks_pending_again():
    place = landed()
    place.workspace.accept([1, 2])
    place.workspace.write_failed("a.txt")
    assert {hunk.decision for hunk in place.workspace.hunks} == {Decision.PENDING}
    assert place.workspace.disk_plan("a.txt").data == TEXT.encode()
    assert not place.workspace.is_dirty("a.txt")


def test_failed_deletes_and_moves_are_pending_again():
    place = disk(a="a\n", b="b\n")
    place.land("*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n")
    place.land(patch("*** Move to: c.txt", file="b.txt"))
    place.workspace.accept()
    assert set(place.workspace.buffers) == {"c.txt"}
    place.workspace.write_failed("a.txt")
    place.workspace.write_failed("c.txt")
    assert set(place.workspace.buffers) == {"a.txt", "b.txt"}
    place.write(place.workspace.accept())
    assert place.files == {"c.txt": b"b\n"}


def test_a_file_that_the_user_edited_is_not_deleted():
    place = disk(a=TEXT)
    place.land("*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n")
    place.workspace.edit("a.txt", (0, 0), (0, 0), "mine\n")
    assert place.workspace.accept() == []
    assert place.workspace.hunks[0].stage is Stage.CONFLICT
    assert place.text("a.txt") == "mine\n" + TEXT


def test_g03_a_changed_model_line_is_not_taken_back_but_in_conflict():
    place = landed()
    place.workspace.edit("a.txt", (0, 1), (0, 1), " and mine")
    place.workspace.reject([1])
    hunk = place.workspace.hunk(1)
    assert (hunk.stage, hunk.decision) == (Stage.CONFLICT, Decision.PENDING)
    assert place.text("a.txt").startswith("A and mine\n")
    assert place.workspace.decorations("a.txt", 0, 0) == {0: "conflict"}
    assert place.workspace.disk_plan("a.txt").data == TEXT.encode()
    place.write(place.workspace.accept([1]))
    assert place.files["a.txt"].startswith(b"A and mine\nb\nc\n")
    assert (hunk.stage, hunk.decision) == (Stage.LANDED, Decision.ACCEPTED)


def test_moves_over_files_with_unsaved_edits_are_refused():
    place = disk(a="a\n", b="b\n")
    place.land(patch("*** Move to: b.txt"))
    place.workspace.open("b.txt")
    place.workspace.edit("b.txt", (0, 0), (0, 0), "mine ")
    assert place.workspace.accept() == []
    assert "unsaved edits" in place.workspace.hunks[0].reason
    assert place.text("b.txt") == "mine b\n"


def test_a_deletion_takes_the_edits_of_its_file_with_it_and_brings_them_back():
    place = disk(a=TEXT)
    body = "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+A\n*** Delete File: a.txt\n"
    place.land(body + "*** End Patch\n")
    place.write(place.workspace.accept([2]))
    assert place.files == {}
    assert {hunk.decision for hunk in place.workspace.hunks} == {Decision.ACCEPTED}
    place.write(place.workspace.undo_turn())
    assert place.files == {"a.txt": TEXT.encode()}


def test_a_deleted_file_does_not_come_back_over_a_new_one():
    place = disk(a=TEXT)
    place.land("*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n")
    place.write(place.workspace.accept())
    place.workspace.create("a.txt")
    place.workspace.edit("a.txt", (0, 0), (0, 0), "mine\n")
    assert place.workspace.undo_turn() == []
    assert place.workspace.hunks[0].stage is Stage.CONFLICT
    assert place.text("a.txt") == "mine\n"


def test_deletions_that_met_in_one_place_come_back_in_their_order():
    """The lower one was deleted first, the line above it later: both stand at row 2 now."""
    for order in ((0, 1), (1, 0)):
        place = disk(a="a\na\nb\na\na")
        place.land(patch("@@", " b", "-a", "@@", "-b"))
        assert place.text("a.txt") == "a\na\na"
        hunks = [hunk.id for hunk in place.workspace.hunks]
        place.workspace.reject([hunks[order[0]]])
        place.workspace.reject([hunks[order[1]]])
        assert place.text("a.txt") == "a\na\nb\na\na"


@pytest.mark.case("I03")
def test_i03_what_somebody_else_brought_to_the_disk_is_accepted():
    place = landed()
    place.files["a.txt"] = TEXT.replace("a\n", "A\n").replace("g\n", "g\nh\n").encode()
    place.workspace.outside_change("a.txt", FileRead(place.files["a.txt"]))
    decisions = [hunk.decision.value for hunk in place.workspace.hunks]
    assert decisions == ["accepted", "pending", "pending", "accepted"]
    assert place.text("a.txt") == "A\nb\nC\nCC\nd\nf\ng\nh\n"
    assert not place.workspace.is_dirty("a.txt")
    assert place.workspace.disk_plan("a.txt").data == place.files["a.txt"]
    place.workspace.reject()
    assert place.text("a.txt").encode() == place.files["a.txt"]


@pytest.mark.case("I03")
def test_i03_a_change_beside_the_hunk_or_like_it_accepts_nothing():
    place = landed()
    place.files["a.txt"] = TEXT.replace("a\n", "A!\n").encode()
    place.workspace.outside_change("a.txt", FileRead(place.files["a.txt"]))
    assert {hunk.decision for hunk in place.workspace.hunks} == {Decision.PENDING}
    other = landed()
    other.files["a.txt"] = (TEXT + "A\n").encode()
    other.workspace.outside_change("a.txt", FileRead(other.files["a.txt"]))
    assert {hunk.decision for hunk in other.workspace.hunks} == {Decision.PENDING}


@pytest.mark.case("I03")
def test_i03_a_new_file_and_a_deletion_that_others_did_are_accepted():
    place = disk(b="b\n")
    place.land(
        "*** Begin Patch\n*** Add File: n.txt\n+one\n*** Delete File: b.txt\n*** End Patch\n"
    )
    place.files = {"n.txt": b"one\n"}
    for path in ("n.txt", "b.txt"):
        place.workspace.outside_change(path, FileRead(place.files.get(path)))
    assert [hunk.decision.value for hunk in place.workspace.hunks] == ["accepted"] * 2
    assert set(place.workspace.buffers) == {"n.txt"}
    assert not place.workspace.conflicts
    assert not place.workspace.is_dirty("n.txt")
