"""Hunks of a session that goes on: what waited waits again, in the file as it is now."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.past_hunks import past_hunk
from tests.support.patches import Disk, disk, edits_of, patch, patch_of
from tui.core.document.hunk import Decision, Hunk, Stage
from tui.core.patches.past_hunks import BroughtBack, bringing_back
from tui.core.session_record import HunkMade
from tui.core.steps import finished


def stored(place: Disk) -> list[HunkMade]:
    """The hunks as a store has them."""
    return [past_hunk(place.workspace, hunk) for hunk in place.workspace.hunks]


def again(
    place: Disk, past: Iterable[HunkMade], unwritten: Collection[int] = ()
) -> tuple[Disk, BroughtBack]:
    """Another duetto over the same files."""
    other = Disk(dict(place.files))
    return other, finished(bringing_back(other.workspace.documents, past, unwritten))


def ids(hunks: Iterable[Hunk]) -> list[int]:
    return [hunk.id for hunk in hunks]


def test_what_waited_waits_again_and_what_was_decided_is_remembered():
    place = disk(a="a\nb\nc\nd\ne\nf\n")
    place.land(patch("@@", "-a", "+A", "@@", "-d", "+D", "@@", "-f", "+F"))
    place.write(place.workspace.accept([1]))
    place.workspace.reject([2], "not that one")
    other, found = again(place, stored(place))
    assert ids(found.placed) == [3]
    assert other.text("a.txt") == "A\nb\nc\nd\ne\nF\n"
    first, second, third = other.workspace.hunks
    assert [h.decision for h in (first, second, third)] == ["accepted", "rejected", "pending"]
    assert second.words == "not that one"
    other.write(other.workspace.accept(None))
    assert other.files["a.txt"] == b"A\nb\nc\nd\ne\nF\n"


def test_the_next_hunk_has_the_next_number():
    place = disk(a="a\nb\n")
    place.land(patch("@@", "-a", "+A", "@@", "-b", "+B"))
    other, _ = again(place, stored(place))
    assert ids(other.land(patch("@@", "-A", "+AA"), turn=2).hunks) == [3]


def test_one_fits_where_its_lines_went():
    place = disk(a="a\nb\nc\n")
    place.land(patch("@@", " a", "-b", "+B", " c"))
    past = stored(place)
    place.files["a.txt"] = b"new\nnewer\n\na\nb\nc\n"
    other, found = again(place, past)
    assert ids(found.placed) == [1]
    assert other.text("a.txt") == "new\nnewer\n\na\nB\nc\n"


def test_one_whose_text_stands_there_already_counts_as_accepted():
    place = disk(a="a\nb\nc\n")
    place.land(patch("@@", " a", "-b", "+B", " c"))
    past = stored(place)
    place.files["a.txt"] = b"a\nB\nc\n"
    other, found = again(place, past)
    assert ids(found.on_disk) == [1]
    assert other.workspace.hunks[0].decision is Decision.ACCEPTED
    assert not other.workspace.is_dirty("a.txt")


@pytest.mark.parametrize("now", [b"quite\nanother\n", None, b"\0\1"])
def test_one_that_fits_nowhere_is_in_conflict_and_keeps_its_text(now: bytes | None):
    place = disk(a="a\nb\nc\n")
    place.land(patch("@@", " a", "-b", "+B", " c"))
    past = stored(place)
    if now is None:
        del place.files["a.txt"]
    else:
        place.files["a.txt"] = now
    other, found = again(place, past)
    (lost,) = found.lost
    assert (lost.stage, lost.base, lost.agent) == (Stage.CONFLICT, "b\n", "B\n")
    assert lost.reason
    assert lost.is_out
    other.workspace.reject([1])
    assert lost.decision is Decision.REJECTED


def test_what_was_accepted_and_not_written_waits_to_be_written():
    place = disk(a="a\nb\nc\n")
    place.land(patch("@@", " a", "-b", "+B", " c"))
    place.workspace.accept([1])
    other, found = again(place, stored(place), {1})
    assert ids(found.unwritten) == [1]
    other.write(other.workspace.accept(ids(found.unwritten)))
    assert other.files["a.txt"] == b"a\nB\nc\n"


def test_files_that_come_go_and_move():
    place = disk(a="a\n", b="b\n", c="c\n")
    place.land(
        "*** Begin Patch\n*** Add File: new.txt\n+one\n+two\n*** Delete File: a.txt\n"
        "*** Update File: b.txt\n*** Move to: d.txt\n@@\n-b\n+B\n*** End Patch\n"
    )
    other, found = again(place, stored(place))
    assert ids(found.placed) == ids(place.workspace.hunks)
    other.write(other.workspace.accept(None))
    assert other.files == {"new.txt": b"one\ntwo\n", "d.txt": b"B\n", "c.txt": b"c\n"}


def test_accepted_removals_are_no_longer_undone():
    place = disk(a="a\n", b="b\n")
    place.land("*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n")
    place.write(place.workspace.accept(None))
    other, _ = again(place, stored(place))
    assert other.workspace.last_turn == 0
    assert other.workspace.undo_turn(1) == []


def test_a_hunk_of_which_the_stream_was_cut_stays_cut():
    place = disk(a="a\nb\nc\n")
    place.workspace.documents.freeze = True
    landing = place.start()
    landing.feed("*** Begin Patch\n*** Update File: a.txt\n@@\n a\n-b\n+B\n+hal")
    landing.finish(cut=True)
    other, found = again(place, stored(place))
    assert ids(found.placed) == [1]
    assert other.workspace.hunks[0].stage is Stage.CUT
    assert other.text("a.txt") == place.text("a.txt")


def test_one_without_a_newline_at_the_end_of_the_file():
    place = disk(a="a\nb")
    place.land(
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n"
        "+B\n\\ No newline at end of file\n",
        fmt="unified_diff",
    )
    other, _ = again(place, stored(place))
    assert other.text("a.txt") == place.text("a.txt") == "a\nB"


LINES = st.lists(st.sampled_from(["a", "b", "", "  c", "}", "d"]), max_size=14)


@given(data=st.data(), lines=LINES)
def test_over_the_same_files_everything_stands_as_it_stood(data: st.DataObject, lines: list[str]):
    place = Disk({"a.txt": "".join(f"{line}\n" for line in lines).encode()})
    landed: dict[int, HunkMade] = {}
    for turn in (1, 2):
        now = place.workspace.open("a.txt").lines[:-1]
        edits = data.draw(edits_of(len(now)))
        landing = place.land(patch_of(now, edits, 3, "a.txt"), turn=turn)
        landed |= {hunk.id: past_hunk(place.workspace, hunk) for hunk in landing.hunks}
        decidable = [h.id for h in place.workspace.hunks if h.decidable]
        chosen = data.draw(st.lists(st.sampled_from(decidable), unique=True)) if decidable else []
        half = len(chosen) // 2
        place.write(place.workspace.accept(chosen[:half]))
        place.write(place.workspace.reject(chosen[half:]))
    known = [
        replace(past_hunk(place.workspace, h), line=one.line, above=one.above, below=one.below)
        for h in place.workspace.hunks
        if (one := landed[h.id])
    ]
    waiting = [h.id for h in place.workspace.hunks if h.decidable]
    other, found = again(place, known)
    other.workspace.open("a.txt")
    assert set(waiting) <= {h.id for h in (*found.placed, *found.on_disk, *found.lost)}
    assert ids(other.workspace.hunks) == ids(place.workspace.hunks)
    if ids(found.placed) == ids(place.workspace.hunks):  # nothing was decided meanwhile
        assert other.text("a.txt") == place.text("a.txt")
    assert other.workspace.disk_plan("a.txt").data == place.files["a.txt"]
