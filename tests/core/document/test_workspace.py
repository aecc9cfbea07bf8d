"""The workspace's public face: opening, the user's edits, the disk."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.support.patches import Disk, disk, patch
from tests.support.tables import each
from tui.core.document import file_record
from tui.core.document.waiting_places import nearest
from tui.core.document.workspace import (
    Workspace,
    fate_words,
    landing_number,
    stage_words,
    written_paths,
    written_row,
)
from tui.core.files import FileRead, checked_path, decoded
from tui.core.patches.landing import Landing
from tui.errors import EditRefused


def test_a_new_file_is_unsaved_once_something_is_typed_until_it_is_written():
    place = disk(a="a\n")
    place.workspace.create("sub/new.txt")
    assert not place.workspace.is_dirty("sub/new.txt")
    place.workspace.edit("sub/new.txt", (0, 0), (0, 0), "x")
    assert place.workspace.is_dirty("sub/new.txt")
    place.write(["sub/new.txt"])
    assert place.files["sub/new.txt"] == b"x"
    assert not place.workspace.is_dirty("sub/new.txt")
    with pytest.raises(EditRefused, match="exists already"):
        place.workspace.create("a.txt")


def test_edit_undo_and_saved_state():
    place = disk(a="one\n")
    workspace = place.workspace
    workspace.open("a.txt")
    for at, char in enumerate("two"):
        workspace.edit("a.txt", (0, 3 + at), (0, 3 + at), char, "type")
    assert workspace.is_dirty("a.txt")
    assert workspace.touched() == {"a.txt"}
    assert workspace.touched() == set()
    assert workspace.undo("a.txt") == (0, 3)
    assert place.text("a.txt") == "one\n"
    assert not workspace.is_dirty("a.txt")
    assert workspace.undo("a.txt") is None
    assert workspace.redo("a.txt") == (0, 6)
    assert workspace.is_dirty("a.txt")
    with pytest.raises(ValueError, match="no such range"):
        workspace.edit("a.txt", (5, 0), (5, 0), "x")


def test_unknown_hunks_and_places():
    place = disk(a="a\n")
    with pytest.raises(KeyError):
        place.workspace.hunk_list.by_id(7)
    assert place.workspace.decorations("a.txt", 0, 9) == {}
    assert place.workspace.ghost("a.txt") is None
    assert place.workspace.accept([7]) == []
    place.land(patch("@@", "-a", "+b"))
    with pytest.raises(EditRefused, match="does not wait"):
        place.workspace.place(1, 0)


@each("path, clean", [("a/./b", "a/b"), ("a//b/../c", "a/c"), ("/root/x y", "x y")])
def test_paths_are_normalised(path, clean):
    assert checked_path(path, "/root") == clean


@each("path", ["", " ", "..", "/", "/rootx/a", "C:\\x", "a\nb", "a/.git"])
def test_paths_that_are_refused(path):
    with pytest.raises(EditRefused):
        checked_path(path, "/root")


def test_refusals_show_no_control_characters():
    with pytest.raises(EditRefused) as caught:
        Disk({}).workspace.open("a\x1b[31m")
    assert "\x1b" not in str(caught.value)


def test_there_is_no_plan_for_a_file_that_is_not_open() -> None:
    place = disk(**{"a.txt": "a\n"})
    with pytest.raises(EditRefused, match="not open"):
        place.workspace.disk_plan("b/../a.txt")


@each("pasted", ["caf\udce9", "a\0b", "\ud83d", "\udfff\ud800"])
def test_what_no_text_file_can_hold_is_not_taken_in(pasted):
    """From a picture of bytes, say: saved, it would lock the user out of the file."""
    space = disk(a="one\n").workspace
    change = space.edit("a.txt", (0, 0), (0, 0), pasted)
    assert change.new_end == (0, len(pasted))
    data = space.disk_plan("a.txt").data
    assert "\ufffd" in decoded("a.txt", data)
    assert space.undo("a.txt") == (0, 0)
    assert space.redo("a.txt")
    assert space.disk_plan("a.txt").data == data


def test_a_frame_looks_once_at_each_section_that_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace(lambda path: FileRead(b"x\n" * 300), ask=True)
    landing = Landing(workspace, turn=1, call_id="c")
    body = "@@\n x\n-x\n+y\n x\n" * 200
    landing.feed(f"*** Begin Patch\n*** Update File: a.txt\n{body}*** End Patch\n")
    landing.finish(cut=False)
    looked: list[object] = []

    def counted(places: Sequence[int]) -> Sequence[int]:
        looked.append(places)
        return nearest(places)

    monkeypatch.setattr(file_record, "nearest", counted)
    for _ in range(10):
        assert "candidate" in workspace.decorations("a.txt", 0, 299).values()
    assert len(looked) == len(workspace.documents.records["a.txt"].waiting) == 200


TEXT = "one\ntwo\nthree\ntwo\nfour\n"


def words_at(upto: str, *lines: str) -> str:
    """The words when the patch has come up to and with this text."""
    files, whole = disk(a=TEXT), patch(*lines)
    landing = files.start()
    landing.feed(whole[: whole.index(upto) + len(upto)])
    return stage_words(files.workspace, "a.txt")


@each(
    "upto, lines, words",
    [
        ("@@ one\n- ", ["@@ one", "- two"], ""),
        (" two\n", ["@@", " two", "-three"], "hunk 1: 2 candidates, reading context"),
        (" nine\n", ["@@", " nine", "-two"], "hunk 1: no place found yet, reading context"),
        (" one\n", ["@@", " one", "-two"], "hunk 1: found at line 1"),
        ("-two\n", ["@@", " one", "-two", "+2"], "hunk 1: landing at line 2, −1 +0"),
        ("+2\n", ["@@", " one", "-two", "+2"], "hunk 1: landing at line 2, −1 +1"),
        ("+II\n", ["@@", "-one", "+I", "@@", "-four", "+II"], "hunk 2: landing at line 5, −1 +1"),
    ],
)
def test_a_stage_in_words(upto: str, lines: list[str], words: str) -> None:
    assert words_at(upto, *lines) == words


def test_nothing_is_said_when_it_has_landed() -> None:
    files = disk(a=TEXT)
    files.land(patch("@@", "-one", "+1"))
    assert stage_words(files.workspace, "a.txt") == ""
    assert stage_words(files.workspace, "nowhere.txt") == fate_words(files.workspace, "b") == ""
    assert landing_number(files.workspace, "a.txt") == 0


def test_a_hunk_that_waits_for_its_place_says_so() -> None:
    files = disk(a=TEXT)
    files.workspace.documents.ask = True
    files.land(patch("@@", "-two", "+2"))
    assert stage_words(files.workspace, "a.txt") == "hunk 1: fits in 2 places, yours to choose"
    files.workspace.place(1, 3)
    assert stage_words(files.workspace, "a.txt") == ""


def test_files_at_work_and_the_rows_in_them() -> None:
    files = Disk({"a.txt": TEXT.encode(), "b.txt": b"x\n"})
    first, second = files.start(1), files.start(2)
    first.feed("*** Begin Patch\n*** Update File: a.txt\n@@\n one\n+new\n")
    second.feed("*** Begin Patch\n*** Update File: b.txt\n@@\n x\n+1\n+2\n")
    assert written_paths(files.workspace) == ["a.txt", "b.txt"]
    assert written_row(files.workspace, "a.txt") == 1
    assert written_row(files.workspace, "b.txt") == 2
    first.finish(cut=True)
    assert written_paths(files.workspace) == ["b.txt"]
    assert written_row(files.workspace, "a.txt") is None


def test_what_becomes_of_a_whole_file() -> None:
    files = Disk({"a.txt": TEXT.encode(), "b.txt": b"x\n"})
    files.land(
        "*** Begin Patch\n*** Delete File: a.txt\n*** Update File: b.txt\n*** Move to: c/d.txt\n"
        "@@\n-x\n+y\n*** End Patch\n"
    )
    assert fate_words(files.workspace, "a.txt") == "to be deleted"
    assert fate_words(files.workspace, "b.txt") == "moves to c/d.txt"
    files.workspace.reject()
    assert fate_words(files.workspace, "a.txt") == fate_words(files.workspace, "b.txt") == ""


@pytest.mark.case("G01", "G03")
@each("upto", ["", "a\n"])
@each(
    "new, after",
    [
        ("a\nb\nx\nc\n", "a\nb\nx\nc\n"),
        ("a\nb\nx\nC\n", "a\nb\nx\nC\n"),
        ("a\nB\nx\nc\n", "a\nB\nx\nc\n"),
        ("a\nb\nx\ny\nc\n", "a\nb\nx\ny\nc\n"),
        ("a\nb\ny\nx\nc\n", "a\nb\ny\nx\nc\n"),
        ("a\nb\nz\nC\n", "a\nb\nx\nz\nC\n"),
    ],
)
def test_a_line_that_the_user_and_the_new_text_put_in_is_there_once(new, after, upto):
    place = disk(a="a\nb\nc\n")
    place.workspace.open("a.txt")
    place.workspace.take_user_changes()
    landing = place.start(fmt="whole_file")
    text = f"a.txt\n````\n{new}````\n"
    at = text.index(upto, 10) + len(upto) if upto else 0
    landing.feed(text[:at])
    place.workspace.edit("a.txt", (2, 0), (2, 0), "x\n")
    landing.feed(text[at:])
    landing.finish(cut=False)
    assert place.text("a.txt") == after
    place.workspace.reject()
    assert place.text("a.txt") == "a\nb\nx\nc\n"
