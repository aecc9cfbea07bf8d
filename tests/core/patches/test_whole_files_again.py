"""Decisions on whole files, done again when the user or the model has been there since."""

from __future__ import annotations

import pytest

from tests.support.patches import Disk, disk, patch
from tui.core.document.hunk import Decision, Stage
from tui.errors import EditRefused

DELETE = "*** Begin Patch\n*** Delete File: b.txt\n*** End Patch\n"
ADD = "*** Begin Patch\n*** Add File: b.txt\n+new\n*** End Patch\n"
OVER = patch("*** Move to: b.txt", "@@", "-one", "+ONE")


def moved_over() -> Disk:
    """a.txt went over b.txt, and came back."""
    place = disk(a="one\n", b="two\n")
    place.land(OVER)
    place.write(place.workspace.accept())
    assert place.files == {"b.txt": b"ONE\n"}
    place.write(place.workspace.undo_decision())
    assert place.files == {"a.txt": b"one\n", "b.txt": b"two\n"}
    return place


@pytest.mark.case("B06", "I01")
def test_a_move_over_a_file_is_done_again():
    place = moved_over()
    place.write(place.workspace.redo_decision())
    assert place.files == {"b.txt": b"ONE\n"}


@pytest.mark.case("B06", "I01")
def test_a_move_is_not_done_again_over_what_the_user_typed_and_saved_since():
    place = moved_over()
    place.workspace.edit("b.txt", (0, 0), (0, 0), "mine ")
    place.write(["b.txt"])
    place.write(place.workspace.redo_decision())
    assert place.files["b.txt"] == b"mine two\n"
    assert place.text("b.txt") == "mine two\n"
    move = next(hunk for hunk in place.workspace.hunks if hunk.target)
    assert move.decision is Decision.PENDING
    assert (move.stage, move.reason) == (Stage.CONFLICT, "'b.txt' was edited since: not moved")


@pytest.mark.case("B07", "I01")
def test_a_decision_on_a_deletion_that_a_new_text_replaced_is_not_done_again():
    """The deletion is no hunk any more: there is nothing to accept, and nothing breaks."""
    place = disk(b="old\n")
    place.land(DELETE)
    place.write(place.workspace.accept())
    place.write(place.workspace.undo_decision())
    place.land(ADD, turn=2)
    with pytest.raises(EditRefused, match="no decision was taken back"):
        place.workspace.redo_decision()
    assert place.text("b.txt") == "new\n"
    assert place.files == {"b.txt": b"old\n"}
