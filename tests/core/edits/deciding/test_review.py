"""Decisions, taking turns back, and what lies on the disk (EDIT-CASES.md, groups G and I)."""

from __future__ import annotations

import pytest

from tests.support.patches import Disk, disk, patch
from tui.core.edits.hunk import Decision, Kind, Stage
from tui.core.file_read import FileRead

THREE = patch("@@", "-a", "+A", "@@", "-c", "+C", "+CC", "@@", "-e", "@@", " g", "+h")
TEXT = "a\nb\nc\nd\ne\nf\ng\n"


def landed() -> Disk:
    place = disk(a=TEXT)
    assert place.land(THREE).placed_all
    return place


def test_i01_accept_one_reject_another_then_all():
    place = landed()
    assert place.workspace.accept([1]) == ["a.txt"]
    place.workspace.reject([2], "keep the c")
    place.workspace.reject()
    assert place.text("a.txt") == TEXT.replace("a", "A")
    assert [hunk.decision.value for hunk in place.workspace.hunks] == [
        "accepted", "rejected", "rejected", "rejected",
    ]  # fmt: skip
    assert [hunk.id for hunk in place.workspace.take_decisions()] == [1, 2, 4, 3]
    assert place.workspace.take_decisions() == []
    assert place.workspace.hunk(2).words == "keep the c"


def test_on_the_disk_lie_the_accepted_hunks_only():
    place = landed()
    assert place.workspace.disk_plan("a.txt").data == TEXT.encode()
    assert not place.workspace.is_dirty("a.txt")
    paths = place.workspace.accept([2])
    assert place.workspace.is_dirty("a.txt")
    place.write(paths)
    assert place.files["a.txt"] == b"a\nb\nC\nCC\nd\ne\nf\ng\n"
    assert not place.workspace.is_dirty("a.txt")
    place.workspace.edit("a.txt", (1, 0), (1, 1), "mine")
    place.write(["a.txt"])
    assert place.files["a.txt"] == b"a\nmine\nC\nCC\nd\ne\nf\ng\n"


def test_a_write_that_failed_makes_its_hunks_pending_again():
    place = landed()
    place.workspace.accept([1, 2])
    place.workspace.write_failed("a.txt")
    assert {hunk.decision for hunk in place.workspace.hunks} == {Decision.PENDING}
    assert place.workspace.disk_plan("a.txt").data == TEXT.encode()
    assert not place.workspace.is_dirty("a.txt")
    assert place.workspace.take_decisions() == []


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


def test_a_turn_is_taken_back_after_accepting_and_writing():
    place = landed()
    place.write(place.workspace.accept())
    assert place.files["a.txt"] == b"A\nb\nC\nCC\nd\nf\ng\nh\n"
    assert place.workspace.model_turns == [1]
    place.write(place.workspace.undo_turn())
    assert place.files["a.txt"] == TEXT.encode()
    assert place.workspace.model_turns == []
    assert place.workspace.undo_turn() == []


def test_pending_hunks_are_taken_back_without_a_write():
    place = landed()
    assert place.workspace.undo_turn() == []
    assert place.text("a.txt") == TEXT
    assert {hunk.words for hunk in place.workspace.take_decisions()} == {"undone"}


def test_a_deleted_file_comes_back():
    place = disk(a=TEXT)
    place.land("*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n")
    hunk = place.workspace.hunks[0]
    assert (hunk.kind, hunk.removed, hunk.flags) == (Kind.DELETE, 7, ["deletes the file"])
    assert place.text("a.txt") == TEXT
    place.write(place.workspace.accept())
    assert place.files == {}
    assert place.workspace.buffers == {}
    place.write(place.workspace.undo_turn())
    assert place.files == {"a.txt": TEXT.encode()}
    assert place.text("a.txt") == TEXT


def test_a_rejected_deletion_changes_nothing():
    place = disk(a=TEXT)
    place.land("*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n")
    place.workspace.reject()
    assert place.workspace.decorations("a.txt", 0, 9) == {}
    assert place.land(patch("@@", "-a", "+A")).placed_all


def test_a_file_that_the_user_edited_is_not_deleted():
    place = disk(a=TEXT)
    place.land("*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n")
    place.workspace.edit("a.txt", (0, 0), (0, 0), "mine\n")
    assert place.workspace.accept() == []
    assert place.workspace.hunks[0].stage is Stage.CONFLICT
    assert place.text("a.txt") == "mine\n" + TEXT


