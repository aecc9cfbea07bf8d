"""Markdown that is still being generated: only its open end is rendered again.

What cannot change any more is settled: paragraphs behind which a new one began, and the lines
of a fence. So a frame costs what is new and one paragraph, however long the answer is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tui.core.text.patterns import pattern
from tui.ui.conversation.fences import LONGEST_LINE, MOST_CHARS, code_lines
from tui.ui.conversation.markdown import (
    Nest,
    TableHead,
    markdown_lines,
    nest_at_end,
    open_head,
    table_head,
)
from tui.ui.styled_text import Piece, RowTarget, StyledLine, breaks

_FENCE = pattern(r"( {0,3})(?:(`{3,})[ \t]*([^\s`]*)[^`]*|(~{3,})[ \t]*(\S*).*)$")
_FENCES = pattern(r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:`{3,}[^`\n]*$|~{3,})", re.MULTILINE)
"""Lines that open or close code, in whatever they stand."""
_CODE = pattern(r"`[^`]*`")
_STRONG = re.compile(r"\*\*")
_EMPHASIS = re.compile(r"(?<![*\\])\*(?![*\s])|(?<=[^*\s\\])\*(?!\*)")
_ITEM = pattern(r"^(?:[-*+]|\d{1,9}[.)])[ \t]", re.MULTILINE)
_ROWS = pattern(r"[-*+][ \t]|\||\d{1,9}[.)][ \t]")
_LONGEST_OPEN = 3000
"""Characters of an open paragraph, list or table; a longer one is settled piece by piece."""
_LONGEST_ROWS = 1500
"""Of an open list or table, which costs more and may be cut between any two rows."""
_LONGEST_ITEM = 3000
"""Of an item of a list with all that is in it."""
_LONGEST_CODE = 2000
"""Of a line of code that is open."""
_COSTLY = "[[[[*_`&<~!\n"
"""Signs, and ends of lines, that cost the parser much, the worst of them several times: a text full
of them is settled sooner."""
_INNER = pattern(r"(?:[-+*>]|\d[.)])[ \t](?=[-+*>]|\d{1,9}[.)])")
"""An item or quote that begins with another one, which costs as much as four of these signs."""
_COST = 15
"""Characters that cost as much as such a sign."""
_LIGHT = 2 * _LONGEST_ROWS // (1 + 6 * _COST)
"""Characters that are never too many to be open: none counts as more than six such signs."""
_HEAVY = 50_000
"""Characters that are too many to be open, whatever they are."""
_BLANK = pattern(r" (?=[^\W\d_])")
"""Where a line may be cut, so that its rest does not begin with a sign."""
_LONGEST_RELEXED = 200
"""Lines of a fence that is coloured once more as a whole when it is closed."""


class Fence(NamedTuple):
    """A fence that is open."""

    marker: str
    language: str
    at: int
    """The character of the text at which it begins."""
    indent: int = 0
    """Blanks before it, as many of which are none of the code."""


class Carried(NamedTuple):
    """What text that is settled leaves to the text behind it."""

    fence: Fence | None = None
    """The open fence."""
    begun: bool = False
    """There are rows above."""
    joined: bool = False
    """The next block goes on with the one before it, without an empty row."""
    head: TableHead | None = None
    """Of the table that goes on."""
    nest: Nest | None = None
    """The items and quotes that go on."""
    gap: bool = False
    """It ends with a blank line."""
    middle: bool = False
    """It ends within a line."""


class MarkdownStream:
    """Rows of one growing Markdown text; `rows` is valid after `feed` or `finish`."""

    def __init__(self, width: int, carried: Carried | None = None, start: int = 0) -> None:
        """``width`` in cells is for good: a new width needs a new stream.

        ``carried``: this is the rest of a text, from its character ``start`` on.
        """
        carried = carried or Carried()
        self.rows: list[StyledLine] = []
        self.settled = 0
        """How many of `rows` will never change."""
        self._width = width
        self.done: list[StyledLine] = []
        """The rows that are settled, for good."""
        self._open = ""
        """Source of the open end: complete lines that are not settled."""
        self._line = ""
        """Source of the last line, which has no newline yet."""
        self._at = start
        """The character of the text with which `_line` begins."""
        self._open_at = start
        """The same of `_open`."""
        self._head = carried.head
        """Of the table with whose rows `_open` begins."""
        self._nest = carried.nest
        """The items and quotes within which `_open` begins."""
        self._gap = carried.gap
        """A blank line was seen: the next line may begin something new."""
        self._middle = carried.middle
        """The beginning of `_line` is settled."""
        self._fence = carried.fence
        self._fence_from = 0
        self._fence_code: list[str] = []
        self._begun = carried.begun
        self._joined = carried.joined

    @property
    def fenced(self) -> bool:
        """The end is within a fence."""
        return self._fence is not None

    @property
    def unsettled(self) -> int:
        """Characters at the end that are not settled."""
        return len(self._open) + len(self._line)

    @property
    def carried(self) -> Carried:
        """For a stream that goes on with what is not settled."""
        begun = self._begun or bool(self.done)
        gap = self._gap and not self._open
        return Carried(self._fence, begun, self._joined, self._head, self._nest, gap, self._middle)

    def settle(self) -> None:
        """No more text comes here, but what is open may go on elsewhere."""
        if self._line:
            line, self._line = self._line, ""
            self._take(line)
        self._settle_open()

    def feed(self, text: str) -> int:
        """Add text; returns the index of the first row that changed."""
        return self.paint(self.take(text))

    def take(self, text: str) -> int:
        """Add text that is shown with the next `paint`, which must have the lowest that came."""
        first = self.settled
        *complete, self._line = (self._line + text).split("\n")
        for line in complete:
            first = min(first, self._take(line))
        self._line = self._bounded(self._line)
        return first

    def finish(self) -> int:
        """The text is complete; returns the index of the first row that changed."""
        first = self.settled
        if self._line:
            line, self._line = self._line, ""
            first = min(first, self._take(line))
        if self._fence is not None:
            first = min(first, self._close_fence())
        self._settle_open()
        return self.paint(first)

    def _take(self, line: str) -> int:
        """One complete line; returns the first row that changed."""
        line = self._bounded(line)
        at, middle = self._at, self._middle
        self._at += len(line) + 1
        self._middle = False
        if self._fence is not None:
            if not middle and closes(line, self._fence.marker):
                return self._close_fence()
            self._add_code(line, self._fence, middle)
            return len(self.done)
        found = None if middle else _FENCE.match(line)
        if found is not None and (not found[1] or self._is_at_margin(line)):
            self._settle_open()
            self._joined = False
            self._begin()
            marker, language = found[2] or found[4], found[3] or found[5] or ""
            self._fence = Fence(marker, language, at, len(found[1]))
            self._fence_from, self._fence_code = len(self.done), []
            return len(self.done)
        self._gap = not line.strip()
        if not self._open:
            self._open_at = at
        self._open += f"{line}\n"
        return len(self.done)

    def _is_at_margin(self, line: str) -> bool:
        """True if this line opens a fence that is in no item and no quote."""
        nest = nest_at_end(f"{self._open}{line}", self._open_at, self._nest)
        return nest is not None and nest.coded and not nest.inside

    def _bounded(self, line: str) -> str:
        """Settle what has grown too long to be made every frame; returns the rest of the line.

        What comes in whatever pieces is cut at the same places.
        """
        if self._fence is not None:
            return self._bounded_code(line, self._fence)
        if self._gap and line[:1].strip():
            self._settle_open()
            self._joined = False
        while self._open and _weight(self._open + line) > _longest(self._open):
            if not self._split():
                break
        while len(line) > _LIGHT and _weight(line) > (longest := _longest(line)):
            line = self._cut(line, longest)
        return line

    def _bounded_code(self, line: str, fence: Fence) -> str:
        """The same of a line of code: it is cut where a row of it begins."""
        while len(line) > _LONGEST_CODE:
            cut = breaks(line[:_LONGEST_CODE], self._width - 2)[-1][0] or _LONGEST_CODE
            self._add_code(line[:cut], fence, self._middle, plain=True)
            self._at, self._middle, line = self._at + cut, True, line[cut:]
        return line

    def _add_code(self, line: str, fence: Fence, middle: bool, *, plain: bool = False) -> None:
        code = line if middle else dedented(line, fence.indent)
        self._fence_code.append(code)
        self.done += self._code(code, fence._replace(language="") if plain or middle else fence)

    def _code(
        self, code: str, fence: Fence, before: Sequence[Iterable[Piece]] = ()
    ) -> list[StyledLine]:
        """Rows of a fence, which the keys act on together."""
        target = RowTarget("code", line=fence.at)
        return code_lines(code, fence.language, self._width, before, target)

    def _close_fence(self) -> int:
        """Colour the whole fence at once, since strings and comments may span lines."""
        assert self._fence is not None
        fence, self._fence = self._fence, None
        if not self._fence_code:
            return len(self.done)
        if fence.language and _spans_lines(self._fence_code):
            code = "\n".join(self._fence_code)
            before = [line.pieces for line in self.done[self._fence_from :]]
            self.done[self._fence_from :] = self._code(code, fence, before)
        return self._fence_from

    def _begin(self) -> None:
        """The empty row before a block."""
        if (self.done or self._begun) and not self._joined:
            self.done.append(StyledLine([]))
        self._joined = False

    def _settle_open(self) -> None:
        if found := self._rendered(self._open, self._open_at):
            self._begin()
            self.done += found
        self._open, self._gap, self._head, self._nest = "", False, None, None

    def _rendered(self, source: str, at: int) -> list[StyledLine]:
        """Rows of the open end."""
        if not source.strip():
            return []
        return markdown_lines(source, self._width, at, self._head or self._nest)

    def _split(self) -> bool:
        """Settle most of the open end; False: it is better kept whole."""
        source, at, gap = self._open, self._open_at, self._gap
        listed = self._nest is not None or _ITEM.match(source) is not None
        cut, nest, head = _last_item(source) if listed else 0, None, None
        if not cut:
            if listed and _weight(source) < _LONGEST_ITEM:
                return False
            nest, cut = nest_at_end(source, at, self._nest), len(source)
            if nest is None:
                head = self._head  # more rows of the same table
                if head is None:
                    head = table_head(source, self._width)
                elif not open_head(head.source + source):
                    head = None
            elif nest.coded and source.strip():
                cut = source.find("\n", len(source.rstrip())) + 1
        self._open = source[:cut]
        blank = self._open.endswith("\n\n")
        self._settle_open()
        self._open, self._open_at = source[cut:], at + cut
        self._head, self._nest, self._gap, self._joined = head, nest, gap, not blank
        return True

    def _cut(self, line: str, longest: int) -> str:
        """Settle the beginning of a line, and all that is open; returns its rest."""
        most = longest
        while _weight(line[:most]) > longest:
            most = most * 2 // 3
        cut = max((found.end() for found in _BLANK.finditer(line, most // 2, most)), default=most)
        if not self._open:
            self._open_at = self._at
        self._open += line[:cut]
        self._at, self._middle = self._at + cut, True
        nest = nest_at_end(self._open, self._open_at, self._nest)
        self._settle_open()
        self._joined = True
        if nest is not None:
            self._nest = nest._replace(source=nest.source + nest.inside)
        return line[cut:]

    def paint(self, first: int) -> int:
        """Put the settled rows and the open end together; rows before ``first`` stay."""
        del self.rows[first:]
        self.rows += self.done[first:]
        self.settled = len(self.done)
        line = self._line.removesuffix("\r")
        if self._fence is not None:
            # a line of backticks only may become the closing fence: not shown until it is clear
            if line.strip(" `~"):
                done = len(self._fence_code)
                self._add_code(line, self._fence, self._middle)
                self.rows += self.done[self.settled :]
                del self.done[self.settled :], self._fence_code[done:]
            return first
        at = self._open_at if self._open else self._at
        if found := self._rendered(self._shown(line), at):
            if (self.done or self._begun) and not self._joined:
                self.rows.append(StyledLine([]))
            self.rows += found
        return first

    def _shown(self, line: str) -> str:
        """What is shown of the open end: signs that are to come are there, in code none are."""
        source = self._open + line
        coded = self._nest is not None and self._nest.coded
        if "```" in source or "~~~" in source:
            coded ^= len(_FENCES.findall(self._open)) % 2 == 1
        if not coded:
            return mended(source)
        return source if line.strip(" `~>") else self._open


def mended(source: str) -> str:
    """The open end with its last emphasis closed, so that no sign is seen that vanishes soon."""
    at = source.rfind("\n\n") + 1
    before, text = source[:at], source[at:].rstrip("*")
    if text.count("`") % 2:
        bare = text.rstrip("`")
        return before + (f"{text}`" if bare == text else bare)
    outside = _CODE.sub("", text)
    for sign, found in (("**", _STRONG), ("*", _EMPHASIS)):
        if len(found.findall(outside)) % 2:
            text = text.rstrip()
            text = text[: -len(sign)] if text.endswith(sign) else text + sign
    return before + text


def _last_item(source: str) -> int:
    """Where the last item of a list begins that is not within another one; 0: there is none.

    A list is cut there only, since items within it are told by their indent.
    """
    last = 0
    if _ITEM.match(source):
        for found in _ITEM.finditer(source):
            last = found.start()
    return last


def _longest(source: str) -> int:
    """How much of a text that begins like this may be open."""
    return _LONGEST_ROWS if _ROWS.match(source) else _LONGEST_OPEN


def _weight(text: str) -> int:
    """Characters, or more where they cost more; of a text too long in any case only those."""
    if len(text) > _HEAVY:
        return len(text)
    signs = sum(map(text.count, _COSTLY)) + 4 * len(_INNER.findall(text))
    return max(len(text), (len(text) + _COST * signs) // 2)


def closes(line: str, marker: str) -> bool:
    """True if the line ends the fence that was opened with this marker."""
    bare = line.strip()
    near = len(line) - len(line.lstrip(" ")) < 4 and not line.startswith("\t")
    return near and bare.startswith(marker) and not bare.strip(marker[0])


def dedented(line: str, most: int) -> str:
    """A line of code without as many leading blanks as its fence has, and without its CR."""
    blanks = len(line) - len(line.lstrip(" "))
    return line[min(blanks, most) :].removesuffix("\r")


def _spans_lines(code: list[str]) -> bool:
    """True if a string or comment of this code may go over several lines."""
    if len(code) > _LONGEST_RELEXED or sum(map(len, code)) + len(code) > MOST_CHARS:
        return False
    if max(map(len, code)) > LONGEST_LINE:
        return False
    return any(
        line.count('"""') % 2
        or line.count("'''") % 2
        or line.count("`") % 2
        or ("/*" in line and "*/" not in line)
        or ("<!--" in line and "-->" not in line)
        or line.endswith("\\")
        for line in code
    )
