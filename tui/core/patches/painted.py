"""What others read of a section once it paints, and what the user may ask."""

from __future__ import annotations

from tui.core.document.documents import Documents, Maker
from tui.core.document.file_record import FileRecord
from tui.core.document.hunk import Hunk
from tui.core.document.waiting_places import OpenSection, PaintedRows
from tui.core.patches.painter import EDITED
from tui.core.text.change_set import Author, Change, Position
from tui.core.text.rows import rows_range

_SHOWN = {"+": "landing", "u": "landing", "-": "struck"}
"""What an editor shows of a row, by its tag."""


def shown(rows: PaintedRows, first: int, last: int) -> dict[int, str]:
    """Line -> landing, struck or conflict, of lines ``first`` to ``last``."""
    start, stop = max(first - rows.row, 0), max(last + 1 - rows.row, 0)
    tags = enumerate(rows.tags[start:stop], rows.row + start)
    if rows.trouble:
        return {row: "conflict" for row, tag in tags if tag in _SHOWN}
    return {row: _SHOWN[tag] for row, tag in tags if tag in _SHOWN}


def user_edit(
    documents: Documents, record: FileRecord, where: tuple[Position, Position], text: str
) -> Change:
    """The user's edit; what a model has painted in a deleted range is not the user's to delete.

    It would come back with undo as plain text when the section is long gone. So it is taken out
    before, by the model; of a row that the range ends in, too, as what is left of it would join
    the user's text.
    """
    crossed: list[OpenSection] = []
    within: OpenSection | None = None
    lines, mine = record.buffer.lines, set(text.split("\n")) - {""}
    for section in record.sections if where[0] < where[1] else ():
        rows = None if section.painter is None else _painted(section.painter, *where)
        if section.painter is not None and rows is None:
            within = section
            rows = _unfinished(section.painter, lines, where)
        if not rows or any(lines[row] in mine for row in rows):
            continue  # moved with the others: the text is the user's from now on
        for hunk, first, last in reversed(_runs_of(section.painter, rows)):
            documents.apply_own(
                record, rows_range(record.buffer, first, last), "", Maker(Author.MODEL, hunk)
            )
        if section is not within:
            crossed.append(section)
        where = _without_rows(record, where, rows)
    if within is not None and within.painter is not None:
        within.painter.shortened = not text
    change = documents.apply(record, *where, text, Author.USER)
    if within is not None and within.painter is not None:
        within.painter.shortened = False
    for section in crossed:
        if section.painter is not None:  # no more rows come
            section.painter.trouble = section.painter.trouble or EDITED[Author.USER]
    return change


def _painted(painter: PaintedRows, start: Position, end: Position) -> list[int] | None:
    """Rows that are the model's alone of those that a deletion touches; see `_touched`.

    None: there are only such rows, so that it is an edit of the model's text.
    """
    first, last = (row - painter.row for row in _touched(start, end))
    tags = painter.tags[max(first, 0) : max(last, 0)]
    if tags and first >= 0 and last <= len(painter.tags) and set(tags) <= {"+", "u"}:
        return None
    rows = enumerate(tags, painter.row + max(first, 0))
    return [row for row, tag in rows if tag == "+"]


def _runs_of(painter: PaintedRows | None, rows: list[int]) -> list[tuple[Hunk, int, int]]:
    """The runs of rows of each hunk, in order: first row, and the one behind the last."""
    found: list[tuple[Hunk, int, int]] = []
    for row in rows:
        hunk = None if painter is None else painter.hunk_at(row)
        if hunk is None:
            continue
        if found and found[-1][0] is hunk and found[-1][2] == row:
            found[-1] = (hunk, found[-1][1], row + 1)
        else:
            found.append((hunk, row, row + 1))
    return found


def _touched(start: Position, end: Position) -> tuple[int, int]:
    """The first row of which a deletion takes something, or joins it, and the row behind them."""
    return start[0], end[0] + bool(start[1] or end[1])


def _unfinished(
    painter: PaintedRows, lines: list[str], where: tuple[Position, Position]
) -> list[int]:
    """The line that is still coming, if a range has all of it: it comes again, whole."""
    row = painter.end - 1
    if not painter.unfinished or where[0] > (row, 0) or where[1] < (row, len(lines[row])):
        return []
    return [row]


def _without_rows(
    record: FileRecord, where: tuple[Position, Position], rows: list[int]
) -> tuple[Position, Position]:
    """What is left of a range when rows of it are gone."""
    start, end = where
    if start[0] == rows[0]:
        start = (start[0], 0)
    elif end[0] == rows[-1] and start[1]:
        row = end[0] - len(rows)
        return start, max(start, (row, len(record.buffer.lines[row])))
    inner = end[1] if end[0] != rows[-1] else 0
    row = end[0] - len(rows) + (end[0] == rows[-1])
    return start, max(start, record.buffer.clamp((row, inner)))
