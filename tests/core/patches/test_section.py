"""A stream that is cut: what stays, what goes (EDITS.md section 6)."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.support.notations import NOTATIONS, told
from tests.support.patches import Disk, Edit, disk, patch
from tests.support.tables import each
from tui.core.document.hunk import PLACED
from tui.core.edit_stream.events import Notation
from tui.core.patches.landing import Landing

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


def test_all_that_came_before_its_place_was_known_is_shown_there_at_once():
    place = disk(a="x\nm\ny\nk\nx\nm\ny\nz\n")
    landing = place.start()
    landing.feed(HEAD + "@@\n-x\n m\n-y\n z\n")
    rows = [(hunk.start.line, hunk.end.line) for hunk in landing.hunks]
    assert rows == [(4, 5), (6, 7)]


LINES = [f"line {number}" for number in range(20)]
SHOWN = "".join(f"{line}\n" for line in LINES)
NEW = tuple(f"new {number}" for number in range(5))
EDIT = Edit(8, 11, NEW)


def streamed(fmt: Notation, upto: str) -> tuple[Disk, Landing, str]:
    """An edit of line 8 to 10, up to and with this text."""
    place = disk(a=SHOWN)
    place.workspace.open("a.txt")
    landing = place.start(fmt=fmt)
    text = told(fmt, LINES, [EDIT], 2, "a.txt")
    at = text.index(upto) + len(upto)
    landing.feed(text[:at])
    landing.tail()
    return place, landing, text[at:]


@pytest.mark.case("G04")
@each("typed", ["", "x", "\n", "two\nlines\n"])
@each("cut", [False, True])
@each("upto", ["new 1\n", "new 3"])
@each("first", [0, 6, 9])
@each("fmt", NOTATIONS)
def test_undo_of_a_deletion_brings_nothing_back_that_was_being_painted(
    fmt: Notation, first: int, upto: str, cut: bool, typed: str
) -> None:
    for last in range(12, 23, 5):
        place, landing, rest = streamed(fmt, upto)
        *gone, behind = place.workspace.open("a.txt").lines[first : last + 1]
        if typed == "x" and behind.startswith("ne"):
            continue  # typed in a painted line, which stays
        assert any(line.startswith("ne") for line in gone)
        if all(line.startswith("ne") for line in gone):
            continue
        place.workspace.edit("a.txt", (first, 0), (last, 0), typed)
        place.workspace.undo("a.txt")
        if not cut:
            landing.feed(rest)
        landing.finish(cut=cut)
        place.workspace.undo("a.txt")
        found = place.text("a.txt").splitlines()
        kept = [line for line in found if not line.startswith("ne")]
        if any(hunk.stage in PLACED for hunk in landing.hunks):
            assert [line for line in kept if line not in LINES] == []
        else:
            assert found == LINES, (first, last)


def test_what_is_deleted_of_painted_lines_alone_comes_back_with_undo() -> None:
    place, landing, rest = streamed("apply_patch", "new 3\n")
    at = place.workspace.open("a.txt").lines.index("new 1")
    place.workspace.edit("a.txt", (at, 0), (at + 2, 0), "")
    landing.feed(rest)
    landing.finish(cut=False)
    assert "new 1" not in place.text("a.txt")
    place.workspace.undo("a.txt")
    assert place.text("a.txt").splitlines() == [*LINES[:8], *NEW, *LINES[11:]]


@pytest.mark.case("G04")
@each("upto", ["new 1\n", "new 3"])
@each("fmt", NOTATIONS)
def test_deleted_painted_lines_do_not_come_back_when_the_stream_is_cut(
    fmt: Notation, upto: str
) -> None:
    for first in range(3):
        place, landing, _ = streamed(fmt, upto)
        buffer = place.workspace.open("a.txt")
        row = buffer.lines.index("new 0") + min(first, 1)
        place.workspace.edit("a.txt", (row, 0), (row + 1, 0), "")
        if first == 2:
            place.workspace.edit("a.txt", (0, 0), (0, 4), "LINE")
        landing.finish(cut=True)
        while place.workspace.undo("a.txt") is not None:
            pass
        assert place.text("a.txt") == SHOWN


@pytest.mark.case("G04", "D08")
@each("cut", [False, True])
@each("upto", ["new 1\n", "new 3"])
@each("fmt", NOTATIONS)
def test_any_deletion_while_it_streams_undone_gives_the_files_own_text(
    fmt: Notation, upto: str, cut: bool
) -> None:
    def ends(row: int, line: str) -> list[tuple[int, int]]:
        return [(row, col) for col in sorted({0, 2, len(line)}) if col <= len(line)]

    _, landing, _ = streamed(fmt, upto)
    lines = landing.workspace.open("a.txt").lines
    places = [at for row in range(6, 15) for at in ends(row, lines[row])]
    for number, start in enumerate(places):
        for end in places[number + 1 :: 11]:
            place, landing, rest = streamed(fmt, upto)
            place.workspace.edit("a.txt", start, end, "")
            if not cut:
                landing.feed(rest)
            landing.finish(cut=cut)
            while place.workspace.undo("a.txt") is not None:
                pass
            place.write(place.workspace.undo_turn())
            while place.workspace.undo("a.txt") is not None:
                pass
            assert place.text("a.txt") == SHOWN, (start, end)


def started(*lines: str, text: str = TEXT):
    place = disk(a=text)
    landing = place.start()
    landing.feed(HEAD + "".join(f"{line}\n" for line in lines))
    return place, landing


def ended(landing, *lines: str):
    landing.feed("".join(f"{line}\n" for line in [*lines, "*** End Patch"]))
    landing.finish(cut=False)
    return landing.hunks[0]


def test_lines_typed_over_painted_ones_stand_where_these_stood():
    place, landing = started("@@", " a", "-b", "+B", "+BB", "+BBB", " c", "-d", "+D", "+DD")
    place.workspace.edit("a.txt", (1, 0), (8, 2), "x\ny\nz")
    assert place.text("a.txt") == "a\nx\ny\nze\n"
    assert [(hunk.start.line, hunk.end.line) for hunk in landing.hunks] == [(1, 4), (1, 4)]


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


HIDDEN = ["blanks at the ends of lines are not quoted as the file has them"]
PUT_ON = ["lines end with blanks that are not in the file"]
SURE: list[str] = []


@each(
    "before, section, after, flags",
    [
        # a blank line of the file has blanks: has the new one none, or were they cut off?
        ("a\n    \nb\n", [" a", " ", "+", "+x", " b"], "a\n    \n\nx\nb\n", HIDDEN),
        ("a\n    \nb\n", [" a", "-", "+", "+x", " b"], "a\n\nx\nb\n", HIDDEN),
        ("a\n\t\nb\n", [" a", "+x", "+", " ", " b"], "a\nx\n\n\t\nb\n", HIDDEN),
        # a line that comes again without its blanks
        ("a  \nb\n", ["-a", "+a", "+x", " b"], "a\nx\nb\n", HIDDEN),
        ("a  \r\nb\r\n", ["-a", "+x", "+a", " b"], "x\r\na\r\nb\r\n", HIDDEN),
        # quoted as the file has them, whatever is new is meant so
        ("a\n    \nb\n", [" a", "     ", "+", "+x", " b"], "a\n    \n\nx\nb\n", SURE),
        ("a  \nb\n", ["-a  ", "+a", " b"], "a\nb\n", SURE),
        ("a\nb\n", [" a", "-b", "+b  "], "a\nb  \n", SURE),
        ("a\n\nb\n", [" a", " ", "+", "+x", " b"], "a\n\n\nx\nb\n", SURE),
        # nothing that is new is a blank line, or one of the file
        ("a\n    \nb\n", [" a", " ", "+x", " b"], "a\n    \nx\nb\n", SURE),
        ("a  \nb\n", ["-a", "+x", " b"], "x\nb\n", SURE),
        ("a  \nb\n", [" a", "+", "+x", " b"], "a  \n\nx\nb\n", SURE),
        # blanks were put on
        ("a\nb\n", [" a  ", "+x  ", " b  "], "a\nx  \nb\n", PUT_ON),
        ("a\n  \nb\n", [" a  ", "   ", "+  ", " b  "], "a\n  \n  \nb\n", PUT_ON),
        ("a\nb  \n", [" a  ", "+x  ", " b  "], "a\nx  \nb  \n", PUT_ON),
    ],
)
def test_what_is_new_needs_a_look_where_its_ends_may_not_be_meant(before, section, after, flags):
    place = disk(a=before)
    landing = place.land(patch("@@", *section))
    assert place.text("a.txt") == after
    assert [[*hunk.flags] for hunk in landing.hunks] == [flags]


MERGING = """@@
 c
