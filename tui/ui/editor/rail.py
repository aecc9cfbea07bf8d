"""What is said over the edges of the text: the stage of a landing hunk, hunks out of sight.

Chips at the right end of the first and the last row, and the strip of lines that have no place
yet. They lie over the text, so that nothing is laid out anew and nothing moves; and never over
the cursor.
"""

from __future__ import annotations

from typing import NamedTuple

from rich.cells import cell_len

from tui.ui.editor.paint import Chip, Row, gutter_width
from tui.ui.rows import clip, one_line

GHOST_ROWS = 4
"""Rows of the strip of incoming lines, its heading included."""
_LEAST_ROWS = 2 * GHOST_ROWS
Ghost = tuple[int, list[str]] | None
"""The line under which incoming lines are shown, and these lines."""


class Said(NamedTuple):
    """What is to be said of a file's hunks."""

    words: str = ""
    """What the landing one does; empty: none lands here."""
    above: int = 0
    """Hunks that wait or come in above what is in sight."""
    below: int = 0
    ghost: Ghost = None
    fate: str = ""
    """What is to become of the whole file: it is to be deleted, or goes elsewhere."""


NOTHING = Said()


Spot = tuple[int, int] | None
"""Cell and row of the cursor; None: it is out of sight."""


def lay_over(rows: list[Row], width: int, said: Said, cursor: Spot) -> None:
    """Put the strip and the chips over rows that are as wide as ``width``."""
    ghost = said.ghost if len(rows) > _LEAST_ROWS else None
    if ghost is not None:
        here = -1 if cursor is None else cursor[1]
        _lay_ghost(rows, _ghost_rows(ghost, said.words), ghost[0], here)
    up: Chip = (f" {_counted('↑', said.above)} ", "hunk-pending")
    down: Chip = (f" {_counted('↓', said.below)} ", "hunk-pending")
    below = [down] if said.below else []
    words = said.fate or (said.words if ghost is None else "")
    if words:
        used = sum(cell_len(text) for text, _ in below)
        room = width - gutter_width(3) - used - 3
        colour = "hunk-struck" if said.fate else "hunk-landing"
        below = [(f" {clip(one_line(words), max(room, 8))} ", colour), *below]
    if said.above:
        _lay_chips(rows, (up,), (0, 1), width, cursor)
    if below:
        last = len(rows) - 1
        _lay_chips(rows, tuple(below), (last, last - 1), width, cursor)


def _counted(arrow: str, count: int) -> str:
    return f"{arrow} {count} hunk{'' if count == 1 else 's'}"


def _lay_chips(
    rows: list[Row], chips: tuple[Chip, ...], ys: tuple[int, int], width: int, cursor: Spot
) -> None:
    """At the right end of the first of these rows where they do not hide the cursor."""
    start = width - sum(cell_len(text) for text, _ in chips)
    if start < gutter_width(3) or len(rows) < 2:
        return
    y = ys[0] if cursor is None or cursor[1] != ys[0] or cursor[0] < start - 1 else ys[1]
    rows[y] = rows[y]._replace(chips=chips)


def _lay_ghost(rows: list[Row], incoming: list[Row], line: int, cursor: int) -> None:
    """Under the line where they may belong; at the end, or at the top, if that is not in sight."""
    count, height = len(incoming), len(rows)
    under = [y + 1 for y, row in enumerate(rows) if row.number == line + 1][-1:]
    places = [y for y in (*under, height - count, 0) if y + count <= height]
    free = (y for y in places if not y <= cursor < y + count)
    y = next(free, places[0])
    rows[y : y + count] = incoming


def _ghost_rows(ghost: tuple[int, list[str]], words: str) -> list[Row]:
    """Lines on their way to a place that is not known yet."""
    lines = ghost[1]
    count = f"{len(lines)} line{'' if len(lines) == 1 else 's'} incoming, looking for the place"
    head = f"{words} · +{len(lines)}" if words else count
    tail = lines[-(GHOST_ROWS - 1) :]
    return [Row(text, kind="ghost") for text in (head, *tail)]
