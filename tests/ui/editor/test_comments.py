"""Comment signs of every language; there and back leaves the text as it was."""

from __future__ import annotations

from tests.support.tables import each
from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Position
from tui.ui.editor.comments import C_BLOCK, HASH, MARKUP, SLASHES, CommentSigns, marks_of, toggle
from tui.ui.editor.cursor import Cursor


def toggled(text: str, marks: CommentSigns, *ends: Position) -> str:
    cursor = Cursor(Buffer("a", text))
    if ends:
        cursor.place(ends[0])
        cursor.place(ends[-1], select=True)
    else:
        cursor.select_all()
    for edit in toggle(cursor, marks).replacements:
        cursor.buffer.replace(edit.start, edit.end, edit.text)
    return cursor.buffer.text()


@each(
    "text, marks, ends, result",
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
def test_toggling(text: str, marks: CommentSigns, ends: list[Position], result: str) -> None:
    assert toggled(text, marks, *ends) == result


@each(
    "path, before",
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
    assert marks.before == before


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


@each(
    "path, text, line, marks",
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
def test_embedded_languages_have_their_own(
    path: str, text: str, line: int, marks: CommentSigns
) -> None:
    assert marks_of(Buffer(path, text), line) == marks
