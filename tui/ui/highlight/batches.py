"""Many changes of a buffer as few edits: a model writes a line in a dozen pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tui.core.text.buffer import LineChange

_MOST = 32
"""More places than these are taken for one long one."""
Hunk = tuple[int, int, int, int]
"""Row and number of the old lines; first line and line behind the last of what they became."""


def hunks(changes: Iterable[LineChange]) -> Iterator[Hunk]:
    """Edits that together have the effect of the changes, last lines first.

    Applied in this order, rows count in the text as it is then; the lines that they became are
    those of the text after all changes.
    """
    found: list[list[int]] = []  # row now, lines now, lines before; in order, disjoint
    for row, n_old, n_new in changes:
        _merge(found, row, n_old, n_new)
        if len(found) > _MOST:
            first, end = found[0][0], found[-1][0] + found[-1][1]
            growth = sum(now - before for _, now, before in found)
            found = [[first, end - first, end - first - growth]]
    above = sum(now - before for _, now, before in found)
    for row, now, before in reversed(found):
        above -= now - before
        yield row - above, before, row, row + now


def _merge(found: list[list[int]], row: int, n_old: int, n_new: int) -> None:
    """Take a change, in the text as the ones before left it, into the disjoint ones."""
    end = row + n_old
    low = 0
    while low < len(found) and found[low][0] + found[low][1] < row:
        low += 1
    high = low
    grown = 0
    first, last = row, end
    while high < len(found) and found[high][0] <= end:
        start, now, before = found[high]
        first, last = min(first, start), max(last, start + now)
        grown += now - before
        high += 1
    delta = n_new - n_old
    found[low:high] = [[first, last - first + delta, last - first - grown]]
    for one in found[low + 1 :]:
        one[0] += delta
