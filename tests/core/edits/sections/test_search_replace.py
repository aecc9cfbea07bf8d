"""SEARCH/REPLACE blocks in the buffers: section C of EDIT-CASES.md, and painting at the divider."""

from __future__ import annotations

import pytest

from tests.support.patches import Disk, disk
from tui.core.edits.hunk import Decision, Kind, Stage
from tui.core.edits.patches.landing import Landing

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


@pytest.mark.case("C01")
def test_c01_a_basename_is_the_one_known_path_and_never_one_of_two():
    place = Disk({"pkg/mod/thing.py": b"a\n", "p/two.py": b"a\n", "q/two.py": b"a\n"})
    place.workspace.ledger.names = lambda: sorted(place.files)
    assert land(place, block(["a"], ["A"], "thing.py")).placed_all
    assert place.text("pkg/mod/thing.py") == "A\n"
    refused = land(place, block(["a"], ["A"], "two.py"))
    assert words(refused) == "file not found: 'two.py'"
    assert land(place, block(["a"], ["A"], "q/two.py")).placed_all


@pytest.mark.case("C01", "C04")
def test_c04_an_empty_search_makes_a_file_and_is_no_basename():
    place = Disk({"pkg/__init__.py": b"x = 1\n"})
    place.workspace.ledger.names = lambda: sorted(place.files)
    landing = land(place, block([], ["y = 2"], "__init__.py"))
    assert landing.placed_all
    assert place.text("__init__.py") == "y = 2\n"
    assert "pkg/__init__.py" not in place.workspace.buffers
    assert [hunk.kind for hunk in landing.hunks] == [Kind.ADD]


@pytest.mark.case("C04")
def test_c04_an_empty_search_appends_with_a_flag_and_an_empty_replace_deletes():
    place = disk(a="a\n")
    landing = land(place, block([], ["b"]))
    assert place.text("a.txt") == "a\nb\n"
    assert landing.hunks[0].flags == ["empty SEARCH: put at the end of the file"]
    landing = land(place, block(["a", "b"], []))
    assert (landing.placed_all, place.text("a.txt")) == (True, "")


@pytest.mark.case("C02")
def test_c02_a_block_without_a_name_says_which_file_it_may_be_of():
    place = Disk({"x.txt": b"one\ntwo\n", "y.txt": b"three\n"})
    place.workspace.ledger.names = lambda: sorted(place.files)
    landing = land(place, block(["two"], ["2"], ""))
    assert words(landing).startswith("no file name above this block")
    assert words(landing).endswith("its SEARCH is in 'x.txt' only")
    assert landing.hunks[0].agent == "2\n"
    assert not place.workspace.buffers
    landing = land(place, block(["one"], ["1"], "x.txt") + block(["two"], ["2"], ""))
    assert landing.placed_all
    assert place.text("x.txt") == "1\n2\n"


@pytest.mark.case("C06", "F05")
def test_c06_a_uniform_change_of_indentation_is_made_in_the_new_lines_too():
    place = disk(a="class A:\n        def f(self):\n            pass\n\n        x = 1\n")
    landing = land(place, block(["def f(self):", "    pass"], ["def f(self):", "    return 1"]))
    assert landing.placed_all
    assert "        def f(self):\n            return 1\n\n" in place.text("a.txt")
    assert landing.hunks[0].flags == ["re-indented 0->8"]
    assert (landing.hunks[0].added, landing.hunks[0].removed) == (1, 1)


@pytest.mark.case("C06")
def test_c06_a_blank_first_line_of_search_is_left_out_on_both_sides():
    place = disk(a="  a\n  b\n")
    landing = land(place, block(["", "  a", "", ""], ["", "  A", "  A2", ""]))
    assert place.text("a.txt") == "  A\n  A2\n  b\n"
    assert landing.hunks[0].flags == ["outer blank lines differ"]


@pytest.mark.case("C07", "I06")
def test_c07_mixed_indentation_is_not_found_and_the_first_differing_line_is_told():
    place = disk(a="def f():\n\tif x:\n        return 1\n")
    landing = land(place, block(["def f():", "  if x:", "     return 1"], ["pass"]))
    assert words(landing) == (
        "SEARCH not found: closest is line 1, 3 of 3 lines match; the indentation differs from "
        "line to line: line 3 of the file differs in blanks only: it has '········return·1', "
        "the patch has '·····return·1' (· is a blank, \\t a tab)"
    )
    assert place.text("a.txt") == "def f():\n\tif x:\n        return 1\n"


