"""A note stays with its line while the text around it changes, and is never in the text."""

from __future__ import annotations

import random

import pytest

from tests.support.patches import disk
from tests.support.tables import each
from tests.support.turns import update
from tui.core.document.line_notes import Note
from tui.core.document.workspace import Workspace
from tui.core.files import FileRead
from tui.core.patches.landing import Landing
from tui.errors import EditRefused

TEXT = "".join(f"line {n}\n" for n in range(20))


def noted(row: int, text: str = TEXT) -> tuple[Workspace, Note]:
    workspace = disk(a=text).workspace
    return workspace, workspace.notes.put("a.txt", row, "mind this")


def line_of(workspace: Workspace, note: Note) -> str:
    assert note.row is not None
    return workspace.buffers["a.txt"].lines[note.row]


def test_a_note_is_in_no_text_and_makes_nothing_unsaved() -> None:
    workspace, _ = noted(3)
    assert workspace.buffers["a.txt"].text() == TEXT
    assert not workspace.is_dirty("a.txt")


def test_edits_above_move_it_and_edits_in_its_line_do_not() -> None:
    workspace, note = noted(9)
    workspace.edit("a.txt", (2, 0), (5, 0), "one\n")
    workspace.edit("a.txt", (0, 0), (0, 0), "new\nnew\nnew\n")
    assert line_of(workspace, note) == "line 9"
    workspace.edit("a.txt", (note.row or 0, 0), (note.row or 0, 4), "row")
    assert (line_of(workspace, note), note.line, note.lost) == ("row 9", "row 9", False)


@each("first, last", [(9, 10), (0, 20), (5, 10), (9, 15)])
def test_with_its_line_it_goes_and_an_undo_brings_it_back(first: int, last: int) -> None:
    workspace, note = noted(9)
    workspace.edit("a.txt", (first, 0), (last, 0), "")
    assert note.lost
    assert note.row == first
    workspace.undo("a.txt")
    assert (line_of(workspace, note), note.lost) == ("line 9", False)


def test_of_lines_that_are_alike_it_comes_back_to_its_own() -> None:
    workspace, note = noted(3, "x\n" * 8)
    workspace.edit("a.txt", (1, 0), (6, 0), "")
    workspace.undo("a.txt")
    assert note.row == 3


def test_what_comes_to_the_place_of_a_lost_line_does_not_keep_it_away() -> None:
    workspace, note = noted(9)
    workspace.edit("a.txt", (8, 0), (11, 0), "", "cut")
    for row in (8, 9):
        workspace.outside_change(
            "a.txt",
            FileRead(
                workspace.buffers["a.txt"].text().replace("line 7\n", f"line 7\n{row}\n").encode()
            ),
        )
    workspace.undo("a.txt")
    assert (line_of(workspace, note), note.lost) == ("line 9", False)


def test_a_hunk_takes_its_line_and_rejecting_it_gives_it_back() -> None:
    workspace, note = noted(9)
    landing = Landing(workspace, turn=1, call_id="c")
    landing.feed(update("a.txt", " line 7", "-line 8", "-line 9", "-line 10", "+other", " line 11"))
    landing.finish(cut=False)
    assert (line_of(workspace, note), note.lost) == ("other", True)
    workspace.reject()
    assert line_of(workspace, note) == "line 9"


def test_a_file_that_is_not_there_has_no_line() -> None:
    workspace, _ = noted(0)
    with pytest.raises(EditRefused):
        workspace.notes.put("gone.txt", 0, "x")
    with pytest.raises(EditRefused, match="ends at line 21"):
        workspace.notes.put("a.txt", 21, "x")


def test_one_steps_through_all_files_and_begins_anew_behind_the_last() -> None:
    workspace = disk(a=TEXT, b=TEXT).workspace
    for path, row in (("b.txt", 3), ("a.txt", 9), ("a.txt", 2)):
        workspace.notes.put(path, row, "x")
    path, row, seen = "a.txt", 2, []
    for _ in range(3):
        found = workspace.notes.next(path, row)
        assert found is not None
        path, row = found.path, found.row or 0
        seen.append((path, row))
    assert seen == [("a.txt", 9), ("b.txt", 3), ("a.txt", 2)]
    back = workspace.notes.next("a.txt", 2, back=True)
    assert back is not None
    assert (back.path, back.row) == ("b.txt", 3)


def test_kept_ones_find_their_lines_though_the_file_has_changed() -> None:
    workspace, note = noted(9)
    kept = workspace.notes.kept()
    other = disk(a="".join(f"line {n}\n" for n in range(-4, 20)), b="").workspace
    other.notes.bring_back(kept)
    (same,) = other.notes
    assert (line_of(other, same), same.id, same.text) == ("line 9", note.id, "mind this")
    assert other.notes.put("a.txt", 0, "next").id == note.id + 1
    gone = disk(b="").workspace
    gone.notes.bring_back(kept)
    assert [one.row for one in gone.notes] == [None]


@each("seed", range(60))
def test_any_edits_undone_leave_every_note_where_it_was(seed: int) -> None:
    chance = random.Random(seed)
    workspace = disk(a=TEXT).workspace
    rows = chance.sample(range(20), 6)
    notes = [workspace.notes.put("a.txt", row, "x") for row in rows]
    buffer = workspace.buffers["a.txt"]
    for step in range(chance.randrange(1, 9)):
        first = chance.randrange(buffer.line_count)
        last = min(first + chance.randrange(5), buffer.line_count - 1)
        text = "".join(f"new {step} {n}\n" for n in range(chance.randrange(4)))
        workspace.edit("a.txt", (first, 0), (last, 0), text, f"{step}")
    while workspace.undo("a.txt") is not None:
        pass
    assert buffer.text() == TEXT
    assert [note.row for note in notes] == rows
    assert not any(note.lost for note in notes)
