"""A file is looked through at once, and put in order little by little."""

from __future__ import annotations

import time

import pytest

from tui.core.text.buffer import Buffer
from tui.core.text.line_index import LineIndex

pytestmark = pytest.mark.slow

LINES = [f"    line {number} = call({number % 977})" for number in range(100_000)]


def test_the_first_look_up_in_a_large_file_does_not_wait_for_all_of_it() -> None:
    index = LineIndex(Buffer("a.py", "\n".join([*LINES, ""])))
    costs = []
    for number in range(99_999, 0, -900):
        began = time.process_time()
        assert index.rows(LINES[number]) == [number]
        costs.append(time.process_time() - began)
    began = time.process_time()
    rows: dict[str, list[int]] = {}
    for row, line in enumerate(LINES):
        rows.setdefault(line.strip(), []).append(row)
    whole = time.process_time() - began
    assert costs[0] < whole / 2
    assert sorted(costs)[-2] < whole / 4
    assert costs[-1] < whole / 50


def test_lines_in_other_scripts_are_looked_up_as_fast() -> None:
    """They were made plain one by one, at every look-up: 20 ms each in 10,000 lines."""

    def first_look_ups(lines: list[str]) -> float:
        index = LineIndex(Buffer("a.py", "\n".join([*lines, ""])))
        began = time.process_time()
        for number in range(9_999, 0, -900):
            assert index.rows(lines[number]) == [number]
        assert index.rows("nowhere") == []
        return time.process_time() - began

    plain = LINES[:10_000]
    other = [
        f"{line}  # \u8ba1\u7b97\u7b2c{number}\u4e2a\u503c" for number, line in enumerate(plain)
    ]
    costs = [(first_look_ups(plain), first_look_ups(other)) for _ in range(3)]
    assert min(cost for _, cost in costs) < 6 * min(cost for cost, _ in costs)


def test_many_changes_do_not_make_it_read_the_whole_file_again() -> None:
    buffer = Buffer("a.py", "\n".join([*LINES, ""]))
    index = LineIndex(buffer)
    began = time.process_time()
    for row in range(0, 100_000, 500):
        index.rows(LINES[row])
    whole = time.process_time() - began
    costs = []
    for number, row in enumerate(range(0, 100_000, 200)):
        began = time.process_time()
        buffer.replace((row, 0), (row + 1, 0), f"changed {number}\n")
        assert index.rows(f"changed {number}") == [row]
        costs.append(time.process_time() - began)
    assert sorted(costs)[-3] < whole / 10
