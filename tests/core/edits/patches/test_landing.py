"""Landings of V4A patches, case by case (EDIT-CASES.md, groups A and B)."""

from __future__ import annotations

import pytest

from tests.support.patches import disk, patch
from tui.core.edits.hunk import Decision, Stage
from tui.core.edits.patches.landing import Landing
from tui.core.edits.telling.report import file_sha

BEGIN, END = "*** Begin Patch\n", "*** End Patch\n"


def stages(landing: Landing) -> list[str]:
    return [hunk.stage.value for hunk in landing.hunks]


def only(landing: Landing):
    assert len(landing.hunks) == 1
    return landing.hunks[0]


def test_a_change_is_in_the_buffer_and_pending():
    place = disk(a="one\ntwo\nthree\n")
    hunk = only(place.land(patch("@@", " one", "-two", "+2", "+zwei", " three")))
    assert place.text("a.txt") == "one\n2\nzwei\nthree\n"
    assert (hunk.stage, hunk.decision, hunk.flags) == (Stage.LANDED, Decision.PENDING, [])
    assert (hunk.base, hunk.agent, hunk.added, hunk.removed) == ("two\n", "2\nzwei\n", 2, 1)
    assert (hunk.start.line, hunk.end.line) == (1, 3)
    assert place.workspace.decorations("a.txt", 0, 9) == {1: "pending", 2: "pending"}


def test_one_section_with_two_groups_is_two_hunks():
    place = disk(a="one\ntwo\nthree\n")
    landing = place.land(patch("@@", "-one", "+1", " two", "-three", "+3"))
    assert [hunk.section for hunk in landing.hunks] == [1, 1]
    place.workspace.reject([landing.hunks[0].id])
    assert place.text("a.txt") == "one\ntwo\n3\n"


def test_a_unique_place_is_painted_line_by_line_and_struck_lines_stay():
    place = disk(a="one\ntwo\nthree\n")
    landing = place.start()
    landing.feed(BEGIN + "*** Update File: a.txt\n@@\n one\n")
    assert stages(landing) == ["located"]
    landing.feed("-two\n+2\n+half")
    assert place.text("a.txt") == "one\ntwo\n2\nthree\n"
    assert stages(landing) == ["landing"]
    assert place.workspace.decorations("a.txt", 0, 9) == {1: "struck", 2: "landing"}
    landing.tail()
    assert place.text("a.txt") == "one\ntwo\n2\nhalf\nthree\n"
    assert landing.last_line == ("a.txt", 3)
    landing.feed(" way\n")
    assert place.text("a.txt") == "one\ntwo\n2\nhalf way\nthree\n"
    landing.feed(" three\n" + END)
    landing.finish(cut=False)
    assert place.text("a.txt") == "one\n2\nhalf way\nthree\n"
    assert landing.placed_all


def test_candidates_are_shown_until_one_is_left():
    place = disk(a="x\na\nx\nb\n")
    landing = place.start()
    landing.feed(BEGIN + "*** Update File: a.txt\n@@\n x\n+new\n")
    assert landing.hunks[0].candidates == (0, 2)
    assert place.workspace.decorations("a.txt", 0, 9) == {0: "candidate", 2: "candidate"}
    assert place.workspace.ghost("a.txt") == (0, ["new"])
    landing.feed(" b\n")
    assert place.text("a.txt") == "x\na\nx\nnew\nb\n"
    assert place.workspace.ghost("a.txt") is None
    landing.feed(END)
    landing.finish(cut=False)
    assert landing.placed_all


@pytest.mark.case("B09")
def test_b09_only_added_lines_go_to_the_end_or_behind_their_anchor():
    place = disk(a="def a():\n    pass\n\ndef b():\n    pass\n")
    landing = place.land(patch("@@ def a():", "+    log()"))
    assert place.text("a.txt").startswith("def a():\n    log()\n    pass\n")
    assert only(landing).flags == ["only added lines: put after its anchor"]
    assert only(place.land(patch("@@", "+# end"))).flags == []
    assert place.text("a.txt").endswith("    pass\n# end\n")


@pytest.mark.case("B09")
def test_b09_a_missing_anchor_refuses_added_lines():
    landing = disk(a="x\n").land(patch("@@ def nowhere():", "+y"))
    assert only(landing).reason == "anchor not found: 'def nowhere():' is not in the file"


