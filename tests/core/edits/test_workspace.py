"""The workspace's public face: opening, the user's edits, the disk."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.support.patches import Disk, disk, patch
from tui.core.edits import file_record
from tui.core.edits.patches.landing import Landing
from tui.core.edits.places import nearest
from tui.core.edits.workspace import UserChange, Workspace
from tui.core.file_read import FileRead, checked_path, decoded
from tui.errors import EditRefused


def test_a_file_is_read_once_and_kept():
    read: list[str] = []

    def reader(path: str) -> FileRead:
        read.append(path)
        return FileRead(b"\xef\xbb\xbfone\r\ntwo")

    workspace = Workspace(reader)
    buffer = workspace.open("a.txt")
    assert workspace.open("./a.txt") is buffer
    assert read == ["a.txt"]
    assert buffer.encode() == b"\xef\xbb\xbfone\r\ntwo"
    assert not workspace.is_dirty("a.txt")
    assert workspace.disk_plan("a.txt").data == b"\xef\xbb\xbfone\r\ntwo"


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (FileRead(None), "file not found: 'a.txt'"),
        (FileRead(None, "it goes out through a symlink"), "through a symlink"),
        (FileRead(b"\xff\xfea\0"), "binary"),
        (FileRead(b"caf\xe9"), "not UTF-8"),
    ],
)
def test_what_cannot_be_edited_is_refused_with_the_reason(read, words):
    workspace = Workspace(lambda path: read)
    with pytest.raises(EditRefused, match=words):
        workspace.edit("a.txt", (0, 0), (0, 0), "x")
    assert workspace.buffers == {}


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


def test_what_the_user_changed_is_told_once_in_merged_regions():
    place = disk(a="".join(f"{n}\n" for n in range(9)))
    workspace = place.workspace
    workspace.open("a.txt")
    workspace.edit("a.txt", (1, 0), (1, 1), "one")
    workspace.edit("a.txt", (2, 0), (3, 0), "")
    workspace.edit("a.txt", (6, 1), (6, 1), "!")
    place.land(patch("@@", "-0", "+zero", "+nought"))
    assert workspace.take_user_changes() == [
        UserChange("a.txt", 2, "1\n2\n", "one\n"),
        UserChange("a.txt", 7, "7\n", "7!\n"),
    ]
    assert workspace.take_user_changes() == []
    workspace.edit("a.txt", (0, 0), (0, 0), "x")
    workspace.undo("a.txt")
    assert workspace.take_user_changes() == []


def test_g07_the_same_bytes_on_the_disk_are_ignored():
    place = disk(a="a\nb\n")
    revision = place.workspace.open("a.txt").revision
    place.workspace.outside_change("a.txt", FileRead(b"a\nb\n"))
    assert place.workspace.buffers["a.txt"].revision == revision


def test_g07_a_clean_buffer_is_reloaded_line_by_line():
    place = disk(a="a\nb\nc\n")
    mark = place.workspace.open("a.txt").mark(2, 1)
    place.workspace.outside_change("a.txt", FileRead(b"0\na\nB\nc\n"))
    assert place.text("a.txt") == "0\na\nB\nc\n"
    assert mark.position == (3, 1)
    assert not place.workspace.is_dirty("a.txt")
    assert place.workspace.undo("a.txt") is None
    assert place.workspace.take_user_changes() == []


def test_g07_a_changed_buffer_is_merged_or_in_conflict():
    place = disk(a="a\nb\nc\nd\n")
    place.workspace.open("a.txt")
    place.workspace.edit("a.txt", (0, 0), (0, 1), "mine")
    place.workspace.outside_change("a.txt", FileRead(b"a\nb\nc\ntheirs\n"))
    assert place.text("a.txt") == "mine\nb\nc\ntheirs\n"
    assert place.workspace.is_dirty("a.txt")
    assert place.workspace.conflicts == set()
    place.workspace.outside_change("a.txt", FileRead(b"other\nb\nc\ntheirs\n"))
    assert place.workspace.conflicts == {"a.txt"}
    assert place.text("a.txt") == "mine\nb\nc\ntheirs\n"
    plan = place.workspace.disk_plan("a.txt")
    assert plan.expected == b"a\nb\nc\ntheirs\n", "a write by mistake is refused"
    place.workspace.written("a.txt", plan.data)
    assert place.workspace.conflicts == set()


def test_g07_a_file_deleted_on_the_disk_keeps_its_buffer():
    place = disk(a="a\n")
    place.workspace.open("a.txt")
    place.workspace.outside_change("a.txt", FileRead(None))
    assert place.workspace.conflicts == {"a.txt"}
    assert place.text("a.txt") == "a\n"
    assert place.workspace.is_dirty("a.txt")


def test_g08_a_formatter_between_two_hunks_is_nobodys_edit():
    place = disk(a="a\nb\nc\n")
    place.land(patch("@@", "-a", "+A"))
    place.write(place.workspace.accept())
    place.workspace.outside_change("a.txt", FileRead(b"A;\nb;\nc;\n"))
    assert place.workspace.take_user_changes() == []
    assert place.land(patch("@@", "-b;", "+B;")).placed_all
    assert place.text("a.txt") == "A;\nB;\nc;\n"


def test_pending_hunks_survive_a_reload():
    place = disk(a="a\nb\nc\nd\n")
    place.land(patch("@@", "-b", "+B"))
    place.workspace.outside_change("a.txt", FileRead(b"0\na\nb\nc\nd\n"))
    assert place.text("a.txt") == "0\na\nB\nc\nd\n"
    assert place.workspace.disk_plan("a.txt").data == b"0\na\nb\nc\nd\n"
    assert not place.workspace.is_dirty("a.txt")
    place.workspace.reject()
    assert place.text("a.txt") == "0\na\nb\nc\nd\n"


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


@pytest.mark.parametrize(
    ("path", "clean"), [("a/./b", "a/b"), ("a//b/../c", "a/c"), ("/root/x y", "x y")]
)
def test_paths_are_normalised(path, clean):
    assert checked_path(path, "/root") == clean


@pytest.mark.parametrize("path", ["", " ", "..", "/", "/rootx/a", "C:\\x", "a\nb", "a/.git"])
def test_paths_that_are_refused(path):
    with pytest.raises(EditRefused):
        checked_path(path, "/root")


def test_too_many_lines_are_refused():
    with pytest.raises(EditRefused, match="more than 200,000 lines"):
        decoded("a", b"\n" * 200_001)


def test_refusals_show_no_control_characters():
    with pytest.raises(EditRefused) as caught:
        Disk({}).workspace.open("a\x1b[31m")
    assert "\x1b" not in str(caught.value)


def test_there_is_no_plan_for_a_file_that_is_not_open() -> None:
    place = disk(**{"a.txt": "a\n"})
    with pytest.raises(EditRefused, match="not open"):
        place.workspace.disk_plan("b/../a.txt")


@pytest.mark.parametrize("pasted", ["caf\udce9", "a\0b", "\ud83d", "\udfff\ud800"])
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
