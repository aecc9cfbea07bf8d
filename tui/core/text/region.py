"""One place of a text: where it is in another version, and what was changed there alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tui.core.text.diff import line_changes
from tui.core.text.rows import keep_ends, row_count


class _LinesChange(NamedTuple):
    first: int
    last: int
    """Rows of the old text, the last one not included."""
    text: str

    @property
    def more(self) -> int:
        """Rows that the new text has more."""
        return row_count(self.text) - (self.last - self.first)


def _changes(old: str, new: str) -> Iterator[_LinesChange]:
    for one in line_changes(old, new).changes:
        first = one.start[0]
        yield _LinesChange(first, first + row_count(one.old_text), one.new_text)


def row_in(old: str, new: str, row: int) -> int:
    """Where a row of the old text is in the new one, by what was changed above it."""
    return row + sum(one.more for one in _changes(old, new) if one.last <= row)


def changed_only_at(old: str, new: str, first: int, last: int) -> tuple[str, int]:
    """The old text with the changes that touch these rows; how many others were left out.

    Rows ``first .. last`` of the old text, the last one not included. What is put in at either
    side, or goes on into lines beside them, touches them.
    """
    lines, rest, left_out, at = keep_ends(old), list[str](), 0, 0
    for one in _changes(old, new):
        if one.first > last or one.last < first:
            left_out += 1
            continue
        rest += [*lines[at : one.first], one.text]
        at = one.last
    return "".join([*rest, *lines[at:]]), left_out
