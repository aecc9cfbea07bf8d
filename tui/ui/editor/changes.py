"""What keys do to the text, as data: ranges to replace and where the cursor goes then.

Pure functions of a buffer and a cursor; the editor applies the result through the workspace.
Several replacements of one key are listed bottom up, so that each is still true when it is made.
Lines that are moved stay in place and their neighbour walks around them: that costs one line, and
marks inside of what is moved stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from tui.core.text.buffer import Buffer
from tui.core.text.change_set import Position
from tui.ui.editor.cells import line_cells
from tui.ui.editor.cursor import Cursor, indent_of, word_after, word_before

_INDENT_SAMPLE = 400
"""Lines looked at to tell a file's indentation."""
DEFAULT_INDENT = "    "


class TextEdit(Struct, frozen=True):
    """Replace ``start .. end`` by ``text``."""

    start: Position
    end: Position
    text: str


class Typing(Struct, frozen=True):
    """The replacements of one key."""

    replacements: tuple[TextEdit, ...]
    group: str
    """Keys of one group that follow each other are undone as one."""
    keep_selection: bool = False
    goes_to: tuple[Position, Position] | None = None
    """Where the selection's anchor and the cursor stand afterwards; None: behind the change."""


def insert(cursor: Cursor, text: str, group: str = "type") -> Typing:
    """Text typed or pasted, in the place of the selection; line endings as in the file."""
    start, end = cursor.selection or (cursor.position, cursor.position)
    return Typing((TextEdit(start, end, as_in(cursor.buffer, text)),), group)


def indent_lines(cursor: Cursor, indent: str) -> Typing:
    """Tab: indent the selected lines, or fill up to the next stop."""
    selection = cursor.selection
    if selection is None or selection[0][0] == selection[1][0]:
        if indent == "\t":
            return insert(cursor, "\t", "indent")
        start = selection[0] if selection else cursor.position
        cell = line_cells(cursor.buffer.lines[start[0]]).cell(start[1])
        return insert(cursor, " " * (len(indent) - cell % len(indent)), "indent")
    edits = tuple(
        TextEdit((line, 0), (line, 0), indent)
        for line in reversed(lines_of(cursor))
        if cursor.buffer.lines[line].strip()
    )
    return Typing(edits, "indent-lines", keep_selection=True)


def dedent_lines(cursor: Cursor, indent: str) -> Typing:
    """Shift+Tab: take one step of indentation off the selected lines."""
    edits = []
    for line in reversed(lines_of(cursor)):
        text = cursor.buffer.lines[line]
        width = _step_back(text, indent_of(text), indent)
        if width:
            edits.append(TextEdit((line, 0), (line, width), ""))
    return Typing(tuple(edits), "dedent-lines", keep_selection=True)


def backspace(cursor: Cursor, indent: str) -> Typing:
    """Delete the selection, or what stands before the cursor (in an indentation: one step)."""
    if cursor.selection:
        return _delete(*cursor.selection, "cut")
    buffer, (line, col) = cursor.buffer, cursor.position
    if col == 0:
        if line == 0:
            return Typing((), "backspace")
        return _delete((line - 1, len(buffer.lines[line - 1])), (line, 0), "backspace")
    text = buffer.lines[line]
    if indent != "\t" and not text[:col].strip(" "):
        start = (col - 1) // len(indent) * len(indent)
    else:
        start = line_cells(text).before(col)
    return _delete((line, start), (line, col), "backspace")


def delete(cursor: Cursor) -> Typing:
    """Delete the selection, or the grapheme under the cursor."""
    if cursor.selection:
        return _delete(*cursor.selection, "cut")
    buffer, (line, col) = cursor.buffer, cursor.position
    if col < len(buffer.lines[line]):
        after = line_cells(buffer.lines[line]).after(col)
        return _delete((line, col), (line, after), "delete")
    if line + 1 < buffer.line_count:
        return _delete((line, col), (line + 1, 0), "delete")
    return Typing((), "delete")


def delete_word_left(cursor: Cursor) -> Typing:
    """Delete the selection, or back to the start of the word."""
    if cursor.selection:
        return _delete(*cursor.selection, "cut")
    return _delete(word_before(cursor.buffer, cursor.position), cursor.position, "word-left")


def delete_word_right(cursor: Cursor) -> Typing:
    """Delete the selection, or up to the end of the word."""
    if cursor.selection:
        return _delete(*cursor.selection, "cut")
    return _delete(cursor.position, word_after(cursor.buffer, cursor.position), "word-right")


def delete_to_line_end(cursor: Cursor) -> Typing:
    """Delete the selection, or up to the line's end; there already: the line's ending."""
    if cursor.selection:
        return _delete(*cursor.selection, "cut")
    buffer, (line, col) = cursor.buffer, cursor.position
    end = len(buffer.lines[line])
    if col < end:
        return _delete((line, col), (line, end), "to-end")
    below = (line + 1, 0) if line + 1 < buffer.line_count else (line, col)
    return _delete((line, col), below, "to-end")


