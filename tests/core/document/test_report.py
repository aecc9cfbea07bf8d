"""EDITS.md section 10: what is told of a hunk is what is in the file now, whoever changed it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

from tests.support.patches import Disk, disk, patch
from tests.support.tables import each
from tui.core.document.report import LINES_CHARS, QUOTE_CHARS, HunkAccount
from tui.core.files import FileRead
from tui.core.patches.landing import Landing
from tui.core.steps import finished

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
    assert of_hunk(landing) == f"{GONE}: another program changed it, accepted"


@pytest.mark.case("I04")
def test_edited_lines_are_kept_and_whose_edit_it_is_is_said():
    place, landing = landed()
    place.workspace.edit("a.txt", (1, 3), (1, 3), "!")
    assert of_hunk(landing) == "kept, edited since by the user, pending review, now lines 2-3"
    assert "1 hunk)" in landing.report()
    place, landing = landed()
    place.write(place.workspace.accept())
    outside(place, TEXT.replace("two", "TWO\nand a half"))
    assert of_hunk(landing) == "kept, edited since by another program, accepted, now lines 2-3"


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


CUT = """*** Begin Patch
*** Update File: a.txt
@@
 a
-b
+B
 c
@@
-d
+D
"""


def sha(*lines: str) -> str:
    """The hash of a file of these lines, as a report gives it."""
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()[:8]


@pytest.mark.case("I04")
def test_after_a_cut_it_says_what_is_in_and_what_not_with_lines_and_hash():
    place = disk(a="a\nb\nc\nd\ne\n")
    landing = place.land(CUT, cut=True)
    assert landing.report() == (
        "the patch was interrupted: 1 of 2 hunks placed\n"
        f"a.txt (unsaved, sha {sha('a', 'B', 'c', 'd', 'e')}):\n"
        "  hunk 1 kept, pending review, now line 2\n"
        "  hunk 2 NOT applied: incomplete: the stream was cut before it was whole, "
        "cut after -1/+1 lines\n"
        "Do not resend the hunks that are kept."
    )


@pytest.mark.case("I04")
def test_where_hunks_are_now_is_said_and_whether_the_disk_has_them():
    place = disk(a="a\nb\nc\n")
    landing = place.land(patch("@@", "-a", "+A", "+AA", " b", "-c", "+C"))
    place.workspace.edit("a.txt", (0, 0), (0, 0), "one\ntwo\n")
    place.write(place.workspace.accept())
    assert landing.report().splitlines() == [
        "the patch was read: placed, accepted (2 hunks)",
        f"a.txt (saved, sha {sha('one', 'two', 'A', 'AA', 'b', 'C')}):",
        "  hunk 1 kept, accepted, now lines 3-4",
        "  hunk 2 kept, accepted, now line 6",
    ]


def test_of_a_private_file_neither_text_nor_hash_nor_reasons_are_told():
    place = disk(a="KEY=1\nb\n")
    landing = place.land(patch("@@", "-KEY=2", "+KEY=", "@@", "-b", "+B"))
    place.workspace.edit("a.txt", (1, 0), (1, 1), "secret")
    said = landing.report(lambda path: "it holds secrets")
    assert "hunk 1 NOT applied: refused" in said
    assert "hunk 2 kept, edited since by the user, pending review, now line 2" in said
    assert "KEY=1" not in said
    assert "secret" not in said
    assert "sha" not in said


@pytest.mark.case("I05")
def test_reverted_is_said_only_when_the_hash_is_the_old_one():
    place = disk(a="a\nb\n")
    landing = place.land(patch("@@", "-a", "+A"))
    place.workspace.reject()
    account = HunkAccount(place.workspace.documents)
    assert "revert" not in "\n".join(finished(account.of(landing.hunks)))
    account.before = lambda path: sha("a", "b")
    assert "reverted: byte for byte as before your edits" in finished(account.of(landing.hunks))[0]
    place.workspace.edit("a.txt", (1, 0), (1, 0), "the user was here ")
    assert "revert" not in "\n".join(finished(account.of(landing.hunks)))


def test_very_many_hunks_that_the_user_decided_on_alike_share_a_line():
    place = disk(a="".join(f"line {n}\n" for n in range(200)))
    ops = [op for n in range(0, 200, 2) for op in ("@@", f"-line {n}", f"+line {n}!")]
    landing = place.land(patch(*ops))
    place.workspace.reject(range(1, 41), "not so")
    place.workspace.reject(range(41, 61))
    place.workspace.accept(range(61, 81))
    account = HunkAccount(place.workspace.documents)
    account.again = frozenset(range(81, 101))
    assert finished(account.of(landing.hunks))[1:] == [
        '  hunks 1-40 (40 of them) rejected by the user: "not so"; they are not in the file',
        "  hunks 41-60 (20 of them) rejected by the user; they are not in the file",
        "  hunks 61-80 (20 of them) kept, accepted",
        "  hunks 81-100 (20 of them) kept, pending review, the user took the decision back",
    ]
    place.workspace.undo_turn()
    account = HunkAccount(place.workspace.documents)
    assert finished(account.of(landing.hunks))[-1] == (
        "  hunks 61-100 (40 of them) taken back by the user; they are not in the file"
    )


@each("old", ["line {} ends otherwise", "same", "no such {}"])
def test_however_many_hunks_fail_the_report_is_short(old: str):
    size = 90
    place = disk(a="".join(f"line {n} {'x' * size}\nsame\n" for n in range(1000)))
    ops = [
        op
        for n in range(500)
        for op in ("@@", f" line {n} {'x' * size}" * (old != "same"), f"-{old.format(n)}", "+new")
        if op
    ]
    landing = place.land(patch(*ops))
    assert len(landing.hunks) == 500
    account = HunkAccount(place.workspace.documents)
    assert not finished(account.keeps_any(landing.hunks))
    said = landing.report()
    assert len(said) < LINES_CHARS + QUOTE_CHARS + 1_000
    quoted = [line.partition("; line ")[2] for line in said.splitlines()]
    text = said.partition("Current text")[2]
    assert len("".join([*quoted, text])) < QUOTE_CHARS + 500
    assert f"-500 ({500 - said.count('  hunk ')} of them) NOT applied" in said


def test_a_hunk_of_which_the_user_is_asked_is_not_to_be_sent_again():
    place = disk(a="x\ny\nx\n")
    place.workspace.documents.ask = True
    report = place.land(patch("@@", "-x", "+X")).report()
    assert "not applied yet, the user is asked where: ambiguous: it fits at lines 1 and 3" in report
    assert report.endswith("Do not resend the hunks that the user is asked about.")
    assert "NOT" not in report


def test_what_the_user_edited_and_then_rejected_is_told_as_it_stands():
    place = disk(a="a\nb\n")
    landing = place.land(patch("@@", "-a", "+A"))
    place.workspace.edit("a.txt", (0, 1), (0, 1), " mine")
    place.workspace.reject([1], "not so")
    said = landing.report()
    assert "hunk 1 in the file as the user edited it, pending review, now line 1" in said
    assert "A mine" in said
    place.workspace.reject([1], "not so")
    said = landing.report()
    assert 'hunk 1 rejected by the user: "not so"; it is in the file as the user edited it' in said
