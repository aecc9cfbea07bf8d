"""Unified diffs in the buffers: section D of EDIT-CASES.md, where placement decides."""

from __future__ import annotations

import pytest

from tests.support.patches import Disk, disk
from tui.core.edits.hunk import Kind, Stage
from tui.core.edits.patches.landing import Landing

HEAD = "--- a/a.txt\n+++ b/a.txt\n"


def land(place: Disk, text: str, *, cut: bool = False) -> Landing:
    place.calls += 1
    call = f"call_{place.calls}"
    landing = Landing(place.workspace, turn=1, call_id=call, fmt="unified_diff")
    landing.feed(text)
    landing.finish(cut)
    return landing


def words(landing: Landing) -> str:
    return "; ".join(hunk.reason for hunk in landing.hunks)


def far(*marks: int) -> str:
    """A long file in which ``x`` and ``y`` stand at these rows."""
    rows = [f"l{number}" for number in range(500)]
    for row in marks:
        rows[row : row + 2] = ["x", "y"]
    return "".join(f"{row}\n" for row in rows)


@pytest.mark.case("D01")
@pytest.mark.parametrize("header", ["@@ -1,9 +1,9 @@", "@@ -2 +2 @@", "@@ ... @@", "@@"])
def test_d01_counts_and_numbers_do_not_place(header):
    place = disk(a="h\na\nb\nc\n")
    landing = land(place, f"{HEAD}{header}\n a\n-b\n+B\n c\n")
    assert place.text("a.txt") == "h\na\nB\nc\n"
    assert landing.placed_all
    wrong = "line counts are wrong" in landing.hunks[0].flags
    assert wrong == ("," in header or "2" in header)


@pytest.mark.case("D02", "D03")
def test_d02_a_number_decides_between_verified_copies_only():
    place = disk(a=far(10, 300))
    landing = land(place, HEAD + "@@ -280,2 +280,2 @@\n x\n-y\n+Y\n")
    assert place.text("a.txt") == far(10, 300)[::-1].replace("y", "Y", 1)[::-1]
    assert landing.hunks[0].flags == ["several places fit: the nearest to its line number"]
    place = disk(a=far(310))
    assert land(place, HEAD + "@@ -10,2 +10,2 @@\n x\n-y\n+Y\n").placed_all
    assert place.text("a.txt") == far(310).replace("y\n", "Y\n")
    place = disk(a=far(10, 300))
    assert "ambiguous" in words(land(place, HEAD + "@@ -156,2 +156,2 @@\n x\n-y\n+Y\n"))


@pytest.mark.case("D02")
def test_d02_numbers_drift_as_the_hunk_before_did():
    place = disk(a=far(100, 200).replace("l90\n", "mark\n"))
    text = "@@ -21 +21,2 @@\n-mark\n+m\n+n\n@@ -140,2 +141,2 @@\n x\n-y\n+Y\n"
    assert land(place, HEAD + text).placed_all
    assert place.text("a.txt").splitlines()[202] == "Y"


@pytest.mark.case("D02")
def test_d02_a_number_alone_places_nothing_but_at_the_end():
    place = disk(a="a\nb\nc\n")
    landing = land(place, HEAD + "@@ -1,0 +2 @@\n+between\n")
    assert "a line number alone is not trusted" in words(landing)
    assert place.text("a.txt") == "a\nb\nc\n"
    landing = land(place, HEAD + "@@ -3,0 +4 @@\n+d\n")
    assert place.text("a.txt") == "a\nb\nc\nd\n"
    assert landing.hunks[0].flags == ["only added lines: put at the end of the file"]


@pytest.mark.case("D04", "D09")
def test_d04_d09_no_copy_is_guessed_and_no_wrong_line_is_dropped():
    place = disk(a="x\ny\nx\ny\n")
    assert words(land(place, HEAD + "@@ @@\n x\n-y\n+Y\n")) == (
        "ambiguous: it fits at lines 1 and 3"
    )
    assert words(land(place, HEAD + "@@ -1,2 +1,2 @@\n zzz\n-y\n+Y\n")) == (
        "context not found: closest is line 1, 1 of 2 lines match; "
        "line 1 of the file has 'x', the patch has 'zzz'"
    )
    assert place.text("a.txt") == "x\ny\nx\ny\n"