-d
+D
 e
-f
+F
 g
 h
*** End Patch
"""
ANEW = "*** Begin Patch\n*** Add File: a.txt\n" + "".join(f"+{c}\n" for c in "abcDefgh")


@each("head, rest", [(HEAD + MERGING[:-20], MERGING[-20:]), (ANEW, "*** End Patch\n")])
@each("typed", [2, 4])
def test_of_lines_that_were_made_anew_the_changed_ones_are_the_hunk(head, rest, typed):
    """What stands around them is saved once, whatever is typed and undone in the hunk."""
    place = disk(a="a\nb\nc\nd\ne\nf\ng\nh\n")
    place.workspace.open("a.txt")
    place.workspace.documents.ask = True
    landing = place.start()
    landing.feed(head)
    landing.tail()
    row = place.workspace.buffers["a.txt"].lines.index("abcdefgh"[typed])
    place.workspace.edit("a.txt", (row, 0), (row, 0), "typed ")
    landing.feed(rest)
    landing.finish(cut=False)
    (hunk,) = landing.hunks
    assert "merged with what was changed meanwhile" in hunk.flags
    users = "".join("typed " * (n == typed) + f"{c}\n" for n, c in enumerate("abcdefgh"))
    assert place.workspace.disk_plan("a.txt").data == users.encode()
    place.workspace.edit("a.txt", (hunk.start.line, 0), (hunk.start.line, 1), "")
    saved = place.workspace.disk_plan("a.txt").data.decode()
    assert Counter(saved.split("\n")) <= Counter(users.split("\n"))
    place.workspace.undo("a.txt")
    assert place.workspace.disk_plan("a.txt").data == users.encode()
    place.workspace.reject()
    assert place.text("a.txt") == users
