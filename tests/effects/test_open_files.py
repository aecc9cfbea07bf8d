"""What becomes of an open file when its place on a real disk changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.tables import each
from tui.core.document.workspace import Workspace
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.errors import EditRefused


class Open:
    """One open file, ``a.txt``."""

    def __init__(self, root: Path) -> None:
        self.root, self.file = root, root / "a.txt"
        self.file.write_text("one\ntwo\n")
        self.files = Files(root, Listing(str(root)))
        self.workspace = Workspace(self.files.read)
        self.workspace.open("a.txt")

    def look(self) -> str:
        """As the watcher has it done; returns the text that is shown."""
        self.workspace.outside_change("a.txt", self.files.read("a.txt"))
        return self.workspace.buffers["a.txt"].text()


def opened(folder: Path) -> Open:
    (folder / "ws").mkdir(parents=True)
    (folder / "outside").write_text("secret\n")
    return Open(folder / "ws")


@pytest.fixture
def it(tmp_path: Path) -> Open:
    return opened(tmp_path)


@each("typed", [False, True])
@each("what", ["gone", "folder", "fifo", "link outside", "link to nothing"])
def test_the_text_stays_and_comes_back_to_the_disk(tmp_path: Path, what: str, typed: bool) -> None:
    it = opened(tmp_path / f"{what} {typed}")
    if typed:
        it.workspace.edit("a.txt", (0, 0), (0, 0), "typed ")
    text = it.workspace.buffers["a.txt"].text()
    it.file.unlink()
    if what == "folder":
        it.file.mkdir()
    elif what == "fifo":
        os.mkfifo(it.file)
    elif what != "gone":
        it.file.symlink_to("../outside" if "outside" in what else "nothing")
    assert it.look() == text
    assert it.workspace.conflicts == {"a.txt"}
    assert it.workspace.is_dirty("a.txt")
    it.file.rmdir() if what == "folder" else it.file.unlink(missing_ok=True)
    it.file.write_text("one\ntwo\n")
    assert it.look() == text
    assert it.workspace.conflicts == set()
    assert it.workspace.is_dirty("a.txt") == typed
    it.file.write_text("one\n2\n")
    assert it.look() == text.replace("two", "2")


def test_a_lock_is_noticed_and_its_end(it: Open) -> None:
    it.file.chmod(0o444)
    it.look()
    with pytest.raises(EditRefused, match="its write permission was taken away"):
        it.workspace.edit("a.txt", (0, 0), (0, 0), "x")
    it.file.chmod(0o644)
    it.look()
    it.workspace.edit("a.txt", (0, 0), (0, 0), "x")


def test_bytes_of_a_view_are_never_changed(it: Open) -> None:
    it.file.write_bytes(b"caf\xe9\0\n")
    assert it.look() == "caf\udce9\0\n"
    with pytest.raises(EditRefused):
        it.workspace.disk_plan("a.txt")
    assert it.file.read_bytes() == b"caf\xe9\0\n"
    it.file.write_text("one\n")
    assert it.look() == "one\n"
    assert it.workspace.read_only("a.txt") == ""
