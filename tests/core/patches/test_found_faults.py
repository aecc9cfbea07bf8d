"""Kinds of damaged or unusual edits of every format: each is placed right, or refused and said."""

from __future__ import annotations

from tests.support.patches import Disk
from tests.support.tables import each
from tui.core.document.hunk import Stage
from tui.core.edit_stream import Format
from tui.core.patches.landing import Landing


def land(place: Disk, text: str, fmt: Format, *, cut: bool = False) -> Landing:
    """Land it character by character, with frames, and accept what is placed."""
    landing = Landing(place.workspace, turn=1, call_id="x", fmt=fmt)
    for char in text:
        landing.feed(char)
        landing.tail()
    landing.finish(cut)
    place.write(place.workspace.accept())
    return landing


def block(search: str, new: str, path: str = "a.py") -> str:
    return f"{path}\n```\n<<<<<<< SEARCH\n{search}=======\n{new}>>>>>>> REPLACE\n```\n"


CLASS = "class A:\n    def f(self):\n        return 1\n"


@each(
    "search, new, after",
    [
        # right already: left alone
        ("def f(self):\n    return 1\n", "    def f(self):\n        return 2\n", "2"),
        ("return 1\n", "        return 2\n", "2"),
        # it goes with SEARCH: indented as the file is
        ("def f(self):\n    return 1\n", "def f(self):\n    return 2\n", "2"),
        ("return 1\n", "return 2\n", "2"),
    ],
)
@each("fmt", ["search_replace", "apply_patch"])
def test_new_lines_are_indented_once(fmt, search, new, after):
    place = Disk({"a.py": CLASS.encode()})
    text = block(search, new)
    if fmt == "apply_patch":
        old = [f"-{line}\n" for line in search.splitlines()]
        lines = "".join([*old, *(f"+{line}\n" for line in new.splitlines())])
        text = f"*** Begin Patch\n*** Update File: a.py\n@@\n{lines}*** End Patch\n"
    landing = land(place, text, fmt)
    assert place.files["a.py"].decode() == CLASS.replace("1", after)
    assert all(hunk.flags for hunk in landing.hunks)


FILE = "a\nb\n\nd\ne\nf\ng\nh\n"
HUNK = " a\n b\n{}-d\n+D\n e\n"
NEXT = "@@ -6,3 +6,3 @@\n f\n-g\n+G\n h\n"


@each("fence", [False, True])
@each("fmt", ["unified_diff", "auto"])
@each("blank", ["\n", " \n"])
@each("counts", ["-1,2 +1,2", "-1,1 +1,1", "-1,3 +1,3", "-1,9 +1,9", "-1 +1"])
def test_counts_are_a_hint(counts, blank, fmt, fence):
    """The hunk goes on to the next header, and so does the file."""
    place = Disk({"f": FILE.encode(), "g": b"x\n"})
    more = "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+X\n"
    diff = f"--- a/f\n+++ b/f\n@@ {counts} @@\n{HUNK.format(blank)}{NEXT}{more}"
    landing = land(place, f"```diff\n{diff}```\n" if fence else diff, fmt)
    assert place.files == {"f": b"a\nb\n\nD\ne\nf\nG\nh\n", "g": b"X\n"}
    assert landing.hunks[0].flags == ("line counts are wrong",)


def test_a_hunk_that_stands_behind_no_header_is_said():
    place = Disk({"f": FILE.encode()})
    diff = f"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+A\n b\nThe second one:\n{NEXT}"
    landing = land(place, diff, "unified_diff")
    assert landing.failure.endswith("a hunk without a file's header above it")


def test_what_stands_between_two_ends_of_a_patch_is_said():
    """The first end was text of the new file: what follows would be missing without a word."""
    place = Disk({})
    text = "*** Begin Patch\n*** Add File: n.md\n+x\n*** End Patch\n{}*** End Patch\n"
    landing = land(place, text.format("+y\n"), "apply_patch")
    assert place.files == {"n.md": b"x\n"}
    assert landing.failure.endswith("the lines above this End Patch are of no patch")
    assert not land(Disk({}), text.format("\n"), "apply_patch").failure  # said twice


