r"""Whole lines of a buffer: the grain in which hunks stand, move and are put back.

A row range is ``[first, last)``. The empty line behind the final newline is no row of the
file: ``"a\n"`` has one row. A range that ends with an unterminated last line includes it.
"""

from __future__ import annotations

from typing import NamedTuple

from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Change, Position


class Span(NamedTuple):
    """Rows ``row .. row + n_old`` became ``n_new`` rows; rows around them kept their text."""

    row: int
    n_old: int
    n_new: int


def file_rows(buffer: Buffer) -> int:
    """The number of lines as a patch counts them."""
    return buffer.line_count - (not buffer.lines[-1])


def rows_range(buffer: Buffer, first: int, last: int) -> tuple[Position, Position]:
    """Where rows begin and end, as positions."""
    count, end = len(buffer.lines), buffer.end
    return ((max(first, 0), 0) if first < count else end), ((last, 0) if last < count else end)


def rows_text(buffer: Buffer, first: int, last: int) -> str:
    """The text of rows, with their line endings."""
    parts: list[str] = []
    for row in range(first, min(last, buffer.line_count)):
        parts += (buffer.lines[row], buffer.endings[row])
    return "".join(parts)


def whole_text(buffer: Buffer) -> str:
    """All rows, without the byte order mark."""
    return rows_text(buffer, 0, buffer.line_count)


def row_count(text: str) -> int:
    """How many rows a text fills: an unterminated rest counts as one."""
    return text.count("\n") + (bool(text) and not text.endswith("\n"))


def keep_ends(text: str) -> list[str]:
    """Split into lines with their endings, on newlines only."""
    lines = text.split("\n")
    rest = lines.pop()
    return [line + "\n" for line in lines] + ([rest] if rest else [])


def touched_span(buffer: Buffer, change: Change) -> Span:
    """Which rows a change really touched; ``buffer`` is as it is after the change.

    Whole lines put in or taken out before or behind a line leave that line untouched.
    """
    row = change.start[0]
    n_old = change.old_end[0] - row + 1
    n_new = change.new_end[0] - row + 1
    if change.old_end[1] == 0 and change.new_end[1] == 0 and (n_old > 1 or n_new > 1):
        return Span(row, n_old - 1, n_new - 1)
    old, new = change.old_text, change.new_text
    at_end = change.new_end[1] == len(buffer.lines[change.new_end[0]])
    first_kept = all(not text or text.lstrip("\r").startswith("\n") for text in (old, new))
    ended = buffer.endings[row] and (old or buffer.endings[change.new_end[0]])
    if ended and (old or new) and first_kept and ((old and new) or at_end):
        return Span(row + 1, n_old - 1, n_new - 1)
    return Span(row, n_old, n_new)


def shifted(first: int, last: int, span: Span) -> tuple[int, int, bool]:
    """Where a row range is after a change, and whether the change reached into it.

    Whole rows put in at the edges stay outside. A change across an edge draws the changed rows
    into the range, so that nothing of them is lost when the range is put back.
    """
    row, n_old, n_new = span
    delta, stop = n_new - n_old, row + n_old
    if row >= last and not (n_old == 0 and row <= first):
        return first, last, False
    if stop <= first:
        return first + delta, last + delta, False
    return min(first, row), max(last, stop) + delta, True
