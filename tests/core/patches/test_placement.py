"""Where sections belong: the ladder, uniqueness, retraction (EDIT-CASES.md, group F)."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Sequence

import pytest

from tests.support.patches import Disk, disk, patch
from tests.support.tables import each
from tui.core.document.hunk import Decision, Stage
from tui.core.document.waiting_places import NEAREST, nearest
from tui.core.patches import candidates
from tui.core.patches.landing import Landing
from tui.core.patches.rereading import BLANKS_LEFT_OUT, NO_PREFIX
from tui.core.text import line_index
from tui.core.text.line_index import LineIndex
from tui.errors import EditRefused

BEGIN = "*** Begin Patch\n*** Update File: a.txt\n"


def test_f02_the_user_places_an_ambiguous_hunk():
    place = disk(a="k\nv\nk\nv\n")
    hunk = place.land(patch("@@", "-v", "+V")).hunks[0]
    place.workspace.edit("a.txt", (0, 0), (0, 0), "new\n")
    assert hunk.candidates == (2, 4)
    assert place.workspace.decorations("a.txt", 0, 9) == {2: "candidate", 4: "candidate"}
    with pytest.raises(EditRefused, match="does not fit"):
        place.workspace.place(hunk.id, 3)
    place.workspace.place(hunk.id, 4)
    assert place.text("a.txt") == "new\nk\nv\nk\nV\n"
    assert (hunk.stage, hunk.flags, hunk.reason) == (Stage.LANDED, ("placed by hand",), "")
    with pytest.raises(EditRefused, match="does not wait"):
        place.workspace.place(hunk.id, 2)


def test_f03_a_contradicted_place_is_retracted_and_moved_once():
    place = disk(a="one\ntwo\nx  \ny\none  \ntwo\nthree\n")
    landing = place.start()
    landing.feed(BEGIN + "@@\n one\n-two\n+2\n")
    assert place.text("a.txt").startswith("one\ntwo\n2\nx")
    landing.feed(" three\n")
    assert place.text("a.txt") == "one\ntwo\nx  \ny\none  \ntwo\n2\nthree\n"
    landing.feed("*** End Patch\n")
    landing.finish(cut=False)
    assert landing.placed_all
    assert place.text("a.txt") == "one\ntwo\nx  \ny\none  \n2\nthree\n"


def test_f03_a_contradicted_place_with_no_other_is_taken_back():
    place = disk(a="one\ntwo\nthree")
    landing = place.start()
    landing.feed(BEGIN + "@@\n one\n-two\n-three\n+2\n")
    assert place.text("a.txt") == "one\ntwo\nthree\n2\n"
    landing.feed(" four\n*** End Patch\n")
    assert place.text("a.txt") == "one\ntwo\nthree"
    landing.finish(cut=False)
    assert landing.hunks[0].reason == (
        "context not found: closest is line 1, 3 of 4 lines match; "
        "line 4 of the file has nothing, the patch has 'four'"
    )


def test_f06_only_the_first_line_lost_its_indentation():
    place = disk(a="    def f(self):\n        a = 1\n        return a\n")
    landing = place.land(patch("@@", " def f(self):", "-        a = 1", "+        a = 2"))
    assert place.text("a.txt") == "    def f(self):\n        a = 2\n        return a\n"
    assert landing.hunks[0].flags == ("re-indented the first line",)
    landing = place.land(patch("@@", " def f(self):", "-      a = 2", "+      a = 3"))
    assert place.text("a.txt") == "    def f(self):\n        a = 3\n        return a\n"
    assert landing.hunks[0].flags == ("re-indented 6->8",)


def test_outer_blank_lines_that_are_not_there_are_left_out():
    place = disk(a="a\nb\nc\n")
    landing = place.land(patch("@@", " ", " a", "-b", "+B", " "))
    assert place.text("a.txt") == "a\nB\nc\n"
    assert landing.hunks[0].flags == ("outer blank lines differ",)


def test_cost_of_a_delta_does_not_follow_the_length_of_the_file():
    place = Disk({"a.txt": "".join(f"line {n}\n" for n in range(100_000)).encode()})
    landing = place.start()
    landing.feed(BEGIN + "@@\n line 99000\n")
    index = place.workspace.documents.records["a.txt"].index
    index._build = None  # the index is built once, then it follows
    for number in range(500):
        landing.feed(f"+new {number}\n")
    landing.feed(" line 99001\n@@\n line 500\n-line 501\n+x\n*** End Patch\n")
    landing.finish(cut=False)
    assert [[*hunk.flags] for hunk in landing.hunks] == [[], ["out of order"]]


def test_f02_places_of_a_waiting_hunk_follow_what_is_painted_above_by_the_next_frame():
    place = disk(a="top\nv\nv\n")
    place.workspace.documents.ask = True
    waiting = place.land(patch("@@", "-v", "+V")).hunks[0]
    landing = place.start()
    landing.feed(BEGIN + "@@\n top\n+one\n+two\n")
    place.workspace.touched()
    assert waiting.candidates == (3, 4)
    landing.feed("+three\n*** End Patch\n")
    landing.finish(cut=False)
    assert waiting.candidates == (4, 5)
    place.workspace.place(waiting.id, 5)
    assert place.text("a.txt") == "top\none\ntwo\nthree\nv\nV\n"


CLASSES = "".join(f"class {name}:\n    def run(self):\n        x()\n\n" for name in "ABC")


@pytest.mark.case("F02", "B12")
def test_f02_of_several_anchors_the_first_behind_the_hunk_before_is_meant():
    place = disk(a=CLASSES)
    first, second = ["-class B:", "+class B(A):"], ["-        x()", "+        y()"]
    hunk = place.land(patch("@@", *first, "@@ def run(self):", *second)).hunks[1]
    assert place.text("a.txt").split("\n")[4:7] == [
        "class B(A):",
        "    def run(self):",
        "        y()",
    ]
    assert hunk.flags == ("several places fit: the first after the previous hunk",)


@pytest.mark.case("F02", "B12")
def test_f02_an_anchor_around_the_hunk_before_leads_behind_it():
    body = "    def run(self):\n        x()\n        z()\n        x()\n"
    place = disk(a=f"class A:\n{body}class B:\n{body}")
    first = ["@@ class A:", "@@ def run(self):", "-        z()", "+        Z()"]
    place.land(patch(*first, "@@ def run(self):", "-        x()", "+        y()"))
    lines = place.text("a.txt").split("\n")
    assert lines[1:5] == ["    def run(self):", "        x()", "        Z()", "        y()"]


@pytest.mark.case("I06")
def test_the_nearest_miss_may_begin_above_the_file():
    place = disk(a="one\ntwo\nthree\n")
    landing = place.land(patch("@@", " zero", " one", "-two", "+2"))
    words = "closest is line 1, 2 of 3 lines match; above line 1 of the file is nothing"
    assert landing.hunks[0].reason == f"context not found: {words}, the patch has 'zero' there"


SECTIONS = 5
EQUAL = ("@@", " x", "-x", "+y", " x")
PATTERNS: dict[str, tuple[Callable[[int], list[str]], tuple[str, ...]]] = {
    "equal lines": (lambda count: ["x"] * count, EQUAL),
    "a period": (lambda count: ["a", "b"] * (count // 2), ("@@", " a", "-b", "+y", " a")),
    "blank lines": (lambda count: [""] * count, ("@@", " ", "-", "+y", " ")),
    "other indentation": (lambda count: ["  }", "    }"] * (count // 2), ("@@", "-\t}", "+y")),
    "an anchor": (lambda count: ["x"] * count, ("@@ x", "+y")),
    "stacked anchors": (lambda count: ["x"] * count, ("@@ x", "@@ x", " x", "-x", "+y")),
}
each_pattern = each("lines, section", PATTERNS.values())


def waiting(lines: Sequence[str], section: Sequence[str]) -> Disk:
    """Sections that wait for the user; each is a patch of its own, so none is behind another."""
    place = disk(a="".join(f"{line}\n" for line in lines))
    place.workspace.documents.ask = True
    for _ in range(SECTIONS):
        place.land(patch(*section))
    assert {hunk.stage for hunk in place.workspace.hunks} == {Stage.CANDIDATES}
    return place


def kept_bytes(lines: Sequence[str], section: Sequence[str]) -> int:
    """What the sections keep, beside the text."""
    place = disk(a="".join(f"{line}\n" for line in lines))
    place.workspace.documents.ask = True
    for _ in range(5):
        place.land(patch(*section))  # what the file itself takes, in order
    gc.collect()
    tracemalloc.start()
    try:
        for _ in range(SECTIONS):
            place.land(patch(*section))
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@each_pattern
def test_in_a_longer_file_a_waiting_section_keeps_no_more(lines, section):
    once, twice = kept_bytes(lines(400), section), kept_bytes(lines(1_600), section)
    assert twice < 1.3 * once


@pytest.mark.slow
@each_pattern
def test_all_places_are_reached_and_the_nearest_are_kept(lines, section):
    place = waiting(lines(300), section)
    hunk = place.workspace.hunks[-1]
    places = hunk.candidates
    assert len(places) > 100
    assert nearest(places) == tuple(places[:NEAREST])
    assert len(nearest(places)) == NEAREST
    last = places[-1]
    assert [*places] == sorted({*places})
    assert last == max(places)
    place.workspace.place(hunk.id, last)
    assert hunk.stage is Stage.LANDED
    place.workspace.undo_decision()
    assert (hunk.stage, hunk.candidates) == (Stage.CANDIDATES, places)
    place.workspace.redo_decision()
    assert hunk.stage is Stage.LANDED
    assert place.text("a.txt").split("\n")[last:].count("y") == 1


WAITING = {
    "one hunk": ("apply_patch", "@@\n x\n-x\n+y\n x\n", 1),
    "two hunks": ("apply_patch", "@@\n x\n-x\n+y\n x\n+z\n x\n", 2),
    "a block": ("search_replace", "<<<<<<< SEARCH\nx\nx\n=======\nx\ny\n>>>>>>> REPLACE\n", 1),
}
each_notation = each("fmt, section, hunks", WAITING.values())


def many_waiting(fmt, section: str, count: int) -> Disk:
    """A file of equal lines, and so many sections that wait for a place in it."""
    place = disk(a="x\n" * 2_000)
    place.workspace.documents.ask = True
    body = section * count
    text = f"a.txt\n{body}" if fmt == "search_replace" else patch(*body.splitlines())
    place.land(text, fmt=fmt)
    return place


@pytest.mark.slow
@each_notation
def test_sections_that_wait_or_were_given_up_keep_little_more_than_their_lines(fmt, section, hunks):
    many_waiting(fmt, section, 5)
    gc.collect()
    tracemalloc.start()
    try:
        place = many_waiting(fmt, section, 100)
        gc.collect()
        waiting = tracemalloc.get_traced_memory()[0]
        place.workspace.reject([hunk.id for hunk in place.workspace.hunks])
        gc.collect()
        given_up = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert {hunk.decision for hunk in place.workspace.hunks} == {Decision.REJECTED}
    assert waiting < 100 * (1_500 + 1_000 * hunks)
    assert given_up - waiting < 100 * 500 * hunks
    assert not place.workspace.buffers["a.txt"]._marks


@each_notation
def test_a_section_that_was_given_up_waits_again_where_the_text_has_its_lines(fmt, section, hunks):
    place = many_waiting(fmt, section, 3)
    workspace = place.workspace
    workspace.reject([hunk.id for hunk in workspace.hunks])
    workspace.edit("a.txt", (0, 0), (0, 0), "new\n")
    workspace.undo_decision()
    first = workspace.hunks[0]
    assert {hunk.stage for hunk in workspace.hunks} == {Stage.CANDIDATES}
    assert nearest(first.candidates) == (1, 2, 3, 4, 5)
    workspace.place(first.id, 3)
    assert [hunk.stage for hunk in workspace.hunks[:hunks]] == [Stage.LANDED] * hunks
    written = place.text("a.txt").split("\n")
    assert written[:5] == ["new", "x", "x", "x", "y"]
    assert written.count("z") == hunks - 1


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each look-up of a line gave."""
    found: list[int] = []
    rows = LineIndex.rows

    def counting(self: LineIndex, line: str, most: int | None = None) -> Sequence[int]:
        found.append(len(rows(self, line, most)))
        return rows(self, line, most)

    monkeypatch.setattr(LineIndex, "rows", counting)
    return found


