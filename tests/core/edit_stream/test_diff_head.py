"""The header lines of unified diffs: git's, svn's, GNU diff's."""

from __future__ import annotations

import pytest

from tests.support.edit_streams import run
from tests.support.tables import each
from tui.core.document.hunk import Kind
from tui.core.edit_stream import parser_for
from tui.core.edit_stream.events import (
    End,
    Ev,
    FileEnd,
    FileOp,
    Line,
    MoveTo,
    Prose,
    Refusal,
    SectionEnd,
)
from tui.core.edit_stream.unified_diff import git_names, named

HUNK = "@@ -1,2 +1,2 @@\n a\n-b\n+B\n"


def events(text: str) -> list[Ev]:
    whole = run(parser_for("unified_diff", "custom"), [text])
    assert run(parser_for("unified_diff", "custom"), list(text)) == whole
    fenced = run(parser_for("marked", "text"), list(f"```diff\n{text}```\n"))
    assert [e for e in fenced if not isinstance(e, Prose)] == [
        e for e in whole if not isinstance(e, Prose)
    ]
    return whole


def op(text: str) -> tuple[Kind, str]:
    first = events(text)[0]
    assert isinstance(first, FileOp)
    return first.kind, first.path


def said(text: str, *kinds: type) -> list[Ev]:
    return [event for event in events(text) if isinstance(event, kinds)]


@pytest.mark.case("D06")
@each(
    "behind, name",
    [
        (" a/x.py", "a/x.py"),
        (" a/dir name/x y.py", "a/dir name/x y.py"),
        (" x.py\t2024-01-01 10:00:00.000000000 +0100", "x.py"),
        (" x.py\tMon Jan  1 10:00:00 2024", "x.py"),
        (" x.py 2024-01-01 10:00:00.000000000 +0100", "x.py"),
        (" x y.py Mon Jan  1 10:00:00 2024", "x y.py"),
        (" x.py\t(revision 12)", "x.py"),
        (" x.py (working copy)", "x.py"),
        (' "a/tab\\tx.py"', "a/tab\tx.py"),
        (' "a/\\303\\251\\".py"', 'a/é".py'),
        (' "a/back\\\\slash.py"\t', "a/back\\slash.py"),
        (" x.py\t", "x.py"),
        ("    x.py  ", "x.py"),
    ],
)
def test_names(behind, name):
    """D06: spaces, C-quotes, timestamps."""
    assert named(behind) == name


@pytest.mark.case("D06")
@each(
    "old, new, path, others",
    [
        ("a/x.py", "b/x.py", "x.py", ("b/x.py", "a/x.py")),
        ("x.py", "x.py", "x.py", ()),
        ("a/x.py", "a/x.py", "a/x.py", ()),
        ("i/x.py", "w/x.py", "x.py", ("w/x.py", "i/x.py")),
        ("x.py", "b/x.py", "x.py", ("b/x.py",)),
        ("b/x.py", "b/x.py", "b/x.py", ()),
        ("x.py.orig", "x.py", "x.py", ("x.py.orig",)),
        ("a/old.py", "b/new.py", "new.py", ("old.py", "b/new.py", "a/old.py")),
        ("src/x.py", "src/x.py", "src/x.py", ()),
    ],
)
def test_letters_before_names(old, new, path, others):
    """a/ and b/ are taken off if they are such letters; what was written stays a candidate."""
    first = events(f"--- {old}\n+++ {new}\n{HUNK}")[0]
    assert first == FileOp(Kind.EDIT, path, "unified_diff", others)


@each(
    "line, names",
    [
        ("diff --git a/x.py b/x.py", ("a/x.py", "b/x.py")),
        ("diff --git a/x y.py b/x y.py", ("a/x y.py", "b/x y.py")),
        ("diff --git a/x b/x b/x b/x", ("a/x b/x", "b/x b/x")),
        ('diff --git "a/\\303\\251" "b/\\303\\251"', ("a/é", "b/é")),
        ('diff --git a/e "b/\\303\\251"', ("a/e", "b/é")),
        ('diff --git "a/\\303\\251" b/e', ("a/é", "b/e")),
        ("diff --git x y", ("x", "y")),
        ("diff --git a/x y b/z", ("", "")),
        ("diff --git a", ("", "")),
    ],
)
def test_names_of_gits_own_line(line, names):
    assert git_names(line) == names


@pytest.mark.case("D07")
def test_a_rename_with_an_edit():
    text = (
        "diff --git a/o.py b/n.py\nsimilarity index 80%\nrename from o.py\nrename to n.py\n"
        f"index 1..2 100644\n--- a/o.py\n+++ b/n.py\n{HUNK}"
    )
    got = events(text)
    assert got[:2] == [FileOp(Kind.EDIT, "o.py", "unified_diff"), MoveTo("n.py")]
    assert got[-3:] == [SectionEnd(True), FileEnd(True), End(True)]


