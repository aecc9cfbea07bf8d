"""The line difference of a text that streams in."""

from __future__ import annotations

import pytest

from tests.support.patches import Disk, disk, patch
from tests.support.tables import each
from tui.core.document.hunk import Decision, Stage
from tui.core.patches.checks import is_placeholder
from tui.core.patches.diff_section import LineDiff
from tui.core.patches.landing import Landing
from tui.core.patches.section import MERGED
from tui.errors import EditRefused


def decided(old: list[str], new: list[str]) -> list[tuple[str, str]]:
    diff = LineDiff(old)
    ops = [op for line in new for op in diff.take(line)]
    return ops + list(diff.rest())


def test_one_line_far_below_is_chance_three_in_a_row_are_not():
    old = [f"line number {row}" for row in range(40)]
    assert decided(old, [old[30], "new"])[:2] == [("+", old[30]), ("+", "new")]
    ops = decided(old, old[30:])
    assert [text for op, text in ops if op == "="] == old[32:]


LONG = "".join(f"line {number}\n" for number in range(10))


def begin(place: Disk) -> Landing:
    place.calls += 1
    call = f"call_{place.calls}"
    return Landing(place.workspace, turn=1, call_id=call, channel="text", fmt="whole_file")


def land(place: Disk, body: str, *, path: str = "a.txt", cut: bool = False) -> Landing:
    landing = begin(place)
    landing.feed(f"{path}\n```\n{body}" + ("" if cut else "```\n"))
    landing.finish(cut)
    return landing


def test_e03_the_user_takes_what_was_held_all_the_same():
    place = disk(a=LONG)
    place.workspace.documents.ask = True
    (hunk,) = land(place, "line 0\nx\n").hunks
    assert hunk.stage is Stage.CANDIDATES
    place.workspace.edit("a.txt", (0, 0), (0, 0), "by the user\n")
    place.workspace.place(hunk.id, hunk.candidates[0])
    assert place.text("a.txt") == "by the user\nline 0\nx\n"
    assert {*hunk.flags} == {MERGED, "placed by hand"}
    place.workspace.undo_turn()
    assert place.text("a.txt") == "by the user\n" + LONG


@each(
    "line",
    ["    ...", "  ...rest,", "x = f(...)", "def f() -> int: ...", "# wait...", "print('...more')"],
)
def test_e03_dots_in_code_are_no_placeholder(line):
    assert not is_placeholder(line, shorter=True)


TYPED = LONG.replace("line 8", "line 8, by the user")
"""What the user made of the file after the model was sent it."""
BODY = LONG.replace("line 2\n", "LINE 2\n").replace("line 5\n", "")
"""What the model makes of it, as it was sent it."""


def types(place: Disk, line: int, text: str) -> None:
    at = (line, len(place.workspace.open("a.txt").lines[line]))
    place.workspace.edit("a.txt", at, at, text)


def asked(**files: str) -> Disk:
    """A file with something typed that the model knows of: a request was made just now."""
    place = disk(**files)
    place.workspace.open("a.txt")
    types(place, 0, "!")
    place.workspace.take_user_changes()
    return place


@each("notation", ["whole", "add"])
def test_what_was_typed_where_the_new_text_differs_stays_and_both_are_shown(notation):
    place = asked(a=LONG)
    types(place, 2, ", by the user")
    before = place.text("a.txt")
    if notation == "whole":
        landing = land(place, BODY)
    else:
        lines = "".join(f"+{line}" for line in BODY.splitlines(keepends=True))
        landing = place.land(f"*** Begin Patch\n*** Add File: a.txt\n{lines}*** End Patch\n")
    assert place.text("a.txt") == before
    assert {hunk.stage for hunk in landing.hunks} == {Stage.CONFLICT}
    assert "changed after the model had seen it" in landing.hunks[0].reason
    assert "LINE 2\n" in "".join(hunk.agent for hunk in landing.hunks)
    place.write(place.workspace.accept())
    assert place.text("a.txt") == before
    assert place.workspace.disk_plan("a.txt").data == before.encode()
    assert "NOT applied: the file was changed after" in landing.report()


