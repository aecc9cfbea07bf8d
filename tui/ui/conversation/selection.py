"""What the keys act on in the conversation, and what of it is copied.

A stop is a row on which something can be done: a hunk, a place, a fold, a message; at most one is
selected. A hunk that is selected says on its card what the keys do. What is copied is the source,
not the rows of the screen.

The part of the conversation that is in sight: scrolled, followed, and painted row by row. While
it follows, the last row stays in sight; once the user scrolls up it stands still and says when
something new came. Only rows that changed are painted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.timer import Timer

from tui.core.conversation import BlockKind
from tui.core.document.hunk import Decision, Hunk, Stage
from tui.core.document.hunk_list import HunkList
from tui.core.files import counted
from tui.core.text.patterns import pattern
from tui.engine.intents import Intent, StopTask, ToBackground
from tui.ui import theme
from tui.ui.conversation.hunk_card import PatchView
from tui.ui.conversation.layout import Stop, TranscriptLayout
from tui.ui.conversation.markdown_stream import closes, dedented
from tui.ui.conversation.views import BlockView, Focus
from tui.ui.keymap import actions
from tui.ui.painting.ink import PaintedStrip
from tui.ui.styled_text import RowTarget, StyledRow
from tui.ui.widgets.painted import scroll_cell, scroll_thumb

_MOST_PAINTED = 512
_HINT = " ↓ new "


class Highlight(NamedTuple):
    """Cells of a row that are painted in another style; the last one is behind them."""

    start: int
    end: int
    style: Style


class Viewport:
    """Which rows are in sight, and what each row of the screen looks like."""

    def __init__(
        self,
        rows: TranscriptLayout,
        repaint: Callable[..., object],
        live_height: Callable[[], int],
    ) -> None:
        """``repaint`` paints these regions of the pane anew; without any, all of it.

        ``live_height``: the rows that the pane has now, before it was told; none while hidden.
        """
        self.follows = True
        """The last row stays in sight."""
        self.width = self.height = 0
        """Of the pane, in cells; the scroll bar's one is at the right."""
        self.repaint = repaint
        self.live_height = live_height
        self._rows = rows
        self._with_bar: dict[tuple[int, bool], tuple[Strip | None, Strip]] = {}
        self._thumb = range(0)
        self._unseen = False
        """Something came while the user was reading further up."""

    @property
    def top(self) -> int:
        """The row at the upper edge."""
        return self._rows.pages.top

    def shows(self, row: int) -> bool:
        """True if this row is in sight."""
        return self.top <= row < self.top + self.live_height()

    def resize(self, width: int, height: int) -> None:
        """A new width wraps what is in sight anew; the place that was read stays there."""
        self.width, self.height = width, height
        if width - 1 != self._rows.context.width:
            self._rows.context.width = max(width - 1, 2)
            self.restyle()
        else:
            self.settle()
            self.repaint()
        if self._rows.total <= self.top + height:  # there is room for the end now
            self.follows, self._unseen = True, False

    def restyle(self) -> None:
        """The width or the colours changed: rows are made anew as they come into sight."""
        self._with_bar.clear()
        self._rows.context.version += 1
        self.settle()
        self.repaint()

    # -- scrolling

    def go_to(self, top: int) -> None:
        """Scroll to this row; at the end it follows again."""
        height = self.live_height()
        self._rows.pages.top = min(max(top, 0), max(self._rows.total - height, 0))
        self._rows.settle(height, end=False)
        self.place_thumb()
        self.follows = self.top >= self._rows.total - height
        if self.follows:
            self._unseen = False
        self.repaint()

    def show_row(self, number: int) -> None:
        """Scroll as little as it takes to have this row in sight."""
        height = self.live_height()
        if number < self.top:
            self.go_to(number - 1)
        elif number >= self.top + height:
            self.go_to(number - height + 2)

    def settle(self) -> None:
        """Have the rows in sight; the last ones while it follows."""
        self._rows.settle(self.height, end=self.follows)
        self.place_thumb()

    def changed_from(self, first: int) -> None:
        """Rows from ``first`` on changed: paint those in sight, or say that there are new ones."""
        before, width, height = self.top, self.width, self.height
        self.settle()
        top, total = self.top, self._rows.total
        if not self.follows and (first >= top + height or total > top + height):
            if not self._unseen:
                self._unseen = True
                self.repaint(Region(0, height - 1, width, 1))
            self.repaint(Region(width - 1, 0, 1, height))
        y = max(first - top, 0)
        if top != before:
            self.repaint()
        elif y < height:
            self.repaint(Region(0, y, width, height - y))

    def place_thumb(self) -> None:
        """Move the scroll bar's thumb to where it belongs; there is none if all is in sight."""
        total, before = self._rows.total, self._thumb
        self._thumb = scroll_thumb(self.top, self.height, total)
        if self._thumb != before:
            self.repaint(Region(self.width - 1, 0, 1, self.height))

    # -- painting

    def at_hint(self, y: int) -> bool:
        """True if the hint of new rows is on this row of the screen."""
        return self._unseen and y == self.height - 1

    def painted(
        self, y: int, row: StyledRow | None, mark: str, lights: Sequence[Highlight]
    ) -> Strip:
        """One row of the screen: content, the selection, the scroll bar.

        ``mark``: how it is shown as selected, as a ``message`` or as what has the keys; or not.
        """
        strip, hint = row.strip if row else None, self.at_hint(y)
        if not (hint or mark or lights):
            return self._plain(strip, y in self._thumb)
        palette, width = theme.active(), self.width - 1
        segments = self._segments(strip)
        if mark == "message":
            bar = Segment("▌", palette.style("accent", "background"))
            segments = [bar, *PaintedStrip(segments).crop(1, width)]
        elif mark:
            base = palette.style("foreground", "background")
            back = Style(bgcolor=palette.colours["selection"])
            reads = palette.legible
            segments = [Segment(s.text, reads((s.style or base) + back)) for s in segments]
        if lights:
            segments = list(highlighted(PaintedStrip(segments), lights))
        if hint:
            strip, at = PaintedStrip(segments, width), max(width - len(_HINT) - 1, 0)
            chip = Segment(_HINT, palette.style("background", "accent", "bold"))
            segments = [*strip.crop(0, at), chip, *strip.crop(at + len(_HINT), width)]
        return PaintedStrip([*segments, scroll_cell(y in self._thumb)], width + 1)

    def _plain(self, strip: Strip | None, thumb: bool) -> Strip:
        """A row with its cell of the scroll bar: made once, since making strips costs."""
        key = (id(strip), thumb)
        found = self._with_bar.get(key)
        if found is None or found[0] is not strip:
            if len(self._with_bar) > _MOST_PAINTED:
                self._with_bar.clear()
            found = (strip, PaintedStrip([*self._segments(strip), scroll_cell(thumb)], self.width))
            self._with_bar[key] = found
        return found[1]

    def _segments(self, strip: Strip | None) -> list[Segment]:
        if strip:
            return list(strip)
        base = theme.active().style("foreground", "background")
        return [Segment(" " * max(self.width - 1, 0), base)]