def test_a_common_line_is_not_looked_up_again_after_each_change(looked_up):
    lines = [f"u{at}" if at % 50 == 0 else "x" for at in range(5_000)]
    place = disk(a="".join(f"{line}\n" for line in lines))
    blocks = [
        f"<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n"
        for at in range(0, 5_000, 50)
        for old, new in ((f"u{at}", f"v{at}\nw"), ("x\nx", "x\ny"))
    ]
    landing = place.land("a.txt\n" + "".join(blocks), fmt="search_replace")
    assert [hunk.stage for hunk in landing.hunks] == [Stage.LANDED, Stage.REFUSED] * 100
    assert len(landing.hunks[-1].candidates) == 100 * 48
    assert sum(looked_up) < 100 * 501 + 20_000


@pytest.mark.parametrize(
    "section",
    [
        ("@@", " word{0} other{0}", "-gone{0}", "+y"),
        ("@@ def missing{0}", " word{0} other{0}", "-gone{0}", "+y"),
        ("@@ def missing{0}", "+y"),
    ],
    ids=["no line is there", "nor its anchor", "only its anchor"],
)
def test_what_is_missing_is_not_searched_for_in_the_whole_file_for_each_section(
    monkeypatch, section
):
    read: list[int] = []
    search = line_index._Block._lines_with

    def counting(self: line_index._Block, wanted: str):
        read.append(self.count)
        return search(self, wanted)

    monkeypatch.setattr(candidates, "_MOST_ROWS", 50_000)
    monkeypatch.setattr(line_index._Block, "_lines_with", counting)
    place = disk(a="".join(f"line {at}\n" for at in range(10_000)))
    place.land(patch(*(line.format(at) for at in range(200) for line in section)))
    assert {hunk.stage for hunk in place.workspace.hunks} == {Stage.REFUSED}
    assert sum(read) < 300_000
    assert all(hunk.reason for hunk in place.workspace.hunks)


