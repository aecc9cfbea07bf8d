"""The strip right of the editor: where the view is in the file, and where hunks stand.

It is the editor's scroll bar; click or drag to go there. Of very many hunks a part is looked
through in each frame.

What is said over the rows of the text: hunks out of sight, incoming lines, the slow ghost. Chips
at the right end of a row, the strip of lines that have no place yet, and the ghost: where a model
at 50 tokens/s would be writing now, a small mark in the gutter with a few words beside it. They
lie over the text, so that nothing is laid out anew and nothing moves; never over the cursor.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import Literal, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.geometry import Region
from textual.strip import Strip

from tui.core.document.hunk import OPEN, Decision, Hunk, Stage
from tui.core.document.waiting_places import nearest
from tui.core.document.workspace import Workspace, fate_words, stage_words
from tui.core.files import counted
from tui.engine.session import Session
from tui.ui import theme
from tui.ui.editor.cells import TAB_SIZE, part_cells
from tui.ui.editor.paint import GUTTER_GHOST, Chip, EditorRow, gutter_width
from tui.ui.editor.view import View
from tui.ui.painting.ink import PaintedStrip
from tui.ui.styled_text import clip, one_line
from tui.ui.widgets.painted import PaintedWidget

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
    return f"{arrow} {counted(count, 'hunk')}"


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
    count = f"{counted(len(lines), 'line')} incoming, looking for the place"
    head = f"{words} · +{len(lines)}" if words else count
    tail = lines[-(INCOMING_ROWS - 1) :]
    return [EditorRow(text, kind="incoming") for text in (head, *tail)]


Mode = Literal["linger", "turn", "off"]
"""``linger``: after the turn it walks on until it has written all, or all is decided."""
STEP_S, CALM_STEP_S = 0.1, 1.0
"""How often it is looked at while nothing else is painted; for who is disturbed by motion."""
_COLOUR = "meter-ghost"
LEAST_GAP = 2
"""Cells between a line's end and words behind it."""
_HERE = "50 tok/s would be here"


class ShownGhost(NamedTuple):
    """What is shown of the ghost."""

    path: str
    line: int | None
    """None: it has not come to its first edit, which is in this file."""


class GutterGhost:
    """Where a model at 50 tokens/s would be writing, as one editor shows it."""

    def __init__(self, session: Session) -> None:
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
            rows[here] = _marked(rows[here], width, max(taken, text_end(rows[here], view)))

    def _shows(self, seen: ShownGhost, view: View) -> bool:
        """It is in this file, and not in the line in which the model itself writes."""
        level = self._session.status.busy and seen.line == view.written_line
        return seen.path == view.path and not level


def text_end(row: EditorRow, view: View) -> int:
    """The cell of the screen behind a row's text."""
    cells = row.cell + part_cells(row.text, row.phase % TAB_SIZE).width - view.left
    return gutter_width(view.digits) + max(cells, 0)


def _marked(row: EditorRow, width: int, taken: int) -> EditorRow:
    """The row with the mark, and with words behind what takes its cells up to ``taken``."""
    row = row._replace(ghost=True)
    chip = f" {GUTTER_GHOST} {_HERE} "
    if not row.chips and taken + LEAST_GAP + cell_len(chip) <= width:
        return row._replace(chips=((chip, _COLOUR),))
    return row


_RANK = (
    *("match", "accepted", "pending", "cut", "candidate", "struck"),
    *("slow", "landing", "blamed", "conflict"),
)
"""Later ones are shown where several share a cell; ``slow`` is where a slower model would be."""
_COLOURS = {"match": "warning", "slow": "meter-ghost"}
_SLOW = "◃"
_RANKS = {kind: rank for rank, kind in enumerate(_RANK)}


class OverviewMark(NamedTuple):
    """Lines ``first .. last`` (exclusive) deserve a coloured cell."""

    first: int
    last: int
    kind: str


