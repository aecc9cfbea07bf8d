"""Which lines and words of two texts differ, in bounded time.

Lines that both sides have once are the fixed points (patience), the rest is compared where it is
short and walked along where it is long, so that no file holds a frame up: difflib alone takes
2 s for 10,000 lines of which every second one changed. Beside the blocks of lines: who stands
beside whom in a view of them, and the words that differ.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from tui.core.text.change_set import Change, ChangeSet, Position, change_at, end_of
from tui.core.text.indent import indentation
from tui.core.text.patterns import pattern
from tui.core.text.rows import keep_ends

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


def removed(old: str, new: str) -> tuple[tuple[int, int, int], ...]:
    """Lines of ``old`` that ``new`` has not: behind how many of its lines, and which they are."""
    changes = blocks(keep_ends(old), keep_ends(new))
    return tuple(
        (one.new_first, one.old_first, one.old_last)
        for one in changes
        if one.old_first < one.old_last
    )


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


MOST_PAIRED = 400
"""Pairs of lines that are measured to say which stand beside each other."""
MOST_CHARS, MOST_WORDS = 1_000, 160
"""Of a line that is compared by words; of longer ones only both ends are."""
_LEAST_ALIKE = 0.34
"""A share of equal characters below which two lines are just two lines."""
_WORD = pattern(r"\w+|\s+|[^\w\s]")

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
    short, long = sorted((indentation(old), indentation(new)), key=len)
    indent = len(short) if long.startswith(short) else 0
    return _ranges(old, left, indent), _ranges(new, right, indent)


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


def line_changes(old: str, new: str) -> ChangeSet:
    """The changes of whole lines that make ``new`` of ``old``.

    Of long texts that differ little only the difference is looked at.
    """
    head = old.rfind("\n", 0, same_start(old, new)) + 1
    old_rest, new_rest = old[head:], new[head:]
    tail = _whole_lines_behind(old_rest, new_rest)
    was = keep_ends(old_rest[: len(old_rest) - tail])
    now = keep_ends(new_rest[: len(new_rest) - tail])
    first = old.count("\n", 0, head)
    found = [
        change_at((first + a, 0), "".join(was[a:b]), "".join(now[c:d]))
        for a, b, c, d in blocks(was, now)
    ]
    return ChangeSet(end_of((0, 0), old), tuple(found))


def merge3(base: str, ours: str, theirs: str) -> str | None:
    """Both sides' changes of ``base``, line by line; None if they touch the same lines.

    The same change on both sides is taken once. Where one side inserts at the edge of what
    the other replaces, both are kept.
    """
    if ours in (base, theirs):
        return theirs
    if theirs == base:
        return ours
    fit = fitted(line_changes(base, ours), line_changes(base, theirs))
    return None if fit is None else fit.apply(ours)


def fitted(mine: ChangeSet, others: ChangeSet) -> ChangeSet | None:
    """The others' changes of lines in a text that has mine already; None if they clash."""
    if any(_runs_into(one, others.changes) for one in mine.changes[-1:]):
        return None
    if any(_runs_into(one, mine.changes) for one in others.changes[-1:]):
        return None
    return others.over(mine)


def merge_theirs(base: str, ours: str, theirs: str) -> tuple[str, bool]:
    """Their text, with those of our changes that do not touch theirs; and whether all of ours is.

    Lines of ours in the midst of what they replace stand behind that.
    """
    others = line_changes(base, theirs)
    mine = line_changes(base, ours)
    kept: list[Change] = []
    whole = True
    for one in mine.changes:
        if one.start == one.old_end and (at := _end_around(one.start, others.changes)):
            lines = one.new_text
            if kept and kept[-1].start == kept[-1].old_end == at:
                lines = kept.pop().new_text + lines
            one = change_at(at, "", lines)
        alone = mine.only([one])
        clashes = fitted(alone, others) is None
        if clashes or (kept and fitted(mine.only(kept[-1:]), alone) is None):
            whole = False
        else:
            kept.append(one)
    fit = mine.only(kept).over(others)
    assert fit is not None
    return fit.apply(theirs), whole


def _end_around(place: Position, others: Sequence[Change]) -> Position | None:
    """The end of the change that replaces what is on both sides of a place."""
    around = (other for other in others if other.start < place < other.old_end)
    return next((other.old_end for other in around), None)


def _runs_into(one: Change, others: Sequence[Change]) -> bool:
    """True if a change ends in the midst of a line, and one of others puts lines behind it.

    Of a text's changes only the last can: what stands last may have no newline.
    """
    if not one.new_text or one.new_text.endswith("\n"):
        return False
    return any(other.new_text and other.start >= one.old_end and other != one for other in others)


def _whole_lines_behind(old: str, new: str) -> int:
    """How many characters the whole lines have with which both end."""
    same = same_start(old[::-1], new[::-1])
    starts = (text[-same - 1 : -same] if same else "" for text in (old, new))
    if same and all(before in ("", "\n") for before in starts):
        return same
    cut = old.find("\n", len(old) - same) + 1
    return len(old) - cut if cut else 0


def same_start(one: str, other: str) -> int:
    """With how many equal characters both begin; compared in stretches."""
    limit = min(len(one), len(other))
    step, at = 1 << 16, 0
    while step:
        while at + step <= limit and one[at : at + step] == other[at : at + step]:
            at += step
        step >>= 1
    return at
