"""What others did to a text since the user's edit, and which of it came to nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tui.core.text.change_set import Position

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
    return other.old_text[_offset(other, start) : _offset(other, end)]


def _offset(other: Foreign, at: Position) -> int:
    row, col = other.start
    if at[0] == row:
        return at[1] - col
    found = -1
    for _ in range(at[0] - row):
        found = other.old_text.index("\n", found + 1)
    return found + 1 + at[1]
