"""What is said over the rows of the text: hunks out of sight, incoming lines, the slow ghost.

Chips at the right end of a row, the strip of lines that have no place yet, and the ghost: where a
model at 50 tokens/s would be writing now, a small mark in the gutter with a few words beside it.
They lie over the text, so that nothing is laid out anew and nothing moves; never over the cursor.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from rich.cells import cell_len

from tui.ui.editor.cells import TAB_SIZE, part_cells
from tui.ui.editor.paint import GUTTER_GHOST, Chip, EditorRow, gutter_width
from tui.ui.editor.session import EditorSession
from tui.ui.editor.view import View
from tui.ui.styled_text import clip, one_line

INCOMING_ROWS = 4
"""Rows of the strip of incoming lines, its heading included."""
_LEAST_ROWS = 2 * INCOMING_ROWS
Incoming = tuple[int, list[str]] | None
"""The line under which incoming lines are shown, and these lines."""


class Hints(NamedTuple):
    """What is to be said of a file's hunks."""

    words: str = ""
    """What the landing one does; empty: none lands here."""
    above: int = 0
    """Hunks that wait or come in above what is in sight."""
    below: int = 0
    incoming: Incoming = None
    fate: str = ""
    """What is to become of the whole file: it is to be deleted, or goes elsewhere."""


NOTHING = Hints()


Spot = tuple[int, int] | None
"""Cell and row of the cursor; None: it is out of sight."""


def lay_over(rows: list[EditorRow], width: int, hints: Hints, cursor: Spot) -> None:
    """Put the strip and the chips over rows that are as wide as ``width``."""
    if hints == NOTHING:
        return
    incoming = hints.incoming if len(rows) > _LEAST_ROWS else None
    if incoming is not None:
        here = -1 if cursor is None else cursor[1]
        _lay_incoming(rows, _incoming_rows(incoming, hints.words), incoming[0], here)
    up: Chip = (f" {_counted('↑', hints.above)} ", "hunk-pending")
    down: Chip = (f" {_counted('↓', hints.below)} ", "hunk-pending")
    below = [down] if hints.below else []
    words = hints.fate or (hints.words if incoming is None else "")
    if words:
        used = sum(cell_len(text) for text, _ in below)
        room = width - gutter_width(3) - used - 3
        colour = "hunk-struck" if hints.fate else "hunk-landing"
        below = [(f" {clip(one_line(words), max(room, 8))} ", colour), *below]
    if hints.above:
        _lay_chips(rows, (up,), (0, 1), width, cursor)
    if below:
        last = len(rows) - 1
        _lay_chips(rows, tuple(below), (last, last - 1), width, cursor)


def _counted(arrow: str, count: int) -> str:
    return f"{arrow} {count} hunk{'' if count == 1 else 's'}"


def _lay_chips(
    rows: list[EditorRow], chips: tuple[Chip, ...], ys: tuple[int, int], width: int, cursor: Spot
) -> None:
    """At the right end of the first of these rows where they do not hide the cursor."""
    start = width - sum(cell_len(text) for text, _ in chips)
    if start < gutter_width(3) or len(rows) < 2:
        return
    y = ys[0] if cursor is None or cursor[1] != ys[0] or cursor[0] < start - 1 else ys[1]
    rows[y] = rows[y]._replace(chips=chips)


def _lay_incoming(rows: list[EditorRow], incoming: list[EditorRow], line: int, cursor: int) -> None:
    """Under the line where they may belong; at the end, or at the top, if that is not in sight."""
    count, height = len(incoming), len(rows)
    under = [y + 1 for y, row in enumerate(rows) if row.line == line][-1:]
    places = [y for y in (*under, height - count, 0) if y + count <= height]
    free = (y for y in places if not y <= cursor < y + count)
    y = next(free, places[0])
    rows[y : y + count] = incoming


def _incoming_rows(incoming: tuple[int, list[str]], words: str) -> list[EditorRow]:
    """Lines on their way to a place that is not known yet."""
    lines = incoming[1]
    count = f"{len(lines)} line{'' if len(lines) == 1 else 's'} incoming, looking for the place"
    head = f"{words} · +{len(lines)}" if words else count
    tail = lines[-(INCOMING_ROWS - 1) :]
    return [EditorRow(text, kind="incoming") for text in (head, *tail)]


