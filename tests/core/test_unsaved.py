from __future__ import annotations

import pytest

from tui.core.document.workspace import Workspace
from tui.core.files import FileRead
from tui.core.unsaved import Unsaved, UnsavedFile, bring_back, typed_text
from tui.errors import EditRefused

OLD = "one\ntwo\nthree\nfour\n"
TYPED = "ONE\ntwo\nthree\nFOUR\n"


def workspace(**files: str) -> Workspace:
    data = {name.replace("_", "."): text.encode() for name, text in files.items()}
    return Workspace(lambda path: FileRead(data.get(path)))


def kept(path: str = "a.py", text: str = TYPED, before: str | None = OLD) -> UnsavedFile:
    return UnsavedFile(path, text.encode(), None if before is None else before.encode())


def test_a_file_that_is_not_there_is_made_in_the_editor() -> None:
    space = workspace()
    assert bring_back(space.documents, kept("new.py", "\ufeffx\r\n", None))
    assert space.disk_plan("new.py").data == "\ufeffx\r\n".encode()
    assert space.is_dirty("new.py")


def test_what_cannot_be_edited_is_refused() -> None:
    space = Workspace(lambda path: FileRead(None, "it is a folder", "directory"))
    with pytest.raises(EditRefused, match="folder"):
        bring_back(space.documents, kept())


def test_it_is_said_in_words() -> None:
    files = tuple(kept(f"{name}\x1b.py") for name in "abcd")
    assert Unsaved(files, "x", ("y",)).words == (
        "4 files (a\\x1b.py, b\\x1b.py, c\\x1b.py, …), a draft, 1 queued prompt"
    )
    assert Unsaved(files[:1]).words == "1 file (a\\x1b.py)"
    assert not Unsaved(draft=" \n")
    assert Unsaved(draft="d", queued=("a", "b")).prompts == "a\n\nb\n\nd"


def test_a_file_that_is_only_looked_at_has_nothing_to_lose() -> None:
    space = Workspace(lambda path: FileRead(b"\xff"))
    space.open("a.py")
    assert typed_text(space.documents, "a.py") is None
