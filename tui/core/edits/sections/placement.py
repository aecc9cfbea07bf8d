"""Where a section belongs: the matching ladder, streamed (EDITS.md sections 2 and 4).

Exact, then without trailing blanks, then without indentation (only with one uniform change of
it), then with plain punctuation. Nothing is placed by its line number or by likeness alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from tui.core.edit_stream.events import Notation
from tui.core.edit_stream.grammar import no_prefix
from tui.core.edits.hunk import Hunk
from tui.core.edits.sections.candidates import Candidates, Tier, line_tier
from tui.core.edits.sections.near_miss import nearest_miss
from tui.core.edits.sections.rereading import Op, Reread, Rereading, reread
from tui.core.edits.standing import Standing
from tui.core.text.buffer import Buffer
from tui.core.text.indent import SAME, IndentChange, indent_change
from tui.core.text.line_index import LineIndex
from tui.core.text.rows import file_rows

_TRIED_LINES = 32
"""Of so many first lines the rarest is looked up."""
_COMMON_ROWS = 500
_FEW_LINES = 3
"""So few lines that all have more rows than that are not looked for before the next one comes."""
FIRST_BEHIND = "several places fit: the first after the previous hunk"


@dataclass(frozen=True, slots=True)
class Spot:
    """The one place where a section belongs."""

    row: int
    indent: IndentChange = SAME
    flags: tuple[str, ...] = ()
    skip_first: int = 0
    """Blank context lines of the patch that are left out at the start."""
    skip_last: int = 0
    blanks: tuple[tuple[int, int], ...] = ()
    """Before which of the section's lines how many blank lines of the file are left out."""


