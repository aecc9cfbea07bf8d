"""Whole files in the buffers: section E of EDIT-CASES.md, painted as a line difference."""

from __future__ import annotations

import pytest

from tests.support.patches import Disk, disk
from tui.core.edits.hunk import Kind, Stage
from tui.core.edits.patches.landing import Landing
from tui.core.edits.sections.placeholder import is_placeholder
from tui.core.edits.sections.section_merge import MERGED
from tui.core.file_read import FileRead
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
    assert [hunk.flags for hunk in landing.hunks] == [[], []]
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


@pytest.mark.case("E03", "I07")
@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("line 0\n# ... rest of the code unchanged ...\n", "placeholder: line 2"),
        ("line 0\n// ...existing code...\n" + LONG, "placeholder: line 2"),
        ("line 0\n<!-- rest of the file stays the same -->\n", "placeholder: line 2"),
        ("line 0\n... rest of file ...\n", "placeholder: line 2"),
        ("line 0\nline 1\nline 2\nline 3\n", "shrink: 4 lines for a file of 10"),
        ("", "shrink: 0 lines for a file of 10"),
    ],
)
def test_e03_what_would_lose_a_part_of_the_file_is_held(body, why):
    place = disk(a=LONG)
    landing = land(place, body)
    (hunk,) = landing.hunks
    assert hunk.stage is Stage.REFUSED
    assert hunk.reason.startswith(why)
    assert hunk.reason.endswith("held, the file is as it was")
    assert (hunk.agent, place.text("a.txt")) == (body, LONG)
    assert place.workspace.disk_plan("a.txt").data == LONG.encode()


@pytest.mark.case("E03")
def test_e03_the_user_takes_what_was_held_all_the_same():
    place = disk(a=LONG)
    place.workspace.ledger.ask = True
    (hunk,) = land(place, "line 0\nx\n").hunks
    assert hunk.stage is Stage.CANDIDATES
    place.workspace.edit("a.txt", (0, 0), (0, 0), "by the user\n")
    place.workspace.place(hunk.id, hunk.candidates[0])
    assert place.text("a.txt") == "by the user\nline 0\nx\n"
    assert {*hunk.flags} == {MERGED, "placed by hand"}
    place.workspace.undo_turn()
    assert place.text("a.txt") == "by the user\n" + LONG


@pytest.mark.case("E03")
@pytest.mark.parametrize(
    "line",
    ["    ...", "  ...rest,", "x = f(...)", "def f() -> int: ...", "# wait...", "print('...more')"],
)
def test_e03_dots_in_code_are_no_placeholder(line):
    assert not is_placeholder(line, shorter=True)


@pytest.mark.case("E04")
def test_e04_cut_an_existing_file_is_as_it_was_and_a_new_one_keeps_whole_lines():
    place = disk(a=LONG)
    landing = begin(place)
    landing.feed("a.txt\n```\nnew 0\nnew 1\nnew")
    landing.tail()
    assert place.text("a.txt") != LONG
    landing.finish(cut=True)
    assert place.text("a.txt") == LONG
    (hunk,) = landing.hunks
    assert (hunk.stage, hunk.agent) == (Stage.DROPPED, "new 0\nnew 1\n")
    assert hunk.reason.startswith("incomplete: the existing file is as it was")
    landing = land(place, "one\ntwo\nthr", path="n.txt", cut=True)
    assert place.text("n.txt") == "one\ntwo\n"
    assert (landing.hunks[0].kind, landing.hunks[0].stage) == (Kind.ADD, Stage.PARTIAL)
    assert place.files == {"a.txt": LONG.encode()}


@pytest.mark.case("E05")
def test_e05_no_old_tail_is_left_behind_a_shorter_text():
    place = disk(a=LONG + "the end")
    body = "".join(f"other {number}\n" for number in range(7))
    landing = land(place, body)
    assert place.text("a.txt") == body
    assert len(landing.hunks) == 1
    place.workspace.reject()
    assert place.text("a.txt") == LONG + "the end"


@pytest.mark.case("H04")
def test_h04_lines_that_come_again_keep_their_bytes():
    place = Disk({"a.txt": b"\xef\xbb\xbfa\r\nb\nc\r\nd"})
    assert land(place, "a\nB\nc\nd\n").placed_all
    assert place.workspace.buffers["a.txt"].encode() == b"\xef\xbb\xbfa\r\nB\r\nc\r\nd"


def test_a_file_that_cannot_be_edited_is_refused_and_the_same_text_is_no_change():
    place = Disk({"a.txt": b"\xff\xfe\x00", "b.txt": b"b\n"})
    landing = land(place, "x\n")
    assert landing.hunks[0].stage is Stage.REFUSED
    landing = land(place, "b\n", path="b.txt")
    assert (landing.placed_all, landing.hunks) == (True, [])


