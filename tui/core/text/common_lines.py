"""The rows of lines that are all over a file: listed once, and then moved with its changes.

A patch that quotes a line that is there a hundred thousand times must not pay for all of its
places in each section.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tui.core.text.buffer import Buffer
from tui.core.text.row_set import bits_of
from tui.core.text.rows import file_rows
from tui.core.text.stretches import Stretch, stretches

Form = Callable[[str], str]
"""What of a line is compared: without its outer blanks, say."""
_MOST = 256
"""Lines whose rows are kept: in a file of 200,000 rows each takes 25 kB."""
_MOST_GROUPED = 16
_MOST_CHANGES = 200
"""After more than that they are looked for again."""


class CommonLines:
    """Rows as the bits of one number, see `RowSet`."""

    def __init__(self, buffer: Buffer, rows: Callable[[str], Sequence[int]]) -> None:
        """``rows`` looks up all rows of a line in whatever form."""
        self._buffer = buffer
        self._rows = rows
        self._kept: dict[tuple[Form, str], tuple[int, int]] = {}
        """Form and line -> a revision and the rows then; what was asked for last is the last."""
        self._grouped: dict[tuple[Form, str], tuple[int, dict[str, int]]] = {}

    def rows(self, form: Form, line: str) -> int:
        """The rows of which this form is the same as that of ``line``."""
        buffer, wanted = self._buffer, form(line)
        kept = self._kept.pop((form, wanted), None)
        bits = None if kept is None else self._moved(form, wanted, *kept)
        if bits is None:
            lines = buffer.lines
            bits = bits_of([row for row in self._rows(line) if form(lines[row]) == wanted])
        self._kept[form, wanted] = buffer.revision, bits
        _trim(self._kept, _MOST)
        return bits

    def groups(self, form: Form, line: str) -> dict[str, int]:
        """The rows of a line in whatever form, by another form that they have."""
        revision, groups = self._grouped.get((form, line), (-1, {}))
        if revision != self._buffer.revision:
            lines = self._buffer.lines
            found: dict[str, list[int]] = {}
            for row in self._rows(line):
                found.setdefault(form(lines[row]), []).append(row)
            groups = {key: bits_of(rows) for key, rows in found.items()}
            self._grouped[form, line] = self._buffer.revision, groups
            _trim(self._grouped, _MOST_GROUPED)
        return groups

    def clear(self) -> None:
        """Keep nothing."""
        self._kept.clear()
        self._grouped.clear()

    def _moved(self, form: Form, wanted: str, revision: int, bits: int) -> int | None:
        """The rows, which were these at a revision, as they are now; None: look for them."""
        if revision == self._buffer.revision:
            return bits
        changes = self._buffer.changes_since(revision)
        if changes is None or len(changes) > _MOST_CHANGES:
            return None
        for one in reversed(stretches(changes)):
            bits = self._spliced(form, wanted, one, bits)
        return bits & (1 << file_rows(self._buffer)) - 1

    def _spliced(self, form: Form, wanted: str, one: Stretch, bits: int) -> int:
        lines = self._buffer.lines[one.first : one.last]
        there = bits_of([row for row, line in enumerate(lines) if form(line) == wanted])
        below = bits & (1 << one.old_first) - 1
        above = bits >> one.old_last << one.old_first + len(lines)
        return below | there << one.old_first | above


def _trim(kept: dict[tuple[Form, str], Any], most: int) -> None:
    if len(kept) > most:
        del kept[next(iter(kept))]
