"""Where a section belongs: the matching ladder, streamed (EDITS.md sections 2 and 4).

Exact, then without trailing blanks, then without indentation (only with one uniform change of
it), then with plain punctuation. Nothing is placed by its line number or by likeness alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from tui.core.buffer import Buffer
from tui.core.hunk import Hunk
from tui.core.indent import SAME, IndentChange, indent_change
from tui.core.line_index import LineIndex, plain
from tui.core.near_miss import nearest_miss
from tui.core.rows import file_rows
from tui.core.standing import Standing


class Tier(IntEnum):
    """How well lines match; a block is as good as its worst line."""

    EXACT = 0
    RSTRIP = 1
    STRIP = 2
    UNICODE = 3
    NONE = 4


@dataclass(frozen=True, slots=True)
class Spot:
    """The one place where a section belongs."""

    row: int
    indent: IndentChange = SAME
    flags: tuple[str, ...] = ()
    skip_first: int = 0
    """Blank context lines of the patch that are left out at the start."""
    skip_last: int = 0


@dataclass(frozen=True, slots=True)
class Miss:
    """Why there is no such place."""

    reason: str
    candidates: tuple[int, ...] = ()
    """Rows to choose from if it was ambiguous."""


@dataclass(slots=True)
class Search:
    """What is known of a section's surroundings when it is looked for."""

    cursor: int = 0
    """The row behind what the previous section of this file changed."""
    placed_before: bool = False
    """A section of this file operation has been placed: the cursor means something."""
    placed: set[Hunk] = field(default_factory=set)
    """The hunks of those sections."""
    standing: Standing = field(default_factory=Standing)
    """All hunks that stand in the file."""

    def touches(self, first: int, last: int) -> bool:
        """True if rows overlap what those sections made."""
        return any(
            hunk.start.line < last and first < hunk.end.line
            for hunk in self.standing.near(first, last)
            if hunk in self.placed and hunk.start and hunk.end
        )


@dataclass(slots=True)
class _Candidate:
    row: int
    tier: Tier


