"""Lines for a terminal: prose is broken between words, code stays as it is.

A terminal breaks a long line wherever its edge is, and a screen reader that goes by rows would
then read half a word.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

LEAST_WIDTH = 20
"""In a narrower terminal nothing is broken here."""


class Verbatim(str):
    """A line of code, of a difference or of a command's output: never broken."""

    __slots__ = ()


def verbatim(lines: Iterable[str]) -> list[str]:
    """These lines are not to be broken."""
    return [Verbatim(line) for line in lines]


def broken(line: str, width: int | None) -> Iterator[str]:
    """A line of prose as lines of at most ``width`` cells, where there are blanks to break at."""
    if width is None or width < LEAST_WIDTH or cells(line) <= width:
        yield line
        return
    row, used = "", 0
    for word in line.split(" "):
        wide = cells(word)
        if row.strip() and used + 1 + wide > width:
            yield row
            row, used = word, wide
        else:
            row = f"{row} {word}" if row or used else word
            used = cells(row) if not row.isascii() else len(row)
    yield row


def cells(text: str) -> int:
    """About how wide a text is on a terminal."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))
