"""What many changes of a buffer have done together: which rows became which."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from tui.core.text.buffer import LineChange


class Stretch:
    """Rows ``old_first .. old_last`` became ``first .. last``."""

    __slots__ = ("first", "last", "old_first", "old_last")

    def __init__(self, old_first: int, old_last: int, first: int, last: int) -> None:
        self.old_first, self.old_last, self.first, self.last = old_first, old_last, first, last


def stretches(changes: Sequence[LineChange]) -> list[Stretch]:
    """What several changes, oldest first, have changed together, in order."""
    found: list[Stretch] = []
    for row, n_old, n_new in changes:
        first, last = row, row + n_old
        begin = bisect_left(found, first, key=_last_row)
        end = bisect_right(found, last, begin, key=_first_row)
        if begin < end:
            low, high = found[begin], found[end - 1]
            old_first = low.old_first - max(0, low.first - first)
            old_last = high.old_last + max(0, last - high.last)
            first, last = min(first, low.first), max(last, high.last)
        else:
            offset = found[begin - 1].old_last - found[begin - 1].last if begin else 0
            old_first, old_last = first + offset, last + offset
        for stretch in found[end:]:
            stretch.first += n_new - n_old
            stretch.last += n_new - n_old
        found[begin:end] = [Stretch(old_first, old_last, first, last + n_new - n_old)]
    return found


def _first_row(stretch: Stretch) -> int:
    return stretch.first


def _last_row(stretch: Stretch) -> int:
    return stretch.last
