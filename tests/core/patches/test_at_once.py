"""A patch that comes at once says what it says in pieces, and changes each place of a file once."""

from __future__ import annotations

from tests.support.patches import Disk, disk
from tests.support.tables import each
from tui.core.document.hunk import Hunk

LINES = "".join(f"line {n}\n" for n in range(40))
PATCH = """*** Begin Patch
*** Update File: a.txt
@@
 line 2
-line 3
-line 4
+three
+and more
+four
 line 5
-line 6
@@
 line 20
+behind twenty
 line 21
+behind twenty-one
@@
+before the last
 line 38
-line 39
+the last
*** End Patch
"""
HUNKS = 6


def landed(patch: str, text: str, size: int, typed: str = "") -> Disk:
    """A file after a patch in pieces of so many characters, with a frame after each."""
    place = disk(a=text)
    buffer = place.workspace.open("a.txt")
    if typed:
        place.workspace.edit("a.txt", (12, 0), (12, 0), typed)
    before = buffer.revision
    landing = place.start()
    for at in range(0, len(patch), size):
        landing.feed(patch[at : at + size])
        landing.tail()
    landing.finish(cut=False)
    assert landing.placed_all
    place.calls = buffer.revision - before
    return place


def said(place: Disk) -> list[object]:
    """All that is known of its hunks, and the text."""
    hunks = [
        (hunk.id, rows(hunk), hunk.base, hunk.agent, hunk.added, hunk.removed, hunk.flags)
        for hunk in place.workspace.hunks
    ]
    return [place.text("a.txt"), *hunks]


def rows(hunk: Hunk) -> tuple[int, int]:
    assert hunk.start is not None
    assert hunk.end is not None
    return hunk.start.line, hunk.end.line


@each("text", [LINES, LINES[:-1], LINES.replace("\n", "\r\n")])
def test_at_once_or_in_pieces_it_comes_to_the_same(text: str) -> None:
    whole = landed(PATCH, text, len(PATCH))
    for size in range(1, len(PATCH), 3):
        assert said(whole) == said(landed(PATCH, text, size)), size
    whole.workspace.reject()
    assert whole.text("a.txt") == text


def test_each_hunk_is_one_change_where_nobody_watches() -> None:
    assert landed(PATCH, LINES, len(PATCH)).calls == HUNKS


def test_with_something_typed_it_comes_to_the_same() -> None:
    whole = landed(PATCH, LINES, len(PATCH), "typed ")
    assert said(whole) == said(landed(PATCH, LINES, 1, "typed "))
    whole.workspace.undo("a.txt")
    assert whole.text("a.txt") == landed(PATCH, LINES, len(PATCH)).text("a.txt")