def highlighted(strip: Strip, lights: Iterable[Highlight]) -> Strip:
    """The strip with these cells in another style; they do not overlap and are in order."""
    segments: list[Segment] = []
    at, width = 0, strip.cell_length
    for start, end, style in lights:
        start, end = max(start, at), min(end, width)
        if start >= end:
            continue
        segments += strip.crop(at, start)
        segments += [
            Segment(one.text, (one.style or Style.null()) + style) for one in strip.crop(start, end)
        ]
        at = end
    segments += strip.crop(at, width)
    return PaintedStrip(segments, width)


_SAID = frozenset({BlockKind.USER, BlockKind.TEXT})


class Selection:
    """One stop of the conversation, and the ways to the next one."""

    def __init__(
        self,
        hunks: HunkList,
        rows: TranscriptLayout,
        viewport: Viewport,
        on_hunk: Callable[[Hunk, int | None], object],
    ) -> None:
        """``on_hunk``: a hunk was selected; of an ambiguous one with the line of its candidate."""
        self.target: RowTarget | None = None
        """The rows of this target are shown as selected."""
        self._hunks = hunks
        self._rows = rows
        self._viewport = viewport
        self._on_hunk = on_hunk
        self._candidate = 0
        """Which place of an ambiguous hunk is chosen."""
        self._opened = False
        """The selected hunk's text is shown in its card."""
        self._has_keys = False

    @property
    def hunk(self) -> Hunk | None:
        """The hunk that the review keys act on."""
        if self.target is None or self.target.kind != "hunk":
            return None
        return self._hunks.by_id(self.target.key) if self.target.key in self._hunks else None

    @property
    def command(self) -> BlockView | None:
        """The command of the model that the keys act on."""
        view = self.view if self.target is not None else None
        return view if view is not None and view.runs else None

    @property
    def view(self) -> BlockView | None:
        """The block in which the selection is; without one the newest that was said."""
        views = self._rows.views
        if self.target is not None and views:
            index = self._rows.pages.view_at(self._rows.pages.chosen)
            if index >= 0:
                return views[index]
        return next((view for view in reversed(views) if view.block.kind in _SAID), None)

    def mark_of(self, row: StyledRow, number: int) -> str:
        """How a row is shown as selected: see `Viewport.painted`."""
        target = self.target
        if target is None:
            return ""
        if target.kind == "message":
            inside = self._rows.pages.view_at(number) == target.key
            return "message" if inside and row.text.strip() else ""
        return "keys" if row.target == target else ""

    def focus(self, has_keys: bool) -> None:
        """The keyboard came, or went: a card promises keys only while it is here.

        The keys need something to act on: the next pending hunk, else the last stop in sight.
        """
        self._has_keys = has_keys
        if self.target is not None:
            self._refocus(self._rows.context.focus.hunk_id)
        elif has_keys and not self.select_pending():
            stop = next(self._rows.stops(self._rows.total, back=True), None)
            if stop is not None and stop.row >= self._viewport.top:
                self.select(stop)

    def select(self, stop: Stop | None) -> None:
        """Have the keys act on this one; nothing changes if there is none."""
        if stop is None:
            return
        if stop.target != self.target:
            self._candidate, self._opened = 0, False
        self.target, self._rows.pages.chosen = stop.target, stop.row
        self._refocus(stop.target.key if stop.target.kind == "hunk" else 0, stop.view)
        # the text of a hunk above is shown no more
        above = self._rows.stops(stop.row + 1, back=True)
        near = takewhile(lambda one: one.view >= stop.view, above)
        there = (one.row for one in near if one.target == stop.target)
        self._rows.pages.chosen = next(there, stop.row)
        self._viewport.show_row(self._rows.pages.chosen)
        if (hunk := self.hunk) is not None:
            self._on_hunk(hunk, self.candidate_line(hunk))

    def select_call(self, call_id: str) -> bool:
        """Select the card of a call; False if there is none."""
        views = self._rows.views
        found = (view for view in reversed(views) if view.block.call_id == call_id)
        if not call_id or (view := next(found, None)) is None:
            return False
        start = self._rows.pages.start(view.first)
        self.select(next(self._rows.stops(start), None))
        return True

    def select_at(self, row: int) -> bool:
        """Select what is on a row, as a click does; True if there is something to act on."""
        found = self._rows.row(row)
        if found is not None and found.target is not None:
            self.select(next(self._rows.stops(row + 1, back=True), None))
            return True
        index = self._rows.pages.view_at(row) if found is not None else -1
        if index >= 0 and _is_said(self._rows.views[index]):
            self.select(Stop(row, index, RowTarget("message", index)))
        return False

    def step(self, *, back: bool) -> None:
        """Select the stop above or below, from what is selected while it is in sight.

        Where there is none on the screen it scrolls by a row.
        """
        top, bottom = self._viewport.top, self._viewport.top + self._viewport.live_height()
        if self.target is not None and self._viewport.shows(self._rows.pages.chosen):
            start, seen = self._rows.pages.chosen + (not back), None
        else:
            start, seen = (bottom, top) if back else (top, bottom)
        stop = next(self._rows.stops(start, back=back), None)
        far = stop is not None and seen is not None and (stop.row < seen) == back
        if stop is None or far:
            self._viewport.go_to(top + (-1 if back else 1))
        else:
            self.select(stop)

    # -- hunks

    def select_pending(self) -> bool:
        """Select the next hunk that waits for a decision; False if there is none."""
        here = self._rows.pages.chosen if self.target is not None else -1
        stop = next(
            (stop for place in (here, -1) for stop in self._waiting(place, blamed=True)), None
        )
        stop = stop or next(self._waiting(here), None) or next(self._waiting(-1), None)
        self.select(stop)
        return stop is not None

    def step_hunk(self, *, back: bool = False, waiting: bool = False) -> None:
        """Select the hunk above or below; ``waiting``: the next one that waits for a decision."""
        here = self._rows.pages.chosen
        stops = self._rows.stops(here if back else here + 1, back=back)
        if waiting:
            stops = self._waiting(here)
        self.select(next((stop for stop in stops if stop.target.kind == "hunk"), None))

    def return_to(self, path: str, line: int) -> bool:
        """Select the hunk that wrote a line (0-based), else stay at what was selected last.

        False if no card wrote it.
        """
        hunk = newest_at(self._hunks.hunks, path, line)
        calls = () if hunk is None else (hunk.call_id,)
        stop = next(self._rows.stops_of_hunks(lambda one: one is hunk, calls), None)
        self.select(stop)
        if stop is None and self.target is not None:
            self._viewport.show_row(self._rows.pages.chosen)
        return stop is not None

    def candidate_line(self, hunk: Hunk) -> int | None:
        """The place that is chosen for an ambiguous hunk; None: it is not ambiguous."""
        places = hunk.candidates if hunk.placeable else ()
        return places[self._candidate % len(places)] if places else None

    def choose_candidate(self, step: int = 1) -> None:
        """Choose another place for an ambiguous hunk."""
        hunk = self.hunk
        if hunk is not None and hunk.placeable:
            self._candidate = (self._candidate + step) % len(hunk.candidates)
            self._refocus(hunk.id)
            self._on_hunk(hunk, self.candidate_line(hunk))

    def peek(self, hunk: Hunk) -> None:
        """Show or hide what a hunk takes away and puts there."""
        self._opened = not self._opened
        self._refocus(hunk.id)

    def _waiting(self, here: int, *, blamed: bool = False) -> Iterator[Stop]:
        """The rows of hunks that wait for the user, below a row; ``blamed``: that break tests."""
        calls, wanted = self._hunks.calls_waiting(), _is_waiting
        if blamed:
            wanted = _is_waiting_and_blamed
            calls = {one.call_id for one in self._hunks.hunks if one.flags and wanted(one)}
        stops = self._rows.stops_of_hunks(wanted, calls, here + 1)
        return (stop for stop in stops if stop.row > here)

    def _refocus(self, hunk_id: int, block: int | None = None) -> None:
        """The card of this hunk, or of this command, says what the keys do."""
        context = self._rows.context
        block = context.focus.block if block is None else block
        context.focus = Focus(hunk_id, self._candidate, self._opened, self._has_keys, block)
        self._rows.refocus()
        self._viewport.settle()  # the card has a row more or less
        self._viewport.repaint()

    # -- messages

    def step_message(self, step: int) -> None:
        """Select the message above (-1) or below (1)."""
        rows = self._rows
        if not rows.views:
            return
        in_sight = self.target is not None and self._viewport.shows(rows.pages.chosen)
        last = self._viewport.follows and self.target is None
        row = rows.pages.chosen if in_sight else rows.total - 1 if last else self._viewport.top
        index = max(rows.pages.view_at(row), 0)
        if step < 0 and _is_said(rows.views[index]) and self.target != RowTarget("message", index):
            self._select_message(index)  # first to the beginning of the one that is read
            return
        index += step
        while 0 <= index < len(rows.views) and not _is_said(rows.views[index]):
            index += step
        if 0 <= index < len(rows.views):
            self._select_message(index)
        elif step > 0:
            self._viewport.go_to(rows.total)

    def _select_message(self, index: int) -> None:
        row = self._rows.pages.first_said(self._rows.views[index].first)
        self.select(Stop(row, index, RowTarget("message", index)))
        if not self._viewport.top <= row < self._viewport.top + self._viewport.live_height() - 2:
            self._viewport.go_to(row - 1)


