"""The user's undo and redo, in groups, kept true while a model edits the same text.

A stack holds the user's edits (as what takes them back) and, between them, what others did.
To take an edit back, it is carried over all that others did since; what they did is carried
over it in turn, for the older ones. An edit that others wrote into cannot be taken back
without touching theirs: it is passed over. The model's own undo works on hunks (`review`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct, field

from tui.core.buffer import Change, Position

Apply = Callable[[Position, Position, str], Change | None]
"""Does a replacement and returns it; None if it must not be done now."""


class Foreign(NamedTuple):
    """What somebody else did: ``start .. old_end`` became ``start .. new_end``."""

    start: Position
    old_end: Position
    new_end: Position


class Step(Struct, frozen=True):
    """A replacement that takes one user's edit back (or does it again)."""

    start: Position
    end: Position
    text: str
    group: int
    state: int
    """Which state of the user's text it leads to (`History.state`)."""


def end_of(start: Position, text: str) -> Position:
    """Where a text ends that begins at ``start``."""
    newlines = text.count("\n")
    if not newlines:
        return (start[0], start[1] + len(text))
    return (start[0] + newlines, len(text) - text.rfind("\n") - 1)


def moved(at: Position, old_end: Position, new_end: Position) -> Position:
    """A position at or behind ``old_end`` after that became ``new_end``."""
    if at[0] == old_end[0]:
        return (new_end[0], new_end[1] + at[1] - old_end[1])
    return (at[0] + new_end[0] - old_end[0], at[1])


def crossed(other: Foreign, step: Step) -> tuple[Foreign, Step] | None:
    """Two replacements of one text, each as it is after the other; None if they overlap."""
    if step.end <= other.start:
        end = end_of(step.start, step.text)
        start = moved(other.start, step.end, end)
        last = moved(other.new_end, other.start, start)
        return Foreign(start, moved(other.old_end, step.end, end), last), step
    if step.start >= other.old_end:
        start = moved(step.start, other.old_end, other.new_end)
        last = moved(step.end, other.old_end, other.new_end)
        return other, Step(start, last, step.text, step.group, step.state)
    return None


class _Stack(Struct):
    """Steps and foreign changes, oldest first."""

    items: list[Step | Foreign] = field(default_factory=list)

    def foreign(self, change: Change) -> None:
        """Note what somebody else did."""
        if not self.items:
            return
        new = Foreign(change.start, change.old_end, change.new_end)
        last = self.items[-1]
        if isinstance(last, Foreign) and last.start <= new.start and new.old_end <= last.new_end:
            end = moved(last.new_end, new.old_end, new.new_end)
            self.items[-1] = Foreign(last.start, last.old_end, end)
        else:
            self.items.append(new)

    def pending(self) -> list[Foreign]:
        """Take off what others did since the newest step, oldest first."""
        taken: list[Foreign] = []
        while self.items and isinstance(last := self.items[-1], Foreign):
            taken.append(last)
            self.items.pop()
        return taken[::-1]

    def carries(self, group: int, others: list[Foreign]) -> bool:
        """True if none of a group's steps, the newest ones, is in what others wrote."""
        for step in reversed(self.items):
            if not isinstance(step, Step) or step.group != group:
                break
            over = _carry(others, step)
            if over is None:
                return False
            others = over[0]
        return True

    def top_group(self) -> int | None:
        """The group of the newest step."""
        return next((i.group for i in reversed(self.items) if isinstance(i, Step)), None)


class History:
    """Undo and redo of one user in one buffer; it has no limit that a model could use up."""

    def __init__(self) -> None:
        self.state = 0
        """Which state the user's own text is in; back at an old one, the number is the same."""
        self._states = 0
        self._undo = _Stack()
        self._redo = _Stack()
        self._groups = 0
        self._apart: set[int] = set()
        """Groups of edits in several places: undone, they lead to the topmost one."""
        self._whole: set[int] = set()
        """Groups of edits that make sense together only."""
        self._name = ""
        self._tip: tuple[Position, Position] | None = None
        """The last edit's start and end: where the next one joins its group."""

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
        self._name = group
        self._tip = (change.start, change.new_end)
        self._redo.items.clear()
        self._undo.items.append(
            Step(change.start, change.new_end, change.old_text, self._groups, self.state)
        )
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

    def undo(self, apply: Apply) -> Position | None:
        """Take the newest group back; returns where, None if there is nothing to take back."""
        return self._walk(self._undo, self._redo, apply)

    def redo(self, apply: Apply) -> Position | None:
        """Do again what was taken back last."""
        return self._walk(self._redo, self._undo, apply)

    def _adjoins(self, change: Change) -> bool:
        if self._tip is None:
            return False
        start, end = self._tip
        return change.start in (start, end) or change.old_end in (start, end)

    def _walk(self, source: _Stack, sink: _Stack, apply: Apply) -> Position | None:
        self.end_group()
        where: Position | None = None
        carried: list[Foreign] = []
        group: int | None = None
        passed = False
        while True:
            carried = source.pending() + carried
            if group is None or source.top_group() != group:
                if where is not None or (group := source.top_group()) is None:
                    break
                before = carried
                passed = group in self._whole and not source.carries(group, carried)
            step = source.items[-1]
            assert isinstance(step, Step)
            over = None if passed else _carry(carried, step)
            change = apply(over[1].start, over[1].end, over[1].text) if over else None
            if over and change is None:
                if where is not None and group in self._whole:
                    self._put_back(source, sink, apply)
                    where, carried = None, before
                break
            source.items.pop()
            if over and change is not None:
                carried = over[0]
                sink.items.append(
                    Step(change.start, change.new_end, change.old_text, step.group, self.state)
                )
                self.state = step.state
                apart = where is not None and group in self._apart
                where = min(where, change.new_end) if apart and where else change.new_end
            else:
                undone = Foreign(step.start, end_of(step.start, step.text), step.end)
                carried = [undone, *carried]
        source.items += carried
        return where

    def _put_back(self, source: _Stack, sink: _Stack, apply: Apply) -> None:
        """The newest group cannot be taken back as a whole: do again what was taken back of it."""
        group = sink.top_group()
        while sink.items and isinstance(step := sink.items[-1], Step) and step.group == group:
            change = apply(step.start, step.end, step.text)
            if change is None:
                break
            sink.items.pop()
            source.items.append(
                Step(change.start, change.new_end, change.old_text, step.group, self.state)
            )
            self.state = step.state


def _carry(others: list[Foreign], step: Step) -> tuple[list[Foreign], Step] | None:
    after: list[Foreign] = []
    for other in others:
        pair = crossed(other, step)
        if pair is None:
            return None
        after.append(pair[0])
        step = pair[1]
    return after, step