class Overview(PaintedWidget):
    """A column that stands for the whole file."""

    def __init__(self, go: Callable[[int], None]) -> None:
        """``go`` is told the line that the user points at."""
        super().__init__()
        self._go = go
        self._cells: list[tuple[bool, str]] = []
        self._shown: tuple[int, int, int] = (0, 1, 1)
        self._marks: list[OverviewMark] = []
        self._kinds: list[str] = []
        """What each cell has of the marks."""
        self._held = False

    def show(
        self, top: int, shown: int, total: int, marks: Iterable[OverviewMark], *, late: bool = False
    ) -> None:
        """Lines ``top .. top + shown`` of ``total`` are in sight.

        ``late``: the marks are still those of before, and come anew before long.
        """
        self._shown = (top, shown, max(total, 1))
        self._marks = list(marks)
        self._update(late=late)

    def on_resize(self) -> None:
        """The same on more or fewer cells."""
        self._update()

    def render_line(self, y: int) -> Strip:
        """One cell: the thumb's shade, a mark's colour."""
        thumb, kind = self._cells[y] if y < len(self._cells) else (False, "")
        back = "line" if thumb else "background"
        palette = theme.active()
        if not kind:
            return PaintedStrip([Segment(" ", palette.style("", back))], 1)
        colour = _COLOURS.get(kind, f"hunk-{kind}")
        return PaintedStrip(
            [Segment(_SLOW if kind == "slow" else "▐", palette.style(colour, back))], 1
        )

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Go there."""
        event.stop()
        self._held = True
        self.capture_mouse()
        self._choose(event.y)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the view along."""
        if self._held:
            event.stop()
            self._choose(event.y)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let go."""
        if self._held:
            self._held = False
            self.release_mouse()

    def _choose(self, y: int) -> None:
        height = max(self.size.height, 1)
        total = max(self._shown[2], height)
        self._go(total * max(min(y, height - 1), 0) // height)

    def _update(self, *, late: bool = False) -> None:
        height = self.size.height
        if not late or len(self._kinds) != height:
            self._kinds = mark_cells(height, self._shown[2], self._marks)
        cells = [*zip(thumb_cells(height, self._shown), self._kinds, strict=True)]
        before, self._cells = self._cells, cells
        if len(cells) != len(before):
            self.refresh()
        elif cells != before:
            pairs = enumerate(zip(cells, before, strict=True))
            self.refresh(*(Region(0, y, 1, 1) for y, (now, was) in pairs if now != was))


def thumb_cells(height: int, view: tuple[int, int, int]) -> list[bool]:
    """For each cell whether it is the thumb; none is where the whole file is in sight."""
    top, shown, total = view
    scale = height / max(total, height, 1)
    first = min(int(top * scale), height - 1)
    last = max(first + 1, round((top + shown) * scale))
    return [shown < total and first <= y < last for y in range(height)]


def mark_cells(height: int, total: int, marks: Iterable[OverviewMark]) -> list[str]:
    """For each cell the kind of its mark (empty: none)."""
    scale = height / max(total, height, 1)
    kinds, ranks = [""] * height, [-1] * height
    for first_row, last_row, kind in marks if height else ():
        start = min(int(first_row * scale), height - 1)
        stop = max(start + 1, min(int(last_row * scale), height))
        rank = _RANKS[kind]
        for y in range(start, stop):
            if rank > ranks[y]:
                kinds[y], ranks[y] = kind, rank
    return kinds


SHOWN_CANDIDATES = 5
"""With more of them no place is marked (EDITS.md section 4)."""
_MANY = 300
"""Hunks that are looked through at once; of more of them a part each frame."""
_SLICE_S = 0.003
"""For so long."""
_SHARE = 20
"""Then the time between two looks is so many times as long as a look."""
_GRAIN = 1000
"""And the overview's marks are no finer than this part of the file."""

_TORN = "changed on disk too: saving asks"


