"""The V4A push parser on a tool channel. Case numbers are those of the edge-case catalogue."""

from __future__ import annotations

from tests.support.edit_streams import failure, read
from tests.support.tables import each
from tui.core.document.hunk import Kind
from tui.core.edit_stream.events import (
    Anchor,
    Cut,
    End,
    EndOfFile,
    Failure,
    FileEnd,
    FileOp,
    Line,
    MoveTo,
    Partial,
    Prose,
    SectionEnd,
)
from tui.core.edit_stream.parser import PatchParser


def patch(body: str) -> str:
    return f"*** Begin Patch\n{body}*** End Patch\n"


def update(body: str, path: str = "f.py") -> str:
    return patch(f"*** Update File: {path}\n{body}")


def lines(text: str) -> list[tuple[str, str]]:
    return [(event.op, event.text) for event in read(text) if isinstance(event, Line)]


def test_a08_json_where_the_patch_belongs():
    text = '{"input": "*** Begin Patch\\n*** End Patch"}'
    assert "the argument's form is wrong, it is JSON" in failure(text)


def test_a09_padded_end_inside_a_section_is_context_if_the_section_goes_on():
    text = update("@@\n a\n *** End Patch\n-b\n")
    assert lines(text) == [("=", "a"), ("=", "*** End Patch"), ("-", "b")]
    followed = "*** Begin Patch\n*** Update File: f\n@@\n-a\n *** End Patch\n\nDone.\n"
    assert read(followed)[-2:] == [End(True), Prose("Done.\n")]


@each("indent", ["  ", "    ", "\t"])
def test_a11_a_patch_indented_as_a_whole(indent):
    plain = update("@@ class A:\n def f():\n-    a\n+    b\n\n c\n*** End of File\n")
    indented = "".join(indent + line if line else "\n" for line in plain.splitlines(True))
    assert read(indented) == read(plain)
    stripped = indented.replace(f"{indent}\n", "\n")
    assert read(stripped) == read(plain)


def test_a11_only_the_begin_line_is_indented():
    text = "  " + update("@@\n   deep\n-a\n+b\n")
    assert lines(text) == [("=", "  deep"), ("-", "a"), ("+", "b")]


def test_a12_unprefixed_line_is_an_error_where_nothing_ends_the_patch():
    """It may be text behind a patch that was not ended."""
    events = read("*** Begin Patch\n*** Update File: a\n@@\n-b\n+B\n\nThat is all.\n")
    assert events[-3:] == [
        SectionEnd(False),
        FileEnd(False),
        Prose("That is all.\n"),
    ]
    assert Failure(7, "'That is all.' has no ' ', '+' or '-' prefix") in events


def test_a14_unknown_header_names_the_valid_ones():
    said = failure(patch("*** Tweak File: f.txt\n"))
    assert said.startswith("2: '*** Tweak File: f.txt' is not a file header")
    for header in ("Add", "Delete", "Update"):
        assert f"'*** {header} File: PATH'" in said
    assert "is not a file header" in failure(update("@@\n-a\n*** Whatever\n"))
    assert "is not a file header" in failure(patch("hello\n"))
    assert "is not a file header" in failure(patch("*** Delete File: a\n-x\n"))


def test_a15_markers_inside_lines_are_content():
    text = update("@@\n *** Note ***\n+*** End Patch\n-*** Update File: x\n")
    assert lines(text) == [
        ("=", "*** Note ***"),
        ("+", "*** End Patch"),
        ("-", "*** Update File: x"),
    ]


def test_a16_tail_of_a_new_file_and_behind_a_blank():
    parser = PatchParser()
    parser.feed("*** Begin Patch\n*** Add File: f.py\n+def")
    assert parser.tail() == [Partial("def")]
    indented = PatchParser()
    indented.feed("  *** Begin Patch\n  *** Update File: f.py\n  @@\n  -a\n  +de")
    assert indented.tail() == [Partial("de")]
    parser.feed(" f\n\n+x")
    assert parser.tail() == []
    assert parser.feed("\n") == [Line("+", ""), Line("+", "x")]


