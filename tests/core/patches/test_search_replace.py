"""SEARCH/REPLACE blocks in the buffers: section C of EDIT-CASES.md, and painting at the divider."""

from __future__ import annotations

import pytest

from tests.support.patches import Disk, disk
from tests.support.tables import each
from tui.core.document.hunk import Stage
from tui.core.patches.landing import Landing

HEAD = "a.txt\n<<<<<<< SEARCH\n"


def block(old: list[str], new: list[str], path: str = "a.txt") -> str:
    """A block with its file's name above it; an empty path leaves that out."""
    lines = [*([path] if path else []), "<<<<<<< SEARCH", *old, "=======", *new, ">>>>>>> REPLACE"]
    return "\n".join(lines) + "\n"


def begin(place: Disk, *, turn: int = 1) -> Landing:
    place.calls += 1
    call = f"call_{place.calls}"
    return Landing(place.workspace, turn=turn, call_id=call, channel="text", fmt="search_replace")


def land(place: Disk, text: str, *, cut: bool = False, turn: int = 1) -> Landing:
    landing = begin(place, turn=turn)
    landing.feed(text)
    landing.finish(cut)
    return landing


def words(landing: Landing) -> str:
    return "; ".join(hunk.reason for hunk in landing.hunks)


@pytest.mark.case("C09")
def test_c09_the_longest_search_that_is_there_once_divides():
    place = disk(a="Intro\n=======\n\ntext\n")
    landing = begin(place)
    for char in "a.txt\n<<<<<<< SEARCH\nIntro\n=======\n":
        landing.feed(char)
    landing.feed("Intro")
    landing.feed("duction\n")
    assert place.text("a.txt").startswith("Introduction\nIntro\n=======\n"), "painted already"
    landing.feed("=======\n")
    assert place.text("a.txt") == "Intro\n=======\n\ntext\n", "another divider: taken back"
    landing.feed("New\n=======\n>>>>>>> REPLACE\n")
    landing.finish(cut=False)
    # of SEARCH "Intro" and "Intro/=======/Introduction" only the first is in the file
    assert place.text("a.txt") == "Introduction\n=======\nNew\n=======\n=======\n\ntext\n"
    place = disk(a="Intro\n=======\n\ntext\n")
    land(place, block(["Intro", "======="], ["New", "======="]))
    assert place.text("a.txt") == "New\n=======\n\ntext\n"


@pytest.mark.case("F02")
def test_f02_the_knob_takes_the_first_but_never_of_loose_hits():
    place = disk(a="k\nv\nk\nv\n  v\n   w\n  v\n   w\n")
    place.workspace.documents.first = True
    landing = land(place, block(["v"], ["V"]))
    assert place.text("a.txt").startswith("k\nV\nk\nv\n")
    assert landing.hunks[0].flags == ("several places fit: the first was taken",)
    assert words(land(place, block(["v", " w"], ["x"]))).startswith("ambiguous")


def test_a_line_that_the_user_puts_behind_the_painted_ones_stays_beside_them():
    place = disk(a="one\ntwo\nthree\n")
    landing = begin(place)
    landing.feed(HEAD + "one\ntwo\nthree\n=======\nONE\n")
    place.workspace.edit("a.txt", (1, 0), (1, 0), "mine\n")
    landing.feed("two\nTHREE\n>>>>>>> REPLACE\n")
    landing.finish(cut=False)
    assert place.text("a.txt") == "ONE\nmine\ntwo\nTHREE\n"
    place.workspace.reject()
    assert place.text("a.txt") == "one\nmine\ntwo\nthree\n"


def test_the_user_deletes_the_region_and_nothing_is_painted():
    place = disk(a="one\ntwo\nthree\n")
    landing = begin(place)
    landing.feed(HEAD + "one\ntwo\n=======\nONE\n")
    place.workspace.edit("a.txt", (0, 0), (3, 0), "")
    landing.feed("TWO\n>>>>>>> REPLACE\n")
    landing.finish(cut=False)
    assert place.text("a.txt") == "three\n"
    assert words(landing).startswith("target deleted")


@pytest.mark.case("C18")
@each("there", [b"a\n\xe9\n", b"a\n\0\n"])
def test_c18_a_file_that_cannot_be_edited_sends_its_block_to_no_other(there):
    place = Disk({"x.py": there, "sub/x.py": b"a\n"})
    place.workspace.documents.names = lambda: sorted(place.files)
    landing = land(place, "x.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n")
    assert landing.hunks[0].path == "x.py"
    assert landing.hunks[0].stage is Stage.REFUSED
    assert "sub/x.py" not in place.workspace.buffers


@pytest.mark.case("C18")
def test_c18_a_deleted_file_sends_its_block_to_no_other():
    place = Disk({"x.py": b"a\n", "sub/x.py": b"a\n"})
    place.workspace.documents.names = lambda: sorted(place.files)
    place.land("*** Begin Patch\n*** Delete File: x.py\n*** End Patch\n")
    place.write(place.workspace.accept())
    landing = land(place, "x.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n")
    assert "file not found: 'x.py'" in words(landing)
