"""The diff itself: rows that are made, and coloured, as they come into sight."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter

from rich.segment import Segment
from textual import events
from textual.geometry import Region, Size
from textual.strip import Strip

from tui.core.edits.hunk import Decision, Hunk, Stage
from tui.ui import theme
from tui.ui.editor.marks import kind_of_hunk
from tui.ui.editor.overview import Mark, mark_cells
from tui.ui.review.changes import Change, FileChanges
from tui.ui.review.colours import SideColours
from tui.ui.review.document import Document, FileRows, Look, Row, Side, file_rows
from tui.ui.review.paint import DiffPainter, Inked, Sheet, state_of
from tui.ui.review.paint import Painted as PaintedLine
from tui.ui.rows import Piece, breaks
from tui.ui.widgets.painted import Painted

_COLOUR_S, _SOON_S = 0.006, 0.016
"""For colours in one repaint, and how soon those that are missing are made."""
_FEWEST_DIGITS = 3
ABOVE = 2
"""Rows above the chosen change that are kept in sight."""
Key = tuple[str, int]
"""Names a change for longer than one layout: its file and its hunk, or its place in the file."""


class DiffPane(Painted):
    """Paints a `Document`; which change is chosen is kept by its name."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.look = Look(80)
        self.top = 0
        self.left = 0
        self.words = ""
        """What is said where there is nothing to show."""
        self.places: dict[int, int] = {}
        """Hunk id -> which place of an ambiguous hunk is chosen; the first if it is not there."""
        self._files: list[FileChanges] = []
        self._document = Document([])
        self._stops: list[tuple[int, Change]] = []
        self._rows: list[int] = []
        """The rows of the stops."""
        self._keys: dict[Key, int] = {}
        """Name of a change -> its place among the stops."""
        self._at = -1
        self._colours: dict[str, SideColours] = {}
        self._painter = DiffPainter(theme.active())
        self._late: set[str] = set()
        """Files of which lines in sight have no colours yet."""
        self._waits = False
        self._until = 0.0
        self._thumb = range(0)
        self._marks: list[str] = []
        """For each row of the screen the kind of hunk that stands there in the whole document."""
        self._digits = _FEWEST_DIGITS

    # -- what is shown

    @property
    def files(self) -> Sequence[FileChanges]:
        """The files that are shown."""
        return self._files

    @property
    def change(self) -> Change | None:
        """The chosen change."""
        return self._stops[self._at][1] if 0 <= self._at < len(self._stops) else None

    @property
    def hunk(self) -> Hunk | None:
        """The chosen hunk."""
        change = self.change
        return change.hunk if change is not None else None

    @property
    def file(self) -> FileChanges | None:
        """The file of the chosen change; else the one in sight."""
        if not self._document.files:
            return None
        row = self._stops[self._at][0] if self.change is not None else self.top
        return self._document.file_at(row)[0].file

    def show(self, files: Sequence[FileChanges], look: Look | None = None) -> None:
        """Show these; what was looked at stays where it is on the screen."""
        name, offset = self._anchor()
        self.look = look or self.look
        width, alone = max(self.size.width - 1, 20), len(files) == 1
        self._files = list(files)
        self._lay_out(
            [file_rows(file, self.look._replace(width=width, alone=alone)) for file in files]
        )
        if name is not None and name in self._keys:
            self._at = self._keys[name]
            self.top = self._stops[self._at][0] - offset
        else:
            self._at = min(max(self._at, 0), len(self._stops) - 1)
        self._settle()
        row = self._stops[self._at][0] if self.change is not None else self.top
        if not self.top <= row < self.top + max(self.size.height, 1):
            self.top = row - ABOVE
            self._settle()
        self.refresh()

    def _lay_out(self, rows: list[FileRows]) -> None:
        self._document = Document(rows)
        self._stops = self._document.stops()
        self._rows = [row for row, _ in self._stops]
        self._keys = {}
        for index, (row, change) in enumerate(self._stops):
            self._keys.setdefault(self._key(row, change), index)
        longest = max((len(file.lines) + file.removed for file in self._files), default=0)
        self._digits = max(len(str(longest)), _FEWEST_DIGITS)
        self._colours = {
            file.path: self._colours.get(file.path, SideColours()) for file in self._files
        }

    def _key(self, row: int, change: Change) -> Key:
        if change.hunk is not None:
            return "", change.hunk.id
        return self._document.file_at(row)[0].file.path, change.first

    def _anchor(self) -> tuple[Key | None, int]:
        """What must not move: the chosen change, and how far below the top it is."""
        if self.change is None:
            return None, 0
        row, change = self._stops[self._at]
        return self._key(row, change), row - self.top

    def _settle(self) -> None:
        height = self.size.height
        total = self._document.height
        self.top = min(max(self.top, 0), max(total - height, 0))
        self._thumb = range(0)
        if total > height >= 3:
            length = max(height * height // total, 1)
            place = round(self.top * (height - length) / max(total - height, 1))
            self._thumb = range(place, place + length)
        self._marks = mark_cells(height, total, self._minimap()) if total > height else []

    def _minimap(self) -> Iterator[Mark]:
        """Where the changes stand among all rows, each as long as what it shows."""
        ends = [*self._rows[1:], self._document.height]
        for (row, change), end in zip(self._stops, ends, strict=True):
            rows = max(len(change.old), change.last - change.first) + 1
            yield Mark(row, min(row + rows, end), kind_of(change))

    # -- painting

    def recolour(self) -> None:
        """The theme changed."""
        self._painter = DiffPainter(theme.active())
        self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of a region; lines get colours for as long as a frame has time for them."""
        self._until = perf_counter() + _COLOUR_S
        strips = super().render_lines(crop)
        if self._late and not self._waits:
            self._waits = True
            self.set_timer(_SOON_S, self._colour_on)
        return strips

    def render_line(self, y: int) -> Strip:
        """One row of the screen, with its cell of the scroll bar."""
        width, height = self.size
        inner = max(width - 1, 0)
        number = self.top + y
        if not self._document.height:
            return self._message(y, width, height)
        if number < self._document.height:
            strip = self._row(self._document.row(number), inner)
        else:
            strip = self._painter.blank(inner)
        return Strip([*strip, self._bar(y)], width)

    def _bar(self, y: int) -> Segment:
        """The strip at the right edge: where one is, and where the changes are."""
        style, thumb = theme.active().style, y in self._thumb
        kind = self._marks[y] if y < len(self._marks) else ""
        if kind:
            return Segment("▐", style(f"hunk-{kind}", "line" if thumb else "background"))
        return Segment("▐" if thumb else " ", style("line", "background"))

    def _row(self, row: Row, width: int) -> Strip:
        painter = self._painter
        if row.kind == "line":
            return self._line(row, width)
        if row.kind == "file":
            return painter.file(row.file, width)
        if row.kind == "hunk":
            chosen = row.change is self.change
            return painter.hunk(
                row, chosen, key_hints(row.change, self.places) if chosen else (), width
            )
        if row.kind == "note":
            return painter.note(row, width)
        return painter.fold(row, width) if row.kind == "fold" else painter.blank(width)

    def _line(self, row: Row, width: int) -> Strip:
        change = row.change
        same = row.new is not None and row.new.kind == "same"
        inside = change is not None and (not same or _within(change, row.new))
        chosen = inside and change is not None and self._is_chosen(change)
        state = state_of(change.hunk) if inside and change is not None else ""
        painted = PaintedLine(
            self._inked(row.file, row.old), self._inked(row.file, row.new), state, chosen
        )
        look = self.look
        sheet = Sheet(width, self.left, self._digits, look.split, self.app.no_color)
        return self._painter.line(painted, sheet)

    def _is_chosen(self, change: Change) -> bool:
        now = self.change
        return now is change or (
            now is not None and now.hunk is not None and now.hunk is change.hunk
        )

    def _inked(self, file: FileChanges, side: Side | None) -> Inked | None:
        if side is None:
            return None
        if side.row is None or side.kind in ("away", "lost"):
            return Inked(side, ())
        colours = self._colours[file.path]
        colours.take(file)
        spans, late = colours.spans(side.row, old=side.kind == "removed", until=self._until)
        if late:
            self._late.add(file.path)
        return Inked(side, spans)

    def _colour_on(self) -> None:
        """Make colours that are missing, then paint once more."""
        late, self._late, self._waits = self._late, set(), False
        for path in late:
            if path in self._colours:
                self._colours[path].idle(_COLOUR_S)
        if late:
            self.refresh()

    def _message(self, y: int, width: int, height: int) -> Strip:
        """What is said instead of a diff, in the middle."""
        style = theme.active().style("muted", "background")
        rows = [self.words[a:b] for a, b in breaks(self.words, max(width - 8, 8))]
        index = y - max(height // 2 - len(rows), 0)
        text = rows[index] if 0 <= index < len(rows) else ""
        return Strip([Segment(f"{text:^{width}}", style)]).adjust_cell_length(width, style)

    # -- size

    def on_resize(self, event: events.Resize) -> None:
        """Notes are wrapped anew."""
        self.show(self._files)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """It takes what it is given."""
        return container.height


def kind_of(change: Change) -> str:
    """How a change is coloured in the strip: as its hunk stands, else by what it does."""
    if change.hunk is not None:
        return kind_of_hunk(change.hunk) or "struck"
    return "struck" if change.last <= change.first else "accepted"


def _within(change: Change, side: Side | None) -> bool:
    """Whether an unchanged line is one of a hunk that is landing."""
    row = None if side is None else side.row
    return bool(change.marks) and row is not None and change.first <= row < change.last


def key_hints(change: Change | None, places: Mapping[int, int]) -> list[Piece]:
    """What the keys do to the chosen hunk."""
    hunk = change.hunk if change is not None else None
    if hunk is None:
        return []
    style = theme.active().style
    if hunk.placeable:
        at = places.get(hunk.id, 0) % len(hunk.candidates)
        place = f"L{hunk.candidates[at] + 1} ({at + 1}/{len(hunk.candidates)})"
        keys = [("←→", place), ("Enter", "places"), ("r", "reject")]
    elif hunk.decidable:
        keys = [("a", "accept"), ("r", "reject"), ("w", "why"), ("e", "edit")]
    elif hunk.is_out:
        undecided = hunk.stage is Stage.CONFLICT and hunk.decision is Decision.PENDING
        keys = [*([("r", "reject"), ("w", "why")] if undecided else []), ("e", "copies it")]
    else:
        return []
    pieces: list[Piece] = []
    for key, word in keys:
        pieces += [(key, style("accent", more="bold")), (f" {word}  ", style("muted"))]
    return pieces
