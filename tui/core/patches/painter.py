"""A located section in its buffer: struck lines, painted lines, and the user among them.

Every row of the section has a tag: ``=`` context, ``-`` struck (still there), ``+`` painted,
``u`` touched by the user since. Rows that go with the section's end go then, not before, so an
open section never hides text and can always be taken back.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, groupby, islice
from operator import add, attrgetter

from msgspec import Struct, field

from tui.core.document.documents import Documents, Maker
from tui.core.document.file_record import FileRecord, lay
from tui.core.document.hunk import Hunk, Woven
from tui.core.document.waiting_places import OpenSection, PaintedRows
from tui.core.patches.placement import Spot
from tui.core.text.buffer import Mark
from tui.core.text.change_set import Author, Change, Position
from tui.core.text.indent import SAME, IndentChange
from tui.core.text.rows import Span, rows_range, rows_text

STRETCH = 32
"""Old lines for which older hunks are looked for at once."""
SWALLOWED = "target deleted: the lines that it was changing are gone"
EDITED = {
    Author.USER: "you changed these lines while they were being changed",
    Author.MODEL: "another edit changed these lines while they were being changed",
    Author.REVIEW: "you decided on these lines while they were being changed",
    Author.DISK: "these lines changed on the disk while they were being changed",
    Author.TOOL: "the formatter changed these lines while they were being changed",
}


class Group(Struct, eq=False):
    """One contiguous change of the section: what a hunk is made of."""

    hunk: Hunk
    first: int
    """Index of its first row's tag."""
    last: int
    """Index behind its last row's tag."""
    old: tuple[int, int]
    """Its first and last old line, counted in the section."""
    agent: list[str] = field(default_factory=list)
    base: list[str] = field(default_factory=list)
    whole: bool = False
    """A context line followed: nothing more comes for it."""


_FIRST = attrgetter("first")


