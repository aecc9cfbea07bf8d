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


def test_adjoining_edits_of_a_group_are_one_step():
    user = Typist("")
    for at, char in enumerate("word"):
        user.types((0, at), char)
    user.types((0, 4), "!", "other")
    user.undo()
    assert user.text == "word"
    assert user.undo() == (0, 0)
    assert user.text == ""
    assert user.undo() is None
    assert user.redo() == (0, 4)
    assert user.redo() == (0, 5)
    assert user.text == "word!"


def test_edits_elsewhere_begin_a_group_unless_they_are_one_action():
    user = Typist("a\nb\nc")
    user.types((0, 0), "x")
    user.types((2, 0), "x")
    user.undo()
    assert user.text == "xa\nb\nc"
    user = Typist("a\nb\nc")
    for row in (2, 1, 0):
        user.types((row, 0), "  ", "indent:1")
    assert user.undo() == (0, 0)
    assert user.text == "a\nb\nc"
    assert user.redo() == (0, 2)
    assert user.text == "  a\n  b\n  c"


def test_backspace_and_delete_join_too():
    user = Typist("abcdef")
    for col in (3, 2, 1):
        user.deletes((0, col - 1), (0, col), "back")
    assert user.text == "def"
    user.undo()
    assert user.text == "abcdef"


def test_somebody_elses_lines_are_passed_by():
    user = Typist("one\ntwo\n")
    user.types((1, 3), "!")
    user.other((0, 0), (0, 0), "new\nlines\n")
    user.other((4, 0), (4, 0), "end\n")
    assert user.undo() == (3, 3)
    assert user.text == "new\nlines\none\ntwo\nend\n"
    assert user.redo() == (3, 4)
    assert user.text == "new\nlines\none\ntwo!\nend\n"


def test_typing_goes_on_as_one_group_while_somebody_writes_above():
    user = Typist("x\n")
    user.types((1, 0), "a")
    user.other((0, 0), (0, 0), "new\n")
    user.types((2, 1), "b")
    user.undo()
    assert user.text == "new\nx\n"


def test_an_edit_that_somebody_wrote_into_is_left_but_older_ones_are_not():
    user = Typist("one\n")
    user.types((0, 0), "older ", "1")
    user.types((0, 6), "second ", "2")
    user.other((0, 8), (0, 9), "X")
    assert user.text == "older seXond one\n"
    assert user.undo() == (0, 8)
    assert user.history.stopped
    assert user.text == "older seXond one\n"
    assert user.undo() == (0, 0)
    assert not user.history.stopped
    assert user.text == "seXond one\n"
    assert user.undo() is None
    user.redo()
    assert user.text == "older seXond one\n"


def test_what_others_took_back_is_in_nobodys_way():
    """A9: a rejected hunk; the undo took back an older edit, elsewhere."""
    user = Typist("".join(f"l{row}\n" for row in range(9)))
    user.types((7, 0), "older ", "1")
    user.types((2, 0), "x=1 ", "2")
    user.other((2, 0), (3, 0), "x = 1 l2\n", "hunk")
    user.other((0, 0), (0, 0), "new\n")
    user.switch([user.weave.edit("hunk")])
    assert user.undo() == (3, 0)
    assert user.buffer.lines[3] == "l2"
    assert user.undo() == (8, 0)
    assert user.text == "new\n" + "".join(f"l{row}\n" for row in range(9))
    user.redo()
    user.redo()
    assert user.buffer.lines[3] == "x=1 l2"


def test_the_state_is_another_one_where_an_edit_was_passed_over():
    """What is typed there is in the text, and counted as saved."""
    user = Typist("a\nb\n")
    saved = user.history.state
    user.types((0, 0), "first ", "1")
    user.types((1, 0), "precious ", "2")
    user.other((1, 0), (1, 10), "m")
    assert user.undo() is not None
    assert user.undo() is not None
    assert user.text == "a\nm\n"
    user.other((1, 0), (1, 1), "precious b")
    assert user.history.state != saved
    user.redo()
    assert user.history.state != saved


