"""Unified diffs: hunks, counts, what ends them."""

from __future__ import annotations

import pytest

from tests.support.edit_streams import run
from tests.support.tables import each
from tui.core.document.hunk import Kind
from tui.core.edit_stream import Channel, Format, parser_for
from tui.core.edit_stream.events import (
    Anchor,
    Cut,
    End,
    Ev,
    Failure,
    FileEnd,
    FileOp,
    Line,
    NoNewline,
    Prose,
    Refusal,
    SectionEnd,
)
from tui.core.edit_stream.unified_diff import git_names, named

HEAD = "--- a/f.py\n+++ b/f.py\n"
HUNK = "@@ -1,2 +1,2 @@ def f():\n a\n-b\n+B\n"
WRONG = "line counts are wrong"


def events(text: str, channel: Channel = "custom", *, fmt: Format = "unified_diff") -> list[Ev]:
    whole = run(parser_for(fmt, channel), [text])
    assert run(parser_for(fmt, channel), list(text)) == whole
    return whole


def cut(text: str) -> list[Ev]:
    return run(parser_for("unified_diff", "custom"), [text], cut=True)


def lines(text: str, channel: Channel = "custom") -> list[str]:
    marks = {"=": " ", "-": "-", "+": "+"}
    got = events(text, channel)
    return [marks[event.op] + event.text for event in got if isinstance(event, Line)]


def prose(text: str, fmt: Format = "auto") -> str:
    got = events(text, "text", fmt=fmt)
    return "".join(event.text for event in got if isinstance(event, Prose))


def failure(text: str, channel: Channel = "custom") -> str:
    found = [event for event in events(text, channel) if isinstance(event, Failure)]
    return f"{found[0].line}: {found[0].message}" if found else ""


def flags(text: str) -> list[tuple[str, ...]]:
    return [event.flags for event in events(text) if isinstance(event, SectionEnd)]


@pytest.mark.case("D01")
@each("header", ["@@ ... @@", "@@", "@@ @@", "@@ def f():", "@@ -,+ @@"])
def test_headers_without_numbers(header):
    got = events(f"{HEAD}{header}\n a\n-b\n+B\n")
    places = [event for event in got if isinstance(event, Anchor)]
    assert places == ([Anchor("def f():")] if "def" in header else [])
    assert [event.op for event in got if isinstance(event, Line)] == ["=", "-", "+"]


@pytest.mark.case("D01", "D02")
@each(
    "header, hint",
    [
        ("@@ -3 +3 @@", 2),
        ("@@ -7,0 +8,2 @@", 7),
        ("@@ -1,2 +1,2 @@ x @@ y", 0),
        ("@@  -5,2  +5,2  @@", 4),
    ],
)
def test_hints(header, hint):
    assert Anchor("", hint) in events(f"{HEAD}{header}\n-b\n+B\n")


