"""The turn at a glance, beside the editor where a terminal is wide: files, and where hunks stand.

Each file has a strip that stands for its whole length, with a mark where each hunk is; under it
the hunks by number, state and place. A click goes there. It decides nothing and takes no focus:
the keys of the card and of the review do that.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nsmallest
from itertools import islice
from time import perf_counter
from typing import NamedTuple

from textual import events
from textual.strip import Strip
from textual.timer import Timer

from tui.core.document.hunk import OPEN, Hunk, landing_lines
from tui.core.document.hunk_list import waits
from tui.engine.notices import Notices
from tui.engine.session import Session
from tui.ui import theme
from tui.ui.conversation.hunk_card import MINUS, look
from tui.ui.editor.overview import mark_cells, marks_of_hunk, shown_hunks
from tui.ui.messages import HunkSelected
from tui.ui.styled_text import Piece, clip, clip_left, make_strip, one_line, spread
from tui.ui.widgets.painted import PaintedWidget

_PAUSE_S, _SHARE = 0.1, 10
"""Seconds between two looks at the hunks; or how many times as long as one look took."""
_FILE_ROWS = 3
"""Of a file, beside its hunks."""
_SIDES = 2
"""Cells at both sides; the first one is the line between the columns."""
_NOTHING = ("What the model changes", "is listed here as it lands.")


class _Row(NamedTuple):
    """One row, painted when it is seen."""

    kind: str
    """``title``, ``file``, ``strip``, ``hunk``, ``more``, ``words``, or nothing."""
    text: str = ""
    hunks: tuple[Hunk, ...] = ()


class TurnMap(PaintedWidget):
    """The hunks of the last turn, and those that wait from before."""

    def __init__(self, session: Session) -> None:
        super().__init__(id="turn-map")
        self._session = session
        self._rows: list[_Row] = []
        self._numbers: dict[int, int] = {}
        """Hunk -> its line while it lands, as the editor has it."""
        self._chosen = 0
        self._timer: Timer | None = None
        self._again_s = 0.0

    def sync(self, notices: Notices) -> None:
        """Take up what changed, if it is in sight; of very many hunks not each frame."""
        if not self.size.width or not (notices.hunks or notices.buffers):
            return
        if self._timer is None:
            wait_s = self._again_s - perf_counter()
            if wait_s > 0:
                self._timer = self.set_timer(wait_s, self._look)
            else:
                self._look()

    def choose(self, hunk_id: int) -> None:
        """This hunk is the one that is looked at."""
        if hunk_id != self._chosen:
            self._chosen = hunk_id
            self.refresh()

    def on_resize(self) -> None:
        """It came into sight, or has room for more."""
        self._look()

    def on_click(self, event: events.Click) -> None:
        """Show that hunk in the editor."""
        event.stop()
        row = self._rows[event.y] if event.y < len(self._rows) else _Row("")
        if row.hunks and row.kind != "title":
            hunk = next((one for one in row.hunks if waits(one)), row.hunks[0])
            self.choose(hunk.id)
            self.post_message(HunkSelected(hunk.id))

    def _look(self) -> None:
        self._timer = None
        began_s = perf_counter()
        files: dict[str, list[Hunk]] = {}
        for hunk in shown_hunks(self._session.workspace):
            files.setdefault(hunk.path, []).append(hunk)
        self._rows = fitted(files, self.size.height)
        self._numbers = {
            hunk: line for hunks in files.values() for hunk, line in landing_lines(hunks).items()
        }
        self._again_s = perf_counter() + max(_PAUSE_S, _SHARE * (perf_counter() - began_s))
        self.refresh()

    # -- painting

    def render_line(self, y: int) -> Strip:
        """One row."""
        width, palette = self.size.width, theme.active()
        row = self._rows[y] if y < len(self._rows) else _Row("")
        back = "surface" if row.kind == "title" else "background"
        lit = row.kind == "hunk" and row.hunks[0].id == self._chosen
        base = palette.style("foreground", "panel" if lit else back)
        room = width - 2 * _SIDES
        pieces = self._pieces(row, room)
        edge: list[Piece] = [("▏", palette.style("line")), (" " * (_SIDES - 1), base)]
        return make_strip([*edge, *pieces], width, base)

    def _pieces(self, row: _Row, width: int) -> list[Piece]:
        style = theme.active().style
        if row.kind == "title":
            return spread([("changes", style("muted"))], _counts(row.hunks), width)
        if row.kind == "file":
            right = _counts(row.hunks)
            room = width - sum(len(text) for text, _ in right) - 1
            name = clip_left(one_line(row.text), max(room, 6))
            return spread([(name, style("foreground", more="bold"))], right, width)
        if row.kind == "strip":
            return self._strip_of(row, width)
        if row.kind == "hunk":
            hunk = row.hunks[0]
            return _hunk_pieces(hunk, width, self._numbers.get(hunk.id))
        return [(clip(row.text, width), style("faint"))]

    def _strip_of(self, row: _Row, width: int) -> list[Piece]:
        """The file from its first line to its last one."""
        style = theme.active().style
        buffer = self._session.workspace.buffers.get(row.text)
        lines = buffer.line_count if buffer is not None else 1
        marks = [mark for hunk in row.hunks for mark in marks_of_hunk(hunk)]
        kinds = mark_cells(max(width, 1), lines, marks)
        return [("━" if k else "─", style(f"hunk-{k}" if k else "line")) for k in kinds]


def fitted(files: dict[str, list[Hunk]], height: int) -> list[_Row]:
    """The rows of all files; where they do not fit, first those of what waits or comes in."""
    if not files:
        return [_Row("title"), _Row(""), *(_Row("words", words) for words in _NOTHING)]
    every = tuple(hunk for hunks in files.values() for hunk in hunks)
    whole = 1 + len(every) + _FILE_ROWS * len(files) <= height
    room = height if whole else max(height - 2, 1)
    busy = {} if whole else {path: hunks for path, hunks in files.items() if any(map(waits, hunks))}
    listed = (row for p, h in {**busy, **files}.items() for row in _file(p, h, room))
    rows = [_Row("title", hunks=every), *islice(listed, room - 1)]
    if whole:
        return rows
    hidden = len(every) - sum(row.kind == "hunk" for row in rows)
    return [*rows, _Row(""), _Row("more", f"… {hidden:,} more hunks")]


def _file(path: str, hunks: list[Hunk], most: int) -> Iterator[_Row]:
    """A blank row, the name, the strip, and at most ``most`` hunks in the order of their lines."""
    yield _Row("")
    yield _Row("file", path, tuple(hunks))
    yield _Row("strip", path, tuple(hunks))
    for hunk in nsmallest(most, hunks, key=_place):
        yield _Row("hunk", path, (hunk,))


def _place(hunk: Hunk) -> tuple[int, int]:
    if hunk.start is not None:
        return hunk.start.line, hunk.id
    return hunk.candidates[0] if hunk.candidates else 1 << 30, hunk.id


def _counts(hunks: tuple[Hunk, ...]) -> list[Piece]:
    """Lines, and how many hunks are decided."""
    if not hunks:
        return []
    style, total = theme.active().style, len(hunks)
    decided = total - sum(waits(hunk) or hunk.stage in OPEN for hunk in hunks)
    return [
        (f" +{sum(hunk.added for hunk in hunks)} ", style("hunk-added")),
        (f"{MINUS}{sum(hunk.removed for hunk in hunks)} ", style("hunk-struck")),
        (f" {decided}/{total}", style("faint" if decided < total else "success")),
    ]


def _hunk_pieces(hunk: Hunk, width: int, line: int | None) -> list[Piece]:
    """Number, state in a sign and a word, place, and how its text begins; ``line``: as it lands."""
    style, state = theme.active().style, look(hunk)
    where = f"L{line or hunk.start.line + 1}" if hunk.start is not None else ""
    pieces: list[Piece] = [
        (f"{hunk.id:>3} ", style("faint")),
        (f"{state.glyph} {state.word:<9}", style(state.colour)),
        (f"{where:<7}", style("muted")),
    ]
    room = width - sum(len(text) for text, _ in pieces)
    if room > 8:
        text = hunk.agent or hunk.base
        begin = next((line.strip() for line in text.splitlines() if line.strip()), "")
        pieces.append((clip(one_line(begin), room), style("muted")))
    return pieces
