"""Regions that the user changed: what they are, and that thousands of them cost a key nothing."""

from __future__ import annotations

from time import process_time

import pytest

from tui.core.document.workspace import Workspace
from tui.core.files import FileRead

EVERY = 5
"""An edit in every fifth line: none touches another one's region."""


def workspace(lines: int) -> Workspace:
    return Workspace(lambda path: FileRead(b"one two\n" * lines))


def replaced(work: Workspace, lines: int) -> None:
    """A replacement of all in many places, from the bottom up, as the find bar makes it."""
    for row in reversed(range(0, lines, EVERY)):
        work.edit("a.py", (row, 0), (row, 3), "1", "replace:1")


def cost_s(lines: int) -> float:
    """CPU seconds of replacing and taking it back."""
    work = workspace(lines)
    work.open("a.py")
    began = process_time()
    replaced(work, lines)
    work.undo("a.py")
    work.redo("a.py")
    return process_time() - began


@pytest.mark.slow
def test_replacing_in_four_times_as_many_places_costs_four_times_as_much() -> None:
    cost_s(1000)
    few = min(cost_s(5_000) for _ in range(3))
    assert cost_s(40_000) < 20 * few  # 8 times; where each edit looks at all the others: 64