@pytest.mark.case("D01")
@each(
    "text",
    [
        HEAD + HUNK.replace("-1,2", "-1,9"),
        HEAD + HUNK.replace("+1,2", "+1,1"),
        HEAD + HUNK.replace("-1,2 +1,2", "-1,1 +1,1"),
        HEAD + HUNK.replace("-1,2", "-1,9") + "--- a/g.py\n+++ b/g.py\n" + HUNK,
        HEAD + HUNK.replace("-1,2 +1,2", "-1,9 +1,9") + HUNK,
    ],
)
def test_wrong_counts_are_a_flag_and_nothing_is_lost(text):
    got = lines(text)
    assert got == [" a", "-b", "+B"] * (len(got) // 3)
    assert flags(text)[0] == (WRONG,)
    assert flags(text)[1:] in ([], [()])
    assert not failure(text)


@pytest.mark.case("D01", "D06")
@each("header", ["@@ ... @@", "@@ -1,9 +1,9 @@", "@@ -1 +1 @@"])
def test_the_next_file_is_told_from_a_removed_line(header):
    text = f"{HEAD}{header}\n-b\n+B\n\n--- a/g.py\n+++ b/g.py\n@@ -1 +1 @@\n-c\n+C\n"
    got = events(f"```diff\n{text}```\n", "text")
    paths = [event.path for event in got if isinstance(event, FileOp)]
    assert paths == ["f.py", "g.py"]
    assert lines(text) == ["-b", "+B", "-c", "+C"]


@pytest.mark.case("D05")
@each(
    "header, body",
    [
        ("@@ -1,2 +1,1 @@", "--- note\n-x\n+y\n"),
        ("@@ -1,2 +1,2 @@", "--- note\n-x\n+++ more\n+y\n"),
        ("@@ -1 +1 @@", "--- a\n+++ b\n"),
        ("@@ ... @@", "--- note\n+y\n x\n"),
        ("@@ -1,2 +0,0 @@", "-x\n--- note\n"),
    ],
)
def test_dashes_inside_a_hunk_are_a_removed_line(header, body):
    text = f"{HEAD}{header}\n{body}@@ -9 +9 @@\n-c\n+C\n"
    assert "".join(line + "\n" for line in lines(text)) == f"{body}-c\n+C\n"
    assert [event.path for event in events(text) if isinstance(event, FileOp)] == ["f.py"]
    assert flags(text) == [(), ()]


@pytest.mark.case("D07")
def test_a_new_file_has_lines_and_no_sections():
    text = "--- /dev/null\n+++ b/n.py\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
    assert events(text) == [
        FileOp(Kind.ADD, "n.py", "unified_diff"),
        Line("+", "a"),
        Line("+", "b"),
        NoNewline("+"),
        FileEnd(True),
        End(True),
    ]
    assert failure(text.replace("+a", " a")) == "4: the new file 'n.py' has no old lines"


@pytest.mark.case("A02", "D07", "D11")
def test_a_delete_is_confirmed_by_its_counts_or_by_what_follows():
    """I8: a stream that ends without a sign of its end deletes nothing."""
    head = "--- a/o.py\n+++ /dev/null\n"
    for text in (f"{head}@@ ... @@\n-a\n", f"{head}@@ -1,3 +0,0 @@\n-a\n"):
        assert "ends inside of the delete of 'o.py'" in failure(text)
        assert FileEnd(True) not in events(text)
        assert not failure(f"```diff\n{text}```\n", "text")
        assert FileEnd(True) in events(text + HEAD + HUNK)
    whole = f"{head}@@ -1,2 +0,0 @@\n-a\n-b\n"
    for at in range(len(whole) + 1):
        assert FileEnd(True) not in cut(whole[:at])


@pytest.mark.case("D11")
@each(
    "text, closed",
    [
        (HEAD + HUNK, True),
        (HEAD + HUNK[:-1], False),
        (HEAD + HUNK[:-3], False),
        (HEAD + HUNK + "@@ -3,", True),
        (HEAD + HUNK + "--- a/", True),
        (HEAD + HUNK + "diff", True),
        (HEAD + HUNK + "+mo", False),
        (HEAD + HUNK + " mo", False),
        (HEAD + HUNK + "\\ No new", True),
        (HEAD + HUNK.replace("-1,2", "-1,3"), False),
        (f"{HEAD}@@ ... @@\n-b\n+B\n", False),
    ],
)
def test_cut_with_counts_open_or_satisfied(text, closed):
    got = cut(text)
    assert Cut() in got
    ends = [event.closed for event in got if isinstance(event, SectionEnd)]
    assert ends == [closed]
    assert got[-1] == FileEnd(False)


@pytest.mark.case("A12")
@each(
    "text",
    [
        f"{HEAD}@@ -1,3 +1,3 @@\n a\n-b\noops\n+B\n",
        f"{HEAD}@@ ... @@\n a\n-b\noops\n+B\n",
        f"{HEAD}@@ -1,3 +1,3 @@\n a\n-b\n\noops\n+B\n",
    ],
)
def test_a_line_without_prefix_is_context_as_it_stands_and_names_its_line(text):
    number = text.split("\n").index("oops") + 1
    assert Line("=", "oops", "\n", number) in events(text)
    assert Line("=", "oops", "\n", number + 1) in events(
        f"```diff\n{text}```\n", "text", fmt="auto"
    )


def test_a_line_without_prefix_in_a_new_file_is_an_error_that_names_it():
    text = "--- /dev/null\n+++ b/f.py\n@@ -0,0 +1,3 @@\n+a\noops\n+B\n"
    assert failure(text) == "5: 'oops' has no ' ', '+' or '-' prefix"
    assert FileEnd(False) in events(text)
    assert "oops\n" in prose(f"```diff\n{text}```\n")


def test_a_hunk_without_lines_is_an_error():
    assert failure(f"{HEAD}{HUNK}@@ -9,2 +9,2 @@\n") == "7: a hunk has no lines"
    assert failure(f"{HEAD}@@ -9,2 +9,2 @@\n{HUNK}") == "4: a hunk has no lines"


@pytest.mark.case("A07")
def test_on_a_tool_channel_a_diff_must_be_there():
    for text in ("", "Sure.\n", "--- a\n+++ b\n", "@@ -1 +1 @@\n-a\n+b\n"):
        assert "no diff: " in failure(text)


@pytest.mark.case("A07")
@each(
    "text",
    [
        "---\n",
        "--- \n+++ \n",
        "--- Title ---\nText\n",
        "--- a\n+++ b\nnothing\n",
        "--- a/x\n--- b/x\n+++ c\n",
        "diff --git is a command\n",
        "diff --git a/x b/x\nText.\n",
        "Index: x\n=======\nText\n",
        "@@ -1 +1 @@\n-a\n+b\n",
        "index 123..456\nnew file mode 100644\n",
        "+++ b/x\n@@ -1 +1 @@\n-a\n",
        f"```console\n$ git diff\n{HEAD}{HUNK}```\n",
        f"````markdown\n```diff\n{HEAD}{HUNK}```\n````\n",
        f"```python\n{HEAD}{HUNK}```\n",
        f"> {HEAD}> {HUNK}",
    ],
)
def test_what_only_looks_like_a_diff_is_prose(text):
    assert prose(text) == text
    assert prose(text, "marked") == text


def test_no_newline_is_told_once_of_a_line() -> None:
    mark = "\\ No newline at end of file\n"
    once = events(HEAD + HUNK + mark)
    assert NoNewline("+") in once
    assert events(HEAD + HUNK + mark + mark) == once
    assert NoNewline("=") not in events(HEAD + "@@ -1,2 +1,2 @@\n" + mark + " a\n-b\n+B\n")


ONE = "@@ -1,2 +1,2 @@\n a\n-b\n+B\n"


def head_events(text: str) -> list[Ev]:
    whole = run(parser_for("unified_diff", "custom"), [text])
    assert run(parser_for("unified_diff", "custom"), list(text)) == whole
    fenced = run(parser_for("marked", "text"), list(f"```diff\n{text}```\n"))
    assert [e for e in fenced if not isinstance(e, Prose)] == [
        e for e in whole if not isinstance(e, Prose)
    ]
    return whole


def op(text: str) -> tuple[Kind, str]:
    first = head_events(text)[0]
    assert isinstance(first, FileOp)
    return first.kind, first.path


def said(text: str, *kinds: type) -> list[Ev]:
    return [event for event in head_events(text) if isinstance(event, kinds)]


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
    first = head_events(f"--- {old}\n+++ {new}\n{ONE}")[0]
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
        (f"index 1..2 120000\n--- a/l\n+++ b/l\n{ONE}", "symlink"),
        ("new file mode 160000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+Subproject\n", "submodule"),
        (f"index 1..2 160000\n--- a/l\n+++ b/l\n{ONE}", "submodule"),
        ("index 1..2 100644\nBinary files a/l and b/l differ\n", "binary"),
        ("index 1..2\nGIT binary patch\nliteral 3\nKc$abc\n\nliteral 0\nHcmV?d00001\n\n", "binary"),
        ("similarity index 100%\ncopy from k\ncopy to l\n", "copies"),
        ("old mode 100644\nnew mode 100755\n", "mode"),
    ],
)
def test_what_no_text_edit_can_do_is_refused(text, words):
    text = f"diff --git a/l b/l\n{text}"
    more = f"diff --git a/f.py b/f.py\n--- a/f.py\n+++ b/f.py\n{ONE}"
    got = head_events(text + more)
    assert [event.path for event in got if isinstance(event, FileOp)] == ["l", "f.py"]
    [refusal] = [event for event in got if isinstance(event, Refusal)]
    assert words in refusal.message
    assert [event.text for event in got if isinstance(event, Line)] == ["a", "b", "B"]
    assert got[-1] == End(True)
    assert not [event for event in got if isinstance(event, Prose)]
    alone = head_events(text)
    assert [event for event in alone if isinstance(event, Refusal)] == [refusal]


