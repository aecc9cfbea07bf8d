"""Comment signs of every language; there and back leaves the text as it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import process_time
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pygments.lexer import RegexLexer, default
from pygments.lexers import find_lexer_class, get_all_lexers
from pygments.token import Comment, Text, _TokenType

from tui.core.text.buffer import Buffer, Position
from tui.ui.editor.comments import C_BLOCK, HASH, MARKUP, SLASHES, Marks, by_lexer, marks_of, toggle
from tui.ui.editor.cursor import Cursor


def toggled(text: str, marks: Marks, *ends: Position) -> str:
    cursor = Cursor(Buffer("a", text))
    if ends:
        cursor.place(ends[0])
        cursor.place(ends[-1], select=True)
    else:
        cursor.select_all()
    for edit in toggle(cursor, marks).replacements:
        cursor.buffer.replace(edit.start, edit.end, edit.text)
    return cursor.buffer.text()


@pytest.mark.parametrize(
    ("text", "marks", "ends", "result"),
    [
        ("a\nb", HASH, [(0, 0)], "# a\nb"),
        ("  if x:\n\n    y\nz", HASH, [(0, 3), (2, 1)], "  # if x:\n\n  #   y\nz"),
        ("# a\n# b", HASH, [(0, 0), (1, 1)], "a\nb"),
        ("# a\nb", HASH, [(0, 0), (1, 1)], "# # a\n# b"),
        ("#a", HASH, [(0, 0)], "a"),
        ("", HASH, [(0, 0)], "# "),
        ("  //x\n\n  // y", SLASHES, [(0, 0), (2, 2)], "  x\n\n  y"),
        ("a\nb\n", HASH, [(0, 0), (1, 0)], "# a\nb\n"),
        ("  <p>x</p>  ", MARKUP, [(0, 4)], "  <!-- <p>x</p> -->  "),
        ("<!-- a -->", MARKUP, [(0, 0)], "a"),
        ("<!--a-->", MARKUP, [(0, 0)], "a"),
        ("a { } /* x */\nb", C_BLOCK, [(0, 0), (1, 1)], "a { } /* x */\n/* b */"),
        ("a\r\nb", HASH, [(0, 0), (1, 1)], "# a\r\n# b"),
    ],
)
def test_toggling(text: str, marks: Marks, ends: list[Position], result: str) -> None:
    assert toggled(text, marks, *ends) == result


LINES = st.lists(st.text("ab \t", max_size=6), min_size=1, max_size=6)


@settings(max_examples=150, deadline=None)
@given(LINES, st.sampled_from([HASH, SLASHES, MARKUP, C_BLOCK, Marks('"', '"')]))
def test_there_and_back(lines: list[str], marks: Marks) -> None:
    text = "\n".join(line.rstrip() for line in lines)
    assume_text = any(line.strip() for line in lines)
    there = toggled(text, marks)
    if assume_text:
        assert toggled(there, marks) == text


@pytest.mark.parametrize(
    ("path", "before"),
    [
        ("a.py", "#"),
        ("a/Makefile", "#"),
        ("Dockerfile", "#"),
        (".bashrc", "#"),
        (".gitignore", "#"),
        ("a.lua", "--"),
        ("a.sql", "--"),
        ("a.hs", "--"),
        ("a.el", ";"),
        ("a.tex", "%"),
        ("a.css", "/*"),
        ("a.xml", "<!--"),
        ("a.ml", "(*"),
        ("a.vim", '"'),
        ("a.bat", "REM "),
        ("a.f90", "!"),
        ("a.kt", "//"),
        ("a.thrift", "#"),
        ("a.scad", "//"),
    ],
)
def test_signs_by_file_name(path: str, before: str) -> None:
    marks = marks_of(Buffer(path, "x\n"), 0)
    assert marks is not None
    assert marks.before == before


def test_text_has_no_comments() -> None:
    assert marks_of(Buffer("a.txt", "x"), 0) is None


PAGE = """<html>
<style>
a { }
</style>
<p>
<script type="module">
let x = 1
</script>
<p>
"""
NOTES = "text\n```python\nx = 1\n```\ntext\n~~~ js\nx\n~~~\n```\nplain\n"


@pytest.mark.parametrize(
    ("path", "text", "line", "marks"),
    [
        ("a.html", PAGE, 0, MARKUP),
        ("a.html", PAGE, 2, C_BLOCK),
        ("a.html", PAGE, 4, MARKUP),
        ("a.html", PAGE, 6, SLASHES),
        ("a.html", PAGE, 8, MARKUP),
        ("a.md", NOTES, 0, MARKUP),
        ("a.md", NOTES, 2, HASH),
        ("a.md", NOTES, 4, MARKUP),
        ("a.md", NOTES, 6, SLASHES),
    ],
)
def test_embedded_languages_have_their_own(path: str, text: str, line: int, marks: Marks) -> None:
    assert marks_of(Buffer(path, text), line) == marks


def test_nearly_every_language_of_pygments_has_signs() -> None:
    named = [name for name, _, patterns, _ in get_all_lexers() if patterns]
    without = [name for name in named if by_lexer(find_lexer_class(name)) is None]
    assert len(without) < len(named) * 0.1
    assert not {"Python", "Rust", "COBOL", "WebAssembly", "Stata", "Zig"} & set(without)


@pytest.mark.parametrize("name", ["a.cl", "x.pl", "x.t", "a.inc", "a.rule"])
def test_long_lines_are_asked_about_in_part(name: str) -> None:
    marks_of(Buffer(name, "x\n"), 0)
    buffer = Buffer(name, "\n".join(["x" * 200_000] * 40))
    began = process_time()
    marks_of(buffer, 0)
    assert process_time() - began < 0.05


class Stuck(RegexLexer):
    """It never comes to an end."""

    aliases = ("stuck",)
    tokens: ClassVar = {"root": [(r"(\S+\s*)*:$", Comment), (r"(?s).", Text)]}

    def get_tokens_unprocessed(
        self, text: str, stack: Iterable[str] = ("root",)
    ) -> Iterator[tuple[int, _TokenType, str]]:
        yield from super().get_tokens_unprocessed(text * 9, stack)


class Broken(RegexLexer):
    """It raises what nobody expects of it."""

    aliases = ("broken",)
    tokens: ClassVar = {"root": [default("nowhere")]}

    def get_tokens_unprocessed(
        self, text: str, stack: Iterable[str] = ("root",)
    ) -> Iterator[tuple[int, _TokenType, str]]:
        raise OSError


@pytest.mark.parametrize("lexer", [Stuck, Broken])
def test_a_lexer_that_hangs_or_raises_has_no_signs(lexer: type[RegexLexer]) -> None:
    began = process_time()
    assert by_lexer(lexer) is None
    assert process_time() - began < 1.5
