"""The diff itself: laid out a part at a time, its rows made as they come into sight.

Which change of a diff is chosen, and which rows are in sight. The chosen change is always in
sight; it is kept by its name when the diff is laid out anew.
"""

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

from tui.core.document.hunk import TAKEN_BACK, Decision, Hunk, Stage
from tui.core.document.hunk_list import waits
from tui.core.steps import Work
from tui.ui import theme
from tui.ui.conversation.hunk_card import CUT_KEYS
from tui.ui.editor.overview import mark_cells
from tui.ui.painting.ink import PaintedStrip
from tui.ui.review.changes import DiffChange, FileChanges
from tui.ui.review.document import (
    DiffLayout,
    DiffOptions,
    DiffRow,
    DiffSide,
    Key,
    key_of,
    laying_out,
)
from tui.ui.review.paint import (
    ColouredSide,
    DiffPainter,
    LineFormat,
    PaintedLine,
    SideColours,
    state_of,
)
from tui.ui.styled_text import Piece, breaks
from tui.ui.widgets.painted import PaintedWidget, scroll_cell, scroll_thumb

ABOVE = 2
"""Rows above the chosen change that are kept in sight."""


class DiffCursor:
    """Steps through the changes of a layout, and scrolls."""

    def __init__(self, height: Callable[[], int], on_moved: Callable[[], object]) -> None:
        """``height``: how many rows are in sight; ``on_moved``: others are, or another change."""
        self.laid = DiffLayout()
        """What is shown."""
        self.top = 0
        """The first row in sight."""
        self.places: dict[int, int] = {}
        """Hunk id -> which place of an ambiguous hunk is chosen; the first if it is not there."""
        self._at = -1
        """Which of the stops is chosen."""
        self._height = height
        self._on_moved = on_moved

    @property
    def height(self) -> int:
        """Rows that are in sight."""
        return max(self._height(), 1)

    @property
    def files(self) -> Sequence[FileChanges]:
        """The files that are shown."""
        return self.laid.files

    @property
    def change(self) -> DiffChange | None:
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
        return document.file_at(self.row)[0].file if document.files else None

    @property
    def row(self) -> int:
        """The first row of the chosen change; else of what is in sight."""
        return self.laid.rows[self._at] if self.change is not None else self.top

    def take(self, laid: DiffLayout) -> None:
        """Show another layout; what was chosen stays where it is on the screen."""
        name: Key | None = None
        offset = self.row - self.top
        if (change := self.change) is not None:
            name = key_of(change, self.laid.document.file_at(self.row)[0].file)
        self.laid = laid
        place = laid.place(name) if name is not None else None
        if place is not None:
            self._at = place
            self.top = laid.rows[place] - offset
        else:
            self._at = min(max(self._at, 0), len(laid.stops) - 1)
        self.settle()
        if not self.top <= self.row < self.top + self.height:
            self.top = self.row - ABOVE
            self.settle()

    def settle(self) -> None:
        """Keep what is in sight within the rows that there are."""
        self.top = min(max(self.top, 0), max(self.laid.document.height - self.height, 0))

    def step(self, count: int) -> None:
        """Choose another change, ``count`` further down."""
        if stops := self.laid.stops:
            self.choose(min(max(self._at + count, 0), len(stops) - 1))

    def step_file(self, count: int) -> None:
        """Choose the first change of another file, ``count`` further down."""
        starts = self.laid.document.starts
        if starts and self.laid.stops:
            now = bisect_right(starts, self.row) - 1
            self._choose_from(starts[min(max(now + count, 0), len(starts) - 1)])

    def next_pending(self) -> bool:
        """Choose the next hunk that waits for a decision, the first ones last; False: none does."""
        stops = self.laid.stops
        for index in chain(range(self._at + 1, len(stops)), range(self._at + 1)):
            hunk = stops[index].hunk
            if hunk is not None and waits(hunk):
                self.choose(index)
                return True
        return False

    def choose_hunk(self, hunk_id: int) -> bool:
        """Choose this hunk; False if it is not shown."""
        index = self.laid.place(("", hunk_id))
        if index is not None:
            self.choose(index)
        return index is not None

    def choose_path(self, path: str) -> None:
        """Choose the first change of a file."""
        document = self.laid.document
        for start, rows in zip(document.starts, document.files, strict=True):
            if rows.file.path == path and self.laid.stops:
                self._choose_from(start)
                return

    def choose_row(self, number: int, change: DiffChange) -> None:
        """Choose this change, which a row shows."""
        index, stops = bisect_right(self.laid.rows, number) - 1, self.laid.stops
        near = range(max(index, 0), min(index + 2, len(stops)))
        if place := [one for one in near if stops[one] is change]:
            self.choose(place[0])

    def scroll_rows(self, count: int) -> None:
        """Scroll; what is chosen is always in sight."""
        self.top += count
        self.settle()
        if self.change is not None and not self.top <= self.row < self.top + self.height:
            first = bisect_left(self.laid.rows, self.top)
            behind = bisect_left(self.laid.rows, self.top + self.height)
            last = first if count > 0 else behind - 1
            self._at = last if first < behind else max(first - 1, 0)
        self._on_moved()

    def _choose_from(self, row: int) -> None:
        """Choose the first change from a row on; there is a change."""
        rows = self.laid.rows
        self.choose(min(bisect_left(rows, row), len(rows) - 1))

    def choose(self, index: int) -> None:
        """Choose one of the layout's stops."""
        self._at = index
        rows, row, height = self.laid.rows, self.laid.rows[index], self.height
        behind = rows[index + 1] if index + 1 < len(rows) else self.laid.document.height
        last = min(behind, row + height - ABOVE)
        if row < self.top or last > self.top + height:
            near = row - self.top if row >= self.top else -1
            # as little as it takes where that shows all of it, else near the top
            fits = 0 <= near < 2 * height and last - height <= row - 1
            self.top = last - height if fits else row - ABOVE
        self.settle()
        self._on_moved()