@pytest.mark.case("B10")
def test_b10_end_of_file_picks_the_last_copy():
    place = disk(a="x\nstop\nmid\nx\nstop\n")
    landing = place.land(patch("@@", " x", "-stop", "+STOP", "*** End of File"))
    assert place.text("a.txt") == "x\nstop\nmid\nx\nSTOP\n"
    assert only(landing).flags == []


@pytest.mark.case("B10")
def test_b10_a_unique_place_before_the_end_is_flagged():
    place = disk(a="x\nstop\nmid\n")
    landing = place.land(patch("@@", " x", "-stop", "+STOP", "*** End of File"))
    assert only(landing).flags == ["not at the end of the file"]
    assert place.text("a.txt") == "x\nSTOP\nmid\n"


@pytest.mark.case("B12")
def test_b12_stacked_anchors_lead_into_the_right_class():
    text = "class A:\n    def f():\n        a\nclass B:\n    def f():\n        a\n"
    place = disk(a=text)
    landing = place.land(patch("@@ class B:", "@@     def f():", "-        a", "+        b"))
    assert only(landing).flags == []
    assert place.text("a.txt") == text[::-1].replace("a", "b", 1)[::-1]


@pytest.mark.case("B12")
def test_b12_an_anchor_may_be_repeated_as_context():
    place = disk(a="def f():\n    a\n")
    assert place.land(patch("@@ def f():", " def f():", "-    a", "+    b")).placed_all


@pytest.mark.case("B12")
def test_b12_a_missing_anchor_is_flagged_if_the_lines_are_unique():
    landing = disk(a="x\ny\n").land(patch("@@ def gone():", "-y", "+Y"))
    assert only(landing).flags == ["anchor not found"]


@pytest.mark.case("B12")
def test_b12_a_partial_anchor_must_be_unique():
    place = disk(a="def make(x):\n    a\ndef take(x):\n    a\n")
    assert place.land(patch("@@ def take", "-    a", "+    b")).placed_all
    assert place.text("a.txt").endswith("def take(x):\n    b\n")


@pytest.mark.case("B13")
def test_b13_a_line_number_breaks_ties_only():
    place = disk(a="v\nk\nv\nk\nv\n")
    landing = place.land(patch("@@ -3,1 +3,1 @@", "-v", "+V"))
    assert place.text("a.txt") == "v\nk\nV\nk\nv\n"
    assert only(landing).flags == ["several places fit: the nearest to its line number"]
    missing = place.land(patch("@@ -2,1 +2,1 @@", "-gone", "+x"))
    assert only(missing).stage is Stage.REFUSED


@pytest.mark.case("B14")
def test_b14_out_of_order_is_placed_when_unique_and_flagged():
    place = disk(a="a\nb\nc\n")
    landing = place.land(patch("@@", "-c", "+C", "@@", "-a", "+A"))
    assert place.text("a.txt") == "A\nb\nC\n"
    assert [hunk.flags for hunk in landing.hunks] == [[], ["out of order"]]


@pytest.mark.case("B15")
def test_b15_a_hunk_that_quotes_removed_lines_fails_alone():
    place = disk(a="a\nb\nc\n")
    landing = place.land(patch("@@", " a", "-b", "+B", "@@", "-b", "+BB"))
    assert stages(landing) == ["landed", "refused"]
    assert landing.hunks[1].reason.startswith("context not found")
    assert place.text("a.txt") == "a\nB\nc\n"


@pytest.mark.case("B15")
def test_b15_a_hunk_does_not_change_what_an_earlier_one_made():
    place = disk(a="a\nb\nc\n")
    landing = place.land(patch("@@", "-b", "+B", "@@", "-B", "+BB"))
    assert stages(landing) == ["landed", "refused"]


@pytest.mark.case("B16")
def test_b16_a_section_of_context_is_no_review_item():
    landing = disk(a="a\nb\n").land(patch("@@", " a", " b"))
    assert landing.hunks == []
    assert landing.placed_all


@pytest.mark.case("B16")
def test_b16_context_that_is_not_there_is_told():
    landing = disk(a="a\nb\n").land(patch("@@", " a", " gone"))
    assert stages(landing) == ["refused"]