_TICK_S = 1.0
"""How often it is said how long a command runs."""
_COMMAND_KEYS = actions("command")


class CommandKeys:
    """Knows which command they are about."""

    def __init__(self, rows: TranscriptLayout, viewport: Viewport, selection: Selection) -> None:
        self._rows, self._viewport, self._selection = rows, viewport, selection
        self._clock: Timer | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """What can be done about the selected command."""
        return _names(self._selection.command)

    def has(self, key: str) -> bool:
        """True if a key does something about it."""
        return any(_COMMAND_KEYS.get(key) == f"task({name!r})" for name in self.names)

    def asked(self, what: str, row: int | None) -> Intent | None:
        """What is asked for the command of a row, which is selected, or the selected one."""
        if row is not None:
            self._selection.select_at(self._rows.head_of(row))
        command = self._selection.command
        if command is None and what == "background":
            return ToBackground()  # that which is waited for
        task = command.task if command is not None else None
        if task is None or what not in _names(command):
            return None
        return StopTask(task.number) if what == "stop" else ToBackground(task.number)

    def count(self, every: Callable[[float, Callable[[], None]], Timer]) -> None:
        """Count on, as long as a command runs."""
        if self._clock is None:
            self._clock = every(_TICK_S, self._tick)

    def _tick(self) -> None:
        if not self._rows.ticks and self._clock is not None:
            self._clock.stop()
            self._clock = None
        if self._viewport.height and (first := self._rows.tick()) is not None:
            self._viewport.changed_from(first)