def test_b06_move_only_right_behind_the_header():
    assert MoveTo("b") in read(patch("*** Update File: a\n*** Move to: b\n"))
    for body in (
        "*** Update File: a\n@@\n-x\n*** Move to: b\n",
        "*** Add File: a\n*** Move to: b\n",
        "*** Move to: b\n",
        "*** Update File: a\n*** Move to: b\n*** Move to: c\n",
    ):
        assert "'*** Move to:' belongs right behind" in failure(patch(body))


def test_b08_first_chunk_without_header_and_the_one_behind_end_of_file():
    assert read(update("-a\n+b\n")) == read(update("@@\n-a\n+b\n"))
    events = read(update("@@\n-a\n*** End of File\n+b\n"))
    assert events[2:7] == [
        Line("-", "a"),
        EndOfFile(),
        SectionEnd(True),
        Failure(6, "a line behind '*** End of File' without a new '@@'"),
        FileEnd(False),
    ]
    assert not failure(update("@@\n-a\n*** End of File\n@@\n+b\n"))


def test_b11_blank_lines():
    assert lines(update("@@\n a\n\n-b\n")) == [("=", "a"), ("=", ""), ("-", "b")]
    assert lines(update("@@\n-a\n\n\n@@\n-b\n\n")) == [("-", "a"), ("-", "b")]
    assert lines(update("\n@@\n\n-a\n")) == [("=", ""), ("-", "a")]
    assert lines(patch("\n*** Add File: n\n+a\n\n+b\n\n\n")) == [("+", "a"), ("+", ""), ("+", "b")]


@each(
    "header, anchor",
    [
        ("@@ -12,3 +12,4 @@", Anchor("", 11)),
        ("@@ -1 +1 @@ def f():", Anchor("def f():", 0)),
        ("@@ -0,0 +1,2 @@", Anchor("", 0)),
        ("@@ def f(): @@", Anchor("def f():")),
        ("@@def f():", Anchor("def f():")),
    ],
)
def test_b13_line_numbers_are_hints(header, anchor):
    assert anchor in read(update(f"{header}\n-a\n+b\n"))


def test_b18_no_end_marker():
    text = "*** Begin Patch\n*** Update File: f.py\n@@\n-a\n+b"
    assert read(text)[-4:] == [Line("+", "b", ""), SectionEnd(True), FileEnd(True), End(False)]
    assert read(text, cut=True)[-4:] == [Line("-", "a"), Cut(), SectionEnd(False), FileEnd(False)]
    delete = "*** Begin Patch\n*** Delete File: a.txt\n"
    assert failure(delete) == "2: no End Patch after the delete of 'a.txt'"
    assert read(delete)[-1] == FileEnd(False)
    assert read(delete, cut=True) == [FileOp(Kind.DELETE, "a.txt"), Cut(), FileEnd(False)]
    move = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b"
    assert "no End Patch after the move" in failure(move)


def test_b19_empty_patch_and_update_without_hunks():
    assert failure(patch("")) == "2: patch has no file operations"
    assert failure(update("")) == "2: Update File 'f.py' has no hunks"
    assert failure(update("@@\n")) == "2: Update File 'f.py' has no hunks"
    assert "section '@@ def f' has no lines" in failure(update("@@\n-a\n@@ def f\n"))
    assert "without lines before it" in failure(update("@@\n*** End of File\n"))
    assert "names no path" in failure(patch("*** Add File:\n"))


def test_messages_escape_control_characters():
    said = failure(update("@@\n-a\n*** \x1b[31mred\x07" + "x" * 500 + "\n"))
    assert "\\x1b[31mred\\x07" in said
    assert len(said) < 200
    assert said.isprintable()