@pytest.mark.case("B17")
def test_b17_repeated_lines_keep_their_order():
    place = disk(a="a\nb\n")
    place.land(patch("@@", "-a", "-b", "+b", "+b", "+a"))
    assert place.text("a.txt") == "b\nb\na\n"


@pytest.mark.case("B18")
def test_b18_a_clean_end_without_marker_is_flagged():
    place = disk(a="a\nb\n")
    landing = place.land(BEGIN + "*** Update File: a.txt\n@@\n-a\n+A\n b\n")
    assert landing.placed_all
    assert only(landing).flags == ["no End Patch"]


@pytest.mark.case("B19")
@pytest.mark.parametrize(
    ("body", "words"),
    [("", "no file operations"), ("*** Update File: a.txt\n", "has no hunks")],
)
def test_b19_an_empty_patch_fails_and_changes_nothing(body, words):
    place = disk(a="a\n")
    landing = place.land(BEGIN + body + END)
    assert words in landing.failure
    assert not landing.placed_all
    assert place.files == {"a.txt": b"a\n"}


@pytest.mark.case("A12")
def test_a12_an_error_drops_the_open_section_and_keeps_closed_ones():
    place = disk(a="a\nb\nc\n")
    landing = place.land(patch("@@", "-a", "+A", "@@", " b", "-c", "*** c"))
    assert stages(landing) == ["landed", "dropped"]
    assert "the patch broke off at line 9" in landing.hunks[1].reason
    assert place.text("a.txt") == "A\nb\nc\n"


@pytest.mark.case("A17")
def test_a17_a_second_call_waits_for_the_first_ones_file():
    place = disk(a="a\nb\n")
    first, second = place.start(), place.start()
    first.feed(BEGIN + "*** Update File: a.txt\n@@\n-a\n")
    second.feed(patch("@@", "-b", "+B"))
    assert second.hunks == []
    assert place.text("a.txt") == "a\nb\n"
    first.feed("+A\n" + END)
    assert place.text("a.txt") == "A\nB\n"
    second.finish(cut=False)
    first.finish(cut=False)
    assert first.placed_all
    assert second.placed_all


@pytest.mark.case("A17")
def test_a17_a_second_call_that_ends_while_it_waits_still_lands():
    place = disk(a="a\nb\n")
    first, second = place.start(), place.start()
    first.feed(BEGIN + "*** Update File: a.txt\n@@\n-a\n")
    second.feed(patch("@@", "-b", "+B"))
    second.finish(cut=False)
    assert second.placed_all
    first.feed("+A\n" + END)
    first.finish(cut=False)
    assert place.text("a.txt") == "A\nB\n"


@pytest.mark.case("A17")
def test_a17_the_first_one_is_told_of_what_a_call_writes_that_ends_while_it_waits():
    place = disk(a="a\nb\nc\nd\n")
    first, second = place.start(), place.start()
    first.feed(BEGIN + "*** Update File: a.txt\n@@\n c\n-d\n+D1\n")
    second.feed(patch("@@", "-a", "+A1", "+A2", "+A3", " b"))
    second.finish(cut=False)
    place.workspace.edit("a.txt", (0, 0), (0, 0), "user\n")
    first.feed("+D2\n" + END)
    first.finish(cut=False)
    assert first.placed_all
    assert second.placed_all
    assert place.text("a.txt") == "user\nA1\nA2\nA3\nb\nc\nD1\nD2\n"


@pytest.mark.case("A17")
def test_a17_lines_that_a_call_that_ends_while_it_waits_takes_from_the_first_are_a_conflict():
    place = disk(a="a\nb\nc\n")
    first, second = place.start(), place.start()
    first.feed(BEGIN + "*** Update File: a.txt\n@@\n a\n-b\n+first\n")
    second.feed(patch("@@", "-b", "+second"))
    second.finish(cut=False)
    first.feed(" c\n" + END)
    first.finish(cut=False)
    assert second.placed_all
    assert stages(first) == ["conflict"]
    assert place.text("a.txt") == "a\nsecond\nc\n"


@pytest.mark.case("A17")
def test_a17_a_third_call_still_waits_when_the_second_one_has_ended():
    place = disk(a="a\nb\nc\n")
    first, second, third = place.start(), place.start(), place.start()
    first.feed(BEGIN + "*** Update File: a.txt\n@@\n-a\n")
    second.feed(patch("@@", "-b", "+B"))
    third.feed(patch("@@", "-c", "+C"))
    second.finish(cut=False)
    assert third.hunks == []
    first.feed("+A\n" + END)
    assert place.text("a.txt") == "A\nB\nC\n"
    first.finish(cut=False)
    third.finish(cut=False)
    assert third.placed_all


