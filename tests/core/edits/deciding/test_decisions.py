"""Undo and redo of decisions, one by one (EDITS.md section 8; EDIT-CASES.md, group I)."""

from __future__ import annotations

import pytest

from tests.support.patches import Disk, disk, patch
from tests.support.tables import each
from tui.core.edits.hunk import Decision, Stage
from tui.core.files import FileRead
from tui.errors import EditRefused

THREE = patch("@@", "-a", "+A", "@@", "-c", "+C", "+CC", "@@", "-e", "@@", " g", "+h")
TEXT = "a\nb\nc\nd\ne\nf\ng\n"
ADD = "*** Begin Patch\n*** Add File: n.txt\n+one\n+two\n*** End Patch\n"
DELETE = "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n"


def landed() -> Disk:
    place = disk(a=TEXT)
    assert place.land(THREE).placed_all
    return place


def decisions(place: Disk) -> str:
    return " ".join(hunk.decision.value for hunk in place.workspace.hunks)


@pytest.mark.case("I01")
def test_accept_one_reject_two_undo_the_reject_reject_all():
    place = landed()
    place.write(place.workspace.accept([1]))
    place.workspace.reject([2], "keep the c")
    assert place.workspace.undo_decision() == []
    assert decisions(place) == "accepted pending pending pending"
    assert place.text("a.txt") == "A\nb\nC\nCC\nd\nf\ng\nh\n"
    place.workspace.reject()
    assert place.text("a.txt").encode() == place.files["a.txt"] == b"A\nb\nc\nd\ne\nf\ng\n"


def test_what_was_accepted_and_not_yet_written_is_clean_again():
    place = landed()
    place.workspace.accept([2])
    assert place.workspace.is_dirty("a.txt")
    place.workspace.undo_decision()
    assert not place.workspace.is_dirty("a.txt")
    assert place.workspace.write_failed("a.txt") is False


def test_a_rejected_hunk_comes_back_where_its_lines_went():
    place = landed()
    place.workspace.reject([2])
    place.workspace.edit("a.txt", (0, 0), (0, 0), "mine\nmine too\n")
    place.workspace.undo_decision()
    assert place.text("a.txt") == "mine\nmine too\nA\nb\nC\nCC\nd\nf\ng\nh\n"
    hunk = place.workspace.hunk(2)
    assert hunk.start is not None
    assert (hunk.start.line, hunk.decision) == (4, Decision.PENDING)
    place.workspace.reject()
    assert place.text("a.txt") == "mine\nmine too\n" + TEXT


def test_what_was_typed_into_the_old_lines_meanwhile_stays():
    place = landed()
    place.workspace.reject([2])
    place.workspace.edit("a.txt", (3, 0), (3, 0), "mine\n")
    place.workspace.undo_decision()
    assert place.text("a.txt") == "A\nb\nC\nCC\nmine\nd\nf\ng\nh\n"


def test_where_it_does_not_fit_any_more_the_others_come_back_and_it_is_said():
    place = landed()
    place.workspace.reject()
    place.workspace.edit("a.txt", (2, 0), (2, 1), "my c")
    place.workspace.undo_decision()
    assert place.workspace.ledger.decisions.stays == [
        "hunk 2 of a.txt: its lines were changed since"
    ]
    assert place.text("a.txt") == "A\nb\nmy c\nd\nf\ng\nh\n"
    assert decisions(place) == "pending rejected pending pending"


def test_a_decision_that_cannot_be_undone_is_passed_over_the_second_time():
    place = landed()
    place.workspace.reject([4])
    place.workspace.reject([2])
    place.workspace.edit("a.txt", (2, 0), (2, 1), "my c")
    with pytest.raises(EditRefused, match="its lines were changed since"):
        place.workspace.undo_decision()
    place.workspace.undo("a.txt")
    place.workspace.undo_decision()
    assert decisions(place) == "pending pending pending rejected"
    place.workspace.reject([2])
    place.workspace.edit("a.txt", (2, 0), (2, 1), "my c")
    with pytest.raises(EditRefused):
        place.workspace.undo_decision()
    place.workspace.undo_decision()
    assert decisions(place) == "pending rejected pending pending"
    assert "my c" in place.text("a.txt")


def test_a_later_hunk_in_its_lines_keeps_a_rejected_one_away():
    place = disk(a=TEXT)
    place.land(patch("@@", "-b", "-c", "-d", "+B", "+C", "+D"))
    place.workspace.reject([1])
    place.land(patch("@@", " b", "-c", "+see", " d"), turn=2)
    with pytest.raises(EditRefused, match="a later hunk stands in its lines now"):
        place.workspace.undo_decision()
    assert place.text("a.txt") == TEXT.replace("c", "see")