HEAD = "--- a/a.txt\n+++ b/a.txt\n"


def stages(landing: Landing) -> list[str]:
    return [hunk.stage.value for hunk in landing.hunks]


@pytest.mark.case("A18", "C15")
@each(
    "section, after",
    [
        ([" a", "+x", "+y"], "a\nx\ny\nb\nc\n"),
        (["+x", " a"], "x\na\nb\nc\n"),
        (["+x", " a", "+y"], "x\na\ny\nb\nc\n"),
        (["-b", "+b", "+x"], "a\nb\nx\nc\n"),
        (["-b", "+x", "+b"], "a\nx\nb\nc\n"),
        ([" c", "+x"], "a\nb\nc\nx\n"),
    ],
)
@each("notation", ["apply_patch", "unified_diff", "search_replace"])
def test_a_hunk_that_a_patch_has_twice_is_applied_once(section, after, notation):
    place = disk(a="a\nb\nc\n")
    lines = "".join(f"{line}\n" for line in section)
    texts = {
        "apply_patch": patch("@@", *section, "@@", *section),
        "unified_diff": f"{HEAD}@@ ... @@\n{lines}@@ ... @@\n{lines}",
        "search_replace": 2
        * "a.txt\n<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n".format(
            "".join(line[1:] + "\n" for line in section if line[0] != "+"),
            "".join(line[1:] + "\n" for line in section if line[0] != "-"),
        ),
    }
    landing = place.land(texts[notation], fmt=notation)
    assert place.text("a.txt") == after
    assert set(stages(landing)[:-1]) == {"landed"} or "+y" in section
    assert landing.hunks[-1].stage is Stage.REFUSED
    reason = landing.hunks[-1].reason
    assert "already applied" in reason or "an earlier hunk of this patch has changed" in reason


