"""Tables as rows: aligned by cells, wrapped where they are wide, one field a row where too wide.

Nothing of a table is left out, however narrow the pane is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.style import Style

from tui.core.text.patterns import pattern
from tui.ui import theme
from tui.ui.styled_text import Piece, StyledLine, wrap

Cell = list[Piece]
_BETWEEN = " │ "
_NARROWEST = 8
"""Cells that a column has where its words are longer; with less room fields stand below another."""
_DELIMITER = pattern(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")


_BETWEEN_CELLS = pattern(r"(?<!\\)\|")
_BREAK = pattern(r"\r\n?|\n")


class Table(NamedTuple):
    """The cells of a table, row by row; the first row is its head."""

    rows: list[list[Cell]]
    alignments: list[str]
    """``left``, ``right`` or ``center`` for each column."""


class TableHead(NamedTuple):
    """The beginning of a table of which more comes: its source, and how wide its columns are."""

    source: str
    widths: tuple[int, ...]


def open_head(source: str) -> str:
    """The two lines with which a table begins that goes on to the end of a text; else nothing."""
    lines = source.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    for number in range(len(lines) - 1, 0, -1):
        if not lines[number].strip():
            return ""
        head = lines[number - 1]
        if "|" in lines[number] and "|" in head and _DELIMITER.match(lines[number]):
            return f"{head}\n{lines[number]}\n"
    return ""


def widened(source: str, tables: Iterable[tuple[int, int, int]]) -> str:
    """The text with a column more for each cell that stands beyond a table's head; else empty.

    ``tables``: the first line of each, the one behind it, and its columns. The parser leaves
    such cells out.
    """
    lines: list[str] = []
    found = False
    for first, behind, columns in tables:
        lines = lines or _BREAK.split(source)
        more = max(map(_cells, lines[first + 2 : behind]), default=0) - columns
        if more > 0:
            lines[first] = _with_columns(lines[first], " |", more)
            lines[first + 1] = _with_columns(lines[first + 1], "-|", more)
            found = True
    return "\n".join(lines) if found else ""


def _cells(line: str) -> int:
    """How many cells a row has."""
    return len(_BETWEEN_CELLS.findall(line.lstrip("> \t").rstrip().strip("|"))) + 1


def _with_columns(line: str, column: str, more: int) -> str:
    bare = line.rstrip()
    return bare + ("" if bare.endswith("|") and not bare.endswith("\\|") else "|") + column * more


def column_widths(table: Table, width: int) -> tuple[int, ...]:
    """Cells of each column; empty: there is no room for them side by side."""
    columns = len(table.alignments)
    natural, words = [1] * columns, [1] * columns
    for row in table.rows:
        for index, cell in enumerate(row[:columns]):
            text = "".join(text for text, _ in cell)
            natural[index] = max(natural[index], cell_len(text))
            words[index] = max(words[index], max(map(cell_len, text.split()), default=1))
    room = width - len(_BETWEEN) * (columns - 1)
    if sum(natural) <= room:
        return tuple(natural)
    for floors in (words, [min(word, _NARROWEST) for word in words]):
        if sum(floors) <= room:
            return _shrunk(natural, floors, room)
    return ()


def _shrunk(natural: Sequence[int], floors: Sequence[int], room: int) -> tuple[int, ...]:
    """The widest columns give way first, none below its floor."""
    low, high = 1, max(natural)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(_capped(natural, floors, middle)) <= room:
            low = middle
        else:
            high = middle - 1
    widths = _capped(natural, floors, low)
    left = room - sum(widths)
    for index, full in enumerate(natural):
        if left and widths[index] < full:
            widths[index] += 1
            left -= 1
    return tuple(widths)


def _capped(natural: Sequence[int], floors: Sequence[int], cap: int) -> list[int]:
    return [max(min(full, cap), floor) for full, floor in zip(natural, floors, strict=True)]


def table_lines(table: Table, width: int, head: TableHead | None = None) -> list[StyledLine]:
    """The rows of a table; ``head``: of one whose first row was shown above."""
    fits = head is not None and len(head.widths) == len(table.alignments)
    widths = head.widths if head is not None and fits else column_widths(table, width)
    if not widths:
        return _records(table, width, begun=head is not None)
    rule = theme.active().style("line")
    between = StyledLine([("─┼─".join("─" * cells for cells in widths), rule)])
    wrapped = [_wrapped(row, widths) for row in table.rows]
    ruled = any(len(cell) > 1 for row in wrapped for cell in row)
    lines: list[StyledLine] = []
    for number, row in enumerate(wrapped):
        if number == 0 and head is not None:
            continue
        if number == 1 or (ruled and number):
            lines.append(between)
        lines += _row(row, widths, table.alignments)
    if len(wrapped) == 1 and head is None:
        lines.append(between)
    return lines[1:] if head is not None and lines[:1] == [between] and not ruled else lines


def _wrapped(row: list[Cell], widths: Iterable[int]) -> list[list[Cell]]:
    return [wrap(cell, cells) for cell, cells in zip(row, widths, strict=False)]


def _row(
    row: list[list[Cell]], widths: Sequence[int], alignments: Sequence[str]
) -> list[StyledLine]:
    """One row of a table: as many lines as its tallest cell."""
    rule = theme.active().style("line")
    lines = []
    for index in range(max(map(len, row), default=0)):
        pieces: list[Piece] = []
        for number, cells in enumerate(widths):
            if number:
                pieces.append((_BETWEEN, rule))
            shown = row[number][index] if number < len(row) and index < len(row[number]) else []
            pieces += _aligned(shown, cells, alignments[number], rule)
        lines.append(StyledLine(pieces))
    return lines


def _aligned(cell: Cell, cells: int, alignment: str, blank: Style) -> list[Piece]:
    free = max(cells - sum(cell_len(text) for text, _ in cell), 0)
    before = {"right": free, "center": free // 2}.get(alignment, 0)
    return [(" " * before, blank), *cell, (" " * (free - before), blank)]


def _records(table: Table, width: int, *, begun: bool) -> list[StyledLine]:
    """One field a row, its name before it: for tables that are too wide for the pane."""
    palette = theme.active()
    rule = StyledLine([("─" * width, palette.style("line"))])
    names = ["".join(text for text, _ in cell) for cell in table.rows[0]]
    room = min(max(map(cell_len, names), default=0), width // 3)
    style = palette.style("muted")
    lines: list[StyledLine] = []
    for row in table.rows[1:] or table.rows:
        if lines or begun:
            lines.append(rule)
        for name, cell in zip(names, row, strict=False):
            label = wrap([(name, style)], room)
            value = wrap(cell, max(width - room - 2, 1))
            for index in range(max(len(label), len(value))):
                left = label[index] if index < len(label) else []
                right = value[index] if index < len(value) else []
                lines.append(
                    StyledLine([*_aligned(left, room, "left", style), ("  ", style), *right])
                )
    return lines
