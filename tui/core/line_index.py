"""Where a line's text occurs in a buffer, without reading the whole buffer again.

Built once, lazily; then it follows the buffer's own log of changes: what was changed since is
read directly, the rest is looked up. Cost follows the changes, not the length of the file.
"""

from __future__ import annotations

from bisect import bisect_right

from tui.core.buffer import Buffer
from tui.core.rows import file_rows

_DIRTY_ROWS = 1000
"""More changed rows than this (or an eighth of all), and the index is built anew."""
_STRETCHES = 100
"""The same for changed stretches, which every look-up goes through."""

_PUNCTUATION = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
        **dict.fromkeys(
            "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "
        ),
        "\u2026": "...",
    }
)


def plain(line: str) -> str:
    """A line without outer blanks and with plain quotes, dashes and spaces."""
    return line.strip() if line.isascii() else line.translate(_PUNCTUATION).strip()


class LineIndex:
    """The rows of each line's plain text."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        self._revision = -1
        self._rows: dict[str, list[int]] = {}
        self._dirty: list[list[int]] = []
        """``[old first, old last, new first, new last]`` of changed stretches, in order."""

    def rows(self, line: str) -> list[int]:
        """The rows whose plain text is that of ``line``, in order."""
        self._follow()
        wanted = plain(line)
        known = self._rows.get(wanted, [])
        if not self._dirty:
            return known
        found = []
        olds = [stretch[0] for stretch in self._dirty]
        for row in known:
            at = bisect_right(olds, row) - 1
            if at < 0:
                found.append(row)
                continue
            _, old_last, _, new_last = self._dirty[at]
            if row >= old_last:
                found.append(row - old_last + new_last)
        lines, count = self._buffer.lines, file_rows(self._buffer)
        for _, _, first, last in self._dirty:
            found += [r for r in range(first, min(last, count)) if plain(lines[r]) == wanted]
        return sorted(r for r in found if r < count)

    def _follow(self) -> None:
        changes = None
        if self._revision >= 0:
            changes = self._buffer.changes_since(self._revision)
        self._revision = self._buffer.revision
        if changes is None:
            self._build()
            return
        for row, n_old, n_new in changes:
            self._note(row, row + n_old, n_new - n_old)
        limit = max(_DIRTY_ROWS, self._buffer.line_count // 8)
        dirty = sum(last - first for _, _, first, last in self._dirty)
        if dirty > limit or len(self._dirty) > _STRETCHES:
            self._build()

    def _build(self) -> None:
        self._rows = {}
        self._dirty = []
        for row, line in enumerate(self._buffer.lines[: file_rows(self._buffer)]):
            self._rows.setdefault(plain(line), []).append(row)

    def _note(self, first: int, last: int, delta: int) -> None:
        """Rows ``first .. last`` (as now) were replaced by ``delta`` more."""
        before = [s for s in self._dirty if s[3] < first]
        after = [s for s in self._dirty if s[2] > last]
        within = self._dirty[len(before) : len(self._dirty) - len(after)]
        if within:
            low, high = within[0], within[-1]
            old_first = low[0] - max(0, low[2] - first)
            old_last = high[1] + max(0, last - high[3])
            first, last = min(first, low[2]), max(last, high[3])
        else:
            offset = before[-1][1] - before[-1][3] if before else 0
            old_first, old_last = first + offset, last + offset
        for stretch in after:
            stretch[2] += delta
            stretch[3] += delta
        self._dirty = [*before, [old_first, old_last, first, last + delta], *after]
