"""The user and a landing section in the same lines (EDITS.md section 5, EDIT-CASES.md G)."""

from __future__ import annotations

from tests.support.patches import disk, patch
from tui.core.edits.hunk import Stage
from tui.core.file_read import FileRead

HEAD = "*** Begin Patch\n*** Update File: a.txt\n"
TEXT = "a\nb\nc\nd\ne\n"


def started(*lines: str, text: str = TEXT):
    place = disk(a=text)
    landing = place.start()
    landing.feed(HEAD + "".join(f"{line}\n" for line in lines))
    return place, landing


def ended(landing, *lines: str):
    landing.feed("".join(f"{line}\n" for line in [*lines, "*** End Patch"]))
    landing.finish(cut=False)
    return landing.hunks[0]


def test_g01_lines_put_in_above_shift_the_open_hunk():
    place, landing = started("@@", " b", "-c", "+C")
    cursor = place.workspace.open("a.txt").mark(4, right=True)
    place.workspace.edit("a.txt", (0, 0), (0, 0), "1\n2\n3\n")
    hunk = ended(landing, "+CC", " d")
    assert place.text("a.txt") == "1\n2\n3\na\nb\nC\nCC\nd\ne\n"
    assert (hunk.start.line, hunk.end.line) == (5, 7)
    assert place.workspace.buffers["a.txt"].lines[cursor.line] == "d"


def test_edits_at_the_edges_are_outside_the_hunk():
    place, landing = started("@@", " b", "-c", "+C")
    place.workspace.edit("a.txt", (1, 0), (1, 0), "above\n")
    place.workspace.edit("a.txt", (5, 0), (5, 0), "below\n")
    hunk = ended(landing)
    assert hunk.stage is Stage.LANDED
    assert place.text("a.txt") == "a\nabove\nb\nC\nbelow\nd\ne\n"
    place.workspace.reject()
    assert place.text("a.txt") == "a\nabove\nb\nc\nbelow\nd\ne\n"


def test_g03_typing_in_painted_lines_stays_and_the_stream_goes_on():
    place, landing = started("@@", " b", "-c", "+one", "+two")
    place.workspace.edit("a.txt", (3, 3), (3, 3), " mine")
    hunk = ended(landing, "+three", " d")
    assert place.text("a.txt") == "a\nb\none mine\ntwo\nthree\nd\ne\n"
    assert hunk.agent == "one\ntwo\nthree\n"
    assert hunk.stage is Stage.LANDED


def test_g03_typing_in_the_unfinished_line_stays():
    place, landing = started("@@", " b", "-c")
    landing.feed("+hel")
    landing.tail()
    place.workspace.edit("a.txt", (3, 0), (3, 0), "my ")
    landing.feed("lo")
    landing.tail()
    hunk = ended(landing, "", " d")
    assert place.text("a.txt") == "a\nb\nmy hello\nd\ne\n"
    assert hunk.agent == "hello\n"


def test_g02_a_changed_context_line_is_merged_and_flagged():
    place, landing = started("@@", " a", " b", "-c", "+C")
    place.workspace.edit("a.txt", (0, 1), (0, 1), "!")
    hunk = ended(landing, " d")
    assert place.text("a.txt") == "a!\nb\nC\nd\ne\n"
    assert hunk.flags == ["merged with what was changed meanwhile"]
    place.workspace.reject()
    assert place.text("a.txt") == "a!\nb\nc\nd\ne\n"


def test_g02_a_changed_struck_line_is_in_conflict_and_the_users_text_stays():
    place, landing = started("@@", " b", "-c", "+C")
    place.workspace.edit("a.txt", (2, 1), (2, 1), "mine")
    hunk = ended(landing, " d")
    assert place.text("a.txt") == "a\nb\ncmine\nd\ne\n"
    assert (hunk.stage, hunk.agent) == (Stage.CONFLICT, "C\n")
    assert hunk.reason == "you changed these lines while they were being changed"
    assert "NOT applied" in landing.report()


def test_g04_deleting_the_region_is_a_conflict_and_nothing_more_is_painted():
    place, landing = started("@@", " b", "-c", "+C")
    place.workspace.edit("a.txt", (0, 0), (4, 0), "")
    assert place.text("a.txt") == "d\ne\n"
    hunk = ended(landing, "+more", " d")
    assert place.text("a.txt") == "d\ne\n"
    assert hunk.stage is Stage.CONFLICT
    assert hunk.reason.startswith("target deleted")


