from __future__ import annotations

import pytest

from tests.support.patches import Disk
from tui.core.edits.workspace import FileRead, Workspace
from tui.core.file_read import MAX_BYTES, MAX_LINES
from tui.core.unsaved import Unsaved, UnsavedFile, bring_back, typed_text
from tui.errors import EditRefused

OLD = "one\ntwo\nthree\nfour\n"
TYPED = "ONE\ntwo\nthree\nFOUR\n"


def workspace(**files: str) -> Workspace:
    data = {name.replace("_", "."): text.encode() for name, text in files.items()}
    return Workspace(lambda path: FileRead(data.get(path)))


def kept(path: str = "a.py", text: str = TYPED, before: str | None = OLD) -> UnsavedFile:
    return UnsavedFile(path, text.encode(), None if before is None else before.encode())


def test_it_comes_back_as_one_edit_of_the_users() -> None:
    space = workspace(a_py=OLD)
    assert bring_back(space.ledger, kept())
    assert space.buffers["a.py"].text() == TYPED
    assert space.is_dirty("a.py")
    assert space.undo("a.py") is not None
    assert space.buffers["a.py"].text() == OLD


def test_what_came_since_on_other_lines_stays() -> None:
    space = workspace(a_py=OLD.replace("two", "2"))
    assert bring_back(space.ledger, kept(text=OLD.replace("four", "FOUR")))
    assert space.buffers["a.py"].text() == "one\n2\nthree\nFOUR\n"


def test_what_contradicts_it_can_be_had_by_undo() -> None:
    newer = OLD.replace("one", "1")
    space = workspace(a_py=newer)
    assert not bring_back(space.ledger, kept())
    assert space.buffers["a.py"].text() == TYPED
    space.undo("a.py")
    assert space.buffers["a.py"].text() == newer


def test_a_file_that_is_not_there_is_made_in_the_editor() -> None:
    space = workspace()
    assert bring_back(space.ledger, kept("new.py", "\ufeffx\r\n", None))
    assert space.disk_plan("new.py").data == "\ufeffx\r\n".encode()
    assert space.is_dirty("new.py")


def test_what_cannot_be_edited_is_refused() -> None:
    space = Workspace(lambda path: FileRead(None, "it is a folder", "directory"))
    with pytest.raises(EditRefused, match="folder"):
        bring_back(space.ledger, kept())


def test_what_is_kept_comes_back_however_long_it_is() -> None:
    """It grew beyond what can be opened, or saved, while it was typed: nothing else has it."""
    for text in ("1\n" * (MAX_LINES + 2), "x" * (MAX_BYTES + 2)):
        space = workspace(a_py=OLD)
        assert bring_back(space.ledger, kept(text=text + OLD))
        assert space.buffers["a.py"].text() == text + OLD


def test_it_is_said_in_words() -> None:
    files = tuple(kept(f"{name}\x1b.py") for name in "abcd")
    assert Unsaved(files, "x", ("y",)).words == (
        "4 files (a\\x1b.py, b\\x1b.py, c\\x1b.py, …), a draft, 1 queued prompt"
    )
    assert Unsaved(files[:1]).words == "1 file (a\\x1b.py)"
    assert not Unsaved(draft=" \n")
    assert Unsaved(draft="d", queued=("a", "b")).prompts == "a\n\nb\n\nd"


PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n+3\n three\n*** End Patch\n"


@pytest.mark.parametrize("stop", [None, PATCH.index("+3"), PATCH.index(" three")])
@pytest.mark.parametrize("accepted", [False, True])
def test_what_is_kept_is_what_a_save_would_write(stop: int | None, accepted: bool) -> None:
    """While a model's edit lands, waits, or was accepted; and making the bytes changes nothing."""
    place = Disk({"a.txt": OLD.encode()})
    space = place.workspace
    landing = place.start()
    landing.feed(PATCH[:stop])
    if stop is None:
        landing.finish(cut=False)
    space.edit("a.txt", (0, 0), (0, 3), "ONE")
    if accepted:
        space.accept()
    text = typed_text(space.ledger, "a.txt")
    assert text is not None
    planned = space.ledger.records["a.txt"].planned
    live = space.buffers["a.txt"].text()
    end = space.buffers["a.txt"].end
    space.edit("a.txt", end, end, "later")
    kept = text.file()
    assert kept is not None
    assert kept.before == OLD.encode()
    assert text.file() == kept
    assert space.ledger.records["a.txt"].planned == planned
    assert space.undo("a.txt") is not None
    assert space.buffers["a.txt"].text() == live
    assert kept.data == space.disk_plan("a.txt").data


def test_a_file_that_is_only_looked_at_has_nothing_to_lose() -> None:
    space = Workspace(lambda path: FileRead(b"\xff"))
    space.open("a.py")
    assert typed_text(space.ledger, "a.py") is None


def test_the_bytes_of_a_long_text_are_made_in_pieces_and_are_the_same() -> None:
    text = "\ufeff" + "".join(f"line {n}\r\n" for n in range(9_001)) + "end"
    space = workspace(a_py=text)
    space.edit("a.py", (0, 0), (0, 0), "x")
    kept = typed_text(space.ledger, "a.py")
    assert kept is not None
    assert kept.file() == UnsavedFile("a.py", space.buffers["a.py"].encode(), text.encode())