def test_a_later_hunk_on_a_pending_one_goes_and_comes_with_it():
    place = disk(a=TEXT)
    place.land(patch("@@", "-c", "+one", "+two", "+three"), turn=1)
    place.land(patch("@@", " one", "-two", "+TWO"), turn=2)
    place.workspace.reject([1])
    assert place.text("a.txt") == TEXT
    assert [hunk.decision for hunk in place.workspace.hunks] == [Decision.REJECTED] * 2


def test_accepting_the_later_hunk_accepts_what_it_lies_on():
    place = disk(a=TEXT)
    place.land(patch("@@", "-c", "+one", "+two", "+three"), turn=1)
    place.land(patch("@@", " one", "-two", "+TWO"), turn=2)
    place.write(place.workspace.accept([2]))
    assert place.files["a.txt"] == TEXT.replace("c", "one\nTWO\nthree").encode()
    place.write(place.workspace.undo_turn())
    assert place.files["a.txt"] == TEXT.replace("c", "one\ntwo\nthree").encode()
    place.write(place.workspace.undo_turn())
    assert place.files["a.txt"] == TEXT.encode()


def test_g03_what_the_user_typed_in_a_hunk_survives_its_rejection():
    place = landed()
    place.workspace.edit("a.txt", (0, 1), (0, 1), "\nmine")
    place.workspace.reject([1])
    assert place.text("a.txt").startswith("a\nmine\nb\n")


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


def test_i02_an_added_file_in_which_the_user_typed_is_kept():
    place = disk()
    place.land("*** Begin Patch\n*** Add File: n.txt\n+one\n+two\n*** End Patch\n")
    place.workspace.edit("n.txt", (2, 0), (2, 0), "mine\n")
    assert place.workspace.disk_plan("n.txt").data == b"mine\n"
    place.workspace.reject()
    assert place.text("n.txt") == "mine\n"


def test_g06_saving_during_an_open_hunk_backs_it_out():
    place = disk(a=TEXT)
    landing = place.start()
    landing.feed("*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+A\n@@\n c\n-d\n+D\n")
    place.workspace.edit("a.txt", (1, 0), (1, 1), "mine")
    place.workspace.edit("a.txt", (0, 1), (0, 1), "!")
    place.workspace.undo("a.txt")
    place.workspace.accept([1])
    assert place.workspace.disk_plan("a.txt").data == b"A\nmine\nc\nd\ne\nf\ng\n"
    landing.feed(" e\n*** End Patch\n")
    landing.finish(cut=False)
    assert place.text("a.txt") == "A\nmine\nc\nD\ne\nf\ng\n"


def test_a_conflict_of_the_stream_can_be_dismissed():
    place = disk(a=TEXT)
    landing = place.start()
    landing.feed("*** Begin Patch\n*** Update File: a.txt\n@@\n b\n-c\n")
    place.workspace.edit("a.txt", (2, 0), (2, 1), "mine")
    landing.feed("+C\n d\n*** End Patch\n")
    landing.finish(cut=False)
    place.workspace.reject([1])
    assert place.workspace.hunks[0].decision is Decision.REJECTED
    assert place.text("a.txt") == "a\nb\nmine\nd\ne\nf\ng\n"


def test_moves_over_files_with_unsaved_edits_are_refused():
    place = disk(a="a\n", b="b\n")
    place.land(patch("*** Move to: b.txt"))
    place.workspace.open("b.txt")
    place.workspace.edit("b.txt", (0, 0), (0, 0), "mine ")
    assert place.workspace.accept() == []
    assert "unsaved edits" in place.workspace.hunks[0].reason
    assert place.text("b.txt") == "mine b\n"


def test_hunks_are_found_by_call_and_id():
    place = landed()
    assert [hunk.id for hunk in place.workspace.hunks_of("call_1")] == [1, 2, 3, 4]
    assert place.workspace.hunks_of("other") == []
    revision = place.workspace.hunks_revision
    place.workspace.accept([3])
    assert place.workspace.hunks_revision > revision


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
    assert [hunk.id for hunk in place.workspace.take_decisions()] == [1, 4, 3, 2]


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
