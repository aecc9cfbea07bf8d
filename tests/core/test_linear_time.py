"""Cost follows the size: twice the input takes less than four times as long (A03, I5)."""

from __future__ import annotations

import gc
import time

import pytest

from tests.support.big_patches import KINDS, Big
from tests.support.patches import Disk
from tui.core.hunk import Decision

FLOOR_S = 0.05
"""What is quicker than this says nothing."""


def played(big: Big, chunk: int) -> float:
    """Land, report, accept, write and take back; returns the CPU seconds of it.

    The collector waits: what a full collection costs here is the size of the test process.
    """
    disk = Disk({"f.txt": big.before})
    gc.collect()
    gc.disable()
    try:
        return _measured(disk, big, chunk)
    finally:
        gc.enable()


def _measured(disk: Disk, big: Big, chunk: int) -> float:
    began = time.process_time()
    landing = disk.start()
    for count, at in enumerate(range(0, len(big.patch), chunk)):
        landing.feed(big.patch[at : at + chunk])
        if count % 16 == 0:
            landing.tail()
    landing.finish(cut=False)
    assert landing.placed_all
    assert "placed" in landing.report()
    assert disk.workspace.disk_plan("f.txt").data == big.before
    disk.write(disk.workspace.accept())
    assert disk.files["f.txt"] == big.after
    disk.write(disk.workspace.undo_turn())
    assert disk.files["f.txt"] == big.before
    assert {hunk.decision for hunk in disk.workspace.hunks} == {Decision.REJECTED}
    return time.process_time() - began


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_twice_the_input_takes_less_than_four_times_as_long(kind):
    size = KINDS[kind]
    for _ in range(3):
        once, twice = (max(played(kind(n), 40), FLOOR_S) for n in (size, 2 * size))
        if twice < 4 * once:
            return
    pytest.fail(f"{once:.2f} s, then {twice:.2f} s")


def test_a_thousand_hunks_and_a_400_kb_line_are_quick():
    """Measured 0.3 s each; the limits allow for a slow machine."""
    kinds = {kind.__name__: kind for kind in KINDS}
    assert played(kinds["many_hunks"](1000), 4) < 5
    assert played(kinds["one_long_line"](400_000), 64) < 5
    assert played(kinds["many_lines"](50_000), 4) < 5
