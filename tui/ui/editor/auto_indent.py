"""Indentation by itself: at Enter, and when a closing bracket or an ``else:`` is typed.

By what the file is called (no lexer: this runs inside a keystroke) and by the lines around.
What is pasted keeps the indentation that it has. The cost does not depend on the file: what
opened a block is looked for in a bounded number of lines.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from tui.core.text.buffer import Buffer
from tui.ui.editor.changes import TextEdit, Typing, insert
from tui.ui.editor.cursor import Cursor, indent_of

_LINES_BACK = 2000
"""Lines in which an opening bracket is looked for."""
_LONGEST = 2000
"""Characters before the cursor that are looked at."""
_CLOSERS = {")": "(", "]": "[", "}": "{"}
_PAIRS = ("()", "[]", "{}")
_NEVER = r"(?!)"


class Style(NamedTuple):
    """What makes the next line deeper or shallower."""

    opens: re.Pattern[str]
    """At the end of the code before the cursor: deeper."""
    ends: re.Pattern[str]
    """A statement after which nothing follows in its block: back by a step."""
    code: re.Pattern[str]
    """Finds strings (group 1) and the comment behind the code."""


class _Words(NamedTuple):
    opens: str
    ends: str = _NEVER
    comment: str = "//"


_BRACKETS = r"[{(\[]\s*$"
_STYLES = {
    "python": _Words(
        r"[:{(\[]\s*$", r"^\s*(?:return|pass|break|continue|raise)\b(?!\s*[=.\[])", comment="#"
    ),
    "yaml": _Words(r"(?:[:{(\[]|:\s*[|>][+-]?\d*)\s*$", comment="#"),
    "braces": _Words(r"(?:[{(\[]|^\s*(?:case\b.*|default\s*):|=>)\s*$"),
    "hash": _Words(_BRACKETS, comment="#"),
    "shell": _Words(r"(?:[{(\[]|\b(?:then|do|else|in))\s*$", comment="#"),
    "words": _Words(
        r"(?:[{(\[]|\b(?:then|do|else|repeat|begin)(?:\s*\|[^|]*\|)?"
        r"|^\s*(?:local\s+)?(?:class|module|def|function|if|elsif|elseif|unless|while|until|for"
        r"|case|when|begin|rescue|ensure|loop|defmodule|struct|let|try|catch|finally)\b.*)\s*$",
        comment="#",
    ),
    "markup": _Words(
        r"<(?!/|!|\?|(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)"
        r"[\w:.-]+(?:[^<>]*[^<>/])?>\s*$",
        comment="",
    ),
    "prose": _Words(_NEVER, comment=""),
    "": _Words(_BRACKETS, comment=""),
}
_SUFFIXES = {
    "python": "py pyi pyx pxd pyw bzl star",
    "yaml": "yaml yml",
    "braces": "c h cc cpp cxx hpp hh cs java js jsx mjs cjs ts tsx go rs kt kts scala swift dart"
    " php json json5 jsonc css scss less proto zig v d m mm groovy gradle sol vala",
    "hash": "toml r pl pm tf hcl nix cmake awk tcl",
    "shell": "sh bash zsh fish ksh",
    "words": "rb rake lua ex exs jl cr",
    "markup": "html htm xml xhtml svg vue svelte xsl plist",
    "prose": "md markdown rst txt adoc tex csv log org",
}
_QUOTED = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'"


def language_of(path: str) -> str:
    """Which indentation a file has, by its name: ``python``, ``braces``, ...; empty: unknown."""
    suffix = path.rpartition("/")[2].rpartition(".")[2].lower()
    return next((name for name, known in _SUFFIXES.items() if suffix in known.split()), "")


@lru_cache(maxsize=len(_STYLES))
def _style(language: str) -> Style:
    """The patterns of a language; compiled when they are needed, not when the app starts."""
    words = _STYLES[language]
    comment = f"|{re.escape(words.comment)}.*" if words.comment else ""
    code = re.compile(f"({_QUOTED}){comment}")
    return Style(re.compile(words.opens), re.compile(words.ends), code)


def style_of(path: str) -> Style:
    """The style of a file, by its name."""
    return _style(language_of(path))


def newline(cursor: Cursor, indent: str) -> Typing:
    """Enter: as deep as this line, deeper behind what opens a block, back after its last word."""
    buffer = cursor.buffer
    start, end = cursor.selection or (cursor.position, cursor.position)
    line, tail = buffer.lines[start[0]], buffer.lines[end[0]][end[1] :]
    head, ending = line[: start[1]], buffer.newline
    margin = line[: min(indent_of(line), start[1])]
    if line and not (head + tail).strip() and start == end:
        # A line of nothing but indentation is left empty.
        blank = TextEdit((start[0], 0), (start[0], len(line)), ending + line)
        return Typing((blank,), "line")
    deeper = _depth(head, tail, style_of(buffer.path))
    inner = margin + indent if deeper > 0 else _less(margin, indent) if deeper < 0 else margin
    if deeper > 0 and _closes(head, tail):
        goes_to = (start[0] + 1, len(inner))
        text = ending + inner + ending + margin
        return Typing((TextEdit(start, end, text),), "line", goes_to=(goes_to, goes_to))
    return Typing((TextEdit(start, end, ending + inner),), "line")


def line_below(cursor: Cursor, indent: str) -> Typing:
    """A new line below this one, wherever in it the cursor is."""
    line = cursor.position[0]
    text = cursor.buffer.lines[line]
    margin = text[: indent_of(text)]
    deeper = _depth(text, "", style_of(cursor.buffer.path))
    inner = margin + indent if deeper > 0 else _less(margin, indent) if deeper < 0 else margin
    at = (line, len(text))
    return Typing((TextEdit(at, at, cursor.buffer.newline + inner),), "line")


def line_above(cursor: Cursor, indent: str) -> Typing:
    """A new line above this one, as deep as it is."""
    line = cursor.position[0]
    text = cursor.buffer.lines[line]
    margin = text[: indent_of(text)]
    at, here = (line, 0), (line, len(margin))
    edit = TextEdit(at, at, margin + cursor.buffer.newline)
    return Typing((edit,), "line", goes_to=(here, here))


def character(cursor: Cursor, typed: str) -> Typing:
    """A typed character; what closes a block as the first of its line goes to the block's depth."""
    if cursor.selection is None and typed in (")", "]", "}", ":"):
        line, col = cursor.position
        text = cursor.buffer.lines[line]
        if typed in _CLOSERS and not text[:col].strip(" \t"):
            margin = _margin_of_bracket(cursor.buffer, line, typed)
        elif typed == ":" and col == len(text) and language_of(cursor.buffer.path) == "python":
            margin = _margin_of_clause(cursor.buffer, line)
        else:
            return insert(cursor, typed)
        if margin is not None and margin != text[: indent_of(text)]:
            rest = text[indent_of(text) : col] + typed
            return Typing((TextEdit((line, 0), (line, col), margin + rest),), "type")
    return insert(cursor, typed)