@pytest.mark.case("C08")
def test_c08_elided_lines_stay_as_they_are_and_dots_must_pair():
    text = "def f():\n    a()\n    b()\n\ndef g():\n    d()\n"
    old = ["def f():", "    a()", "...", "def g():"]
    place = disk(a=text)
    landing = land(place, block(old, ["def f(x):", "    a()", "...", "def g(x):"]))
    assert place.text("a.txt") == text.replace("f()", "f(x)").replace("g()", "g(x)")
    assert [(hunk.base, hunk.agent) for hunk in landing.hunks] == [
        ("def f():\n", "def f(x):\n"),
        ("def g():\n", "def g(x):\n"),
    ]
    place = disk(a=text)
    landing = land(place, block(old, ["def f(x):", "def g(x):"]))
    assert "SEARCH not found: its lines of '...' do not pair" in words(landing)
    assert place.text("a.txt") == text
    place = disk(a=text + text)
    assert words(land(place, block(old, old[:-1]))).startswith("ambiguous: a part of it fits at")


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


@pytest.mark.case("C12", "F02")
def test_c12_two_exact_hits_are_not_applied_but_asked_and_can_be_placed():
    place = disk(a="k\nv\nk\nv\n")
    landing = land(place, block(["k", "v"], ["k", "V"]))
    assert words(landing) == "ambiguous: it fits at lines 1 and 3"
    assert place.text("a.txt") == "k\nv\nk\nv\n"
    place.workspace.ledger.ask = True
    landing = land(place, block(["k", "v"], ["k", "V"]))
    assert [hunk.stage for hunk in landing.hunks] == [Stage.CANDIDATES]
    place.workspace.place(landing.hunks[0].id, 2)
    assert place.text("a.txt") == "k\nv\nk\nV\n"
    assert landing.hunks[0].flags == ["placed by hand"]


@pytest.mark.case("F02")
def test_f02_the_knob_takes_the_first_but_never_of_loose_hits():
    place = disk(a="k\nv\nk\nv\n  v\n   w\n  v\n   w\n")
    place.workspace.ledger.first = True
    landing = land(place, block(["v"], ["V"]))
    assert place.text("a.txt").startswith("k\nV\nk\nv\n")
    assert landing.hunks[0].flags == ["several places fit: the first was taken"]
    assert words(land(place, block(["v", " w"], ["x"]))).startswith("ambiguous")


@pytest.mark.case("C13", "C18")
def test_c13_one_of_three_blocks_fails_and_the_others_stay():
    place = disk(a="a\nb\nc\n", b="only in b\n")
    text = block(["a"], ["A"]) + block(["only in b"], ["x"], "") + block(["c"], ["C"], "")
    landing = land(place, text)
    stages = [hunk.stage for hunk in landing.hunks]
    assert stages == [Stage.LANDED, Stage.REFUSED, Stage.LANDED]
    assert landing.hunks[1].reason.startswith("SEARCH not found")
    assert place.text("a.txt") == "A\nb\nC\n"
    assert "b.txt" not in place.workspace.buffers


@pytest.mark.case("C14")
def test_c14_a_block_finds_what_an_earlier_one_wrote():
    place = disk(a="a\nb\n")
    landing = land(place, block(["a"], ["A", "new"]) + block(["new", "b"], ["new", "B"], ""))
    assert landing.placed_all
    assert place.text("a.txt") == "A\nnew\nB\n"


@pytest.mark.case("C15", "A18")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["x = 1"], ["x = 2"]),
        (["import os"], ["import os", "import sys"]),
        (["end"], ["before the end", "end"]),
    ],
)
def test_c15_what_is_there_already_is_not_put_in_twice(old, new):
    text = "x = 2\nimport os\nimport sys\nbefore the end\nend\n"
    place = disk(a=text)
    landing = land(place, block(old, new))
    assert "already applied, its new text is already in the file at line" in words(landing)
    assert place.text("a.txt") == text


@pytest.mark.case("A18")
def test_a18_a_call_that_is_replayed_after_a_reconnect_is_not_applied_twice():
    place = disk(a="a\nb\n")
    text = block(["b"], ["b", "new one"])
    assert land(place, text).placed_all
    again = land(place, text)
    assert [hunk.stage for hunk in again.hunks] == [Stage.REFUSED]
    assert "already applied" in words(again)
    assert place.text("a.txt") == "a\nb\nnew one\n"


