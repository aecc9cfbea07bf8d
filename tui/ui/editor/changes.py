"""What keys do to the text, as data: ranges to replace and where the cursor goes then.

Pure functions of a buffer and a cursor; the editor applies the result through the workspace.
Several replacements of one key are listed bottom up, so that each is still true when it is made.
Lines that are moved stay in place and their neighbour walks around them: that costs one line, and
marks inside of what is moved stay where they are.

Indentation comes by itself at Enter, and when a closing bracket or an ``else:`` is typed: by what
the file is called (no lexer: this runs inside a keystroke) and by a bounded number of lines above.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import NamedTuple

from msgspec import Struct

from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Position
from tui.core.text.patterns import pattern
from tui.ui.editor.cells import line_cells
from tui.ui.editor.cursor import Cursor, indent_of, word_after, word_before

_INDENT_SAMPLE = 400
"""Lines looked at to tell a file's indentation."""
DEFAULT_INDENT = "    "


class TextEdit(Struct, frozen=True):
    """Replace ``start .. end`` by ``text``."""

    start: Position
    end: Position
    text: str


class Typing(Struct, frozen=True):
    """The replacements of one key."""

    replacements: tuple[TextEdit, ...]
    group: str
    """Keys of one group that follow each other are undone as one."""
    keep_selection: bool = False
    goes_to: tuple[Position, Position] | None = None
    """Where the selection's anchor and the cursor stand afterwards; None: behind the change."""


def insert(cursor: Cursor, text: str, group: str = "type") -> Typing:
    """Text typed or pasted, in the place of the selection; line endings as in the file."""
    start, end = cursor.selection or (cursor.position, cursor.position)
    return Typing((TextEdit(start, end, as_in(cursor.buffer, text)),), group)


def indent_lines(cursor: Cursor, indent: str) -> Typing:
    """Tab: indent the selected lines, or fill up to the next stop."""
    selection = cursor.selection
    if selection is None or selection[0][0] == selection[1][0]:
        if indent == "\t":
            return insert(cursor, "\t", "indent")
        start = selection[0] if selection else cursor.position
        cell = line_cells(cursor.buffer.lines[start[0]]).cell(start[1])
        return insert(cursor, " " * (len(indent) - cell % len(indent)), "indent")
    edits = tuple(
        TextEdit((line, 0), (line, 0), indent)
        for line in reversed(lines_of(cursor))
        if cursor.buffer.lines[line].strip()
    )
    return Typing(edits, "indent-lines", keep_selection=True)


def dedent_lines(cursor: Cursor, indent: str) -> Typing:
    """Shift+Tab: take one step of indentation off the selected lines."""
    edits = []
    for line in reversed(lines_of(cursor)):
        text = cursor.buffer.lines[line]
        width = _step_back(text, indent_of(text), indent)
        if width:
            edits.append(TextEdit((line, 0), (line, width), ""))
    return Typing(tuple(edits), "dedent-lines", keep_selection=True)


def _or_selection(change: Callable[[Cursor, str], Typing]) -> Callable[[Cursor, str], Typing]:
    """The same, but with a selection that is deleted."""

    @wraps(change)
    def deleted(cursor: Cursor, indent: str) -> Typing:
        if cursor.selection:
            return _delete(*cursor.selection, "cut")
        return change(cursor, indent)

    return deleted


@_or_selection
def backspace(cursor: Cursor, indent: str) -> Typing:
    """Delete what stands before the cursor; in an indentation one step."""
    buffer, (line, col) = cursor.buffer, cursor.position
    if col == 0:
        if line == 0:
            return Typing((), "backspace")
        return _delete((line - 1, len(buffer.lines[line - 1])), (line, 0), "backspace")
    text = buffer.lines[line]
    if indent != "\t" and not text[:col].strip(" "):
        start = (col - 1) // len(indent) * len(indent)
    else:
        start = line_cells(text).before(col)
    return _delete((line, start), (line, col), "backspace")


@_or_selection
def delete(cursor: Cursor, indent: str) -> Typing:
    """Delete the grapheme under the cursor."""
    buffer, (line, col) = cursor.buffer, cursor.position
    if col < len(buffer.lines[line]):
        after = line_cells(buffer.lines[line]).after(col)
        return _delete((line, col), (line, after), "delete")
    if line + 1 < buffer.line_count:
        return _delete((line, col), (line + 1, 0), "delete")
    return Typing((), "delete")


@_or_selection
def delete_word_left(cursor: Cursor, indent: str) -> Typing:
    """Delete back to the start of the word."""
    return _delete(word_before(cursor.buffer, cursor.position), cursor.position, "word-left")


