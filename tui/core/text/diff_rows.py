"""What a diff view shows of changed lines: who stands beside whom, and the words that differ.

All of it is bounded by the number of comparisons, so that no file holds a repaint up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

MOST_PAIRED = 400
"""Pairs of lines that are measured to say which stand beside each other."""
MOST_CHARS, MOST_WORDS = 1_000, 160
"""Of a line that is compared by words; of longer ones only both ends are."""
_LEAST_ALIKE = 0.34
"""A share of equal characters below which two lines are just two lines."""
_WORD = re.compile(r"\w+|\s+|[^\w\s]")

Ranges = tuple[tuple[int, int], ...]
"""First column and the one behind the last, of what differs in a line."""


def paired(old: Sequence[str], new: Sequence[str]) -> list[tuple[int | None, int | None]]:
    """Which lines of a block stand beside each other: always as many rows as the longer side has.

    Each line of the shorter side stands beside one of the longer, in order, where they are
    most alike; of long blocks from the top.
    """
    if len(old) > len(new):
        return [(one, other) for other, one in paired(new, old)]
    beside = _beside(old, new)
    found: list[tuple[int | None, int | None]] = [(None, row) for row in range(len(new))]
    for row, other in enumerate(beside):
        found[other] = (row, other)
    return found


def _beside(few: Sequence[str], many: Sequence[str]) -> list[int]:
    """For each of a few lines the one of many that it is most like, in order."""
    if not few or len(few) == len(many) or len(few) * len(many) > MOST_PAIRED:
        return list(range(len(few)))
    others = [_bag(line) for line in many]
    best = [[0.0] * (len(many) + 1)]
    for row, line in enumerate(few, 1):
        bag, scores = _bag(line), [-1.0] * (len(many) + 1)
        for place in range(row, len(many) - len(few) + row + 1):
            alike = best[-1][place - 1] + _alike(bag, others[place - 1])
            scores[place] = max(scores[place - 1], alike)
        best.append(scores)
    beside: list[int] = []
    place = len(many)
    for row in range(len(few), 0, -1):
        while place > row and best[row][place - 1] >= best[row][place]:
            place -= 1
        place -= 1
        beside.append(place)
    return beside[::-1]


def _bag(line: str) -> Counter[str]:
    return Counter(_WORD.findall(line.strip()[:MOST_CHARS]))


def _alike(one: Counter[str], other: Counter[str]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0


@lru_cache(maxsize=4096)
def emphasis(old: str, new: str) -> tuple[Ranges, Ranges]:
    """What differs in two lines that stand beside each other; nothing if they are little alike."""
    if len(old) > MOST_CHARS or len(new) > MOST_CHARS:
        return _ends(old, new)
    mine, others = _WORD.findall(old), _WORD.findall(new)
    if len(mine) > MOST_WORDS or len(others) > MOST_WORDS:
        return _ends(old, new)
    matcher = SequenceMatcher(None, mine, others, autojunk=False)
    codes = matcher.get_opcodes()
    same = sum(
        len(word.strip()) for tag, a, b, _, _ in codes if tag == "equal" for word in mine[a:b]
    )
    if 2 * same < _LEAST_ALIKE * (len(old.strip()) + len(new.strip())):
        return (), ()
    starts, other_starts = _starts(mine), _starts(others)
    changed = [code for code in codes if code[0] != "equal"]
    left = [(starts[a], starts[b]) for _, a, b, _, _ in changed if a < b]
    right = [(other_starts[c], other_starts[d]) for _, _, _, c, d in changed if c < d]
    short, long = sorted((_indent(old), _indent(new)), key=len)
    indent = len(short) if long.startswith(short) else 0
    return _ranges(old, left, indent), _ranges(new, right, indent)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _starts(words: Sequence[str]) -> list[int]:
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return starts


def _ranges(line: str, found: list[tuple[int, int]], indent: int) -> Ranges:
    """What differs, with the blanks between two of them, but for the indentation of both."""
    done: list[tuple[int, int]] = []
    for begin, end in found:
        start = max(begin, indent)
        if line[start:end].strip():
            start, end = _unblanked(line, start, end)
        if start >= end:
            continue
        if done and not line[done[-1][1] : start].strip():
            done[-1] = (done[-1][0], end)
        else:
            done.append((start, end))
    return tuple(done)


def _unblanked(line: str, start: int, end: int) -> tuple[int, int]:
    """A range without the blanks at its ends."""
    part = line[start:end]
    return end - len(part.lstrip()), start + len(part.rstrip())


def _ends(old: str, new: str) -> tuple[Ranges, Ranges]:
    """What stands between the characters with which both begin and end."""
    limit = min(len(old), len(new), 8 * MOST_CHARS)
    head = next((at for at in range(limit) if old[at] != new[at]), limit)
    if head == limit and limit < min(len(old), len(new)):
        return (), ()
    limit -= head
    tail = next((at for at in range(limit) if old[-1 - at] != new[-1 - at]), limit)
    if head + tail < _LEAST_ALIKE * min(len(old), len(new)):
        return (), ()
    one, other = (head, len(old) - tail), (head, len(new) - tail)
    return ((one,) if one[0] < one[1] else ()), ((other,) if other[0] < other[1] else ())
