"""Whatever PATH names: the app opens, or one sentence on an untouched terminal says why not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.terminal import Terminal

NAMES = (b"latin\xff.txt", b"evil\x1b]0;own\x07\nname.txt", "bidi\u202etxt.py".encode())


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """The folder that `start` works in, full of odd things."""
    (tmp_path / "a.py").write_text("one\ntwo\nthree\n")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop1").symlink_to("loop2")
    (tmp_path / "loop2").symlink_to("loop1")
    (tmp_path / "dangling").symlink_to("gone")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    (tmp_path / "bin").write_bytes(bytes(range(256)) * 100)
    (tmp_path / "big.txt").write_bytes(b"x" * 79 + b"\n")
    os.truncate(tmp_path / "big.txt", 50_000_000)
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "crlf.txt").write_bytes(b"ab\r\ncd\r\n")
    (tmp_path / "bom.txt").write_bytes(b"\xef\xbb\xbfhello\n")
    for name in NAMES:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text("content\n")
    return tmp_path


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (["no\x1b[31m\nsuch"], r"no such file or folder: no\x1b[31m\nsuch"),
        (["no\udcff"], r"no such file or folder: no\udcff"),
        (["loop1"], "its links lead in a circle"),
        (["fifo"], "fifo is neither a file nor a folder"),
        ([""], "PATH is empty"),
    ],
    ids=lambda value: repr(" ".join(value)[:40]) if isinstance(value, list) else None,
)
def test_a_path_that_is_none(
    odd: Path, start: Callable[..., Terminal], line: list[str], says: str
) -> None:
    term = start(*line, size=(200, 24))
    assert term.wait_exit() == 2
    assert says in term.text
    assert b"\x1b[?1049h" not in term.output
    assert b"\x1b[31m" not in term.output
    assert term.trouble() == ""


@pytest.mark.parametrize(
    ("line", "shows"),
    [
        (["a.py", "+99"], "three"),
        (["latin.txt"], "is not UTF-8 (byte 4), so it is read-only"),
        (["bin"], "'bin' is a binary file ("),
        (["big.txt"], "'big.txt' has 48 MB, so it is read-only"),
        ([os.fsdecode(NAMES[0])], "was not opened"),
        ([os.fsdecode(NAMES[1])], "not a usable path"),
        ([os.fsdecode(NAMES[2])], "content"),
    ],
    ids=lambda value: repr(" ".join(value)) if isinstance(value, list) else None,
)
def test_a_file_of_any_kind(
    odd: Path, start: Callable[..., Terminal], line: list[str], shows: str
) -> None:
    term, waited = start(*line), {"send", shows}

    def seen(text: str) -> bool:
        """Each of them once: a notice goes by itself, and what starts may take longer."""
        shown = " ".join(text.split())
        waited.difference_update([words for words in waited if words in shown])
        return not waited

    term.wait_for(seen)
    assert b"own\x07" not in term.output
    assert "\u202e".encode() not in term.output
    term.leave()