def test_a_cut_in_trouble_leaves_the_users_text():
    place, landing = started("@@", " b", "-c", "+C")
    place.workspace.edit("a.txt", (2, 1), (2, 1), "mine")
    landing.finish(cut=True)
    assert place.text("a.txt") == "a\nb\ncmine\nd\ne\n"
    assert landing.hunks[0].stage is Stage.DROPPED


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


def test_g09_a_reload_under_an_open_hunk_is_a_conflict_or_goes_on():
    place, landing = started("@@", " b", "-c", "+C")
    place.workspace.outside_change("a.txt", FileRead(b"0\na\nb\nc\nd\ne\n"))
    hunk = ended(landing, " d")
    assert place.text("a.txt") == "0\na\nb\nC\nd\ne\n"
    assert hunk.stage is Stage.LANDED
    place, landing = started("@@", " b", "-c", "+C")
    place.workspace.outside_change("a.txt", FileRead(b"a\nb\nsee\nd\ne\n"))
    hunk = ended(landing, " d")
    assert b"see" in place.workspace.disk_plan("a.txt").data
    assert "mine" not in place.text("a.txt")


def test_a_last_line_without_newline_is_given_back_when_painting_is_taken_back():
    place, landing = started("@@", " d", "-e", "+E", text="d\ne")
    assert place.text("a.txt") == "d\ne\nE\n"
    assert place.workspace.disk_plan("a.txt").data == b"d\ne"
    landing.finish(cut=True)
    assert place.text("a.txt") == "d\ne"


def test_added_lines_behind_a_last_line_without_newline():
    place, landing = started("@@", " e", "+f", text="d\ne")
    hunk = ended(landing)
    assert place.text("a.txt") == "d\ne\nf\n"
    assert (hunk.added, hunk.removed) == (1, 0)
    place.workspace.reject()
    assert place.text("a.txt") == "d\ne"


def test_only_a_hunk_at_the_end_ends_the_last_line():
    place = disk(a="one\ntwo")
    assert place.land(patch("@@", "-one", "+ONE")).placed_all
    assert place.text("a.txt") == "ONE\ntwo"
    place.land(patch("@@", "-two", "+1", "+2"))
    assert place.text("a.txt") == "ONE\n1\n2\n"
    place.workspace.reject()
    assert place.text("a.txt") == "one\ntwo"


def test_h04_only_the_hunks_lines_change_in_mixed_endings():
    place = disk(a="\ufeffone\r\ntwo\nthree\x0c\x85\u2028\r\nfour")
    landing = place.land(patch("@@", "-two", "+2", "+zwei").replace("\n", "\r\n"))
    assert landing.placed_all
    place.write(place.workspace.accept())
    text = "\ufeffone\r\n2\r\nzwei\r\nthree\x0c\x85\u2028\r\nfour"
    assert place.files["a.txt"] == text.encode()


def test_the_user_deletes_the_unfinished_line():
    place, landing = started("@@", " b", "-c")
    landing.feed("+hel")
    landing.tail()
    place.workspace.edit("a.txt", (3, 0), (4, 0), "")
    ended(landing, "lo", " d")
    assert place.text("a.txt") == "a\nb\nhello\nd\ne\n"


def test_g02_a_merge_leaves_who_is_in_its_lines_where_they_are():
    place, landing = started("@@", " a", " b", "-c", "+one", "+two", "+three")
    buffer = place.workspace.open("a.txt")
    cursor, top = buffer.mark(5, 3, right=True), buffer.mark(3, 0, right=True)
    before = [buffer.lines[mark.line] for mark in (cursor, top)]
    place.workspace.edit("a.txt", (0, 1), (0, 1), "!")
    hunk = ended(landing, " d")
    assert hunk.flags == ["merged with what was changed meanwhile"]
    assert place.text("a.txt") == "a!\nb\none\ntwo\nthree\nd\ne\n"
    assert before == ["three", "one"]
    assert [buffer.lines[mark.line] for mark in (cursor, top)] == before