def test_a_new_edit_makes_the_next_undo_stop_again():
    user = Typist("a\nb\n")
    user.types((0, 0), "first ", "1")
    user.types((1, 0), "second ", "2")
    user.other((1, 0), (1, 8), "m")
    assert user.undo() == (1, 0)
    user.types((0, 6), "x", "3")
    assert user.undo() == (0, 6)
    assert user.undo() == (1, 0)
    assert user.history.stopped
    assert user.text == "first a\nm\n"


def test_redo_is_gone_after_a_new_edit_and_follows_others():
    user = Typist("one")
    user.types((0, 3), " two", "1")
    user.undo()
    user.other((0, 0), (0, 0), "> ")
    user.redo()
    assert user.text == "> one two"
    user.undo()
    user.types((0, 0), "new", "2")
    assert user.redo() is None


def test_states_return_with_undo():
    user = Typist("")
    user.types((0, 0), "a", "1")
    saved = user.history.state
    user.types((0, 1), "b", "2")
    assert user.history.state != saved
    user.undo()
    assert user.history.state == saved
    user.redo()
    user.undo()
    assert user.history.state == saved


def test_a_long_stream_is_one_piece_in_nobodys_way():
    user = Typist("one\n")
    user.types((0, 0), "x", "1")
    user.other((1, 0), (1, 0), "line 0\n")
    (other,) = (edit for edit in user.weave.edits if edit.key == "other")
    for row in range(1, 1000):
        user.other((1 + row, 0), (1 + row, 0), f"line {row}\n")
    assert len(other.pieces) == 1
    assert user.undo() == (0, 0)
    assert user.text.startswith("one\nline 0\n")


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


def test_what_makes_sense_together_only_is_undone_as_a_whole():
    user = moved_down()
    assert user.text == "a\nc\nb\nd\n"
    user.undo()
    assert user.text == "a\nb\nc\nd\n"
    user.redo()
    assert user.text == "a\nc\nb\nd\n"


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
BLOCK = "a.txt\n<<<<<<< SEARCH\nl4\nx=1 l5\nl6\n=======\nL4\nx = 1 l5\nL6\n>>>>>>> REPLACE\n"

pytestmark = pytest.mark.case("G05")


def typed_over(text: str, fmt: str) -> Disk:
    """An older edit far below, one on a line, and a hunk over that line."""
    place = disk(a=TEXT)
    place.workspace.open("a.txt")
    place.workspace.edit("a.txt", (25, 0), (25, 0), "OLDER ", "1")
    place.workspace.edit("a.txt", (5, 0), (5, 0), "x=1 ", "2")
    place.land(text, fmt=fmt)
    return place


@each("text, fmt", [(LINE, "apply_patch"), (BLOCK, "search_replace")])
def test_g05_after_a_rejection_undo_takes_back_the_newest_edit(text, fmt):
    place = typed_over(text, fmt)
    place.workspace.reject()
    assert place.workspace.undo("a.txt") == (5, 0)
    assert place.text("a.txt") == TEXT.replace("l25", "OLDER l25")
    assert place.workspace.undo("a.txt") == (25, 0)
    assert place.text("a.txt") == TEXT
    assert not place.workspace.is_dirty("a.txt")


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


def test_what_is_typed_and_was_passed_over_is_not_saved():
    """The state of the text was an old one again, and so the file not dirty."""
    place = typed_over(LINE, "apply_patch")
    place.workspace.undo("a.txt")
    assert place.workspace.undo("a.txt") == (25, 0)
    place.workspace.reject()
    assert "x=1 l5" in place.text("a.txt")
    assert place.workspace.is_dirty("a.txt")


@each("gone, removed", [("b", "c"), ("c", "b")])
def test_g05_a_line_that_comes_back_beside_a_removed_one_stands_in_order(gone, removed):
    place = disk(a="a\nb\nc\nd\n")
    row = "abcd".index(gone)
    place.workspace.edit("a.txt", (row, 0), (row + 1, 0), "")
    place.land(patch("@@", " a", f"-{removed}", " d"))
    place.workspace.undo("a.txt")
    assert place.text("a.txt") == f"a\n{gone}\nd\n"
    place.workspace.reject()
    assert place.text("a.txt") == "a\nb\nc\nd\n"


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