def _names(view: BlockView | None) -> tuple[str, ...]:
    return () if view is None else tuple(action for action, _ in view.actions)


def newest_at(hunks: Sequence[Hunk], path: str, line: int) -> Hunk | None:
    """The hunk that wrote this line last, or took lines out of it; None: none did."""
    for hunk in reversed(hunks):
        if hunk.path != path or hunk.start is None or hunk.decision is Decision.REJECTED:
            continue
        end = hunk.end.line if hunk.end is not None else hunk.start.line
        if hunk.start.line <= line < max(end, hunk.start.line + 1):
            return hunk
    return None


def _is_said(view: BlockView) -> bool:
    return view.block.kind in _SAID and view.block.state != "failed"


def _is_waiting_and_blamed(hunk: Hunk) -> bool:
    return hunk.is_blamed and _is_waiting(hunk)


def _is_waiting(hunk: Hunk) -> bool:
    undecided = hunk.decision is Decision.PENDING
    open_question = hunk.stage in (Stage.CANDIDATES, Stage.CONFLICT)
    return hunk.decidable or (undecided and open_question)


_OPENING = pattern(r"(?P<lead>.*?)(?:(?P<marker>`{3,})[^`\n]*|(?P<tildes>~{3,}).*)$")
_QUOTES = pattern(r" {0,3}> ?")


