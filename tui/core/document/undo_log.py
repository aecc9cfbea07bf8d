"""The user's undo and redo, in groups, kept true while a model edits the same text.

A stack holds the user's edits (as what takes them back) and, between them, what others did.
To take an edit back, it is carried over all that others did since; what they did is carried
over it in turn, for the older ones. An edit that others wrote into cannot be taken back
without touching theirs: the first try stops there, and only a second one passes it over. What
others did and took back (a rejected hunk) is in nobody's way. The model's own undo works on
hunks (`review`).

An edit across an edge of a hunk draws the lines into it, and one that takes out all of its rows
leaves it none. The text that comes back does not say whose it is; the edit's undo does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from tui.core.document.hunk import Decision, Hunk
from tui.core.document.hunk_index import HunkIndex
from tui.core.text.change_set import Change, Position, end_of, moved, offset_in
from tui.core.text.rows import Span

Slice = Callable[[Position, Position], str]
"""The text between two positions, as it is now."""

_MOST = 1_000
"""More changes than these are not put together: each costs a walk over all."""


class Foreign(NamedTuple):
    """What somebody else did: ``start .. old_end`` became ``start .. new_end``."""

    start: Position
    old_end: Position
    new_end: Position
    old_text: str = ""
    """What stood there."""


class _Piece(NamedTuple):
    """A range that all changes together replaced, apart from the others."""

    first: Position
    """Where it began before them."""
    last: Position
    text: str
    """What stood there before them."""
    start: Position
    """Where it begins now."""
    end: Position


def still_different(others: Sequence[Foreign], now: Slice) -> list[Foreign]:
    """The same changes without those whose range has its old text again (a rejected hunk)."""
    if len(others) > _MOST:
        return list(others)
    pieces: list[_Piece] = []
    for other in others:
        pieces = _together(pieces, other)
    kept = [piece for piece in pieces if now(piece.start, piece.end) != piece.text]
    if len(kept) == len(pieces):
        return list(others)
    return [
        Foreign(one.first, one.last, moved(one.end, one.start, one.first), one.text)
        for one in reversed(kept)
    ]


def _together(pieces: list[_Piece], other: Foreign) -> list[_Piece]:
    """The pieces after one more change; those that it touches become one."""
    before = [piece for piece in pieces if piece.end < other.start]
    behind = [piece for piece in pieces if piece.start > other.old_end]
    hits = pieces[len(before) : len(pieces) - len(behind)]
    parts: list[str] = []
    at = other.start
    for piece in hits:
        if at < piece.start:
            parts.append(_between(other, at, piece.start))
        parts.append(piece.text)
        at = max(at, piece.end)
    if at < other.old_end:
        parts.append(_between(other, at, other.old_end))
    if hits and hits[0].start <= other.start:
        start, first = hits[0].start, hits[0].first
    elif before:
        start, first = other.start, moved(other.start, before[-1].end, before[-1].last)
    else:
        start = first = other.start
    text = "".join(parts)
    end = moved(max(at, other.old_end), other.old_end, other.new_end)
    down = [
        piece._replace(
            start=moved(piece.start, other.old_end, other.new_end),
            end=moved(piece.end, other.old_end, other.new_end),
        )
        for piece in behind
    ]
    return [*before, _Piece(first, end_of(first, text), text, start, end), *down]


def _between(other: Foreign, start: Position, end: Position) -> str:
    """A part of what a change replaced."""
    at = [offset_in(other.old_text, other.start, place) for place in (start, end)]
    return other.old_text[at[0] : at[1]]


_Rows = tuple[int, int]


class HunkAnchors(Struct):
    """What an edit of the user's did to hunks; the rows are counted from where it starts."""

    rows: dict[Hunk, tuple[_Rows, _Rows]] = field(default_factory=dict)
    """Where hunks stood before it, and after it."""
    painted: Sequence[Hunk] | None = None
    """Hunks that were being painted: it took out lines of theirs, and nothing else."""

    ahead: bool = False
    """What is painted right there since stands behind what it took out."""
    above: bool = False
    """It took out lines: the same stands before its ends, in its first and its last line."""
    below: bool = False
    """It took out lines: both its ends are ends of lines."""

    @property
    def lost(self) -> bool:
        """What it took out is nobody's any more: these hunks have no place in the text."""
        return self.painted is not None and not any(
            hunk.start is not None and hunk.decision is not Decision.REJECTED
            for hunk in self.painted
        )


