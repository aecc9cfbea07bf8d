"""A patch that takes most of a file away, in every notation (EDITS.md section 8; I07)."""

from __future__ import annotations

import pytest

from tests.support.patches import Disk, disk
from tests.support.tables import each

LINES = [f"line {row}" for row in range(100)]
GONE = "".join(f"-{line}\n" for line in LINES[1:99])
PATCHES = {
    "apply_patch": "*** Begin Patch\n*** Update File: a.txt\n@@\n line 0\n"
    f"{GONE}+pass\n line 99\n*** End Patch\n",
    "search_replace": "a.txt\n<<<<<<< SEARCH\n"
    + "\n".join(LINES[1:99])
    + "\n=======\npass\n>>>>>>> REPLACE\n",
    "unified_diff": "--- a/a.txt\n+++ b/a.txt\n@@ -1,100 +1,3 @@\n line 0\n"
    f"{GONE}+pass\n line 99\n",
}


@pytest.mark.case("I07")
@each("fmt", PATCHES)
def test_a_patch_that_takes_most_lines_away_is_looked_at(fmt):
    place = disk(a="\n".join(LINES) + "\n")
    landing = place.land(PATCHES[fmt], fmt=fmt)
    assert landing.placed_all
    assert [[*hunk.flags] for hunk in landing.hunks] == [["shrink: 97 of 100 lines of the file go"]]
    assert not place.workspace.may_be_taken_as_read(landing.hunks[0])


@pytest.mark.case("I07")
@each(
    "path, target, flag",
    [
        (".env", "notes.txt", "a private file: its name says that it holds environment secrets"),
        ("notes.txt", ".env", "a private file: its name says that it holds environment secrets"),
        (".gitignore", "old.txt", "it says which files are ignored"),
    ],
)
def test_a_move_of_a_secret_or_of_what_is_ignored_is_looked_at(path, target, flag):
    """A model need not have seen a file to give it a public name."""
    place = Disk({path: b"KEY=1\n"})
    landing = place.land(
        f"*** Begin Patch\n*** Update File: {path}\n*** Move to: {target}\n*** End Patch\n"
    )
    assert landing.hunks[0].flags == (flag,)
    assert not place.workspace.may_be_taken_as_read(landing.hunks[0])
