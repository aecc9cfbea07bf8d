"""A decision that is done again does what it did, and takes nothing that came since."""

from __future__ import annotations

import pytest

from tests.core.edits.deciding.test_decisions import ADD, landed
from tests.support.patches import disk
from tui.core.edits.hunk import Decision, Stage


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
    assert workspace.hunk(1).stage is Stage.CONFLICT
    assert workspace.hunk(1).decision is Decision.PENDING


def test_what_was_typed_into_a_new_file_since_does_not_go_when_its_rejection_is_done_again():
    place = disk()
    place.land(ADD)
    place.workspace.edit("n.txt", (2, 0), (2, 0), "mine\n")
    place.write(place.workspace.reject([1], whole=True))
    place.write(place.workspace.undo_decision())
    place.workspace.edit("n.txt", (3, 0), (3, 0), "since\n")
    place.write(place.workspace.redo_decision())
    assert place.text("n.txt") == "mine\nsince\n"