@pytest.mark.case("A18")
def test_a18_the_same_call_again_is_told_as_already_applied():
    place = disk(a="a\nb\nc\n")
    again = patch("@@", " a", "-b", "+B", " c")
    assert place.land(again).placed_all
    landing = place.land(again)
    assert "already applied" in only(landing).reason
    assert place.text("a.txt") == "a\nB\nc\n"


def test_text_around_patches_is_prose():
    place = disk(a="a\n", b="b\n")
    landing = Landing(place.workspace, turn=1, call_id="text", channel="text")
    two = patch("@@", "-b", "+B", file="b.txt")
    for char in "First\n" + patch("@@", "-a", "+A") + "then\n" + two + "done":
        landing.feed(char)
    landing.finish(cut=False)
    assert "".join(landing.prose).split() == ["First", "then", "done"]
    assert [hunk.call_id for hunk in landing.hunks] == ["text", "text"]
    assert (place.text("a.txt"), place.text("b.txt")) == ("A\n", "B\n")


def test_patches_in_json_arguments_land_too():
    place = disk(a='say("hi")\n')
    landing = Landing(place.workspace, turn=1, call_id="c", channel="function")
    body = patch("@@", '-say("hi")', '+say("hé")')
    import json

    for char in json.dumps({"input": body}):
        landing.feed(char)
    landing.finish(cut=False)
    assert place.text("a.txt") == 'say("hé")\n'


def test_the_report_says_what_is_where_and_what_is_not():
    place = disk(a="a\nb\nc\n", d="d\n")
    landing = place.land(patch("@@", " a", "-b", "+B", "+BB", "@@", "-nope", "+x"))
    assert landing.report().splitlines() == [
        "the patch was read: 1 of 2 hunks placed",
        f"a.txt (unsaved, sha {file_sha(place.workspace.ledger.records['a.txt'])}):",
        "  hunk 1 kept, pending review, now lines 2-3",
        "  hunk 2 NOT applied: context not found: no line of it is in the file, first 'nope'",
        "Do not resend the hunks that are kept.",
    ]


def test_the_report_quotes_regions_that_were_placed_loosely():
    place = disk(a="class K:\n    def f(self):\n        a = 1\n")
    landing = place.land(patch("@@", " def f(self):", "-    a = 1", "+    a = 2"))
    report = landing.report()
    assert "re-indented 0->4" in report
    assert "Current text of a.txt" in report
    assert "        a = 2" in report


@pytest.mark.case("I05")
def test_i05_nothing_is_ever_called_reverted():
    place = disk(a="a\nb\n")
    landing = place.start()
    landing.feed(BEGIN + "*** Update File: a.txt\n@@\n-a\n+A\n")
    landing.finish(cut=True)
    assert "revert" not in landing.report()
    assert "interrupted" in landing.report()


@pytest.mark.case("A14", "B08")
def test_a14_b08_an_error_ends_the_patch_and_what_was_closed_before_stays():
    place = disk(a="a\nb\n")
    tweak = "*** Tweak File: b.txt\n*** End"
    landing = place.land(patch("@@", "-a", "+A", "@@", "-b", "+B").replace("*** End", tweak))
    assert landing.failure.startswith("line 9")
    assert "not a file header" in landing.failure
    assert place.text("a.txt") == "A\nb\n"
    landing = place.land(patch("-A", "+1", " b", "*** End of File", " more"))
    assert "line 7" in landing.failure
    assert place.text("a.txt") == "1\nb\n"


@pytest.mark.case("I07", "E03")
def test_i07_a_line_that_says_that_text_is_left_out_is_flagged_in_every_notation():
    place = disk(a="a\nb\n")
    flag = "placeholder: a line says that the rest is elsewhere"
    landing = place.land(patch("@@", "-a", "+A", "+# ... existing code ...", " b"))
    assert landing.hunks[0].flags == [flag]
    add = "*** Begin Patch\n*** Add File: n.txt\n+x\n+// ... rest of the file ...\n*** End Patch\n"
    assert place.land(add).hunks[0].flags == [flag]
