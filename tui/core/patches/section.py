"""One section of a patch from first to last line: read, located, painted, merged, decided."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from copy import copy
from itertools import groupby, islice
from typing import NamedTuple

from tui.core.document.documents import Documents
from tui.core.document.file_record import FileRecord
from tui.core.document.hunk import Hunk, Stage
from tui.core.document.waiting_places import alike, kept
from tui.core.edit_stream.events import Anchor, EndOfFile, NoNewline
from tui.core.patches.checks import (
    end_bare,
    landed_before,
    leaves_out,
    other_ends,
    other_indent,
    stand_right,
    stands_behind,
    stands_twice,
)
from tui.core.patches.file_work import Why
from tui.core.patches.painter import SWALLOWED, Painter, RegionPainter, shown, step_over_gap
from tui.core.patches.placement import Locator, Miss, Search, Spot
from tui.core.patches.rereading import Op, part, with_blanks
from tui.core.text.buffer import Buffer, Mark
from tui.core.text.change_set import Author, Change, ChangeSet
from tui.core.text.diff import line_changes, merge3
from tui.core.text.indent import SAME
from tui.core.text.line_index import LineIndex
from tui.core.text.rows import file_rows, rows_text
from tui.errors import EditRefused

_BEGINS = {"-": "<", "+": ">"}
_SIGNS = {"<": "-", ">": "+"}


class Folded(NamedTuple):
    """A section's lines, and what else says where it belongs."""

    lines: str
    """Each behind its sign: ``=``, ``-`` or ``+``; ``<`` or ``>`` where the next hunk begins."""
    search: Search
    anchors: tuple[str, ...]
    hint: int | None
    at_end: bool
    bare: tuple[tuple[int, int], ...]

    def opened(self, hunks: Sequence[Hunk]) -> list[Op]:
        """The lines, each with its hunk."""
        ops: list[Op] = []
        at = 0
        for line in self.lines.split("\n"):
            sign, text = line[0], line[1:]
            at += sign in _SIGNS
            ops.append((_SIGNS.get(sign, sign), text, None if sign == "=" else hunks[at]))
        return ops

    def locator(self, buffer: Buffer, index: LineIndex, ops: list[Op]) -> Locator:
        """What looks for the opened lines."""
        locator = Locator(buffer, index, self.search, ops=ops)
        for op, text, _ in ops:
            if op == "+":
                locator.new.append(text)
            else:
                locator.add_old(text, op == "=")
        locator.anchors, locator.hint, locator.at_end = [*self.anchors], self.hint, self.at_end
        locator.bare = dict(self.bare)
        return locator


def folded(ops: Sequence[Op], locator: Locator) -> Folded:
    """The lines of a section, of which the hunks follow each other."""
    lines: list[str] = []
    last: Hunk | None = None
    for op, text, hunk in ops:
        begins = hunk is not None and hunk is not last and last is not None
        lines.append(f"{_BEGINS[op] if begins else op}{text}")
        last = hunk or last
    said = (tuple(locator.anchors), locator.hint, locator.at_end, tuple(locator.bare.items()))
    return Folded("\n".join(lines), locator.search, *said)


MERGED = "merged with what was changed meanwhile"


def merge_section(
    documents: Documents, section: Section, painter: Painter
) -> tuple[int, int] | None:
    """End a section in trouble; returns the rows of the merge, None if it is in conflict.

    What the user wrote is never lost: either both changes are there, as one flagged hunk over
    the user's text, or the text stays the user's and the hunks say what the model wanted.
    """
    buffer = section.record.buffer
    merged = None
    first = painter.row
    base, agent, last = _sides(section, painter)
    if isinstance(painter, RegionPainter):
        base, last = painter.region, painter.region_end
    user = painter.without() + rows_text(buffer, painter.end, last)
    if base and painter.trouble != SWALLOWED:
        merged = merge3("".join(base), user, "".join(agent))
    if merged is None:
        show_both(documents, section, painter)
        return None
    keep_text(section, *section.hunks)
    hunk, *others = section.hunks
    for other in others:
        hunk.added += other.added
        hunk.removed += other.removed
        section.record.weave.join(hunk, other)
        documents.forget_hunk(other)
    section.hunks[1:] = []
    documents.rewrite(section.record, (first, last), merged, Author.MODEL, hunk)
    hunk.base, hunk.agent = user, merged
    rows = documents.cut_to_changes(section.record, hunk, first)
    hunk.stage = Stage.LANDED
    hunk.flags += (*section.flags, MERGED)
    documents.settle(section.record, hunk, rows)
    documents.bump()
    return rows