def test_painting_starts_at_the_divider_and_lines_that_come_again_stay():
    place = disk(a="one\ntwo\nthree\nfour\nfive\n")
    landing = begin(place)
    landing.feed(HEAD + "two\nthree\nfour\n")
    assert place.workspace.decorations("a.txt", 0, 9) == {
        1: "candidate", 2: "candidate", 3: "candidate"
    }  # fmt: skip
    landing.feed("=======\ntwo\nTHREE\n")
    assert place.text("a.txt") == "one\ntwo\nTHREE\nthree\nfour\nfive\n"
    assert place.workspace.decorations("a.txt", 0, 9) == {2: "landing"}
    landing.feed("four\n")
    assert place.workspace.decorations("a.txt", 0, 9) == {2: "landing", 3: "struck"}
    landing.feed("and more\n>>>>>>> REPLACE\n")
    landing.finish(cut=False)
    assert place.text("a.txt") == "one\ntwo\nTHREE\nfour\nand more\nfive\n"
    assert [(h.base, h.agent) for h in landing.hunks] == [
        ("three\n", "THREE\n"),
        ("", "and more\n"),
    ]
    place.workspace.reject([landing.hunks[0].id])
    assert place.text("a.txt") == "one\ntwo\nthree\nfour\nand more\nfive\n"
    assert landing.hunks[1].decision is Decision.PENDING


def test_an_unfinished_line_is_not_painted_while_it_may_be_one_that_stays():
    place = disk(a="one\ntwo\n")
    landing = begin(place)
    landing.feed(HEAD + "one\ntwo\n=======\n")
    for begun, shown in (
        ("t", "one\ntwo\n"),
        ("hr", "thr\none\ntwo\n"),
        ("ee", "three\none\ntwo\n"),
    ):
        landing.feed(begun)
        landing.tail()
        assert place.text("a.txt") == shown
    landing.finish(cut=True)
    assert place.text("a.txt") == "one\ntwo\n"
    assert [hunk.stage for hunk in landing.hunks] == [Stage.DROPPED]
    assert landing.hunks[0].base == "one\ntwo\n"


def test_the_user_edits_a_line_of_search_that_is_not_reached_and_both_are_kept():
    place = disk(a="one\ntwo\nthree\nfour\n")
    landing = begin(place)
    landing.feed(HEAD + "one\ntwo\nthree\nfour\n=======\nONE\n")
    place.workspace.edit("a.txt", (4, 0), (4, 4), "FOUR by the user")
    landing.feed("two\nthree\nfour\n>>>>>>> REPLACE\n")
    landing.finish(cut=False)
    assert place.text("a.txt") == "ONE\ntwo\nthree\nFOUR by the user\n"
    assert landing.hunks[0].flags == ["merged with what was changed meanwhile"]


def test_the_user_edits_the_very_line_and_it_is_a_conflict_that_shows_both():
    place = disk(a="one\ntwo\nthree\n")
    landing = begin(place)
    landing.feed(HEAD + "one\ntwo\n=======\n")
    place.workspace.edit("a.txt", (1, 0), (1, 3), "two by the user")
    landing.feed("ONE\nTWO\n>>>>>>> REPLACE\n")
    landing.finish(cut=False)
    assert place.text("a.txt") == "one\ntwo by the user\nthree\n"
    assert {hunk.stage for hunk in landing.hunks} == {Stage.CONFLICT}
    assert landing.hunks[0].agent == "ONE\nTWO\n"


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
@pytest.mark.parametrize("there", [b"a\n\xe9\n", b"a\n\0\n"])
def test_c18_a_file_that_cannot_be_edited_sends_its_block_to_no_other(there):
    place = Disk({"x.py": there, "sub/x.py": b"a\n"})
    place.workspace.ledger.names = lambda: sorted(place.files)
    landing = land(place, "x.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n")
    assert landing.hunks[0].path == "x.py"
    assert landing.hunks[0].stage is Stage.REFUSED
    assert "sub/x.py" not in place.workspace.buffers


@pytest.mark.case("C18")
def test_c18_a_deleted_file_sends_its_block_to_no_other():
    place = Disk({"x.py": b"a\n", "sub/x.py": b"a\n"})
    place.workspace.ledger.names = lambda: sorted(place.files)
    place.land("*** Begin Patch\n*** Delete File: x.py\n*** End Patch\n")
    place.write(place.workspace.accept())
    landing = land(place, "x.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n")
    assert "file not found: 'x.py'" in words(landing)
