"""Making lines comments and back, in every language that Pygments knows.

The signs of the common languages stand in a table. For the rest the language's own lexer is
asked which of the usual signs begin a comment: what it colours as a comment is one.
"""

from __future__ import annotations

from functools import lru_cache
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

from tui.core.text.buffer import Buffer
from tui.ui.editor.changes import TextEdit, Typing, lines_of
from tui.ui.editor.cursor import Cursor, indent_of
from tui.ui.highlight.guard import BUILD_CPU_S, Guard

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_SAMPLE_LINES = 40
"""Lines shown to Pygments where a file name fits several languages."""
_SAMPLE_COLUMNS = 1_000
_LEXER_CPU_S = 0.3
"""For all signs that a lexer is asked about; most take a hundredth."""
_LINES_BACK = 2000
"""How far an embedded language's beginning is looked for."""


class CommentSigns(NamedTuple):
    """What goes before a commented line, and behind it."""

    before: str
    behind: str = ""


HASH, SLASHES, DASHES, SEMICOLON = (
    CommentSigns("#"),
    CommentSigns("//"),
    CommentSigns("--"),
    CommentSigns(";"),
)
PERCENT, QUOTE, BANG = CommentSigns("%"), CommentSigns("'"), CommentSigns("!")
C_BLOCK, MARKUP = CommentSigns("/*", "*/"), CommentSigns("<!--", "-->")
_LANGUAGES = {
    HASH: "python python2 cython bash sh zsh fish perl perl6 ruby yaml toml make makefile docker"
    " r splus julia elixir nix cmake tcl awk nginx powershell crystal gdscript terraform"
    " graphql puppet robotframework sed starlark coffeescript ps1 python3 basemake apacheconf",
    SLASHES: "c cpp java javascript js typescript ts tsx jsx rust go kotlin scala swift csharp dart"
    " php groovy objective-c zig verilog systemverilog d jsonc json json5 scss sass less protobuf"
    " solidity v glsl hlsl cuda arduino vala fsharp gradle haxe stylus",
    DASHES: "sql mysql postgresql sqlite3 plpgsql lua haskell ada elm vhdl applescript"
    " eiffel purescript tsql",
    SEMICOLON: "common-lisp clojure clojurescript scheme emacs-lisp racket nasm ini newlisp hy",
    PERCENT: "tex latex erlang matlab octave prolog postscript",
    QUOTE: "vbnet vb.net vbscript basic qbasic",
    BANG: "fortran inform6",
    C_BLOCK: "css",
    MARKUP: "html xml xslt svg vue markdown html+jinja",
    CommentSigns('"'): "vim",
    CommentSigns("REM "): "batch bat dosbatch doscon winbatch bbcbasic",
    CommentSigns("(*", "*)"): "ocaml pascal delphi sml coq modula2",
    CommentSigns("{#", "#}"): "jinja",
    CommentSigns(".. "): "restructuredtext rst",
    CommentSigns("*>"): "cobol",
    CommentSigns("NB."): "j",
    CommentSigns('"', '"'): "smalltalk newspeak",
    CommentSigns("##"): "velocity",
    CommentSigns(";;"): "wast",
    CommentSigns("(:", ":)"): "xquery",
    CommentSigns("{*", "*}"): "smarty",
    CommentSigns("/"): "slim",
    CommentSigns('.\\"'): "groff",
}
_KNOWN = {alias: marks for marks, names in _LANGUAGES.items() for alias in names.split()}
_BY_SUFFIX = {
    **dict.fromkeys(("html", "htm", "xhtml", "xml", "svg", "vue", "svelte", "md"), MARKUP),
    **dict.fromkeys(("css",), C_BLOCK),
    **dict.fromkeys(("py", "sh", "yml", "yaml", "toml", "rb", "cfg", "conf", "env"), HASH),
    **dict.fromkeys(("js", "ts", "tsx", "jsx", "c", "h", "rs", "go", "java", "json"), SLASHES),
}
"""What needs no lexer."""
USUAL = (
    HASH, SLASHES, DASHES, SEMICOLON, PERCENT, BANG, QUOTE, CommentSigns('"'), C_BLOCK,
    CommentSigns("(*", "*)"), MARKUP, CommentSigns("{-", "-}"), CommentSigns("REM "),
    CommentSigns("*"), CommentSigns("\\"), CommentSigns("|"), CommentSigns("##"),
)  # fmt: skip
"""Signs that an unknown language is asked about, in this order."""


def marks_of(buffer: Buffer, line: int) -> CommentSigns | None:
    """The signs at a line; None if the language has none.

    Inside of ``<script>`` and ``<style>`` and of a Markdown fence they are that language's.
    """
    suffix = buffer.path.rpartition("/")[2].rpartition(".")[2].lower()
    marks = _BY_SUFFIX.get(suffix)
    if marks is MARKUP:
        return _embedded(buffer, line, fences=suffix == "md") or marks
    if marks is not None:
        return marks
    lines = [line[:_SAMPLE_COLUMNS] for line in buffer.lines[:_SAMPLE_LINES]]
    return _by_name(buffer.path, "\n".join(lines))


