"""The line difference of a text that streams in."""

from __future__ import annotations

from tui.core.patches.diff_section import LineDiff


def decided(old: list[str], new: list[str]) -> list[tuple[str, str]]:
    diff = LineDiff(old)
    ops = [op for line in new for op in diff.take(line)]
    return ops + list(diff.rest())


def test_one_line_far_below_is_chance_three_in_a_row_are_not():
    old = [f"line number {row}" for row in range(40)]
    assert decided(old, [old[30], "new"])[:2] == [("+", old[30]), ("+", "new")]
    ops = decided(old, old[30:])
    assert [text for op, text in ops if op == "="] == old[32:]