def merge_whole(sent: str, mine: str, theirs: str) -> str | None:
    """A new text of a file, merged with what others changed; None if they changed the same lines.

    Lines that both put in at one place are there once, also where one side put in more.
    """
    ours, others = line_changes(sent, mine), line_changes(sent, theirs)
    left, more = _not_in(others, ours), _not_in(ours, others)
    return merge3(sent, left.apply(sent), more.apply(sent))


def _not_in(theirs: ChangeSet, ours: ChangeSet) -> ChangeSet:
    """Our changes, without lines put in that are the first or last of a larger change there."""
    first = {other.start: other for other in theirs.changes}
    last = {other.old_end: other for other in theirs.changes}

    def is_in(one: Change) -> bool:
        above, below = first.get(one.start), last.get(one.start)
        begins = above not in (None, one) and above and above.new_text.startswith(one.new_text)
        ends = (
            below not in (None, one)
            and below
            and f"\n{below.new_text}".endswith(f"\n{one.new_text}")
        )
        return one.start == one.old_end and bool(begins or ends)

    return ours.only(one for one in ours.changes if not is_in(one))


def show_both(documents: Documents, section: Section, painter: Painter) -> None:
    """The text stays as others have it; the hunks say what the model wanted."""
    keep_text(section, *section.hunks)
    painter.take_back()
    for hunk in section.hunks:
        hunk.stage, hunk.reason = Stage.CONFLICT, painter.trouble
        hunk.near = hunk.start.line if hunk.start is not None else painter.row
        hunk.start = hunk.end = None
    documents.bump()


def keep_text(section: Section, *hunks: Hunk) -> None:
    """What was streamed stays with hunks that are not in the buffer."""
    lines: dict[tuple[Hunk, str], list[str]] = {}
    for op, text, of in section.ops:
        if of is not None:
            lines.setdefault((of, op), []).append(text + "\n")
    for hunk in hunks:
        hunk.base = "".join(lines.get((hunk, "-"), ()))
        hunk.agent = "".join(lines.get((hunk, "+"), ()))


def _sides(section: Section, painter: Painter) -> tuple[list[str], list[str], int]:
    """The old lines, what the model makes of them, and the row behind the last of them.

    Old lines that came after the trouble must follow in the live text, else there is nothing
    to merge on (an empty base).
    """
    buffer = section.record.buffer
    region = painter.region if isinstance(painter, RegionPainter) else None
    base, agent = list(painter.base) if region is None else region, list[str]()
    seen, row = 0, painter.end
    if not section.locator.old and region is None:
        agent += base
    for op, text, _ in section.ops:
        if op == "+":
            if agent and not agent[-1].endswith("\n"):
                agent[-1] += buffer.newline
            agent.append(painter.indented(text) + buffer.newline)
            continue
        if seen == len(base):
            if not section.locator.fits(row, text):
                return [], [], painter.end
            base.append(rows_text(buffer, row, row + 1))
            row += 1
        if op == "=":
            agent.append(base[seen])
        seen += 1
    return base, agent, row


GHOST_LINES = 40
SHOWN_CANDIDATES = 5


