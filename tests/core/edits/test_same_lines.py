"""Lines that the user and a whole new text both put in."""

from __future__ import annotations

import pytest

from tests.support.patches import disk
from tests.support.tables import each


@pytest.mark.case("G01", "G03")
@each("upto", ["", "a\n"])
@each(
    "new, after",
    [
        ("a\nb\nx\nc\n", "a\nb\nx\nc\n"),
        ("a\nb\nx\nC\n", "a\nb\nx\nC\n"),
        ("a\nB\nx\nc\n", "a\nB\nx\nc\n"),
        ("a\nb\nx\ny\nc\n", "a\nb\nx\ny\nc\n"),
        ("a\nb\ny\nx\nc\n", "a\nb\ny\nx\nc\n"),
        ("a\nb\nz\nC\n", "a\nb\nx\nz\nC\n"),
    ],
)
def test_a_line_that_the_user_and_the_new_text_put_in_is_there_once(new, after, upto):
    place = disk(a="a\nb\nc\n")
    place.workspace.open("a.txt")
    place.workspace.take_user_changes()
    landing = place.start(fmt="whole_file")
    text = f"a.txt\n````\n{new}````\n"
    at = text.index(upto, 10) + len(upto) if upto else 0
    landing.feed(text[:at])
    place.workspace.edit("a.txt", (2, 0), (2, 0), "x\n")
    landing.feed(text[at:])
    landing.finish(cut=False)
    assert place.text("a.txt") == after
    place.workspace.reject()
    assert place.text("a.txt") == "a\nb\nx\nc\n"
