"""Where one line breaks into the rows of a width: before words, else where a row is full."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from tui.ui.editor.cells import LONG, TAB_SIZE, WIDE, LineCells, long_cells, part_cells

Part = Literal["whole", "first", "middle", "last"]
"""What a text is of its line."""
LEAST_ROOM = 4
"""Cells that a row has at least, however narrow the screen is."""
_WIDEST_INDENT = 0.5
"""Part of a row that the indentation of a continued one may take."""


def indent_in(text: str, room: int) -> int:
    """Cells before the text of a line's further rows: they are indented as the line is."""
    head = text[:LONG]
    blank = len(head) - len(head.lstrip(" \t"))
    if not blank:
        return 0
    return min(len(head[:blank].expandtabs(TAB_SIZE)), int(room * _WIDEST_INDENT))


def block_at(text: str, col: int) -> tuple[int, int, Part]:
    """The block of a line in which a column is, and what it is of the line."""
    if len(text) <= LONG:
        return 0, len(text), "whole"
    first, end = long_cells(text).block(min(col, len(text) - 1))
    return first, end, "first" if first == 0 else "last" if end == len(text) else "middle"


def line_starts(text: str, room: int) -> list[int]:
    """Where all rows of a line begin."""
    indent, starts, end = indent_in(text, room), [0], 0
    while True:
        first, end, part = block_at(text, end)
        starts[-1:] = [first + start for start in row_starts(text[first:end], room, indent, part)]
        if end >= len(text):
            return starts
        starts.append(end)


@lru_cache(maxsize=2048)
def row_starts(text: str, room: int, indent: int, part: Part) -> tuple[int, ...]:
    """Where the rows of a text begin: before words, else where a row is full.

    ``room`` is in cells; rows but the line's first are ``indent`` cells shorter. One blank may
    stand in the cell behind the row, but at the line's end, where the cursor needs the cell.
    """
    first = room if part in ("whole", "first") else room - indent
    if len(text) <= first and text.isascii() and text.isprintable():
        return (0,)
    cells = part_cells(text, 0)
    starts = [0]
    limit = cells.column(first)
    while limit < len(text):
        start = _break(text, starts[-1], limit, cells)
        if start >= len(text):
            if part in ("whole", "last") and limit > starts[-1]:
                starts.append(limit)
            break
        starts.append(start)
        limit = cells.column(cells.cell(start) + room - indent)
    return tuple(starts)


def _break(text: str, start: int, limit: int, cells: LineCells) -> int:
    """Where the row that begins at ``start`` ends, if ``limit`` is what does not fit any more."""
    if limit <= start:  # one grapheme wider than the row
        return cells.after(start)
    if text[limit] == " " and text[limit - 1] not in " \t" and cells.after(limit) == limit + 1:
        return limit + 1
    if text[limit] == "\t" or _is_wide(text[limit]) or _is_wide(text[limit - 1]):
        return limit
    place = max(text.rfind(" ", start, limit), text.rfind("\t", start, limit)) + 1
    if not text.isascii():
        wide = (col for col in range(limit - 1, max(place, start), -1) if _is_wide(text[col]))
        place = cells.snap(next(wide, place - 1) + 1)
    # Not behind the bare indentation: the word would be cut all the same.
    return place if place > start and text[start:place].strip() else limit


def _is_wide(character: str) -> bool:
    return character > "\u3000" and _in_wide(character)


@lru_cache(maxsize=4096)
def _in_wide(character: str) -> bool:
    return any(
        first <= character <= last for first, last in zip(WIDE[::3], WIDE[2::3], strict=True)
    )