def stood(live: HunkIndex, off: HunkIndex, span: Span) -> list[tuple[Hunk, _Rows]]:
    """Where the hunks stand that a change touches, those that a decision took out, too."""
    rows = (span.row - 1, span.row + span.n_old)
    near = live.near(*rows)
    if off:
        near = [*near, *off.near(*rows)]
    return [(hunk, _rows(hunk)) for hunk in near]


def footing(before: list[tuple[Hunk, _Rows]], row: int) -> HunkAnchors:
    """What is to be known to undo a change that started at ``row``, now that it is made."""
    return HunkAnchors({hunk: (_from(rows, row), _from(_rows(hunk), row)) for hunk, rows in before})


def stand_again(
    undone: HunkAnchors, now: HunkAnchors, change: Change, *, behind: bool = False
) -> None:
    """An edit was undone by ``change``: each edge that stood as it had left it goes back.

    Args:
        undone: what that edit had done.
        now: what ``change`` did; it is brought to where the hunks stand then.
        change: what undid it.
        behind: its text stands behind lines that have gone since.
    """
    now.painted = undone.painted
    count = change.new_end[0] - change.start[0]
    for hunk, (was, became) in now.rows.items():
        first, last = became
        if hunk in undone.rows:
            before, after = undone.rows[hunk]
            first = before[0] if was[0] == after[0] else first
            last = before[1] if was[1] == after[1] else last
        elif undone.painted and hunk in undone.painted and change.new_text in hunk.agent:
            first = 0 if not was[0] else first
            last = count if not was[1] else last
        elif behind and was == (0, 0):
            first = last = 0
        if (first, last) != became and first <= last and hunk.start and hunk.end:
            hunk.start.line, hunk.end.line = change.start[0] + first, change.start[0] + last
            now.rows[hunk] = (was, (first, last))


def _rows(hunk: Hunk) -> _Rows:
    assert hunk.start is not None
    assert hunk.end is not None
    return hunk.start.line, hunk.end.line


def _from(rows: _Rows, row: int) -> _Rows:
    return rows[0] - row, rows[1] - row


Apply = Callable[[Position, Position, str], Change | None]
"""Does a replacement and returns it; None if it must not be done now."""


class UndoStep(Struct, frozen=True):
    """A replacement that takes one user's edit back (or does it again)."""

    start: Position
    end: Position
    text: str
    group: int
    state: int
    """Which state of the user's text it leads to (`UndoLog.state`)."""
    anchors: HunkAnchors = field(default_factory=HunkAnchors)
    """Where hunks stood before it was done, and since."""
    behind: bool = False
    """Lines right before it went, by somebody else."""


def crossed(other: Foreign, step: UndoStep) -> tuple[Foreign, UndoStep] | None:
    """Two replacements of one text, each as it is after the other; None if they overlap."""
    if step.end <= other.start and not _belongs_behind(other, step):
        end = end_of(step.start, step.text)
        start = moved(other.start, step.end, end)
        last = moved(other.new_end, other.start, start)
        return Foreign(start, moved(other.old_end, step.end, end), last, other.old_text), step
    if step.start >= other.old_end:
        start = moved(step.start, other.old_end, other.new_end)
        last = moved(step.end, other.old_end, other.new_end)
        gone = other.start == other.new_end == start and not start[1]
        behind = gone or (step.behind and start == last)
        return other, replace(step, start=start, end=last, behind=behind)
    return None


def _belongs_behind(other: Foreign, step: UndoStep) -> bool:
    """Whole lines were put in where the step brings text back: that came behind them.

    A section is painted behind the lines that it replaces.
    """
    if step.anchors.ahead:
        return False
    at_start = step.start == step.end == other.start == other.old_end and not step.start[1]
    return at_start and other.new_end[0] > other.start[0] and not other.new_end[1]


