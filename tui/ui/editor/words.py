"""Where words begin and end in a line, as editors see them.

A word is a run of letters, digits and underscores with the accents that belong to them; a run
of signs is a word of its own. The cost is that of the word, not of the line.
"""

from __future__ import annotations

import re
from unicodedata import category

from tui.core.text.buffer import Buffer, Position

_WORD = re.compile(r"\w+")
_SIGNS = re.compile(r"[^\w\s]+")
_BLANKS = re.compile(r"\s*")
_LONGEST = 4000
"""Characters gone back at most: what is longer is no word of a person."""
_JOINERS = "\u200c\u200d"


def word_at(line: str, col: int) -> tuple[int, int]:
    """Start and end of the word, run of signs or run of blanks around a column."""
    if col >= len(line):
        col = max(_base(line, len(line) - 1), 0) if line and not line[-1].isspace() else len(line)
    if col < len(line) and not line[col].isspace():
        return _start(line, _end(line, col)), _end(line, col)
    start = len(line[max(col - _LONGEST, 0) : col].rstrip()) + max(col - _LONGEST, 0)
    blanks = _BLANKS.match(line, col)
    return start, blanks.end() if blanks else col


def word_before(buffer: Buffer, position: Position) -> Position:
    """The start of the word before a position; at a line's start the end of the line above."""
    line, col = position
    if col == 0:
        return (line - 1, len(buffer.lines[line - 1])) if line else (0, 0)
    text = buffer.lines[line]
    return (line, _start(text, len(text[:col].rstrip())))


def word_after(buffer: Buffer, position: Position) -> Position:
    """The end of the word behind a position; at a line's end the start of the line below."""
    line, col = position
    text = buffer.lines[line]
    if col == len(text):
        return (line + 1, 0) if line + 1 < buffer.line_count else position
    blanks = _BLANKS.match(text, col)
    start = blanks.end() if blanks else col
    return (line, _end(text, start) if start < len(text) else len(text))


def _end(line: str, col: int) -> int:
    """Behind the run that the character at ``col`` belongs to."""
    pattern = _WORD if _is_word(line[_base(line, col)]) else _SIGNS
    end = col
    while end < len(line):
        run = pattern.match(line, end)
        last = run.end() if run else end
        while last < len(line) and _extends(line[last]):
            last += 1
        if last == end:
            break
        end = last
    return end


def _start(line: str, end: int) -> int:
    """Where the run begins that ends at ``end``."""
    if end == 0:
        return 0
    start = _base(line, end - 1)
    word = _is_word(line[start])
    while start > max(end - _LONGEST, 0):
        before = _base(line, start - 1)
        character = line[before]
        if character.isspace() or _is_word(character) != word:
            break
        start = before
    return start


def _base(line: str, col: int) -> int:
    """The character that the accent at ``col`` belongs to; ``col`` if it is none."""
    while col > 0 and _extends(line[col]):
        col -= 1
    return col


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _extends(character: str) -> bool:
    """True for what has no place of its own: accents, vowel signs, joiners."""
    return character >= "\u0300" and (character in _JOINERS or category(character)[0] == "M")
