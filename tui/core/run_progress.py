"""How far a run has come, read from its output as it streams: ``37/120``."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Sequence

MOST_LINE_CHARS = 2000
"""Of a line that is looked at."""
_LINES, _LINES_AT_FIRST = 1000, 100
"""Of one piece of output that are looked at, and so many until a format is known: a flood of short
lines costs no more than this."""


class RunProgress:
    """Fed with output; the first format that finds something in it is the one that counts.

    Each of a format's patterns is searched in each line, the first that fits holds. Its groups:
    ``done`` and ``all`` say it outright, ``ticks`` has a character for each test, ``did`` is a
    number of tests that ran, ``more`` one of tests that begin; without a group it is one test.
    """

    def __init__(self, formats: Iterable[Sequence[re.Pattern[str]]]) -> None:
        self._formats = [patterns for patterns in formats if patterns]
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._line = ""
        self._done = self._all = 0
        self._now = 0
        """Tests of the line that is not whole yet."""

    @property
    def words(self) -> str:
        """``37/120``, or ``37`` where nobody says how many there are; empty: not known."""
        done = self._done + self._now
        if self._all:
            return f"{min(done, self._all)}/{self._all}"
        return str(done) if done else ""

    def feed(self, data: bytes) -> None:
        """More of the output."""
        if not self._formats:
            return
        *whole, rest = (self._line + self._decoder.decode(data)).split("\n")
        for line in whole[-_LINES if len(self._formats) == 1 else -_LINES_AT_FIRST :]:
            self._take(line)
        self._line, self._now = rest[:MOST_LINE_CHARS], 0
        match = self._match(self._line)
        if match is not None and match.groupdict().get("ticks"):
            self._now = len(match["ticks"])

    def _take(self, line: str) -> None:
        match = self._match(line[:MOST_LINE_CHARS].rstrip())
        if match is None:
            return
        found = {name: text for name, text in match.groupdict().items() if text is not None}
        if "done" in found:
            self._done = int(found["done"])
        elif "more" in found:
            self._all += int(found["more"])
        elif "all" not in found:
            self._done += len(found["ticks"]) if "ticks" in found else int(found.get("did", 1))
        if "all" in found:
            self._all = int(found["all"])

    def _match(self, line: str) -> re.Match[str] | None:
        if not line:
            return None
        for patterns in self._formats:
            for pattern in patterns:
                if (match := pattern.search(line)) is not None:
                    self._formats = [patterns]
                    return match
        return None
