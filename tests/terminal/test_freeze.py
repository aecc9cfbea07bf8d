"""Esc in the middle of a line, in the real program: on the screen nothing moves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.patch_server import PatchServer
from tests.support.tables import each
from tests.support.terminal import Terminal

ESC = "\x1b"
EDITOR = f"{ESC}2"
TEXT = "".join(f"line {number}\n" for number in range(30))
PATCH = """*** Begin Patch
*** Update File: a.txt
@@
 line 2
-line 3
+the new line 3
 line 4
@@
 line 7
-line 8
-line 9
+the new line 8
+the half of a li"""
HALF = "the half of a li"


def rows(text: str) -> list[tuple[int, str]]:
    """The words of the editor's rows above line 12, without numbers, signs, labels and the pen.

    None where line 12 is not shown: the editor alone has it, the conversation has the patch.
    """
    lines = text.splitlines()
    start = next((line.index("line 12") for line in lines if "line 12" in line), 0)
    words = (line[start : start + 20].replace("▍", " ").rstrip() for line in lines)
    found = [(y, row) for y, row in enumerate(words) if row.startswith(("line", "the "))]
    return found[: next((at for at, (_, row) in enumerate(found) if row == "line 12"), 0)]


def has(text: str, row: str) -> bool:
    """Whether the editor shows this row."""
    return row in [words for _, words in rows(text)]


@each("size", [(80, 24), (120, 40)])
def test_nothing_moves_until_the_next_instruction_leaves(
    start: Callable[..., Terminal], tmp_path: Path, size: tuple[int, int]
) -> None:
    folder = tmp_path / f"work {size[0]}"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    server = PatchServer(PATCH, stalls=True)
    address = f"ws://127.0.0.1:{server.port}/v1/responses"
    term = start("--endpoint", address, "--fast", "m", folder, size=size)
    term.wait_for("send")
    term.type("go\r")
    before = rows(term.wait_for(lambda text: has(text, HALF)))
    shown = [row for _, row in before]
    assert shown[-4:] == ["the new line 8", HALF, "line 10", "line 11"]
    assert shown[-7:-4] == ["line 7", "line 8", "line 9"], "what is removed is there, too"
    term.type(ESC)
    term.wait_for("stopped after")
    assert rows(term.settle()) == before
    assert (folder / "a.txt").read_text() == TEXT
    term.type("no, in capitals\r")
    term.wait_gone(HALF)
    term.wait_for("cut and undecided")
    if size[0] == 80:  # the conversation has all of the room now
        term.type(EDITOR)
    assert not has(term.wait_for(lambda text: has(text, "the new line 3")), HALF)