@pytest.mark.case("B06", "D07")
def test_pure_renames_follow_each_other():
    one = "diff --git a/{0} b/x{0}\nsimilarity index 100%\nrename from {0}\nrename to x{0}\n"
    got = events(one.format("a b.py") + one.format("c.py"))
    assert got == [
        FileOp(Kind.EDIT, "a b.py", "unified_diff"),
        MoveTo("xa b.py"),
        FileEnd(True),
        FileOp(Kind.EDIT, "c.py", "unified_diff"),
        MoveTo("xc.py"),
        FileEnd(True),
        End(True),
    ]


@pytest.mark.case("D07")
def test_empty_files_made_and_deleted():
    made = "diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n"
    gone = "diff --git a/e b/e\ndeleted file mode 100644\nindex e69de29..0000000\n"
    assert op(made) == (Kind.ADD, "e")
    assert op(gone) == (Kind.DELETE, "e")
    assert [event.path for event in said(made + gone + made, FileOp)] == ["e", "e", "e"]


@pytest.mark.case("D10")
@each(
    "text, words",
    [
        (
            "new file mode 120000\nindex 0..1\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+../x\n",
            "symlink",
        ),
        ("deleted file mode 120000\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", "symlink"),
        (f"index 1..2 120000\n--- a/l\n+++ b/l\n{HUNK}", "symlink"),
        ("new file mode 160000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+Subproject\n", "submodule"),
        (f"index 1..2 160000\n--- a/l\n+++ b/l\n{HUNK}", "submodule"),
        ("index 1..2 100644\nBinary files a/l and b/l differ\n", "binary"),
        ("index 1..2\nGIT binary patch\nliteral 3\nKc$abc\n\nliteral 0\nHcmV?d00001\n\n", "binary"),
        ("similarity index 100%\ncopy from k\ncopy to l\n", "copies"),
        ("old mode 100644\nnew mode 100755\n", "mode"),
    ],
)
def test_what_no_text_edit_can_do_is_refused(text, words):
    """D10: that file is refused with a reason, the one behind it goes on."""
    text = f"diff --git a/l b/l\n{text}"
    more = f"diff --git a/f.py b/f.py\n--- a/f.py\n+++ b/f.py\n{HUNK}"
    got = events(text + more)
    assert [event.path for event in got if isinstance(event, FileOp)] == ["l", "f.py"]
    [refusal] = [event for event in got if isinstance(event, Refusal)]
    assert words in refusal.message
    assert [event.text for event in got if isinstance(event, Line)] == ["a", "b", "B"]
    assert got[-1] == End(True)
    assert not [event for event in got if isinstance(event, Prose)]
    alone = events(text)
    assert [event for event in alone if isinstance(event, Refusal)] == [refusal]


@pytest.mark.case("D10")
@each("word", ["--cc", "--combined"])
def test_a_merges_combined_diff_is_refused(word):
    head = f"diff {word} f.py\nindex 1,2..3\n--- a/f.py\n+++ b/f.py\n"
    text = f"{head}@@@ -1,2 -1,2 +1,2 @@@\n  a\n- b\n -c\n++d\n"
    got = events(text + f"diff --git a/g b/g\n--- a/g\n+++ b/g\n{HUNK}")
    assert [event.path for event in got if isinstance(event, FileOp)] == ["f.py", "g"]
    assert "combined" in str(said(text, Refusal))
    assert [event.text for event in got if isinstance(event, Line)] == ["a", "b", "B"]


def test_a_mode_beside_an_edit_is_a_flag():
    head = "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n--- a/f\n+++ b/f\n"
    [end] = said(head + HUNK, SectionEnd)
    assert end == SectionEnd(True, ("the change of the file's mode is left out",))


@pytest.mark.case("D06")
def test_svn_and_gnu_headers():
    svn = f"Index: x y.py\n{'=' * 67}\n--- x y.py\t(revision 1)\n+++ x y.py\t(working copy)\n{HUNK}"
    gnu = f"diff -ruN old/x.py new/x.py\n--- old/x.py\t2024-01-01\n+++ new/x.py\t2024-01-02\n{HUNK}"
    assert op(svn) == (Kind.EDIT, "x y.py")
    assert op(gnu) == (Kind.EDIT, "new/x.py")
    assert len(said(svn + "\n" + svn, FileOp)) == 2
    assert len(said(gnu + gnu, FileOp)) == 2
    more = "\nProperty changes on: x y.py\n___\nAdded: svn:eol-style\n## -0,0 +1 ##\n+native\n"
    assert said(svn + more, Line) == said(svn, Line)
