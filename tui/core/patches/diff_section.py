"""A section of which the old lines are known as a whole: their difference lands as it streams.

So are SEARCH/REPLACE blocks and whole files. The difference is made line by line while the new
text comes: kept, removed and added lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from tui.core.document.documents import Documents
from tui.core.document.file_record import FileRecord
from tui.core.document.hunk import Hunk, Stage
from tui.core.patches.checks import is_placeholder
from tui.core.patches.painter import Painter, RegionPainter
from tui.core.patches.placement import Miss, Search, Spot
from tui.core.patches.section import GHOST_LINES, MERGED, Section, merge_whole, show_both
from tui.core.text.buffer import Buffer
from tui.core.text.diff import blocks
from tui.core.text.rows import file_rows, keep_ends, whole_text
from tui.errors import EditRefused

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
_BEFORE = "the file was changed after the model had seen it, where its new text differs"


@dataclass(slots=True)
class Fit:
    """Where the old lines are, and how the new ones differ from them."""

    spot: Spot
    diff: LineDiff


class DiffSection(Section):
    """Lands new lines over old ones that are known."""

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
        self._partial = ""
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
        self._partial = text
        painter, fit = self._painter, self._fit
        if painter is None or fit is None or painter.trouble:
            return
        if fit.diff.may_be_kept(text) or (self._changes and not self._open):
            painter.drop_partial()
        else:
            super().partial(text)

    def close(self, closed: bool, why: str) -> None:
        """The section is over; cut, nothing of it stays (EDITS.md section 6)."""
        if self._painter is not None:
            self._painter.drop_partial()
        if closed:
            self._finish()
        else:
            self.give_up(Stage.DROPPED, f"incomplete: {why}")
        self.record.sections.remove(self)

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
                if (painter := self._painter) is not None and not painter.trouble:
                    painter.line(op, text, hunk)
                    self._landing(hunk)

    def _strike(self, lines: list[str]) -> None:
        hunk = self._hunk_for("-")
        assert hunk is not None
        self.ops += [("-", text, hunk) for text in lines]
        hunk.removed += len(lines)
        painter = self._painter
        if isinstance(painter, RegionPainter) and not painter.trouble:
            painter.strike(hunk, len(lines))
            self._landing(hunk)

    def _take_back(self) -> None:
        """Back to one hunk, of which nothing is in the buffer."""
        if self._painter is not None:
            self._painter.take_back()
            self._painter = None
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
        painter = self._painter
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


def _lines(text: str) -> list[str]:
    """The lines of a text as a patch counts them."""
    buffer = Buffer("", text)
    return buffer.lines[: file_rows(buffer)]


class WholeSection(DiffSection):
    """The new text of a file that is there.

    It is what becomes of the text as the model was sent it. What was changed since, before the
    new text came or while it does, is merged with it at its end (EDITS.md section 5).
    """

    def __init__(
        self, documents: Documents, record: FileRecord, new_hunk: Callable[[int], Hunk]
    ) -> None:
        super().__init__(documents, record, new_hunk)
        sent = record.since.before(record.buffer)
        self._sent = keep_ends(sent)
        """The lines as the model was sent them, with their endings."""
        self.old = _lines(sent)
        self._begin(Fit(Spot(0), LineDiff(self.old)))
        if self._painter is not None and sent != whole_text(record.buffer):
            self._painter.trouble = _BEFORE

    def place_at(self, row: int) -> None:
        """The user takes the text that was held (its only place is the whole file).

        Raises:
            EditRefused: it and what was changed since do not fit together.
        """
        fit = Fit(Spot(0, flags=("placed by hand",)), LineDiff(self.old))
        decided = [one for line in self.new for one in fit.diff.take(line)]
        merged = self._merged([*decided, *fit.diff.rest()])
        if merged is None:
            raise EditRefused("the file was changed since, where the held text is another one")
        self.hunks[0].reason = ""
        self._land_merged(fit, merged)

    def ghost(self) -> tuple[int, list[str]] | None:
        """The new lines, where they are not painted but merged at their end."""
        lines = [*self.new[-GHOST_LINES:], *([self._partial] if self._partial else [])]
        if not self.trouble or not lines:
            return None
        return self.record.buffer.line_count - 1, lines[-GHOST_LINES:]

    def _new_painter(self, spot: Spot) -> Painter:
        rows = file_rows(self.record.buffer)
        return RegionPainter(self._documents, self.record, spot, rows, self)

    def _finish(self) -> None:
        fit = self._fit
        assert fit is not None
        if reason := self._doubt():
            self._take_back()
            self._refuse(Miss(f"{reason}; held, the file is as it was", (0,)))
        elif self.trouble:
            self._merge(fit)
        else:
            self._complete(fit)

    def _merge(self, fit: Fit) -> None:
        """Land the new text with what others changed, where both fit; else show both."""
        painter = self._painter
        assert painter is not None
        self._emit(fit.diff.rest())
        painter.take_back()
        merged = self._merged([(op, text) for op, text, _ in self.ops])
        if merged is None:
            show_both(self._documents, self, painter)
        else:
            self._land_merged(fit, merged)

    def _merged(self, ops: Iterable[tuple[str, str]]) -> str | None:
        """The new text with what others changed; None if they changed the same lines.

        Lines that stay have the endings that they had.
        """
        newline, seen, theirs = self.record.buffer.newline, 0, list[str]()
        for op, text in ops:
            if op != "-":
                if theirs and not theirs[-1].endswith("\n"):
                    theirs[-1] += newline
                theirs.append(self._sent[seen] if op == "=" else text + newline)
            seen += op != "+"
        return merge_whole("".join(self._sent), whole_text(self.record.buffer), "".join(theirs))

    def _land_merged(self, fit: Fit, merged: str) -> None:
        mine = whole_text(self.record.buffer)
        if mine != "".join(self._sent):
            self.flags.append(MERGED)
        self._take_back()
        now = _lines(mine)
        self._begin(Fit(fit.spot, LineDiff(now)))
        self._emit(difference(now, _lines(merged)))
        self._land_all(fit)

    def _doubt(self) -> str:
        """Why it is held: a part of the file would be lost that nobody wanted to lose (E03)."""
        known = set(self.old)
        shorter = len(self.new) < len(self.old)
        for number, line in enumerate(self.new, 1):
            if line not in known and is_placeholder(line, shorter=shorter):
                return f"placeholder: line {number} says that the rest is elsewhere"
        if 2 * len(self.new) < len(self.old):
            lines = f"{len(self.new)} lines for a file of {len(self.old)}"
            return f"shrink: {lines}, under half the lines"
        return ""
