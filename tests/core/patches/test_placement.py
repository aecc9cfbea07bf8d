"""Where sections belong: the ladder, uniqueness, retraction (EDIT-CASES.md, group F)."""

from __future__ import annotations

import pytest

from tests.support.patches import Disk, disk, patch
from tui.core.document.hunk import Stage
from tui.errors import EditRefused

BEGIN = "*** Begin Patch\n*** Update File: a.txt\n"


@pytest.mark.case("F02")
def test_f02_an_exact_duplicate_is_refused_with_its_lines_or_asked():
    place = disk(a="k\nv\nk\nv\n")
    landing = place.land(patch("@@", "-v", "+V"))
    assert landing.hunks[0].stage is Stage.REFUSED
    assert landing.hunks[0].reason == "ambiguous: it fits at lines 2 and 4"
    assert landing.hunks[0].candidates == (1, 3)
    place.workspace.documents.ask = True
    landing = place.land(patch("@@", "-v", "+V"))
    assert landing.hunks[0].stage is Stage.CANDIDATES


@pytest.mark.case("F02")
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


@pytest.mark.case("F03")
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


@pytest.mark.case("F03")
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


@pytest.mark.case("F06")
def test_f06_only_the_first_line_lost_its_indentation():
    place = disk(a="    def f(self):\n        a = 1\n        return a\n")
    landing = place.land(patch("@@", " def f(self):", "-        a = 1", "+        a = 2"))
    assert place.text("a.txt") == "    def f(self):\n        a = 2\n        return a\n"
    assert landing.hunks[0].flags == ("re-indented the first line",)


def test_outer_blank_lines_that_are_not_there_are_left_out():
    place = disk(a="a\nb\nc\n")
    landing = place.land(patch("@@", " ", " a", "-b", "+B", " "))
    assert place.text("a.txt") == "a\nB\nc\n"
    assert landing.hunks[0].flags == ("outer blank lines differ",)


def test_candidates_follow_the_live_text():
    place = disk(a="x\na\nx\nb\n")
    landing = place.start()
    landing.feed(BEGIN + "@@\n x\n")
    place.workspace.edit("a.txt", (0, 0), (1, 0), "")
    landing.feed("+new\n b\n*** End Patch\n")
    landing.finish(cut=False)
    assert place.text("a.txt") == "a\nx\nnew\nb\n"


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


@pytest.mark.case("F02")
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