def test_a_new_decision_forgets_what_was_undone():
    place = landed()
    place.workspace.reject([1])
    place.workspace.undo_decision()
    place.workspace.reject([2])
    with pytest.raises(EditRefused):
        place.workspace.redo_decision()
    assert decisions(place) == "pending rejected pending pending"


def test_a_turn_that_was_taken_back_comes_back_by_redo_as_it_was_decided():
    place = landed()
    place.write(place.workspace.accept([1, 2]))
    place.workspace.reject([4], "no h")
    before = place.files["a.txt"]
    place.write(place.workspace.undo_turn())
    assert place.files["a.txt"] == TEXT.encode()
    place.write(place.workspace.redo_decision())
    assert decisions(place) == "accepted accepted pending rejected"
    assert place.workspace.hunk(4).words == "no h"
    assert place.files["a.txt"] == before
    place.workspace.undo_decision()
    assert decisions(place) == "accepted accepted pending pending"


def test_a_new_file_comes_and_goes_with_its_decisions():
    place = disk()
    place.land(ADD)
    place.write(place.workspace.accept())
    assert place.files == {"n.txt": b"one\ntwo\n"}
    place.write(place.workspace.undo_decision())
    assert place.files == {}
    assert place.text("n.txt") == "one\ntwo\n"
    place.workspace.reject()
    assert place.workspace.buffers == {}
    place.workspace.undo_decision()
    assert place.text("n.txt") == "one\ntwo\n"
    place.write(place.workspace.accept())
    assert place.files == {"n.txt": b"one\ntwo\n"}


def test_a_new_file_does_not_come_back_over_another_one():
    place = disk()
    place.land(ADD)
    place.workspace.reject()
    place.workspace.create("n.txt")
    place.workspace.edit("n.txt", (0, 0), (0, 0), "mine\n")
    with pytest.raises(EditRefused, match="another file is at its path now"):
        place.workspace.undo_decision()
    assert place.text("n.txt") == "mine\n"


def test_a_deletion_is_undone_and_done_again():
    place = disk(a=TEXT)
    place.land(DELETE)
    place.write(place.workspace.accept())
    assert place.files == {}
    place.write(place.workspace.undo_decision())
    assert place.files == {"a.txt": TEXT.encode()}
    assert set(place.workspace.decorations("a.txt", 0, 1).values()) == {"struck"}
    place.write(place.workspace.redo_decision())
    assert place.files == {}
    place.write(place.workspace.undo_decision())
    place.workspace.reject()
    place.workspace.undo_decision()
    assert decisions(place) == "pending"
    assert place.text("a.txt") == TEXT


def test_a_deleted_file_does_not_come_back_over_what_others_wrote_there():
    place = disk(a=TEXT)
    place.land(DELETE)
    place.write(place.workspace.accept())
    place.files["a.txt"] = b"theirs\n"
    place.workspace.outside_change("a.txt", FileRead(b"theirs\n"))
    with pytest.raises(EditRefused, match="another file"):
        place.workspace.undo_decision()
    assert place.files["a.txt"] == b"theirs\n"


def test_a_move_that_is_rejected_keeps_the_edits_and_can_be_undone():
    place = disk(a=TEXT)
    place.land(patch("*** Move to: m.txt", "@@", "-a", "+A"))
    place.workspace.reject([2])
    place.write(place.workspace.accept([1]))
    assert place.files == {"a.txt": TEXT.replace("a", "A").encode()}
    place.write(place.workspace.undo_decision())
    place.workspace.undo_decision()
    place.write(place.workspace.accept())
    assert place.files == {"m.txt": TEXT.replace("a", "A").encode()}


def test_an_ambiguous_hunk_that_was_given_up_waits_again_where_its_places_are_now():
    place = disk(a="x\ny\nx\n")
    place.workspace.ledger.ask = True
    place.land(patch("@@", "-x", "+X"))
    place.workspace.reject([1], "no")
    place.workspace.edit("a.txt", (0, 0), (0, 0), "mine\n")
    place.workspace.undo_decision()
    hunk = place.workspace.hunk(1)
    assert hunk.placeable
    assert hunk.candidates == (1, 3)
    place.workspace.place(1, 3)
    assert place.text("a.txt") == "mine\nx\ny\nX\n"


