"""Markdown that is still being generated: only its open end is rendered again.

What cannot change any more is settled: paragraphs behind which a new one began, and the lines
of a fence. So a frame costs what is new and one paragraph, however long the answer is.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tui.ui.conversation.fences import MOST_CHARS, code_lines
from tui.ui.conversation.markdown import markdown_lines
from tui.ui.rows import Line

_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*$")
_INNER_FENCE = re.compile(r"\s+(?:`{3,}|~{3,})")
_LONGEST_OPEN = 3000
"""Characters of an open paragraph, list or table; a longer one is settled piece by piece."""
_LONGEST_RELEXED = 200
"""Lines of a fence that is coloured once more as a whole when it is closed."""


class Carried(NamedTuple):
    """What text that is settled leaves to the text behind it."""

    fence: tuple[str, str] | None = None
    """Marker and language of the open fence."""
    begun: bool = False
    """There are rows above."""
    joined: bool = False
    """The next block goes on with the one before it, without an empty row."""


class MarkdownStream:
    """Rows of one growing Markdown text; `rows` is valid after `feed` or `finish`."""

    def __init__(self, width: int, carried: Carried | None = None) -> None:
        """``width`` in cells is for good: a new width needs a new stream.

        ``carried``: this is the rest of a text.
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
        return Carried(self._fence, self._begun or bool(self._done), self._joined)

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
        longest = _LONGEST_OPEN * (8 if self._inner else 1)
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
        if self._fence is not None:
            marker = self._fence[0]
            bare = line.strip()
            if bare.startswith(marker) and not bare.strip(marker[0]):
                return self._close_fence()
            self._fence_code.append(line)
            self._done += code_lines(line, self._fence[1], self._width)
            return len(self._done)
        if self._inner or _INNER_FENCE.match(line):
            self._inner ^= bool(_INNER_FENCE.match(line))
        elif found := _FENCE.match(line):
            self._settle_open()
            self._begin()
            self._fence = (found[1], found[2])
            self._fence_from, self._fence_code = len(self._done), []
            return len(self._done)
        elif self._gap and line[:1].strip():
            self._settle_open()
        self._gap = not line.strip()
        self._open += f"{line}\n"
        return len(self._done)

    def _close_fence(self) -> int:
        """Colour the whole fence at once, since strings and comments may span lines."""
        assert self._fence is not None
        language, self._fence = self._fence[1], None
        if not self._fence_code:
            return len(self._done)
        if language and _spans_lines(self._fence_code):
            code = "\n".join(self._fence_code)
            before = [line.pieces for line in self._done[self._fence_from :]]
            self._done[self._fence_from :] = code_lines(code, language, self._width, before)
        return self._fence_from

    def _begin(self) -> None:
        """The empty row before a block."""
        if (self._done or self._begun) and not self._joined:
            self._done.append(Line([]))
        self._joined = False

    def _settle_open(self) -> None:
        if found := markdown_lines(self._open, self._width) if self._open.strip() else []:
            self._begin()
            self._done += found
        self._open, self._gap, self._inner = "", False, False

    def _split(self) -> None:
        """Settle most of an open end that has grown too long to be rendered every frame."""
        if self._open:
            self._settle_open()
        else:
            at = self._line.rfind(" ", 0, _LONGEST_OPEN) + 1 or _LONGEST_OPEN
            self._open, self._line = self._line[:at], self._line[at:]
            self._settle_open()
        self._joined = True

    def _paint(self, first: int) -> None:
        """Put the settled rows and the open end together; rows before ``first`` stay."""
        del self.rows[first:]
        self.rows += self._done[first:]
        self.settled = len(self._done)
        if self._fence is not None:
            # a line of backticks only may become the closing fence: not shown until it is clear
            if self._line.strip(" `~"):
                self.rows += code_lines(self._line, self._fence[1], self._width)
            return
        source = self._open + self._line
        if source.strip():
            if (self._done or self._begun) and not self._joined:
                self.rows.append(Line([]))
            self.rows += markdown_lines(source, self._width)


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