class Copied(NamedTuple):
    """A text for the clipboard, and what it is in words."""

    text: str
    what: str

    @property
    def size(self) -> str:
        """How much it is, in words."""
        lines = self.text.rstrip("\n").count("\n") + 1
        if lines > 1:
            return f"{lines:,} lines"
        count = len(self.text.rstrip("\n"))
        return counted(count, "character")


def selected_text(target: RowTarget | None, view: BlockView) -> Copied:
    """What the keys copy of a block: the part that is selected, else all of it."""
    if target is not None and target.kind == "code":
        return Copied(fenced_code(view.block.text, target.line), "code")
    hunks = view.context.hunks(view.block.call_id) if isinstance(view, PatchView) else ()
    if target is not None and target.kind == "hunk":
        for hunk in hunks:
            if hunk.id == target.key:
                return Copied(hunk.agent or hunk.base, f"hunk {hunk.id}")
    return whole_text(view)


def whole_text(view: BlockView) -> Copied:
    """All of a block."""
    block = view.block
    if isinstance(view, PatchView):
        hunks = view.context.hunks(block.call_id)
        return Copied("".join(map(_difference, hunks)), "patch")
    if block.kind is BlockKind.RUN:
        return Copied(f"$ {block.title}\n{block.text}", "command and its output")
    if block.kind is BlockKind.TOOL:
        return Copied("\n".join(filter(None, (block.title, block.text))), "tool call")
    words = {
        BlockKind.USER: "prompt",
        BlockKind.REASONING: "reasoning",
        BlockKind.NOTE: "note",
    }.get(block.kind, "message")
    return Copied("\n".join(filter(None, (block.title, block.text))), words)


def fenced_code(source: str, start: int) -> str:
    """The code of the fence that begins on the line at ``start``, without what leads its lines.

    The bar of a quote and the indent of a list are none of the code.
    """
    first, _, rest = source[start:].partition("\n")
    opening = _OPENING.match(first.rstrip("\r"))
    if opening is None:
        return ""
    lead, marker = opening["lead"], opening["marker"] or opening["tildes"]
    quotes = lead.count(">")
    indent = len(_unquoted(lead, quotes).expandtabs(4))
    lines: list[str] = []
    for line in rest.replace("\r\n", "\n").removesuffix("\n").split("\n"):
        bare = dedented(_unquoted(line, quotes), indent)
        if closes(bare, marker):
            break
        lines.append(bare)
    return "".join(f"{line}\n" for line in lines)


def _unquoted(line: str, depth: int) -> str:
    """The line without the signs of the quotes that it is in."""
    for _ in range(depth):
        found = _QUOTES.match(line)
        if found is None:
            break
        line = line[found.end() :]
    return line


def _difference(hunk: Hunk) -> str:
    """A hunk as a difference, for reading."""
    line = "" if hunk.start is None else f" line {hunk.start.line + 1}"
    removed = "".join(f"-{text}\n" for text in hunk.base.splitlines())
    added = "".join(f"+{text}\n" for text in hunk.agent.splitlines())
    return f"@@ {hunk.path}{line} @@\n{removed}{added}"
