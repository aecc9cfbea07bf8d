"""Which lines of two texts differ: blocks of them, in bounded time.

Lines that both sides have once are the fixed points (patience), the rest is compared where it is
short and walked along where it is long, so that no file holds a frame up: difflib alone takes
2 s for 10,000 lines of which every second one changed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

MOST_COMPARED = 40_000
"""Pairs of lines that are compared where no line is there once on both sides."""
_REACH, _SURE, _MOST_PROBES = 32, 3, 2_000
"""How far lines are looked for that are equal again, how many in a row, and how often."""


class LineBlock(NamedTuple):
    """Lines ``old_first .. old_last`` of the old text became ``new_first .. new_last``."""

    old_first: int
    old_last: int
    new_first: int
    new_last: int


def blocks(old: Sequence[str], new: Sequence[str]) -> list[LineBlock]:
    """The changes that make ``new`` of ``old``, first line first, none adjoining another."""
    found: list[LineBlock] = []
    waiting = [LineBlock(0, len(old), 0, len(new))]
    while waiting:
        block = trimmed(old, new, waiting.pop())
        if block.old_first == block.old_last or block.new_first == block.new_last:
            if block.old_first < block.old_last or block.new_first < block.new_last:
                found.append(block)
            continue
        anchors = _anchors(old, new, block)
        if not anchors:
            found += _compared(old, new, block)
            continue
        ends = [*anchors, (block.old_last, block.new_last)]
        begins = [(block.old_first, block.new_first), *((a + 1, b + 1) for a, b in anchors)]
        waiting += [
            LineBlock(a, c, b, d)
            for (a, b), (c, d) in zip(begins, ends, strict=True)
            if a < c or b < d
        ]
    return _joined(sorted(found))


def trimmed(old: Sequence[str], new: Sequence[str], block: LineBlock) -> LineBlock:
    """The block without the lines with which both sides begin and end."""
    first, last, start, end = block
    while first < last and start < end and old[first] == new[start]:
        first, start = first + 1, start + 1
    while first < last and start < end and old[last - 1] == new[end - 1]:
        last, end = last - 1, end - 1
    return LineBlock(first, last, start, end)


def _joined(found: list[LineBlock]) -> list[LineBlock]:
    """Blocks that adjoin as one."""
    done: list[LineBlock] = []
    for block in found:
        last = done[-1] if done else None
        if last and (last.old_last, last.new_last) == (block.old_first, block.new_first):
            done[-1] = LineBlock(last.old_first, block.old_last, last.new_first, block.new_last)
        else:
            done.append(block)
    return done


def _anchors(old: Sequence[str], new: Sequence[str], block: LineBlock) -> list[tuple[int, int]]:
    """Lines that both sides have once, as many as are in the same order on both."""
    mine = Counter(old[block.old_first : block.old_last])
    others = Counter(new[block.new_first : block.new_last])
    places = {
        new[row]: row for row in range(block.new_first, block.new_last) if others[new[row]] == 1
    }
    pairs = [
        (row, places[old[row]])
        for row in range(block.old_first, block.old_last)
        if mine[old[row]] == 1 and old[row] in places
    ]
    return _rising(pairs)


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs whose second numbers grow, too."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        at = bisect_left(tails, place)
        before.append(ends[at - 1] if at else -1)
        if at == len(tails):
            tails.append(place)
            ends.append(index)
        else:
            tails[at], ends[at] = place, index
    found: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        found.append(pairs[index])
        index = before[index]
    return found[::-1]


def _compared(old: Sequence[str], new: Sequence[str], block: LineBlock) -> list[LineBlock]:
    """By comparing all lines, if they are few; else the whole block."""
    first, last, start, end = block
    if (last - first) * (end - start) > MOST_COMPARED:
        return _walked(old, new, block)
    matcher = SequenceMatcher(None, old[first:last], new[start:end], autojunk=False)
    return [
        LineBlock(first + a, first + b, start + c, start + d)
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


def _walked(old: Sequence[str], new: Sequence[str], block: LineBlock) -> list[LineBlock]:
    """Down both sides, from each difference to the nearest place where some lines are equal."""
    row, last, place, end = block
    found: list[LineBlock] = []
    probes = 0
    while row < last and place < end:
        if old[row] == new[place]:
            row, place = row + 1, place + 1
            continue
        step = _next_alike(
            old[row : min(row + _REACH, last)], new[place : min(place + _REACH, end)]
        )
        probes += 1
        if step is None or probes > _MOST_PROBES:
            break
        found.append(LineBlock(row, row + step[0], place, place + step[1]))
        row, place = row + step[0], place + step[1]
    if row < last or place < end:
        found.append(LineBlock(row, last, place, end))
    return found


def _next_alike(old: Sequence[str], new: Sequence[str]) -> tuple[int, int] | None:
    """How far to go on both sides until lines are equal, in the fewest steps."""
    for steps in range(1, _REACH):
        for down in range(steps + 1):
            other = steps - down
            same = old[down : down + _SURE]
            if len(same) == _SURE and same == new[other : other + _SURE]:
                return down, other
    return None