def delete_to_line_start(cursor: Cursor) -> Typing:
    """Delete the selection, or back to the line's start; there already: the ending above."""
    if cursor.selection:
        return _delete(*cursor.selection, "cut")
    buffer, (line, col) = cursor.buffer, cursor.position
    if col:
        return _delete((line, 0), (line, col), "to-start")
    above = (line - 1, len(buffer.lines[line - 1])) if line else (0, 0)
    return _delete(above, (line, col), "to-start")


def indentation(buffer: Buffer) -> str:
    """One step of indentation as this file uses it: a tab, or 2 to 8 spaces."""
    steps: dict[str, int] = {}
    before = 0
    for line in buffer.lines[:_INDENT_SAMPLE]:
        if not line.strip():
            continue
        if line.startswith("\t"):
            steps["\t"] = steps.get("\t", 0) + 1
            continue
        here = len(line) - len(line.lstrip(" "))
        if 2 <= here - before <= 8:
            step = " " * (here - before)
            steps[step] = steps.get(step, 0) + 1
        before = here
    if not steps:
        return "\t" if buffer.path.endswith((".go", "Makefile", ".mk")) else DEFAULT_INDENT
    return max(steps, key=lambda step: steps[step])


def as_in(buffer: Buffer, text: str) -> str:
    """``text`` with the line ending of this file."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return plain.replace("\n", buffer.newline) if buffer.newline != "\n" else plain


def lines_of(cursor: Cursor) -> range:
    """Selected lines; one of which only the start is selected does not count."""
    start, end = cursor.selection or (cursor.position, cursor.position)
    last = end[0] - 1 if end[1] == 0 and end[0] > start[0] else end[0]
    return range(start[0], last + 1)


def _delete(start: Position, end: Position, group: str) -> Typing:
    return Typing((TextEdit(start, end, ""),) if start < end else (), group)


def _step_back(text: str, width: int, indent: str) -> int:
    if text.startswith("\t"):
        return 1
    spaces = width - len(text[:width].lstrip(" "))
    return min(spaces, len(indent) if indent != "\t" else 4)


def whole_lines(cursor: Cursor) -> str:
    r"""The cursor's lines with ``\n`` behind each, as a clipboard wants them; empty if blank."""
    lines = lines_of(cursor)
    text = "\n".join(cursor.buffer.lines[lines.start : lines.stop])
    return text + "\n" if text else ""


def cut(cursor: Cursor) -> Typing:
    """Delete the selection, else the cursor's line."""
    if cursor.selection:
        return Typing((TextEdit(*cursor.selection, ""),), "cut")
    return delete_lines(cursor)


def insert_above(cursor: Cursor, text: str, group: str) -> Typing:
    """Insert whole lines above the cursor's; with a selection in its place."""
    if cursor.selection:
        return Typing((TextEdit(*cursor.selection, as_in(cursor.buffer, text)),), group)
    line, col = cursor.position
    here = (line + text.count("\n"), col)
    inserted = TextEdit((line, 0), (line, 0), as_in(cursor.buffer, text))
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
    return Typing((TextEdit(start, end, ""),) if start < end else (), "delete-lines")


def duplicate(cursor: Cursor) -> Typing:
    """Put a copy behind the lines (or behind what is selected in one), and go there."""
    buffer, selection = cursor.buffer, cursor.selection
    if selection is not None and selection[0][0] == selection[1][0]:
        text = buffer.slice(*selection)
        line, end = selection[1]
        goes_to = _kept(cursor, lambda at: (line, at[1] + len(text)))
        return Typing((TextEdit((line, end), (line, end), text),), "duplicate", goes_to=goes_to)
    lines = lines_of(cursor)
    last = (lines.stop - 1, len(buffer.lines[lines.stop - 1]))
    ending = buffer.endings[lines.stop - 1] or buffer.newline
    text = ending + buffer.slice((lines.start, 0), last)
    goes_to = _kept(cursor, lambda at: (at[0] + len(lines), at[1]))
    return Typing((TextEdit(last, last, text),), "duplicate", goes_to=goes_to)


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
            TextEdit(last, last, text),
            TextEdit((above, 0), (lines.start, 0), ""),
        )
    else:
        if lines.stop == buffer.line_count:
            return Typing((), "move-lines")
        below = lines.stop
        text = buffer.lines[below] + buffer.endings[below - 1]
        edits = (
            TextEdit(last, (below, len(buffer.lines[below])), ""),
            TextEdit((lines.start, 0), (lines.start, 0), text),
        )
    return Typing(edits, "move-lines", goes_to=goes_to)


def _kept(cursor: Cursor, moved: Callable[[Position], Position]) -> tuple[Position, Position]:
    """Anchor and cursor after their text has moved."""
    return moved(cursor.anchor), moved(cursor.position)
