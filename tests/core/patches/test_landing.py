"""Landings of V4A patches, case by case (EDIT-CASES.md, groups A and B)."""

from __future__ import annotations

import pytest

from tests.support.patches import disk, patch
from tui.core.patches.landing import Landing

BEGIN, END = "*** Begin Patch\n", "*** End Patch\n"


def stages(landing: Landing) -> list[str]:
    return [hunk.stage.value for hunk in landing.hunks]


@pytest.mark.case("B16")
def test_b16_a_section_of_context_is_no_review_item():
    landing = disk(a="a\nb\n").land(patch("@@", " a", " b"))
    assert landing.hunks == []
    assert landing.placed_all


@pytest.mark.case("B16")
def test_b16_context_that_is_not_there_is_told():
    landing = disk(a="a\nb\n").land(patch("@@", " a", " gone"))
    assert stages(landing) == ["refused"]


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
    assert landing.hunks[0].flags == (flag,)
    add = "*** Begin Patch\n*** Add File: n.txt\n+x\n+// ... rest of the file ...\n*** End Patch\n"
    assert place.land(add).hunks[0].flags == (flag,)
