"""Files that are added, deleted, moved or refused (EDIT-CASES.md, groups B and H)."""

from __future__ import annotations

from tests.support.patches import Disk, disk
from tests.support.tables import each
from tui.core.document.hunk import Decision, Stage
from tui.core.edit_stream import Channel, Format
from tui.core.patches.landing import Landing

BEGIN, END = "*** Begin Patch\n", "*** End Patch\n"


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
LINES = " a\n-b\n+B\n c\n"
WHOLE = "-a\rb\rcEND\n\\ No newline at end of file\n+a\rB\rcEND\n\\ No newline at end of file\n"


@each("mark", ["", "\ufeff"])
@each("end", ["\r", ""])
@each(
    "fmt, patch",
    [
        ("apply_patch", V4A.format(LINES)),
        ("apply_patch", V4A.format(LINES.replace("\n", "\r\n"))),
        ("unified_diff", DIFF.format("1,3", LINES)),
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
