"""Where words are in rows: over the ends of wrapped rows too, counted and in cells."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.ui.rows import MARGIN, Row

_LEAD = re.compile(r"[\s▎│▌╌•┃]*")
"""Bars, bullets and indents at the beginning of a row are no part of what is said."""
_SIGNS = re.compile(r"[*_`~\\|\[\]<>#]+")
"""What Markdown takes away: a word may stand around it."""


_INFO = re.compile(r"^[ \t>]*(?:`{3,}|~{3,})[^`\n]*$", re.MULTILINE)
"""What a fence says of its code is not shown."""


class Span(NamedTuple):
    """A match's part on one row, in cells; the last one is behind it."""

    row: int
    start: int
    end: int


Match = tuple[Span, ...]


class Light(NamedTuple):
    """Cells of a row that are painted in another style; the last one is behind them."""

    start: int
    end: int
    style: Style


class Needle:
    """What is looked for: words, in any case unless one of the letters is a capital."""

    def __init__(self, words: str) -> None:
        parts = words.split()
        exact = words != words.lower()
        self.words = words
        self._pattern = re.compile(
            r"\s+".join(map(re.escape, parts)) or r"(?!)", 0 if exact else re.IGNORECASE
        )
        self._parts = [bare for part in parts if (bare := _bare(part))]

    def __bool__(self) -> bool:
        return bool(self.words.strip())

    def may_be_in(self, source: str) -> bool:
        """False if no row that this Markdown makes can hold it: most of a conversation."""
        if not self._parts or "&" in source:
            return True
        bare = _bare(source)
        return all(part in bare for part in self._parts)

    def count_in_source(self, source: str) -> int | None:
        """How often it is in what this Markdown shows; None: its rows must be asked.

        Nearly so: a word within which emphasis begins is missed, a title that is not shown counts.
        """
        words = self.words.split()
        if any(_SIGNS.search(word.replace("_", "")) or "&" in word for word in words):
            return None
        shown = _INFO.sub("", source)
        if len(words) == 1:
            return self.count(shown)
        return None if "_" in self.words else self.count(_SIGNS.sub("", shown))

    def count(self, text: str) -> int:
        """How often it is in a text."""
        return sum(1 for _ in self._pattern.finditer(text))

    def count_in_rows(self, texts: Iterable[str]) -> int:
        """How often it is in rows under each other."""
        return self.count(" ".join(_body(text)[1] for text in texts))

    def matches(self, rows: Sequence[Row]) -> list[Match]:
        """All places in rows under each other, from top to bottom."""
        bodies = [_body(row.text) for row in rows]
        starts, at = [], 0
        for _, body in bodies:
            starts.append(at)
            at += len(body) + 1
        whole = " ".join(body for _, body in bodies)
        found: list[Match] = []
        for match in self._pattern.finditer(whole):
            first = bisect_right(starts, match.start()) - 1
            spans = []
            for number in range(first, len(bodies)):
                lead, body = bodies[number]
                begin = max(match.start() - starts[number], 0)
                end = min(match.end() - starts[number], len(body))
                if match.end() <= starts[number]:
                    break
                if end > begin:
                    left = MARGIN + cell_len(lead + body[:begin])
                    spans.append(Span(number, left, left + cell_len(body[begin:end])))
            if spans:
                found.append(tuple(spans))
        return found


def lit(strip: Strip, lights: Iterable[Light]) -> Strip:
    """The strip with these cells in another style; they do not overlap and are in order."""
    segments: list[Segment] = []
    at, width = 0, strip.cell_length
    for start, end, style in lights:
        start, end = max(start, at), min(end, width)
        if start >= end:
            continue
        segments += strip.crop(at, start)
        segments += [
            Segment(one.text, (one.style or Style.null()) + style) for one in strip.crop(start, end)
        ]
        at = end
    segments += strip.crop(at, width)
    return Strip(segments, width)


def _body(text: str) -> tuple[str, str]:
    """The lead of a row's text, and what it says."""
    lead = _LEAD.match(text)
    at = lead.end() if lead else 0
    return text[:at], text[at:].rstrip()


def _bare(text: str) -> str:
    return _SIGNS.sub("", text).lower()