@dataclass(frozen=True, slots=True)
class Miss:
    """Why there is no such place."""

    reason: str
    candidates: tuple[int, ...] = ()
    """Rows to choose from if it was ambiguous."""
    fuzzy: bool = False
    """They fit only loosely: none of them may be taken without asking."""
    near: int | None = None
    """The first row of the place that is most like it, where it fits nowhere."""


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
    notation: Notation = "apply_patch"
    """What the section is written in."""
    offset: int = 0
    """How far below its line number the previous section of a unified diff was."""

    @property
    def what(self) -> str:
        """What is not found, in words of the notation."""
        return "SEARCH" if self.notation == "search_replace" else "context"

    def touches(self, first: int, last: int) -> bool:
        """True if rows overlap what those sections made."""
        return any(
            hunk.start.line < last and first < hunk.end.line
            for hunk in self.standing.near(first, last)
            if hunk in self.placed and hunk.start and hunk.end
        )


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
    ops: Sequence[Op] = ()
    """All its lines, once they are there: they may be read again if they fit nowhere."""
    bare: dict[int, int] = field(default_factory=dict)
    """Which of them have no prefix, and on which line of the stream each stands."""
    _found: Candidates = field(default_factory=Candidates)
    _seen: int = 0
    """Old lines that `_found` fits."""
    _guessed: bool = False
    """`_found` is not narrowed: there are very many."""
    _revision: int = -1
    _anchor_rows: tuple[int, list[int]] = (-1, [])

    def add_old(self, line: str, is_context: bool) -> None:
        """The next context or removed line of the section."""
        if self.anchors and self.search.notation == "unified_diff":
            self.anchors.clear()  # it may be stale, and is for added lines alone
            self._anchor_rows = (-1, [])
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
        if self.bare:
            return []
        found = self._current()
        return list(found.on(found.best))

    @property
    def tier(self) -> Tier:
        """How well the lines so far fit where they fit best."""
        return self._current(sure=True).best

    def certain(self, *, sure: bool = False) -> int | None:
        """The row, if the lines so far leave exactly one and it may be painted at once.

        Not ``sure``: it may be told a few lines later.
        """
        if not self.old or self.bare:
            return None
        found = self._current(sure=sure)
        if found.best > Tier.RSTRIP:
            return None
        rows = found.on(found.best)
        if self.anchors:
            anchors = self.anchor_rows()
            rows = [row for row in rows if anchors and row >= anchors[0]]
        if len(rows) != 1 or (self.search.placed_before and rows[0] < self.search.cursor):
            return None
        return rows[0]

    def anchor_rows(self) -> list[int]:
        """Where the innermost anchor stands, behind those around it; empty if one is not found."""
        if self._anchor_rows[0] == self.buffer.revision:
            return self._anchor_rows[1]
        rows = self._anchor_hits(self.anchors[0]) if self.anchors else []
        for anchor in self.anchors[1:]:
            rows = nearest_behind(rows, self._anchor_hits(anchor), 1)
        self._anchor_rows = (self.buffer.revision, rows)
        return rows

    def choose(self, *, explain: bool = True) -> Spot | Miss:
        """Decide, now that the section is whole; to ``explain`` why not costs a search."""
        if not self.old:
            return self._for_additions()
        found, indents, flags, skips, again = self._best()
        if not found:
            return self._nearest() if explain else Miss("")
        if self.at_end:
            last, height = file_rows(self.buffer), len(self.old) - sum(skips)
            ends = [row for row in found if row + height + left_out(again.get(row)) == last]
            if ends:
                return self._spot(ends[0], indents, flags, skips, again)
            flags.append("not at the end of the file")
        row, flag = self._pick(found, fuzzy=bool(flags))
        if row is None:
            words = lines_in_words(found)
            reason = f"ambiguous: it fits at {words}" + (f" ({flags[0]})" if flags else "")
            return Miss(reason, tuple(found), fuzzy=bool(flags))
        if flag:
            flags.append(flag)
        if self.search.placed_before and row < self.search.cursor:
            above = not flags and row + self._lead() >= self.search.cursor
            if above:
                flags.append("its context is what an earlier hunk of this patch wrote")
            elif flags or self.search.touches(row, row + len(self.old)):
                why = "what an earlier hunk of this patch has changed"
                if not self.search.touches(row, row + len(self.old)):
                    why = f"above an earlier hunk of this patch, and not surely ({flags[0]})"
                return Miss(f"{self.search.what} not found: it fits only {why}, at line {row + 1}")
            else:
                flags.append("out of order")
        return self._spot(row, indents, flags, skips, again)

    def at(self, row: int, why: str = "placed by hand") -> Spot | None:
        """The place at a row, which a person chose; None if the section does not fit there."""
        if not self.old:
            fits = row - 1 in self.anchor_rows() or not self.anchors
            return Spot(row, flags=(why,)) if fits else None
        found, indents, flags, skips, again = self._best()
        if row not in found:
            return None
        blanks = again[row].blanks if row in again else ()
        return Spot(row, indents[row], (*flags, why), *skips, blanks)

    def _spot(
        self,
        row: int,
        indents: dict[int, IndentChange],
        flags: Sequence[str],
        skips: tuple[int, int],
        again: dict[int, Reread],
    ) -> Spot | Miss:
        """The place at one of the rows found, if its lines can stand there in one way only."""
        fit = again.get(row, Reread())
        if not fit.sure:
            why = f"its added lines may stand before or behind blank lines ({flags[0]})"
            return Miss(f"ambiguous: at {lines_in_words([row])} {why}", (row,), fuzzy=True)
        return Spot(row, indents[row], tuple(flags), *skips, fit.blanks)

    def _nearest(self) -> Miss:
        """Why it fits nowhere, with the place that is most like it."""
        near = nearest_miss(self.buffer, self.index, self.old, self.new)
        words = f"{self.search.what} not found: {near.words}"
        if self.bare:
            at, line = next(iter(self.bare.items()))
            words = f"line {line}: {no_prefix(self.ops[at][1])}; {words}"
        return Miss(words, near=near.row)

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
        if anchors and not lost:
            cursor = self.search.cursor if self.search.placed_before else 0
            rows = nearest_behind([max(row, cursor) for row in anchors], rows) or rows
            if len(rows) == 1:
                return rows[0], ""
        if self.hint is not None:
            hint = self.hint + self.search.offset
            near = sorted(rows, key=lambda row: abs(row - hint))
            if abs(near[0] - hint) < abs(near[1] - hint):
                return near[0], "several places fit: the nearest to its line number"
        after = [row for row in rows if row >= self.search.cursor]
        if self.search.placed_before and after:
            return after[0], FIRST_BEHIND
        return None, ""

    def _for_additions(self) -> Spot | Miss:
        """A section of only added lines."""
        if not self.anchors:
            return self._at_the_end()
        rows = self.anchor_rows()
        if not rows:
            return Miss(f"anchor not found: {self.anchors[-1].strip()!r} is not in the file")
        flag = "only added lines: put after its anchor"
        after = [row for row in rows if row >= self.search.cursor]
        if len(rows) > 1 and not (self.search.placed_before and after):
            starts = tuple(row + 1 for row in rows)
            return Miss(f"ambiguous: its anchor is at {lines_in_words(rows)}", starts)
        if len(rows) > 1:
            return Spot(after[0] + 1, flags=(flag, FIRST_BEHIND))
        return Spot(rows[0] + 1, flags=(flag,))

    def _at_the_end(self) -> Spot | Miss:
        """Added lines without any context go to the end of the file.

        Where a line number says another place for them they are refused: by a number alone
        nothing is placed (EDITS.md section 2).
        """
        last = file_rows(self.buffer)
        if not last or (self.search.notation == "apply_patch" and self.hint is None):
            return Spot(last)
        if self.hint is None or self.hint + self.search.offset == last:
            return Spot(last, flags=("only added lines: put at the end of the file",))
        why = "it has only added lines, and a line number alone is not trusted"
        return Miss(f"context not found: {why}; give lines of the file around them")

    def _best(
        self,
    ) -> tuple[list[int], dict[int, IndentChange], list[str], tuple[int, int], dict[int, Reread]]:
        """Rows on the best tier that has any, their indentation, flags and blank lines cut.

        Read again it fits exactly, so that counts for more than lines that are only alike.
        """
        found = Candidates() if self.bare else self._current(sure=True)
        if found.best > Tier.RSTRIP and (again := self._again()).fits:
            rows = sorted(again.fits)
            return rows, dict.fromkeys(rows, SAME), again.flags, (0, 0), again.fits
        rows, indents, flags = self._ladder(found, self.old)
        if rows:
            return rows, indents, flags, (0, 0), {}
        first, last = (0, 0) if self.bare else self._outer_blanks()
        if not (first or last) or first + last >= len(self.old):
            return [], {}, [], (0, 0), {}
        trimmed = self.old[first : len(self.old) - last]
        rows, indents, flags = self._ladder(self._matches(trimmed), trimmed)
        return rows, indents, ["outer blank lines differ", *flags], (first, last), {}

    def _again(self) -> Rereading:
        prefixed = self.search.notation != "search_replace"
        return reread(self.buffer, self.index, self.ops, self.bare, prefixed=prefixed)

    def _outer_blanks(self) -> tuple[int, int]:
        any_line = self.search.notation == "search_replace"
        blank = [
            (kept or any_line) and not line.strip()
            for line, kept in zip(self.old, self.context, strict=True)
        ]
        first = next((i for i, b in enumerate(blank) if not b), len(blank))
        last = next((i for i, b in enumerate(reversed(blank)) if not b), len(blank))
        return first, last

    def _ladder(
        self, found: Candidates, old: Sequence[str]
    ) -> tuple[list[int], dict[int, IndentChange], list[str]]:
        for tier in Tier:
            rows = found.on(tier)
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

    def _is_common(self) -> bool:
        """True if the few lines so far are all over the file: that they are, is enough to know."""
        few = 0 < len(self.old) <= _FEW_LINES
        return few and min(map(self.index.count, self.old)) > _COMMON_ROWS

    def _current(self, *, sure: bool = False) -> Candidates:
        """The candidates for the lines so far, on every tier; if not ``sure``, perhaps a guess."""
        if self._revision != self.buffer.revision or not self._seen or self._guessed:
            self._guessed = not sure and self._is_common()
            first = self.old[0] if self._guessed else ""
            rows = self.index.rows(first, _COMMON_ROWS) if self._guessed else []
            self._guessed = len(rows) >= _COMMON_ROWS  # how often it is there was an estimate
            self._found = Candidates(rows) if self._guessed else self._matches(self.old)
        else:
            count = file_rows(self.buffer)
            for at in range(self._seen, len(self.old)):
                self._found.narrow(self.buffer.lines, count, at, self.old[at])
        self._seen = len(self.old)
        self._revision = self.buffer.revision
        return self._found

    def _matches(self, old: Sequence[str]) -> Candidates:
        """Where lines fit: looked for by the rarest of the first ones, a blank says nothing."""
        if not old:
            return Candidates()
        counts = [self.index.count(line) for line in old[:_TRIED_LINES]]
        rarest = counts.index(min(counts))
        count = file_rows(self.buffer)
        rows = [row - rarest for row in self.index.rows(old[rarest]) if row >= rarest]
        found = Candidates(rows)
        for at, line in enumerate(old):
            found.narrow(self.buffer.lines, count, at, line)
        return found

    def _anchor_hits(self, anchor: str) -> list[int]:
        rows = self.index.rows(anchor)
        lines = self.buffer.lines
        exact = [row for row in rows if lines[row].rstrip() == anchor.rstrip()]
        if rows:
            return exact or rows
        begun = self.index.begun(anchor, 2)
        return begun if len(begun) == 1 else []


def left_out(fit: Reread | None) -> int:
    """How many blank rows of the file the section has not."""
    return sum(count for _, count in fit.blanks) if fit else 0


def nearest_behind(starts: Sequence[int], rows: Sequence[int], least: int = 0) -> list[int]:
    """Of each start the nearest row at least so far behind it, in order; both are in order."""
    found = (bisect_left(rows, start + least) for start in starts)
    return sorted({rows[at] for at in found if at < len(rows)})


def lines_in_words(rows: Sequence[int], limit: int = 8) -> str:
    """``lines 3, 10 and 17``, 1-based."""
    numbers = [str(row + 1) for row in rows[:limit]]
    if len(rows) > limit:
        numbers.append(f"{len(rows) - limit} more")
    if len(numbers) == 1:
        return f"line {numbers[0]}"
    return f"lines {', '.join(numbers[:-1])} and {numbers[-1]}"