class Painter:
    """Writes a section's lines at its place as they come."""

    def __init__(
        self,
        documents: Documents,
        record: FileRecord,
        row: int,
        indent: IndentChange = SAME,
        owner: OpenSection | None = None,
    ) -> None:
        self._documents = documents
        self._record = record
        self._indent = indent
        self._owner = owner
        self.newline = record.buffer.newline
        """Fixed now: the file's first line ending may change meanwhile."""
        self.row = row
        """The first row, as it is now."""
        self.tags: list[str] = []
        self.groups: list[Group] = []
        self.base: list[str] = []
        """The file's text of the old lines so far, with endings."""
        self.trouble = ""
        """Why painting had to stop: somebody changed matched lines."""
        self.gap = 0
        """Rows that the user put right behind the end: the next old line stands below them."""
        self.sure = True
        """The old lines are exactly there, and nowhere else, as far as it knew when it began."""
        self.shortened = False
        """The user is deleting in painted rows: what is left of them is still the model's."""
        self._partial: str | None = None
        self._ended: Hunk | None = None
        """The hunk that ended the file's last line, which had no newline."""
        self.late = False
        """Added lines may be held back as long as more come at once; see `catch_up`."""
        self.held: list[tuple[int, str]] = []
        """Those that are not in the buffer yet, with the indexes of their tags."""
        self._before: dict[Hunk, tuple[int, int]] = {}
        """Older hunks, where they stood, counted in old lines of the section."""
        self._met: list[list[Hunk]] = []
        """Which of them touch each stretch of old lines."""
        self._meet()

    @property
    def end(self) -> int:
        """The row behind the section's last one so far: the next old line, or where to write."""
        return self.row + len(self.tags) - len(self.held)

    @property
    def last_row(self) -> int | None:
        """The row that was written last, if any."""
        return self.end - 1 if self.tags else None

    @property
    def unfinished(self) -> bool:
        """Its last row is a line that is still coming."""
        return self._partial is not None and self.tags[-1:] == ["+"]

    def old_line(self, struck: bool, hunk: Hunk | None) -> None:
        """The next row is the section's next old line (the caller has compared them)."""
        if self._partial is not None:
            self.drop_partial()
        if len(self.base) >= len(self._met) * STRETCH:
            self._meet()
        buffer, row = self._record.buffer, self.end
        text = buffer.lines[row] + buffer.endings[row] if row < len(buffer.lines) else ""
        if struck and hunk is not None:
            group = self._group(hunk)
            group.base.append(text)
            group.old = (group.old[0], len(self.base) + 1)
        else:
            self.close_group()
        self.base.append(text)
        self.gap = 0
        self.tags.append("-" if struck else "=")
        if struck:
            self.groups[-1].last = len(self.tags)
            self._show()

    def lines(self, ops: Sequence[tuple[str, str, Hunk | None]]) -> None:
        """The first lines of the section, of which the old ones are its rows."""
        count = len(ops) - [op for op, *_ in ops].count("+")
        unseen = self.late and count <= STRETCH and self._unseen(self.row + count)
        if not unseen:
            for op, text, hunk in ops:
                self.line(op, text, hunk)
            return
        rows = slice(self.row, self.row + count)
        buffer = self._record.buffer
        there = map(add, buffer.lines[rows], buffer.endings[rows])
        tags, base, newline = self.tags, self.base, self.newline
        for op, text, hunk in ops:
            group = None if hunk is None else self._group(hunk)
            if op == "+":
                line = self.indented(text) + newline
                self.held.append((len(tags), line))
            else:
                base.append(line := next(there))
            tags.append(op)
            if group is None:
                self.close_group()
                continue
            (group.agent if op == "+" else group.base).append(line)
            group.last = len(tags)
            group.old = (group.old[0], len(base))
        self._show(every=True)

    def close_group(self) -> None:
        """No more lines come for the open change group."""
        if self.groups:
            self.groups[-1].whole = True

    def line(self, op: str, text: str, hunk: Hunk | None) -> None:
        """The next line: one that the model adds (``+``), else an old one, which stands there."""
        if op != "+" or hunk is None:
            self.old_line(op == "-", hunk)
            return
        group = self._group(hunk)
        line = self.indented(text)
        if self._partial is not None:
            self._finish_partial(line)
        elif self._is_below() and (self.held or (self.late and self._unseen(self.end))):
            self.held.append((len(self.tags), line + self.newline))
            self.tags.append("+")
        else:
            self.catch_up()
            self._documents.apply_own(self._record, *self._new_row(group, line))
        group.agent.append(line + self.newline)
        group.last = len(self.tags)
        self._show()

    def catch_up(self) -> None:
        """Put in what is held back: somebody looks."""
        held, self.held = self.held, []
        for (_, hunk), run in groupby(
            enumerate(held), lambda item: (item[1][0] - item[0], self._hunk_of(item[1][0]))
        ):
            (at, _), *_ = lines = [line for _, line in run]
            here = (self.row + at, 0)
            self._replace((here, here), "".join(text for _, text in lines), hunk)
        if held:
            self._show(every=True)

    def _is_below(self) -> bool:
        """True if a row of the file is below: behind its end a line may need an ending first."""
        return self.end < self._record.buffer.line_count

    def _unseen(self, end: int) -> bool:
        """True if nobody can tell lines that come and go at once from such that do one by one.

        ``end`` is the row behind them.
        """
        record = self._record
        others = any(section is not self._owner for section in record.sections)
        below = end < record.buffer.line_count
        return below and not (others or any(self._met) or record.watched)

    def partial_line(self, text: str, hunk: Hunk) -> None:
        """Paint the unfinished line as it stands."""
        self.catch_up()
        group = self._group(hunk)
        line = self.indented(text)
        if self._partial is None:
            self._documents.apply_own(self._record, *self._new_row(group, line))
        elif line != self._partial:
            self._retype(line)
        self._partial = line
        group.last = len(self.tags)
        self._show()

    def keep_partial(self) -> bool:
        """The stream is cut: the unfinished line stays as it stands; False: there is none."""
        line, self._partial = self._partial, None
        if line is not None:
            self.groups[-1].agent.append(line + self.newline)
        return line is not None

    def drop_partial(self) -> None:
        """Take the unfinished line out again, unless the user has typed in it."""
        if self._partial is not None and self.tags[-1] == "+":
            self._remove(len(self.tags) - 1, len(self.tags), self._hunk_of(len(self.tags) - 1))
            self._show()
        self._partial = None

    def take_back(self, group: Group | None = None) -> None:
        """Remove the painted lines (of one group or of all), except where the user typed."""
        self.catch_up()
        self._partial = None
        for one in reversed([group] if group else self.groups):
            tags = self.tags[one.first : one.last]
            self.tags[one.first : one.last] = ["=" if tag == "-" else tag for tag in tags]
            for run in _runs(self.tags, "+", one.first, one.last):
                self._remove(*run, one.hunk)
            self._record.weave.forget_gone(one.hunk)
        buffer = self._record.buffer
        at_end = self.end == buffer.line_count - 1 and not buffer.lines[-1]
        if self._ended and self.tags and at_end:
            last_row = self.end - 1
            end = (last_row, len(buffer.lines[last_row]))
            self._replace((end, buffer.end), "", self._ended)
            self._ended = None
        if group is None:
            self.groups.clear()
        else:
            self.groups.remove(group)

    def finish(self) -> None:
        """Remove the struck lines; every group becomes the text of its hunk."""
        self.drop_partial()
        for group in self.groups:
            group.hunk.woven = _woven(self.tags[group.first : group.last], len(group.base))
        if self.held and self.all_held:
            self._change_at_once()
        else:
            self.catch_up()
            for group in reversed(self.groups):
                for first, last in _runs(self.tags, "-", group.first, group.last):
                    rows = (self.row + first, self.row + last)
                    self._replace(rows_range(self._record.buffer, *rows), "", group.hunk)
        gone = [0, *accumulate(tag == "-" for tag in self.tags)]
        self.tags = [tag for tag in self.tags if tag != "-"]
        for group in self.groups:
            group.first -= gone[group.first]
            group.last -= gone[group.last]
        for group in self.groups:
            hunk = group.hunk
            hunk.base = "".join(group.base)
            hunk.agent = "".join(group.agent)
            self._note_layer(group)
            self._documents.settle(
                self._record, hunk, (self.row + group.first, self.row + group.last)
            )

    @property
    def all_held(self) -> bool:
        """True if nothing was painted, and no other hunks are near: only struck and held lines."""
        added = len(self.tags) - self.tags.count("=") - self.tags.count("-")
        return len(self.held) == added and not any(self._met)

    def _change_at_once(self) -> None:
        """Put the lines that are held back in the place of the struck ones."""
        self.held = []
        for group in reversed(self.groups):
            rows = (self.row + group.old[0], self.row + group.old[1])
            where = rows_range(self._record.buffer, *rows)
            self._replace(where, "".join(group.agent), group.hunk)

    def leave(self) -> None:
        """The section is over: it is not kept by its painter."""
        self._owner = None

    def hunk_at(self, row: int) -> Hunk | None:
        """The hunk that painted a row."""
        return self._hunk_of(row - self.row)

    def without(self) -> str:
        """The rows' text as if nothing had been painted."""
        buffer = self._record.buffer
        kept = [
            rows_text(buffer, self.row + i, self.row + i + 1)
            for i, tag in enumerate(self.tags)
            if tag != "+"
        ]
        text = "".join(kept)
        at_end = self.end == buffer.line_count - 1 and not buffer.lines[-1]
        if self._ended and at_end and text.endswith("\n"):
            text = text[:-1].removesuffix("\r")
        return text

    def changed(self, span: Span, author: Author) -> None:
        """Rows of the file changed, not by this section."""
        row, stop, delta = span.row, span.row + span.n_old, span.n_new - span.n_old
        first, last = self.row, self.end
        if first < last <= row <= last + self.gap:
            self.gap = max(self.gap + delta, 0)
        if span.n_old == 0:
            if row <= first:
                self.row += delta
            elif row < last:
                at = row - first
                if set(self.tags[at - 1 : at + 1]) <= {"-"}:
                    self.trouble = self.trouble or EDITED[author]
                self._splice(at, at, span.n_new)
        elif stop <= first:
            self.row += delta
        elif row < last:
            inside = first <= row and stop <= last
            at, to = max(row, first) - first, min(stop, last) - first
            if row <= first and stop >= last and not set(self.tags) <= {"+", "u"}:
                self.trouble = SWALLOWED
            elif not inside or not set(self.tags[at:to]) <= {"+", "u"}:
                self.trouble = self.trouble or EDITED[author]
            if to == len(self.tags) and not span.n_new:
                self._partial = None  # the unfinished line is gone: it comes again, whole
            self.row = min(first, row)
            self._splice(at, to, span.n_new)
        self._show(every=True)

    def _splice(self, at: int, to: int, count: int) -> None:
        untyped = self.shortened and set(self.tags[at:to]) == {"+"}
        self._resize(at, to, ["+" if untyped else "u"] * count)

    def _resize(self, at: int, to: int, tags: list[str]) -> None:
        """Replace tags and keep the groups' edges right."""
        self.tags[at:to] = tags
        delta = len(tags) - (to - at)
        for group in reversed(self.groups):
            if group.first < at and group.last <= at:
                break  # it and those before it stand above
            group.first = _edge(group.first, (at, to), delta, at)
            if group.last > at:
                group.last = _edge(group.last, (at, to), delta, at + len(tags))
            group.last = max(group.first, group.last)

    def _group(self, hunk: Hunk) -> Group:
        if self.groups and self.groups[-1].hunk is hunk:
            return self.groups[-1]
        at, old = len(self.tags), len(self.base)
        self.groups.append(Group(hunk, at, at, (old, old)))
        return self.groups[-1]

    def indented(self, text: str) -> str:
        """A line of the patch with the file's indentation."""
        first = self._indent.first
        if first is not None and len(self.base) <= 1 and text == text.lstrip():
            return first.apply(text)
        return self._indent.apply(text)

    def _new_row(self, group: Group, line: str) -> tuple[tuple[Position, Position], str, Maker]:
        """Tag the next row as painted; where it is put in, as which text, and by whom."""
        buffer = self._record.buffer
        newline = self.newline
        if self.end < buffer.line_count:
            at, text = (self.end, 0), line + newline
        else:
            self._take_last_row(group)
            at, text = buffer.end, newline + line + newline
            self._ended = group.hunk
        ahead = group.first < len(self.tags)
        self.tags.append("+")
        return (at, at), text, Maker(Author.MODEL, group.hunk, self._owner, ahead)

    def _take_last_row(self, group: Group) -> None:
        """The file's last line gets a newline, so it becomes part of the change."""
        if not self.tags:
            text = self._record.buffer.lines[-1]
            self.row -= 1
            self.tags.append("=")
            self.base.append(text)
            self._before = {h: (start + 1, end + 1) for h, (start, end) in self._before.items()}
        if self.tags[-1] == "=":
            group.first = len(self.tags) - 1
            group.base.append(self.base[-1])
            group.agent.append(self.base[-1] + self.newline)
            group.old = (len(self.base) - 1, len(self.base))

    def _retype(self, line: str) -> None:
        """Bring the partial row to a longer text, keeping what the user typed in it."""
        old = self._partial or ""
        buffer, row, hunk = self._record.buffer, self.end - 1, self.groups[-1].hunk
        end = (row, len(buffer.lines[row]))
        if line.startswith(old):
            self._replace((end, end), line[len(old) :], hunk)
        elif self.tags[-1] == "+":
            self._replace(((row, 0), end), line, hunk)

    def _finish_partial(self, line: str) -> None:
        if line != self._partial:
            self._retype(line)
        self._partial = None

    def _remove(self, first: int, last: int, hunk: Hunk | None) -> None:
        where = rows_range(self._record.buffer, self.row + first, self.row + last)
        self._replace(where, "", hunk)
        self._resize(first, last, [])

    def _replace(self, where: tuple[Position, Position], text: str, hunk: Hunk | None) -> None:
        maker = Maker(Author.MODEL, hunk, self._owner)
        self._documents.apply_own(self._record, where, text, maker)

    def _hunk_of(self, index: int) -> Hunk | None:
        """The hunk of a tag."""
        at = bisect_right(self.groups, index, key=_FIRST) - 1
        return self.groups[at].hunk if at >= 0 else None

    def _meet(self) -> None:
        """Note the older hunks of the next stretch of old lines, before it is painted."""
        first = self.end
        offset = first - len(self.base)
        rows = (first - (not self._met), first + STRETCH)
        hunks = [*self._record.live.near(*rows), *self._record.off.near(*rows)]
        for hunk in hunks:
            if hunk.start is not None and hunk.end is not None:
                rows = (hunk.start.line - offset, hunk.end.line - offset)
                self._before.setdefault(hunk, rows)
        self._met.append(hunks)

    def _note_layer(self, group: Group) -> None:
        """Remember which older hunks this one lies on."""
        low, high = group.old
        if not self._before:
            return
        met = self._met[low // STRETCH : high // STRETCH + 1]
        some = {hunk for hunks in met for hunk in hunks}
        stood = [(one, *self._before[one]) for one in self._record.live.ordered(some)]
        lay(self._documents.layers, group.hunk, group.old, stood)

    def _show(self, every: bool = False) -> None:
        """Let the open hunk say where it is; every one after somebody else's change."""
        if self.held:
            return
        for group in self.groups if every else self.groups[-1:]:
            group.hunk.start = Mark(self.row + group.first)
            group.hunk.end = Mark(self.row + group.last, right=True)


def step_over_gap(painter: Painter) -> None:
    """Leave out what the user put behind the painted rows: it is outside of the hunk."""
    painter.drop_partial()
    painter.tags += ["u"] * painter.gap
    painter.gap = 0


def _woven(tags: Sequence[str], count: int) -> Woven | None:
    """`Hunk.woven` of a change whose rows have these tags, and whose old text ``count`` lines."""
    struck = tags.count("-")
    if struck == count and all(tag == "-" for tag in islice(tags, struck)):
        return None
    found: list[tuple[int, int, int]] = []
    new = old = 0
    for tag, run in groupby(tags):
        rows = sum(1 for _ in run)
        if tag == "-":
            found.append((new, old, old + rows))
        new += 0 if tag == "-" else rows
        old += rows if tag in "-=" else 0
    return tuple(found) if old == count else None


def _edge(index: int, cut: tuple[int, int], delta: int, inside: int) -> int:
    """Where an edge between tags is after the tags of ``cut`` were replaced."""
    if index >= cut[1]:
        return index + delta
    return inside if index > cut[0] else index


def _runs(tags: Sequence[str], tag: str, first: int, last: int) -> list[tuple[int, int]]:
    """The runs of lines of one kind, the last one first."""
    runs = groupby(range(first, last), lambda at: tags[at])
    found = [list(run) for kind, run in runs if kind == tag]
    return [(run[0], run[-1] + 1) for run in reversed(found)]


class RegionPainter(Painter):
    """Paints over ``count`` rows that have been matched."""

    def __init__(
        self, documents: Documents, record: FileRecord, spot: Spot, count: int, owner: OpenSection
    ) -> None:
        super().__init__(documents, record, spot.row, spot.indent, owner)
        self.ahead = count
        """Rows of the region that the painting has not reached."""
        rows = slice(spot.row, spot.row + count)
        self._before_it = (record.buffer.lines[rows], record.buffer.endings[rows])

    @property
    def region(self) -> list[str]:
        """The old lines as they were matched, with their endings."""
        return self._texts(0, len(self._before_it[0]))

    @property
    def region_end(self) -> int:
        """The row behind the region's last one."""
        return self.end + self.gap + self.ahead

    def old_line(self, struck: bool, hunk: Hunk | None) -> None:
        """The next row is the next old line."""
        self._step()
        super().old_line(struck, hunk)
        self.ahead -= 1

    def strike(self, hunk: Hunk, count: int) -> None:
        """The next rows go: thousands of them when a file is rewritten."""
        self._step()
        group = self._group(hunk)
        at = len(self.base)
        texts = self._texts(at, at + count)
        while texts:
            if len(self.base) >= len(self._met) * STRETCH:
                self._meet()
            some = texts[: len(self._met) * STRETCH - len(self.base)]
            del texts[: len(some)]
            self.base += some
            group.base += some
            self.tags += ["-"] * len(some)
        group.old = (group.old[0], len(self.base))
        group.last = len(self.tags)
        self.ahead -= count
        self._show()

    def changed(self, span: Span, author: Author) -> None:
        """Rows of the file changed, not by this section.

        What the user puts in right behind the painted rows is outside: it is stepped over.
        """
        first, rows = self.end, self.gap + self.ahead
        low, last = first + self.gap, first + rows
        row, stop = span.row, span.row + span.n_old
        overlap = max(0, min(stop, last) - max(row, first)) if span.n_old else 0
        reached = min(stop, last) > max(row, low) if span.n_old else low < row < last
        gone = span.n_old and row <= self.row and stop >= last and not span.n_new
        inside = first <= row < last and (row > self.row or bool(span.n_old))
        trouble = self.trouble
        super().changed(span, author)
        if rows:
            self.ahead = max(0, rows - overlap + (span.n_new if inside else 0) - self.gap)
        if reached:
            self.trouble = self.trouble or EDITED[author]
        if self.trouble and not trouble:
            self.trouble = SWALLOWED if gone else EDITED[author]

    def _step(self) -> None:
        self.drop_partial()
        if self.gap and self.ahead:
            step_over_gap(self)

    def _texts(self, first: int, last: int) -> list[str]:
        lines, endings = self._before_it
        return [
            text + ending
            for text, ending in zip(lines[first:last], endings[first:last], strict=True)
        ]


_SHOWN = {"+": "landing", "u": "landing", "-": "struck"}
"""What an editor shows of a row, by its tag."""


def shown(rows: PaintedRows, first: int, last: int) -> dict[int, str]:
    """Line -> landing, struck or conflict, of lines ``first`` to ``last``."""
    start, stop = max(first - rows.row, 0), max(last + 1 - rows.row, 0)
    tags = enumerate(rows.tags[start:stop], rows.row + start)
    if rows.trouble:
        return {row: "conflict" for row, tag in tags if tag in _SHOWN}
    return {row: _SHOWN[tag] for row, tag in tags if tag in _SHOWN}


def user_edit(
    documents: Documents, record: FileRecord, where: tuple[Position, Position], text: str
) -> Change:
    """The user's edit; what a model has painted in a deleted range is not the user's to delete.

    It would come back with undo as plain text when the section is long gone. So it is taken out
    before, by the model; of a row that the range ends in, too, as what is left of it would join
    the user's text.
    """
    crossed: list[OpenSection] = []
    within: OpenSection | None = None
    lines, mine = record.buffer.lines, set(text.split("\n")) - {""}
    for section in record.sections if where[0] < where[1] else ():
        rows = None if section.painter is None else _painted(section.painter, *where)
        if section.painter is not None and rows is None:
            within = section
            rows = _unfinished(section.painter, lines, where)
        if not rows or any(lines[row] in mine for row in rows):
            continue  # moved with the others: the text is the user's from now on
        for hunk, first, last in reversed(_runs_of(section.painter, rows)):
            documents.apply_own(
                record, rows_range(record.buffer, first, last), "", Maker(Author.MODEL, hunk)
            )
        if section is not within:
            crossed.append(section)
        where = _without_rows(record, where, rows)
    if within is not None and within.painter is not None:
        within.painter.shortened = not text
    change = documents.apply(record, *where, text, Author.USER)
    if within is not None and within.painter is not None:
        within.painter.shortened = False
    for section in crossed:
        if section.painter is not None:  # no more rows come
            section.painter.trouble = section.painter.trouble or EDITED[Author.USER]
    return change


def _painted(painter: PaintedRows, start: Position, end: Position) -> list[int] | None:
    """Rows that are the model's alone of those that a deletion touches; see `_touched`.

    None: there are only such rows, so that it is an edit of the model's text.
    """
    first, last = (row - painter.row for row in _touched(start, end))
    tags = painter.tags[max(first, 0) : max(last, 0)]
    if tags and first >= 0 and last <= len(painter.tags) and set(tags) <= {"+", "u"}:
        return None
    rows = enumerate(tags, painter.row + max(first, 0))
    return [row for row, tag in rows if tag == "+"]


def _runs_of(painter: PaintedRows | None, rows: list[int]) -> list[tuple[Hunk, int, int]]:
    """The runs of rows of each hunk, in order: first row, and the one behind the last."""
    found: list[tuple[Hunk, int, int]] = []
    for row in rows:
        hunk = None if painter is None else painter.hunk_at(row)
        if hunk is None:
            continue
        if found and found[-1][0] is hunk and found[-1][2] == row:
            found[-1] = (hunk, found[-1][1], row + 1)
        else:
            found.append((hunk, row, row + 1))
    return found


def _touched(start: Position, end: Position) -> tuple[int, int]:
    """The first row of which a deletion takes something, or joins it, and the row behind them."""
    return start[0], end[0] + bool(start[1] or end[1])


def _unfinished(
    painter: PaintedRows, lines: list[str], where: tuple[Position, Position]
) -> list[int]:
    """The line that is still coming, if a range has all of it: it comes again, whole."""
    row = painter.end - 1
    if not painter.unfinished or where[0] > (row, 0) or where[1] < (row, len(lines[row])):
        return []
    return [row]


def _without_rows(
    record: FileRecord, where: tuple[Position, Position], rows: list[int]
) -> tuple[Position, Position]:
    """What is left of a range when rows of it are gone."""
    start, end = where
    if start[0] == rows[0]:
        start = (start[0], 0)
    elif end[0] == rows[-1] and start[1]:
        row = end[0] - len(rows)
        return start, max(start, (row, len(record.buffer.lines[row])))
    inner = end[1] if end[0] != rows[-1] else 0
    row = end[0] - len(rows) + (end[0] == rows[-1])
    return start, max(start, record.buffer.clamp((row, inner)))
