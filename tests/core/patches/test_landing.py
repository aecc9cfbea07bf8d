"""Landings of V4A patches, case by case (EDIT-CASES.md, groups A and B)."""

from __future__ import annotations

import pytest

from tests.support.patches import Disk, disk, patch
from tests.support.tables import each
from tui.core.document.hunk import Decision, Hunk, Stage
from tui.core.edit_stream import Channel, Format
from tui.core.patches.landing import Landing

BEGIN, END = "*** Begin Patch\n", "*** End Patch\n"


def stages(landing: Landing) -> list[str]:
    return [hunk.stage.value for hunk in landing.hunks]


def test_b16_context_that_is_not_there_is_told():
    landing = disk(a="a\nb\n").land(patch("@@", " a", " gone"))
    assert stages(landing) == ["refused"]


def test_a12_an_error_leaves_the_open_section_out_and_keeps_closed_ones():
    place = disk(a="a\nb\nc\n")
    landing = place.land(patch("@@", "-a", "+A", "@@", " b", "-c", "*** c"))
    assert stages(landing) == ["landed", "refused"]
    assert "the patch broke off at line 9" in landing.hunks[1].reason
    assert place.text("a.txt") == "A\nb\nc\n"


def test_a17_a_second_call_waits_for_the_first_ones_file():
    place = disk(a="a\nb\n")
    first, second = place.start(), place.start()
    first.feed(BEGIN + "*** Update File: a.txt\n@@\n-a\n")
    second.feed(patch("@@", "-b", "+B"))
    assert second.hunks == []
    assert place.text("a.txt") == "a\nb\n"
    first.feed("+A\n" + END)
    assert place.text("a.txt") == "A\nB\n"
    second.finish(cut=False)
    first.finish(cut=False)
    assert first.placed_all
    assert second.placed_all


def test_a17_the_first_one_is_told_of_what_a_call_writes_that_ends_while_it_waits():
    place = disk(a="a\nb\nc\nd\n")
    first, second = place.start(), place.start()
    first.feed(BEGIN + "*** Update File: a.txt\n@@\n c\n-d\n+D1\n")
    second.feed(patch("@@", "-a", "+A1", "+A2", "+A3", " b"))
    second.finish(cut=False)
    place.workspace.edit("a.txt", (0, 0), (0, 0), "user\n")
    first.feed("+D2\n" + END)
    first.finish(cut=False)
    assert first.placed_all
    assert second.placed_all
    assert place.text("a.txt") == "user\nA1\nA2\nA3\nb\nc\nD1\nD2\n"


def test_a17_lines_that_a_call_that_ends_while_it_waits_takes_from_the_first_are_a_conflict():
    place = disk(a="a\nb\nc\n")
    first, second = place.start(), place.start()
    first.feed(BEGIN + "*** Update File: a.txt\n@@\n a\n-b\n+first\n")
    second.feed(patch("@@", "-b", "+second"))
    second.finish(cut=False)
    first.feed(" c\n" + END)
    first.finish(cut=False)
    assert second.placed_all
    assert stages(first) == ["conflict"]
    assert place.text("a.txt") == "a\nsecond\nc\n"


@pytest.mark.case("I07", "E03")
def test_i07_a_line_that_says_that_text_is_left_out_is_flagged_in_every_notation():
    place = disk(a="a\nb\n")
    flag = "placeholder: a line says that the rest is elsewhere"
    landing = place.land(patch("@@", "-a", "+A", "+# ... existing code ...", " b"))
    assert landing.hunks[0].flags == (flag,)
    add = "*** Begin Patch\n*** Add File: n.txt\n+x\n+// ... rest of the file ...\n*** End Patch\n"
    assert place.land(add).hunks[0].flags == (flag,)


LINES = "".join(f"line {n}\n" for n in range(40))
PATCH = """*** Begin Patch
*** Update File: a.txt
@@
 line 2
-line 3
-line 4
+three
+and more
+four
 line 5
-line 6
@@
 line 20
+behind twenty
 line 21
+behind twenty-one
@@
+before the last
 line 38
-line 39
+the last
*** End Patch
"""


def landed(patch: str, text: str, size: int, typed: str = "") -> Disk:
    """A file after a patch in pieces of so many characters, with a frame after each."""
    place = disk(a=text)
    buffer = place.workspace.open("a.txt")
    if typed:
        place.workspace.edit("a.txt", (12, 0), (12, 0), typed)
    before = buffer.revision
    landing = place.start()
    for at in range(0, len(patch), size):
        landing.feed(patch[at : at + size])
        landing.tail()
    landing.finish(cut=False)
    assert landing.placed_all
    place.calls = buffer.revision - before
    return place


def said(place: Disk) -> list[object]:
    """All that is known of its hunks, and the text."""
    hunks = [
        (hunk.id, rows(hunk), hunk.base, hunk.agent, hunk.added, hunk.removed, hunk.flags)
        for hunk in place.workspace.hunks
    ]
    return [place.text("a.txt"), *hunks]


