"""Whole files in the buffers: section E of EDIT-CASES.md, painted as a line difference."""

from __future__ import annotations

import pytest

from tests.support.patches import Disk, disk
from tests.support.tables import each
from tui.core.document.hunk import Stage
from tui.core.patches.checks import is_placeholder
from tui.core.patches.landing import Landing
from tui.core.patches.section import MERGED
from tui.errors import EditRefused

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


@pytest.mark.case("E01")
def test_e01_each_contiguous_change_is_a_hunk_and_can_be_rejected_alone():
    place = disk(a=LONG)
    body = LONG.replace("line 2\n", "LINE 2\n").replace("line 7\n", "line 7\nmore\n")
    landing = land(place, body)
    assert place.text("a.txt") == body
    changed = [("line 2\n", "LINE 2\n"), ("", "more\n")]
    assert [(hunk.base, hunk.agent) for hunk in landing.hunks] == changed
    assert [[*hunk.flags] for hunk in landing.hunks] == [[], []]
    place.workspace.reject([landing.hunks[0].id])
    assert place.text("a.txt") == LONG.replace("line 7\n", "line 7\nmore\n")


@pytest.mark.case("E01")
def test_e01_the_tail_that_is_not_reached_stays_visible_and_unmodified():
    place = disk(a=LONG)
    landing = begin(place)
    landing.feed("a.txt\n```\nline 0\nnew\nline 3\n")
    assert place.text("a.txt") == LONG.replace("line 1\n", "new\nline 1\n")
    struck = {1: "landing", 2: "struck", 3: "struck"}
    assert place.workspace.decorations("a.txt", 0, 99) == struck
    assert place.workspace.disk_plan("a.txt").data == LONG.encode()
    landing.feed("".join(LONG.splitlines(keepends=True)[4:]) + "```\n")
    landing.finish(cut=False)
    assert place.text("a.txt") == LONG.replace("line 1\nline 2\n", "new\n")
    assert len(landing.hunks) == 1


@pytest.mark.case("E03")
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


@pytest.mark.case("E03")
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


@pytest.mark.case("E01")
@each("when", ["before", "while"])
@each("chars", [1, 7, 1000])
def test_what_was_typed_after_the_request_is_merged_hunk_by_hunk(when, chars):
    place = disk(a=LONG)
    place.workspace.open("a.txt")
    if when == "before":
        types(place, 8, ", by the user")
    landing = begin(place)
    stream = f"a.txt\n```\n{BODY}```\n"
    for at in range(0, len(stream), chars):
        landing.feed(stream[at : at + chars])
        landing.tail()
        if when == "while" and at <= 20 < at + chars:
            row = place.text("a.txt").splitlines().index("line 8")
            types(place, row, ", by the user")
    landing.finish(cut=False)
    want = TYPED.replace("line 2\n", "LINE 2\n").replace("line 5\n", "")
    if when == "while" and chars == 1000:  # it was all there before
        assert [[*hunk.flags] for hunk in landing.hunks] == [[], []]
    else:
        assert [[*hunk.flags] for hunk in landing.hunks] == [[MERGED]] * 2
    assert [(h.base, h.agent) for h in landing.hunks] == [
        ("line 2\n", "LINE 2\n"),
        ("line 5\n", ""),
    ]
    assert place.text("a.txt") == want
    assert place.workspace.disk_plan("a.txt").data == TYPED.encode()
    place.write(place.workspace.accept())
    assert place.files["a.txt"].decode() == want


@pytest.mark.case("E01")
def test_what_the_model_knew_when_it_wrote_is_its_to_change():
    place = asked(a=LONG)
    landing = land(place, BODY)
    assert place.text("a.txt") == BODY
    assert landing.hunks[0].flags == ()


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


@pytest.mark.case("H04")
def test_h04_a_merge_keeps_the_bytes_of_lines_that_stay():
    place = Disk({"a.txt": b"\xef\xbb\xbfa\r\nb\nc\r\nd"})
    place.workspace.open("a.txt")
    types(place, 3, "!")
    assert land(place, "a\nB\nc\nd\n").placed_all
    assert place.workspace.buffers["a.txt"].encode() == b"\xef\xbb\xbfa\r\nB\r\nc\r\nd!"


@pytest.mark.case("E03")
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


@pytest.mark.case("E03")
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


@pytest.mark.case("E03")
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
