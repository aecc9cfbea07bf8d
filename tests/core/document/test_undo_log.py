"""The user's undo and redo beside somebody else's edits."""

from __future__ import annotations

import pytest

from tests.support.notations import NOTATIONS, told
from tests.support.patches import Disk, Edit, disk, patch
from tests.support.tables import each
from tests.support.typist import Typist
from tui.core.document.hunk import Stage
from tui.core.document.workspace import undo_stopped
from tui.core.edit_stream.events import Notation


def test_refused_steps_stay():
    user = Typist("one")
    user.types((0, 0), "x", "1")
    assert user.history.undo(user.weave, lambda edits: None) is None
    assert user.undo() == (0, 0)


def moved_down() -> Typist:
    """``b`` was moved below ``c``: one edit takes a line out, the other puts it in."""
    user = Typist("a\nb\nc\nd\n")
    user.deletes((1, 1), (2, 1), "move::1")
    user.types((1, 0), "c\n", "move::1")
    return user


def test_a_move_that_others_wrote_into_is_passed_over_as_a_whole():
    """Half of it would leave a line twice."""
    user = Typist("a\nb\nc\nd\n")
    user.types((0, 0), "!", "older")
    user.deletes((1, 1), (2, 1), "move::1")
    user.types((1, 0), "c\n", "move::1")
    user.other((1, 0), (1, 1), "CC")
    user.undo()
    assert user.text == "!a\nCC\nb\nd\n"
    user.undo()
    assert user.text == "a\nCC\nb\nd\n"
    assert user.undo() is None
    user.redo()
    assert user.text == "!a\nCC\nb\nd\n"


def test_a_move_of_which_a_part_must_not_be_undone_now_stays_whole():
    user = moved_down()

    assert user.history.undo(user.weave, lambda edits: None) is None
    assert user.text == "a\nc\nb\nd\n"
    user.undo()
    assert user.text == "a\nb\nc\nd\n"


TEXT = "".join(f"l{number}\n" for number in range(30))
LINE = patch("@@", " l4", "-x=1 l5", "+x = 1 l5", " l6")

pytestmark = pytest.mark.case("G05")


def typed_over(text: str, fmt: str) -> Disk:
    """An older edit far below, one on a line, and a hunk over that line."""
    place = disk(a=TEXT)
    place.workspace.open("a.txt")
    place.workspace.edit("a.txt", (25, 0), (25, 0), "OLDER ", "1")
    place.workspace.edit("a.txt", (5, 0), (5, 0), "x=1 ", "2")
    place.land(text, fmt=fmt)
    return place


def test_g05_an_edit_that_a_pending_hunk_changed_stops_the_undo_once():
    place = typed_over(LINE, "apply_patch")
    before = place.text("a.txt")
    assert place.workspace.undo("a.txt") == (5, 0)
    assert undo_stopped(place.workspace, "a.txt")
    assert place.text("a.txt") == before
    place.workspace.reject()
    assert place.workspace.undo("a.txt") == (5, 0)
    assert not undo_stopped(place.workspace, "a.txt")
    assert place.text("a.txt") == TEXT.replace("l25", "OLDER l25")


LINES = [f"line {number}" for number in range(8)]
TEXT_FOOTING = "".join(f"{line}\n" for line in LINES)


@pytest.mark.case("G06", "D08")
@each("new", [("new 1", "new 2"), ()])
@each("fmt", NOTATIONS)
def test_any_deletion_undone_leaves_a_landed_hunk_as_it_was(
    fmt: Notation, new: tuple[str, ...]
) -> None:
    place = disk(a=TEXT_FOOTING)
    landing = place.land(told(fmt, LINES, [Edit(3, 4, new)], 1, "a.txt"), fmt=fmt)
    buffer, (hunk,) = place.workspace.open("a.txt"), landing.hunks
    landed = buffer.text()
    rows = (3, 3 + len(new))
    places = [
        (row, col)
        for row in range(7)
        for col in {0, min(2, len(buffer.lines[row])), len(buffer.lines[row])}
    ]
    for number, start in enumerate(sorted(places)):
        for end in sorted(places)[number + 1 :: 3]:
            place.workspace.edit("a.txt", start, end, "")
            deleted = buffer.text()
            for _ in range(2):
                place.workspace.undo("a.txt")
                assert buffer.text() == landed
                assert hunk.start is not None
                assert hunk.end is not None
                assert (hunk.start.line, hunk.end.line) == rows, (start, end)
                place.workspace.redo("a.txt")
                assert buffer.text() == deleted
            place.workspace.undo("a.txt")
    place.write(place.workspace.reject())
    assert hunk.stage is Stage.LANDED
    assert buffer.text() == TEXT_FOOTING


def test_a_line_whose_text_was_deleted_comes_back_below_what_a_model_put_above_it():
    """It came back in the model's first line, where neither could be taken back any more."""
    place = disk(a="l0\nl1\n")
    workspace = place.workspace
    workspace.open("a.txt")
    workspace.edit("a.txt", (1, 0), (1, 0), "mine\n", "typed")
    workspace.edit("a.txt", (1, 0), (1, 4), "", "deleted")
    place.land(patch("@@", " l0", "+new", " "))
    workspace.undo("a.txt")
    assert place.text("a.txt") == "l0\nnew\nmine\nl1\n"
    workspace.undo("a.txt")
    assert place.text("a.txt") == "l0\nnew\nl1\n"
    workspace.redo("a.txt")
    workspace.undo_turn()
    assert place.text("a.txt") == "l0\nmine\nl1\n"


def test_a_hunk_in_the_midst_of_one_text_of_the_users_comes_off_and_leaves_that_whole():
    place = disk(a="l0\nl1\n")
    workspace = place.workspace
    workspace.open("a.txt")
    workspace.edit("a.txt", (1, 0), (1, 0), "one\ntwo\n", "typed")
    workspace.edit("a.txt", (1, 2), (2, 1), "\n", "joined")
    place.land(patch("@@", " on", "+new", " wo"))
    workspace.undo("a.txt")
    workspace.undo("a.txt")  # again, as it stops where a model's text is
    workspace.undo_turn()
    workspace.undo("a.txt")
    workspace.undo("a.txt")
    assert place.text("a.txt") == "l0\nl1\n"
