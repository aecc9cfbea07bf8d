"""Notes on lines, as the editor shows them: a mark in the gutter, their words beside the text."""

from __future__ import annotations

from rich.cells import cell_len

from tui.core.document.line_notes import Note
from tui.core.document.note_list import NoteList
from tui.ui.editor.overview import LEAST_GAP, Spot, text_end
from tui.ui.editor.paint import NOTE, EditorRow
from tui.ui.editor.view import View
from tui.ui.styled_text import clip, one_line

COLOURS = {"": "accent", "error": "error", "warning": "warning", "hint": "muted"}
"""By severity."""
_LEAST_WORDS = 8
"""Cells: fewer of a note's words say nothing."""
_SIGNS = "#/*;%!-<>(){}'\"\t "
"""What may stand around the words of a comment."""


def lay_notes(rows: list[EditorRow], view: View, width: int, cursor: Spot, notes: NoteList) -> None:
    """Mark the rows on which something is noted; where there is room its words stand there."""
    lines = [row.line for row in rows if row.line is not None] if len(notes) else []
    if not lines:
        return
    by_line: dict[int, list[Note]] = {}
    last = view.buffer.line_count - 1
    for line, note in notes.on_lines(view.path, min(lines), max(lines) + (max(lines) == last)):
        by_line.setdefault(min(line, last), []).append(note)
    for y, row in enumerate(rows):
        here = by_line.get(row.line, []) if row.line is not None else []
        if not here:
            continue
        colour = note_colour(here[0])
        if not row.continued:
            row = row._replace(note=colour)
        if row.last and not row.chips:
            taken = cursor[0] + 1 if cursor is not None and cursor[1] == y else 0
            room = width - max(taken, text_end(row, view)) - LEAST_GAP
            words = " · ".join(one_line(note.text) for note in here)
            chip = f" {NOTE} {clip(words, max(room - 4, 0))} "
            if room >= _LEAST_WORDS + 4 >= 0 and cell_len(chip) <= room:
                row = row._replace(chips=((chip, colour),))
        rows[y] = row


def note_colour(note: Note) -> str:
    """The name of the colour that a note has."""
    return COLOURS[note.severity] if note.waits or note.by_model else "faint"


def comment_on(view: View, line: int) -> str:
    """What a comment on a line says; empty: there is none."""
    text, spans = view.buffer.lines[line], view.colours.spans(line)
    said = [text[start:end] for start, end, token in spans if token[:1] == ("Comment",)]
    return "".join(said).strip(_SIGNS)
