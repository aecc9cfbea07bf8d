"""Changes of whole lines: cut, delete, duplicate, move.

Pure, like `changes`. Lines that are moved stay in place and their neighbour walks around them:
the cost is one line's, and marks inside of what is moved stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable

from tui.core.text.buffer import Position
from tui.ui.editor.changes import Replacement, Typing, as_in, lines_of
from tui.ui.editor.cursor import Cursor


def whole_lines(cursor: Cursor) -> str:
    r"""The cursor's lines with ``\n`` behind each, as a clipboard wants them; empty if blank."""
    lines = lines_of(cursor)
    text = "\n".join(cursor.buffer.lines[lines.start : lines.stop])
    return text + "\n" if text else ""


def cut(cursor: Cursor) -> Typing:
    """Delete the selection, else the cursor's line."""
    if cursor.selection:
        return Typing((Replacement(*cursor.selection, ""),), "cut")
    return delete_lines(cursor)


def insert_above(cursor: Cursor, text: str, group: str) -> Typing:
    """Insert whole lines above the cursor's; with a selection in its place."""
    if cursor.selection:
        return Typing((Replacement(*cursor.selection, as_in(cursor.buffer, text)),), group)
    line, col = cursor.position
    here = (line + text.count("\n"), col)
    inserted = Replacement((line, 0), (line, 0), as_in(cursor.buffer, text))
    return Typing((inserted,), group, goes_to=(here, here))


def delete_lines(cursor: Cursor) -> Typing:
    """Delete the selected lines, or the cursor's, with their endings."""
    buffer, lines = cursor.buffer, lines_of(cursor)
    if lines.stop < buffer.line_count:
        start, end = (lines.start, 0), (lines.stop, 0)
    elif lines.start:
        start, end = (lines.start - 1, len(buffer.lines[lines.start - 1])), buffer.end
    else:
        start, end = (0, 0), buffer.end
    return Typing((Replacement(start, end, ""),) if start < end else (), "delete-lines")


def duplicate(cursor: Cursor) -> Typing:
    """Put a copy behind the lines (or behind what is selected in one), and go there."""
    buffer, selection = cursor.buffer, cursor.selection
    if selection is not None and selection[0][0] == selection[1][0]:
        text = buffer.slice(*selection)
        line, end = selection[1]
        goes_to = _kept(cursor, lambda at: (line, at[1] + len(text)))
        return Typing((Replacement((line, end), (line, end), text),), "duplicate", goes_to=goes_to)
    lines = lines_of(cursor)
    last = (lines.stop - 1, len(buffer.lines[lines.stop - 1]))
    ending = buffer.endings[lines.stop - 1] or buffer.newline
    text = ending + buffer.slice((lines.start, 0), last)
    goes_to = _kept(cursor, lambda at: (at[0] + len(lines), at[1]))
    return Typing((Replacement(last, last, text),), "duplicate", goes_to=goes_to)


def move(cursor: Cursor, step: int) -> Typing:
    """Move the lines up (-1) or down (1) by one; at the file's edge nothing happens."""
    buffer, lines = cursor.buffer, lines_of(cursor)
    last = (lines.stop - 1, len(buffer.lines[lines.stop - 1]))
    goes_to = _kept(
        cursor,
        # Behind the file's last line there is no start of a line: its end does as well.
        lambda at: (at[0] + step, at[1]) if at[0] + step < buffer.line_count else (at[0], last[1]),
    )
    if step < 0:
        if lines.start == 0:
            return Typing((), "move-lines")
        above = lines.start - 1
        text = buffer.endings[above] + buffer.lines[above]
        edits = (
            Replacement(last, last, text),
            Replacement((above, 0), (lines.start, 0), ""),
        )
    else:
        if lines.stop == buffer.line_count:
            return Typing((), "move-lines")
        below = lines.stop
        text = buffer.lines[below] + buffer.endings[below - 1]
        edits = (
            Replacement(last, (below, len(buffer.lines[below])), ""),
            Replacement((lines.start, 0), (lines.start, 0), text),
        )
    return Typing(edits, "move-lines", goes_to=goes_to)


def _kept(cursor: Cursor, moved: Callable[[Position], Position]) -> tuple[Position, Position]:
    """Anchor and cursor after their text has moved."""
    return moved(cursor.anchor), moved(cursor.position)
