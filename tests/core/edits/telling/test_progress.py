"""What is said of a file in which a model writes."""

from __future__ import annotations

from tests.support.patches import Disk, disk, patch
from tests.support.tables import each
from tui.core.edits.telling.progress import (
    fate_words,
    landing_number,
    stage_words,
    written_paths,
    written_row,
)

TEXT = "one\ntwo\nthree\ntwo\nfour\n"


def words_at(upto: str, *lines: str) -> str:
    """The words when the patch has come up to and with this text."""
    files, whole = disk(a=TEXT), patch(*lines)
    landing = files.start()
    landing.feed(whole[: whole.index(upto) + len(upto)])
    return stage_words(files.workspace, "a.txt")


@each(
    "upto, lines, words",
    [
        ("@@ one\n- ", ["@@ one", "- two"], ""),
        (" two\n", ["@@", " two", "-three"], "hunk 1: 2 candidates, reading context"),
        (" nine\n", ["@@", " nine", "-two"], "hunk 1: no place found yet, reading context"),
        (" one\n", ["@@", " one", "-two"], "hunk 1: found at line 1"),
        ("-two\n", ["@@", " one", "-two", "+2"], "hunk 1: landing at line 2, −1 +0"),
        ("+2\n", ["@@", " one", "-two", "+2"], "hunk 1: landing at line 2, −1 +1"),
        ("+II\n", ["@@", "-one", "+I", "@@", "-four", "+II"], "hunk 2: landing at line 5, −1 +1"),
    ],
)
def test_a_stage_in_words(upto: str, lines: list[str], words: str) -> None:
    assert words_at(upto, *lines) == words


def test_nothing_is_said_when_it_has_landed() -> None:
    files = disk(a=TEXT)
    files.land(patch("@@", "-one", "+1"))
    assert stage_words(files.workspace, "a.txt") == ""
    assert stage_words(files.workspace, "nowhere.txt") == fate_words(files.workspace, "b") == ""
    assert landing_number(files.workspace, "a.txt") == 0


def test_a_hunk_that_waits_for_its_place_says_so() -> None:
    files = disk(a=TEXT)
    files.workspace.ledger.ask = True
    files.land(patch("@@", "-two", "+2"))
    assert stage_words(files.workspace, "a.txt") == "hunk 1: fits in 2 places, yours to choose"
    files.workspace.place(1, 3)
    assert stage_words(files.workspace, "a.txt") == ""


def test_files_at_work_and_the_rows_in_them() -> None:
    files = Disk({"a.txt": TEXT.encode(), "b.txt": b"x\n"})
    first, second = files.start(1), files.start(2)
    first.feed("*** Begin Patch\n*** Update File: a.txt\n@@\n one\n+new\n")
    second.feed("*** Begin Patch\n*** Update File: b.txt\n@@\n x\n+1\n+2\n")
    assert written_paths(files.workspace) == ["a.txt", "b.txt"]
    assert written_row(files.workspace, "a.txt") == 1
    assert written_row(files.workspace, "b.txt") == 2
    first.finish(cut=True)
    assert written_paths(files.workspace) == ["b.txt"]
    assert written_row(files.workspace, "a.txt") is None


def test_what_becomes_of_a_whole_file() -> None:
    files = Disk({"a.txt": TEXT.encode(), "b.txt": b"x\n"})
    files.land(
        "*** Begin Patch\n*** Delete File: a.txt\n*** Update File: b.txt\n*** Move to: c/d.txt\n"
        "@@\n-x\n+y\n*** End Patch\n"
    )
    assert fate_words(files.workspace, "a.txt") == "to be deleted"
    assert fate_words(files.workspace, "b.txt") == "moves to c/d.txt"
    files.workspace.reject()
    assert fate_words(files.workspace, "a.txt") == fate_words(files.workspace, "b.txt") == ""
