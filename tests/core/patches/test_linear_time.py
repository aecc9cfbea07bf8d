"""Cost follows the size: twice the input takes less than four times as long (A03, I5)."""

from __future__ import annotations

import gc
import time

import pytest

from tests.support.big_patches import KINDS, Big
from tests.support.patches import Disk
from tests.support.tables import each
from tui.core.document.hunk import Decision

pytestmark = pytest.mark.slow

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


@each("kind", KINDS)
def test_twice_the_input_takes_less_than_four_times_as_long(kind):
    size = KINDS[kind]
    for _ in range(3):
        once, twice = (max(played(kind(n), 40), FLOOR_S) for n in (size, 2 * size))
        if twice < 4 * once:
            return
    pytest.fail(f"{once:.2f} s, then {twice:.2f} s")


def test_thousands_of_hunks_are_accepted_or_explained_in_linear_time():
    """Measured 0.05 s and 0.4 s for the larger ones."""

    def spent(count: int, sign: str) -> float:
        disk = Disk({"f.txt": "".join(f"line {n}\n" for n in range(count)).encode()})
        sections = "".join(f"@@\n-line{sign}{n}\n+new {n}\n" for n in range(count))
        landing = disk.start()
        began = time.process_time()
        if sign == " ":
            landing.feed(f"*** Begin Patch\n*** Update File: f.txt\n{sections}*** End Patch\n")
            landing.finish(cut=False)
            began = time.process_time()
            disk.workspace.accept()
        else:
            landing.feed(f"*** Begin Patch\n*** Update File: f.txt\n{sections}*** End Patch\n")
            landing.finish(cut=False)
            assert not landing.placed_all
        return time.process_time() - began

    for size, sign in ((5000, " "), (1500, "_")):
        tries = [(spent(size, sign), spent(2 * size, sign)) for _ in range(2)]
        assert min(twice - 3.2 * once for once, twice in tries) < 0.05
