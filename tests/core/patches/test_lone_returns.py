"""Files whose lines end in a carriage return alone are edited as any others."""

from __future__ import annotations

from tests.support.patches import Disk
from tests.support.tables import each
from tui.core.document.hunk import Stage

OLD, NEW = "a\rb\rc\r", "a\rB\rc\r"
V4A = "*** Begin Patch\n*** Update File: f\n@@\n{}*** End Patch\n"
DIFF = "--- a/f\n+++ b/f\n@@ -{0} +{0} @@\n{1}"
LINES = " a\n-b\n+B\n c\n"
WHOLE = "-a\rb\rcEND\n\\ No newline at end of file\n+a\rB\rcEND\n\\ No newline at end of file\n"


@each("mark", ["", "\ufeff"])
@each("end", ["\r", ""])
@each(
    "fmt, patch",
    [
        ("apply_patch", V4A.format(LINES)),
        ("apply_patch", V4A.format(LINES.replace("\n", "\r\n"))),
        ("unified_diff", DIFF.format("1,3", LINES)),
        ("unified_diff", DIFF.format("1", WHOLE)),
        ("search_replace", "f\n```\n<<<<<<< SEARCH\nb\n=======\nB\n>>>>>>> REPLACE\n```\n"),
    ],
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
