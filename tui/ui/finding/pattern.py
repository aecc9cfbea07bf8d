"""What is looked for in a file: plain text or a regular expression, checked and bounded.

Plain text goes through Python's `re`, escaped. Regular expressions are Python's too, but run on
the `regex` package, the only matcher with a time limit for a line; `search` has one for a query.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

LINE_LIMIT_S = 0.05
"""A line that takes longer ends the search."""
TOO_SLOW = "this pattern takes too long here; use a simpler one"
MOST_CHARS = 1000
MOST_IN_LINE = 5000
"""Matches of one line that are counted and shown."""

Span = tuple[int, int]
"""First column of a match, column behind its last."""


class Query(NamedTuple):
    """What the find bar says."""

    needle: str = ""
    case: bool = False
    """Upper and lower case differ."""
    word: bool = False
    """Whole words only."""
    regex: bool = False
    """The needle is a regular expression, with Python's syntax."""


class Pattern:
    """A query that can be looked for."""

    def __init__(self, query: Query) -> None:
        """Compile it.

        Raises:
            ValueError: it cannot be looked for; the text says why, in words for the user.
        """
        self.query = query
        if len(query.needle) > MOST_CHARS:
            raise ValueError(f"too long: at most {MOST_CHARS} characters")
        flags = 0 if query.case else re.IGNORECASE
        if query.regex:
            checked = _checked(query.needle, flags)
            self.groups = checked.groups
            self.names = dict(checked.groupindex)
            import regex  # only who searches by pattern waits for it

            source = rf"\b(?:{query.needle})\b" if query.word else query.needle
            with warnings.catch_warnings(action="ignore"):
                try:
                    self._timed = regex.compile(source, flags)
                except (regex.error, RecursionError, OverflowError, MemoryError) as error:
                    raise ValueError(f"not a pattern: {error}") from None
        else:
            self.groups, self.names = 0, {}
            self._plain = re.compile(
                _whole(query) if query.word else re.escape(query.needle), flags
            )
        self._folded = query.needle if query.case else query.needle.lower()
        self._ascii = query.needle.isascii()

    def matches(self, line: str) -> Iterator[re.Match[str]]:
        """All matches in a line, from left to right. Raises TimeoutError."""
        if self.query.regex:
            found: Iterator[re.Match[str]] = self._timed.finditer(line, timeout=LINE_LIMIT_S)
            return found
        return self._plain.finditer(line)

    def spans(self, line: str) -> tuple[Span, ...]:
        """Where the first `MOST_IN_LINE` matches of a line are. Raises TimeoutError."""
        found: list[Span] = []
        for match in self.matches(line):
            found.append(match.span())
            if len(found) == MOST_IN_LINE:
                break
        return tuple(found)

    def is_nowhere_in(self, lines: Sequence[str]) -> bool:
        """True if there is surely no match in any of these lines; quick."""
        if self.query.regex or not self._ascii:
            return False
        text = "\n".join(lines)
        if self.query.case:
            return self._folded not in text
        return text.isascii() and self._folded not in text.lower()


def _checked(needle: str, flags: int) -> re.Pattern[str]:
    """The pattern as Python understands it. Raises ValueError."""
    from tui.core.text.pattern_weight import (  # as `regex`, when it is needed
        HEAVIEST,
        pattern_weight,
    )

    if re.search(r"(?<!\\)(?:\\\\)*\\n", needle):
        raise ValueError("a pattern looks at one line at a time: leave out \\n")
    if pattern_weight(needle) > HEAVIEST:
        raise ValueError("this pattern repeats too much")
    with warnings.catch_warnings(action="ignore"):
        try:
            return re.compile(needle, flags)
        except re.error as error:
            where = "" if error.pos is None else f" at {error.pos + 1}"
            raise ValueError(f"not a pattern: {error.msg}{where}") from None
        except (RecursionError, OverflowError):
            raise ValueError("not a pattern: too deep or too large") from None


def _whole(query: Query) -> str:
    """The needle between word boundaries, where its ends are letters at all."""
    needle = query.needle
    before = r"(?<!\w)" if re.match(r"\w", needle) else ""
    behind = r"(?!\w)" if re.search(r"\w\Z", needle) else ""
    return before + re.escape(needle) + behind
