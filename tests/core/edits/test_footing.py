"""A hunk stands where it stood when the user's edit across its edge is undone (G06, D08)."""

from __future__ import annotations

import pytest

from tests.support.notations import NOTATIONS, told
from tests.support.patches import Edit, disk
from tests.support.tables import each
from tui.core.edit_stream.events import Notation
from tui.core.edits.hunk import Stage

LINES = [f"line {number}" for number in range(8)]
TEXT = "".join(f"{line}\n" for line in LINES)


@pytest.mark.case("G06", "D08")
@each("new", [("new 1", "new 2"), ()])
@each("fmt", NOTATIONS)
def test_any_deletion_undone_leaves_a_landed_hunk_as_it_was(
    fmt: Notation, new: tuple[str, ...]
) -> None:
    place = disk(a=TEXT)
    landing = place.land(told(fmt, LINES, [Edit(3, 4, new)], 1, "a.txt"), fmt=fmt)
    buffer, (hunk,) = place.workspace.open("a.txt"), landing.hunks
    landed = buffer.text()
    rows = (3, 3 + len(new))
    places = [
        (row, col)
        for row in range(7)
        for col in {0, min(2, len(buffer.lines[row])), len(buffer.lines[row])}
    ]
    for number, start in enumerate(sorted(places)):
        for end in sorted(places)[number + 1 :: 3]:
            place.workspace.edit("a.txt", start, end, "")
            deleted = buffer.text()
            for _ in range(2):
                place.workspace.undo("a.txt")
                assert buffer.text() == landed
                assert hunk.start is not None
                assert hunk.end is not None
                assert (hunk.start.line, hunk.end.line) == rows, (start, end)
                place.workspace.redo("a.txt")
                assert buffer.text() == deleted
            place.workspace.undo("a.txt")
    place.write(place.workspace.reject())
    assert hunk.stage is Stage.LANDED
    assert buffer.text() == TEXT
