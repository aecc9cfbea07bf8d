"""Line differences and the three-way merge."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from tui.core.rows import keep_ends


class Replacement(NamedTuple):
    """Lines ``first .. last`` of the old text become ``lines``."""

    first: int
    last: int
    lines: tuple[str, ...]


def replacements(old: Sequence[str], new: Sequence[str]) -> list[Replacement]:
    """The changes that make ``new`` of ``old``, first line first, none adjoining another."""
    head, limit = 0, min(len(old), len(new))
    while head < limit and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < limit - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle, fresh = old[head : len(old) - tail], new[head : len(new) - tail]
    if not middle or not fresh:
        if not middle and not fresh:
            return []
        return [Replacement(head, head + len(middle), tuple(fresh))]
    matcher = SequenceMatcher(None, middle, fresh, autojunk=len(middle) > 2000)
    return [
        Replacement(head + a, head + b, tuple(fresh[c:d]))
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


def merge3(base: str, ours: str, theirs: str) -> str | None:
    """Both sides' changes of ``base``, line by line; None if they touch the same lines.

    The same change on both sides is taken once. Where one side inserts at the edge of what
    the other replaces, both are kept.
    """
    if ours in (base, theirs):
        return theirs
    if theirs == base:
        return ours
    lines = keep_ends(base)
    mine = replacements(lines, keep_ends(ours))
    others = replacements(lines, keep_ends(theirs))
    if any(_clash(one, other) for one in mine for other in others if one != other):
        return None
    out: list[str] = []
    at = 0
    for change in sorted(set(mine) | set(others), key=lambda c: (c.first, c.last)):
        out += lines[at : change.first]
        out += change.lines
        at = change.last
    return "".join(out + lines[at:])


def _clash(one: Replacement, other: Replacement) -> bool:
    if one.first == one.last and other.first == other.last:
        return one.first == other.first
    if one.first == one.last:
        return other.first < one.first < other.last
    if other.first == other.last:
        return one.first < other.first < one.last
    return one.first < other.last and other.first < one.last
