"""The user types inside a hunk that is not decided: what then belongs on the disk."""

from __future__ import annotations

import time

import pytest

from tests.support.patches import Disk, disk, patch
from tui.core.document.disk_plan import still_text
from tui.core.document.hunk import Stage
from tui.core.unsaved import bring_back, typed_text

TEXT = "".join(f"l{number}\n" for number in range(8))
HUNK = ("@@", " l1", "-l2", "-l3", "+m0", "+m1", "+m2", " l4")

pytestmark = pytest.mark.case("G06")


def landed(*lines: str) -> Disk:
    place = disk(a=TEXT)
    place.land(patch(*lines))
    return place


def test_a_key_inside_a_hunk_that_lies_on_another_one_accepts_neither():
    place = landed("@@", " l2", "-l3", "+M3", " l4")
    place.land(patch("@@", " l2", "-M3", "+N3", "+N4", " l4"), turn=2)
    place.workspace.edit("a.txt", (3, 1), (3, 1), "x")
    place.workspace.edit("a.txt", (0, 0), (0, 0), "outside ")
    place.write(["a.txt"])
    assert place.files["a.txt"] == b"outside " + TEXT.encode()
    assert place.text("a.txt").count("Nx3\nN4\n") == 1


def test_a_line_of_the_users_own_between_the_models_is_saved_without_these():
    place = landed(*HUNK)
    place.workspace.edit("a.txt", (3, 0), (3, 0), "mine\n")
    place.workspace.edit("a.txt", (5, 0), (5, 0), "too\n")
    place.write(["a.txt"])
    assert place.files["a.txt"] == TEXT.replace("l3\n", "l3\nmine\ntoo\n").encode()
    assert not place.workspace.is_dirty("a.txt")
    place.write(place.workspace.accept())
    assert place.files["a.txt"].decode() == place.text("a.txt")


def test_old_lines_put_back_are_the_disks_and_an_undo_brings_the_typed_ones_back():
    place = landed(*HUNK)
    place.workspace.edit("a.txt", (3, 0), (3, 0), "x")
    place.write(["a.txt"])
    place.workspace.reject([1])
    assert place.workspace.hunk_list.by_id(1).stage is Stage.CONFLICT
    assert place.workspace.disk_plan("a.txt").data == TEXT.encode()
    place.write(place.workspace.reject([1], whole=True))
    assert place.text("a.txt") == TEXT
    assert place.files["a.txt"] == TEXT.encode()
    assert not place.workspace.is_dirty("a.txt")
    place.write(place.workspace.undo_decision())
    assert "xm1" in place.text("a.txt")
    assert place.files["a.txt"] == TEXT.encode()
    assert place.workspace.is_dirty("a.txt")


def test_a_crash_keeps_what_was_typed_in_it():
    place = landed(*HUNK)
    place.workspace.edit("a.txt", (3, 0), (3, 0), "precious ")
    place.write(["a.txt"])
    typed = typed_text(place.workspace.documents, "a.txt")
    kept = typed.file() if typed else None
    assert kept is not None
    again = Disk(place.files)
    bring_back(again.workspace.documents, kept)
    assert "precious m1" in again.text("a.txt")
    assert again.workspace.is_dirty("a.txt")


@pytest.mark.parametrize(
    ("at", "typed", "left"),
    [((2, 0), "mine\n", "l1\nl2\nmine\nl3\n"), ((1, 2), "\nmine", "l1\nmine\nl2\nl3\n")],
)
def test_a_line_typed_where_one_was_removed_has_one_order(
    at: tuple[int, int], typed: str, left: str
):
    """Before the line below it comes behind the old line, at the end of that above before it."""
    place = landed("@@", " l1", "-l2", " l3")
    place.workspace.edit("a.txt", at, at, typed)
    for _ in range(2):
        planned = place.workspace.disk_plan("a.txt").data
        place.workspace.reject([1])
        assert place.text("a.txt") == TEXT.replace("l1\nl2\nl3\n", left)
        assert planned == place.text("a.txt").encode()
        place.workspace.undo_decision()
        place.workspace.undo("a.txt")
        place.workspace.redo("a.txt")


@pytest.mark.slow
def test_a_line_that_many_calls_changed_is_backed_out_at_once():
    """B6: hunk by hunk, with all that lies on it, it took 0.3 s a save for 400 of them."""

    def cost(count: int) -> float:
        place = disk(a=TEXT)
        for turn in range(count):
            old = place.workspace.open("a.txt").lines[3]
            place.land(patch("@@", " l2", f"-{old}", f"+edit {turn}", " l4"), turn=turn + 1)
        record = place.workspace.documents.records["a.txt"]
        began = time.process_time()
        assert place.workspace.disk_plan("a.txt").data == TEXT.encode()
        took_s = time.process_time() - began
        slow = still_text(place.workspace.documents, record).planned()
        assert slow is not None
        assert slow.encode() == TEXT.encode()
        place.workspace.edit("a.txt", (3, 0), (3, 0), "x")
        assert place.workspace.disk_plan("a.txt").data == TEXT.encode()
        return took_s

    assert cost(120) < max(8 * cost(30), 0.005)
