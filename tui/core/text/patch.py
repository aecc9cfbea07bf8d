"""Line differences and the three-way merge."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from tui.core.text.line_blocks import blocks
from tui.core.text.rows import keep_ends


class Replacement(NamedTuple):
    """Lines ``first .. last`` of the old text become ``lines``."""

    first: int
    last: int
    lines: tuple[str, ...]


def replacements(old: Sequence[str], new: Sequence[str]) -> list[Replacement]:
    """The changes that make ``new`` of ``old``, first line first, none adjoining another."""
    return [Replacement(a, b, tuple(new[c:d])) for a, b, c, d in blocks(old, new)]


def changes(old: str, new: str) -> list[Replacement]:
    """The same for two texts; of long ones that differ little only the difference is looked at."""
    head = old.rfind("\n", 0, _alike(old, new)) + 1
    old_rest, new_rest = old[head:], new[head:]
    tail = _whole_lines_behind(old_rest, new_rest)
    middle = old_rest[: len(old_rest) - tail], new_rest[: len(new_rest) - tail]
    first = old.count("\n", 0, head)
    return [
        Replacement(first + one.first, first + one.last, one.lines)
        for one in replacements(*map(keep_ends, middle))
    ]


def fitted(mine: Sequence[Replacement], others: Sequence[Replacement]) -> list[Replacement] | None:
    """The others' changes in the rows of a text that has mine already; None if they clash.

    What `merge3` makes of the three texts, without making them.
    """
    if clashing(mine, others):
        return None
    known, fit = set(mine), []
    at = down = 0
    for other in others:
        while at < len(mine) and mine[at][:2] < other[:2]:
            down += len(mine[at].lines) - (mine[at].last - mine[at].first)
            at += 1
        if other not in known:
            fit.append(Replacement(other.first + down, other.last + down, other.lines))
    return fit


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
    return None if clashing(mine, others) else _with_both(lines, mine, others)


def merge_theirs(base: str, ours: str, theirs: str) -> tuple[str, bool]:
    """Their text, with those of our changes that do not touch theirs; and whether all of ours is.

    Lines of ours in the midst of what they replace stand behind that.
    """
    lines = keep_ends(base)
    others = replacements(lines, keep_ends(theirs))
    kept: list[Replacement] = []
    whole = True
    for one in replacements(lines, keep_ends(ours)):
        if clashing([one], others) and one.first == one.last:
            over = (other.last for other in others if other.first < one.first < other.last)
            at = next(over, one.first)
            one = Replacement(at, at, one.lines)
            if kept and kept[-1][:2] == (at, at):
                one = Replacement(at, at, kept.pop().lines + one.lines)
        if clashing([one], others) or (kept and clash(kept[-1], one)):
            whole = False
        else:
            kept.append(one)
    return _with_both(lines, kept, others), whole


def _with_both(
    lines: Sequence[str], mine: Sequence[Replacement], others: Sequence[Replacement]
) -> str:
    out: list[str] = []
    at = 0
    for change in sorted(set(mine) | set(others), key=lambda c: (c.first, c.last)):
        out += lines[at : change.first]
        out += change.lines
        at = change.last
    return "".join([*out, *lines[at:]])


def clashing(mine: Sequence[Replacement], others: Sequence[Replacement]) -> bool:
    """True if one side's changes touch the other's, those apart that both have; all in order."""
    at = 0
    for one in mine:
        while at < len(others) and others[at].last < one.first:
            at += 1
        for other in islice(others, at, None):
            if other.first > one.last:
                break
            if one != other and clash(one, other):
                return True
    # only what stands last can end in the midst of a line
    ends = [(one, other) for one in mine[-1:] for other in others]
    ends += [(one, other) for one in mine for other in others[-1:]]
    return any(one != other and clash(one, other) for one, other in ends)


def clash(one: Replacement, other: Replacement) -> bool:
    """True if two changes of one text touch the same lines, or would make one line of two."""
    if _runs_into(one, other) or _runs_into(other, one):
        return True
    if one.first == one.last and other.first == other.last:
        return one.first == other.first
    if one.first == one.last:
        return other.first < one.first < other.last
    if other.first == other.last:
        return one.first < other.first < one.last
    return one.first < other.last and other.first < one.last


def _runs_into(one: Replacement, other: Replacement) -> bool:
    """True if one ends in the midst of a line, and the other puts lines behind it."""
    torn = bool(one.lines) and not one.lines[-1].endswith("\n")
    return torn and bool(other.lines) and other.first >= one.last


def _whole_lines_behind(old: str, new: str) -> int:
    """How many characters the whole lines have with which both end."""
    same = _alike(old[::-1], new[::-1])
    starts = (text[-same - 1 : -same] if same else "" for text in (old, new))
    if same and all(before in ("", "\n") for before in starts):
        return same
    cut = old.find("\n", len(old) - same) + 1
    return len(old) - cut if cut else 0


def _alike(one: str, other: str) -> int:
    """With how many equal characters both begin; compared in stretches."""
    limit = min(len(one), len(other))
    step, at = 1 << 16, 0
    while step:
        while at + step <= limit and one[at : at + step] == other[at : at + step]:
            at += step
        step >>= 1
    return at
