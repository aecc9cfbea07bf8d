"""What a lane changed, read as a difference, and taken in part."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import unified_diff
from itertools import combinations

import pytest

from tui.core.patches import bringing_home
from tui.core.patches.bringing_home import LaneFile, difference, hunk_count, with_hunks
from tui.core.text.diff import LineBlock


def changed(text: str, *rows: int) -> str:
    lines = text.splitlines(keepends=True)
    for row in rows:
        lines[row] = f"now {row}\n"
    return "".join(lines)


TEXT = "".join(f"line {number}\n" for number in range(60))


@pytest.mark.parametrize(
    ("was", "now"),
    [
        *((TEXT, changed(TEXT, *rows)) for rows in ((0,), (59,), (3, 5, 9), (3, 8, 20))),
        (TEXT, TEXT.replace("line 7\nline 8\n", "")),
        (TEXT, TEXT.replace("line 7\n", "line 7\nmore\n")),
        ("", TEXT),
        (TEXT, ""),
        ("one\n", "two\n"),
    ],
)
def test_a_difference_reads_as_that_of_any_other_program(was: str, now: str) -> None:
    told = unified_diff(was.splitlines(), now.splitlines(), lineterm="", n=2)
    path, *found = difference({"a.py": LaneFile(was.encode(), now.encode())})
    assert path == "=a.py"
    numbers = [line.rpartition("@@ ")[2] for line in found if line.startswith("@@")]
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    assert [re.sub("@@ [0-9]+$", "@@", line) for line in found] == list(told)[2:]


def test_texts_that_are_looked_at_again_are_not_compared_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[Sequence[str]] = []

    def noted(old: Sequence[str], new: Sequence[str]) -> list[LineBlock]:
        compared.append(new)
        return []

    monkeypatch.setattr(bringing_home, "blocks", noted)
    changes = {"a.py": LaneFile(b"once\n", b"never again\n")}
    assert [[*difference(changes)] for _ in range(3)] == [["=a.py"]] * 3
    assert compared == [["never again\n"]]


def test_any_hunks_of_all_files_can_be_taken_and_the_rest_is_as_it_was() -> None:
    was, gone = TEXT.encode(), b"old\n"
    changes = {
        "a.py": LaneFile(was, changed(TEXT, 3, 5, 20, 40).encode()),
        "new.py": LaneFile(None, b"x = 1\n"),
        "gone.py": LaneFile(gone, None),
        "bytes.bin": LaneFile(b"\xff\n\x00\n", b"\xfe\n\x00\n"),
    }
    assert hunk_count(changes) == 6
    assert with_hunks(changes, range(1, 7)) == changes
    rows = {1: (3, 5), 2: (20,), 3: (40,)}
    for chosen in combinations(rows, 2):
        now = changed(TEXT, *(row for number in chosen for row in rows[number]))
        assert with_hunks(changes, chosen) == {"a.py": LaneFile(was, now.encode())}
    for number, path in enumerate(("new.py", "gone.py", "bytes.bin"), 4):
        assert with_hunks(changes, [number]) == {path: changes[path]}


def test_a_file_without_an_end_of_line_is_joined_as_it_is() -> None:
    was, now = f"{TEXT}last", f"{changed(TEXT, 1)}last\n"
    changes = {"a.py": LaneFile(was.encode(), now.encode())}
    assert hunk_count(changes) == 2
    taken = with_hunks(changes, [1])["a.py"].now
    assert taken == f"{changed(TEXT, 1)}last".encode()
