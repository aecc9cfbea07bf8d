"""The model's words as lines that are heard one by one: a sentence each, code as it is.

A line is given out when it is whole, so whatever reads the lines aloud is never cut off and never
has to go back. How the text came in pieces makes no difference to the lines. For a terminal prose
is broken between words: at its edge a screen reader that goes by rows would read half a word.
"""

from __future__ import annotations

import re
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


_LEAST_CHARS = 40
"""A sentence that is shorter waits for the next one."""
_MOST_CHARS = 400
"""Of a line without the end of a sentence."""
_AHEAD_CHARS = 8
"""What is looked at behind the end of a sentence."""
_LONGEST_WORD = 4000
"""What is longer is cut: it is no word that anybody reads."""
_END = re.compile(r"(?<=[^\s\d.][.!?])[\"')\]*_`]*\s+(?=[\"'(\[`*_]*[A-Z0-9])")
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^`]*$")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t#]*$")
_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")


class Speech:
    """Takes text as it comes, gives whole lines."""

    def __init__(self) -> None:
        self._line = ""
        """What came of the line that is not whole yet."""
        self._fence = ""
        """The marks that opened the code; empty: this is prose."""
        self._gap = False
        """An empty line is due before the next one."""
        self._begun = False

    def take(self, text: str) -> list[str]:
        """The lines that became whole."""
        *whole, self._line = (self._line + text.replace("\r", "")).split("\n")
        found: list[str] = []
        for line in whole:
            found += self._whole(line)
        if not self._fence:
            found += self._sentences()
        return found

    def rest(self) -> list[str]:
        """What is left at the end; the next text begins anew."""
        line, self._line = self._line, ""
        found = self._whole(line) if line.strip() else []
        if self._fence:
            found.append("End of code.")
        self._fence, self._gap, self._begun = "", False, False
        return found

    def _whole(self, line: str) -> list[str]:
        """A line that is whole."""
        fence = _FENCE.match(line)
        if self._fence:
            if fence and fence[1].startswith(self._fence) and not fence[2]:
                self._fence = ""
                return ["End of code."]
            return [Verbatim(line)]
        if fence:
            self._fence = fence[1]
            return self._said([f"Code, {fence[2]}:" if fence[2] else "Code:"])
        if not line.strip():
            self._gap = self._begun
            return []
        if heading := _HEADING.match(line):
            return self._said([f"Heading {len(heading[1])}: {_plain(heading[2])}"])
        return self._said([_plain(piece) for piece in pieces(line)])

    def _sentences(self) -> list[str]:
        """The whole sentences at the beginning of the line that is still coming."""
        if self._line.lstrip()[:1] in ("#", "`", "~", ""):
            return []
        *whole, self._line = pieces(self._line)
        return self._said([_plain(piece) for piece in whole])

    def _said(self, lines: list[str]) -> list[str]:
        """These lines of prose, set apart from the paragraph before."""
        if not lines:
            return []
        gap, self._gap, self._begun = self._gap, False, True
        return ["", *lines] if gap else lines


def pieces(line: str) -> list[str]:
    """A line of prose as sentences; the last piece is what may go on."""
    found: list[str] = []
    start = at = 0
    while True:
        # no further than that: a line of a million characters must not cost more with each one
        end = _END.search(line, at, start + _MOST_CHARS + _AHEAD_CHARS)
        if end is not None and end.end() <= start + _MOST_CHARS:
            at = end.end()
            if at - start >= _LEAST_CHARS:
                found.append(line[start:at].rstrip())
                start = at
            continue
        cut = _cut(line, start)
        if cut <= start:
            return [*found, line[start:]]
        found.append(line[start:cut].rstrip())
        start = at = cut + (line[cut : cut + 1] == " ")


def _cut(line: str, start: int) -> int:
    """Where a line without the end of a sentence is cut; not behind ``start``: nowhere yet."""
    if len(line) - start <= _MOST_CHARS + _AHEAD_CHARS:
        return start
    blank = line.rfind(" ", start + 1, start + _MOST_CHARS)
    if blank < 0:
        blank = line.find(" ", start + _MOST_CHARS, start + _LONGEST_WORD)
    if blank < 0 and len(line) - start > _LONGEST_WORD:
        return start + _LONGEST_WORD
    return blank


def _plain(text: str) -> str:
    """Without the asterisks of bold type, which are nothing but noise when read aloud."""
    return _BOLD.sub(r"\1", text) if "**" in text else text