def test_words_in_a_header_are_not_what_diff_says_of_binary_files():
    text = f"Index: f.py\nFiles that change:\n--- a/f.py\n+++ b/f.py\n{ONE}"
    got = run(parser_for("unified_diff", "custom"), [text])
    assert [event.text for event in got if isinstance(event, Line)] == ["a", "b", "B"]


@pytest.mark.case("D10")
@each("word", ["--cc", "--combined"])
def test_a_merges_combined_diff_is_refused(word):
    head = f"diff {word} f.py\nindex 1,2..3\n--- a/f.py\n+++ b/f.py\n"
    text = f"{head}@@@ -1,2 -1,2 +1,2 @@@\n  a\n- b\n -c\n++d\n"
    got = head_events(text + f"diff --git a/g b/g\n--- a/g\n+++ b/g\n{ONE}")
    assert [event.path for event in got if isinstance(event, FileOp)] == ["f.py", "g"]
    assert "combined" in str(said(text, Refusal))
    assert [event.text for event in got if isinstance(event, Line)] == ["a", "b", "B"]


def test_a_mode_beside_an_edit_is_a_flag():
    head = "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n--- a/f\n+++ b/f\n"
    [end] = said(head + ONE, SectionEnd)
    assert end == SectionEnd(True, ("the change of the file's mode is left out",))


@pytest.mark.case("D06")
def test_svn_and_gnu_headers():
    svn = f"Index: x y.py\n{'=' * 67}\n--- x y.py\t(revision 1)\n+++ x y.py\t(working copy)\n{ONE}"
    gnu = f"diff -ruN old/x.py new/x.py\n--- old/x.py\t2024-01-01\n+++ new/x.py\t2024-01-02\n{ONE}"
    assert op(svn) == (Kind.EDIT, "x y.py")
    assert op(gnu) == (Kind.EDIT, "new/x.py")
    assert len(said(svn + "\n" + svn, FileOp)) == 2
    assert len(said(gnu + gnu, FileOp)) == 2
    more = "\nProperty changes on: x y.py\n___\nAdded: svn:eol-style\n## -0,0 +1 ##\n+native\n"
    assert said(svn + more, Line) == said(svn, Line)