@each("name", ["a\0b.txt", "a\ufffdb.txt"])
def test_no_file_is_made_of_a_name_that_lost_a_character(name):
    place = Disk({"f": FILE.encode(), "\ufffd": b"x\n"})
    add = f"*** Begin Patch\n*** Add File: {name}\n+x\n*** End Patch\n"
    move = f"*** Begin Patch\n*** Update File: f\n*** Move to: {name}\n*** End Patch\n"
    known = "*** Begin Patch\n*** Update File: \ufffd\n@@\n-x\n+y\n*** End Patch\n"
    for patch in (add, move, known):
        land(place, patch, "apply_patch")
    assert place.files == {"f": FILE.encode(), "\ufffd": b"y\n"}


STAMPS = [
    "1970-01-01 00:00:00.000000000 +0000",
    "1970-01-01 09:00:00.000000000 +0900",
    "1969-12-31 16:00:00 -0800",
    "1970-01-01 05:30:00 +05:30",
    "1970-01-01 00:00:00",
    "1970-01-01T00:00:00Z",
    "1970-01-01 01:00:00 CET",
    "1970-01-01",
    "1970-01-01 00:00:01 +0000",
    "1970/01/01 00:00:00",
    "1/1/1970 0:00",
    "Thu Jan  1 00:00:00 1970",
    "Thu Jan 01 09:00:00 1970",
    "Wed Dec 31 16:00:00 1969",
    "Wed Dec 31 19:00:00 EST 1969",
    "Thu Jan  1 05:30:00 1970 +0530",
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "1 Jan 1970 00:00",
    "Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)",
    "1970-01-02 14:30:00 +1300",
    "1969-12-30 23:30:00 -1200",
    "(nonexistent)",
]


@each("stamp", STAMPS)
def test_the_epoch_is_the_date_of_no_file(stamp):
    other = "1982-09-17 00:00:00.000000000 +0900"
    diff = f"--- a/file\t{other}\n+++ b/file\t{stamp}\n@@ -1 +0,0 @@\n-something\n"
    place = Disk({"file": b"something\n"})
    land(place, diff, "unified_diff")
    assert place.files == {}
    place = Disk({"file": b"something\nmore\n"})
    land(place, diff.replace("-1 +0,0", "-1,2 +1") + " more\n", "unified_diff")
    assert place.files == {"file": b"more\n"}
    place = Disk({})
    diff = f"--- a/file\t{stamp}\n+++ b/file\t{other}\n@@ -0,0 +1 @@\n+new\n"
    land(place, diff, "unified_diff")
    assert place.files == {"file": b"new\n"}
    place = Disk({"file": b"something\n"})
    assert land(place, diff, "unified_diff").hunks[0].stage is Stage.REFUSED


OTHER_DATES = ["1970-01-02 09:00:00 +0000", "1969-12-30 12:00:00", "Fri Jan 23 00:00:00 1970"]
OTHER_DATES += ["Thu Jan  1 00:00:00 1981", "1970-01-31 00:00:00", "Thu Dec 31 1970", "1970", ""]
OTHER_DATES += ["1970-01-02 02:30:00 +0000"]


@each("stamp", OTHER_DATES)
def test_another_date_leaves_an_empty_file(stamp):
    place = Disk({"file": b"something\n"})
    diff = f"--- a/file\n+++ b/file\t{stamp}\n@@ -1 +0,0 @@\n-something\n"
    land(place, diff, "unified_diff")
    assert place.files == {"file": b""}


@each("stamp", STAMPS)
def test_a_file_that_has_lines_is_there_whatever_its_date(stamp):
    """Stores of built packages date all of their files so."""
    place = Disk({"file": b"a\nb\n"})
    diff = f"--- a/file\t{stamp}\n+++ b/file\t{stamp}\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n"
    land(place, diff, "unified_diff")
    assert place.files == {"file": b"A\nb\n"}


def test_no_old_lines_make_a_new_file_only_where_none_is():
    diff = "--- a/file\n+++ b/file\n@@ -0,0 +1 @@\n+new\n"
    place = Disk({})
    land(place, diff, "unified_diff")
    assert place.files == {"file": b"new\n"}
    place = Disk({"file": b"old\n"})
    assert land(place, diff, "unified_diff").hunks[0].stage is Stage.REFUSED
    assert place.files == {"file": b"old\n"}


