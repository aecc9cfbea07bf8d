"""A place that was chosen by hand is a decision: undone, redone and chosen otherwise."""

from __future__ import annotations

import pytest

from tests.core.document.test_review import ADD, landed
from tests.support.patches import Disk, disk, patch
from tests.support.tables import each
from tui.core.document.hunk import Decision, Hunk, Stage
from tui.core.patches.landing import Landing
from tui.errors import EditRefused

TEXT = "x\ny\nz\n\nother\n\nx\ny\nz\n"
STREAMS = {
    "apply_patch": patch("@@", " x", "-y", "+Y1", "+Y2", " z"),
    "search_replace": "a.txt\n<<<<<<< SEARCH\nx\ny\nz\n=======\nX\ny\nZ\n>>>>>>> REPLACE\n",
    "unified_diff": "--- a/a.txt\n+++ b/a.txt\n@@\n x\n-y\n+Y\n z\n",
    "whole_file": "a.txt\n```\nx\nnew\n```\n",
}
every = each("fmt", STREAMS)


def asked(fmt: str) -> tuple[Disk, Hunk]:
    """A hunk that waits for a choice."""
    place = disk(a=TEXT)
    place.workspace.documents.ask = True
    landing = Landing(place.workspace, turn=1, call_id="c", channel="text", fmt=fmt)
    landing.feed(STREAMS[fmt])
    landing.finish(cut=False)
    (hunk,) = landing.hunks
    assert hunk.placeable
    return place, hunk


def look(place: Disk) -> list[tuple[object, ...]]:
    """All that is known of the hunks."""
    return [
        (h.id, h.stage, h.decision, h.reason, h.base, h.agent, *h.flags, h.candidates, h.added)
        for h in place.workspace.hunks
    ]


@every
def test_a_choice_is_undone_to_the_byte_and_done_again(fmt: str) -> None:
    place, hunk = asked(fmt)
    workspace, before = place.workspace, look(place)
    workspace.place(hunk.id, hunk.candidates[-1])
    chosen, placed = place.text("a.txt"), [(h.stage, h.agent) for h in workspace.hunks]
    assert chosen != TEXT
    entry = workspace.last_decision()
    assert entry is not None
    assert entry.summary == "choosing a place for hunk 1 of a.txt"
    assert workspace.undo_decision() == []
    assert (place.text("a.txt"), look(place)) == (TEXT, before)
    assert hunk.placeable
    assert workspace.decorations("a.txt", 0, 0) == {0: "candidate"}
    assert workspace.redo_decision() == []
    assert place.text("a.txt") == chosen
    assert [(h.stage, h.agent) for h in workspace.hunks] == placed
    workspace.undo_decision()
    assert (place.text("a.txt"), look(place)) == (TEXT, before)
    with pytest.raises(EditRefused):
        workspace.undo_decision()


@every
def test_a_choice_stays_where_its_lines_were_changed_since(fmt: str) -> None:
    place, hunk = asked(fmt)
    workspace = place.workspace
    workspace.place(hunk.id, hunk.candidates[-1])
    row = next(h.start.line for h in workspace.hunks if h.agent and h.start)
    workspace.edit("a.txt", (row, 0), (row, 0), "mine ")
    before, text = look(place), place.text("a.txt")
    with pytest.raises(EditRefused, match="changed since"):
        workspace.undo_decision()
    assert (place.text("a.txt"), look(place)) == (text, before)
    workspace.undo("a.txt")
    workspace.undo_decision()  # nobody's text is in the way any more
    assert place.text("a.txt") == TEXT


def test_a_choice_is_not_undone_under_a_later_hunk_nor_while_another_lands() -> None:
    place, hunk = asked("apply_patch")
    workspace = place.workspace
    workspace.place(hunk.id, hunk.candidates[0])
    landing = place.start(turn=2)
    landing.feed("*** Begin Patch\n*** Update File: a.txt\n@@\n-Y1\n+Y one\n")
    with pytest.raises(EditRefused, match="is landing"):
        workspace.undo_decision()
    landing.finish(cut=False)
    workspace.documents.decisions.done[-1].tried = False
    with pytest.raises(EditRefused, match="later hunk"):
        workspace.undo_decision()
    assert place.text("a.txt") == TEXT.replace("y\n", "Y one\nY2\n", 1)


@pytest.mark.case("I01")
def test_a_rejection_that_took_what_was_typed_takes_no_more_when_it_is_done_again():
    place = landed()
    workspace = place.workspace
    workspace.edit("a.txt", (0, 1), (0, 1), " and mine")
    workspace.reject([1], whole=True)
    let_go = place.text("a.txt")
    assert let_go.startswith("a\nb\n")
    workspace.undo_decision()
    workspace.redo_decision()
    assert place.text("a.txt") == let_go  # what was let go goes again
    workspace.undo_decision()
    workspace.edit("a.txt", (0, 10), (0, 10), ", since")
    workspace.redo_decision()
    assert place.text("a.txt").startswith("A and mine, since\nb\n")
    assert workspace.hunk_list.by_id(1).stage is Stage.CONFLICT
    assert workspace.hunk_list.by_id(1).decision is Decision.PENDING


def test_what_was_typed_into_a_new_file_since_does_not_go_when_its_rejection_is_done_again():
    place = disk()
    place.land(ADD)
    place.workspace.edit("n.txt", (2, 0), (2, 0), "mine\n")
    place.write(place.workspace.reject([1], whole=True))
    place.write(place.workspace.undo_decision())
    place.workspace.edit("n.txt", (3, 0), (3, 0), "since\n")
    place.write(place.workspace.redo_decision())
    assert place.text("n.txt") == "mine\nsince\n"


def test_two_turns_taken_back_one_after_the_other_keep_what_stands_between():
    place = disk(a="line 0\nline 1\nline 2\n")
    place.workspace.open("a.txt")
    place.land(patch("@@", "-line 0", "+one", "+two", " line 1"))
    place.write(place.workspace.accept())
    place.land(patch("@@", " two", "-line 1", " line 2"), turn=2)
    place.workspace.edit("a.txt", (2, 0), (2, 0), "mine\n")
    place.write(place.workspace.accept())
    place.workspace.undo_turn(2)
    place.workspace.undo_turn(1)
    assert place.text("a.txt") == "line 0\nline 1\nmine\nline 2\n"


def test_a_hunk_that_went_with_what_was_typed_in_it_comes_back_off_the_disk():
    """It was written unasked at the next save, as nothing of it stood in the text."""
    place = disk(a="l0\nl1\n")
    place.workspace.open("a.txt")
    place.land(patch("@@", " l0", "+new", " l1"))
    place.workspace.edit("a.txt", (1, 1), (1, 3), "X")
    place.workspace.reject([1])
    place.workspace.reject([1])  # its lines stay, as the user edited them
    place.workspace.undo("a.txt")
    assert place.text("a.txt") == "l0\nl1\n"
    assert not place.workspace.is_dirty("a.txt")
    place.workspace.undo_decision()
    assert place.text("a.txt") == "l0\nnew\nl1\n"
    assert place.workspace.disk_plan("a.txt").data == b"l0\nl1\n"
    assert not place.workspace.is_dirty("a.txt")
    place.workspace.undo_decision()
    place.write(place.workspace.accept())
    assert place.files["a.txt"] == b"l0\nnew\nl1\n"
