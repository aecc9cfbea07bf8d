"""The workspace's public face: opening, the user's edits, the disk."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.support.patches import Disk, disk, patch
from tests.support.tables import each
from tui.core.edits import file_record
from tui.core.edits.places import nearest
from tui.core.edits.workspace import Workspace
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


def test_g07_a_file_deleted_on_the_disk_keeps_its_buffer():
    place = disk(a="a\n")
    place.workspace.open("a.txt")
    place.workspace.outside_change("a.txt", FileRead(None))
    assert place.workspace.conflicts == {"a.txt"}
    assert place.text("a.txt") == "a\n"
    assert place.workspace.is_dirty("a.txt")


def test_unknown_hunks_and_places():
    place = disk(a="a\n")
    with pytest.raises(KeyError):
        place.workspace.hunk(7)
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
    assert len(looked) == len(workspace.ledger.records["a.txt"].waiting) == 200
