"""What of a view is in sight, row by row: the parts of its lines with all that lies over them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from tui.core.text.buffer import Position
from tui.ui.editor.paint import Overlay, Row
from tui.ui.editor.wrapping import Slice, overlays_in, slices, spans_in

if TYPE_CHECKING:
    from tui.ui.editor.view import View

Decorations = Callable[[str, int, int], dict[int, str]]

COLOUR_BUDGET_S = 0.005
"""Time for colours before a repaint; the rest follows when idle."""
BRACKET_BUDGET_S = 0.001
"""Time for the partner of a bracket before a repaint."""


class Sight(NamedTuple):
    """What all rows of one picture have to know of the user."""

    position: Position
    selection: tuple[Position, Position] | None
    focused: bool
    wrapped: bool
    first: int
    """First line that the cursor or the selection is in."""
    last: int


def rows_in_sight(view: View, height: int, focused: bool, decorations: Decorations) -> list[Row]:
    """The rows of the text on the screen, top to bottom; fewer than ``height`` below the end."""
    parts = slices(view.layout, view.place, max(height, 1), (view.left, view.room))
    first, last = parts[0].line, parts[-1].line + 1
    view.colours.advance(last, COLOUR_BUDGET_S, first)
    kinds = decorations(view.path, first, last)
    position, selection = view.cursor.position, view.cursor.selection
    view.brackets.look(position if focused and selection is None else None)
    view.brackets.advance(BRACKET_BUDGET_S)
    ends = selection or (position, position)
    sight = Sight(position, selection, focused, view.wrapped, ends[0][0], ends[1][0])
    return [_row(view, sight, part, kinds.get(part.line, "")) for part in parts]


def _row(view: View, sight: Sight, part: Slice, kind: str) -> Row:
    """Everything that a row's strip depends on."""
    line = part.line
    text = view.buffer.lines[line]
    touched = sight.first <= line <= sight.last
    here = touched and line == sight.position[0] and part.has(sight.position[1])
    matches = view.search.on_line(line, part.start, part.end + 1) + view.brackets.on_line(line)
    overlays: tuple[Overlay, ...] = ()
    if touched or matches:
        overlays = tuple(overlays_in(_overlays(sight, part, matches, len(text)), part))
    alone = sight.selection is None and touched and sight.focused
    return Row(
        text if part.start == 0 and part.end == len(text) else text[part.start : part.end],
        line + 1,
        kind,
        spans_in(view.colours.spans(line), part, len(text)),
        alone and (here or not sight.wrapped),
        overlays,
        touched and part.last and sight.selection is not None and line < sight.last,
        kind == "landing" and line == view.pen.line and part.last,
        part.cell,
        part.phase,
        sight.wrapped and part.start > 0,
        part.last,
        view.ending(line) if part.last else "",
    )


def _overlays(sight: Sight, part: Slice, matches: list[Overlay], length: int) -> list[Overlay]:
    """What lies over a line, counted from the line's start; later ones are seen."""
    line, selection = part.line, sight.selection
    overlays = [match for match in matches if match[2] == "match"]
    if selection and sight.first <= line <= sight.last:
        start = selection[0][1] if selection[0][0] == line else 0
        end = selection[1][1] if selection[1][0] == line else length
        overlays.append((start, end, "selection"))
    overlays += [match for match in matches if match[2] != "match"]
    cursor_line, col = sight.position
    if line == cursor_line and part.has(col) and (sight.focused or not selection):
        overlays.append((col, col + 1, "cursor" if sight.focused else "cursor-away"))
    return overlays
