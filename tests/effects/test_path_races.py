"""H03: whatever is swapped for a link while a file is written, nothing outside is touched."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.tables import each
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.errors import FileRefused

pytestmark = pytest.mark.case("H03")
CALLS = ("open", "stat", "access", "replace", "link", "unlink", "fsync", "mkdir", "listdir")
MOST = 60
Swap = Callable[[Path], None]


def file_for_link(root: Path) -> None:
    """The file becomes a link to one outside that holds the same bytes."""
    (root / "sub" / "f.txt").unlink(missing_ok=True)
    (root / "sub" / "f.txt").symlink_to(root.parent / "outside" / "f.txt")


def folder_for_link(root: Path) -> None:
    """Its folder becomes a link to one outside that holds such a file."""
    (root / "sub").rename(root / "moved")
    (root / "sub").symlink_to(root.parent / "outside")


def hard_link(root: Path) -> None:
    """The file becomes another name of one outside."""
    (root / "sub" / "f.txt").unlink(missing_ok=True)
    os.link(root.parent / "outside" / "f.txt", root / "sub" / "f.txt")


@contextmanager
def swapped_at(number: int, swap: Swap, root: Path) -> Iterator[list[int]]:
    """Right before the so manyth call of the system."""
    calls: list[int] = []

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            calls.append(1)
            if len(calls) == number:
                swap(root)
            return real(*arguments, **named)

        return call

    with pytest.MonkeyPatch.context() as patched:
        for name in CALLS:
            patched.setattr(os, name, counted(getattr(os, name)))
        yield calls


def made(folder: Path) -> tuple[Path, Path]:
    """A workspace with a file, and a folder outside with the same one."""
    root, outside = folder / "root", folder / "outside"
    for one in (root / "sub", outside):
        one.mkdir(parents=True)
        (one / "f.txt").write_bytes(b"old")
    return root, outside


def act(files: Files, what: str) -> None:
    if what == "change":
        files.write("sub/f.txt", b"new text", b"old")
    elif what == "make":
        files.write("sub/new.txt", b"new text", None)
    else:
        files.delete("sub/f.txt", b"old")


@each("what", ["change", "make", "delete"])
@each("swap", [file_for_link, folder_for_link])
def test_nothing_outside_is_written_made_or_deleted(tmp_path: Path, swap: Swap, what: str) -> None:
    done = 0
    for number in range(1, MOST):
        root, outside = made(tmp_path / f"{what}-{swap.__name__}-{number}")
        files = Files(root, Listing(root))
        with swapped_at(number, swap, root) as calls, suppress(FileRefused, OSError):
            act(files, what)
            done += 1
        assert os.listdir(outside) == ["f.txt"], number
        assert (outside / "f.txt").read_bytes() == b"old", number
        if len(calls) < number:
            break
    assert number > 8
    assert done, "at some moments it comes too late"


def test_a_hard_link_swapped_in_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    """Another name of a file is that file: who could link it there could have written it."""
    for number in range(1, MOST):
        root, outside = made(tmp_path / str(number))
        files = Files(root, Listing(root))
        with swapped_at(number, hard_link, root) as calls, suppress(FileRefused):
            act(files, "change")
        assert (outside / "f.txt").read_bytes() in (b"old", b"new text")
        assert (root / "sub" / "f.txt").read_bytes() in (b"old", b"new text")
        if len(calls) < number:
            break