@pytest.mark.case("A18")
@each("section", [["-b", "+b", "+x"], ["-b", "+x", "+b"], [" b", "+x"]])
@each("calls", [1, 2])
def test_a_file_that_comes_twice_with_the_same_hunk_is_changed_once(section, calls):
    place = disk(a="a\nb\nc\n")
    once = patch("@@", *section)
    if calls == 1:
        both = place.land(once.replace("*** End Patch\n", "") + once.split("\n", 1)[1])
    else:
        place.land(once)
        both = place.land(once)
    assert place.text("a.txt").count("x") == 1
    assert place.text("a.txt").count("b") == 1
    assert "already applied" in both.hunks[-1].reason


def test_the_same_lines_behind_quoted_new_ones_are_no_repetition():
    place = disk(a="a\nb\n")
    landing = place.land(patch("@@", " a", "+x", "@@", " x", "+x", " b"))
    assert place.text("a.txt") == "a\nx\nx\nb\n"
    assert stages(landing) == ["landed", "landed"]


@pytest.mark.case("B09", "B13")
@each("notation", ["apply_patch", "unified_diff"])
def test_added_lines_whose_line_number_is_the_end_go_there(notation):
    place = disk(a="a\nb\n")
    diff = f"{HEAD}@@ -2,0 +3 @@\n+x\n"
    made = patch("@@ -2,0 +3 @@", "+x") if notation == "apply_patch" else diff
    landing = place.land(made, fmt=notation)
    assert place.text("a.txt") == "a\nb\nx\n"
    assert landing.hunks[0].flags == ("only added lines: put at the end of the file",)


