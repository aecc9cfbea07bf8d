"""A section of which the old lines are known as a whole: their difference lands as it streams.

So are SEARCH/REPLACE blocks and whole files. The difference is made line by line while the new
text comes: kept, removed and added lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from msgspec import Struct

from tui.core.document.documents import Documents
from tui.core.document.file_record import FileRecord
from tui.core.document.hunk import Hunk, Stage
from tui.core.patches.file_work import Why
from tui.core.patches.painter import Painter, RegionPainter
from tui.core.patches.placement import Search, Spot
from tui.core.patches.section import Section, cut_section, end_line, whole_hunks
from tui.core.text.diff import blocks

_NEAR_LINES = 8
"""So far down one telling line is enough to be taken for the same one."""
_FAR_RUN = 3
"""So many lines in a row must come again to be found further down: one alone may be by chance."""
_TELLING_CHARS = 6
"""So long is a line that says where it is: a brace or a ``pass`` says nothing."""


class LineDiff:
    """Turns new lines into kept (``=``), removed (``-``) and added (``+``) ones."""

    def __init__(self, old: Sequence[str]) -> None:
        self.old = old
        self.at = 0
        """The next old line that is not decided."""
        self.limit = len(old)
        """Old lines from here on are not looked at yet."""
        self._rows: dict[str, list[int]] | None = None
        self._run = (-1, 0)
        """The old line that would be next of a run further down, and how long the run is."""

    def take(self, line: str) -> Iterator[tuple[str, str]]:
        """What the next new line decides, in the order of the text."""
        row = self._row(line)
        if row is None:
            yield "+", line
            return
        for gone in range(self.at, row):
            yield "-", self.old[gone]
        self.at = row + 1
        yield "=", line

    def rest(self, to: int | None = None) -> Iterator[tuple[str, str]]:
        """No more new lines come (before old line ``to``): what is left is removed."""
        to = len(self.old) if to is None else to
        for gone in range(self.at, to):
            yield "-", self.old[gone]
        self.at = max(self.at, to)

    def may_be_kept(self, begun: str) -> bool:
        """True if an unfinished line may become an old one, which then stays."""
        near = self.old[self.at : min(self.at + 4, self.limit)]
        return any(line.startswith(begun) for line in near)

    def _row(self, line: str) -> int | None:
        """The old line that this one is taken for."""
        run, self._run = self._run, (-1, 0)
        for row in range(self.at, min(self.at + 2, self.limit)):
            if self.old[row] == line:
                return row
        if not self.at <= run[0] < self.limit or self.old[run[0]] != line:
            run = (self._only(line), 0)
        row, count = run[0], run[1] + 1
        if row < 0:
            return None
        near = row - self.at <= _NEAR_LINES and self._only(line) == row
        if near or count >= _FAR_RUN:
            return row
        self._run = (row + 1, count)
        return None

    def _only(self, line: str) -> int:
        """The old line further down that is the only one of its kind and says something, or -1."""
        if self.at >= self.limit or len(line.strip()) < _TELLING_CHARS:
            return -1
        if self._rows is None:
            self._rows = {}
            for row, text in enumerate(self.old):
                self._rows.setdefault(text, []).append(row)
        rows = self._rows.get(line, ())
        return rows[0] if len(rows) == 1 and self.at <= rows[0] < self.limit else -1


_TIDIED_LINES = 2000
"""More lines are left as they came: to compare them all would be seen."""


class Fit(Struct):
    """Where the old lines are, and how the new ones differ from them."""

    spot: Spot
    diff: LineDiff


class DiffSection(Section):
    """Lands new lines over old ones that are known."""

    in_parts = True
    """Where it is cut and nobody looks, what is whole of it stays all the same."""

    def __init__(
        self,
        documents: Documents,
        record: FileRecord,
        new_hunk: Callable[[int], Hunk],
        number: int = 0,
    ) -> None:
        super().__init__(documents, record, Search(), new_hunk, number)
        self.new: list[str] = []
        """The new lines so far."""
        self.old: list[str] = []
        """The old lines, as the patch has them."""
        self._fit: Fit | None = None

    def new_line(self, text: str) -> None:
        """The next whole line of the new text."""
        self.unfinished = ""
        self.new.append(text)
        if self._fit is None:
            self.hunks[0].added += 1
            self.ops.append(("+", text, self.hunks[0]))
        else:
            self._land_line(self._fit, text)

    def partial(self, text: str) -> None:
        """The unfinished line, for this frame.

        It is not painted while it may become a line that stays, nor where it would be a hunk of
        its own: it may be none.
        """
        self.unfinished = text
        painter, fit = self.painter, self._fit
        if painter is None or fit is None or painter.trouble:
            return
        if fit.diff.may_be_kept(text) or (self._changes and not self._open):
            painter.drop_partial()
        else:
            super().partial(text)

    def close(self, closed: bool, why: Why) -> None:
        """The section is over; cut, what is painted stays (EDITS.md section 6)."""
        end_line(self, keep=why.freeze)
        if closed and not why.stops:
            self._finish()
        elif self._fit is not None and (why.freeze or (self.in_parts and self._stays())):
            self._forget_unused()
            cut_section(self._documents, self, why)
        else:
            self.give_up(Stage.REFUSED, why.unpainted())
        self.record.sections.remove(self)
        if self.painter is not None:
            self.painter.leave()

    def give_up(self, stage: Stage, reason: str) -> None:
        """Nothing of it is in the buffer; what came stays with one hunk."""
        self._take_back()
        hunk = self.hunks[0]
        hunk.stage, hunk.reason = stage, reason
        hunk.base = "".join(line + "\n" for line in self.old)
        hunk.agent = "".join(line + "\n" for line in self.new)
        hunk.removed, hunk.added = len(self.old), len(self.new)
        self._documents.bump()

    # Inside.

    def _fold(self) -> None:
        """A new text of a file that waits is as it was: there is one."""

    def _begin(self, fit: Fit) -> None:
        """The place is known: paint from here on."""
        self._fit = fit
        self.ops.clear()
        self._open = self._changes = False
        self.hunks[0].added = self.hunks[0].removed = 0
        self._start(fit.spot)
        if isinstance(self.painter, RegionPainter):
            there = [line.removesuffix("\n").removesuffix("\r") for line in self.painter.region]
            self.painter.sure = there == fit.diff.old and not fit.spot.flags

    def _stays(self) -> bool:
        """Something of it is whole if it is cut now."""
        return self.painter is not None and bool(whole_hunks(self, self.painter))

    def _new_painter(self, spot: Spot) -> Painter:
        assert self._fit is not None
        count = len(self._fit.diff.old)
        return RegionPainter(self._documents, self.record, spot, count, self)

    def _land_line(self, fit: Fit, text: str) -> None:
        self._emit(fit.diff.take(text))

    def _emit(self, decided: Iterable[tuple[str, str]]) -> None:
        for op, run in groupby(decided, itemgetter(0)):
            lines = [text for _, text in run]
            if op == "-":
                self._strike(lines)
                continue
            for text in lines:
                hunk = self._hunk_for(op)
                self.ops.append((op, text, hunk))
                if hunk is not None:
                    hunk.added += 1
                if (painter := self.painter) is not None and not painter.trouble:
                    painter.line(op, text, hunk)
                    self._landing(hunk)

    def _strike(self, lines: list[str]) -> None:
        hunk = self._hunk_for("-")
        assert hunk is not None
        self.ops += [("-", text, hunk) for text in lines]
        hunk.removed += len(lines)
        painter = self.painter
        if isinstance(painter, RegionPainter) and not painter.trouble:
            painter.strike(hunk, len(lines))
            self._landing(hunk)

    def _take_back(self) -> None:
        """Back to one hunk, of which nothing is in the buffer."""
        if self.painter is not None:
            self.painter.take_back()
            self.painter = None
        self._fit = None
        for hunk in self.hunks[1:]:
            self._documents.forget_hunk(hunk)
        del self.hunks[1:]
        self._open = self._changes = False
        hunk = self.hunks[0]
        hunk.start = hunk.end = None
        hunk.candidates = ()
        self.ops[:] = [("-", text, hunk) for text in self.old]
        self.ops += [("+", text, hunk) for text in self.new]
        hunk.removed, hunk.added = len(self.old), len(self.new)

    def _complete(self, fit: Fit) -> None:
        """All new lines are there: strike what is left and land."""
        self._emit(fit.diff.rest())
        self._tidy(fit)
        self._land_all(fit)

    def _land_all(self, fit: Fit) -> None:
        """What has changes lands; without any there is nothing to review."""
        self._forget_unused()
        self.flags += fit.spot.flags
        if self.hunks:
            Section._finish(self)

    def _tidy(self, fit: Fit) -> None:
        """Land the difference as it looks with both texts known, if that is much smaller."""
        painter = self.painter
        out = {text for op, text, _ in self.ops if op == "-"}
        back = any(op == "+" and text in out and text.strip() for op, text, _ in self.ops)
        if not back or painter is None or painter.trouble or "u" in painter.tags:
            return
        new = [text for op, text, _ in self.ops if op != "-"]
        if len(out) > _TIDIED_LINES or len(new) - len(fit.diff.old) > _TIDIED_LINES:
            return
        ops = list(difference(fit.diff.old, new))
        changed = sum(op != "=" for op, _ in ops)
        if changed < sum(op != "=" for op, *_ in self.ops):
            self._take_back()
            self._begin(fit)
            self._emit(ops)


def difference(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Context, removed and added lines that turn one text into the other."""
    at = 0
    for first, last, start, end in blocks(old, new):
        yield from (("=", text) for text in old[at:first])
        yield from (("-", text) for text in old[first:last])
        yield from (("+", text) for text in new[start:end])
        at = last
    yield from (("=", text) for text in old[at:])
