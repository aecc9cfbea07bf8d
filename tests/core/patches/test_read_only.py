"""Files that may only be looked at: nobody edits them, nothing of them is written or quoted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.tables import each
from tui.core.document.disk_plan import DiskPlan
from tui.core.document.hunk import Stage
from tui.core.document.workspace import Workspace
from tui.core.files import MAX_BYTES, MAX_LINES, PICTURE_BYTES, FileRead, viewed
from tui.core.patches.landing import Landing
from tui.errors import EditRefused

LARGE = FileRead(None, "too large", head=b"one\ntwo\nthr", size_bytes=104 << 20)
VIEWS = [
    (FileRead(b"caf\xe9\n"), "'a.py' is not UTF-8 (byte 4), so it is read-only", "caf\udce9\n"),
    (FileRead(b"a\0\x1b\n"), "'a.py' is a binary file (4 B), so it is read-only", "a\0\x1b\n"),
    (
        FileRead(b"\xff\xfea\0"),
        "'a.py' is UTF-16, not UTF-8, so it is read-only",
        "\udcff\udcfea\0",
    ),
    (
        LARGE,
        "'a.py' has 104 MB, so it is read-only and only the first 8 MB of it are shown",
        "one\ntwo\n",
    ),
    (
        FileRead(b"x\n" * (MAX_LINES + 1)),
        "'a.py' has more than 200,000 lines, so it is read-only and only its first 200,000 lines"
        " are shown",
        "x\n" * MAX_LINES,
    ),
]
LOCKED = FileRead(b"x\n", unwritable="you have no permission to write it")


def land_patch(workspace: Workspace, patch: str) -> None:
    """A model's whole patch."""
    landing = Landing(workspace, turn=1, call_id=f"call {len(workspace.hunks)}")
    landing.feed(patch)
    landing.finish(cut=False)


class Disk:
    """One file, whose reading a test sets."""

    def __init__(self, read: FileRead) -> None:
        self.now = read
        self.workspace = Workspace(lambda path: self.now)

    def change(self, read: FileRead) -> None:
        """Somebody else changed it."""
        self.now = read
        self.workspace.outside_change("a.py", read)

    @property
    def text(self) -> str:
        return self.workspace.buffers["a.py"].text()


@each("read, why, shown", VIEWS)
def test_it_is_shown_and_says_why_it_is_not_edited(read: FileRead, why: str, shown: str) -> None:
    workspace = Workspace(lambda path: read)
    assert workspace.open("a.py").text() == shown
    assert workspace.read_only("a.py") == why
    assert not workspace.is_dirty("a.py")
    with pytest.raises(EditRefused) as refused:
        workspace.edit("a.py", (0, 0), (0, 1), "y")
    assert str(refused.value) == why
    assert workspace.buffers["a.py"].text() == shown
    assert workspace.undo("a.py") is None
    assert workspace.redo("a.py") is None


@each("read", [view[0] for view in VIEWS])
def test_it_is_never_written_or_quoted(read: FileRead) -> None:
    workspace = Workspace(lambda path: read)
    workspace.open("a.py")
    with pytest.raises(EditRefused, match="read-only"):
        workspace.disk_plan("a.py")
    assert workspace.documents.quotable("a.py") is None


@each("opened", [True, False])
@each("read", [VIEWS[0][0], VIEWS[1][0], LARGE, LOCKED])
@each("kind", ["Update", "Delete", "Add"])
def test_a_model_does_not_edit_it_either(read: FileRead, kind: str, opened: bool) -> None:
    workspace = Workspace(lambda path: read)
    if opened:
        workspace.open("a.py")
    before = {path: buffer.text() for path, buffer in workspace.buffers.items()}
    body = {"Update": "@@\n-x\n+y\n", "Delete": "", "Add": "+y\n"}[kind]
    land_patch(workspace, f"*** Begin Patch\n*** {kind} File: a.py\n{body}*** End Patch\n")
    assert [hunk.stage for hunk in workspace.hunks] == [Stage.REFUSED]
    assert workspace.hunks[0].reason
    assert {path: buffer.text() for path, buffer in workspace.buffers.items()} == before


def test_a_locked_file_is_quoted_but_not_edited() -> None:
    workspace = Disk(LOCKED).workspace
    workspace.open("a.py")
    words = "'a.py' is read-only: you have no permission to write it"
    assert workspace.read_only("a.py") == words
    assert workspace.documents.quotable("a.py") is workspace.buffers["a.py"]
    assert workspace.disk_plan("a.py") == DiskPlan(b"x\n", b"x\n")


def test_a_growing_view_is_kept_up_to_date_where_it_grew() -> None:
    disk = Disk(FileRead(b"\xff 1\n"))
    buffer = disk.workspace.open("a.py")
    mark = buffer.mark(0, 2)
    disk.change(FileRead(b"\xff 1\n2\n3"))
    assert disk.text == "\udcff 1\n2\n3"
    assert mark.position == (0, 2)
    assert not disk.workspace.is_dirty("a.py")
    disk.change(FileRead(None))
    assert disk.text == "\udcff 1\n2\n3"


