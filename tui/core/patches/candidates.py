"""Rows at which the lines of a section so far fit, by how well, narrowed line by line.

A line is compared with ten thousand rows where the first one was a blank: what most rows are (the
same text, or nothing like it) is found out by comparing and searching strings only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum

from tui.core.text.indent import indent_change, indentation
from tui.core.text.line_index import CommonLines, Form, RowSet, plain

_GROUPS = 16
"""More ways to be indented are looked at before the next line of a section."""


class Tier(IntEnum):
    """How well lines match; a block is as good as its worst line."""

    EXACT = 0
    RSTRIP = 1
    STRIP = 2
    UNICODE = 3
    NONE = 4


_TIERS = tuple(Tier)
FORMS: tuple[Form, ...] = (str, str.rstrip, str.strip, plain)
"""What is the same in two lines that match on a tier, or on one above it."""


class Candidates:
    """Rows on each tier, in order."""

    __slots__ = ("_tiers",)

    def __init__(self, rows: Iterable[int] = ()) -> None:
        """``rows`` are looked at from the first line on: see `narrow`."""
        self._tiers: list[list[int]] = [list(rows), [], [], []]

    def on(self, tier: Tier) -> list[int]:
        """The rows that fit so well and no better; not to be changed."""
        return self._tiers[tier] if tier < Tier.NONE else []

    def aligned(self, tier: Tier, lines: Sequence[str], old: Sequence[str]) -> list[int]:
        """Those on a tier whose indentation differs from that of ``old`` in one way."""
        size = len(old)
        return [
            row for row in self.on(tier) if indent_change(lines[row : row + size], old) is not None
        ]

    @property
    def best(self) -> Tier:
        """The best tier that has rows; NONE: there are none."""
        for tier, rows in zip(_TIERS, self._tiers, strict=False):
            if rows:
                return tier
        return Tier.NONE

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


class CommonCandidates:
    """The same, where every line is in many rows: none of them is looked at by itself.

    A tier is looked at only when it is asked for: mostly the first one is enough.
    """

    __slots__ = ("_common", "_old", "_sets", "_within")

    def __init__(self, common: CommonLines, old: Iterable[str]) -> None:
        self._common = common
        self._old = list(old)
        self._within = [(0, 0)] * len(FORMS)
        """For each tier, rows that fit on it or above it, for so many lines."""
        self._sets: dict[Tier, RowSet] = {}

    def on(self, tier: Tier) -> RowSet:
        """The rows that fit so well and no better."""
        found = self._sets.get(tier)
        if found is None:
            bits = self._fitting(tier) if tier < Tier.NONE else 0
            if tier > Tier.EXACT and bits:
                bits &= ~self._fitting(Tier(tier - 1))
            found = self._sets[tier] = RowSet(bits)
        return found

    def aligned(self, tier: Tier, lines: Sequence[str], old: Sequence[str]) -> RowSet:
        """Those on a tier whose indentation differs from that of ``old`` in one way."""
        theirs: list[str] = []
        groups: list[tuple[list[str], int]] = [([], self.on(tier).bits)]
        for at, line in enumerate(old):
            if not line.strip():
                continue
            theirs.append(line)
            ours = self._common.groups(indentation, line).items()
            groups = [
                ([*indents, indent], both)
                for indents, bits in groups
                for indent, rows in ours
                if (both := bits & rows >> at)
            ]
            if len(groups) > _GROUPS:
                groups = _with_one_change(groups, theirs)
        found = 0
        for _, bits in _with_one_change(groups, theirs):
            found |= bits
        return RowSet(found)

    @property
    def best(self) -> Tier:
        """The best tier that has rows; NONE: there are none."""
        return next((tier for tier in Tier if tier < Tier.NONE and self.on(tier)), Tier.NONE)

    def narrow(self, lines: Sequence[str], count: int, offset: int, line: str) -> None:
        """Keep what has ``line`` so many rows further on; see `Candidates.narrow`."""
        self._old.append(line)
        self._sets.clear()

    def _fitting(self, tier: Tier) -> int:
        bits, seen = self._within[tier]
        for at in range(seen, len(self._old)):
            if at and not bits:
                break
            rows = self._common.rows(FORMS[tier], self._old[at]) >> at
            bits = bits & rows if at else rows
        self._within[tier] = bits, len(self._old)
        return bits


def _with_one_change(
    groups: list[tuple[list[str], int]], theirs: Sequence[str]
) -> list[tuple[list[str], int]]:
    return [
        (indents, bits)
        for indents, bits in groups
        if indent_change([f"{indent}x" for indent in indents], theirs) is not None
    ]


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