class _Stack(Struct):
    """Steps and foreign changes, oldest first."""

    items: list[UndoStep | Foreign] = field(default_factory=list)

    def foreign(self, change: Change) -> None:
        """Note what somebody else did."""
        if not self.items:
            return
        new = Foreign(change.start, change.old_end, change.new_end, change.old_text)
        last = self.items[-1]
        if isinstance(last, Foreign) and last.start <= new.start and new.old_end <= last.new_end:
            end = moved(last.new_end, new.old_end, new.new_end)
            self.items[-1] = last._replace(new_end=end)
        else:
            self.items.append(new)

    def pending(self) -> list[Foreign]:
        """Take off what others did since the newest step, oldest first."""
        taken: list[Foreign] = []
        while self.items and isinstance(last := self.items[-1], Foreign):
            taken.append(last)
            self.items.pop()
        return taken[::-1]

    def blocked(self, group: int, others: list[Foreign], *, whole: bool) -> Position | None:
        """Where others wrote into a group's newest step (``whole``: any step); None: nowhere."""
        for step in reversed(self.items):
            if not isinstance(step, UndoStep) or step.group != group:
                break
            if step.anchors.lost:
                others = [_done(step), *others]
                continue
            over = _carried(others, step)
            if over is None:
                return _place(others, step)
            others = over[0]
            if not whole:
                break
        return None

    def renumber(self, states: int) -> int:
        """Its steps lead to states that never were, from this one on; returns the last."""
        for at, item in enumerate(self.items):
            if isinstance(item, UndoStep):
                states += 1
                self.items[at] = replace(item, state=states)
        return states

    def top_group(self) -> int | None:
        """The group of the newest step."""
        return next((i.group for i in reversed(self.items) if isinstance(i, UndoStep)), None)


class UndoLog:
    """Undo and redo of one user in one buffer; it has no limit that a model could use up."""

    def __init__(self) -> None:
        self.state = 0
        """Which state the user's own text is in; back at an old one, the number is the same."""
        self.anchors = HunkAnchors()
        """Where hunks stood before the last change of the text, if the user made it."""
        self._states = 0
        self._undo = _Stack()
        self._redo = _Stack()
        self._groups = 0
        self._apart: set[int] = set()
        """Groups of edits in several places: undone, they lead to the topmost one."""
        self._whole: set[int] = set()
        """Groups of edits that make sense together only."""
        self._insisted: int | None = None
        """The group that others wrote into, which the next try passes over."""
        self.stopped = False
        """The last undo (or redo) changed nothing: it stopped at such a group."""
        self.alone = False
        """Nothing that waits for a decision stands in the text."""
        self._name = ""
        self._tip: tuple[Position, Position] | None = None
        """The last edit's start and end: where the next one joins its group."""

    def __bool__(self) -> bool:
        """True if something can be undone or redone."""
        return bool(self._undo.items or self._redo.items)

    def record(self, change: Change, group: str = "") -> None:
        """The user did this; edits of one non-empty group join while they adjoin.

        A name with a colon is one action (``indent:7``): its edits join wherever they are. One
        with two (``move-lines::8``) is taken back as a whole or not at all.
        """
        adjoins = self._adjoins(change)
        joins = bool(group) and group == self._name and (":" in group or adjoins)
        self._groups += not joins
        if "::" in group:
            self._whole.add(self._groups)
        if joins and not adjoins:
            self._apart.add(self._groups)
        self._name, self._insisted = group, None
        self._tip = (change.start, change.new_end)
        self._redo.items.clear()
        self._undo.items.append(self._back(change, self._groups))
        self._states += 1
        self.state = self._states

    def foreign(self, change: Change) -> None:
        """Somebody else did this."""
        self._undo.foreign(change)
        self._redo.foreign(change)
        if self._tip is None:
            return
        start, end = self._tip
        if change.old_end <= start:
            start = moved(start, change.old_end, change.new_end)
            end = moved(end, change.old_end, change.new_end)
            self._tip = (start, end)
        elif change.start < end:
            self._tip = None

    def end_group(self) -> None:
        """The next edit starts a group of its own."""
        self._name = ""

    def has(self, *, again: bool = False) -> bool:
        """True if there is something to take back (or to do again)."""
        return (self._redo if again else self._undo).top_group() is not None

    def undo(self, apply: Apply, now: Slice) -> Position | None:
        """Take the newest group back; returns where, None if there is nothing to take back.

        Where others wrote into it nothing is changed (`stopped`), but for a second try.
        """
        return self._walk(self._undo, self._redo, apply, now)

    def redo(self, apply: Apply, now: Slice) -> Position | None:
        """Do again what was taken back last."""
        return self._walk(self._redo, self._undo, apply, now)

    def _reach(
        self, source: _Stack, group: int, others: list[Foreign], now: Slice
    ) -> tuple[list[Foreign], Position | None]:
        """What others did since a group, and where they wrote into it, if they did."""
        whole = group in self._whole
        place = source.blocked(group, others, whole=whole)
        if place is None:
            return others, None
        fewer = still_different(others, now)
        if source.blocked(group, fewer, whole=whole) is None:
            return fewer, None
        return others, place

    def _back(self, change: Change, group: int) -> UndoStep:
        """What takes a change of the user's back, which was made just now."""
        start, end, text = change.start, change.new_end, change.old_text
        return UndoStep(start, end, text, group, self.state, self.anchors)

    def _adjoins(self, change: Change) -> bool:
        if self._tip is None:
            return False
        start, end = self._tip
        return change.start in (start, end) or change.old_end in (start, end)

    def _walk(self, source: _Stack, sink: _Stack, apply: Apply, now: Slice) -> Position | None:
        self.end_group()
        self.stopped = False
        where: Position | None = None
        carried: list[Foreign] = []
        group: int | None = None
        passed = False
        while True:
            carried = source.pending() + carried
            if group is None or source.top_group() != group:
                if where is not None or (group := source.top_group()) is None:
                    break
                carried, place = self._reach(source, group, carried, now)
                if place is not None and group != self._insisted:
                    self._insisted, self.stopped, where = group, True, place
                    break
                before, passed = carried, place is not None and group in self._whole
            step = source.items[-1]
            assert isinstance(step, UndoStep)
            over = None if passed else _carried(carried, step)
            change = apply(over[1].start, over[1].end, over[1].text) if over else None
            if over and change is None:
                if where is not None and group in self._whole:
                    self._put_back(source, sink, apply)
                    where, carried = None, before
                break
            source.items.pop()
            if over and change is not None:
                carried = over[0]
                stand_again(step.anchors, self.anchors, change, behind=over[1].behind)
                sink.items.append(self._back(change, step.group))
                self.state = step.state
                apart = where is not None and group in self._apart
                where = min(where, change.new_end) if apart and where else change.new_end
            else:
                carried = [_done(step), *carried]
                if step.anchors.lost or self.alone:
                    self.state = step.state  # what stood in its way is in no state any more
                else:
                    self._states = source.renumber(self._states)
        source.items += carried
        return where

    def _put_back(self, source: _Stack, sink: _Stack, apply: Apply) -> None:
        """The newest group cannot be taken back as a whole: do again what was taken back of it."""
        group = sink.top_group()
        while sink.items and isinstance(step := sink.items[-1], UndoStep) and step.group == group:
            change = apply(step.start, step.end, step.text)
            if change is None:
                break
            sink.items.pop()
            stand_again(step.anchors, self.anchors, change)
            source.items.append(self._back(change, step.group))
            self.state = step.state