Mode = Literal["linger", "turn", "off"]
"""``linger``: after the turn it walks on until it has written all, or all is decided."""
STEP_S, CALM_STEP_S = 0.1, 1.0
"""How often it is looked at while nothing else is painted; for who is disturbed by motion."""
_COLOUR = "meter-ghost"
_LEAST_GAP = 2
"""Cells between a line's end and words behind it."""
_HERE = "50 tok/s would be here"


class ShownGhost(NamedTuple):
    """What is shown of the ghost."""

    path: str
    line: int | None
    """None: it has not come to its first edit, which is in this file."""


class GutterGhost:
    """Where a model at 50 tokens/s would be writing, as one editor shows it."""

    def __init__(self, session: EditorSession) -> None:
        self.mode: Mode = "linger"
        self.calm = False
        """Nothing moves by itself: it goes when the turn ends."""
        self.seen: ShownGhost | None = None
        """As it was looked at last; None: it is in no file."""
        self._session = session

    @property
    def walks(self) -> bool:
        """It is to be looked at again before long."""
        session = self._session
        if self.mode == "off" or not session.meter.ghost_walks(session.now()):
            return False
        lingers = self.mode == "linger" and not self.calm
        return session.status.busy or (lingers and session.workspace.hunk_list.has_decidable())

    def look(self) -> bool:
        """Where it is now; True if that is not as it was."""
        before, self.seen = self.seen, None
        if self.walks:
            session = self._session
            place = session.meter.ghost_place(session.now())
            if place is not None:
                self.seen = ShownGhost(place.path, place.line)
        return self.seen != before

    def line(self, view: View) -> int | None:
        """The line of this view that it is in, for the overview."""
        seen = self.seen
        return seen.line if seen is not None and self._shows(seen, view) else None

    def lay_over(self, rows: list[EditorRow], view: View, width: int, cursor: Spot) -> None:
        """Mark its row and say what the mark is; nothing where it is out of sight."""
        seen = self.seen
        if seen is None or seen.line is None or not self._shows(seen, view):
            return
        here = next((y for y, row in enumerate(rows) if row.line == seen.line), None)
        if here is not None:
            taken = cursor[0] if cursor is not None and cursor[1] == here else 0
            rows[here] = _marked(rows[here], width, max(taken, _end(rows[here], view)))

    def _shows(self, seen: ShownGhost, view: View) -> bool:
        """It is in this file, and not in the line in which the model itself writes."""
        level = self._session.status.busy and seen.line == view.written_line
        return seen.path == view.path and not level


def _end(row: EditorRow, view: View) -> int:
    """The cell of the screen behind a row's text."""
    cells = row.cell + part_cells(row.text, row.phase % TAB_SIZE).width - view.left
    return gutter_width(view.digits) + max(cells, 0)


def _marked(row: EditorRow, width: int, taken: int) -> EditorRow:
    """The row with the mark, and with words behind what takes its cells up to ``taken``."""
    row = row._replace(ghost=True)
    chip = f" {GUTTER_GHOST} {_HERE} "
    if not row.chips and taken + _LEAST_GAP + cell_len(chip) <= width:
        return row._replace(chips=((chip, _COLOUR),))
    return row


def _add_chip(
    rows: list[EditorRow], y: int, words: tuple[str, ...], width: int, cursor: Spot
) -> None:
    """Before the chips that a row has, the longest words for which there is room and no cursor."""
    there = rows[y].chips
    taken = gutter_width(3)
    if cursor is not None and cursor[1] == y:
        taken = max(taken, cursor[0] + _LEAST_GAP)
    start = width - sum(cell_len(text) for text, _ in there)
    for one in words:
        chip: Chip = (f" {GUTTER_GHOST} {one} ", _COLOUR)
        if taken <= start - cell_len(chip[0]):
            rows[y] = rows[y]._replace(chips=(chip, *there))
            return