class HunkMarks:
    """The hunks of one file, looked through when it is shown anew."""

    def __init__(self) -> None:
        self._path = ""
        self._hunks: list[OverviewMark] = []
        self._firsts: list[int] = []
        """First rows of what waits or comes in, in order."""
        self._lasts: list[int] = []
        self._due_s = 0.0
        self._took_s = 0.0
        self._scan: Iterator[None] | None = None
        """A look that goes on in the next frame."""
        self.late = False
        """Of very many hunks the last ones came after they were looked through."""

    def hints(self, workspace: Workspace, view: View, height: int) -> Hints:
        """What is said over the text, now that this is in sight."""
        self.look(workspace, view)
        shown = view.shown(height)
        above, below = self.beyond(shown.start, shown.stop - 1)
        path = view.path
        words, fate = stage_words(workspace, path), fate_words(workspace, path)
        if path in workspace.conflicts:
            fate = _TORN
        return Hints(words, above, below, workspace.ghost(path), fate)

    def look(self, workspace: Workspace, view: View) -> bool:
        """Look through the hunks; of very many at a part in each frame; True: it is done."""
        start_s = monotonic()
        if view.path != self._path:
            self._path, self._scan, self._due_s = view.path, None, 0.0
            self._hunks, self._firsts, self._lasts = [], [], []
        self.late = start_s < self._due_s
        if self.late:
            return False
        if self._scan is None:
            self._scan, self._took_s = self._through(workspace, view), 0.0
        for _ in self._scan:
            self.late = monotonic() - start_s > _SLICE_S
            if self.late:
                break
        self._took_s += monotonic() - start_s
        if not self.late:
            self._scan = None
            self._due_s = monotonic() + _SHARE * self._took_s if self._took_s > _SLICE_S else 0.0
        return not self.late

    def _through(self, workspace: Workspace, view: View) -> Iterator[None]:
        """Look through all hunks, with pauses."""
        firsts: list[int] = []
        lasts: list[int] = []
        marks: dict[OverviewMark, None] = {}
        grain = 1
        for number, hunk in enumerate(shown_hunks(workspace, view.path)):
            if _waits(hunk):
                for first, last in _rows(hunk):
                    firsts.append(first)
                    lasts.append(max(last - 1, first))
            for mark in marks_of_hunk(hunk):
                marks[coarser(mark, grain)] = None
            if number and not number % _MANY:
                if grain == 1 and (grain := max(view.buffer.line_count // _GRAIN, 1)) > 1:
                    marks = {coarser(mark, grain): None for mark in marks}
                yield
        self._firsts, self._lasts = sorted(firsts), sorted(lasts)
        self._hunks = list(marks)

    def marks(self, view: View) -> list[OverviewMark]:
        """The coloured cells of the file's overview, as it was looked through last."""
        return [
            *(OverviewMark(line, line + 1, "match") for line in view.search.sample),
            *self._hunks,
        ]

    def beyond(self, first: int, last: int) -> tuple[int, int]:
        """How many hunks that wait or come in stand wholly above ``first`` and below ``last``."""
        above = bisect_left(self._lasts, first)
        return above, len(self._firsts) - bisect_right(self._firsts, last)


def shown_hunks(workspace: Workspace, path: str | None = None) -> Iterator[Hunk]:
    """What waits or comes in in a file, and what the last turn did; the rest is its text.

    ``path``: None for all files.
    """
    latest = workspace.hunks[-1].turn if workspace.hunks else 0
    for tally in list(workspace.hunk_list.in_file(path)):
        hunks = tally.hunks
        of_latest = bool(hunks) and hunks[0].turn == latest
        if of_latest or tally.waiting:
            yield from (hunk for hunk in hunks if of_latest or hunk.need)


def _waits(hunk: Hunk) -> bool:
    """True for what comes in or is to be decided."""
    return kind_of_hunk(hunk) not in ("", "accepted")


def _rows(hunk: Hunk) -> Iterator[tuple[int, int]]:
    """The rows that one hunk has; of one that fits in several places the first of them."""
    if hunk.start is not None and hunk.end is not None:
        yield hunk.start.line, hunk.end.line
    elif hunk.candidates:
        yield hunk.candidates[0], hunk.candidates[0] + 1


def marks_of_hunk(hunk: Hunk) -> Iterator[OverviewMark]:
    """The coloured cells of one hunk in an overview of its file."""
    kind = kind_of_hunk(hunk)
    if kind == "candidate":
        many = not hunk.reason and len(hunk.candidates) > SHOWN_CANDIDATES
        for line in () if many else nearest(hunk.candidates):
            yield OverviewMark(line, line + 1, kind)
    elif kind and hunk.start is not None and hunk.end is not None:
        yield OverviewMark(hunk.start.line, hunk.end.line, kind)


def coarser(mark: OverviewMark, grain: int) -> OverviewMark:
    """A mark of whole parts of the file: a strip has no use for more."""
    if grain == 1:
        return mark
    first, last = mark.first // grain, (mark.last - 1) // grain
    return OverviewMark(first * grain, (last + 1) * grain, mark.kind)


def kind_of_hunk(hunk: Hunk) -> str:
    """The decoration that a hunk's lines have; empty if it is over."""
    if hunk.decision is Decision.ACCEPTED:
        return "accepted"
    if hunk.decision is Decision.REJECTED or hunk.stage is Stage.REFUSED:
        return ""
    if hunk.is_blamed:
        return "blamed"
    if hunk.stage is Stage.CONFLICT:
        return "conflict"
    if hunk.stage is Stage.CUT:
        return "cut"
    if hunk.candidates and hunk.start is None:
        return "candidate"
    return "landing" if hunk.stage in OPEN else "pending"
