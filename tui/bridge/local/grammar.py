"""A grammar (GBNF) for one edit of known files: that it fits is sure before it is written.

SEARCH is lines of one of the files, in their order, from one that is there only once; REPLACE is a
bounded number of bounded lines, of which none is like a marker. Lines with a common beginning share
it, so that llama.cpp follows few alternatives at a time, whatever the files' sizes are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from json.encoder import encode_basestring as _quoted

SEARCH, DIVIDER, REPLACE = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"
MOST_SEARCHED = 12
"""Lines of a SEARCH."""
MOST_ADDED = 8
"""Lines that a REPLACE has more than its SEARCH."""
MOST_CHARS = 200
"""Of a line: longer ones are not looked for, and not written."""
_MARKS = ("<<<<<<<", "=======", ">>>>>>>")
_LINES = r"""
m ::= "=======\n" r
line ::= "\n" | [^\n<=>] rest | "<" (other | "\n") | "=" (other | "\n") | ">" (other | "\n")
other ::= [^\n<=>] rest
"""
"""A line that is no marker: of the signs that markers are made of at most one begins it."""


def edit_grammar(
    files: Mapping[str, Sequence[str]], shown: Mapping[str, int], *, may_end: bool = False
) -> str:
    """For an edit of one of these files, by path their lines; ``may_end``: or none.

    Of a file in ``shown`` only so many first lines can be changed. Empty: none of them has a line
    that an edit could begin at.
    """
    rules: list[str] = []
    heads = []
    for number, (path, lines) in enumerate(files.items()):
        unusable = _unusable(lines)
        end = shown.get(path, len(lines))
        if starts := [one for one in _starts(lines, unusable) if one[1] < end]:
            rules += _followers(f"f{number}-", lines[:end], unusable)
            shared = _shared(starts, (0, len(starts), 0), f"f{number}-")
            head = _quoted(f"{path}\n{SEARCH}\n")
            heads.append(f"{head} ({shared})")
    if not heads:
        return ""
    none = '"" | ' if may_end else ""
    return "\n".join(
        [f"root ::= {none}{' | '.join(heads)}", *rules, _rest(0, MOST_SEARCHED + MOST_ADDED)]
    )


def rest_grammar(least: int, most: int) -> str:
    """For the rest of an edit whose REPLACE has begun: so many more lines, then its end."""
    return f"root ::= r\n{_rest(least, max(least, most))}"


def _rest(least: int, most: int) -> str:
    end = _quoted(f"{REPLACE}\n")
    rest = f'rest ::= [^\\n]{{0,{MOST_CHARS - 2}}} "\\n"'
    return f"r ::= line{{{least},{most}}} {end}\n{rest}{_LINES}"


def _unusable(lines: Sequence[str]) -> frozenset[str]:
    """Lines that no SEARCH can have: long ones, markers, and those with signs that are not seen."""
    text = "".join(lines).replace("\t", "")
    plain = text.isprintable() and not any(mark in text for mark in _MARKS)
    return frozenset(
        line
        for line in lines
        if len(line) > MOST_CHARS
        or not (plain or (line.replace("\t", "").isprintable() and not line.startswith(_MARKS)))
    )


def _starts(lines: Sequence[str], unusable: frozenset[str]) -> list[tuple[str, int]]:
    """The lines that are there once, sorted, with their rows."""
    once: dict[str, int] = {}
    for row, line in enumerate(lines):
        once[line] = -1 if line in once else row
    found = [(line, row) for line, row in once.items() if row >= 0 and line.strip()]
    found.sort()
    return [one for one in found if one[0] not in unusable] if unusable else found


def _followers(name: str, lines: Sequence[str], unusable: frozenset[str]) -> Iterator[str]:
    """A rule for each line: what may come behind it."""
    # a list is escaped at once: line by line it would take most of the time
    quoted = json.dumps(list(lines), ensure_ascii=False, separators=("\n", ":"))[1:-1].split("\n")
    for row, line in enumerate(lines[1:], 1):
        if row % MOST_SEARCHED and line not in unusable:
            yield f'{name}{row - 1} ::= m | {quoted[row][:-1]}\\n" {name}{row}'
        else:
            yield f"{name}{row - 1} ::= m"
    yield f"{name}{len(lines) - 1} ::= m"


def _shared(starts: list[tuple[str, int]], part: tuple[int, int, int], name: str) -> str:
    """Alternatives of sorted lines ``part[0]`` to ``part[1]``, behind their first characters."""
    low, high, depth = part
    found = []
    while low < high:
        line, row = starts[low]
        sign, end = line[depth : depth + 1], low + 1
        while end < high and starts[end][0][depth : depth + 1] == sign:
            end += 1
        if end == low + 1:
            rest = _quoted(line[depth:])[:-1]
            found.append(f'{rest}\\n" {name}{row}')
        else:
            other, common = starts[end - 1][0], depth + 1
            while line[common : common + 1] == other[common : common + 1] != "":
                common += 1
            shared = _shared(starts, (low, end, common), name)
            found.append(f"{_quoted(line[depth:common])} ({shared})")
        low = end
    return " | ".join(found)