@dataclass(slots=True)
class Locator:
    """Follows a section's anchors and old lines and knows where they fit.

    It reads the live text: after a change of the buffer the candidates are found anew.
    """

    buffer: Buffer
    index: LineIndex
    search: Search
    anchors: list[str] = field(default_factory=list)
    hint: int | None = None
    old: list[str] = field(default_factory=list)
    context: list[bool] = field(default_factory=list)
    """For each old line: it is context, not a removed line."""
    new: list[str] = field(default_factory=list)
    at_end: bool = False
    """``*** End of File`` was seen."""
    _found: list[_Candidate] = field(default_factory=list)
    _seen: int = 0
    """Old lines that `_found` fits."""
    _revision: int = -1
    _anchor_rows: tuple[int, list[int]] = (-1, [])

    def add_old(self, line: str, is_context: bool) -> None:
        """The next context or removed line of the section."""
        self.old.append(line)
        self.context.append(is_context)
        if is_context:
            self.new.append(line)

    def fits(self, row: int, line: str) -> bool:
        """True if a row matches a line well enough to go on painting there."""
        return row < file_rows(self.buffer) and (
            line_tier(self.buffer.lines[row], line) <= Tier.RSTRIP
        )

    def rows(self) -> list[int]:
        """Where the lines so far fit best, in order."""
        found = self._current()
        best = min((c.tier for c in found), default=Tier.NONE)
        return [c.row for c in found if c.tier == best]

    def certain(self) -> int | None:
        """The row, if the lines so far leave exactly one and it may be painted at once."""
        if not self.old:
            return None
        found = self._current()
        best = min((c.tier for c in found), default=Tier.NONE)
        if best > Tier.RSTRIP:
            return None
        rows = [c.row for c in found if c.tier == best]
        if self.anchors:
            anchors = self.anchor_rows()
            rows = [row for row in rows if anchors and row >= anchors[0]]
        if len(rows) != 1 or (self.search.placed_before and rows[0] < self.search.cursor):
            return None
        return rows[0]

    def anchor_rows(self) -> list[int]:
        """Where the (stacked) anchors stand; empty if one of them is not found."""
        if self._anchor_rows[0] == self.buffer.revision:
            return self._anchor_rows[1]
        rows = [-1]
        for anchor in self.anchors:
            hits = self._anchor_hits(anchor)
            nearest = {next((hit for hit in hits if hit > row), -1) for row in rows}
            rows = sorted(nearest - {-1})
        if self.search.placed_before:
            rows = [row for row in rows if row >= self.search.cursor] or rows
        self._anchor_rows = (self.buffer.revision, rows)
        return rows

    def choose(self) -> Spot | Miss:
        """Decide, now that the section is whole."""
        if not self.old:
            return self._for_additions()
        found, indents, flags, skips = self._best()
        if not found:
            return Miss(nearest_miss(self.buffer, self.index, self.old, self.new))
        if self.at_end:
            last = file_rows(self.buffer)
            ends = [row for row in found if row + len(self.old) - sum(skips) == last]
            if ends:
                return Spot(ends[0], indents[ends[0]], tuple(flags), *skips)
            flags.append("not at the end of the file")
        row, flag = self._pick(found, fuzzy=bool(flags))
        if row is None:
            words = lines_in_words(found)
            reason = f"ambiguous: it fits at {words}" + (f" ({flags[0]})" if flags else "")
            return Miss(reason, tuple(found))
        if flag:
            flags.append(flag)
        if self.search.placed_before and row < self.search.cursor:
            above = not flags and row + self._lead() >= self.search.cursor
            if above:
                flags.append("its context is what an earlier hunk of this patch wrote")
            elif flags or self.search.touches(row, row + len(self.old)):
                why = "it fits only what an earlier hunk of this patch has changed"
                return Miss(f"context not found: {why}, at line {row + 1}")
            else:
                flags.append("out of order")
        return Spot(row, indents[row], tuple(flags), *skips)

    def at(self, row: int) -> Spot | None:
        """The place at a row, which a person chose; None if the section does not fit there."""
        by_hand = "placed by hand"
        if not self.old:
            fits = row - 1 in self.anchor_rows() or not self.anchors
            return Spot(row, flags=(by_hand,)) if fits else None
        found, indents, flags, skips = self._best()
        return Spot(row, indents[row], (*flags, by_hand), *skips) if row in found else None

    def _lead(self) -> int:
        """How many lines of context come before the first changed line."""
        count = 0
        for old, new, is_context in zip(self.old, self.new, self.context, strict=False):
            if not is_context or old != new:
                break
            count += 1
        return count

    def _pick(self, rows: list[int], fuzzy: bool) -> tuple[int | None, str]:
        """The one of several rows, and why a person should look at it."""
        anchors = self.anchor_rows() if self.anchors else []
        lost = "anchor not found" if self.anchors and not anchors else ""
        if anchors:
            behind = [row for row in rows if row >= anchors[0]]
            lost = "" if behind else "before its anchor"
            rows = behind or rows
        if len(rows) == 1:
            return rows[0], lost
        if fuzzy:
            return None, ""
        if self.hint is not None:
            near = sorted(rows, key=lambda row: abs(row - (self.hint or 0)))
            if abs(near[0] - self.hint) < abs(near[1] - self.hint):
                return near[0], "several places fit: the nearest to its line number"
        if len(anchors) == 1 and not lost:
            return rows[0], ""
        after = [row for row in rows if row >= self.search.cursor]
        if self.search.placed_before and after:
            return after[0], "several places fit: the first after the previous hunk"
        return None, ""

    def _for_additions(self) -> Spot | Miss:
        """A section of only added lines."""
        if not self.anchors:
            return Spot(file_rows(self.buffer))
        rows = self.anchor_rows()
        if not rows:
            return Miss(f"anchor not found: {self.anchors[-1].strip()!r} is not in the file")
        flag = "only added lines: put after its anchor"
        if len(rows) > 1 and not self.search.placed_before:
            starts = tuple(row + 1 for row in rows)
            reason = f"ambiguous: its anchor is at {lines_in_words(rows)}"
            return Miss(reason, starts)
        return Spot(rows[0] + 1, flags=(flag,))

    def _best(self) -> tuple[list[int], dict[int, IndentChange], list[str], tuple[int, int]]:
        """Rows on the best tier that has any, their indentation, flags and blank lines cut."""
        rows, indents, flags = self._ladder(self._current(), self.old)
        if rows:
            return rows, indents, flags, (0, 0)
        first, last = self._outer_blanks()
        if not (first or last) or first + last >= len(self.old):
            return [], {}, [], (0, 0)
        trimmed = self.old[first : len(self.old) - last]
        rows, indents, flags = self._ladder(self._matches(trimmed), trimmed)
        return rows, indents, ["outer blank lines differ", *flags], (first, last)

    def _outer_blanks(self) -> tuple[int, int]:
        blank = [
            kept and not line.strip() for line, kept in zip(self.old, self.context, strict=True)
        ]
        first = next((i for i, b in enumerate(blank) if not b), len(blank))
        last = next((i for i, b in enumerate(reversed(blank)) if not b), len(blank))
        return first, last

    def _ladder(
        self, found: list[_Candidate], old: Sequence[str]
    ) -> tuple[list[int], dict[int, IndentChange], list[str]]:
        for tier in Tier:
            rows = [c.row for c in found if c.tier == tier]
            if tier <= Tier.RSTRIP:
                if rows:
                    return rows, dict.fromkeys(rows, SAME), []
                continue
            indents = {}
            for row in rows:
                change = indent_change(self.buffer.lines[row : row + len(old)], old)
                if change is not None:
                    indents[row] = change
            if indents:
                changed = next(iter(indents.values()))
                flag = [changed.words()] if changed != SAME else []
                if tier is Tier.UNICODE:
                    flag.append("punctuation differs")
                return list(indents), indents, flag or ["indentation differs"]
        return [], {}, []

    def _current(self) -> list[_Candidate]:
        """The candidates for the lines so far, on every tier."""
        if self._revision != self.buffer.revision or not self._seen:
            self._found = self._matches(self.old)
        else:
            for at in range(self._seen, len(self.old)):
                self._found = _narrowed(self._found, self.buffer, at, self.old[at])
        self._seen = len(self.old)
        self._revision = self.buffer.revision
        return self._found

    def _matches(self, old: Sequence[str]) -> list[_Candidate]:
        if not old:
            return []
        found = [_Candidate(row, Tier.EXACT) for row in self.index.rows(old[0])]
        for at, line in enumerate(old):
            found = _narrowed(found, self.buffer, at, line)
        return found

    def _anchor_hits(self, anchor: str) -> list[int]:
        rows = self.index.rows(anchor)
        lines = self.buffer.lines
        exact = [row for row in rows if lines[row].rstrip() == anchor.rstrip()]
        if rows:
            return exact or rows
        wanted = plain(anchor)
        begun = [row for row, line in enumerate(lines) if plain(line).startswith(wanted)]
        return begun if len(begun) == 1 and wanted else []


def line_tier(file: str, patch: str) -> Tier:
    """How well one line matches."""
    if file == patch:
        return Tier.EXACT
    if file.rstrip() == patch.rstrip():
        return Tier.RSTRIP
    if file.strip() == patch.strip():
        return Tier.STRIP
    return Tier.UNICODE if plain(file) == plain(patch) else Tier.NONE


def lines_in_words(rows: Sequence[int], limit: int = 8) -> str:
    """``lines 3, 10 and 17``, 1-based."""
    numbers = [str(row + 1) for row in rows[:limit]]
    if len(rows) > limit:
        numbers.append(f"{len(rows) - limit} more")
    if len(numbers) == 1:
        return f"line {numbers[0]}"
    return f"lines {', '.join(numbers[:-1])} and {numbers[-1]}"


def _narrowed(found: list[_Candidate], buffer: Buffer, offset: int, line: str) -> list[_Candidate]:
    count, lines = file_rows(buffer), buffer.lines
    kept = []
    for candidate in found:
        row = candidate.row + offset
        if row < count:
            tier = max(candidate.tier, line_tier(lines[row], line))
            if tier < Tier.NONE:
                kept.append(_Candidate(candidate.row, tier))
    return kept
