"""Where a section belongs: the matching ladder, streamed (EDITS.md sections 2 and 4).

Exact, then without trailing blanks, then without indentation (only with one uniform change of
it), then with plain punctuation. Nothing is placed by its line number or by likeness alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from tui.core.document.hunk import Hunk
from tui.core.document.hunk_list import HunkIndex
from tui.core.edit_stream.events import Notation
from tui.core.edit_stream.v4a import no_prefix
from tui.core.patches.candidates import (
    FORMS,
    Candidates,
    CommonCandidates,
    Tier,
    line_tier,
    nearest_miss,
)
from tui.core.patches.rereading import Op, Reread, Rereading, reread
from tui.core.text.buffer import Buffer
from tui.core.text.indent import SAME, IndentChange, indent_change, indentation
from tui.core.text.line_index import LineIndex, RowSet, nearest_behind
from tui.core.text.rows import file_rows

_TRIED_LINES = 32
"""Of so many lines the rarest is looked up, if it is none that is all over the file."""
_COMMON_ROWS = 500
"""A line in more rows than that is."""
LEFT_ALONE = "the lines that it replaces are quoted with another indentation"
AT_THE_END = "only added lines: put at the end of the file"
_OPENS = (":", "{", "(", "[")
FIRST_BEHIND = "several places fit: the first after the previous hunk"


class Spot(Struct, frozen=True):
    """The one place where a section belongs."""

    row: int
    indent: IndentChange = SAME
    flags: tuple[str, ...] = ()
    skip_first: int = 0
    """Blank context lines of the patch that are left out at the start."""
    skip_last: int = 0
    blanks: tuple[tuple[int, int], ...] = ()
    """Before which of the section's lines how many blank lines of the file are left out."""

    def left_alone(self) -> Spot:
        """The same place for new lines that are indented as the file is already."""
        others = (flag for flag in self.flags if flag != self.indent.words())
        return replace(self, indent=SAME, flags=(*others, LEFT_ALONE))


class Miss(Struct, frozen=True):
    """Why there is no such place."""

    reason: str
    candidates: Sequence[int] = ()
    """Rows to choose from if it was ambiguous."""
    fuzzy: bool = False
    """They fit only loosely: none of them may be taken without asking."""
    near: int | None = None
    """The first row of the place that is most like it, where it fits nowhere."""


class Search(Struct):
    """What is known of a section's surroundings when it is looked for."""

    cursor: int = 0
    """The row behind what the previous section of this file changed."""
    placed_before: bool = False
    """A section of this file operation has been placed: the cursor means something."""
    placed: set[Hunk] = field(default_factory=set)
    """The hunks of those sections."""
    landed: HunkIndex = field(default_factory=HunkIndex)
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
            for hunk in self.landed.near(first, last)
            if hunk in self.placed and hunk.start and hunk.end
        )


class _Fit(NamedTuple):
    """Where lines fit best."""

    rows: Sequence[int]
    old: Sequence[str]
    flags: tuple[str, ...] = ()
    skips: tuple[int, int] = (0, 0)
    """Blank lines cut off at the start and the end: ``old`` is without them."""
    indented: bool = False
    """Their indentation may be another one."""
    again: Mapping[int, Reread] = MappingProxyType({})
    """How they fit at each row if they were read again."""


