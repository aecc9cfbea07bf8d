"""A stream that is cut: what stays, what goes (EDITS.md section 6)."""

from __future__ import annotations

import pytest

from tests.support.patches import disk
from tui.core.edits.hunk import Stage

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


@pytest.mark.parametrize(
    "patch",
    [
        "Sure, I'll",
        "*** Begin Pa",
        "*** Begin Patch\n*** Update File: a.tx",
        "*** Begin Patch\n*** Update File: a.txt\n",
        HEAD + "@@",
        HEAD + "@@\n a\n b\n",
        HEAD + "@@ a\n",
        HEAD + "*** Move to: b.txt\n@@\n a\n",
    ],
)
def test_before_any_change_nothing_is_kept(patch):
    place, landing = cut(patch)
    assert [hunk for hunk in landing.hunks if hunk.stage is not Stage.DROPPED] == []
    assert "a.txt" not in place.workspace.buffers or place.text("a.txt") == TEXT


@pytest.mark.parametrize(
    "patch",
    [
        HEAD + "@@\n a\n-b\n",
        HEAD + "@@\n a\n-b\n+B\n+half a li",
        HEAD + "@@\n a\n-b\n+B\n",
        HEAD + "@@\n a\n-b\n+B\n*** End Pa",
        HEAD + "@@\n+only added\n",
    ],
)
def test_an_open_change_is_rolled_back(patch):
    place, landing = cut(patch)
    assert place.text("a.txt") == TEXT
    assert [hunk.stage for hunk in landing.hunks] == [Stage.DROPPED]
    assert landing.hunks[0].reason.startswith("incomplete: the stream was cut")
    assert landing.hunks[0].start is None


def test_what_was_streamed_of_a_dropped_hunk_is_kept_for_the_user():
    _, landing = cut(HEAD + "@@\n a\n-b\n+B\n+BB\n")
    assert (landing.hunks[0].base, landing.hunks[0].agent) == ("b\n", "B\nBB\n")


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


def test_hunks_before_the_cut_section_stay_pending():
    place, landing = cut(HEAD + "@@\n-a\n+A\n@@\n b\n-c\n")
    assert [hunk.stage for hunk in landing.hunks] == [Stage.LANDED, Stage.DROPPED]
    assert place.text("a.txt") == "A\nb\nc\nd\ne\n"


def test_a_move_is_never_early():
    place, landing = cut(HEAD + "*** Move to: b.txt\n@@\n-a\n+A\n@@\n-b\n")
    assert landing.hunks[-1].reason.startswith("interrupted before the move")
    assert set(place.workspace.buffers) == {"a.txt"}


def test_whole_lines_of_a_new_file_are_kept_as_partial():
    place, landing = cut("*** Begin Patch\n*** Add File: n.txt\n+one\n+two\n+thr")
    assert landing.hunks[0].stage is Stage.PARTIAL
    assert landing.hunks[0].flags == ["the file is incomplete"]
    assert place.text("n.txt") == "one\ntwo\n"


def test_a_new_file_without_a_whole_line_is_not_made():
    place, landing = cut("*** Begin Patch\n*** Add File: n.txt\n+on")
    assert landing.hunks[0].stage is Stage.DROPPED
    assert place.workspace.buffers == {}


def test_an_existing_file_that_was_being_replaced_is_as_it_was():
    place, landing = cut("*** Begin Patch\n*** Add File: a.txt\n+new\n")
    assert landing.hunks[0].stage is Stage.DROPPED
    assert place.text("a.txt") == TEXT


def test_nothing_lands_after_the_end():
    place, landing = cut(HEAD + "@@\n-a\n+A\n")
    landing.feed(" b\n*** End Patch\n")
    landing.finish(cut=False)
    assert place.text("a.txt") == TEXT
    assert len(landing.hunks) == 1


def test_a_cut_behind_the_end_is_no_cut():
    place = disk(a=TEXT)
    landing = place.start()
    landing.feed(HEAD + "@@\n-a\n+A\n*** End Patch\n")
    landing.finish(cut=True)
    assert landing.placed_all
