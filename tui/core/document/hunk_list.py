"""All hunks of a session, and those that stand in a buffer, found without a walk over them all."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import TypeVar

from tui.core.document.hunk import (
    OPEN,
    PLACED,
    Decision,
    Hunk,
    HunkTally,
    Need,
    Stage,
    fold,
    need_of,
)
from tui.core.steps import Work, finished, in_parts, picked
from tui.core.text.anchors import AnchorIndex, RowAnchor
from tui.core.text.buffer import Mark
from tui.core.text.rows import Span

_RANK = attrgetter("rank")


class HunkIndex:
    """Hunks by the rows in which they stand, and in the order in which they landed."""

    def __init__(self, hunks: Iterable[Hunk] = ()) -> None:
        self._anchors: AnchorIndex[Hunk] = AnchorIndex()
        self._order: list[RowAnchor[Hunk]] = []
        self._ranks = 0
        self._sorted = True
        for hunk in hunks:
            self.append(hunk)

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[Hunk]:
        self._sort()
        return iter([anchor.item for anchor in self._order])

    def __reversed__(self) -> Iterator[Hunk]:
        self._sort()
        return iter([anchor.item for anchor in reversed(self._order)])

    def __contains__(self, hunk: object) -> bool:
        return isinstance(hunk, Hunk) and self._find(hunk) is not None

    def append(self, hunk: Hunk, rank: int | None = None) -> None:
        """A hunk stands where its marks are; from now on they move with every change.

        ``rank``: it stood here before, and has the same place in the order again.

        Raises:
            ValueError: it has no place, or stands here already.
        """
        if hunk.start is None or hunk.end is None or self._find(hunk):
            raise ValueError("a hunk stands in one place, once")
        if rank is None:
            self._ranks = rank = max(hunk.id, self._ranks + 1)  # mostly a number that is kept
        self._sorted = self._sorted and rank == self._ranks
        anchor = self._anchors.add(hunk, (hunk.start.line, hunk.end.line), rank)
        self._order.append(anchor)
        hunk.stand_in(anchor)

    def rank(self, hunk: Hunk) -> int:
        """Its place in the order of landing. Raises KeyError."""
        return self._of(hunk).rank

    def remove(self, hunk: Hunk) -> None:
        """It stands here no more; its marks stay where they are. Raises KeyError."""
        anchor = self._of(hunk)
        self._sort()
        del self._order[bisect_left(self._order, anchor.rank, key=_RANK)]
        first, last = anchor.rows
        hunk.start, hunk.end = Mark(first), Mark(last, right=True)
        self._anchors.remove(anchor)

    def replace(self, hunk: Hunk, rows: tuple[int, int]) -> None:
        """It stands in other rows now, as if it had stood there when it landed."""
        self._of(hunk).put(rows)

    def move(self, span: Span) -> None:
        """Rows of the buffer changed."""
        self._anchors.move(span)

    def near(self, first: int, last: int) -> list[Hunk]:
        """The hunks that overlap or touch rows ``first .. last``, in order of landing."""
        return [anchor.item for anchor in self._anchors.touching(first, last)]

    def rows(self) -> dict[Hunk, tuple[int, int]]:
        """The first row of each hunk and the one behind its last: all as they are at one moment."""
        return self._anchors.rows()

    def ordered(self, hunks: Iterable[Hunk]) -> list[Hunk]:
        """Those that stand here, in order of landing."""
        anchors = {anchor.rank: hunk for hunk in hunks if (anchor := self._find(hunk))}
        return [anchors[rank] for rank in sorted(anchors)]

    def _find(self, hunk: Hunk) -> RowAnchor[Hunk] | None:
        anchor = hunk.stand
        return anchor if anchor is not None and anchor.index is self._anchors else None

    def _of(self, hunk: Hunk) -> RowAnchor[Hunk]:
        """Where it stands. Raises KeyError."""
        anchor = self._find(hunk)
        if anchor is None:
            raise KeyError(hunk)
        return anchor

    def _sort(self) -> None:
        """Bring those that stand here again to their places."""
        if not self._sorted:
            self._order.sort(key=_RANK)
            self._sorted = True


T = TypeVar("T")
_UNSETTLED = OPEN | PLACED | {Stage.CONFLICT}


class HunksOfFile(HunkTally):
    """The hunks of one patch in one file, and what they need."""

    __slots__ = ("hunks",)

    def __init__(self, whole: HunkTally) -> None:
        super().__init__(whole)
        self.hunks: list[Hunk] = []


class HunkList:
    """The hunks in the order in which they came, by id, by call and file, and their numbers."""

    def __init__(self) -> None:
        self.hunks: list[Hunk] = []
        self.reviews = 0
        """Grows when the user decides, places or takes back: older hunks may have changed."""
        self.tally = HunkTally()
        """Of all hunks."""
        self._by_call: dict[str, list[Hunk]] = {}
        self._files: dict[str, dict[str, HunksOfFile]] = {}
        """By call and path; both in the order in which they came."""
        self._unsettled: dict[int, Hunk] = {}
        self._mixed = False
        """Some of these are not in their order."""

    def __contains__(self, hunk_id: int) -> bool:
        return self._at(hunk_id) is not None

    def add(self, hunk: Hunk) -> None:
        """Take a new hunk in; it has the highest id so far, unless it comes again."""
        self._mixed |= bool(self.hunks) and hunk.id < self.hunks[-1].id
        insort(self.hunks, hunk, key=_ID)
        self._by_call.setdefault(hunk.call_id, []).append(hunk)
        self._unsettled[hunk.id] = hunk
        hunk.need = need_of(hunk)
        self._count(hunk)
        if len(self.hunks) % FOLDED == 0:
            fold(self.hunks[-2 * FOLDED : -FOLDED])

    def add_before(self, hunks: Sequence[Hunk]) -> Work[None]:
        """Take in hunks of an earlier time that none of the calls here has, in order of ids."""
        for at in range(0, len(hunks), FOLDED):
            part = hunks[at : at + FOLDED]
            for hunk in part:
                self._by_call.setdefault(hunk.call_id, []).append(hunk)
                hunk.need = need_of(hunk)
                if not _is_settled(hunk):
                    self.reopened(hunk)
                self._count(hunk)
            fold(part)
            yield len(part)
        self.hunks[:] = sorted([*hunks, *self.hunks], key=_ID)
        calls = sorted(self._files, key=lambda call: [one.id for one in self._by_call[call][:1]])
        self._files = {call: self._files[call] for call in calls}
        self.reviewed()

    def watched(self) -> dict[int, Hunk]:
        """All hunks by id, for who empties it; what changes from now on comes in again."""
        news = self.tally.news = {hunk.id: hunk for hunk in self.hunks}
        for files in self._files.values():
            for tally in files.values():
                tally.news = news
        return news

    def forget(self, hunk: Hunk) -> None:
        """Take a hunk out that came to nothing."""
        if self._at(hunk.id) is None:
            return
        self._unsettled.pop(hunk.id, None)
        self._discount(hunk)
        for hunks in (self.hunks, self._by_call[hunk.call_id]):
            take_out(hunks, hunk)

    def files_of(self, call_id: str) -> dict[str, HunksOfFile]:
        """The hunks of one tool call by path, with their numbers."""
        return self._files.get(call_id, {})

    def in_file(self, path: str | None) -> Iterator[HunksOfFile]:
        """What the calls did to one file (None: to each of all), oldest first."""
        for files in self._files.values():
            if path is None:
                yield from files.values()
            elif path in files:
                yield files[path]

    def paths(self) -> set[str]:
        """All files of which there are hunks."""
        return {path for files in self._files.values() for path in files}

    def calls_waiting(self) -> set[str]:
        """Calls of which a hunk still comes in, or waits for the user."""
        return {
            call_id
            for call_id, files in self._files.items()
            if any(tally.waiting for tally in files.values())
        }

    def moved(self, hunks: Iterable[Hunk], path: str) -> None:
        """These hunks stand in a file of another path from now on."""
        moving = [hunk for hunk in dict.fromkeys(hunks) if hunk.path != path]
        for hunk in reversed(moving):
            self._discount(hunk)
        for hunk in moving:
            hunk.path = path
            if hunk.id in self:
                self._count(hunk)

    def reopened(self, hunk: Hunk) -> None:
        """A hunk is to be decided again; call `reviewed` when that is all."""
        self._unsettled[hunk.id] = hunk
        self._mixed = True

    def reviewed(self) -> None:
        """The user decided."""
        self.reviews += 1
        if self._mixed:
            found = self._unsettled
            self._unsettled = {number: found[number] for number in sorted(found)}
            self._mixed = False

    def by_id(self, hunk_id: int) -> Hunk:
        """The hunk of that id. Raises KeyError."""
        at = self._at(hunk_id)
        if at is None:
            raise KeyError(hunk_id)
        return self.hunks[at]

    def chosen(self, numbers: Iterable[int] | None, *, cut: bool = False) -> Work[list[Hunk]]:
        """The hunks of these ids, as far as there are any, in order; None: see `decidable`."""
        if numbers is None:
            return (yield from self.decidable(cut=cut))
        wanted = set(numbers)
        if len(wanted) > len(self.hunks) // _FEW:
            return (yield from picked([*self.hunks], lambda hunk: hunk.id in wanted))
        return [self.by_id(number) for number in sorted(wanted) if number in self]

    def of_call(self, call_id: str) -> Sequence[Hunk]:
        """The hunks of one tool call, in order."""
        return self._by_call.get(call_id, ())

    def unsettled(self) -> list[Hunk]:
        """Hunks that still come in or wait for the user, in order."""
        finished(self.settling())
        return list(self._unsettled.values())

    def settling(self) -> Work[None]:
        """Let go of those that do not any more, with pauses."""
        gone = yield from picked(list(self._unsettled.values()), _is_settled)
        for part in in_parts(gone):
            for hunk in part:
                if _is_settled(hunk):
                    self._unsettled.pop(hunk.id, None)
            yield len(part)
        if gone:
            self._unsettled = dict(self._unsettled)  # one that lost its hunks stays as large

    def decidable(self, *, cut: bool = False) -> Work[list[Hunk]]:
        """Hunks that can be accepted all at once now, in order; with pauses.

        ``cut``: with those that were cut, which are decided on one by one, or taken back.
        """
        open_ones = list(self._unsettled.values())
        if cut:
            return picked(open_ones, lambda hunk: hunk.need is not Need.END and hunk.decidable)
        return picked(open_ones, lambda hunk: hunk.need is Need.DECISION)

    def has_decidable(self) -> bool:
        """True if hunks can be accepted or rejected all at once now."""
        return self.tally.needs[Need.DECISION] > 0

    def cut(self) -> list[Hunk]:
        """Hunks that were cut and are not decided on, in order."""
        if not self.tally.needs[Need.LOOK]:
            return []
        return [one for one in self._unsettled.values() if one.stage is Stage.CUT and one.decidable]

    def has_waiting(self) -> bool:
        """True if a hunk waits for the user: to be decided on, to be placed, or in conflict."""
        return self.has_decidable() or self.tally.needs[Need.LOOK] > 0

    def _at(self, hunk_id: int) -> int | None:
        """Where a hunk stands in the list, which is in the order of the ids."""
        at = bisect_left(self.hunks, hunk_id, key=_ID)
        return at if at < len(self.hunks) and self.hunks[at].id == hunk_id else None

    def _count(self, hunk: Hunk) -> None:
        files = self._files.setdefault(hunk.call_id, {})
        if (tally := files.get(hunk.path)) is None:
            tally = files[hunk.path] = HunksOfFile(self.tally)
        hunk.tally = tally
        tally.hunks.append(hunk)
        tally.count(hunk, 1)

    def _discount(self, hunk: Hunk) -> None:
        tally, hunk.tally = hunk.tally, None
        if isinstance(tally, HunksOfFile):
            tally.count(hunk, -1)
            take_out(tally.hunks, hunk)
            if not tally.hunks:
                del self._files[hunk.call_id][hunk.path]


FOLDED = 200
"""Hunks whose texts are kept together, when as many have come behind them."""
_ID = attrgetter("id")
_FEW = 32
"""A look-up of one hunk costs as much as a step over so many."""


def take_out(things: list[T], thing: T) -> None:
    """Remove one thing of a list; it is nearly always among the last."""
    at = len(things) - 1
    while things[at] is not thing:
        at -= 1
    del things[at]


def waits(hunk: Hunk) -> bool:
    """True if a hunk has come and waits for the user."""
    conflict = hunk.stage is Stage.CONFLICT and hunk.decision is Decision.PENDING
    return conflict or hunk.decidable or hunk.placeable


def _is_settled(hunk: Hunk) -> bool:
    if hunk.decision is not Decision.PENDING:
        return True
    return hunk.stage not in _UNSETTLED and not hunk.candidates
