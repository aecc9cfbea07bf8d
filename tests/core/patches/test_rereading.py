"""Sections whose only fault is a forgotten prefix column, left-out blank lines, or both."""

from __future__ import annotations

from tests.support.patches import Disk, disk, patch
from tests.support.tables import each
from tui.core.document.hunk import Stage
from tui.core.patches.landing import Landing
from tui.core.patches.rereading import BLANKS_LEFT_OUT, NO_PREFIX

TEXT = "import os\n\n\nclass A:\n    def f(self):\n        x = 1\n\n        return x\n\n    y = 2\n"


def land(place: Disk, fmt: str, *lines: str) -> Landing:
    """The lines in an envelope of the format, character by character with frames."""
    text = patch("@@", *lines)
    if fmt == "unified_diff":
        text = "\n".join(["--- a/a.txt", "+++ b/a.txt", "@@ -1,9 +1,9 @@", *lines, ""])
    elif fmt == "search_replace":
        old = [line[1:] for line in lines if line[0] != "+"]
        new = [line[1:] for line in lines if line[0] != "-"]
        block = ["<<<<<<< SEARCH", *old, "=======", *new, ">>>>>>> REPLACE", ""]
        text = "\n".join(["a.txt", *block])
    landing = Landing(place.workspace, turn=1, call_id="x", fmt=fmt)
    for char in text:
        landing.feed(char)
        landing.tail()
    landing.finish(cut=False)
    return landing


def flags(landing: Landing) -> list[str]:
    found = [flag for hunk in landing.hunks for flag in hunk.flags]
    return [flag for flag in dict.fromkeys(found) if flag in (NO_PREFIX, BLANKS_LEFT_OUT)]


@each("fmt", ["apply_patch", "unified_diff", "search_replace"])
@each(
    "lines, changed",
    [
        ([" import os", " class A:", "-    def f(self):", "+    def g(self):"], ("def f", "def g")),
        (["         x = 1", "-        return x", "+        return 2"], ("return x", "return 2")),
        (["-        x = 1", "+        x = 3", "         return x"], ("x = 1", "x = 3")),
        # its own blank line says on which side of the one that is left out it stands
        (
            ["         return x", "+    z = 0", "+", "     y = 2"],
            ("    y = 2", "    z = 0\n\n    y = 2"),
        ),
        # a line of the block that ends there by its indentation
        (
            ["         return x", "+        pass", "     y = 2"],
            ("return x\n", "return x\n        pass\n"),
        ),
    ],
)
def test_blank_lines_that_are_left_out(fmt, lines, changed):
    place = disk(a=TEXT)
    landing = land(place, fmt, *lines)
    assert {hunk.stage for hunk in landing.hunks} == {Stage.LANDED}
    assert place.text("a.txt") == TEXT.replace(*changed)
    assert flags(landing) == [BLANKS_LEFT_OUT]
    place.workspace.reject()
    assert place.text("a.txt") == TEXT


def test_a_blank_line_between_removed_ones_parts_two_hunks():
    lines = ["-        x = 1", "+        x = 3", "-        return x", "+        return 2"]
    changed = TEXT.replace("x = 1\n\n        return x", "x = 3\n\n        return 2")
    place = disk(a=TEXT)
    landing = land(place, "apply_patch", *lines)
    assert [(hunk.added, hunk.removed) for hunk in landing.hunks] == [(1, 1), (1, 1)]
    assert place.text("a.txt") == changed
    place.workspace.reject([landing.hunks[0].id])
    assert place.text("a.txt") == changed.replace("x = 3", "x = 1")
    place = disk(a=TEXT)
    landing = land(place, "search_replace", *lines)  # it does not say which line replaces which
    assert landing.hunks[0].reason.startswith("ambiguous: at line 6 ")


@each("fmt", ["apply_patch", "unified_diff", "search_replace"])
def test_added_lines_that_may_stand_on_either_side_of_a_blank_one_are_asked(fmt):
    """Never a wrong place: a person may choose it."""
    place = disk(a="a\n\nb\n")
    landing = land(place, fmt, " a", "+x", " b")
    hunk = landing.hunks[0]
    assert hunk.stage is Stage.REFUSED
    assert hunk.reason.startswith("ambiguous: at line 1 its added lines may stand before or behind")
    assert place.text("a.txt") == "a\n\nb\n"
    place.workspace.place(hunk.id, 0)
    assert place.text("a.txt") == "a\nx\n\nb\n"
    assert "placed by hand" in hunk.flags


@each("fmt", ["apply_patch", "unified_diff"])
@each(
    "lines",
    [
        [" a", "b", "+x"],  # some with the column, some without it
        ["a", "c", "+x"],  # a line that is not there
        ["a", "+x", "b2"],
        ["a", "", "", "b", "+x"],  # a blank line that the file has not
    ],
)
def test_other_faults_are_refused_and_name_the_line(fmt, lines):
    place = disk(a="a\nb\n")
    landing = land(place, fmt, *lines)
    assert {hunk.stage for hunk in landing.hunks} == {Stage.REFUSED}
    assert "has no ' ', '+' or '-' prefix" in landing.hunks[0].reason
    assert place.text("a.txt") == "a\nb\n"


def test_a_line_that_is_all_over_the_file_is_looked_for_in_bounded_time():
    """Thousands of blank lines between equal ones are not walked again and again."""
    place = disk(a="x\n" + "\n" * 20_000 + "x\n" * 20_000)
    landing = land(place, "apply_patch", *[" x", " x", "-y", "@@"] * 50)
    assert {hunk.stage for hunk in landing.hunks} == {Stage.REFUSED}
