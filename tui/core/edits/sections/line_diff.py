"""A line difference made while the new text streams in: kept, removed and added lines.

A new text of known old lines (a REPLACE, a whole file) is read once, from the top. Whatever the
difference decides, kept and added lines in their order are the new text; a good choice only makes
the hunks small. Each new line costs a look-up, however long the texts are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_NEAR_LINES = 8
"""So far down one telling line is enough to be taken for the same one."""
_FAR_RUN = 3
"""So many lines in a row must come again to be found further down: one alone may be by chance."""
_TELLING_CHARS = 6
"""So long is a line that says where it is: a brace or a ``pass`` says nothing."""


class LineDiff:
    """Turns new lines into kept (``=``), removed (``-``) and added (``+``) ones."""

    def __init__(self, old: Sequence[str]) -> None:
        self.old = old
        self.at = 0
        """The next old line that is not decided."""
        self.limit = len(old)
        """Old lines from here on are not looked at yet."""
        self._rows: dict[str, list[int]] | None = None
        self._run = (-1, 0)
        """The old line that would be next of a run further down, and how long the run is."""

    def take(self, line: str) -> Iterator[tuple[str, str]]:
        """What the next new line decides, in the order of the text."""
        row = self._row(line)
        if row is None:
            yield "+", line
            return
        for gone in range(self.at, row):
            yield "-", self.old[gone]
        self.at = row + 1
        yield "=", line

    def rest(self, to: int | None = None) -> Iterator[tuple[str, str]]:
        """No more new lines come (before old line ``to``): what is left is removed."""
        to = len(self.old) if to is None else to
        for gone in range(self.at, to):
            yield "-", self.old[gone]
        self.at = max(self.at, to)

    def may_be_kept(self, begun: str) -> bool:
        """True if an unfinished line may become an old one, which then stays."""
        near = self.old[self.at : min(self.at + 4, self.limit)]
        return any(line.startswith(begun) for line in near)

    def _row(self, line: str) -> int | None:
        """The old line that this one is taken for."""
        run, self._run = self._run, (-1, 0)
        for row in range(self.at, min(self.at + 2, self.limit)):
            if self.old[row] == line:
                return row
        if not self.at <= run[0] < self.limit or self.old[run[0]] != line:
            run = (self._only(line), 0)
        row, count = run[0], run[1] + 1
        if row < 0:
            return None
        near = row - self.at <= _NEAR_LINES and self._only(line) == row
        if near or count >= _FAR_RUN:
            return row
        self._run = (row + 1, count)
        return None

    def _only(self, line: str) -> int:
        """The old line further down that is the only one of its kind and says something, or -1."""
        if self.at >= self.limit or len(line.strip()) < _TELLING_CHARS:
            return -1
        if self._rows is None:
            self._rows = {}
            for row, text in enumerate(self.old):
                self._rows.setdefault(text, []).append(row)
        rows = self._rows.get(line, ())
        return rows[0] if len(rows) == 1 and self.at <= rows[0] < self.limit else -1