def toggle(cursor: Cursor, marks: CommentSigns) -> Typing:
    """Take the signs off if all lines have them, else put them before every line."""
    lines = cursor.buffer.lines
    rows = [row for row in lines_of(cursor) if lines[row].strip()] or list(lines_of(cursor))[:1]
    if all(_is_comment(lines[row], marks) for row in rows):
        edits = [edit for row in reversed(rows) for edit in _without(lines[row], row, marks)]
    else:
        margin = min(indent_of(lines[row]) for row in rows)
        edits = [edit for row in reversed(rows) for edit in _with(lines[row], row, margin, marks)]
    return Typing(tuple(edits), "comment", keep_selection=True)


def _is_comment(line: str, marks: CommentSigns) -> bool:
    text = line.strip()
    before, behind = marks.before.strip(), marks.behind
    return text.startswith(before) and text.endswith(behind) and len(text) >= len(before + behind)


def _with(line: str, row: int, margin: int, marks: CommentSigns) -> list[TextEdit]:
    """Signs around a line; where it holds what would end the comment, it stays as it is."""
    if marks.behind and marks.behind in line:
        return []
    opening = (row, margin)
    edits = [TextEdit(opening, opening, marks.before.strip() + " ")]
    if marks.behind:
        end = (row, len(line.rstrip()))
        edits.insert(0, TextEdit(end, end, f" {marks.behind}"))
    return edits


def _without(line: str, row: int, marks: CommentSigns) -> list[TextEdit]:
    """The signs taken off, each with one blank."""
    before, start, stop = marks.before.strip(), indent_of(line), len(line.rstrip())
    behind = start + len(before)
    edits = []
    if marks.behind:
        last = stop - len(marks.behind)
        first = last - 1 if last - 1 > behind and line[last - 1] == " " else last
        edits.append(TextEdit((row, first), (row, stop), ""))
        stop = first
    end = behind + 1 if behind < stop and line[behind] == " " else behind
    edits.append(TextEdit((row, start), (row, end), ""))
    return edits


def _embedded(buffer: Buffer, line: int, *, fences: bool) -> CommentSigns | None:
    """The signs of the language inside of a script, style sheet or fence around a line."""
    for row in range(line - 1, max(line - _LINES_BACK, 0) - 1, -1):
        text = buffer.lines[row].strip().lower()
        if fences and text.startswith(("```", "~~~")):
            return _of_fence(buffer, row)
        if "</script" in text or "</style" in text:
            return None
        if "<script" in text:
            return SLASHES
        if "<style" in text:
            return C_BLOCK
    return None


def _of_fence(buffer: Buffer, row: int) -> CommentSigns | None:
    """The signs inside of the fence that begins at a row; None if it ends there."""
    above = buffer.lines[max(row - _LINES_BACK, 0) : row]
    if sum(line.strip().startswith(("```", "~~~")) for line in above) % 2:
        return None
    name = buffer.lines[row].strip().strip("`~").strip().partition(" ")[0].lower()
    return _KNOWN.get(name) or _BY_SUFFIX.get(name)


@lru_cache(maxsize=64)
def _by_name(path: str, sample: str) -> CommentSigns | None:
    """The signs of the language that Pygments takes a file for."""
    from pygments.lexers import find_lexer_class_for_filename  # only for rare languages

    found = None
    with Guard(BUILD_CPU_S):  # it asks several lexers what they think of the text
        found = find_lexer_class_for_filename(path, sample)
    if found is None:
        return HASH if path.rpartition("/")[2].startswith(".") else None
    return by_lexer(found)


def by_lexer(lexer_class: type[Lexer]) -> CommentSigns | None:
    """The signs of a lexer's language, from the table or by asking the lexer."""
    for alias in lexer_class.aliases:
        if (marks := _KNOWN.get(alias)) is not None:
            return marks
    lexer: Lexer | None = None
    with Guard(BUILD_CPU_S):
        lexer = lexer_class()
    if lexer is None:
        return None
    until = process_time() + _LEXER_CPU_S
    for marks in USUAL:
        if _takes(lexer, marks):
            return marks
        if process_time() > until:
            break
    return None


def _takes(lexer: Lexer, marks: CommentSigns) -> bool:
    """True if the lexer sees a comment in a line with these signs."""
    from pygments.token import Comment

    before, behind = marks
    text = f"{before.strip()} word one {behind}\n"
    plain = Comment.Preproc, Comment.PreprocFile, Comment.Hashbang
    with Guard():
        tokens = [item for item in lexer.get_tokens(text) if item[1].strip()]
        return bool(tokens) and all(
            token in Comment and not any(token in kind for kind in plain) for token, _ in tokens
        )
    return False
