"""Files that are added, deleted, moved or refused (EDIT-CASES.md, groups B and H)."""

from __future__ import annotations

import pytest

from tests.support.patches import Disk, disk, patch
from tui.core.document.hunk import Decision, Kind, Stage
from tui.core.patches.landing import Landing

BEGIN, END = "*** Begin Patch\n", "*** End Patch\n"


def only(landing: Landing):
    assert len(landing.hunks) == 1
    return landing.hunks[0]


@pytest.mark.case("B02")
def test_b02_add_over_existing_is_flagged_and_recoverable():
    place = disk(d="old\n")
    landing = place.land(BEGIN + "*** Add File: d.txt\n+fresh\n" + END)
    assert only(landing).flags == ("overwrites an existing file",)
    place.write(place.workspace.accept())
    assert place.files == {"d.txt": b"fresh\n"}
    place.write(place.workspace.undo_turn())
    assert place.files == {"d.txt": b"old\n"}


@pytest.mark.case("B01")
def test_b01_an_added_file_grows_as_it_comes_and_is_written_when_accepted():
    place = disk()
    landing = place.start()
    landing.feed(BEGIN + "*** Add File: docs/n.md\n+one\n+tw")
    assert place.text("docs/n.md") == "one\n"
    landing.tail()
    assert place.text("docs/n.md") == "one\ntw\n"
    assert place.workspace.decorations("docs/n.md", 0, 5) == {0: "landing", 1: "landing"}
    assert not place.workspace.is_dirty("docs/n.md")
    assert place.workspace.disk_plan("docs/n.md").data is None
    landing.feed("o\n" + END)
    landing.finish(cut=False)
    assert only(landing).kind is Kind.ADD
    place.write(place.workspace.accept())
    assert place.files == {"docs/n.md": b"one\ntwo\n"}


@pytest.mark.case("B06")
def test_b06_move_with_edit_over_an_existing_file():
    place = disk(a="one\n", b="other\n")
    landing = place.land(patch("*** Move to: b.txt", "@@", "-one", "+ONE"))
    move = landing.hunks[1]
    assert (move.kind, move.target) == (Kind.MOVE, "b.txt")
    assert move.flags == ("moves over an existing file",)
    place.write(place.workspace.accept())
    assert place.files == {"b.txt": b"ONE\n"}
    assert set(place.workspace.buffers) == {"b.txt"}
    place.write(place.workspace.undo_turn())
    assert place.files == {"a.txt": b"one\n", "b.txt": b"other\n"}


@pytest.mark.case("B07")
def test_b07_add_then_update():
    place = disk()
    body = "*** Add File: n.txt\n+one\n*** Update File: n.txt\n@@\n-one\n+ONE\n"
    landing = place.land(BEGIN + body + END)
    assert landing.placed_all
    place.write(place.workspace.accept([landing.hunks[1].id]))
    assert place.files == {"n.txt": b"ONE\n"}
    assert landing.hunks[0].decision is Decision.ACCEPTED


@pytest.mark.case("B07")
def test_b07_rejecting_the_added_file_rejects_its_update():
    place = disk()
    body = "*** Add File: n.txt\n+one\n*** Update File: n.txt\n@@\n-one\n+ONE\n"
    landing = place.land(BEGIN + body + END)
    place.workspace.reject([landing.hunks[0].id])
    assert place.workspace.buffers == {}
    assert {hunk.decision for hunk in landing.hunks} == {Decision.REJECTED}


@pytest.mark.case("B18")
def test_b18_a_delete_needs_what_follows_it():
    place = disk(a="a\n")
    landing = place.land(BEGIN + "*** Delete File: a.txt\n")
    assert "no End Patch after the delete" in landing.failure
    assert only(landing).stage is Stage.DROPPED
    cut = place.land(BEGIN + "*** Delete File: a.txt\n", cut=True)
    assert only(cut).reason == "interrupted before the delete"
    assert not place.workspace.buffers
    assert not place.workspace.accept()


def test_paths_are_checked_before_anything_is_read():
    read: list[str] = []
    place = Disk({})
    place.workspace.documents.read = lambda path: read.append(path) or place.read(path)
    for path, words in [
        ("/etc/passwd", "outside the workspace"),
        ("../up.txt", "outside the workspace"),
        ("~/x", "outside the workspace"),
        ("a/../../x", "outside the workspace"),
        (".git/hooks/pre-commit", ".git"),
        ("sub/.GIT/config", ".git"),
        ("a\x07b", "not a usable path"),
    ]:
        landing = place.land(BEGIN + f"*** Add File: {path}\n+x\n" + END)
        assert words in only(landing).reason
    assert read == []


@pytest.mark.case("H02")
def test_h02_an_absolute_path_inside_and_a_backslash_are_accepted():
    place = Disk({"sub/a.txt": b"a\n"})
    assert place.land(patch("@@", "-a", "+b", file="/root/sub/a.txt")).placed_all
    assert place.land(patch("@@", "-b", "+c", file="sub\\a.txt")).placed_all
    assert place.text("sub/a.txt") == "c\n"


@pytest.mark.case("B20")
def test_a_bare_diff_in_an_envelope_gives_the_same():
    diff = "@@\n-a\n+A\n"
    place = disk(a="a\nb\n")
    landing = place.start()
    for piece in (BEGIN, "*** Update File: a.txt\n", *diff, END):
        landing.feed(piece)
    landing.finish(cut=False)
    other = disk(a="a\nb\n")
    other.land(patch(*diff.splitlines()))
    assert landing.placed_all
    assert place.text("a.txt") == other.text("a.txt") == "A\nb\n"
