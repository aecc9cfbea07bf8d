"""What a model has painted is not the user's to delete, and so not to bring back (G04)."""

from __future__ import annotations

import pytest

from tests.support.notations import NOTATIONS, told
from tests.support.patches import Disk, Edit, disk
from tests.support.tables import each
from tui.core.document.hunk import PLACED
from tui.core.edit_stream.events import Notation
from tui.core.patches.landing import Landing

LINES = [f"line {number}" for number in range(20)]
TEXT = "".join(f"{line}\n" for line in LINES)
NEW = tuple(f"new {number}" for number in range(5))
EDIT = Edit(8, 11, NEW)


def streamed(fmt: Notation, upto: str) -> tuple[Disk, Landing, str]:
    """An edit of line 8 to 10, up to and with this text."""
    place = disk(a=TEXT)
    place.workspace.open("a.txt")
    landing = place.start(fmt=fmt)
    text = told(fmt, LINES, [EDIT], 2, "a.txt")
    at = text.index(upto) + len(upto)
    landing.feed(text[:at])
    landing.tail()
    return place, landing, text[at:]


@pytest.mark.case("G04")
@each("typed", ["", "x", "\n", "two\nlines\n"])
@each("cut", [False, True])
@each("upto", ["new 1\n", "new 3"])
@each("first", [0, 6, 9])
@each("fmt", NOTATIONS)
def test_undo_of_a_deletion_brings_nothing_back_that_was_being_painted(
    fmt: Notation, first: int, upto: str, cut: bool, typed: str
) -> None:
    for last in range(12, 23, 5):
        place, landing, rest = streamed(fmt, upto)
        *gone, behind = place.workspace.open("a.txt").lines[first : last + 1]
        if typed == "x" and behind.startswith("ne"):
            continue  # typed in a painted line, which stays
        assert any(line.startswith("ne") for line in gone)
        if all(line.startswith("ne") for line in gone):
            continue
        place.workspace.edit("a.txt", (first, 0), (last, 0), typed)
        place.workspace.undo("a.txt")
        if not cut:
            landing.feed(rest)
        landing.finish(cut=cut)
        place.workspace.undo("a.txt")
        found = place.text("a.txt").splitlines()
        kept = [line for line in found if not line.startswith("ne")]
        if any(hunk.stage in PLACED for hunk in landing.hunks):
            assert [line for line in kept if line not in LINES] == []
        else:
            assert found == LINES, (first, last)


def test_painted_rows_of_a_deleted_range_are_taken_out_at_once() -> None:
    place, _, _ = streamed("apply_patch", "new 3\n")
    buffer = place.workspace.open("a.txt")
    before = buffer.revision
    place.workspace.edit("a.txt", (6, 0), (buffer.line_count - 4, 0), "")
    assert buffer.revision == before + 2, "the model's rows, then the user's"


def test_what_is_deleted_of_painted_lines_alone_comes_back_with_undo() -> None:
    place, landing, rest = streamed("apply_patch", "new 3\n")
    at = place.workspace.open("a.txt").lines.index("new 1")
    place.workspace.edit("a.txt", (at, 0), (at + 2, 0), "")
    landing.feed(rest)
    landing.finish(cut=False)
    assert "new 1" not in place.text("a.txt")
    place.workspace.undo("a.txt")
    assert place.text("a.txt").splitlines() == [*LINES[:8], *NEW, *LINES[11:]]


@pytest.mark.case("G04")
@each("upto", ["new 1\n", "new 3"])
@each("fmt", NOTATIONS)
def test_deleted_painted_lines_do_not_come_back_when_the_stream_is_cut(
    fmt: Notation, upto: str
) -> None:
    for first in range(3):
        place, landing, _ = streamed(fmt, upto)
        buffer = place.workspace.open("a.txt")
        row = buffer.lines.index("new 0") + min(first, 1)
        place.workspace.edit("a.txt", (row, 0), (row + 1, 0), "")
        if first == 2:
            place.workspace.edit("a.txt", (0, 0), (0, 4), "LINE")
        landing.finish(cut=True)
        while place.workspace.undo("a.txt") is not None:
            pass
        assert place.text("a.txt") == TEXT


@pytest.mark.case("G04", "D08")
@each("cut", [False, True])
@each("upto", ["new 1\n", "new 3"])
@each("fmt", NOTATIONS)
def test_any_deletion_while_it_streams_undone_gives_the_files_own_text(
    fmt: Notation, upto: str, cut: bool
) -> None:
    def ends(row: int, line: str) -> list[tuple[int, int]]:
        return [(row, col) for col in sorted({0, 2, len(line)}) if col <= len(line)]

    _, landing, _ = streamed(fmt, upto)
    lines = landing.workspace.open("a.txt").lines
    places = [at for row in range(6, 15) for at in ends(row, lines[row])]
    for number, start in enumerate(places):
        for end in places[number + 1 :: 11]:
            place, landing, rest = streamed(fmt, upto)
            place.workspace.edit("a.txt", start, end, "")
            if not cut:
                landing.feed(rest)
            landing.finish(cut=cut)
            while place.workspace.undo("a.txt") is not None:
                pass
            place.write(place.workspace.undo_turn())
            while place.workspace.undo("a.txt") is not None:
                pass
            assert place.text("a.txt") == TEXT, (start, end)