def test_an_added_file_over_an_existing_one_keeps_what_was_typed_since():
    place = disk(a=LONG)
    place.workspace.open("a.txt")
    types(place, 8, ", by the user")
    lines = "".join(f"+{line}" for line in BODY.splitlines(keepends=True))
    landing = place.land(f"*** Begin Patch\n*** Add File: a.txt\n{lines}*** End Patch\n")
    assert place.text("a.txt") == BODY.replace("line 8", "line 8, by the user")
    assert landing.hunks[0].flags == (
        MERGED,
        "overwrites an existing file",
    )


def test_new_lines_that_are_merged_at_their_end_are_shown_under_the_file_while_they_come():
    place = disk(a=LONG)
    place.workspace.open("a.txt")
    types(place, 8, ", by the user")
    landing = begin(place)
    landing.feed("a.txt\n```\nline 0\nnew\nli")
    landing.tail()
    assert place.workspace.ghost("a.txt") == (10, ["line 0", "new", "li"])
    assert place.text("a.txt") == TYPED
    landing.finish(cut=True)
    assert place.workspace.ghost("a.txt") is None


def test_a_deletion_of_a_file_that_was_changed_since_says_so():
    place = disk(a=LONG)
    place.workspace.open("a.txt")
    types(place, 8, ", by the user")
    landing = place.land("*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n")
    changed = "it was changed after the model had seen it"
    assert landing.hunks[0].flags == (
        "deletes the file",
        changed,
    )


def test_e03_held_text_that_does_not_fit_what_was_typed_since_is_not_placed():
    place = disk(a=LONG)
    place.workspace.documents.ask = True
    (hunk,) = land(place, "line 0\nx\n").hunks
    types(place, 8, ", by the user")
    with pytest.raises(EditRefused, match="changed since"):
        place.workspace.place(hunk.id, hunk.candidates[0])
    assert (place.text("a.txt"), hunk.placeable) == (TYPED, True)
    place.workspace.undo("a.txt")
    place.workspace.place(hunk.id, hunk.candidates[0])
    assert place.text("a.txt") == "line 0\nx\n"


@each(
    "line",
    [
        "# Load more...",
        "// Fetch more results...",
        "# Wait for the other side...",
        "# same as f(...)",
        "* See more...",
        "# retry: skip... then go on",
        "# TODO: handle other codes...",
        "-- previous value...",
        "# Saving code...",
        "# keep going...",
    ],
)
def test_e03_an_ordinary_comment_with_dots_is_no_placeholder(line):
    assert not is_placeholder(line)
    assert not is_placeholder(line, shorter=True)


@each(
    "line",
    [
        "# ... rest of the code ...",
        "// ... existing code ...",
        "// ...other methods...",
        "/* ... the rest stays the same ... */",
        "    # ... (unchanged)",
        "<!-- ... remaining markup ... -->",
        "# rest of the function remains unchanged...",
        "    // previous code here...",
        "# ... same as before",
        "... rest of file ...",
    ],
)
def test_e03_dots_and_what_is_left_out_are_a_placeholder(line):
    assert is_placeholder(line)


DELETE = "*** Begin Patch\n*** Delete File: b.txt\n*** End Patch\n"
ADD = "*** Begin Patch\n*** Add File: b.txt\n+new\n*** End Patch\n"
OVER = patch("*** Move to: b.txt", "@@", "-one", "+ONE")


def moved_over() -> Disk:
    """a.txt went over b.txt, and came back."""
    place = disk(a="one\n", b="two\n")
    place.land(OVER)
    place.write(place.workspace.accept())
    assert place.files == {"b.txt": b"ONE\n"}
    place.write(place.workspace.undo_decision())
    assert place.files == {"a.txt": b"one\n", "b.txt": b"two\n"}
    return place


@pytest.mark.case("B06", "I01")
def test_a_move_is_not_done_again_over_what_the_user_typed_and_saved_since():
    place = moved_over()
    place.workspace.edit("b.txt", (0, 0), (0, 0), "mine ")
    place.write(["b.txt"])
    place.write(place.workspace.redo_decision())
    assert place.files["b.txt"] == b"mine two\n"
    assert place.text("b.txt") == "mine two\n"
    move = next(hunk for hunk in place.workspace.hunks if hunk.target)
    assert move.decision is Decision.PENDING
    assert (move.stage, move.reason) == (Stage.CONFLICT, "'b.txt' was edited since: not moved")


