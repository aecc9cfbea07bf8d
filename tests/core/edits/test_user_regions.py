"""Regions that the user changed: what they are, and that thousands of them cost a key nothing."""

from __future__ import annotations

from time import process_time

from hypothesis import given, settings
from hypothesis import strategies as st

from tui.core.edits.workspace import Workspace
from tui.core.file_read import FileRead

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


def test_replacing_in_four_times_as_many_places_costs_four_times_as_much() -> None:
    cost_s(1000)
    few = min(cost_s(5_000) for _ in range(3))
    assert cost_s(40_000) < 20 * few  # 8 times; where each edit looks at all the others: 64


EDIT = st.tuples(
    st.integers(0, 30), st.integers(0, 3), st.sampled_from(["", "x", "\n", "x\ny\n", "a\n\n"])
)


@settings(max_examples=200, deadline=None)
@given(st.lists(EDIT, max_size=14))
def test_regions_are_in_order_and_together_are_all_that_changed(
    edits: list[tuple[int, int, str]],
) -> None:
    work = Workspace(lambda path: FileRead("".join(f"line {n}\n" for n in range(24)).encode()))
    buffer = work.open("a.py")
    before = buffer.text()
    for row, rows, text in edits:
        first = min(row, buffer.line_count - 1)
        last = min(first + rows, buffer.line_count - 1)
        work.edit("a.py", (first, 0), (last, 0), text)
    taken = work.ledger.open("a.py").regions.take(buffer)
    starts = [change.first_line for change in taken]
    assert starts == sorted(starts)
    lines = buffer.text().splitlines(keepends=True)
    for change in reversed(taken):
        end = change.first_line + len(change.new_text.splitlines())
        assert "".join(lines[change.first_line : end]) == change.new_text
        lines[change.first_line : end] = change.old_text.splitlines(keepends=True)
    assert "".join(lines) == before