_COLOUR_S, _SOON_S = 0.006, 0.016
"""For colours in one repaint, and how soon those that are missing are made."""
_FEWEST_DIGITS = 3
_LEAST = 300
"""Steps of laying out that are done at once, however long they take."""
_SLICE_S, _REST_S = 0.004, 0.002
"""Of more a part at a time, with rests between, so that keys are answered."""


class DiffView(PaintedWidget, can_focus=True):
    """Paints the layout of a diff, which it makes a part at a time; its cursor knows the place."""

    class Moved(Message):
        """Another change is chosen, or another file is in sight."""

    def __init__(self) -> None:
        super().__init__(id="review-diff")
        self.cursor = DiffCursor(lambda: self.size.height, self._moved)
        self.options = DiffOptions(80)
        self.words = ""
        """What is said where there is nothing to show."""
        self._left = 0
        """The first cell of the lines' text that is shown."""
        self._work: Work[DiffLayout] | None = None
        """What is to be shown next, as long as it is being laid out."""
        self._work_timer: Timer | None = None
        self._on_laid: Callable[[], None] = lambda: None
        self._colours: dict[str, SideColours] = {}
        self._painter = DiffPainter(theme.active())
        self._late: set[str] = set()
        """Files of which lines in sight have not the colours that they keep."""
        self._waits = False
        self._until = 0.0
        self._thumb = range(0)
        self._marks: list[str] = []
        """For each row of the screen the kind of hunk that stands there in the whole document."""
        self._marked: tuple[DiffLayout | None, int] = (None, 0)
        """For which layout and how many rows that was worked out."""
        self._digits = _FEWEST_DIGITS

    # -- what is shown

    @property
    def laying(self) -> bool:
        """True while what is to be shown is being laid out."""
        return self._work is not None

    def show(
        self,
        files: Work[list[FileChanges]] | Sequence[FileChanges],
        options: DiffOptions | None = None,
        on_laid: Callable[[], None] = lambda: None,
    ) -> None:
        """Show these; what was looked at stays where it is on the screen.

        Of very many changes a part is laid out at a time, and what was shown before stays until
        that is done; then ``on_laid`` is called.
        """
        if self._work_timer is not None:
            self._work_timer.stop()
        self.options = options or self.options
        self._on_laid = on_laid
        self._work = laying_out(files, self._wanted())
        self._lay_on()

    def lay_out(self, options: DiffOptions) -> None:
        """Show the same in another way; behind what is being laid out, if anything is."""
        self.options = options
        if self._work is None:
            self.show(self.cursor.files)

    def sideways(self, cells: int) -> None:
        """Scroll the lines' text sideways."""
        left = max(self._left + cells, 0)
        if left != self._left:
            self._left = left
            self.refresh()

    def _wanted(self) -> DiffOptions:
        return self.options._replace(width=max(self.size.width - 1, 20))

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
                if self._work is None and self.cursor.laid.wanted != self._wanted():
                    self.show(self.cursor.files)
                return
            left -= 1
            if left <= 0 and perf_counter() > until:
                self._work_timer = self.set_timer(_REST_S, self._lay_on)
                return

    def _take(self, laid: DiffLayout) -> None:
        """Show what is laid out from now on."""
        longest = max((len(file.lines) + file.counts.removed for file in laid.files), default=0)
        self._digits = max(len(str(longest)), _FEWEST_DIGITS)
        self._colours = {
            file.path: self._colours.get(file.path, SideColours()) for file in laid.files
        }
        self.cursor.take(laid)
        self._place_bar()
        self.refresh()

    def _moved(self) -> None:
        self._place_bar()
        self.refresh()
        self.post_message(self.Moved())

    def _place_bar(self) -> None:
        """Work out the strip at the right edge: where one is, and where the changes are."""
        height, laid = self.size.height, self.cursor.laid
        total = laid.document.height
        self._thumb = scroll_thumb(self.cursor.top, height, total)
        if self._marked[0] is not laid or self._marked[1] != height:
            self._marked = laid, height
            self._marks = mark_cells(height, total, laid.marks) if total > height else []

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
        number = self.cursor.top + y
        document = self.cursor.laid.document
        if not document.height:
            return self._message(y, width, height)
        if number < document.height:
            strip = self._row(document.row(number), inner)
        else:
            strip = self._painter.blank(inner)
        return PaintedStrip([*strip, self._bar(y)], width)

    def _bar(self, y: int) -> Segment:
        """The strip at the right edge: where one is, and where the changes are."""
        style, thumb = theme.active().style, y in self._thumb
        kind = self._marks[y] if y < len(self._marks) else ""
        if kind:
            return Segment("▐", style(f"hunk-{kind}", "line" if thumb else "background"))
        return scroll_cell(thumb)

    def _row(self, row: DiffRow, width: int) -> Strip:
        painter = self._painter
        if row.kind == "line":
            return self._line(row, width)
        if row.kind == "file":
            return painter.file(row.file, width)
        if row.kind == "hunk":
            chosen = row.change is self.cursor.change
            return painter.hunk(
                row, chosen, key_hints(row.change, self.cursor.places) if chosen else (), width
            )
        if row.kind == "note":
            return painter.note(row, width)
        return painter.fold(row, width) if row.kind == "fold" else painter.blank(width)

    def _line(self, row: DiffRow, width: int) -> Strip:
        change = row.change
        same = row.new is not None and row.new.kind == "same"
        inside = change is not None and (not same or _within(change, row.new))
        chosen = inside and change is not None and self._is_chosen(change)
        state = state_of(change.hunk) if inside and change is not None else ""
        painted = PaintedLine(
            self._coloured(row.file, row.old), self._coloured(row.file, row.new), state, chosen
        )
        options = self.options
        form = LineFormat(width, self._left, self._digits, options.split, self.app.no_color)
        return self._painter.line(painted, form)

    def _is_chosen(self, change: DiffChange) -> bool:
        now = self.cursor.change
        return now is change or (
            now is not None and now.hunk is not None and now.hunk is change.hunk
        )

    def _coloured(self, file: FileChanges, side: DiffSide | None) -> ColouredSide | None:
        if side is None:
            return None
        if side.row is None or side.kind in ("away", "lost"):
            return ColouredSide(side, ())
        colours = self._colours[file.path]
        colours.take(file)
        spans, late = colours.spans(side.row, old=side.kind == "removed", until=self._until)
        if late:
            self._late.add(file.path)
        return ColouredSide(side, spans)

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
        return PaintedStrip([Segment(f"{text:^{width}}", style)]).adjust_cell_length(width, style)

    def on_unmount(self) -> None:
        """What it showed goes at once; what screens keep in cycles goes some time later."""
        self.cursor.laid, self._work = DiffLayout(), None
        self._colours, self._marks, self._marked = {}, [], (None, 0)

    # -- size

    def on_resize(self, event: events.Resize) -> None:
        """Notes are wrapped anew."""
        self.cursor.settle()
        self._place_bar()
        self.lay_out(self.options)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """It takes what it is given."""
        return container.height

    def on_click(self, event: events.Click) -> None:
        """Choose what was clicked; a fold opens."""
        event.stop()
        number = self.cursor.top + event.y
        if number >= self.cursor.laid.document.height:
            return
        row = self.cursor.laid.document.row(number)
        if row.kind == "fold":
            opened = self.options.opened | {(row.file.path, row.gap)}
            self.lay_out(self.options._replace(opened=opened))
        elif row.change is not None:
            self.cursor.choose_row(number, row.change)

    def wheel(self, steps: int, *, sideways: bool) -> None:
        """Scroll."""
        self.cursor.scroll_rows(steps * _WHEEL_ROWS)


