"""The user and a landing section in the same lines (EDITS.md section 5, EDIT-CASES.md G)."""

from __future__ import annotations

from tests.support.patches import disk
from tui.core.document.hunk import Stage

HEAD = "*** Begin Patch\n*** Update File: a.txt\n"
TEXT = "a\nb\nc\nd\ne\n"


def started(*lines: str, text: str = TEXT):
    place = disk(a=text)
    landing = place.start()
    landing.feed(HEAD + "".join(f"{line}\n" for line in lines))
    return place, landing


def ended(landing, *lines: str):
    landing.feed("".join(f"{line}\n" for line in [*lines, "*** End Patch"]))
    landing.finish(cut=False)
    return landing.hunks[0]


def test_g04_deleting_the_region_is_a_conflict_and_nothing_more_is_painted():
    place, landing = started("@@", " b", "-c", "+C")
    place.workspace.edit("a.txt", (0, 0), (4, 0), "")
    assert place.text("a.txt") == "d\ne\n"
    hunk = ended(landing, "+more", " d")
    assert place.text("a.txt") == "d\ne\n"
    assert hunk.stage is Stage.CONFLICT
    assert hunk.reason.startswith("target deleted")


def test_a_cut_in_trouble_leaves_the_users_text():
    place, landing = started("@@", " b", "-c", "+C")
    place.workspace.edit("a.txt", (2, 1), (2, 1), "mine")
    landing.finish(cut=True)
    assert place.text("a.txt") == "a\nb\ncmine\nd\ne\n"
    assert landing.hunks[0].stage is Stage.DROPPED


def test_g05_undo_while_streaming_takes_the_users_edit_only():
    place, landing = started("@@", " b")
    place.workspace.edit("a.txt", (0, 0), (0, 1), "mine")
    landing.feed("".join(f"+line {n}\n" for n in range(60)))
    assert place.workspace.undo("a.txt") == (0, 1)
    assert place.text("a.txt").startswith("a\nb\nline 0\n")
    assert place.workspace.redo("a.txt") == (0, 4)
    ended(landing, " c")
    assert place.text("a.txt").startswith("mine\nb\nline 0\n")
    assert place.text("a.txt").count("\n") == 65


def test_undo_inside_the_open_hunk_is_refused_until_it_is_over():
    place, landing = started("@@", " b", "-c", "+one", "+two")
    place.workspace.edit("a.txt", (3, 3), (3, 3), " mine")
    assert place.workspace.undo("a.txt") is None
    ended(landing, " d")
    assert place.workspace.undo("a.txt") == (2, 3)
    assert place.text("a.txt") == "a\nb\none\ntwo\nd\ne\n"


def test_a_last_line_without_newline_is_given_back_when_painting_is_taken_back():
    place, landing = started("@@", " d", "-e", "+E", text="d\ne")
    assert place.text("a.txt") == "d\ne\nE\n"
    assert place.workspace.disk_plan("a.txt").data == b"d\ne"
    landing.finish(cut=True)
    assert place.text("a.txt") == "d\ne"


def test_the_user_deletes_the_unfinished_line():
    place, landing = started("@@", " b", "-c")
    landing.feed("+hel")
    landing.tail()
    place.workspace.edit("a.txt", (3, 0), (4, 0), "")
    ended(landing, "lo", " d")
    assert place.text("a.txt") == "a\nb\nhello\nd\ne\n"
