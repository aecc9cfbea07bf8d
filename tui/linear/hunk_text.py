"""A hunk, or a file's differences, as text: which lines go, which come, with their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tui.core.edits.hunk import PLACED, Hunk, Kind, Stage
from tui.core.inert_text import inert
from tui.core.text.buffer import Buffer, split_text
from tui.core.text.line_blocks import Block, blocks
from tui.linear.lines import Verbatim, verbatim
from tui.linear.words import counted, hunk_line

TAB = "\t"
_REACH = 8
"""How far above a change a line is looked for that is not empty."""
_MOST_PLACES = 20
"""So many places of a hunk are read out."""


def hunk_lines(hunk: Hunk, buffer: Buffer | None) -> list[str]:
    """A hunk with its lines; ``buffer`` is its file's, as it stands."""
    lines = [hunk_line(hunk, path=True)]
    if hunk.kind is Kind.MOVE:
        return lines
    stands = hunk.stage in PLACED and buffer is not None and hunk.decision != "rejected"
    if stands and buffer is not None and hunk.start is not None and hunk.end is not None:
        first = hunk.start.line
        new: Sequence[str] = _rows(buffer.lines[first : max(hunk.end.line, first)])
        lines += _above(buffer.lines, first)
    else:
        first = 0 if hunk.start is None else hunk.start.line
        new = [] if hunk.kind is Kind.DELETE else _rows(split_text(hunk.agent)[0])
    lines += _changes(_rows(split_text(hunk.base)[0]), new, first)
    return [*lines, *_places(hunk, buffer)]


def file_lines(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """What differs in a file."""
    return list(_changes(_rows(list(old)), _rows(list(new)), 0))


def numbered(lines: Sequence[str], first: int, last: int) -> list[str]:
    """Lines of a file with their numbers, from 1."""
    rows = range(first, last + 1)
    return verbatim(f"{number}: {inert(lines[number - 1], TAB)}" for number in rows)


def _above(lines: Sequence[str], first: int) -> list[str]:
    """The nearest line above that says something."""
    for row in range(first - 1, max(first - 1 - _REACH, -1), -1):
        if lines[row].strip():
            return [f"Under line {row + 1}:", Verbatim(f"  {inert(lines[row], TAB)}")]
    return []


def _places(hunk: Hunk, buffer: Buffer | None) -> Iterator[str]:
    """Where an ambiguous hunk could stand."""
    if hunk.stage is not Stage.CANDIDATES or not hunk.candidates:
        return
    yield f"It fits in {counted(len(hunk.candidates), 'place')}; choose one:"
    for number, line in enumerate(hunk.candidates[:_MOST_PLACES], 1):
        above = ""
        if buffer is not None and line < len(buffer.lines):
            above = f": {inert(buffer.lines[line].strip())}"
        yield f"/place {hunk.id} {number} is line {line + 1}{above}"
    if (count := len(hunk.candidates)) > _MOST_PLACES:
        yield f"There are more: /place {hunk.id} with any number up to {count}."


def _changes(old: Sequence[str], new: Sequence[str], first: int) -> Iterator[str]:
    """Each change with a heading in words; a sign stands before every line of the file."""
    for block in blocks(old, new):
        yield from _change(old, new, first, block)


def _change(old: Sequence[str], new: Sequence[str], first: int, block: Block) -> Iterator[str]:
    gone = old[block.old_first : block.old_last]
    come = new[block.new_first : block.new_last]
    if gone:
        yield f"Removed {_span(first + block.old_first, len(gone))}:"
        yield from verbatim(f"- {inert(line, TAB)}" for line in gone)
    if come:
        yield f"Added {_span(first + block.new_first, len(come))}:"
        yield from verbatim(f"+ {inert(line, TAB)}" for line in come)


def _span(first: int, count: int) -> str:
    """``line 4`` or ``lines 4 to 6``."""
    return f"line {first + 1}" if count == 1 else f"lines {first + 1} to {first + count}"


def _rows(lines: list[str]) -> list[str]:
    """Without the empty one behind the last newline, which is no line of the file."""
    return lines[:-1] if lines and not lines[-1] else lines
