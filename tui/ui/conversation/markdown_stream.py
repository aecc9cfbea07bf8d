"""Markdown that is still being generated: only its open end is rendered again.

What cannot change any more is settled: paragraphs behind which a new one began, and the lines
of a fence. So a frame costs what is new and one paragraph, however long the answer is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tui.ui.conversation.fences import MOST_CHARS, code_lines
from tui.ui.conversation.markdown import markdown_lines, table_head
from tui.ui.conversation.tables import TableHead
from tui.ui.rows import Line, Piece, Target

_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*$")
_INNER_FENCE = re.compile(r"\s+(?:`{3,}|~{3,})")
_CODE = re.compile(r"`[^`]*`")
_STRONG = re.compile(r"\*\*")
_EMPHASIS = re.compile(r"(?<![*\\])\*(?![*\s])|(?<=[^*\s\\])\*(?!\*)")
_ITEM = re.compile(r"^(?:[-*+]|\d{1,9}[.)])[ \t]", re.MULTILINE)
_ROWS = re.compile(r"[-*+|]|\d{1,9}[.)][ \t]")
_LONGEST_OPEN = 3000
"""Characters of an open paragraph, list or table; a longer one is settled piece by piece."""
_LONGEST_ROWS = 1500
"""Of an open list or table, which costs more and may be cut between any two rows."""
_LONGEST_ITEM = 6000
"""Of an item of a list with all that is in it."""
_LONGEST_RELEXED = 200
"""Lines of a fence that is coloured once more as a whole when it is closed."""


class Fence(NamedTuple):
    """A fence that is open."""

    marker: str
    language: str
    at: int
    """The character of the text at which it begins."""


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


class MarkdownStream:
    """Rows of one growing Markdown text; `rows` is valid after `feed` or `finish`."""

    def __init__(self, width: int, carried: Carried | None = None, start: int = 0) -> None:
        """``width`` in cells is for good: a new width needs a new stream.

        ``carried``: this is the rest of a text, from its character ``start`` on.
        """
        carried = carried or Carried()
        self.rows: list[Line] = []
        self.settled = 0
        """How many of `rows` will never change."""
        self._width = width
        self._done: list[Line] = []
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
        self._gap = False
        """A blank line was seen: the next line may begin something new."""
        self._inner = False
        """Inside a fence of a list item."""
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
        return Carried(self._fence, self._begun or bool(self._done), self._joined, self._head)

    def closed(self) -> list[Line]:
        """The rows that are settled, for good."""
        return self._done

    def settle(self) -> None:
        """No more text comes here, but what is open may go on elsewhere."""
        if self._line:
            line, self._line = self._line, ""
            self._take(line)
        self._settle_open()

    def feed(self, text: str) -> int:
        """Add text; returns the index of the first row that changed."""
        first = self.settled
        *complete, self._line = (self._line + text).split("\n")
        for line in complete:
            first = min(first, self._take(line))
        longest = _LONGEST_ROWS if _ROWS.match(self._open) else _LONGEST_OPEN
        longest = 8 * _LONGEST_OPEN if self._inner else longest
        if self._fence is None and len(self._open) + len(self._line) > longest:
            self._split()
        self._paint(first)
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
        self._paint(first)
        return first

    def _take(self, line: str) -> int:
        """One complete line; returns the first row that changed."""
        at = self._at
        self._at += len(line) + 1
        if self._fence is not None:
            marker = self._fence.marker
            bare = line.strip()
            if bare.startswith(marker) and not bare.strip(marker[0]):
                return self._close_fence()
            self._fence_code.append(line)
            self._done += self._code(line, self._fence)
            return len(self._done)
        if self._inner or _INNER_FENCE.match(line):
            self._inner ^= bool(_INNER_FENCE.match(line))
        elif found := _FENCE.match(line):
            self._settle_open()
            self._begin()
            self._fence = Fence(found[1], found[2], at)
            self._fence_from, self._fence_code = len(self._done), []
            return len(self._done)
        elif self._gap and line[:1].strip():
            self._settle_open()
        self._gap = not line.strip()
        if not self._open:
            self._open_at = at
        self._open += f"{line}\n"
        return len(self._done)

    def _code(self, code: str, fence: Fence, before: Sequence[Iterable[Piece]] = ()) -> list[Line]:
        """Rows of a fence, which the keys act on together."""
        target = Target("code", line=fence.at)
        found = code_lines(code, fence.language, self._width, before)
        return [line._replace(target=target) for line in found]

    def _close_fence(self) -> int:
        """Colour the whole fence at once, since strings and comments may span lines."""
        assert self._fence is not None
        fence, self._fence = self._fence, None
        if not self._fence_code:
            return len(self._done)
        if fence.language and _spans_lines(self._fence_code):
            code = "\n".join(self._fence_code)
            before = [line.pieces for line in self._done[self._fence_from :]]
            self._done[self._fence_from :] = self._code(code, fence, before)
        return self._fence_from

    def _begin(self) -> None:
        """The empty row before a block."""
        if (self._done or self._begun) and not self._joined:
            self._done.append(Line([]))
        self._joined = False

    def _settle_open(self) -> None:
        if found := self._rendered(self._open, self._open_at):
            self._begin()
            self._done += found
        self._open, self._gap, self._inner, self._head = "", False, False, None

    def _rendered(self, source: str, at: int) -> list[Line]:
        """Rows of the open end."""
        if not source.strip():
            return []
        return markdown_lines(source, self._width, at, self._head)

    def _split(self) -> None:
        """Settle most of an open end that has grown too long to be rendered every frame."""
        source, at = self._open, self._open_at
        if not source:
            cut = self._line.rfind(" ", 0, _LONGEST_OPEN) + 1 or _LONGEST_OPEN
            self._open, self._line = self._line[:cut], self._line[cut:]
            self._open_at, self._at = self._at, self._at + cut
            self._settle_open()
            self._joined = True
            return
        cut = _last_item(source)
        if not cut and _ITEM.match(source) and len(source) < _LONGEST_ITEM:
            return
        cut = cut or len(source)
        whole = (self._head.source if self._head else "") + source[:cut]
        head = table_head(whole, self._width) if cut == len(source) else None
        if head is not None and self._head is not None:
            head = self._head
        self._open = source[:cut]
        self._settle_open()
        self._open, self._open_at, self._head, self._joined = source[cut:], at + cut, head, True

    def _paint(self, first: int) -> None:
        """Put the settled rows and the open end together; rows before ``first`` stay."""
        del self.rows[first:]
        self.rows += self._done[first:]
        self.settled = len(self._done)
        if self._fence is not None:
            # a line of backticks only may become the closing fence: not shown until it is clear
            if self._line.strip(" `~"):
                self.rows += self._code(self._line, self._fence)
            return
        at = self._open_at if self._open else self._at
        if found := self._rendered(mended(self._open + self._line), at):
            if (self._done or self._begun) and not self._joined:
                self.rows.append(Line([]))
            self.rows += found


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


def _spans_lines(code: list[str]) -> bool:
    """True if a string or comment of this code may go over several lines."""
    if len(code) > _LONGEST_RELEXED or sum(map(len, code)) + len(code) > MOST_CHARS:
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