def test_a_log_that_grows_behind_what_is_shown_costs_no_comparison() -> None:
    disk = Disk(LARGE)
    buffer = disk.workspace.open("a.py")
    revision = buffer.revision
    disk.change(FileRead(None, "too large", head=LARGE.head, size_bytes=105 << 20))
    assert "105 MB" in disk.workspace.read_only("a.py")
    assert buffer.revision == revision


def test_a_view_that_became_text_is_edited() -> None:
    disk = Disk(FileRead(b"caf\xe9\n"))
    disk.workspace.open("a.py")
    disk.change(FileRead("café\n".encode()))
    assert disk.workspace.read_only("a.py") == ""
    disk.workspace.edit("a.py", (0, 0), (0, 0), "ein ")
    assert disk.workspace.disk_plan("a.py").data == "ein café\n".encode()


def test_so_much_is_shown_that_a_screen_can_bear_it() -> None:
    assert len(viewed("a", FileRead(bytes(MAX_BYTES))).text) == PICTURE_BYTES
    shown = viewed("a", FileRead(None, "large", head="é".encode() * 8, size_bytes=9 << 20))
    assert shown.text == "é" * 8


def test_a_new_file_that_the_model_fills_is_the_models_until_the_user_types() -> None:
    workspace = Workspace(lambda path: FileRead(None))
    buffer = workspace.create("new.py")
    patch = "*** Begin Patch\n*** Add File: new.py\n+x\n*** End Patch\n"
    land_patch(workspace, patch)
    hunk = workspace.hunks[0]
    assert hunk.flags == ()
    workspace.reject([hunk.id])
    assert workspace.buffers["new.py"] is buffer
    assert not workspace.is_dirty("new.py")
    land_patch(workspace, patch)
    workspace.accept()
    workspace.written("new.py", workspace.disk_plan("new.py").data)
    workspace.undo_turn()
    assert workspace.disk_plan("new.py") == DiskPlan(b"x\n", None)
    workspace.written("new.py", None)
    assert workspace.buffers["new.py"] is buffer
    workspace.edit("new.py", (0, 0), (0, 0), "y")
    workspace.written("new.py", workspace.disk_plan("new.py").data)
    workspace.edit("new.py", (0, 0), (0, 1), "")
    assert workspace.disk_plan("new.py") == DiskPlan(b"y", b"")


PIECES = [
    b"a",
    b"\n",
    b"\r",
    b"\xe9",
    b"\xc3\xa9",
    b"\xed\xa0\x80",
    b"\0",
    b"\xef\xbb\xbf",
    b"\xf0\x9f",
]


@given(st.lists(st.sampled_from(PIECES)).map(b"".join), st.booleans())
def test_whatever_the_bytes_what_is_shown_is_their_beginning(data: bytes, large: bool) -> None:
    read = FileRead(None, "large", head=data, size_bytes=9 << 20) if large else FileRead(data)
    if large and not data:
        return
    seen = viewed("a", read)
    assert data.startswith(seen.text.encode("utf-8", "surrogateescape"))
    assert bool(seen.why) != seen.exact
    assert not seen.exact or seen.text.encode() == data


def test_what_was_typed_before_it_became_read_only_stays() -> None:
    disk = Disk(FileRead(b"x\n"))
    workspace = disk.workspace
    workspace.open("a.py")
    workspace.edit("a.py", (0, 0), (0, 0), "one ", "1")
    workspace.edit("a.py", (0, 0), (0, 0), "two ", "2")
    workspace.undo("a.py")
    workspace.written("a.py", b"one x\n")
    disk.change(FileRead(b"one x\n", unwritable=LOCKED.unwritable))
    for change in (workspace.undo, workspace.redo):
        with pytest.raises(EditRefused, match="no permission"):
            change("a.py")
        assert (disk.text, workspace.is_dirty("a.py")) == ("one x\n", False)
    disk.change(FileRead(b"one x\n"))
    assert workspace.undo("a.py") == (0, 0)
    assert disk.text == "x\n"


@each("read", [*(read for read, *_ in VIEWS), LOCKED])
def test_a_file_is_refused_once_a_patch_whatever_its_number_of_blocks(read):
    """One just over 8 MB was read, and its text looked at, for every block anew."""
    asked: list[str] = []

    def reading(path: str) -> FileRead:
        asked.append(path)
        return read if not read.head else replace(read, refusal="'a.py' is too large")

    workspace = Workspace(reading)
    for count in (1, 50):
        asked.clear()
        landing = Landing(workspace, turn=1, call_id="call", fmt="search_replace")
        landing.feed("a.py\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n" * count)
        landing.finish(cut=False)
        assert [hunk.stage for hunk in landing.hunks] == [Stage.REFUSED] * count
        assert len(asked) < 6
    workspace.open("a.py")  # a person still sees what can be shown of it
    assert workspace.read_only("a.py")