def test_the_user_types_in_the_tail_and_both_are_kept():
    place = disk(a=LONG)
    landing = begin(place)
    landing.feed("a.txt\n```\nLINE 0\nline 1\n")
    row = place.text("a.txt").splitlines().index("line 8")
    place.workspace.edit("a.txt", (row, 0), (row, 6), "by the user")
    landing.feed("".join(LONG.splitlines(keepends=True)[2:]) + "```\n")
    landing.finish(cut=False)
    assert place.text("a.txt") == LONG.replace("line 0", "LINE 0").replace("line 8", "by the user")
    assert landing.hunks[0].flags == ["merged with what was changed meanwhile"]


def test_the_user_types_in_a_painted_line_and_it_stays():
    place = disk(a=LONG)
    landing = begin(place)
    landing.feed("a.txt\n```\nLINE 0\nline 1\n")
    place.workspace.edit("a.txt", (0, 6), (0, 6), "!")
    landing.feed("".join(LONG.splitlines(keepends=True)[2:]) + "```\n")
    landing.finish(cut=False)
    assert place.text("a.txt") == LONG.replace("line 0", "LINE 0!")
    assert landing.placed_all


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
@pytest.mark.parametrize("when", ["before", "while"])
@pytest.mark.parametrize("chars", [1, 7, 1000])
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
        assert [hunk.flags for hunk in landing.hunks] == [[], []]
    else:
        assert [hunk.flags for hunk in landing.hunks] == [[MERGED]] * 2
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
    assert landing.hunks[0].flags == []


@pytest.mark.parametrize("notation", ["whole", "add"])
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
    assert landing.hunks[0].flags == [MERGED, "overwrites an existing file"]


def test_the_disk_the_formatter_and_decisions_count_as_the_user():
    place = disk(a=LONG)
    place.land("*** Begin Patch\n*** Update File: a.txt\n@@\n-line 4\n+FOUR\n*** End Patch\n")
    place.workspace.take_user_changes()
    sent = place.text("a.txt")
    place.workspace.reject()
    place.files["a.txt"] = LONG.replace("line 9", "line nine").encode()
    place.workspace.outside_change("a.txt", FileRead(place.files["a.txt"]))
    landing = land(place, sent.replace("line 0", "LINE 0"))
    want = LONG.replace("line 9", "line nine").replace("line 0", "LINE 0")
    assert place.text("a.txt") == want
    assert [(hunk.base, hunk.agent) for hunk in landing.hunks] == [("line 0\n", "LINE 0\n")]


def test_what_was_typed_while_it_was_held_behind_another_landing_stays():
    place = disk(a=LONG)
    place.workspace.open("a.txt")
    first = place.start()
    first.feed("*** Begin Patch\n*** Update File: a.txt\n@@\n line 0\n-line 1\n+ONE\n line 2\n")
    second = begin(place)
    second.feed(f"a.txt\n```\n{LONG.replace('line 1', 'ONE').replace('line 5', 'FIVE')}```\n")
    row = place.text("a.txt").splitlines().index("line 8")
    types(place, row, ", by the user")
    first.feed("*** End Patch\n")
    first.finish(cut=False)
    second.finish(cut=False)
    assert place.text("a.txt") == TYPED.replace("line 1", "ONE").replace("line 5", "FIVE")
    assert [hunk.flags for hunk in second.hunks] == [[MERGED]]


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
    assert landing.hunks[0].flags == ["deletes the file", changed]


def test_a_cut_leaves_what_was_typed_and_nothing_else():
    place = disk(a=LONG)
    place.workspace.open("a.txt")
    types(place, 8, ", by the user")
    landing = land(place, BODY[:30], cut=True)
    assert place.text("a.txt") == TYPED
    assert landing.hunks[0].stage is Stage.DROPPED


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
    place.workspace.ledger.ask = True
    (hunk,) = land(place, "line 0\nx\n").hunks
    types(place, 8, ", by the user")
    with pytest.raises(EditRefused, match="changed since"):
        place.workspace.place(hunk.id, hunk.candidates[0])
    assert (place.text("a.txt"), hunk.placeable) == (TYPED, True)
    place.workspace.undo("a.txt")
    place.workspace.place(hunk.id, hunk.candidates[0])
    assert place.text("a.txt") == "line 0\nx\n"


@pytest.mark.case("E03")
@pytest.mark.parametrize(
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
@pytest.mark.parametrize(
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


def test_e03_dots_alone_are_one_where_the_text_became_shorter():
    assert is_placeholder("    # ...", shorter=True)
    assert not is_placeholder("    # ...")
    assert not is_placeholder("    ...", shorter=True)