def test_what_a_header_without_numbers_says_is_ignored_where_lines_are_quoted():
    place = disk(a="a\nb\n")
    landing = place.land(f"{HEAD}@@ def gone(): @@\n-a\n+A\n", fmt="unified_diff")
    assert place.text("a.txt") == "A\nb\n"
    assert landing.hunks[0].flags == ()


@pytest.mark.case("B14")
def test_what_fits_loosely_above_an_earlier_hunk_is_refused_for_that():
    place = disk(a="    a\nb\n")
    landing = place.land(patch("@@", "-b", "+B", "@@", "-a", "+A"))
    why = "it fits only above an earlier hunk of this patch, and not surely (re-indented 0->4)"
    assert landing.hunks[1].reason == f"context not found: {why}, at line 1"


@pytest.mark.case("B09", "A18")
@each(
    "chunks, after",
    [
        (["@@ a", "+x", "@@ b", "+x"], "a\nx\nb\nx\n"),
        (["@@ b", "+x", "@@", "+x"], "a\nb\nx\nx\n"),
        (["@@", "+x", "@@ b", "+x"], "a\nb\nx\nx\n"),
        (["@@", " b", "+x", "@@", "+x"], "a\nb\nx\nx\n"),
        (["@@ a", "+x", "@@", "+x", " b"], "a\nx\nx\nb\n"),
    ],
)
def test_the_same_addition_at_two_anchors_is_meant_twice_and_a_replay_once(chunks, after):
    place = disk(a="a\nb\n")
    once = place.land(patch(*chunks))
    assert place.text("a.txt") == after
    assert stages(once) == ["landed", "landed"]
    again = place.land(patch(*chunks))
    assert place.text("a.txt") == after
    assert ["already applied" in hunk.reason for hunk in again.hunks] == [True, True]
    place.workspace.undo_turn()
    assert place.text("a.txt") == "a\nb\n"


@pytest.mark.case("B09", "A18")
def test_the_same_addition_twice_without_any_anchor_is_one():
    place = disk(a="a\nb\n")
    landing = place.land(patch("@@", "+x", "@@", "+x"))
    assert place.text("a.txt") == "a\nb\nx\n"
    assert stages(landing) == ["landed", "refused"]


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
