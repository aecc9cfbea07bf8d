"""A row of the file tree as a strip: name, what git says of it, what is not saved."""

from __future__ import annotations

from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from tui.core.folder_entry import GitState
from tui.ui import theme
from tui.ui.editor.tabs import UNSAVED
from tui.ui.files.tree_rows import TreeRow
from tui.ui.rows import clip, one_line

_INDENT = 2
_OPEN, _CLOSED, _LINK = "▾", "▸", "↗"
_EDGE, _THUMB = "│", "┃"
_MOST_DEPTH = 10
"""Deeper rows are not indented further: the name needs the room."""
_COLOURS: dict[GitState, str] = {
    "U": "error",
    "D": "hunk-struck",
    "M": "warning",
    "A": "success",
    "?": "deep",
}


class Marks(NamedTuple):
    """What is lit in the tree besides git's states."""

    active: str = ""
    """The file in the editor."""
    unsaved: frozenset[str] = frozenset()
    focused: bool = False


def header_strip(words: str, found: int, shape: tuple[int, bool], *, shows_all: bool) -> Strip:
    """The first row: what is typed and how many files have it, or what the keys do."""
    style, (width, _) = theme.active().style, shape
    if words:
        count = f" {found or 'no'} file{'' if found == 1 else 's'} "
        left = Segment(f" ⌕ {one_line(words)}▏", style("foreground", "panel"))
    else:
        count = " type to filter "
        left = Segment(" All files" if shows_all else " Files", style("accent", "panel", "bold"))
    right = Segment(count, style("faint" if found or not words else "warning", "panel"))
    room = width - 1 - cell_len(right.text)
    text = clip(left.text, max(room, 1))
    gap = " " * max(room - cell_len(text), 0)
    segments = [Segment(text, left.style), Segment(gap, style("", "panel")), right]
    return Strip([*Strip(segments).crop(0, width - 1), _edge(False)], width)


def row_strip(
    row: TreeRow | None,
    state: GitState | None,
    marks: Marks,
    shape: tuple[int, bool],
    *,
    lit: bool,
) -> Strip:
    """One row; ``shape`` is the width in cells and whether the scroll bar's thumb is here."""
    width, thumb = shape
    style = theme.active().style
    if row is None:
        return Strip([Segment(" " * (width - 1), style("", "background")), _edge(thumb)], width)
    back = "background"
    if lit:
        back = "selection" if marks.focused else "panel"
    colour, more = _look(row, state, marks)
    notes = _notes(row, state, marks, back)
    indent = " " * (1 + _INDENT * min(row.depth, _MOST_DEPTH))
    sign = f"{_sign(row)} "
    room = width - 1 - len(indent) - len(sign) - sum(cell_len(note.text) for note in notes)
    name = clip(one_line(row.name) or row.name, max(room, 1))
    segments = [
        Segment(indent, style("", back)),
        Segment(sign, style("faint", back)),
        *_name(name, row.match, (colour, back, more)),
        Segment(" " * max(room - cell_len(name), 0), style("", back)),
        *notes,
    ]
    return Strip([*Strip(segments).crop(0, width - 1), _edge(thumb)], width)


def _edge(thumb: bool) -> Segment:
    style = theme.active().style
    return Segment(_THUMB if thumb else _EDGE, style("muted" if thumb else "line", "background"))


def _sign(row: TreeRow) -> str:
    if row.kind == "folder":
        return _OPEN if row.open else _CLOSED
    return _LINK if row.kind == "link" else " "


def _look(row: TreeRow, state: GitState | None, marks: Marks) -> tuple[str, str]:
    """Colour and weight of a name."""
    if row.kind == "note":
        return "faint", "italic"
    if row.kind == "gone":
        return _COLOURS["D"], "strike"
    if row.ignored:
        return "faint", ""
    weight = "bold" if row.path == marks.active else ""
    if state is not None and row.kind != "folder":
        return _COLOURS[state], weight
    return ("muted" if row.kind == "folder" else "foreground"), weight


def _notes(row: TreeRow, state: GitState | None, marks: Marks, back: str) -> list[Segment]:
    """What stands at the right: ``●`` not saved, git's letter; of a folder a dot."""
    style = theme.active().style
    notes = []
    if row.path in marks.unsaved and row.kind == "file":
        notes.append(Segment(f" {UNSAVED}", style("warning", back)))
    if state is not None and not row.ignored:
        letter = "•" if row.kind == "folder" else state
        notes.append(Segment(f" {letter}", style(_COLOURS[state], back)))
    return [*notes, Segment(" ", style("", back))]


def _name(name: str, match: tuple[int, int], look: tuple[str, str, str]) -> list[Segment]:
    colour, back, more = look
    style = theme.active().style
    plain = style(colour, back, more)
    first, last = match
    if not last:
        return [Segment(name, plain)]
    found = style("accent", back, "bold")
    parts = ((name[:first], plain), (name[first:last], found), (name[last:], plain))
    return [Segment(text, one) for text, one in parts if text]
