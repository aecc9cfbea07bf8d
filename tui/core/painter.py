"""A located section in its buffer: struck lines, painted lines, and the user among them.

Every row of the section has a tag: ``=`` context, ``-`` struck (still there), ``+`` painted,
``u`` touched by the user since. Rows that go with the section's end go then, not before, so an
open section never hides text and can always be taken back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate, groupby

from tui.core.buffer import Mark
from tui.core.hunk import Hunk
from tui.core.indent import SAME, IndentChange
from tui.core.ledger import Author, FileRecord, Ledger, OpenSection
from tui.core.rows import Span, rows_range, rows_text

_STRETCH = 32
"""Old lines for which older hunks are looked for at once."""
SWALLOWED = "target deleted: the lines that it was changing are gone"
EDITED = {
    Author.USER: "you changed these lines while they were being changed",
    Author.MODEL: "another edit changed these lines while they were being changed",
    Author.DISK: "these lines changed on the disk while they were being changed",
}


@dataclass(eq=False, slots=True)
class Group:
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


class Painter:
    """Writes a section's lines at its place as they come."""

    def __init__(
        self,
        ledger: Ledger,
        record: FileRecord,
        row: int,
        indent: IndentChange = SAME,
        owner: OpenSection | None = None,
    ) -> None:
        self._ledger = ledger
        self._record = record
        self._indent = indent
        self._owner = owner
        self._newline = record.buffer.newline
        """Fixed now: the user may change the file's first line ending meanwhile."""
        self.row = row
        """The first row, as it is now."""
        self.tags: list[str] = []
        self.groups: list[Group] = []
        self.base: list[str] = []
        """The file's text of the old lines so far, with endings."""
        self.trouble = ""
        """Why painting had to stop: somebody changed matched lines."""
        self._partial: str | None = None
        self._ended = False
        """We ended the file's last line, which had no newline."""
        self._before: dict[Hunk, tuple[int, int]] = {}
        """Older hunks, where they stood, counted in old lines of the section."""
        self._met: list[list[Hunk]] = []
        """Which of them touch each stretch of old lines."""
        self._meet()

    @property
    def end(self) -> int:
        """The row behind the section's last one so far: the next old line, or where to write."""
        return self.row + len(self.tags)

    def old_line(self, struck: bool, hunk: Hunk | None) -> None:
        """The next row is the section's next old line (the caller has compared them)."""
        self.drop_partial()
        if len(self.base) >= len(self._met) * _STRETCH:
            self._meet()
        text = rows_text(self._record.buffer, self.end, self.end + 1)
        if struck and hunk is not None:
            group = self._group(hunk)
            group.base.append(text)
            group.old = (group.old[0], len(self.base) + 1)
        else:
            self.close_group()
        self.base.append(text)
        self.tags.append("-" if struck else "=")
        if struck:
            self.groups[-1].last = len(self.tags)
        self._show()

    def close_group(self) -> None:
        """No more lines come for the open change group."""
        if self.groups:
            self.groups[-1].whole = True

    def new_line(self, text: str, hunk: Hunk) -> None:
        """The model's next added line."""
        group = self._group(hunk)
        line = self._indented(text)
        if self._partial is not None:
            self._finish_partial(line)
        else:
            self._insert(group, line)
        group.agent.append(line + self._newline)
        group.last = len(self.tags)
        self._show()

    def partial_line(self, text: str, hunk: Hunk) -> None:
        """Paint the unfinished line as it stands."""
        group = self._group(hunk)
        line = self._indented(text)
        if self._partial is None:
            self._insert(group, line)
        elif line != self._partial:
            self._retype(line)
        self._partial = line
        group.last = len(self.tags)
        self._show()

    def drop_partial(self) -> None:
        """Take the unfinished line out again, unless the user has typed in it."""
        if self._partial is not None and self.tags[-1] == "+":
            self._remove(len(self.tags) - 1, len(self.tags))
        self._partial = None

    def take_back(self, group: Group | None = None) -> None:
        """Remove the painted lines (of one group or of all), except where the user typed."""
        self._partial = None
        first, last = (group.first, group.last) if group else (0, len(self.tags))
        for index in reversed(range(first, last)):
            if self.tags[index] == "+":
                self._remove(index, index + 1)
            elif self.tags[index] == "-":
                self.tags[index] = "="
        buffer = self._record.buffer
        at_end = self.end == buffer.line_count - 1 and not buffer.lines[-1]
        if self._ended and self.tags and at_end:
            last_row = self.end - 1
            self._replace(((last_row, len(buffer.lines[last_row])), buffer.end), "")
            self._ended = False
        if group is None:
            self.groups.clear()
        else:
            self.groups.remove(group)

    def finish(self) -> None:
        """Remove the struck lines; every group becomes the text of its hunk."""
        self.drop_partial()
        runs = [
            list(run)
            for struck, run in groupby(range(len(self.tags)), lambda at: self.tags[at] == "-")
            if struck
        ]
        for run in reversed(runs):
            first, last = self.row + run[0], self.row + run[-1] + 1
            self._replace(rows_range(self._record.buffer, first, last), "")
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
            self._ledger.settle(self._record, hunk, (self.row + group.first, self.row + group.last))

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
        if span.n_old == 0:
            if row <= first:
                self.row += delta
            elif row < last:
                self._put_in(row - first, span.n_new, author)
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

    def _put_in(self, at: int, count: int, author: Author) -> None:
        if set(self.tags[at - 1 : at + 1]) <= {"-"}:
            self.trouble = self.trouble or EDITED[author]
        self._splice(at, at, count)

    def _splice(self, at: int, to: int, count: int) -> None:
        self._resize(at, to, ["u"] * count)

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

    def _indented(self, text: str) -> str:
        first = self._indent.first
        if first is not None and len(self.base) <= 1 and text == text.lstrip():
            return first.apply(text)
        return self._indent.apply(text)

    def _insert(self, group: Group, line: str) -> None:
        buffer = self._record.buffer
        newline = self._newline
        if self.end < buffer.line_count:
            here = (self.end, 0)
            self._replace((here, here), line + newline)
        else:
            self._take_last_row(group)
            self._replace((buffer.end, buffer.end), newline + line + newline)
            self._ended = True
        self.tags.append("+")

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
            group.agent.append(self.base[-1] + self._newline)
            group.old = (len(self.base) - 1, len(self.base))

    def _retype(self, line: str) -> None:
        """Bring the partial row to a longer text, keeping what the user typed in it."""
        old = self._partial or ""
        buffer, row = self._record.buffer, self.end - 1
        if line.startswith(old):
            at = (row, len(buffer.lines[row]))
            self._replace((at, at), line[len(old) :])
        elif self.tags[-1] == "+":
            self._replace(((row, 0), (row, len(buffer.lines[row]))), line)

    def _finish_partial(self, line: str) -> None:
        if line != self._partial:
            self._retype(line)
        self._partial = None

    def _remove(self, first: int, last: int) -> None:
        where = rows_range(self._record.buffer, self.row + first, self.row + last)
        self._replace(where, "")
        self._resize(first, last, [])

    def _replace(self, where: tuple[tuple[int, int], tuple[int, int]], text: str) -> None:
        self._ledger.apply_own(self._record, where, text, Author.MODEL, self._owner)

    def _meet(self) -> None:
        """Note the older hunks of the next stretch of old lines, before it is painted."""
        first = self.end
        offset = first - len(self.base)
        hunks = self._record.live.near(first - (not self._met), first + _STRETCH)
        for hunk in hunks:
            if hunk.start is not None and hunk.end is not None:
                rows = (hunk.start.line - offset, hunk.end.line - offset)
                self._before.setdefault(hunk, rows)
        self._met.append(hunks)

    def _note_layer(self, group: Group) -> None:
        """Remember which older hunks this one lies on."""
        low, high = group.old
        layer = self._ledger.layers[group.hunk.id]
        layer.below, layer.edges = [], []
        met = self._met[low // _STRETCH : high // _STRETCH + 1]
        for hunk in self._record.live.ordered({hunk for hunks in met for hunk in hunks}):
            start, end = self._before[hunk]
            inside = (low <= start <= high, low <= end <= high)
            if any(inside):
                edges = (start - low if inside[0] else None, end - low if inside[1] else None)
                layer.edges.append((hunk, *edges))
            if max(start, low) < min(end, high) or start < low == high < end or low < start < high:
                layer.below.append(hunk)
                self._ledger.layers[hunk.id].above.append(group.hunk)

    def _show(self, every: bool = False) -> None:
        """Let the open hunk say where it is; every one after somebody else's change."""
        for group in self.groups if every else self.groups[-1:]:
            group.hunk.start = Mark(self.row + group.first)
            group.hunk.end = Mark(self.row + group.last, right=True)


def _edge(index: int, cut: tuple[int, int], delta: int, inside: int) -> int:
    """Where an edge between tags is after the tags of ``cut`` were replaced."""
    if index >= cut[1]:
        return index + delta
    return inside if index > cut[0] else index


class Painted:
    """What a front end reads of who has a painter, once it has one (see `OpenSection`)."""

    _painter: Painter | None = None

    @property
    def last_row(self) -> int | None:
        """The row that was written last, if any."""
        return self._painter.end - 1 if self._painter and self._painter.tags else None

    def changed(self, span: Span, author: Author) -> None:
        """Rows of the file changed, not by this one."""
        if self._painter is not None:
            self._painter.changed(span, author)

    def without(self) -> tuple[int, int, str]:
        """The rows that it has painted, and the text that belongs there without it."""
        if self._painter is None:
            return 0, 0, ""
        return self._painter.row, self._painter.end, self._painter.without()