def _carried(others: list[Foreign], step: UndoStep) -> tuple[list[Foreign], UndoStep] | None:
    """A step as it is after what others did since; None: it cannot be done any more."""
    if step.anchors.lost:
        return None
    for start, text in [(step.start, step.text), *_as_lines(step)]:
        end = step.end if text is step.text else start
        over = _carry(others, replace(step, start=start, end=end, text=text))
        if over is not None:
            return over
    return None


def _as_lines(step: UndoStep) -> Iterator[tuple[Position, str]]:
    """The same step from start to start of lines, if it is from the midst to the midst of them."""
    row, text = step.start[0], step.text
    if step.anchors.above and step.start[1]:
        cut = text.rfind("\n") + 1
        yield (row, 0), text[cut:] + text[:cut]
    if step.anchors.below:
        cut = text.find("\n") + 1
        yield (row + 1, 0), text[cut:] + text[:cut]


def _carry(others: list[Foreign], step: UndoStep) -> tuple[list[Foreign], UndoStep] | None:
    after: list[Foreign] = []
    for other in others:
        pair = crossed(other, step)
        if pair is None:
            return None
        after.append(pair[0])
        step = pair[1]
    return after, step


def _place(others: list[Foreign], step: UndoStep) -> Position:
    """Where the first of the others' changes that a step does not go across stands now."""
    place: Position | None = None
    for other in others:
        if place is None:
            pair = crossed(other, step)
            step, place = (step, other.start) if pair is None else (pair[1], None)
        elif other.old_end <= place:
            place = moved(place, other.old_end, other.new_end)
        else:
            place = min(place, other.start)
    return place or step.start


def _done(step: UndoStep) -> Foreign:
    """A step that is passed over: what it would take back stays, as if others had done it."""
    return Foreign(step.start, end_of(step.start, step.text), step.end, step.text)