class Section:
    """Takes the section's lines as they come and keeps its hunks up to date."""

    def __init__(
        self,
        documents: Documents,
        record: FileRecord,
        search: Search,
        new_hunk: Callable[[int], Hunk],
        number: int = 0,
    ) -> None:
        """``new_hunk`` makes a hunk of the section of that number."""
        self.record = record
        self.hunks: list[Hunk] = [new_hunk(number)]
        self.flags: list[str] = []
        self.newline = ""
        """What new lines end with; empty: what the file's first line ends with."""
        self.ops: list[Op] = []
        self.painter: Painter | None = None
        self.locator = Locator(record.buffer, record.index, search, ops=self.ops)
        self.height = 1
        """How many rows each of its candidates has; at least 1, to be seen."""
        self.placed_rows: tuple[int, int] | None = None
        """First row and the row behind the last changed one, once it is placed."""
        self._documents = documents
        self._folded: Folded | None = None
        """While it waits, its lines: it has no `ops` and no `locator` then."""
        self._new_hunk = new_hunk
        self._number = number
        self._open = False
        """A change group is open: the next changed line belongs to it."""
        self._changes = False
        """A change group has been there: the next one is another hunk."""
        self.unfinished = ""
        """The line that is still coming."""
        self._bare = False
        """The last added line is to be the file's last one, without a newline."""
        record.sections.append(self)

    def told(self, event: Anchor | EndOfFile | NoNewline) -> None:
        """Where it belongs, or how its last line ends (a unified diff says so)."""
        locator = self.locator
        if isinstance(event, EndOfFile):
            locator.at_end = True
        elif isinstance(event, NoNewline):
            self._bare = event.op == "+"
            locator.at_end = locator.at_end or not self._bare
        else:
            locator.anchors += [event.text] if event.text else []
            locator.hint = locator.hint if event.line_hint is None else event.line_hint

    def line(self, op: str, text: str, bare: int = 0) -> None:
        """The next whole line; ``bare`` is where it stands in the stream if it has no prefix."""
        self.unfinished, self._bare = "", False
        hunk = self._hunk_for(op)
        if bare:  # how they are all meant is known when all are there
            self.locator.bare[len(self.ops)] = bare
        if bare and self.painter is not None:
            self.painter.take_back()
            self.painter = None
            self._stage(Stage.CANDIDATES)
        self.ops.append((op, text, hunk))
        if op == "+":
            self.locator.new.append(text)
        painter = self.painter
        if painter is not None and painter.trouble:
            self._add_old(op, text)
            return
        if painter is not None and op != "+" and not self.locator.fits(painter.end, text):
            if painter.gap and self.locator.fits(painter.end + painter.gap, text):
                step_over_gap(painter)
            else:
                painter.take_back()
                self.painter = painter = None
                self._stage(Stage.CANDIDATES)
        self._add_old(op, text)
        if painter is not None:
            painter.line(op, text, hunk)
            self._landing(hunk)
        elif op != "+":
            self._look()

    def lines(self, lines: Sequence[tuple[str, str]], *, more: bool) -> None:
        """Its first lines at once, or none; put them in unless ``more`` follows at once.

        If they are in one place only, that is not looked for with each of them.
        """
        row = self.locator.only_place([text for op, text in lines if op != "+"])
        for op, text in lines if row is None else ():
            self.line(op, text)
        if row is not None:
            self.locator.add_lines(lines)
            for _, run in groupby(lines, lambda line: line[0] == "="):
                some = list(run)
                hunk = self._hunk_for(some[0][0])
                self.ops += [(op, text, hunk) for op, text in some]
                if hunk is not None:
                    added = [op for op, _ in some].count("+")
                    hunk.added += added
                    hunk.removed += len(some) - added
            self._look(row)
        if self.painter is not None and not more:
            self.painter.catch_up()

    def partial(self, text: str) -> None:
        """The unfinished added line, for this frame."""
        self.unfinished = text
        painter = self.painter
        if painter is not None and not painter.trouble:
            self._hunk_for("+")
            painter.partial_line(text, self.hunks[-1])

    def close(self, closed: bool, why: Why) -> None:
        """The section is over; ``why`` says why it was cut, if it was."""
        end_line(self, keep=why.freeze)
        self._forget_unused()
        if closed and self.hunks and not why.stops:
            self._finish()
        elif self.hunks:
            cut_section(self._documents, self, why, whole=closed)
        elif closed:
            self._check_context()
        self.record.sections.remove(self)
        if self.painter is not None:
            self.painter.leave()

    def place_at(self, row: int) -> None:
        """The user chose one of several places. Raises EditRefused if it is none any more."""
        self._unfold()
        place = self.locator.at(row)
        if place is None:
            raise EditRefused("it does not fit there any more: the text has changed")
        for hunk in self.hunks:
            hunk.reason = ""
        self._apply(place)

    def every_place(self) -> Sequence[int]:
        """All rows at which it could be placed, in the text as it is now."""
        twin = copy(self)
        twin._unfold()
        return twin.locator.places()

    # What a front end reads (OpenSection).

    def places(self) -> Sequence[int]:
        """First rows at which it could stand, as long as that is not decided."""
        undecided = self.painter is None and bool(self.locator.old)
        return self.locator.rows() if undecided else ()

    def decorations(self, first: int, last: int) -> dict[int, str]:
        """Line -> landing, struck or candidate, of lines ``first`` to ``last``."""
        if self.painter is not None:
            return shown(self.painter, first, last)
        rows = self.places()
        if len(rows) > SHOWN_CANDIDATES:
            return {}
        height = len(self.locator.old)
        return {row + i: "candidate" for row in rows for i in range(height)}

    def ghost(self) -> tuple[int, list[str]] | None:
        """The incoming lines of a section that is not located, and the line above them."""
        if self.painter is not None:
            return None
        newest = islice((text for op, text, _ in reversed(self.ops) if op == "+"), GHOST_LINES)
        lines = [*reversed([*newest]), *([self.unfinished] if self.unfinished else [])]
        if not lines:
            return None
        rows = self.locator.rows() if self.locator.old else self.locator.anchor_rows()
        after = bisect_left(rows, self.locator.search.cursor) % max(len(rows), 1)
        height = max(len(self.locator.old), 1)
        row = rows[after] + height - 1 if rows else self.record.buffer.line_count - 1
        return row, lines[-GHOST_LINES:]

    # Inside.

    def _hunk_for(self, op: str) -> Hunk | None:
        if op == "=":
            self._open = False
            return None
        if not self._open:
            if self._changes:
                self.hunks.append(self._new_hunk(self._number))
                self.hunks[-1].stage = self.hunks[0].stage
            self._open = self._changes = True
        return self.hunks[-1]

    def _add_old(self, op: str, text: str) -> None:
        hunk = self.hunks[-1]
        if op == "+":
            hunk.added += 1
        else:
            if op == "-":
                hunk.removed += 1
            self.locator.add_old(text, op == "=")

    def _look(self, row: int | None = None) -> None:
        """Find out where it stands, or paint it at a row that is known."""
        row = self.locator.certain() if row is None else row
        if row is not None:
            painter = self._start(Spot(row), Stage.LANDING if self._changes else Stage.LOCATED)
            painter.lines(self.ops)
            return
        self._show_places()

    def _show_places(self) -> None:
        rows = self.locator.rows()
        self.hunks[-1].candidates = tuple(rows[: SHOWN_CANDIDATES + 1])  # one more: too many
        if self.hunks[0].stage is not Stage.CANDIDATES:  # later ones begin as the first is
            self._stage(Stage.CANDIDATES)

    def _start(self, spot: Spot, stage: Stage = Stage.LOCATED) -> Painter:
        self.painter = self._new_painter(spot)
        self.painter.newline = self.newline or self.painter.newline
        for hunk in self.hunks:
            if hunk.candidates:
                hunk.candidates = ()
            hunk.start, hunk.end = Mark(spot.row), Mark(spot.row, right=True)
        self._stage(stage)
        return self.painter

    def _new_painter(self, spot: Spot) -> Painter:
        painter = Painter(self._documents, self.record, spot.row, spot.indent, self)
        painter.late = True
        return painter

    def _landing(self, hunk: Hunk | None) -> None:
        """A line of the hunk is painted now."""
        if hunk is not None and hunk.stage is not Stage.LANDING:
            hunk.stage = Stage.LANDING
            self._documents.bump()

    def _stage(self, stage: Stage) -> None:
        for hunk in self.hunks:
            if hunk.stage is not stage:
                hunk.stage = stage
                self._documents.bump()

    def _finish(self) -> None:
        painter = self.painter
        if painter is not None and painter.trouble:
            self.placed_rows = merge_section(self._documents, self, painter)
            return
        if painter is not None:
            if self.locator.at_end and painter.end != file_rows(self.record.buffer):
                self.flags.append("not at the end of the file")
            self._land(painter)
            return
        place = self.locator.choose()
        if isinstance(place, Miss):
            place = first_of(self._documents, self, place) or place
        if isinstance(place, Spot):
            self._apply(place)
        else:
            self._refuse(place)

    def _apply(self, spot: Spot) -> None:
        if spot.indent != SAME and stand_right(self.record.buffer.lines, spot.row, self.ops):
            spot = spot.left_alone()
        for at, _ in reversed(spot.blanks):
            hunk = self.ops[at][2]
            if hunk is not None and self.ops[at - 1][2] is hunk:
                self.hunks.insert(self.hunks.index(hunk) + 1, self._new_hunk(self._number))
                part(self.ops, at, hunk, self.hunks[self.hunks.index(hunk) + 1])
        self.ops[:] = with_blanks(self.ops, spot.blanks)
        painter = self._start(spot)
        self.flags += spot.flags
        count, seen = sum(op != "+" for op, *_ in self.ops), 0
        for op, text, hunk in self.ops:
            seen += op != "+"
            blank = seen <= spot.skip_first or seen > count - spot.skip_last
            if op == "+" or not blank:
                painter.line(op, text, hunk)
                self._landing(hunk)
        self._land(painter)

    def _land(self, painter: Painter) -> None:
        painter.close_group()
        if not painter.all_held:
            painter.catch_up()
        self.flags += leaves_out(self.ops) + other_indent(self.record, painter, self.ops)
        self.flags += stands_twice(self.record, painter, self.ops) + other_ends(painter, self.ops)
        said = (op + text for op, text, _ in self.ops)
        told = hash((*self.locator.anchors, self.locator.at_end, *said))
        alone = bool(painter.held)  # no other hunk is near
        reason = "" if alone else landed_before(self._documents, self.record, painter, told)
        if reason := reason or stands_behind(self.record, painter, self.ops):
            painter.take_back()
            self.painter = None
            self._refuse(Miss(reason))
            return
        painter.finish()
        if self._bare:
            end_bare(self._documents, self.record, painter, self)
        self.placed_rows = (painter.row, painter.row + max(g.last for g in painter.groups))
        for hunk in self.hunks:
            hunk.told = told
            if self.flags:
                hunk.flags += tuple(self.flags)
            if hunk.candidates:
                hunk.candidates = ()
        self._stage(Stage.LANDED)

    def _refuse(self, miss: Miss) -> None:
        places, reason = kept(miss.candidates, self), miss.reason
        if miss.candidates and self.record.waiting:
            before = self.record.waiting[-1].hunks[0]  # mostly the same is said of it
            reason = before.reason if before.reason == reason else reason
            places = alike(places, before.candidates)
        for hunk in self.hunks:
            hunk.reason, hunk.near = reason, miss.near
            hunk.candidates = places
            hunk.start = hunk.end = None
        keep_text(self, *self.hunks)
        self.locator.forget()
        if miss.candidates:
            self.height = max(1, len(self.locator.old))
            self.record.shifts.follow(self.record.waiting)
            self.record.waiting.append(self)
            self._fold()
        asked = bool(miss.candidates) and self._documents.ask
        self._stage(Stage.CANDIDATES if asked else Stage.REFUSED)

    def _fold(self) -> None:
        """It waits: keep little more than its lines."""
        self._folded = folded(self.ops, self.locator)
        del self.ops, self.locator

    def _unfold(self) -> None:
        """Have the lines again as they were before it waited."""
        if self._folded is not None:
            self.ops = self._folded.opened(self.hunks)
            record = self.record
            self.locator = self._folded.locator(record.buffer, record.index, self.ops)
            self._folded = None

    def _forget_unused(self) -> None:
        """Hunks for which no whole line came are none."""
        used = {hunk.id for _, _, hunk in self.ops if hunk is not None}
        for hunk in [h for h in self.hunks if h.id not in used]:
            if self.painter is not None:
                for group in [g for g in self.painter.groups if g.hunk is hunk]:
                    self.painter.take_back(group)
            self.hunks.remove(hunk)
            self._documents.forget_hunk(hunk)

    def _check_context(self) -> None:
        """A section without changes is nothing to review, but its lines should be there."""
        place = self.locator.choose() if self.painter is None else None
        if isinstance(place, Miss) and not place.candidates:
            self.hunks.append(self._new_hunk(self._number))
            self._refuse(place)


