"""Hunks that come twice in one patch, and added lines that nothing around them places."""

from __future__ import annotations

import pytest

from tests.support.patches import disk, patch
from tests.support.tables import each
from tui.core.document.hunk import Stage
from tui.core.patches.landing import Landing

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
@each("numbers", ["-3,0 +4,1", "-1,2 +1,3", "-0,0 +1", "-9,0 +10"])
@each("notation", ["apply_patch", "unified_diff"])
def test_added_lines_with_a_line_number_elsewhere_are_not_put_at_the_end(numbers, notation):
    text = "a\nb\nc\nd\n"
    place = disk(a=text)
    diff = f"{HEAD}@@ {numbers} @@\n+x\n"
    made = patch(f"@@ {numbers} @@", "+x") if notation == "apply_patch" else diff
    landing = place.land(made, fmt=notation)
    assert place.text("a.txt") == text
    assert landing.hunks[0].reason.startswith("context not found: it has only added lines")


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


@pytest.mark.case("B09", "B14")
def test_lines_put_at_the_end_say_nothing_of_where_the_next_hunk_is():
    place = disk(a="a\nb\na\n")
    landing = place.land(patch("@@", "+end", "@@", "-b", "+B", "@@", "-a", "+A"))
    assert place.text("a.txt") == "a\nB\nA\nend\n"
    assert [[*hunk.flags] for hunk in landing.hunks[:2]] == [[], []]


@pytest.mark.case("B14")
def test_what_fits_loosely_above_an_earlier_hunk_is_refused_for_that():
    place = disk(a="    a\nb\n")
    landing = place.land(patch("@@", "-b", "+B", "@@", "-a", "+A"))
    why = "it fits only above an earlier hunk of this patch, and not surely (re-indented 0->4)"
    assert landing.hunks[1].reason == f"context not found: {why}, at line 1"


@pytest.mark.case("H04")
@each("fmt", ["apply_patch", "unified_diff", "search_replace"])
def test_h04_new_lines_end_as_the_first_line_did_before_the_patch(fmt):
    place = disk(a="one\r\ntwo\nthree\nfour\n")
    texts = {
        "apply_patch": patch("@@", "-one", " two", "@@", " four", "+new"),
        "unified_diff": f"{HEAD}@@ -1,2 +1,1 @@\n-one\n two\n@@ -4 +3,2 @@\n four\n+new\n",
        "search_replace": "a.txt\n<<<<<<< SEARCH\none\ntwo\n=======\ntwo\n>>>>>>> REPLACE\n"
        "<<<<<<< SEARCH\nfour\n=======\nfour\nnew\n>>>>>>> REPLACE\n",
    }
    place.land(texts[fmt], fmt=fmt)
    assert place.text("a.txt") == "two\nthree\nfour\nnew\r\n"


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
