"""Files whose lines end in a carriage return alone are edited as any others."""

from __future__ import annotations

import pytest

from tests.support.patches import Disk
from tui.core.edits.hunk import Stage
from tui.core.text.buffer import Buffer

OLD, NEW = "a\rb\rc\r", "a\rB\rc\r"
V4A = "*** Begin Patch\n*** Update File: f\n@@\n{}*** End Patch\n"
DIFF = "--- a/f\n+++ b/f\n@@ -{0} +{0} @@\n{1}"
LINES = " a\n-b\n+B\n c\n"
WHOLE = "-a\rb\rcEND\n\\ No newline at end of file\n+a\rB\rcEND\n\\ No newline at end of file\n"


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["", "with a mark"])
@pytest.mark.parametrize("end", ["\r", ""], ids=["ended", "not ended"])
@pytest.mark.parametrize(
    ("fmt", "patch"),
    [
        ("apply_patch", V4A.format(LINES)),
        ("apply_patch", V4A.format(LINES.replace("\n", "\r\n"))),
        ("unified_diff", DIFF.format("1,3", LINES)),
        ("unified_diff", DIFF.format("1", WHOLE)),
        ("search_replace", "f\n```\n<<<<<<< SEARCH\nb\n=======\nB\n>>>>>>> REPLACE\n```\n"),
    ],
    ids=["V4A", "V4A with CRLF", "diff", "diff of one line, as git writes it", "SEARCH"],
)
def test_a_patch_of_lines_fits_and_the_ends_stay(fmt, patch, end, mark):
    old = f"{mark}{OLD[:-1]}{end}"
    place = Disk({"f": old.encode()})
    landing = place.land(patch.replace("END", end), fmt=fmt)
    assert {hunk.stage for hunk in landing.hunks} == {Stage.LANDED}
    place.write(place.workspace.accept())
    assert place.files["f"].decode() == f"{mark}{NEW[:-1]}{end}"
    place.write(place.workspace.undo_turn())
    assert place.files["f"].decode() == old


@pytest.mark.parametrize("text", ["a\rb\nc", "a\r\nb\rc\r\n", "\r\n", "a\n\r"])
def test_with_one_newline_a_return_is_a_character(text):
    buffer = Buffer("f", text)
    assert buffer.text() == text
    assert buffer.encode() == text.encode()


def test_what_another_program_makes_of_the_ends_is_kept():
    place = Disk({"f": OLD.encode()})
    space = place.workspace
    space.open("f")
    for data in (b"a\nb\nc\n", b"a\rb\rc\rd\r", b"a\r\nb\r\n"):
        place.files["f"] = data
        space.outside_change("f", place.read("f"))
        assert space.buffers["f"].encode() == data
