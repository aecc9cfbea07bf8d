"""Undo and redo of decisions, one by one (EDITS.md section 8; EDIT-CASES.md, group I)."""

from __future__ import annotations

from contextlib import suppress

import pytest

from tests.support.patches import Disk, Edit, disk, patch, patch_of
from tests.support.tables import each
from tui.core.document.hunk import Decision, Stage
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


def test_a_turn_of_which_all_waits_for_a_place_is_taken_back_too():
    place = disk(a="x\n" * 4)
    place.workspace.documents.ask = True
    place.land(patch("@@", "-x", "+y"))
    assert place.workspace.hunk_list.has_waiting()
    place.workspace.undo_turn()
    assert not place.workspace.hunk_list.has_waiting()
    place.workspace.undo_decision()
    assert place.workspace.hunks[0].placeable


def test_what_was_accepted_and_not_yet_written_is_clean_again():
    place = landed()
    place.workspace.accept([2])
    assert place.workspace.is_dirty("a.txt")
    place.workspace.undo_decision()
    assert not place.workspace.is_dirty("a.txt")
    assert place.workspace.write_failed("a.txt") is False


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


@each("whole", [False, True])
def test_a_conflict_is_settled_either_way_and_undone_either_way(whole):
    place = landed()
    place.workspace.edit("a.txt", (0, 1), (0, 1), " and mine")
    place.workspace.reject([1])
    place.workspace.reject([1], whole=whole)
    first = "a" if whole else "A and mine"
    assert place.text("a.txt").startswith(f"{first}\nb\n")
    assert place.workspace.hunk_list.by_id(1).decision is Decision.REJECTED
    place.workspace.undo_decision()
    assert place.text("a.txt").startswith("A and mine\nb\n")
    assert place.workspace.hunk_list.by_id(1).stage is Stage.CONFLICT
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
    hunk = place.workspace.hunk_list.by_id(2)
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
    hunk = place.workspace.hunk_list.by_id(1)
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


LINES = list("abcde")
TEXT_NEIGHBOURS = "a\nb\nc\nd\ne\n"


def without(first: int, second: int) -> Disk:
    """Both lines are taken out by hunks that land in this order."""
    place = disk(a=TEXT_NEIGHBOURS)
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
def test_three_side_by_side_of_which_the_middle_one_was_off_meanwhile():
    place = disk(a=TEXT_NEIGHBOURS)
    place.land(patch_of(LINES, [Edit(1, 2, ())], 2, "a.txt"))
    place.workspace.reject([1])
    place.land(patch_of(LINES, [Edit(0, 1, ())], 2, "a.txt"), turn=2)
    place.land(patch_of(LINES[1:], [Edit(1, 2, ())], 2, "a.txt"), turn=3)
    place.workspace.undo_decision()
    assert place.text("a.txt") == "d\ne\n"
    assert place.workspace.disk_plan("a.txt").data == TEXT_NEIGHBOURS.encode()
    for number in (3, 1, 2):
        place.workspace.reject([number])
    assert place.text("a.txt") == TEXT_NEIGHBOURS


TREE = {"a": b"1\n2\n", "b": b"x\n"}
DELETED = "*** Delete File: b\n*** Update File: a\n*** Move to: b\n@@\n-1\n+one\n"
MOVED = "*** Update File: b\n*** Move to: c\n*** Update File: a\n*** Move to: b\n@@\n-1\n+one\n"


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