def test_a_reject_that_came_to_a_conflict_is_undone_too():
    place = landed()
    place.workspace.edit("a.txt", (0, 1), (0, 1), " and mine")
    place.workspace.reject([1, 2])
    assert place.workspace.hunk(1).stage is Stage.CONFLICT
    place.workspace.undo_decision()
    assert place.workspace.hunk(1).stage is Stage.LANDED
    assert place.workspace.hunk(1).decidable
    assert place.text("a.txt") == "A and mine\nb\nC\nCC\nd\nf\ng\nh\n"


@each("whole", [False, True])
def test_a_conflict_is_settled_either_way_and_undone_either_way(whole):
    place = landed()
    place.workspace.edit("a.txt", (0, 1), (0, 1), " and mine")
    place.workspace.reject([1])
    place.workspace.reject([1], whole=whole)
    first = "a" if whole else "A and mine"
    assert place.text("a.txt").startswith(f"{first}\nb\n")
    assert place.workspace.hunk(1).decision is Decision.REJECTED
    place.workspace.undo_decision()
    assert place.text("a.txt").startswith("A and mine\nb\n")
    assert place.workspace.hunk(1).stage is Stage.CONFLICT
    assert place.workspace.decorations("a.txt", 0, 0) == {0: "conflict"}


def test_a_new_file_goes_whole_with_what_was_typed_in_it_and_comes_back_with_it():
    place = disk()
    place.land(ADD)
    place.workspace.edit("n.txt", (2, 0), (2, 0), "mine\n")
    place.write(["n.txt"])
    assert place.files == {"n.txt": b"mine\n"}
    assert [hunk.id for hunk in place.workspace.typed_in(place.workspace.hunks)] == [1]
    place.write(place.workspace.reject([1], whole=True))
    assert place.files == {}
    place.write(place.workspace.undo_decision())
    assert place.text("n.txt") == "one\ntwo\nmine\n"
    assert place.files == {"n.txt": b"mine\n"}


def test_edit_then_accept_keeps_whose_text_it_is():
    """The record says what the model wrote; a later undo of the turn keeps what the user did."""
    place = landed()
    place.workspace.edit("a.txt", (2, 1), (2, 1), "\nmine")
    place.write(place.workspace.accept([2]))
    assert place.files["a.txt"] == b"a\nb\nC\nmine\nCC\nd\ne\nf\ng\n"
    hunk = place.workspace.hunk(2)
    assert (hunk.base, hunk.agent) == ("c\n", "C\nCC\n")
    (change,) = place.workspace.take_user_changes()
    assert change.new_text == "mine\n"
    place.write(place.workspace.undo_decision())
    assert place.files["a.txt"] == TEXT.replace("c\n", "c\nmine\n").encode()
    assert "\nC\nmine\nCC\n" in place.text("a.txt")
    place.write(place.workspace.redo_decision())
    assert place.files["a.txt"] == b"a\nb\nC\nmine\nCC\nd\ne\nf\ng\n"
    assert not place.workspace.is_dirty("a.txt")


def test_a_failed_write_is_no_decision_to_undo():
    place = landed()
    place.write(place.workspace.accept([1]))
    place.workspace.accept([2, 3])
    place.workspace.write_failed("a.txt")
    assert decisions(place) == "accepted pending pending pending"
    place.write(place.workspace.undo_decision())
    assert decisions(place) == "pending pending pending pending"
    assert place.files["a.txt"] == TEXT.encode()


def test_landed_hunks_are_decided_on_while_others_land_in_the_same_file():
    place = disk(a=TEXT)
    landing = place.start()
    landing.feed("*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+A\n@@\n c\n-d\n+D\n")
    place.workspace.reject()
    assert place.text("a.txt").startswith("a\nb\nc\n")
    place.workspace.undo_decision()
    place.write(place.workspace.accept())
    assert place.files["a.txt"] == TEXT.replace("a", "A").encode()
    place.write(place.workspace.undo_decision())
    landing.feed("+DD\n e\n@@\n-g\n+G\n*** End Patch\n")
    landing.finish(cut=False)
    assert landing.placed_all
    assert place.text("a.txt") == "A\nb\nc\nD\nDD\ne\nf\nG\n"
    place.workspace.reject()
    assert place.text("a.txt") == TEXT


def test_what_happens_is_said_in_words():
    place = landed()
    place.workspace.accept([1, 2])
    last = place.workspace.last_decision()
    assert last is not None
    assert last.summary == "accepting 2 hunks of a.txt"
    place.workspace.undo_turn()
    last = place.workspace.last_decision(again=True)
    assert last is not None
    assert last.summary == "taking turn 1 back"
    assert place.workspace.last_decision() is last
