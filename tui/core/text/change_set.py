"""Changes of a text as values: applied, taken back, put together, and carried over each other.

A `Change` replaces one range of a text; a `ChangeSet` is any number of them, made at once, by
one author. Between its changes the text is retained. All of it is linear in the changes and in
the text that they put in and take out, and none of it looks at the retained text. (The idea is
that of helix's ``transaction.rs``; positions are lines and columns, as those of a `Buffer`.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

Position = tuple[int, int]
"""Line and column, 0-based, in characters of the line without its ending."""


class Author(Enum):
    """Who changes a text; REVIEW: a decision of the user's on what a model wrote."""

    USER = "user"
    MODEL = "model"
    DISK = "disk"
    TOOL = "tool"
    """A formatter that ran after a save: neither the user nor a model."""
    REVIEW = "review"


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


class Change(Struct, frozen=True):
    """One replacement, exact enough to be undone byte for byte."""

    start: Position
    old_end: Position
    new_end: Position
    """Where the new text ends, if nothing before it is changed."""
    old_text: str
    """What stood there, with its line endings."""
    new_text: str

    @property
    def inverse(self) -> Change:
        """What takes it back."""
        return Change(self.start, self.new_end, self.old_end, self.new_text, self.old_text)

    def at(self, start: Position) -> Change:
        """The same replacement at another place."""
        if start == self.start:
            return self
        ends = (end_of(start, self.old_text), end_of(start, self.new_text))
        return Change(start, *ends, self.old_text, self.new_text)

    def map(self, here: Position, *, right: bool = False) -> Position:
        """Where a position is after the change.

        One where text is put in comes before it, or behind it (``right``). One inside of what is
        replaced stays with the text before or behind it, where that comes back; else it goes to
        the start, or to the end (``right``).
        """
        start, end = self.start, self.old_end
        if here < start or (here == start and not right):
            return here
        if here >= end:
            return moved(here, end, self.new_end)
        return self._kept(here) or (self.new_end if right else start)

    def _kept(self, here: Position) -> Position | None:
        """Where an inner position is, if the text beside it is there again."""
        old, new = self.old_text, self.new_text
        if not old or not new:
            return None
        at = offset_in(old, self.start, here)
        if new.startswith(old[:at]):
            return here
        return (
            end_of(self.start, new[: len(new) - len(old) + at]) if new.endswith(old[at:]) else None
        )


def change_at(start: Position, old_text: str, new_text: str) -> Change:
    """The change that replaces a text which begins at ``start``."""
    return Change(start, end_of(start, old_text), end_of(start, new_text), old_text, new_text)


def offset_in(text: str, start: Position, at: Position) -> int:
    """How many characters of a text that begins at ``start`` stand before a position in it."""
    if at[0] == start[0]:
        return at[1] - start[1]
    found = -1
    for _ in range(at[0] - start[0]):
        found = text.index("\n", found + 1)
    return found + 1 + at[1]


class ChangeSet(Struct, frozen=True):
    """Changes of one text, made at once: none of them touches another one.

    Their positions are those of the text as it is before all of them.
    """

    end: Position
    """Where the text ends that is changed."""
    changes: tuple[Change, ...] = ()
    """In the order of their places."""
    author: Author | None = None

    def __bool__(self) -> bool:
        return bool(self.changes)

    @property
    def new_end(self) -> Position:
        """Where the text ends when it is changed."""
        old = new = (0, 0)
        for change, _, stop in self.placed():
            old, new = change.old_end, stop
        return moved(self.end, old, new)

    def apply(self, text: str) -> str:
        """The changed text. Raises ValueError if it is not the text that is changed."""
        if end_of((0, 0), text) != self.end:
            raise ValueError("the changes are of another text")
        parts: list[str] = []
        reader = TextReader(text, (0, 0))
        for change in self.changes:
            parts += (reader.until(change.start), change.new_text)
            if reader.until(change.old_end) != change.old_text:
                raise ValueError(f"something else stands at {change.start}")
        return "".join([*parts, reader.until(self.end)])

    def invert(self) -> ChangeSet:
        """What takes it back: changes of the changed text."""
        back = tuple(change.at(start).inverse for change, start, _ in self.placed())
        return ChangeSet(self.new_end, back, self.author)

    def map(self, here: Position, *, right: bool = False) -> Position:
        """Where a position is in the changed text; see `Change.map`."""
        old = new = (0, 0)
        for change, start, stop in self.placed():
            if here < change.start:
                break
            if here < change.old_end or here == change.start:
                return moved(change.map(here, right=right), change.start, start)
            old, new = change.old_end, stop
        return moved(here, old, new)

    def compose(self, later: ChangeSet) -> ChangeSet:
        """Both as one: ``later`` changes the text that this one makes.

        Changes that touch become one, and what comes to nothing goes.

        Raises:
            ValueError: it changes another text.
        """
        if later.end != self.new_end:
            raise ValueError("the later changes are of another text")
        author = self.author if self.author is later.author else None
        return ChangeSet(self.end, tuple(_composed([*self.placed()], later.changes)), author)

    def over(self, other: ChangeSet) -> ChangeSet | None:
        """The same changes in the text that another set makes of the same text; None: they clash.

        What both do is done once. They clash where both change the same text, or put text in at
        the same place. What is put in at an edge of what the other one replaces stays outside.
        """
        known, found = set(other.changes), list[Change]()
        placed, passed = [*other.placed()], 0
        old = new = (0, 0)
        for change in self.changes:
            while passed < len(placed) and _before(placed[passed][0], change):
                old, new = placed[passed][0].old_end, placed[passed][2]
                passed += 1
            if change in known:
                continue
            if passed < len(placed) and _clash(placed[passed][0], change):
                return None
            found.append(change.at(moved(change.start, old, new)))
        return ChangeSet(other.new_end, tuple(found), self.author)

    def only(self, changes: Iterable[Change]) -> ChangeSet:
        """Some of its changes alone."""
        return replace(self, changes=tuple(changes))

    def placed(self) -> Iterator[tuple[Change, Position, Position]]:
        """Each change, and where its new text begins and ends in the changed text."""
        old = new = (0, 0)
        for change in self.changes:
            start = moved(change.start, old, new)
            old, new = change.old_end, end_of(start, change.new_text)
            yield change, start, new


