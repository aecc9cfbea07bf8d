from __future__ import annotations

from tests.support.patches import disk, patch

CUT = """*** Begin Patch
*** Update File: a.txt
@@
 a
-b
+B
 c
@@
-d
+D
"""


def test_after_a_cut_it_says_what_is_in_and_what_not():
    place = disk(a="a\nb\nc\nd\ne\n")
    landing = place.land(CUT, cut=True)
    assert landing.report() == (
        "the patch was interrupted: 1 of 2 hunks placed\n"
        "a.txt:\n"
        "  hunk 1 placed, pending review, line 2\n"
        "  hunk 2 NOT applied: incomplete: the stream was cut before it was whole, "
        "cut after -1/+1 lines\n"
        "Do not resend the hunks that are placed."
    )


def test_decisions_are_told_and_a_rejected_hunk_is_not_placed():
    place = disk(a="a\nb\nc\n")
    landing = place.land(patch("@@", "-a", "+A", " b", "-c", "+C"))
    place.workspace.reject([1], "keep the old name")
    place.workspace.accept([2])
    assert landing.report() == (
        "the patch was read: 1 of 2 hunks placed\n"
        "a.txt:\n"
        '  hunk 1 rejected by the user: "keep the old name"\n'
        "  hunk 2 accepted, line 3\n"
        "Current text of a.txt, lines 1-3:\na\nb\nC"
    )


def test_an_invalid_patch_says_where_and_that_the_rest_was_not_read():
    place = disk(a="a\nb\nc\n")
    report = place.land(patch("@@", "-a", "+A", " b", "@@", "c", "+C")).report()
    first, *rest = report.split("\n")
    assert first == (
        "the patch is not valid, line 8: 'c' has no ' ', '+' or '-' prefix; "
        "nothing behind that was read: 1 of 1 hunk placed"
    )
    assert rest[-1] == "Do not resend the hunks that are placed."


def test_a_hunk_of_which_the_user_is_asked_is_not_to_be_sent_again():
    place = disk(a="x\ny\nx\n")
    place.workspace.ledger.ask = True
    report = place.land(patch("@@", "-x", "+X")).report()
    assert "not applied yet, the user is asked where: ambiguous: it fits at lines 1 and 3" in report
    assert report.endswith("Do not resend the hunks that the user is asked about.")
    assert "NOT" not in report