class Locator(Struct):
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
    _found: Candidates | CommonCandidates = field(default_factory=Candidates)
    _seen: int = 0
    """Old lines that `_found` fits."""
    _revision: int = -1
    _anchor_rows: tuple[int, Sequence[int]] = (-1, ())

    def add_old(self, line: str, is_context: bool) -> None:
        """The next context or removed line of the section."""
        if self.anchors and self.search.notation == "unified_diff":
            self.anchors.clear()  # it may be stale, and is for added lines alone
            self._anchor_rows = (-1, ())
        self.old.append(line)
        self.context.append(is_context)
        if is_context:
            self.new.append(line)

    def add_lines(self, lines: Sequence[tuple[str, str]]) -> None:
        """Lines of the section, each with its op."""
        for op, text in lines:
            if op == "+":
                self.new.append(text)
            else:
                self.add_old(text, op == "=")

    def fits(self, row: int, line: str) -> bool:
        """True if a row matches a line well enough to go on painting there."""
        return row < file_rows(self.buffer) and (
            line_tier(self.buffer.lines[row], line) <= Tier.RSTRIP
        )

    def rows(self) -> Sequence[int]:
        """Where the lines so far fit best, in order."""
        if self.bare:
            return ()
        found = self._current()
        return found.on(found.best)

    def places(self) -> Sequence[int]:
        """All rows to choose from, now that the section is whole, in the text as it is."""
        return self._best().rows if self.old else _next_rows(self.anchor_rows())

    def forget(self) -> None:
        """Keep no rows: they are looked for again when somebody asks."""
        self._found, self._seen = Candidates(), 0
        self._anchor_rows = (-1, ())

    @property
    def tier(self) -> Tier:
        """How well the lines so far fit where they fit best."""
        return self._current().best

    def certain(self) -> int | None:
        """The row, if the lines so far leave exactly one and it may be painted at once."""
        if not self.old or self.bare:
            return None
        found = self._current()
        best = found.best
        if best > Tier.RSTRIP:
            return None
        rows: Sequence[int] = found.on(best)
        if self.anchors:
            anchors = self.anchor_rows()
            rows = _from(rows, anchors[0]) if anchors else ()
        if len(rows) != 1 or (self.search.placed_before and rows[0] < self.search.cursor):
            return None
        return rows[0]

    def only_place(self, old: Sequence[str]) -> int | None:
        """The row, if lines of which none was added yet are exactly in one place.

        None: they are not, or it is dear to find out. Looked for line by line they are found in
        that place, too: they fit exactly there from the first one on, and the last one leaves it.
        """
        lines, size, ends = self.buffer.lines, len(old), file_rows(self.buffer)
        only = self.index.only(old[:_TRIED_LINES])
        firsts = self._rarest(old) if only is None else [only[1] - only[0]]
        rows = [row for row in firsts if row >= 0 and lines[row : row + size] == old]
        if self.anchors and self.search.notation != "unified_diff":
            anchors = self.anchor_rows()
            rows = [*_from(rows, anchors[0])] if anchors else []
        if len(rows) != 1 or rows[0] + size > ends:
            return None
        return None if self.search.placed_before and rows[0] < self.search.cursor else rows[0]

    def _rarest(self, old: Sequence[str]) -> list[int]:
        """Where lines would begin at each row of the rarest of them; empty if all are common."""
        rarest, least = 0, _COMMON_ROWS + 1
        for at, line in enumerate(old[:_TRIED_LINES]):
            if (count := self.index.count(line)) < least:
                rarest, least = at, count
            if least <= 1:
                break
        if least > _COMMON_ROWS:
            return []
        rows = self.index.rows(old[rarest], _COMMON_ROWS + 1)
        # how often it is there was an estimate
        return [row - rarest for row in rows] if len(rows) <= _COMMON_ROWS else []

    def anchor_rows(self) -> Sequence[int]:
        """Where the innermost anchor stands, behind those around it; empty if one is not found."""
        if self._anchor_rows[0] == self.buffer.revision:
            return self._anchor_rows[1]
        rows = self._anchor_hits(self.anchors[0]) if self.anchors else ()
        for anchor in self.anchors[1:]:
            rows = nearest_behind(rows, self._anchor_hits(anchor), 1)
        self._anchor_rows = (self.buffer.revision, rows)
        return rows

    def choose(self, *, explain: bool = True) -> Spot | Miss:
        """Decide, now that the section is whole; to ``explain`` why not costs a search."""
        if not self.old:
            return self._for_additions()
        fit = self._best()
        flags = [*fit.flags]
        if not fit.rows:
            return self._nearest() if explain else Miss("")
        if self.at_end:
            if (end := self._at_file_end(fit)) is not None:
                return self._spot(fit, end, fit.flags)
            flags.append("not at the end of the file")
        row, flag = self._pick(fit.rows, fuzzy=bool(flags))
        if row is None:
            words = lines_in_words(fit.rows)
            reason = f"ambiguous: it fits at {words}" + (f" ({flags[0]})" if flags else "")
            return Miss(reason, fit.rows, fuzzy=bool(flags))
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
        return self._spot(fit, row, flags)

    def at(self, row: int, why: str = "placed by hand") -> Spot | None:
        """The place at a row, which a person chose; None if the section does not fit there."""
        if not self.old:
            fits = row - 1 in self.anchor_rows() or not self.anchors
            return Spot(row, flags=(why,)) if fits else None
        fit = self._best()
        if row not in fit.rows:
            return None
        blanks = fit.again.get(row, Reread()).blanks
        return Spot(row, self._indent(fit, row), (*fit.flags, why), *fit.skips, blanks)

    def _spot(self, fit: _Fit, row: int, flags: Sequence[str]) -> Spot | Miss:
        """The place at one of the rows found, if its lines can stand there in one way only."""
        read = fit.again.get(row, Reread())
        if not read.sure:
            why = f"its added lines may stand before or behind blank lines ({flags[0]})"
            return Miss(f"ambiguous: at {lines_in_words([row])} {why}", (row,), fuzzy=True)
        return Spot(row, self._indent(fit, row), tuple(flags), *fit.skips, read.blanks)

    def _at_file_end(self, fit: _Fit) -> int | None:
        """The row at which it reaches to the end of the file."""
        row = file_rows(self.buffer) - len(fit.old)
        if not fit.again:
            return row if row in fit.rows else None
        return next((at for at, read in fit.again.items() if at + left_out(read) == row), None)

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

    def _pick(self, rows: Sequence[int], fuzzy: bool) -> tuple[int | None, str]:
        """The one of several rows, and why a person should look at it."""
        anchors = self.anchor_rows() if self.anchors else ()
        lost = "anchor not found" if self.anchors and not anchors else ""
        if anchors:
            behind = _from(rows, anchors[0])
            lost = "" if behind else "before its anchor"
            rows = behind or rows
        if len(rows) == 1:
            return rows[0], lost
        if fuzzy:
            return None, ""
        if anchors and not lost:
            cursor = self.search.cursor if self.search.placed_before else 0
            rows = nearest_behind(anchors, _from(rows, cursor)) or rows
            if len(rows) == 1:
                return rows[0], ""
        if self.hint is not None:
            hint = self.hint + self.search.offset
            at = bisect_left(rows, hint)
            near = sorted(rows[max(at - 2, 0) : at + 2], key=lambda row: abs(row - hint))
            if abs(near[0] - hint) < abs(near[1] - hint):
                return near[0], "several places fit: the nearest to its line number"
        after = bisect_left(rows, self.search.cursor)
        if self.search.placed_before and after < len(rows):
            return rows[after], FIRST_BEHIND
        return None, ""

    def _for_additions(self) -> Spot | Miss:
        """A section of only added lines."""
        if not self.anchors:
            return self._at_the_end()
        rows = self.anchor_rows()
        if not rows:
            return Miss(f"anchor not found: {self.anchors[-1].strip()!r} is not in the file")
        flag = "only added lines: put after its anchor"
        if len(rows) > 1:
            after = bisect_left(rows, self.search.cursor)
            if not self.search.placed_before or after == len(rows):
                words = f"ambiguous: its anchor is at {lines_in_words(rows)}"
                return Miss(words, _next_rows(rows))
            return Spot(rows[after] + 1, flags=(flag, FIRST_BEHIND))
        return Spot(rows[0] + 1, flags=(flag,))

    def _at_the_end(self) -> Spot | Miss:
        """Added lines without any context go to the end of the file.

        Where a line number says another place for them they are refused: by a number alone
        nothing is placed (EDITS.md section 2).
        """
        last = file_rows(self.buffer)
        if not last or (self.search.notation == "apply_patch" and self.hint is None):
            return Spot(last, flags=(AT_THE_END,) if self._looks_inner() else ())
        if self.hint is None or self.hint + self.search.offset == last:
            return Spot(last, flags=(AT_THE_END,))
        why = "it has only added lines, and a line number alone is not trusted"
        return Miss(f"context not found: {why}; give lines of the file around them")

    def _looks_inner(self) -> bool:
        """Whether the added lines stand deeper than the file ends: they may belong into a block."""
        filled = filter(str.strip, reversed(self.buffer.lines))
        last, first = next(filled, ""), next(filter(str.strip, self.new), "")
        deeper = len(indentation(first)) > len(indentation(last))
        return bool(last) and deeper and not last.rstrip().endswith(_OPENS)

    def _best(self) -> _Fit:
        """Rows on the best tier that has any, without outer blank lines if need be.

        Read again it fits exactly, so that counts for more than lines that are only alike.
        """
        found = Candidates() if self.bare else self._current()
        if found.best > Tier.RSTRIP and (again := self._again()).fits:
            return _Fit(sorted(again.fits), self.old, tuple(again.flags), again=again.fits)
        fit = self._ladder(found, self.old)
        first, last = (0, 0) if fit.rows or self.bare else self._outer_blanks()
        if not (first or last) or first + last >= len(self.old) or self._adjoins(first, last):
            return fit
        trimmed = self.old[first : len(self.old) - last]
        fit = self._ladder(self._matches(trimmed), trimmed)
        flags = ("outer blank lines differ", *fit.flags)
        return fit._replace(flags=flags, skips=(first, last))

    def _adjoins(self, first: int, last: int) -> bool:
        """Whether lines are put in right beside blank ones that would be left out.

        Where these are not in the file, a line between them may be missing in the patch, and the
        added ones would stand on its other side.
        """
        seen, count, before = 0, len(self.old), ""
        for op, _, _ in self.ops:
            seen += op != "+"
            outer = seen <= first or seen >= count - last
            if op == "+" and outer and before != "-":
                return True
            before = op if op != "+" or before != "-" else before
        return False

    def _again(self) -> Rereading:
        prefixed = self.search.notation != "search_replace"
        return reread(self.buffer, self.index, self.ops, self.bare, prefixed=prefixed)

    def _indent(self, fit: _Fit, row: int) -> IndentChange:
        """How the indentation of the file differs at one of the rows."""
        there = self.buffer.lines[row : row + len(fit.old)]
        return (indent_change(there, fit.old) if fit.indented else None) or SAME

    def _outer_blanks(self) -> tuple[int, int]:
        any_line = self.search.notation == "search_replace"
        blank = [
            (kept or any_line) and not line.strip()
            for line, kept in zip(self.old, self.context, strict=True)
        ]
        first = next((i for i, b in enumerate(blank) if not b), len(blank))
        last = next((i for i, b in enumerate(reversed(blank)) if not b), len(blank))
        return first, last

    def _ladder(self, found: Candidates | CommonCandidates, old: Sequence[str]) -> _Fit:
        for tier in (Tier.EXACT, Tier.RSTRIP):
            if rows := found.on(tier):
                return _Fit(rows, old)
        for tier in (Tier.STRIP, Tier.UNICODE):
            if rows := found.aligned(tier, self.buffer.lines, old):
                fit = _Fit(rows, old, indented=True)
                change = self._indent(fit, rows[0])
                flags = [change.words()] if change != SAME else []
                flags += ["punctuation differs"] if tier is Tier.UNICODE else []
                return fit._replace(flags=tuple(flags or ["indentation differs"]))
        return _Fit((), old)

    def _current(self) -> Candidates | CommonCandidates:
        """The candidates for the lines so far, on every tier."""
        new = self.old[self._seen :]
        if self._revision != self.buffer.revision or not self._seen or self._rare_after_all(new):
            self._found = self._matches(self.old)
        else:
            count = file_rows(self.buffer)
            for at, line in enumerate(new, self._seen):
                self._found.narrow(self.buffer.lines, count, at, line)
        self._seen = len(self.old)
        self._revision = self.buffer.revision
        return self._found

    def _rare_after_all(self, new: Sequence[str]) -> bool:
        """True if all lines were common, and a new one is not: few rows are left by it."""
        common = isinstance(self._found, CommonCandidates)
        return common and any(self.index.count(line) <= _COMMON_ROWS for line in new)

    def _matches(self, old: Sequence[str]) -> Candidates | CommonCandidates:
        """Where lines fit: looked for by the rarest of them, a blank says nothing."""
        for first in range(0, len(old), _TRIED_LINES):
            counts = [self.index.count(line) for line in old[first : first + _TRIED_LINES]]
            if min(counts) > _COMMON_ROWS:
                continue
            rarest = first + counts.index(min(counts))
            rows = self.index.rows(old[rarest], _COMMON_ROWS + 1)
            if len(rows) > _COMMON_ROWS:  # how often it is there was an estimate
                continue
            found = Candidates(row - rarest for row in rows if row >= rarest)
            count = file_rows(self.buffer)
            for at, line in enumerate(old):
                found.narrow(self.buffer.lines, count, at, line)
            return found
        return CommonCandidates(self.index.common, old) if old else Candidates()

    def _anchor_hits(self, anchor: str) -> Sequence[int]:
        rows = self.index.rows(anchor, _COMMON_ROWS + 1)
        if len(rows) > _COMMON_ROWS:
            common = self.index.common
            exact = common.rows(FORMS[Tier.RSTRIP], anchor)
            return RowSet(exact or common.rows(FORMS[Tier.UNICODE], anchor))
        lines = self.buffer.lines
        if rows:
            return [row for row in rows if lines[row].rstrip() == anchor.rstrip()] or rows
        begun = self.index.begun(anchor, 2)
        return begun if len(begun) == 1 else []


def left_out(fit: Reread) -> int:
    """How many blank rows of the file the section has not."""
    return sum(count for _, count in fit.blanks)


def _from(rows: Sequence[int], row: int) -> Sequence[int]:
    """Those from a row on."""
    return rows[bisect_left(rows, row) :]


def _next_rows(rows: Sequence[int]) -> Sequence[int]:
    """The row behind each of them."""
    return rows.moved(1) if isinstance(rows, RowSet) else [row + 1 for row in rows]


def lines_in_words(rows: Sequence[int]) -> str:
    """``lines 3, 10 and 17``, 1-based."""
    numbers = [str(row + 1) for row in rows[:8]]
    if len(rows) > 8:
        numbers.append(f"{len(rows) - 8} more")
    if len(numbers) == 1:
        return f"line {numbers[0]}"
    return f"lines {', '.join(numbers[:-1])} and {numbers[-1]}"