@pytest.mark.case("B07", "I01")
def test_a_decision_on_a_deletion_that_a_new_text_replaced_is_not_done_again():
    """The deletion is no hunk any more: there is nothing to accept, and nothing breaks."""
    place = disk(b="old\n")
    place.land(DELETE)
    place.write(place.workspace.accept())
    place.write(place.workspace.undo_decision())
    place.land(ADD, turn=2)
    with pytest.raises(EditRefused, match="no decision was taken back"):
        place.workspace.redo_decision()
    assert place.text("b.txt") == "new\n"
    assert place.files == {"b.txt": b"old\n"}


HEAD = "a.txt\n<<<<<<< SEARCH\n"


def block(old: list[str], new: list[str], path: str = "a.txt") -> str:
    """A block with its file's name above it; an empty path leaves that out."""
    lines = [*([path] if path else []), "<<<<<<< SEARCH", *old, "=======", *new, ">>>>>>> REPLACE"]
    return "\n".join(lines) + "\n"


def begin_block(place: Disk, *, turn: int = 1) -> Landing:
    place.calls += 1
    call = f"call_{place.calls}"
    return Landing(place.workspace, turn=turn, call_id=call, channel="text", fmt="search_replace")


def land_block(place: Disk, text: str, *, cut: bool = False, turn: int = 1) -> Landing:
    landing = begin_block(place, turn=turn)
    landing.feed(text)
    landing.finish(cut)
    return landing


def words(landing: Landing) -> str:
    return "; ".join(hunk.reason for hunk in landing.hunks)


def test_c09_the_longest_search_that_is_there_once_divides():
    place = disk(a="Intro\n=======\n\ntext\n")
    landing = begin_block(place)
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
    land_block(place, block(["Intro", "======="], ["New", "======="]))
    assert place.text("a.txt") == "New\n=======\n\ntext\n"


def test_f02_the_knob_takes_the_first_but_never_of_loose_hits():
    place = disk(a="k\nv\nk\nv\n  v\n   w\n  v\n   w\n")
    place.workspace.documents.first = True
    landing = land_block(place, block(["v"], ["V"]))
    assert place.text("a.txt").startswith("k\nV\nk\nv\n")
    assert landing.hunks[0].flags == ("several places fit: the first was taken",)
    assert words(land_block(place, block(["v", " w"], ["x"]))).startswith("ambiguous")


def test_a_line_that_the_user_puts_behind_the_painted_ones_stays_beside_them():
    place = disk(a="one\ntwo\nthree\n")
    landing = begin_block(place)
    landing.feed(HEAD + "one\ntwo\nthree\n=======\nONE\n")
    place.workspace.edit("a.txt", (1, 0), (1, 0), "mine\n")
    landing.feed("two\nTHREE\n>>>>>>> REPLACE\n")
    landing.finish(cut=False)
    assert place.text("a.txt") == "ONE\nmine\ntwo\nTHREE\n"
    place.workspace.reject()
    assert place.text("a.txt") == "one\nmine\ntwo\nthree\n"


def test_the_user_deletes_the_region_and_nothing_is_painted():
    place = disk(a="one\ntwo\nthree\n")
    landing = begin_block(place)
    landing.feed(HEAD + "one\ntwo\n=======\nONE\n")
    place.workspace.edit("a.txt", (0, 0), (3, 0), "")
    landing.feed("TWO\n>>>>>>> REPLACE\n")
    landing.finish(cut=False)
    assert place.text("a.txt") == "three\n"
    assert words(landing).startswith("target deleted")


@each("there", [b"a\n\xe9\n", b"a\n\0\n"])
def test_c18_a_file_that_cannot_be_edited_sends_its_block_to_no_other(there):
    place = Disk({"x.py": there, "sub/x.py": b"a\n"})
    place.workspace.documents.names = lambda: sorted(place.files)
    landing = land_block(place, "x.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n")
    assert landing.hunks[0].path == "x.py"
    assert landing.hunks[0].stage is Stage.REFUSED
    assert "sub/x.py" not in place.workspace.buffers


def test_c18_a_deleted_file_sends_its_block_to_no_other():
    place = Disk({"x.py": b"a\n", "sub/x.py": b"a\n"})
    place.workspace.documents.names = lambda: sorted(place.files)
    place.land("*** Begin Patch\n*** Delete File: x.py\n*** End Patch\n")
    place.write(place.workspace.accept())
    landing = land_block(place, "x.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n")
    assert "file not found: 'x.py'" in words(landing)
