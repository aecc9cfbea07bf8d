"""A stream that is cut: what stays, what goes (EDITS.md section 6)."""

from __future__ import annotations

from tests.support.patches import disk
from tui.core.document.hunk import Stage

HEAD = "*** Begin Patch\n*** Update File: a.txt\n"
TEXT = "a\nb\nc\nd\ne\n"


def cut(patch: str):
    place = disk(a=TEXT)
    landing = place.start()
    for char in patch:
        landing.feed(char)
        landing.tail()
    landing.finish(cut=True)
    assert not landing.placed_all
    return place, landing


def test_a_closed_group_stays_as_partial():
    place, landing = cut(HEAD + "@@\n a\n-b\n+B\n c\n-d\n+D")
    assert [hunk.stage for hunk in landing.hunks] == [Stage.PARTIAL, Stage.DROPPED]
    assert place.text("a.txt") == "a\nB\nc\nd\ne\n"
    assert landing.hunks[0].reason.startswith("partial")
    assert place.workspace.decorations("a.txt", 0, 9) == {1: "partial"}
    place.write(place.workspace.accept())
    assert place.files["a.txt"] == b"a\nB\nc\nd\ne\n"


def test_a_closed_group_whose_place_was_not_sure_is_dropped():
    place = disk(a="x\ny\nx\ny\n")
    landing = place.start()
    landing.feed(HEAD + "@@\n-x\n+X\n y\n")
    landing.finish(cut=True)
    assert [hunk.stage for hunk in landing.hunks] == [Stage.DROPPED]
    assert place.text("a.txt") == "x\ny\nx\ny\n"


def test_nothing_lands_after_the_end():
    place, landing = cut(HEAD + "@@\n-a\n+A\n")
    landing.feed(" b\n*** End Patch\n")
    landing.finish(cut=False)
    assert place.text("a.txt") == TEXT
    assert len(landing.hunks) == 1
