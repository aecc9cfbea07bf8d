"""The diff with its places: stepped through, scrolled, clicked."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from time import perf_counter

from rich.segment import Segment
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer

from tui.core.edits.hunk import Decision, Hunk, Stage
from tui.core.edits.roster import waits
from tui.core.steps import Work
from tui.ui import theme
from tui.ui.editor.overview import mark_cells
from tui.ui.review.changes import Change, FileChanges
from tui.ui.review.document import Key, Layout, Look, Row, Side, key_of, laying_out
from tui.ui.review.paint import DiffPainter, Inked, PaintedLine, Sheet, SideColours, state_of
from tui.ui.rows import Piece, breaks
from tui.ui.widgets.painted import PaintedWidget

_COLOUR_S, _SOON_S = 0.006, 0.016
"""For colours in one repaint, and how soon those that are missing are made."""
_FEWEST_DIGITS = 3
ABOVE = 2
"""Rows above the chosen change that are kept in sight."""
_LEAST = 300
"""Steps of laying out that are done at once, however long they take."""
_SLICE_S, _REST_S = 0.004, 0.002
"""Of more a part at a time, with rests between, so that keys are answered."""


class DiffPane(PaintedWidget):
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
        self.laid = Layout()
        """What is shown."""
        self._work: Work[Layout] | None = None
        """What is to be shown next, as long as it is being laid out."""
        self._work_timer: Timer | None = None
        self._on_laid: Callable[[], None] = lambda: None
        self._at = -1
        self._colours: dict[str, SideColours] = {}
        self._painter = DiffPainter(theme.active())
        self._late: set[str] = set()
        """Files of which lines in sight have not the colours that they keep."""
        self._waits = False
        self._until = 0.0
        self._thumb = range(0)
        self._marks: list[str] = []
        """For each row of the screen the kind of hunk that stands there in the whole document."""
        self._marked = 0
        """For how many rows that was worked out."""
        self._digits = _FEWEST_DIGITS

    # -- what is shown

    @property
    def files(self) -> Sequence[FileChanges]:
        """The files that are shown."""
        return self.laid.files

    @property
    def laying(self) -> bool:
        """True while what is to be shown is being laid out."""
        return self._work is not None

    @property
    def change(self) -> Change | None:
        """The chosen change."""
        stops = self.laid.stops
        return stops[self._at] if 0 <= self._at < len(stops) else None

    @property
    def hunk(self) -> Hunk | None:
        """The chosen hunk."""
        change = self.change
        return change.hunk if change is not None else None

    @property
    def file(self) -> FileChanges | None:
        """The file of the chosen change; else the one in sight."""
        document = self.laid.document
        return document.file_at(self._chosen_row())[0].file if document.files else None

    def show(
        self,
        files: Work[list[FileChanges]] | Sequence[FileChanges],
        look: Look | None = None,
        on_laid: Callable[[], None] = lambda: None,
    ) -> None:
        """Show these; what was looked at stays where it is on the screen.

        Of very many changes a part is laid out at a time, and what was shown before stays until
        that is done; then ``on_laid`` is called.
        """
        if self._work_timer is not None:
            self._work_timer.stop()
        self.look = look or self.look
        self._on_laid = on_laid
        self._work = laying_out(files, self._wanted())
        self._lay_on()

    def relook(self, look: Look) -> None:
        """Show the same in another way; behind what is being laid out, if anything is."""
        self.look = look
        if self._work is None:
            self.show(self.files)

    def _wanted(self) -> Look:
        return self.look._replace(width=max(self.size.width - 1, 20))

    def _lay_on(self) -> None:
        """Lay a part out, or all that is left."""
        work, left, until = self._work, _LEAST, perf_counter() + _SLICE_S
        self._work_timer = None
        while work is not None:
            try:
                next(work)
            except StopIteration as end:
                self._work = None
                self._take(end.value)
                self._on_laid()
                if self._work is None and self.laid.wanted != self._wanted():
                    self.show(self.files)
                return
            left -= 1
            if left <= 0 and perf_counter() > until:
                self._work_timer = self.set_timer(_REST_S, self._lay_on)
                return

    def _take(self, laid: Layout) -> None:
        """Show what is laid out from now on."""
        name, offset = self._anchor()
        self.laid = laid
        longest = max((len(file.lines) + file.standing.removed for file in laid.files), default=0)
        self._digits = max(len(str(longest)), _FEWEST_DIGITS)
        self._colours = {
            file.path: self._colours.get(file.path, SideColours()) for file in laid.files
        }
        place = laid.place(name) if name is not None else None
        if place is not None:
            self._at = place
            self.top = laid.rows[self._at] - offset
        else:
            self._at = min(max(self._at, 0), len(laid.stops) - 1)
        self._marked = 0
        self._settle()
        row = self._chosen_row()
        if not self.top <= row < self.top + max(self.size.height, 1):
            self.top = row - ABOVE
            self._settle()
        self.refresh()

    def _chosen_row(self) -> int:
        """The first row of the chosen change; else of what is in sight."""
        return self.laid.rows[self._at] if self.change is not None else self.top

    def _anchor(self) -> tuple[Key | None, int]:
        """What must not move: the chosen change, and how far below the top it is."""
        if (change := self.change) is None:
            return None, 0
        row = self.laid.rows[self._at]
        file = self.laid.document.file_at(row)[0].file
        return key_of(change, file), row - self.top

    def _settle(self) -> None:
        height = self.size.height
        total = self.laid.document.height
        self.top = min(max(self.top, 0), max(total - height, 0))
        self._thumb = range(0)
        if total > height >= 3:
            length = max(height * height // total, 1)
            place = round(self.top * (height - length) / max(total - height, 1))
            self._thumb = range(place, place + length)
        if self._marked != height:
            self._marked = height
            marks = self.laid.marks
            self._marks = mark_cells(height, total, marks) if total > height else []

    # -- painting

    def recolour(self) -> None:
        """The theme changed."""
        self._painter = DiffPainter(theme.active())
        self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of a region; lines get colours for as long as a frame has time for them."""
        self._until = perf_counter() + _COLOUR_S
        strips = super().render_lines(crop)
        if self._late:
            self._colour_later()
        return strips

    def render_line(self, y: int) -> Strip:
        """One row of the screen, with its cell of the scroll bar."""
        width, height = self.size
        inner = max(width - 1, 0)
        number = self.top + y
        document = self.laid.document
        if not document.height:
            return self._message(y, width, height)
        if number < document.height:
            strip = self._row(document.row(number), inner)
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

    def _colour_later(self) -> None:
        if not self._waits:
            self._waits = True
            self.set_timer(_SOON_S, self._colour_on)

    def _colour_on(self) -> None:
        """Make colours that are missing; paint once more when a file has its own."""
        self._waits = False
        late = [self._colours[path] for path in self._late if path in self._colours]
        if any(colours.go_on(_COLOUR_S) for colours in late):
            self._late.clear()
            self.refresh()
        elif late:
            self._colour_later()

    def _message(self, y: int, width: int, height: int) -> Strip:
        """What is said instead of a diff, in the middle."""
        style = theme.active().style("muted", "background")
        rows = [self.words[a:b] for a, b in breaks(self.words, max(width - 8, 8))]
        index = y - max(height // 2 - len(rows), 0)
        text = rows[index] if 0 <= index < len(rows) else ""
        return Strip([Segment(f"{text:^{width}}", style)]).adjust_cell_length(width, style)

    def on_unmount(self) -> None:
        """What it showed goes at once; what screens keep in cycles goes some time later."""
        self.laid, self._work = Layout(), None
        self._colours, self._marks = {}, []

    # -- size

    def on_resize(self, event: events.Resize) -> None:
        """Notes are wrapped anew."""
        self._settle()
        self.relook(self.look)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """It takes what it is given."""
        return container.height


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


_WHEEL_ROWS = 3


class DiffView(DiffPane, can_focus=True):
    """Chooses one change of all that are shown; the chosen one is always in sight."""

    class Moved(Message):
        """Another change is chosen, or another file is in sight."""

    def step(self, count: int) -> None:
        """Choose the change so many further down."""
        if stops := self.laid.stops:
            self._choose(min(max(self._at + count, 0), len(stops) - 1))

    def step_file(self, count: int) -> None:
        """Choose the first change of the file so many further down."""
        starts = self.laid.document.starts
        if starts and self.laid.stops:
            now = bisect_right(starts, self._chosen_row()) - 1
            self._choose_from(starts[min(max(now + count, 0), len(starts) - 1)])

    def next_pending(self) -> bool:
        """Choose the next hunk that waits for a decision, the first ones last; False: none does."""
        stops = self.laid.stops
        for index in chain(range(self._at + 1, len(stops)), range(self._at + 1)):
            hunk = stops[index].hunk
            if hunk is not None and waits(hunk):
                self._choose(index)
                return True
        return False

    def choose_hunk(self, hunk_id: int) -> bool:
        """Choose this hunk; False if it is not shown."""
        index = self.laid.place(("", hunk_id))
        if index is not None:
            self._choose(index)
        return index is not None

    def choose_path(self, path: str) -> None:
        """Choose the first change of a file."""
        document = self.laid.document
        for start, rows in zip(document.starts, document.files, strict=True):
            if rows.file.path == path and self.laid.stops:
                self._choose_from(start)
                return

    def scroll_rows(self, count: int) -> None:
        """Scroll; what is chosen is always in sight."""
        self.top += count
        self._settle()
        height = max(self.size.height, 1)
        if self.change is not None and not self.top <= self._chosen_row() < self.top + height:
            self._choose_in_sight(height, down=count > 0)
        self.refresh()
        self.post_message(self.Moved())

    def sideways(self, cells: int) -> None:
        """Scroll the lines' text sideways."""
        left = max(self.left + cells, 0)
        if left != self.left:
            self.left = left
            self.refresh()

    def _choose_from(self, row: int) -> None:
        """Choose the first change from a row on; there is a change."""
        rows = self.laid.rows
        self._choose(min(bisect_left(rows, row), len(rows) - 1))

    def _choose(self, index: int) -> None:
        self._at = index
        rows = self.laid.rows
        row = rows[index]
        height = max(self.size.height, 1)
        behind = rows[index + 1] if index + 1 < len(rows) else self.laid.document.height
        last = min(behind, row + height - ABOVE)
        if row < self.top or last > self.top + height:
            near = row - self.top if row >= self.top else -1
            # as little as it takes where that shows all of it, else near the top
            self.top = (
                last - height
                if 0 <= near < 2 * height and last - height <= row - 1
                else row - ABOVE
            )
        self._settle()
        self.refresh()
        self.post_message(self.Moved())

    def _choose_in_sight(self, height: int, *, down: bool) -> None:
        """Choose a change that is in sight, or that the rows in sight belong to."""
        first = bisect_left(self.laid.rows, self.top)
        behind = bisect_left(self.laid.rows, self.top + height)
        if first < behind:
            self._at = first if down else behind - 1
        else:
            self._at = max(first - 1, 0)

    def on_click(self, event: events.Click) -> None:
        """Choose what was clicked; a fold opens."""
        event.stop()
        number = self.top + event.y
        if number >= self.laid.document.height:
            return
        row = self.laid.document.row(number)
        if row.kind == "fold":
            opened = self.look.opened | {(row.file.path, row.gap)}
            self.relook(self.look._replace(opened=opened))
        elif row.change is not None:
            index = bisect_right(self.laid.rows, number) - 1
            stops = self.laid.stops
            near = range(max(index, 0), min(index + 2, len(stops)))
            if place := [one for one in near if stops[one] is row.change]:
                self._choose(place[0])

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll."""
        event.stop()
        self.scroll_rows(_WHEEL_ROWS)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll."""
        event.stop()
        self.scroll_rows(-_WHEEL_ROWS)
