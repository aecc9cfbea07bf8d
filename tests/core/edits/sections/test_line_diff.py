"""The line difference of a text that streams in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.patches import disk
from tui.core.edits.patches.landing import Landing
from tui.core.edits.sections.line_diff import LineDiff

LINES = st.lists(st.sampled_from(["a", "}", "", "a telling line", "another one", "x = 1234"]))


def decided(old: list[str], new: list[str]) -> list[tuple[str, str]]:
    diff = LineDiff(old)
    ops = [op for line in new for op in diff.take(line)]
    return ops + list(diff.rest())


@given(LINES, LINES)
def test_kept_and_added_lines_are_the_new_text_kept_and_removed_ones_the_old(old, new):
    ops = decided(old, new)
    assert [text for op, text in ops if op != "-"] == new
    assert [text for op, text in ops if op != "+"] == old


def test_a_line_put_in_taken_out_and_changed():
    old = [f"line number {row}" for row in range(6)]
    new = [old[0], "put in", old[1], "changed", *old[3:5]]
    changed = [(op, text) for op, text in decided(old, new) if op != "="]
    assert changed == [
        ("+", "put in"), ("+", "changed"), ("-", old[2]), ("-", old[5])
    ]  # fmt: skip


def test_one_line_far_below_is_chance_three_in_a_row_are_not():
    old = [f"line number {row}" for row in range(40)]
    assert decided(old, [old[30], "new"])[:2] == [("+", old[30]), ("+", "new")]
    ops = decided(old, old[30:])
    assert [text for op, text in ops if op == "="] == old[32:]


def test_at_the_end_the_smaller_difference_lands():
    old = [f"line number {row}" for row in range(40)]
    place = disk(a="".join(f"{line}\n" for line in old))
    landing = Landing(place.workspace, turn=1, call_id="c", channel="text", fmt="whole_file")
    body = "".join(f"{line}\n" for line in old[15:])
    landing.feed(f"a.txt\n```\n{body}```\n")
    landing.finish(cut=False)
    assert place.text("a.txt") == body
    (hunk,) = landing.hunks
    assert (hunk.added, hunk.removed, hunk.agent) == (0, 15, "")
