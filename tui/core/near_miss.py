"""What to tell when a section fits nowhere: the closest place and the first difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tui.core.buffer import Buffer
from tui.core.line_index import LineIndex, plain
from tui.core.rows import file_rows

_QUOTE = 80


def nearest_miss(buffer: Buffer, index: LineIndex, old: Sequence[str], new: Sequence[str]) -> str:
    """``context not found`` with the closest window and the first differing line, both sides."""
    if done := _already_there(buffer, index, new):
        return f"context not found: already applied, its new text is at line {done}"
    votes: Counter[int] = Counter()
    for offset, line in enumerate(old):
        if line.strip():
            votes.update(row - offset for row in index.rows(line)[:200])
    if not votes:
        return f"context not found: no line of it is in the file, first {_quoted(old[0])}"
    best = max(votes.values())
    start = min(row for row, count in votes.items() if count == best)
    fitting = 0
    difference = ""
    for offset, line in enumerate(old):
        row = start + offset
        there = buffer.lines[row] if 0 <= row < file_rows(buffer) else None
        if there is not None and plain(there) == plain(line):
            fitting += 1
        elif not difference:
            has = "nothing" if there is None else _quoted(there)
            difference = f"; line {row + 1} of the file has {has}, the patch has {_quoted(line)}"
    if not difference:
        difference = "; the indentation differs from line to line"
    closest = f"closest is line {max(start, 0) + 1}, {fitting} of {len(old)} lines match"
    return f"context not found: {closest}{difference}"


def _already_there(buffer: Buffer, index: LineIndex, new: Sequence[str]) -> int:
    """The 1-based line at which the new text stands already, 0 if it does not."""
    if not any(line.strip() for line in new):
        return 0
    for row in index.rows(new[0]):
        if buffer.lines[row : row + len(new)] == list(new):
            return row + 1
    return 0


def _quoted(line: str) -> str:
    return repr(line if len(line) <= _QUOTE else line[:_QUOTE] + "…")