def rows(hunk: Hunk) -> tuple[int, int]:
    assert hunk.start is not None
    assert hunk.end is not None
    return hunk.start.line, hunk.end.line


def test_with_something_typed_it_comes_to_the_same() -> None:
    whole = landed(PATCH, LINES, len(PATCH), "typed ")
    assert said(whole) == said(landed(PATCH, LINES, 1, "typed "))
    whole.workspace.undo("a.txt")
    assert whole.text("a.txt") == landed(PATCH, LINES, len(PATCH)).text("a.txt")


LONG = [f"line {row}" for row in range(100)]
GONE = "".join(f"-{line}\n" for line in LONG[1:99])
PATCHES = {
    "apply_patch": "*** Begin Patch\n*** Update File: a.txt\n@@\n line 0\n"
    f"{GONE}+pass\n line 99\n*** End Patch\n",
    "search_replace": "a.txt\n<<<<<<< SEARCH\n"
    + "\n".join(LONG[1:99])
    + "\n=======\npass\n>>>>>>> REPLACE\n",
    "unified_diff": "--- a/a.txt\n+++ b/a.txt\n@@ -1,100 +1,3 @@\n line 0\n"
    f"{GONE}+pass\n line 99\n",
}


@pytest.mark.case("I07")
@each("fmt", PATCHES)
def test_a_patch_that_takes_most_lines_away_is_looked_at(fmt):
    place = disk(a="\n".join(LONG) + "\n")
    landing = place.land(PATCHES[fmt], fmt=fmt)
    assert landing.placed_all
    assert [[*hunk.flags] for hunk in landing.hunks] == [["shrink: 97 of 100 lines of the file go"]]
    assert not place.workspace.may_be_taken_as_read(landing.hunks[0])


@pytest.mark.case("I07")
@each(
    "path, target, flag",
    [
        (".env", "notes.txt", "a private file: its name says that it holds environment secrets"),
        ("notes.txt", ".env", "a private file: its name says that it holds environment secrets"),
        (".gitignore", "old.txt", "it says which files are ignored"),
    ],
)
def test_a_move_of_a_secret_or_of_what_is_ignored_is_looked_at(path, target, flag):
    """A model need not have seen a file to give it a public name."""
    place = Disk({path: b"KEY=1\n"})
    landing = place.land(
        f"*** Begin Patch\n*** Update File: {path}\n*** Move to: {target}\n*** End Patch\n"
    )
    assert landing.hunks[0].flags == (flag,)
    assert not place.workspace.may_be_taken_as_read(landing.hunks[0])


def only(landing: Landing):
    assert len(landing.hunks) == 1
    return landing.hunks[0]


def test_b02_add_over_existing_is_flagged_and_recoverable():
    place = disk(d="old\n")
    landing = place.land(BEGIN + "*** Add File: d.txt\n+fresh\n" + END)
    assert only(landing).flags == ("overwrites an existing file",)
    place.write(place.workspace.accept())
    assert place.files == {"d.txt": b"fresh\n"}
    place.write(place.workspace.undo_turn())
    assert place.files == {"d.txt": b"old\n"}


def test_b06_no_move_over_a_file_with_changes_of_its_own():
    """Its hunk, or what the user typed there, would be lost with it."""
    update = "*** Update File: b.txt\n@@\n-other\n+OTHER\n"
    move = "*** Update File: a.txt\n*** Move to: b.txt\n@@\n-one\n+ONE\n"
    place = disk(a="one\n", b="other\n")
    landing = place.land(BEGIN + update + move + END)
    assert landing.hunks[-1].reason == "not moved: 'b.txt' has changes of its own"
    place.write(place.workspace.accept())
    assert place.files == {"a.txt": b"ONE\n", "b.txt": b"OTHER\n"}
    typed = disk(a="one\n", b="other\n")
    typed.workspace.open("b.txt")
    typed.workspace.edit("b.txt", (0, 0), (0, 0), "my ")
    landing = typed.land(BEGIN + move + END)
    assert landing.hunks[-1].stage is Stage.REFUSED
    assert typed.text("b.txt") == "my other\n"


def test_b07_add_then_update():
    place = disk()
    body = "*** Add File: n.txt\n+one\n*** Update File: n.txt\n@@\n-one\n+ONE\n"
    landing = place.land(BEGIN + body + END)
    assert landing.placed_all
    place.write(place.workspace.accept([landing.hunks[1].id]))
    assert place.files == {"n.txt": b"ONE\n"}
    assert landing.hunks[0].decision is Decision.ACCEPTED