@_or_selection
def delete_word_right(cursor: Cursor, indent: str) -> Typing:
    """Delete up to the end of the word."""
    return _delete(cursor.position, word_after(cursor.buffer, cursor.position), "word-right")


@_or_selection
def delete_to_line_end(cursor: Cursor, indent: str) -> Typing:
    """Delete up to the line's end; there already: the line's ending."""
    buffer, (line, col) = cursor.buffer, cursor.position
    end = len(buffer.lines[line])
    if col < end:
        return _delete((line, col), (line, end), "to-end")
    below = (line + 1, 0) if line + 1 < buffer.line_count else (line, col)
    return _delete((line, col), below, "to-end")


@_or_selection
def delete_to_line_start(cursor: Cursor, indent: str) -> Typing:
    """Delete back to the line's start; there already: the ending above."""
    buffer, (line, col) = cursor.buffer, cursor.position
    if col:
        return _delete((line, 0), (line, col), "to-start")
    above = (line - 1, len(buffer.lines[line - 1])) if line else (0, 0)
    return _delete(above, (line, col), "to-start")


def indentation(buffer: Buffer) -> str:
    """One step of indentation as this file uses it: a tab, or 2 to 8 spaces."""
    steps: dict[str, int] = {}
    before = 0
    for line in buffer.lines[:_INDENT_SAMPLE]:
        if not line.strip():
            continue
        if line.startswith("\t"):
            steps["\t"] = steps.get("\t", 0) + 1
            continue
        here = len(line) - len(line.lstrip(" "))
        if 2 <= here - before <= 8:
            step = " " * (here - before)
            steps[step] = steps.get(step, 0) + 1
        before = here
    if not steps:
        return "\t" if buffer.path.endswith((".go", "Makefile", ".mk")) else DEFAULT_INDENT
    return max(steps, key=lambda step: steps[step])


def as_in(buffer: Buffer, text: str) -> str:
    """``text`` with the line ending of this file."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return plain.replace("\n", buffer.newline) if buffer.newline != "\n" else plain


def lines_of(cursor: Cursor) -> range:
    """Selected lines; one of which only the start is selected does not count."""
    start, end = cursor.selection or (cursor.position, cursor.position)
    last = end[0] - 1 if end[1] == 0 and end[0] > start[0] else end[0]
    return range(start[0], last + 1)


def _delete(start: Position, end: Position, group: str) -> Typing:
    return Typing((TextEdit(start, end, ""),) if start < end else (), group)


def _step_back(text: str, width: int, indent: str) -> int:
    if text.startswith("\t"):
        return 1
    spaces = width - len(text[:width].lstrip(" "))
    return min(spaces, len(indent) if indent != "\t" else 4)


def whole_lines(cursor: Cursor) -> str:
    r"""The cursor's lines with ``\n`` behind each, as a clipboard wants them; empty if blank."""
    lines = lines_of(cursor)
    text = "\n".join(cursor.buffer.lines[lines.start : lines.stop])
    return text + "\n" if text else ""


def cut(cursor: Cursor) -> Typing:
    """Delete the selection, else the cursor's line."""
    if cursor.selection:
        return Typing((TextEdit(*cursor.selection, ""),), "cut")
    return delete_lines(cursor)


def insert_above(cursor: Cursor, text: str, group: str) -> Typing:
    """Insert whole lines above the cursor's; with a selection in its place."""
    if cursor.selection:
        return Typing((TextEdit(*cursor.selection, as_in(cursor.buffer, text)),), group)
    line, col = cursor.position
    here = (line + text.count("\n"), col)
    inserted = TextEdit((line, 0), (line, 0), as_in(cursor.buffer, text))
    return Typing((inserted,), group, goes_to=(here, here))


def delete_lines(cursor: Cursor) -> Typing:
    """Delete the selected lines, or the cursor's, with their endings."""
    buffer, lines = cursor.buffer, lines_of(cursor)
    if lines.stop < buffer.line_count:
        start, end = (lines.start, 0), (lines.stop, 0)
    elif lines.start:
        start, end = (lines.start - 1, len(buffer.lines[lines.start - 1])), buffer.end
    else:
        start, end = (0, 0), buffer.end
    return Typing((TextEdit(start, end, ""),) if start < end else (), "delete-lines")