def _depth(head: str, tail: str, style: Style) -> int:
    """1: the next line is deeper; -1: it is back by a step; 0: as this one."""
    code = _code(head, style)
    if style.opens.search(code):
        return 1
    open_brackets = sum(code.count(pair[0]) - code.count(pair[1]) for pair in _PAIRS)
    ends = not tail.strip() and open_brackets <= 0 and style.ends.search(code)
    return -1 if ends else 0


def _code(head: str, style: Style) -> str:
    """The line before the cursor without comments and without what strings hold."""
    return style.code.sub(lambda found: '""' if found[1] else "", head[-_LONGEST:]).rstrip()


def _closes(head: str, tail: str) -> bool:
    """True if the cursor stands between a bracket (or tag) and what closes it."""
    before, after = head.rstrip()[-1:], tail.lstrip()
    return before + after[:1] in _PAIRS or (before == ">" and after.startswith("</"))


def _less(margin: str, indent: str) -> str:
    """A margin without its last step."""
    if margin.endswith("\t"):
        return margin[:-1]
    return margin[: max(len(margin) - max(len(indent), 1), 0)]


def _margin_of_bracket(buffer: Buffer, line: int, closer: str) -> str | None:
    """The margin of the line in which the bracket was opened; None if that is not found."""
    depth, opener = 1, _CLOSERS[closer]
    style = style_of(buffer.path)
    for row in range(line - 1, max(line - _LINES_BACK, 0) - 1, -1):
        text = buffer.lines[row]
        if opener not in text and closer not in text:
            continue
        for sign in reversed(_code(text[:_LONGEST], style)):
            depth += (sign == closer) - (sign == opener)
            if depth == 0:
                return text[: indent_of(text)]
    return None


_CLAUSE = r"\s*(else|elif|except|finally|case)\b"
_OPENERS = {
    "else": ("if", "elif", "for", "while", "try", "except"),
    "elif": ("if", "elif"),
    "except": ("try", "except"),
    "finally": ("try", "except", "else"),
    "case": ("case",),
}
_FIRST_WORD = r"\s*(?:async\s+)?(\w+)"


def _margin_of_clause(buffer: Buffer, line: int) -> str | None:
    """Where a Python clause belongs: under its ``if`` or ``try``; None: where it stands."""
    text = buffer.lines[line]
    clause = re.match(_CLAUSE, text)
    if clause is None:
        return None
    depth, openers = indent_of(text), _OPENERS[clause[1]]
    for row in range(line - 1, max(line - _LINES_BACK, 0) - 1, -1):
        above = buffer.lines[row]
        if not above.strip() or indent_of(above) > depth:
            continue
        word = re.match(_FIRST_WORD, above)
        fits = word is not None and word[1] in openers and above.rstrip().endswith(":")
        if fits or indent_of(above) < depth:
            return above[: indent_of(above)] if fits else None
    return None