@each("new", ["License\n=======\n\ntext\n", "=====\nA\n=====\n=======\nB\n"])
def test_behind_an_empty_search_other_dividers_are_text(new):
    place = Disk({})
    land(place, block("", new, "docs/new.rst"), "search_replace")
    assert place.files == {"docs/new.rst": new.encode()}


FIRST = block("x\n", "X\n")
CUT_HEADERS = ["\nb.py\n```\n<<<<<<< SEA", "\nb.py\n```\n", "\nb.py", "\n```python\nb.py\n<<<"]


@each(
    "text, fmt",
    [
        *((FIRST + head, "search_replace") for head in CUT_HEADERS),
        *((FIRST + head, "auto") for head in CUT_HEADERS),
        ("a.py\n```\nX\n```\n\nb.py\n``", "whole_file"),
        ("a.py\n```\nX\n```\n\nb.p", "whole_file"),
        ("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+X\n--- a/b", "unified_diff"),
        ("*** Begin Patch\n*** Update File: a.py\n-x\n+X\n*** End Patch\n*** Begin", "auto"),
    ],
)
def test_a_cut_in_the_next_edits_header_is_said(text, fmt):
    place = Disk({"a.py": b"x\n", "b.py": b"y\n"})
    landing = land(place, text, fmt, cut=True)
    assert landing.was_cut
    assert not landing.placed_all
    assert place.files == {"a.py": b"X\n", "b.py": b"y\n"}


