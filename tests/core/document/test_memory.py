"""What a hunk costs once it is decided on, in bytes that are counted and not measured."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from tests.support.patches import disk, patch
from tui.core.document.hunk import Hunk
from tui.core.document.removed import removed_lines
from tui.core.steps import finished
from tui.core.text.woven_pieces import WovenEdit

HUNKS = 500
LINES = [f"line {row} of the file\n" for row in range(HUNKS * 20)]
APART = "".join(f"@@\n-{LINES[row]}+new {row}\n" for row in range(1, HUNKS * 20, 20))
AMBIGUOUS = "".join(f"@@\n-same\n+new {row}\n" for row in range(HUNKS))
CASES = {
    "accept": (LINES, APART, 850),
    "reject": (LINES, APART, 1150),
    "give up": (["same\n"] * HUNKS, AMBIGUOUS, 680),
}
"""A file, sections, and the bytes allowed a hunk: the whole file that was written takes 250
of them (of what is accepted)."""


@pytest.mark.slow
@pytest.mark.parametrize("decide", CASES)
def test_a_decided_hunk_keeps_little_and_can_be_undone(decide: str) -> None:
    lines, sections, allowed = CASES[decide]
    place = disk(a="".join(lines))
    workspace = place.workspace
    workspace.documents.ask = True
    workspace.open("a.txt")
    place.land(patch("@@", "-none", "+warm"))
    gc.collect()
    tracemalloc.start()
    try:
        place.land(f"*** Begin Patch\n*** Update File: a.txt\n{sections}*** End Patch\n")
        (workspace.accept if decide == "accept" else workspace.reject)()
        workspace.reject([hunk.id for hunk in workspace.hunks if hunk.placeable])
        finished(workspace.letting_go())
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0] // HUNKS
    finally:
        tracemalloc.stop()
    assert not workspace.hunk_list.has_waiting()
    assert kept <= allowed
    assert edits_of(set(workspace.hunks)) == 0, "what was done to lines is kept as bytes"
    workspace.undo_decision()
    assert sum(hunk.decidable or hunk.placeable for hunk in workspace.hunks) == HUNKS


@pytest.mark.slow
def test_who_only_looks_at_lines_keeps_what_was_done_to_them_as_bytes() -> None:
    place = disk(a="".join(LINES))
    place.land(f"*** Begin Patch\n*** Update File: a.txt\n{APART}*** End Patch\n")
    weave = place.workspace.documents.records["a.txt"].weave
    finished(weave.folding())
    hunks = set(place.workspace.hunks)
    held = edits_of(hunks)
    found = removed_lines(place.workspace, "a.txt", 0, len(LINES))
    assert {one.hunk for one in found} == hunks
    assert edits_of(hunks) == held


def edits_of(hunks: set[Hunk]) -> int:
    """How many of them are objects now."""
    edits = [one for one in gc.get_objects() if type(one) is WovenEdit]
    return sum(one.key in hunks for one in edits)