def _within(change: DiffChange, side: DiffSide | None) -> bool:
    """Whether an unchanged line is one of a hunk that is landing."""
    row = None if side is None else side.row
    return bool(change.marks) and row is not None and change.first <= row < change.last


def key_hints(change: DiffChange | None, places: Mapping[int, int]) -> list[Piece]:
    """What the keys do to the chosen hunk."""
    hunk = change.hunk if change is not None else None
    if hunk is None:
        return []
    style = theme.active().style
    if hunk.placeable:
        at = places.get(hunk.id, 0) % len(hunk.candidates)
        place = f"L{hunk.candidates[at] + 1} ({at + 1}/{len(hunk.candidates)})"
        keys = [("←→", place), ("Enter", "places"), ("r", "reject")]
    elif hunk.decidable and hunk.stage is Stage.CUT:
        keys = [*CUT_KEYS]
    elif hunk.decidable:
        more = [("x", "stop redoing")] if hunk.is_redoing else [("w", "why"), ("e", "edit")]
        keys = [("a", "accept"), ("r", "reject"), *more]
    elif hunk.is_out:
        undecided = hunk.stage is Stage.CONFLICT and hunk.decision is Decision.PENDING
        keys = [*([("r", "reject"), ("w", "why")] if undecided else []), ("e", "copies it")]
        keys = [("u", "brings it back"), *keys] if hunk.reason == TAKEN_BACK else keys
    else:
        return []
    pieces: list[Piece] = []
    for key, word in keys:
        pieces += [(key, style("accent", more="bold")), (f" {word}  ", style("muted"))]
    return pieces


_WHEEL_ROWS = 3