def update(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", "*** Update File: f", *lines, "*** End Patch", ""])


@each(
    "text, patch",
    [
        ("a\nb\nc\n", update("@@", " a", " b", "+c")),
        ("a\nb\nc\nd\nz\n", update("@@", " a", " b", "+c", "+d")),
        ("def f():\n    x\n", update("@@ def f():", "+    x")),
        ("a\nb\nc\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\n b\n+c\n"),
    ],
)
def test_what_stands_there_already_is_not_put_in_again(text, patch):
    place = Disk({"f": text.encode()})
    fmt: Format = "apply_patch" if patch.startswith("***") else "unified_diff"
    landing = land(place, patch, fmt)
    assert [hunk.stage for hunk in landing.hunks] == [Stage.REFUSED]
    assert landing.hunks[0].reason.startswith("already applied")
    assert place.files == {"f": text.encode()}


@each(
    "text, patch, after",
    [
        ("b\nc\nd\n", update("@@", " b", "+c", " c", " d"), "b\nc\nc\nd\n"),
        ("x\na\n", update("@@", "+x", " a"), "x\nx\na\n"),
        ("c\nd\n", update("@@ c", "+c", " d"), "c\nc\nd\n"),
        ("b\nc\nb\n", update("@@", " b", "+c", "*** End of File"), "b\nc\nb\nc\n"),
        ("b\n\nc\n", update("@@", " b", "+"), "b\n\n\nc\n"),
    ],
)
def test_lines_that_belong_behind_equal_ones_are_put_in(text, patch, after):
    """A later context line or an anchor says where they belong; a blank line says nothing."""
    place = Disk({"f": text.encode()})
    land(place, patch, "apply_patch")
    assert place.files == {"f": after.encode()}


@each("end", ["*** End Patch\n", ""])
def test_a_patch_without_its_first_line(end):
    place = Disk({"f": b"a\nb\n"})
    text = f"*** Update File: f\n@@\n a\n-b\n+B\n*** Add File: g\n+x\n{end}"
    land(place, text, "apply_patch")
    assert place.files == {"f": b"a\nB\n", "g": b"x\n"}


@each(
    "lines",
    [
        ["@@", " foo(", "   x", " ", "+else:"],  # `  )` is missing before the blank line
        ["@@", "+else:", " ", " z"],
        ["@@", " foo(", "+else:", " "],
    ],
)
def test_a_blank_line_that_is_not_there_moves_no_insertion(lines):
    text = "foo(\n  x\n  )\nz\n"
    place = Disk({"f": text.encode()})
    assert land(place, update(*lines), "apply_patch").hunks[0].stage is Stage.REFUSED
    old = "".join(line[1:] + "\n" for line in lines[1:] if line[0] != "+")
    new = "".join(line[1:] + "\n" for line in lines[1:])
    landing = land(place, block(old, new, "f"), "search_replace")
    assert landing.hunks[0].stage is Stage.REFUSED
    assert place.files == {"f": text.encode()}


@each("fmt", ["apply_patch", "search_replace"])
@each(
    "text, new, said",
    [
        ("def f():\n    x\n\na\nb\n", "\ty", "with tabs, the file with blanks"),
        ("func f() {\n\tx\n}\na\nb\n", "    y", "with blanks, the file with tabs"),
        ("def f():\n    x\n\na\nb\n", "    y", ""),
        ("func f() {\n\tx\n  y\n}\na\nb\n", "\ty", ""),
    ],
)
def test_other_indentation_than_the_files_is_flagged(text, new, said, fmt):
    """The context that is quoted has none, so nothing says how it would be mapped."""
    place = Disk({"f": text.encode()})
    patch = update("@@", " a", f"+{new}", " b")
    if fmt == "search_replace":
        patch = block("a\nb\n", f"a\n{new}\nb\n", "f")
    flags = land(place, patch, fmt).hunks[0].flags
    assert flags == ((f"its new lines are indented {said}",) if said else ())


@each(
    "line, there, said",
    [
        ("a b", "a  b", "it has 'a··b', the patch has 'a·b' (· is a blank, \\t a tab)"),
        ("a b", "a\tb", "it has 'a\\tb', the patch has 'a·b' (· is a blank, \\t a tab)"),
        ("x" * 90 + "1", "x" * 90 + "2", "xxx2', the patch has '…xxx"),
        ("cafe\u0301", "caf\u00e9", "has 'caf\\xe9', the patch has 'cafe\\u0301'"),
        ("\ufb01x", "fix", "has 'fix', the patch has '\\ufb01x'"),
    ],
)
def test_a_missed_line_shows_what_differs(line, there, said):
    place = Disk({"f": f"first\n{there}\nlast\n".encode()})
    landing = land(place, update("@@", " first", f"-{line}", " last"), "apply_patch")
    assert said in landing.hunks[0].reason


def test_where_the_indentation_is_not_one_change_a_line_that_differs_is_shown():
    place = Disk({"f": b"  def b\n    2\n  end\n"})
    landing = land(place, update("@@", "  def b", "-    2", "+    3", "   end"), "apply_patch")
    said = "line 1 of the file differs in blanks only: it has '··def·b', the patch has '·def·b'"
    assert said in landing.hunks[0].reason


def test_a_diff_without_a_git_line_goes_on_behind_swapped_renames():
    place = Disk({"a": b"1\n", "b": b"2\n", "c": b"3\n"})
    swap = "".join(
        f"diff --git a/{one} b/{other}\nrename from {one}\nrename to {other}\n"
        for one, other in ("ab", "ba")
    )
    land(place, f"{swap}--- a/c\n+++ b/c\n@@ -1 +1 @@\n-3\n+4\n", "unified_diff")
    place.write(place.workspace.accept())
    assert place.files == {"a": b"2\n", "b": b"1\n", "c": b"4\n"}


LOST = "a character that no text can hold was replaced by U+FFFD"


@each("said, flagged", [("NEW\0", True), ("N\ufffdEW", True), ("NEW", False)])
def test_what_no_text_can_hold_is_replaced_and_flagged(said: str, flagged: bool) -> None:
    place = Disk({"a.py": b"one\ntwo\n"})
    text = f"*** Begin Patch\n*** Update File: a.py\n@@\n-one\n+{said}\n*** End Patch\n"
    landing = land(place, text, "apply_patch")
    assert [LOST in hunk.flags for hunk in landing.hunks] == [flagged]
    assert "\0" not in place.workspace.buffers["a.py"].text()


def test_what_stood_there_before_is_no_loss() -> None:
    place = Disk({"a.py": "x\ufffd one\n".encode()})
    text = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\ufffd one\n+x\ufffd two\n*** End Patch\n"
    landing = land(place, text, "apply_patch")
    assert [hunk.flags for hunk in landing.hunks] == [()]
