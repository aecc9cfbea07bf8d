"""Finding text in a buffer: matches per line, counted, next and previous."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from tui.core.buffer import Buffer, Position

MOST_MATCHES = 20_000
"""Counting stops here."""

Match = tuple[int, int, int]
"""Line, first column, column behind the last."""


class Search:
    """The matches of one needle in one buffer; empty needle: none."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        self._needle = ""
        self._case = False
        self._matches: list[Match] = []
        self._revision = buffer.revision
        self.now: Match | None = None
        """The match that was gone to."""

    @property
    def needle(self) -> str:
        """What is looked for; empty: nothing."""
        return self._needle

    @property
    def matches(self) -> list[Match]:
        """All matches in order, counted anew if the buffer changed."""
        if self._needle and self._revision != self._buffer.revision:
            self._find()
        return self._matches

    @property
    def index(self) -> int | None:
        """Which match `now` is, 0-based; None if it is gone."""
        matches = self.matches
        if self.now is None:
            return None
        place = bisect_left(matches, self.now)
        return place if place < len(matches) and matches[place] == self.now else None

    def look_for(self, needle: str, *, case: bool) -> None:
        """Search for this from now on. Upper and lower case are one unless ``case``."""
        if (needle, case) == (self._needle, self._case):
            return
        self._needle, self._case = needle, case
        self.now = None
        self._find()

    def go(self, position: Position, *, backwards: bool = False) -> Match | None:
        """The next match at or behind a position (the one before), around the end if need be."""
        matches = self.matches
        if not matches:
            self.now = None
            return None
        if backwards:
            place = bisect_left(matches, (*position, 0)) - 1
        else:
            place = bisect_left(matches, (*position, 0)) % len(matches)
        self.now = matches[place]
        return self.now

    def on_line(self, line: int) -> list[tuple[int, int, str]]:
        """The matches of a line as overlays."""
        matches = self.matches
        if not matches:
            return []
        first = bisect_left(matches, (line, 0, 0))
        last = bisect_right(matches, (line + 1, 0, 0), lo=first)
        return [
            (start, end, "match-now" if match == self.now else "match")
            for match in matches[first:last]
            for _, start, end in (match,)
        ]

    def _find(self) -> None:
        self._revision = self._buffer.revision
        self._matches = []
        needle = self._needle if self._case else self._needle.lower()
        if not needle:
            return
        for row, line in enumerate(self._buffer.lines):
            folded = line if self._case else line.lower()
            if len(folded) != len(line):
                folded = line
            col = folded.find(needle)
            while col >= 0:
                self._matches.append((row, col, col + len(needle)))
                col = folded.find(needle, col + len(needle))
            if len(self._matches) >= MOST_MATCHES:
                return
