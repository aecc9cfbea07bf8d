"""Blanks at the ends of lines that a patch quotes in another way than the file has them."""

from __future__ import annotations

from tests.support.patches import disk, patch
from tests.support.tables import each

HIDDEN = ["blanks at the ends of lines are not quoted as the file has them"]
PUT_ON = ["lines end with blanks that are not in the file"]
SURE: list[str] = []


@each(
    "before, section, after, flags",
    [
        # a blank line of the file has blanks: has the new one none, or were they cut off?
        ("a\n    \nb\n", [" a", " ", "+", "+x", " b"], "a\n    \n\nx\nb\n", HIDDEN),
        ("a\n    \nb\n", [" a", "-", "+", "+x", " b"], "a\n\nx\nb\n", HIDDEN),
        ("a\n\t\nb\n", [" a", "+x", "+", " ", " b"], "a\nx\n\n\t\nb\n", HIDDEN),
        # a line that comes again without its blanks
        ("a  \nb\n", ["-a", "+a", "+x", " b"], "a\nx\nb\n", HIDDEN),
        ("a  \r\nb\r\n", ["-a", "+x", "+a", " b"], "x\r\na\r\nb\r\n", HIDDEN),
        # quoted as the file has them, whatever is new is meant so
        ("a\n    \nb\n", [" a", "     ", "+", "+x", " b"], "a\n    \n\nx\nb\n", SURE),
        ("a  \nb\n", ["-a  ", "+a", " b"], "a\nb\n", SURE),
        ("a\nb\n", [" a", "-b", "+b  "], "a\nb  \n", SURE),
        ("a\n\nb\n", [" a", " ", "+", "+x", " b"], "a\n\n\nx\nb\n", SURE),
        # nothing that is new is a blank line, or one of the file
        ("a\n    \nb\n", [" a", " ", "+x", " b"], "a\n    \nx\nb\n", SURE),
        ("a  \nb\n", ["-a", "+x", " b"], "x\nb\n", SURE),
        ("a  \nb\n", [" a", "+", "+x", " b"], "a  \n\nx\nb\n", SURE),
        # blanks were put on
        ("a\nb\n", [" a  ", "+x  ", " b  "], "a\nx  \nb\n", PUT_ON),
        ("a\n  \nb\n", [" a  ", "   ", "+  ", " b  "], "a\n  \n  \nb\n", PUT_ON),
        ("a\nb  \n", [" a  ", "+x  ", " b  "], "a\nx  \nb  \n", PUT_ON),
    ],
)
def test_what_is_new_needs_a_look_where_its_ends_may_not_be_meant(before, section, after, flags):
    place = disk(a=before)
    landing = place.land(patch("@@", *section))
    assert place.text("a.txt") == after
    assert [[*hunk.flags] for hunk in landing.hunks] == [flags]