@pytest.mark.case("D07")
def test_d07_new_files_deletions_and_renames():
    place = disk(a="a\nb\n", k="k\n", o="o\n")
    landing = land(place, "--- /dev/null\n+++ b/k.txt\n@@ -0,0 +1 @@\n+new\n")
    assert words(landing) == "'k.txt' already exists: the diff makes it new"
    landing = land(place, "--- a/k.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-other\n")
    assert words(landing).startswith("context not found")
    assert place.workspace.ledger.records["k.txt"].deletion is None
    landing = land(place, "--- a/k.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-k\n")
    assert [(hunk.kind, hunk.stage) for hunk in landing.hunks] == [(Kind.DELETE, Stage.LANDED)]
    git = (
        "diff --git a/a.txt b/n.txt\nrename from a.txt\nrename to n.txt\n--- a/a.txt\n+++ b/n.txt\n"
    )
    landing = land(place, git + "@@ -1,2 +1,2 @@\n-a\n+A\n b\n")
    assert [hunk.kind for hunk in landing.hunks] == [Kind.EDIT, Kind.MOVE]
    landing = land(place, "diff --git a/o.txt b/n.txt\nrename from o.txt\nrename to n.txt\n")
    assert "not moved: 'n.txt' is where an earlier hunk moves a file" in words(landing)
    place.write(place.workspace.accept())
    assert place.files == {"n.txt": b"A\nb\n", "o.txt": b"o\n"}


@pytest.mark.case("D08")
@pytest.mark.parametrize(
    ("text", "body", "result"),
    [
        ("a\nb", "-b\n\\ No newline at end of file\n+B\n", "a\nB\n"),
        ("a\nb\n", "-b\n+B\n\\ No newline at end of file\n", "a\nB"),
        ("a\nb", "-b\n\\ No newline at end of file\n+B\n\\ No newline at end of file\n", "a\nB"),
        ("a\r\nb\r\n", "-b\n+B\n\\ No newline at end of file\n", "a\r\nB"),
    ],
)
def test_d08_the_final_newline_comes_and_goes_both_ways(text, body, result):
    place = Disk({"a.txt": text.encode()})
    landing = land(place, f"{HEAD}@@ -1,2 +1,2 @@\n a\n{body}")
    assert landing.placed_all
    assert place.text("a.txt") == result
    assert landing.hunks[0].agent == result.removeprefix("a\n").removeprefix("a\r\n")
    place.workspace.reject()
    assert place.text("a.txt") == text


@pytest.mark.case("D08")
def test_d08_a_file_is_made_without_a_final_newline():
    place = disk()
    text = "--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
    assert land(place, text).placed_all
    place.write(place.workspace.accept())
    assert place.files == {"n.txt": b"a\nb"}


@pytest.mark.case("D10")
def test_d10_what_is_no_text_is_refused_and_the_next_file_goes_on():
    place = disk(a="a\n")
    text = (
        "diff --git a/ln b/ln\nnew file mode 120000\n--- /dev/null\n+++ b/ln\n@@ -0,0 +1 @@\n"
        "+../../etc\n\\ No newline at end of file\n"
        "diff --git a/p.png b/p.png\nBinary files a/p.png and b/p.png differ\n"
        "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+A\n"
    )
    landing = land(place, text)
    assert [hunk.stage for hunk in landing.hunks] == [
        Stage.REFUSED, Stage.REFUSED, Stage.LANDED
    ]  # fmt: skip
    assert set(place.workspace.buffers) == {"a.txt"}
    assert "symlink" in words(landing)


@pytest.mark.case("D11")
def test_d11_cut_a_hunk_stays_if_its_counts_are_satisfied():
    place = disk(a="a\nb\nc\nd\n")
    landing = land(place, HEAD + "@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -3,2 +3,2 @@\n-c\n", cut=True)
    assert [hunk.stage for hunk in landing.hunks] == [Stage.LANDED, Stage.DROPPED]
    assert place.text("a.txt") == "A\nb\nc\nd\n"
