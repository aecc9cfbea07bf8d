"""Work in steps, between which others have their turn."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")
Work = Generator[Any, None, T]
"""Work on any number of hunks, or the like: it pauses after each, or after as many as it says.

It returns what came of it."""
AT_ONCE = 200
"""Hunks that are looked at without a pause."""


def finished(steps: Generator[Any, None, T]) -> T:
    """What steps return, all of them taken at once."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: T = end.value
            return found


def in_parts(things: Iterable[T]) -> Iterator[list[T]]:
    """A few at a time: there may be a pause after each part."""
    left = iter(things)
    while part := list(islice(left, AT_ONCE)):
        yield part


def picked(things: Iterable[T], wanted: Callable[[T], object]) -> Work[list[T]]:
    """Those that are wanted, with a pause after each few."""
    found: list[T] = []
    for part in in_parts(things):
        found += filter(wanted, part)
        yield len(part)
    return found


def while_same(work: Work[T], now: Callable[[], object]) -> Work[T | None]:
    """Do work as long as ``now`` returns the same; None if it changed before the end."""
    seen = now()
    while True:
        try:
            hunks = next(work)
        except StopIteration as end:
            found: T = end.value
            return found
        yield hunks
        if now() != seen:
            return None
