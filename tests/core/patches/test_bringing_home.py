from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.text.test_carried import authors, edited, plain_merge
from tests.support.patches import Disk, disk, patch
from tui.core.document.hunk import Decision, Hunk, Kind, Stage
from tui.core.patches import bringing_home as home
from tui.core.patches.bringing_home import LaneFile, bringing_home
from tui.core.steps import finished
from tui.errors import EditRefused

BASE = "a\nb\nc\nd\n"


def bring(place: Disk, turn: int = 7, **files: tuple[str | bytes | None, str | bytes | None]):
    """Bring what a lane made of files, named by their stem, home; the hunks."""

    def data(text: str | bytes | None) -> bytes | None:
        return text.encode() if isinstance(text, str) else text

    lane = {f"{name}.txt": LaneFile(*map(data, sides)) for name, sides in files.items()}
    return finished(bringing_home(place.workspace.documents, lane, turn, f"lane {turn}"))


def said(hunks: list[Hunk]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(one.base, one.agent, one.flags) for one in hunks]


def test_a_lane_comes_home_as_pending_hunks_of_its_turn_and_the_disk_stays():
    place = disk(a=BASE)
    hunks = bring(place, a=(BASE, "a\nB\nc\nd\ne\n"))
    assert said(hunks) == [("b\n", "B\n", ()), ("", "e\n", ())]
    assert {one.turn for one in hunks} == {7}
    assert all(one.decidable for one in hunks)
    assert place.text("a.txt") == "a\nB\nc\nd\ne\n"
    assert place.workspace.disk_plan("a.txt").data == BASE.encode()
    place.write(place.workspace.accept([hunks[0].id]))
    assert place.files["a.txt"] == b"a\nB\nc\nd\n"
    place.workspace.reject([hunks[1].id])
    assert place.text("a.txt") == "a\nB\nc\nd\n"


def test_what_the_user_typed_stays_and_where_both_changed_a_line_the_hunk_says_so():
    place = disk(a=BASE)
    place.workspace.open("a.txt")
    place.workspace.edit("a.txt", (1, 0), (1, 1), "mine")
    place.workspace.edit("a.txt", (0, 0), (0, 0), "top\n")
    mine = place.text("a.txt")
    hunks = bring(place, a=(BASE, "a\nB\nc\nD\n"))
    assert said(hunks) == [("mine\n", "B\n", (home.REPLACES,)), ("d\n", "D\n", ())]
    assert place.text("a.txt") == "top\na\nB\nc\nD\n"
    place.workspace.reject([one.id for one in hunks])
    assert place.text("a.txt") == mine


def test_lines_put_in_at_one_place_are_both_there():
    place = disk(a=BASE)
    first = bring(place, 7, a=(BASE, BASE + "one\n"))
    second = bring(place, 8, a=(BASE, BASE + "two\n"))
    assert [one.flags for one in [*first, *second]] == [(), (home.BESIDE,)]
    assert place.text("a.txt") == BASE + "one\ntwo\n"
    place.workspace.reject([one.id for one in first])
    assert place.text("a.txt") == BASE + "two\n"


def test_hunks_that_were_pending_when_the_lane_began_are_in_its_base_and_come_once():
    place = disk(a=BASE)
    (kept, gone) = place.land(patch("@@", "-b", "+B", "@@", "-d", "+D")).hunks
    base = place.text("a.txt")
    place.write(place.workspace.accept([kept.id]))
    place.workspace.reject([gone.id])
    hunks = bring(place, a=(base, base.replace("c", "C")))
    assert said(hunks) == [("c\n", "C\n", ())]
    assert place.text("a.txt") == "a\nB\nC\nd\n"


def test_a_second_lane_lies_on_the_first_and_each_comes_off_alone():
    place = disk(a=BASE)
    first = bring(place, 7, a=(BASE, "a\nB\nc\nd\n"))
    second = bring(place, 8, a=(BASE, "a\nBB\nc\nD\n"))
    assert [one.flags for one in second] == [(home.REPLACES,), ()]
    place.workspace.reject([one.id for one in second])
    assert place.text("a.txt") == "a\nB\nc\nd\n"
    place.workspace.reject([one.id for one in first])
    assert place.text("a.txt") == BASE


@pytest.mark.parametrize("data", [b"\xef\xbb\xbfone\r\ntwo", b"one\rtwo\r", b"", b"one\n"])
def test_a_new_file_keeps_its_form(data):
    place = disk()
    (hunk,) = bring(place, b=(None, data))
    assert (hunk.kind, hunk.decidable) == (Kind.ADD, True)
    assert place.workspace.disk_plan("b.txt").data is None
    place.write(place.workspace.accept([hunk.id]))
    assert place.files["b.txt"] == data


def test_a_new_file_that_is_there_meanwhile_is_over_or_beside_it():
    place = disk(b="mine\n")
    (hunk,) = bring(place, b=(None, "theirs\n"))
    assert hunk.flags == (home.BESIDE,)
    assert place.text("b.txt") == "mine\ntheirs\n"
    assert bring(place, 8, b=(None, "mine\ntheirs\n")) == []


def test_a_new_file_goes_when_it_is_rejected():
    place = disk()
    (hunk,) = bring(place, b=(None, "one\n"))
    place.workspace.reject([hunk.id])
    assert "b.txt" not in place.workspace.buffers
    (again,) = bring(place, 8, b=(None, "two\n"))
    assert place.text("b.txt") == "two\n"
    assert again.decidable


