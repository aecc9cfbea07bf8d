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
    Partial,
    Prose,
    SectionEnd,
    SectionStart,
)

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


@pytest.mark.case("D01", "D02")
def test_the_line_number_is_a_hint_and_the_function_no_anchor():
    assert events(HEAD + HUNK.replace("-1,2", "-41,2")) == [
        FileOp(Kind.EDIT, "f.py", "unified_diff", ("b/f.py", "a/f.py")),
        SectionStart(1, True),
        Anchor("", 40),
        Line("=", "a"),
        Line("-", "b"),
        Line("+", "B"),
        SectionEnd(True),
        FileEnd(True),
        End(True),
    ]


@pytest.mark.case("D01")
@each("header", ["@@ ... @@", "@@", "@@ @@", "@@ def f():", "@@ -,+ @@"])
def test_headers_without_numbers(header):
    got = events(f"{HEAD}{header}\n a\n-b\n+B\n")
    places = [event for event in got if isinstance(event, Anchor)]
    assert places == ([Anchor("def f():")] if "def" in header else [])
    assert [event.op for event in got if isinstance(event, Line)] == ["=", "-", "+"]


@pytest.mark.case("D01")
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
    """D05: `--- note` as a removed SQL comment."""
    text = f"{HEAD}{header}\n{body}@@ -9 +9 @@\n-c\n+C\n"
    assert "".join(line + "\n" for line in lines(text)) == f"{body}-c\n+C\n"
    assert [event.path for event in events(text) if isinstance(event, FileOp)] == ["f.py"]
    assert flags(text) == [(), ()]


@pytest.mark.case("B11", "D01")
def test_blank_lines_without_a_space_are_context_inside_and_separators_behind():
    text = f"{HEAD}@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n\n@@ -9 +9 @@\n-c\n+C\n\n\n"
    assert lines(text) == [" a", " ", "-b", "+B", "-c", "+C"]
    assert flags(text) == [(), ()]


@pytest.mark.case("D08")
def test_no_newline_is_told_of_its_line():
    """D08: both ways."""
    end = "\\ No newline at end of file\n"
    text = f"{HEAD}@@ -1 +1 @@\n-b\n{end}+B\n{end}"
    assert [e for e in events(text) if isinstance(e, Line | NoNewline)] == [
        Line("-", "b"),
        NoNewline("-"),
        Line("+", "B"),
        NoNewline("+"),
    ]
    assert NoNewline("-") in events(text.replace("No newline", "Kein Zeilenumbruch"))
    assert NoNewline("=") in events(f"{HEAD}@@ ... @@\n-b\n c\n{end}")


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


@pytest.mark.case("D07")
def test_a_deleted_file_carries_what_it_held():
    text = "--- a/o.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n"
    got = events(text)
    assert got[0] == FileOp(Kind.DELETE, "o.py", "unified_diff", ("a/o.py",))
    assert got[-3:] == [SectionEnd(True), FileEnd(True), End(True)]


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
    """D11: closed only if the counts said so, and nothing came that denies it."""
    got = cut(text)
    assert Cut() in got
    ends = [event.closed for event in got if isinstance(event, SectionEnd)]
    assert ends == [closed]
    assert got[-1] == FileEnd(False)


@pytest.mark.case("D11")
def test_cut_behind_the_next_header_keeps_the_file_before():
    got = cut(f"{HEAD}{HUNK}--- a/g.py\n+++ b/g.py\n@@ -1 +1 @@\n-c\n")
    assert [event.closed for event in got if isinstance(event, FileEnd)] == [True, False]
    assert [event.closed for event in got if isinstance(event, SectionEnd)] == [True, False]


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
    """A12, I4: never dropped; the file decides if the prefix column was forgotten."""
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


@pytest.mark.case("H04")
def test_a_crlf_diff():
    text = (HEAD + HUNK).replace("\n", "\r\n")
    got = events(text)
    assert got[0] == FileOp(Kind.EDIT, "f.py", "unified_diff", ("b/f.py", "a/f.py"))
    assert [event for event in got if isinstance(event, Line)] == [
        Line("=", "a", "\r\n"),
        Line("-", "b", "\r\n"),
        Line("+", "B", "\r\n"),
    ]


@pytest.mark.case("A16")
@each(
    "before, pending, shown",
    [
        ("@@ -1,2 +1,2 @@\n a\n-b\n", "+B", "B"),
        ("@@ -1,2 +1,2 @@\n a\n-b\n", "+", ""),
        ("@@ -1,2 +1,2 @@\n a\n-b\n", "-b", None),
        ("@@ -1,2 +1,2 @@\n a\n-b\n", " b", None),
        ("@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "+++ b/g", None),
        ("@@ ... @@\n a\n--- b\n", "+++ b", None),
        ("", "+", None),
    ],
)
def test_an_unfinished_line_is_painted_unless_it_may_be_a_header(before, pending, shown):
    """A16, EDITS section 3, I2."""
    parser = parser_for("unified_diff", "custom")
    parser.feed(HEAD + before)
    parser.feed(pending)
    assert parser.tail() == ([] if shown is None else [Partial(shown)])


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
