"""Rows at which the lines of a section so far fit, by how well, narrowed line by line.

A line is compared with ten thousand rows where the first one was a blank: what most rows are (the
same text, or nothing like it) is found out by comparing and searching strings only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum

from tui.core.text.line_index import plain


class Tier(IntEnum):
    """How well lines match; a block is as good as its worst line."""

    EXACT = 0
    RSTRIP = 1
    STRIP = 2
    UNICODE = 3
    NONE = 4


class Candidates:
    """Rows on each tier, in order."""

    __slots__ = ("_tiers",)

    def __init__(self, rows: Iterable[int] = ()) -> None:
        """``rows`` are looked at from the first line on: see `narrow`."""
        self._tiers: list[list[int]] = [list(rows), [], [], []]

    def on(self, tier: Tier) -> list[int]:
        """The rows that fit so well and no better; not to be changed."""
        return self._tiers[tier] if tier < Tier.NONE else []

    @property
    def best(self) -> Tier:
        """The best tier that has rows; NONE: there are none."""
        return next((tier for tier in Tier if tier < Tier.NONE and self._tiers[tier]), Tier.NONE)

    def narrow(self, lines: Sequence[str], count: int, offset: int, line: str) -> None:
        """Keep what has ``line`` so many rows further on; of the lines only ``count`` are text."""
        found: list[list[int]] = [[], [], [], []]
        for tier, rows in enumerate(self._tiers):
            if not rows:
                continue
            if rows[-1] + offset >= count:
                rows = [row for row in rows if row + offset < count]
            exact = [row for row in rows if lines[row + offset] == line]
            found[tier] += exact
            if len(exact) < len(rows):
                for row in _alike(rows, lines, offset, line):
                    worst = max(tier, line_tier(lines[row + offset], line))
                    if worst < Tier.NONE:
                        found[worst].append(row)
        for rows in found[1:]:
            rows.sort()
        self._tiers = found


def line_tier(file: str, patch: str) -> Tier:
    """How well one line matches."""
    if file == patch:
        return Tier.EXACT
    if file.rstrip() == patch.rstrip():
        return Tier.RSTRIP
    if file.strip() == patch.strip():
        return Tier.STRIP
    return Tier.UNICODE if plain(file) == plain(patch) else Tier.NONE


def _alike(rows: list[int], lines: Sequence[str], offset: int, line: str) -> list[int]:
    """Those whose line is not the same and may match: all that do match are among them."""
    wanted = plain(line)
    if not wanted:
        return [r for r in rows if (text := lines[r + offset]) != line and not text.strip()]
    return [
        row
        for row in rows
        if (text := lines[row + offset]) != line and (wanted in text or not text.isascii())
    ]