def first_of(documents: Documents, section: Section, miss: Miss) -> Spot | None:
    """Of several places that fit exactly the first, if the user has set that."""
    if not (documents.first and miss.candidates) or miss.fuzzy:
        return None
    return section.locator.at(miss.candidates[0], "several places fit: the first was taken")


def end_line(section: Section, *, keep: bool) -> None:
    """No more comes of the unfinished line: it stays as it is painted, or goes."""
    painter = section.painter
    if painter is None:
        return
    if not keep:
        painter.drop_partial()
    elif painter.keep_partial():
        hunk = section.hunks[-1]
        hunk.added += 1
        section.ops.append(("+", section.unfinished, hunk))


def cut_section(documents: Documents, section: Section, why: Why, *, whole: bool = False) -> None:
    """The stream ended inside it (EDITS.md section 6): what something followed is whole.

    ``whole``: so is all of it, by its counts or a marker. The rest stays as it is painted, for
    the user to decide on, or goes where nobody looks.
    """
    painter, hunks = section.painter, section.hunks
    stands, painted = set[Hunk](), set[Hunk]()
    if painter is not None:
        stands = whole_hunks(section, painter, whole=whole)
        for group in [] if why.freeze else painter.groups[::-1]:
            if group.hunk not in stands:
                painter.take_back(group)
        painter.finish()
        painted = {group.hunk for group in painter.groups}
    for hunk in hunks:
        hunk.candidates, hunk.frozen = (), why.freeze
        if hunk in stands:
            hunk.stage, hunk.reason = Stage.LANDED, "" if why.freeze else f"partial: {why.words}"
            hunk.flags += tuple(section.flags)
        elif hunk in painted:
            hunk.stage, hunk.reason = Stage.CUT, "" if why.cut else why.words
        else:
            hunk.stage, hunk.reason = Stage.REFUSED, why.unpainted()
            hunk.start = hunk.end = None
    keep_text(section, *(hunk for hunk in hunks if hunk not in painted))
    documents.bump()


def whole_hunks(section: Section, painter: Painter, *, whole: bool = False) -> set[Hunk]:
    """Those of its hunks that a cut leaves whole: the old lines seen are exactly in one place."""
    old = [text for op, text, _ in section.ops if op != "+"]
    there = [line.removesuffix("\n").removesuffix("\r") for line in painter.base]
    if painter.trouble or not painter.sure or old != there:
        return set()
    return {group.hunk for group in painter.groups if whole or group.whole}