def _before(one: Change, other: Change) -> bool:
    """True if one change comes before another of the same text, where neither is in the other."""
    return one.old_end <= other.start and (one.start, one.old_end) < (other.start, other.old_end)


def _clash(one: Change, other: Change) -> bool:
    """True if two changes of a text cannot both be made."""
    if one.start == one.old_end and other.start == other.old_end:
        return one.start == other.start
    return one.start < other.old_end and other.start < one.old_end


class TextReader:
    """Reads a text that begins at some position from there on, piece by piece."""

    __slots__ = ("_at", "_here", "_text")

    def __init__(self, text: str, start: Position) -> None:
        self._text = text
        self._here = start
        self._at = 0

    def until(self, position: Position) -> str:
        """The text up to a position; nothing if that was read already."""
        begin, here = self._at, self._here
        if position <= here:
            return ""
        for _ in range(position[0] - here[0]):
            self._at = self._text.index("\n", self._at) + 1
        self._at += position[1] - (here[1] if position[0] == here[0] else 0)
        self._here = position
        return self._text[begin : self._at]


_Placed = tuple[Change, Position, Position]
"""A change, and where its new text begins and ends in the text that it helps to make."""
_Piece = tuple[Position, Position, str]
"""Where a text begins and ends, and that text."""


def _composed(first: Sequence[_Placed], second: Sequence[Change]) -> list[Change]:
    """Changes, and changes of the text that these make, as one."""
    found: list[Change] = []
    old = new = (0, 0)  # what stood behind the one stands behind the other now
    at = other = 0
    while at < len(first) or other < len(second):
        mine: list[_Placed] = []
        others: list[Change] = []
        begins = [first[at][1]] if at < len(first) else []
        begins += [second[other].start] if other < len(second) else []
        low = high = min(begins)
        while True:  # all that touch each other
            if at < len(first) and first[at][1] <= high:
                mine.append(first[at])
                high = max(high, first[at][2])
                at += 1
            elif other < len(second) and second[other].start <= high:
                others.append(second[other])
                high = max(high, second[other].old_end)
                other += 1
            else:
                break
        change = _as_one(moved(low, new, old), (low, high), mine, others)
        if change.old_text != change.new_text:
            found.append(change)
        if mine:
            old, new = mine[-1][0].old_end, mine[-1][2]
    return found


def _as_one(
    start: Position, span: tuple[Position, Position], mine: list[_Placed], others: list[Change]
) -> Change:
    """Changes that touch as one, which starts there; the span is that of the text between."""
    if not others and not mine[1:]:
        return mine[0][0].at(start)
    if not mine and not others[1:]:
        return others[0].at(start)
    old = _woven(
        span,
        [(begin, end, change.old_text) for change, begin, end in mine],
        [(change.start, change.old_end, change.old_text) for change in others],
    )
    new = _woven(
        span,
        [(change.start, change.old_end, change.new_text) for change in others],
        [(begin, end, change.new_text) for change, begin, end in mine],
    )
    return change_at(start, old, new)


def _woven(span: tuple[Position, Position], instead: list[_Piece], between: list[_Piece]) -> str:
    """The text of a span in which some pieces are replaced; ``between`` has all of the rest."""
    parts: list[str] = []
    readers = [(TextReader(text, begin), end) for begin, end, text in between]
    at, place = span[0], 0
    for begin, end, text in [*instead, (span[1], span[1], "")]:
        while at < begin:
            while readers[place][1] <= at:
                place += 1
            reader, last = readers[place]
            reader.until(at)
            parts.append(reader.until(min(begin, last)))
            at = min(begin, last)
        parts.append(text)
        at = max(at, end)
    return "".join(parts)
