"""EDITS.md section 10: what is told of a hunk is what is in the file now, whoever changed it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.patches import Disk, disk, patch
from tests.support.tables import each
from tui.core.edits.telling.presence import Presence, presence
from tui.core.edits.workspace import FileRead
from tui.core.patches.landing import Landing

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\n"
CHANGE = patch("@@", " one", "-two", "+TWO", "+AND A HALF", " three")
REMOVAL = patch("@@", " one", "-two", " three")
GONE = "not in the file any more"


def landed(text: str = CHANGE) -> tuple[Disk, Landing]:
    place = disk(a=TEXT)
    return place, place.land(text)


def of_hunk(landing: Landing, number: int = 1) -> str:
    """The line of a hunk in a report."""
    start = f"  hunk {number} "
    (line,) = [one for one in landing.report().splitlines() if one.startswith(start)]
    return line.removeprefix(start)


def outside(place: Disk, text: str) -> None:
    """Somebody else writes the file."""
    place.files["a.txt"] = text.encode()
    place.workspace.outside_change("a.txt", FileRead(text.encode()))


TAKEN = {
    "its lines are removed": lambda w: w.edit("a.txt", (1, 0), (3, 0), ""),
    "the old line is typed again": lambda w: w.edit("a.txt", (1, 0), (2, 10), "two"),
    "the file is emptied": lambda w: w.edit("a.txt", (0, 0), (7, 0), ""),
}


@pytest.mark.case("I04")
@each("how", TAKEN)
def test_what_the_user_removed_is_not_kept_and_is_again_after_an_undo(how: str):
    place, landing = landed()
    change: Callable[[object], object] = TAKEN[how]
    change(place.workspace)
    assert of_hunk(landing) == f"{GONE}: the user changed it, pending review"
    assert "0 of 1 hunk placed" in landing.report()
    assert "Do not resend" not in landing.report()
    place.workspace.undo("a.txt")
    assert of_hunk(landing) == "kept, pending review, now lines 2-3"


@pytest.mark.case("I04")
@each("text", [CHANGE, REMOVAL])
@each("around", [TEXT, TEXT.replace("one", "1").replace("three", "3")])
def test_what_a_checkout_took_away_is_not_kept(text: str, around: str):
    place, landing = landed(text)
    place.write(place.workspace.accept())
    outside(place, around)
    assert of_hunk(landing) == f"{GONE}: the disk changed it, accepted"


@pytest.mark.case("I04")
def test_edited_lines_are_kept_and_whose_edit_it_is_is_said():
    place, landing = landed()
    place.workspace.edit("a.txt", (1, 3), (1, 3), "!")
    assert of_hunk(landing) == "kept, edited since by the user, pending review, now lines 2-3"
    assert "1 hunk)" in landing.report()
    place, landing = landed()
    place.write(place.workspace.accept())
    outside(place, TEXT.replace("two", "TWO\nand a half"))
    assert of_hunk(landing) == "kept, edited since by the disk, accepted, now lines 2-3"


def test_what_a_later_hunk_wrote_over_is_the_models_own():
    place, first = landed()
    second = place.land(patch("@@", " TWO", "-AND A HALF", "+AND MORE", " three"))
    place.workspace.edit("a.txt", (0, 0), (0, 3), "1")
    assert [of_hunk(first), of_hunk(second, 2)] == [
        "kept, pending review, now line 2",
        "kept, pending review, now line 3",
    ]
    place.workspace.edit("a.txt", (1, 0), (3, 0), "")
    assert GONE in of_hunk(first)
    assert GONE in of_hunk(second, 2)


def test_of_very_many_hunks_the_one_that_is_gone_is_named():
    lines = [f"line {n}" for n in range(200)]
    place = disk(a="".join(f"{line}\n" for line in lines))
    ops = [op for n in range(0, 200, 4) for op in ("@@", f"-line {n}", f"+LINE {n}")]
    landing = place.land(patch(*ops))
    place.workspace.edit("a.txt", (80, 0), (81, 0), "")
    assert GONE in of_hunk(landing, 21)
    assert "hunks 1-20 (20 of them) kept" in landing.report()
    states = [presence(place.workspace.ledger, hunk) for hunk in landing.hunks]
    assert states.count(Presence.WHOLE) == 49
