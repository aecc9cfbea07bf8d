"""What a hunk costs once it is decided on, in bytes that are counted and not measured."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from tests.support.patches import disk, patch
from tui.core.steps import finished

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
    workspace.undo_decision()
    assert sum(hunk.decidable or hunk.placeable for hunk in workspace.hunks) == HUNKS
