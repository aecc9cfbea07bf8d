"""The three-way merge, row arithmetic and the line index."""

from __future__ import annotations

from time import process_time

import pytest

from tests.support.tables import each
from tui.core.text.merge import merge3


@each("torn", ["a\nb", "a\nB", "a"])
def test_lines_behind_a_line_without_its_newline_are_not_run_into_it(torn):
    assert merge3("a\nb\n", torn, "a\nb\nc\n") is None
    assert merge3("a\nb\n", "a\nb\nc\n", torn) is None
    assert merge3("a\nb\n", torn, "A\nb\n") in (None, torn.replace("a", "A"))


@pytest.mark.slow
def test_a_file_of_which_every_second_line_changed_is_merged_at_once():
    """A formatter or a checkout does that to an open file: difflib took 2 s for 10,000 lines."""
    base = [f"line {row} of it\n" for row in range(10_000)]
    theirs = [line if row % 2 else f"    {line}" for row, line in enumerate(base)]
    mine = [line if row % 1000 != 1 else f"mine {line}" for row, line in enumerate(base)]
    began_s = process_time()
    merged = merge3("".join(base), "".join(mine), "".join(theirs))
    assert process_time() - began_s < 2
    assert merged is not None
    expected = [mine[row] if row % 2 else theirs[row] for row in range(10_000)]
    assert merged == "".join(expected)
