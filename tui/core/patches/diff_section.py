"""A section of which the old lines are known as a whole: their difference lands as it streams.

So are SEARCH/REPLACE blocks and whole files. The difference is made line by line while the new
text comes: kept, removed and added lines.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import itemgetter

from msgspec import Struct

from tui.core.document.documents import Documents
from tui.core.document.file_record import FileRecord
from tui.core.document.hunk import Hunk, Stage
from tui.core.patches.candidates import Tier, nearest_miss
from tui.core.patches.file_work import Why
from tui.core.patches.painter import Painter, RegionPainter
from tui.core.patches.placement import Locator, Miss, Search, Spot, lines_in_words
from tui.core.patches.rereading import with_blanks
from tui.core.patches.section import Section, cut_section, end_line, first_of, whole_hunks
from tui.core.text.diff import blocks
from tui.core.text.indent import SAME, stands_right
from tui.core.text.rows import file_rows
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


_SPLITS = 32
"""So many dividers are tried for one that fits loosely; the others must fit exactly."""
_QUOTES = 32
"""So many places in REPLACE at which SEARCH may stand are looked at."""
_APPLIED = "already applied, its new text is already in the file at line"


def is_elision(line: str) -> bool:
    """True for a line that stands for lines left out on both sides."""
    return line.strip() == "..."


class _Elided(LineDiff):
    """A difference of parts with rows between them that both sides leave out."""

    def __init__(self, old: Sequence[str], gaps: Sequence[tuple[int, int]]) -> None:
        super().__init__(old)
        self._gaps = list(gaps)
        self.pairs = len(gaps)
        """How many lines of three dots the new text must have."""
        self._stop()

    def take(self, line: str) -> Iterator[tuple[str, str]]:
        """What the next new line decides; one of three dots keeps what was left out."""
        if not is_elision(line):
            yield from super().take(line)
        elif self._gaps:
            first, last = self._gaps.pop(0)
            yield from self.rest(first)
            for row in range(first, last):
                yield "=", self.old[row]
            self.at = last
            self._stop()

    def _stop(self) -> None:
        self.limit = self._gaps[0][0] if self._gaps else len(self.old)


class SearchSection(DiffSection):
    """One block, from its SEARCH marker to its REPLACE marker."""

    def __init__(
        self, documents: Documents, record: FileRecord, new_hunk: Callable[[int], Hunk], number: int
    ) -> None:
        super().__init__(documents, record, new_hunk, number)
        self.locator.search = Search(notation="search_replace")
        self.locator.ops = ()
        self._dividers: list[tuple[int, str]] = []
        """Each divider, and how many new lines came before it."""
        self._blanks: list[str] = []
        """Blank lines at the end that are held, as SEARCH had more of them than the file."""
        self._lead = 0
        """Blank lines at the beginning that are left out, as in SEARCH."""
        self._sides: tuple[str, str | None] | None = None
        """While it waits, SEARCH and REPLACE (None: no line): it has no lists of lines then."""

    def old_line(self, text: str) -> None:
        """The next line of SEARCH."""
        self.old.append(text)
        hunk = self.hunks[0]
        hunk.removed += 1
        self.ops.append(("-", text, hunk))
        self.locator.add_old(text, False)
        self._show_places()

    def divider(self, text: str) -> None:
        """A divider. The first ends SEARCH; a further one may be a line of either side.

        Then nothing is painted any more: the file decides, when all of the block is there.
        """
        first = not self._dividers
        self._dividers.append((len(self.new), text))
        if not first:
            if self.painter is not None and not self.painter.trouble:
                self._take_back()
            if self._fit is None:
                self._stage(Stage.CANDIDATES)
            self.new_line(text)
            return
        fit = self._located(explain=False)
        # else REPLACE has a say in it
        if (
            isinstance(fit, Fit)
            and fit.spot.indent == SAME
            and not (fit.spot.skip_first or fit.spot.skip_last)
        ):
            self._begin(fit)

    def place_at(self, row: int) -> None:
        """The user chose one of several places. Raises EditRefused if it is none any more."""
        self._unfold()
        spot = self.locator.at(row)
        if spot is None:
            raise EditRefused("it does not fit there any more: the text has changed")
        self.hunks[0].reason = ""
        self._replay(self._fit_at(spot))

    # Inside.

    def _fold(self) -> None:
        """It waits: keep both sides only, of which the rest follows."""
        self._sides = "\n".join(self.old), "\n".join(self.new) if self.new else None
        del self.old, self.new, self.ops, self.locator

    def _unfold(self) -> None:
        """Have both sides again, and what looks for the old one."""
        if self._sides is None:
            return
        old, new = self._sides
        self._sides = None
        self.old, self.new = old.split("\n"), [] if new is None else new.split("\n")
        self.ops = []
        self.locator = _locator_for(self.record, self.old)
        self._tell(self.locator)

    def _tell(self, locator: Locator) -> None:
        """What the new lines are: a locator may have to know."""
        locator.new[:] = self.new
        ops = difference(self.old, self.new)
        locator.ops = [(op, text, None) for op, text in ops]

    def _begin(self, fit: Fit) -> None:
        self._lead, self._blanks = fit.spot.skip_first, []
        super()._begin(fit)

    def _land_line(self, fit: Fit, text: str) -> None:
        """The next new line, without the outer blank ones that SEARCH had too many of."""
        blank = not text.strip()
        if blank and self._lead:
            self._lead -= 1
            return
        self._lead = 0
        if blank and len(self._blanks) < fit.spot.skip_last:
            self._blanks.append(text)
            return
        for held in self._blanks if not blank else ():
            super()._land_line(fit, held)
        if not blank:
            self._blanks = []
        super()._land_line(fit, text)

    def _replay(self, fit: Fit) -> None:
        """Land all of the new lines at a place."""
        self._begin(fit)
        for line in self.new:
            self._land_line(fit, line)
        self._land_block(fit)

    def _finish(self) -> None:
        fit = self._fit
        if fit is not None:
            self._land_block(fit)
            return
        split = _longest_once(self, self._dividers) if self._dividers[1:] else None
        if split is not None:
            size, spot, lines = split
            self.old, self.new = lines[:size], lines[size + 1 :]
            self.locator = _locator_for(self.record, self.old)
            found: Fit | Miss = self._fit_at(spot)
        else:
            found = self._located()
        if (
            isinstance(found, Miss)
            and (first := first_of(self._documents, self, found)) is not None
        ):
            found = self._fit_at(first)
        if isinstance(found, Fit):
            self._replay(found)
        else:
            self._refuse(found)

    def _land_block(self, fit: Fit) -> None:
        """All of the block is painted: look at it once more, and land it."""
        painter, reason = self.painter, ""
        if isinstance(fit.diff, _Elided) and fit.diff.pairs != sum(map(is_elision, self.new)):
            reason = "SEARCH not found: its lines of '...' do not pair with those of REPLACE"
        elif painter is not None and not painter.trouble:
            row = _stands_at(self, fit, painter)
            reason = "" if row is None else f"{_APPLIED} {row + 1}"
        if reason:
            self._take_back()
            self._refuse(Miss(reason))
        else:
            self._complete(fit)

    def _located(self, *, explain: bool = True) -> Fit | Miss:
        """Where SEARCH is, in the text as it is now; ``explain``: REPLACE is whole, too."""
        if not self.old:
            last = file_rows(self.record.buffer)
            flag = ("empty SEARCH: put at the end of the file",) if last else ()
            return Fit(Spot(last, flags=flag), LineDiff(()))
        if explain:
            self._tell(self.locator)
        place = self.locator.choose(explain=explain)
        if isinstance(place, Spot):
            return self._fit_at(place)
        if not place.candidates and any(map(is_elision, self.old)):
            return _elided(self, place)
        return place

    def _fit_at(self, spot: Spot) -> Fit:
        ops = with_blanks(self.locator.ops, spot.blanks)
        if spot.blanks:
            self.old = [text for op, text, _ in ops if op != "+"]
            self.new = [text for op, text, _ in ops if op != "-"]
        old = self.old[spot.skip_first : len(self.old) - spot.skip_last]
        there = self.record.buffer.lines[spot.row : spot.row + len(old)]
        if spot.indent != SAME and stands_right(there, old, self.new):
            return Fit(spot.left_alone(), LineDiff(there))
        return Fit(spot, LineDiff(old))


def _parts(lines: Sequence[str]) -> Iterator[list[str]]:
    """The lines between those of three dots; an empty part for each of these."""
    part: list[str] = []
    for line in lines:
        if not is_elision(line):
            part.append(line)
            continue
        if part:
            yield part
        yield []
        part = []
    if part:
        yield part


def _locator_for(record: FileRecord, old: Sequence[str]) -> Locator:
    """What looks for lines of SEARCH."""
    found = Locator(record.buffer, record.index, Search(notation="search_replace"))
    for line in old:
        found.add_old(line, False)
    return found


def _elided(section: SearchSection, miss: Miss) -> Fit | Miss:
    """Where the parts between ``...`` are: each must be there once, in this order."""
    buffer, old, gaps = section.record.buffer, list[str](), list[tuple[int, int]]()
    first, at, pending = -1, 0, 0
    for part in _parts(section.old):
        if not part:
            pending += 1
            continue
        locator = _locator_for(section.record, part)
        loose = locator.tier > Tier.RSTRIP
        rows = locator.rows()
        rows = rows[bisect_left(rows, at) :]
        if loose or not rows:
            return _nearest(section, part) if miss.reason else miss
        if len(rows) > 1:
            return Miss(f"ambiguous: a part of it fits at {lines_in_words(rows)}")
        first, skipped = (rows[0], 0) if first < 0 else (first, rows[0] - at)
        if skipped and not pending:
            return miss
        old += buffer.lines[at : at + skipped]
        gaps += [(len(old) - skipped, len(old))] * bool(pending)
        gaps += [(len(old), len(old))] * (pending - 1)
        old, at, pending = old + part, rows[0] + len(part), 0
    gaps += [(len(old), len(old))] * pending
    return Fit(Spot(first), _Elided(old, gaps)) if first >= 0 else miss


def _nearest(section: SearchSection, part: Sequence[str]) -> Miss:
    """What to say when a part between ``...`` is not there."""
    near = nearest_miss(section.record.buffer, section.record.index, part, section.new)
    words = near.words if near.words.startswith("already") else f"a part of it: {near.words}"
    return Miss(f"SEARCH not found: {words}", near=near.row)


def _longest_once(
    section: SearchSection, dividers: Sequence[tuple[int, str]]
) -> tuple[int, Spot, list[str]] | None:
    """The longest SEARCH that occurs exactly once, of those that the dividers make.

    Returns how many of the block's lines it has, its place, and all these lines.
    """
    lines = [*section.old, dividers[0][1], *section.new]
    head = len(section.old)
    sizes = [head] + [head + 1 + at for at, _ in dividers[1:]]
    locator, unique, alive = _locator_for(section.record, ()), -1, 0
    for number, size in enumerate(sizes):
        for line in lines[len(locator.old) : size]:
            locator.add_old(line, False)
        if size and locator.certain() is not None:
            unique = number
        if not size or locator.rows():
            alive = number
    loose = range(min(alive, _SPLITS), 0, -1)
    for number in [unique] if unique > 0 else loose if unique < 0 else ():
        found = _locator_for(section.record, lines[: sizes[number]]).choose(explain=False)
        if isinstance(found, Spot):
            return sizes[number], found, lines
    return None


def _stands_at(section: SearchSection, fit: Fit, painter: Painter) -> int | None:
    """The row at which the new text stands already around SEARCH (EDIT-CASES C15)."""
    old, new, lines = section.old, section.new, section.record.buffer.lines
    extra = len(new) - len(old)
    if not old or extra <= 0 or isinstance(fit.diff, _Elided):
        return None
    end = painter.end + len(fit.diff.old) - fit.diff.at
    quotes = (at for at in range(extra + 1) if new[at] == old[0])
    for at in (0, extra, *islice(quotes, _QUOTES)):
        above, below = new[:at], new[at + len(old) :]
        if new[at : at + len(old)] != old or not any(map(str.strip, above + below)):
            continue
        first, last = painter.row - at, end + len(below)
        if (
            first >= 0
            and lines[first : painter.row] == [painter.indented(one) for one in above]
            and lines[end:last] == [painter.indented(one) for one in below]
        ):
            return first
    return None