def test_a_deletion_of_a_file_that_was_changed_meanwhile_says_so():
    place = disk(a=BASE, b=BASE)
    place.workspace.open("a.txt")
    place.workspace.edit("a.txt", (0, 0), (0, 0), "x")
    hunks = bring(place, a=(BASE, None), b=(BASE, None), c=(BASE, None))
    assert [(one.path, one.kind, home.CHANGED in one.flags) for one in hunks] == [
        ("a.txt", Kind.DELETE, True),
        ("b.txt", Kind.DELETE, False),
    ]
    place.workspace.reject([hunks[0].id])
    assert place.text("a.txt") == "x" + BASE
    place.write(place.workspace.accept([hunks[1].id]))
    assert "b.txt" not in place.files


def test_a_file_that_vanished_meanwhile_is_offered_again():
    place = disk()
    (hunk,) = bring(place, a=(BASE, "a\n"))
    assert (hunk.kind, hunk.flags) == (Kind.ADD, (home.MADE_AGAIN,))
    place.workspace.reject([hunk.id])
    assert "a.txt" not in place.workspace.buffers


def test_a_file_that_the_lane_moved_moves_with_what_was_typed():
    place = disk(a=BASE)
    place.workspace.open("a.txt")
    place.workspace.edit("a.txt", (3, 0), (3, 1), "mine")
    hunks = bring(place, a=(BASE, None), b=(None, "a\nB\nc\nd\n"))
    assert [(one.kind, one.target) for one in hunks] == [(Kind.EDIT, ""), (Kind.MOVE, "b.txt")]
    place.write(place.workspace.accept())
    assert place.files == {"b.txt": b"a\nB\nc\nmine\n"}


def test_of_a_file_that_only_moved_nothing_is_refused():
    place = disk(a=BASE)
    (moved,) = bring(place, a=(BASE, None), b=(None, BASE))
    assert (moved.kind, moved.target, moved.reason) == (Kind.MOVE, "b.txt", "")
    place.write(place.workspace.accept())
    assert place.files == {"b.txt": BASE.encode()}


@pytest.mark.parametrize(
    ("base", "now", "why"),
    [
        (b"\0", b"\0\0", "is a binary file"),
        (b"a\n", b"\xff", "is not UTF-8"),
        (b"a\n", b"\xef\xbb\xbfa\n", "only its byte order mark"),
    ],
)
def test_what_no_hunk_can_say_is_refused_with_the_reason(base, now, why):
    place = Disk({"a.txt": base})
    (hunk,) = bring(place, a=(base, now))
    assert hunk.stage is Stage.REFUSED
    assert why in hunk.reason


def test_a_file_that_is_to_be_deleted_keeps_the_lanes_text_for_a_look():
    place = disk(a=BASE)
    place.land("*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n")
    (hunk,) = bring(place, a=(BASE, "a\nB\nc\nd\n"))
    assert (hunk.stage, hunk.agent, hunk.is_out) == (Stage.REFUSED, "B\n", True)
    assert "is to be deleted" in hunk.reason


def test_nothing_comes_home_into_a_file_in_which_a_model_writes():
    place = disk(a=BASE, b=BASE)
    landing = place.start()
    landing.feed(patch("@@", "-b", "+B")[:-20])
    with pytest.raises(EditRefused, match="a model writes in"):
        bring(place, a=(BASE, "a\n"), b=(BASE, "b\n"))
    landing.finish(cut=False)
    assert "b.txt" not in place.workspace.buffers


@pytest.mark.parametrize(("row", "text"), [(0, "x\n"), (2, "x\ny\n"), (4, "x"), (5, "x\n")])
def test_what_is_typed_while_a_file_comes_home_moves_what_is_still_to_come(row, text):
    lines = [f"{one}\n" for one in "abcdef"]
    place = disk(a="".join(lines))
    place.workspace.open("a.txt")
    now = "A\nA\nb\nc\nd\ne\nF\n"
    files = {"a.txt": LaneFile("".join(lines).encode(), now.encode())}
    work = bringing_home(place.workspace.documents, files, 7, "lane")
    next(work)
    assert place.text("a.txt").startswith("A\nA\nb")
    place.workspace.edit("a.txt", (row, 0), (row, 0), text)
    typed = place.text("a.txt")
    hunks = finished(work)
    assert place.text("a.txt") == typed.replace("f", "F")
    place.workspace.reject([one.id for one in hunks])
    assert place.text("a.txt").replace("x", "").replace("y", "").split() == [*"abcdef"]


def test_the_model_that_answers_here_is_taken_not_to_know_it():
    place = disk(a=BASE)
    place.workspace.open("a.txt")
    bring(place, a=(BASE, "a\nB\nc\nd\n"))
    assert place.workspace.documents.records["a.txt"].sent() == BASE


@given(st.data(), authors("user", "one", "two"))
def test_two_lanes_and_the_user_end_where_a_slow_plain_merge_does(data, written):
    lines, (user, one, two) = written
    base = "".join(lines)
    place = disk(a=base)
    place.workspace.open("a.txt")
    for edit in reversed(user):
        place.workspace.edit("a.txt", (edit.first, 0), (edit.last, 0), "".join(edit.new))
    hunks = [
        *bring(place, 7, a=(base, edited(lines, one))),
        *bring(place, 8, a=(base, edited(lines, two))),
    ]
    merged = edited(lines, plain_merge(plain_merge(user, one), two))
    assert place.text("a.txt") == merged
    if data.draw(st.booleans()):
        place.workspace.reject([one.id for one in data.draw(st.permutations(hunks))])
        assert place.text("a.txt") == edited(lines, user)
    else:
        place.write(place.workspace.accept([one.id for one in hunks]))
        assert place.text("a.txt") == merged
        assert all(one.decision is Decision.ACCEPTED for one in hunks)