def test_paths_are_checked_before_anything_is_read():
    read: list[str] = []
    place = Disk({})
    place.workspace.documents.read = lambda path: read.append(path) or place.read(path)
    for path, words in [
        ("/etc/passwd", "outside the workspace"),
        ("../up.txt", "outside the workspace"),
        ("~/x", "outside the workspace"),
        ("a/../../x", "outside the workspace"),
        (".git/hooks/pre-commit", ".git"),
        ("sub/.GIT/config", ".git"),
        ("a\x07b", "not a usable path"),
    ]:
        landing = place.land(BEGIN + f"*** Add File: {path}\n+x\n" + END)
        assert words in only(landing).reason
    assert read == []


OLD, NEW = "a\rb\rc\r", "a\rB\rc\r"
V4A = "*** Begin Patch\n*** Update File: f\n@@\n{}*** End Patch\n"
DIFF = "--- a/f\n+++ b/f\n@@ -{0} +{0} @@\n{1}"
DIFF_LINES = " a\n-b\n+B\n c\n"
WHOLE = "-a\rb\rcEND\n\\ No newline at end of file\n+a\rB\rcEND\n\\ No newline at end of file\n"


@each("mark", ["", "\ufeff"])
@each("end", ["\r", ""])
@each(
    "fmt, patch",
    [
        ("apply_patch", V4A.format(DIFF_LINES)),
        ("apply_patch", V4A.format(DIFF_LINES.replace("\n", "\r\n"))),
        ("unified_diff", DIFF.format("1,3", DIFF_LINES)),
        ("unified_diff", DIFF.format("1", WHOLE)),
        ("search_replace", "f\n```\n<<<<<<< SEARCH\nb\n=======\nB\n>>>>>>> REPLACE\n```\n"),
    ],
)
def test_a_patch_of_lines_fits_and_the_ends_stay(fmt, patch, end, mark):
    old = f"{mark}{OLD[:-1]}{end}"
    place = Disk({"f": old.encode()})
    landing = place.land(patch.replace("END", end), fmt=fmt)
    assert {hunk.stage for hunk in landing.hunks} == {Stage.LANDED}
    place.write(place.workspace.accept())
    assert place.files["f"].decode() == f"{mark}{NEW[:-1]}{end}"
    place.write(place.workspace.undo_turn())
    assert place.files["f"].decode() == old


FORMS = ["{}", "{}:", "### {}", "**{}**", "`{}`", "`{}`:", "File: {}", "Now `{}`:", "# {}"]
BLOCK = "<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n"
FIRST = "a.md\n```\n" + BLOCK.format("q\n", "Q\n") + "```\n\n"


def land(place: Disk, text: str, fmt: Format, channel: Channel = "custom") -> Landing:
    place.workspace.documents.names = lambda: sorted(place.files)
    landing = Landing(
        place.workspace,
        turn=1,
        call_id="x",
        channel=channel,
        fmt=fmt,
    )
    for char in text:
        landing.feed(char)
        landing.tail()
    landing.finish(cut=False)
    place.write(place.workspace.accept())
    return landing


@each("form", FORMS)
@each("name", ["bin/run", "Makefile", "CHANGES", "sub/Rakefile", "new.py"])
def test_a_new_file_is_made_by_an_empty_search(name, form):
    place = Disk({"a.md": b"q\n"})
    land(place, FIRST + form.format(name) + "\n```\n" + BLOCK.format("", "x\n") + "```\n", "auto")
    assert place.files == {"a.md": b"Q\n", name: b"x\n"}


@each("search", ["", "version 1\n"])
@each("line", ["run", "`run`", "File: run", "src/", "bin/rum"])
def test_a_name_that_is_none_is_refused_and_said(line, search):
    """Nor does its text land in the file of the block before."""
    if not search and line == "bin/rum":
        return
    place = Disk({"a.md": b"q\nversion 1\n", "bin/run": b"version 1\n"})
    if "run" in line:
        del place.files["bin/run"]
    before = dict(place.files)
    text = FIRST + line + "\n```\n" + BLOCK.format(search, "version 2\n") + "```\n"
    landing = land(place, text, "search_replace")
    assert [hunk.stage for hunk in landing.hunks] == [Stage.LANDED, Stage.REFUSED]
    assert landing.hunks[1].reason
    assert place.files == before | {"a.md": b"Q\nversion 1\n"}


@each("line", ["Then:", "And now the version:", "", "**Next**"])
def test_prose_above_a_block_leaves_it_with_the_file_before(line):
    place = Disk({"a.md": b"q\nversion 1\n"})
    block = BLOCK.format("version 1\n", "version 2\n")
    land(place, f"{FIRST}{line}\n```\n{block}```\n", "search_replace")
    assert place.files == {"a.md": b"Q\nversion 2\n"}


@each("above", ["", "a.py\n```\ny\n```\n\n", "run\n"])
def test_a_whole_file_that_is_named_nowhere_is_refused_and_said(above):
    place = Disk({"a.py": b"x\n"})
    landing = land(place, f"{above}```\n2\n```\n", "whole_file")
    assert landing.hunks[-1].stage is Stage.REFUSED
    assert landing.hunks[-1].reason.startswith("no file name above this block")
    assert not landing.placed_all