def duplicate(cursor: Cursor) -> Typing:
    """Put a copy behind the lines (or behind what is selected in one), and go there."""
    buffer, selection = cursor.buffer, cursor.selection
    if selection is not None and selection[0][0] == selection[1][0]:
        text = buffer.slice(*selection)
        line, end = selection[1]
        goes_to = _kept(cursor, lambda at: (line, at[1] + len(text)))
        return Typing((TextEdit((line, end), (line, end), text),), "duplicate", goes_to=goes_to)
    lines = lines_of(cursor)
    last = (lines.stop - 1, len(buffer.lines[lines.stop - 1]))
    ending = buffer.endings[lines.stop - 1] or buffer.newline
    text = ending + buffer.slice((lines.start, 0), last)
    goes_to = _kept(cursor, lambda at: (at[0] + len(lines), at[1]))
    return Typing((TextEdit(last, last, text),), "duplicate", goes_to=goes_to)


def move(cursor: Cursor, step: int) -> Typing:
    """Move the lines up (-1) or down (1) by one; at the file's edge nothing happens."""
    buffer, lines = cursor.buffer, lines_of(cursor)
    last = (lines.stop - 1, len(buffer.lines[lines.stop - 1]))
    goes_to = _kept(
        cursor,
        # Behind the file's last line there is no start of a line: its end does as well.
        lambda at: (at[0] + step, at[1]) if at[0] + step < buffer.line_count else (at[0], last[1]),
    )
    if step < 0:
        if lines.start == 0:
            return Typing((), "move-lines")
        above = lines.start - 1
        text = buffer.endings[above] + buffer.lines[above]
        edits = (
            TextEdit(last, last, text),
            TextEdit((above, 0), (lines.start, 0), ""),
        )
    else:
        if lines.stop == buffer.line_count:
            return Typing((), "move-lines")
        below = lines.stop
        text = buffer.lines[below] + buffer.endings[below - 1]
        edits = (
            TextEdit(last, (below, len(buffer.lines[below])), ""),
            TextEdit((lines.start, 0), (lines.start, 0), text),
        )
    return Typing(edits, "move-lines", goes_to=goes_to)


def _kept(cursor: Cursor, moved: Callable[[Position], Position]) -> tuple[Position, Position]:
    """Anchor and cursor after their text has moved."""
    return moved(cursor.anchor), moved(cursor.position)


_LINES_BACK = 2000
"""Lines in which an opening bracket is looked for."""
_LONGEST = 2000
"""Characters before the cursor that are looked at."""
_CLOSERS = {")": "(", "]": "[", "}": "{"}
_PAIRS = ("()", "[]", "{}")
_NEVER = r"(?!)"
_QUOTED = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'"


class Style(NamedTuple):
    """What makes the next line deeper or shallower."""

    opens: re.Pattern[str]
    """At the end of the code before the cursor: deeper."""
    ends: re.Pattern[str]
    """A statement after which nothing follows in its block: back by a step."""
    code: re.Pattern[str]
    """Finds strings (group 1) and the comment behind the code."""


def _style(opens: str, ends: str = _NEVER, comment: str = "//") -> Style:
    behind = f"|{re.escape(comment)}.*" if comment else ""
    return Style(pattern(opens), pattern(ends), pattern(f"({_QUOTED}){behind}"))


_BRACKETS = r"[{(\[]\s*$"
_STYLES = {
    "python": _style(
        r"[:{(\[]\s*$", r"^\s*(?:return|pass|break|continue|raise)\b(?!\s*[=.\[])", comment="#"
    ),
    "yaml": _style(r"(?:[:{(\[]|:\s*[|>][+-]?\d*)\s*$", comment="#"),
    "braces": _style(r"(?:[{(\[]|^\s*(?:case\b.*|default\s*):|=>)\s*$"),
    "hash": _style(_BRACKETS, comment="#"),
    "shell": _style(r"(?:[{(\[]|\b(?:then|do|else|in))\s*$", comment="#"),
    "words": _style(
        r"(?:[{(\[]|\b(?:then|do|else|repeat|begin)(?:\s*\|[^|]*\|)?"
        r"|^\s*(?:local\s+)?(?:class|module|def|function|if|elsif|elseif|unless|while|until|for"
        r"|case|when|begin|rescue|ensure|loop|defmodule|struct|let|try|catch|finally)\b.*)\s*$",
        comment="#",
    ),
    "markup": _style(
        r"<(?!/|!|\?|(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)"
        r"[\w:.-]+(?:[^<>]*[^<>/])?>\s*$",
        comment="",
    ),
    "prose": _style(_NEVER, comment=""),
    "": _style(_BRACKETS, comment=""),
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


def language_of(path: str) -> str:
    """Which indentation a file has, by its name: ``python``, ``braces``, ...; empty: unknown."""
    suffix = path.rpartition("/")[2].rpartition(".")[2].lower()
    return next((name for name, known in _SUFFIXES.items() if suffix in known.split()), "")


def style_of(path: str) -> Style:
    """The style of a file, by its name."""
    return _STYLES[language_of(path)]


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
