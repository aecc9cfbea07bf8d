"""A pane of rows that scrolls by itself: painting and scrolling of the conversation.

No layout, no child widgets: while it follows, the last row stays in sight; once the user scrolls
up it stands still and says when something new came. Only rows that changed are painted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.strip import Strip

from tui.engine.notices import Notices
from tui.engine.session import Session
from tui.ui import theme
from tui.ui.conversation.fences import FRAME_S, colours_for
from tui.ui.conversation.layout import Layout
from tui.ui.conversation.views import Scene
from tui.ui.rows import Row, Target
from tui.ui.widgets.painted import PaintedWidget

_WHEEL_ROWS = 3
_COLOUR_S = 0.016
"""How soon code that could not be coloured in a frame is gone on with."""
_MOST_PAINTED = 512


class Light(NamedTuple):
    """Cells of a row that are painted in another style; the last one is behind them."""

    start: int
    end: int
    style: Style


class TranscriptPane(PaintedWidget):
    """Paints and scrolls; what keys and clicks on a row do is `transcript.Transcript`'s."""

    def __init__(self, session: Session, *, root: str = "", id: str | None = None) -> None:
        super().__init__(id=id)
        self.scene = Scene(root=root)
        self.rows = Layout(session, self.scene)
        self.follows = True
        """The last row stays in sight."""
        self.marked: Target | None = None
        """The rows of this target are shown as selected."""
        self.lights: Callable[[int], Sequence[Light]] | None = None
        """What is lit on a row: the words that are looked for; None: nothing anywhere."""
        self._with_bar: dict[tuple[int, bool], tuple[Strip | None, Strip]] = {}
        self._thumb = range(0)
        self._extent = (0, 0)
        """Width and height: Textual looks its own up in the layout each time."""
        self._unseen = False
        """Something came while the user was reading further up."""
        self._colouring = False
        self._late: set[int] = set()
        """Rows in sight whose colours are not all made: they are painted once more."""

    @property
    def top(self) -> int:
        """The row at the upper edge."""
        return self.rows.top

    @property
    def behind(self) -> int | None:
        """The block of which more came than one frame takes up: the rest waits for the next."""
        return self.rows.behind

    def sync(self, notices: Notices) -> None:
        """Take up what changed; called once a frame."""
        if self.scene.width < 2:
            return
        height = self._extent[1]
        first = self.rows.sync(notices, height)
        if first is not None and height:  # none: another pane has the width
            self.repaint_from(first)

    def recolour(self) -> None:
        """The theme changed."""
        self._with_bar.clear()
        self.rows.restyle()
        self.settle()
        self.refresh()

    def show_row(self, number: int) -> None:
        """Scroll as little as it takes to have this row in sight."""
        height = self.size.height
        if number < self.top:
            self.go_to(number - 1)
        elif number >= self.top + height:
            self.go_to(number - height + 2)

    def scroll_pages(self, pages: int) -> None:
        """Scroll by pages; negative is up."""
        self.go_to(self.top + pages * max(self.size.height - 2, 1))

    def action_scroll_home(self) -> None:
        """To the first row."""
        self.go_to(0)

    def action_scroll_end(self) -> None:
        """To the last row, and follow."""
        self.go_to(self.rows.total)

    # -- painting

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of a region; code gets colours for as long as a frame has time for them."""
        with colours_for(FRAME_S):
            strips = super().render_lines(crop)
        self.place_thumb()
        if self._late and not self._colouring:
            self._colouring = True
            self.set_timer(_COLOUR_S, self._colour_on)
        return strips

    def _colour_on(self) -> None:
        late, self._late, self._colouring = self._late, set(), False
        if late:
            self.refresh(*(Region(0, y, self._extent[0], 1) for y in late))

    def render_line(self, y: int) -> Strip:
        """One row of the screen: content, the selection, the scroll bar."""
        width, height = self._extent
        row = self.rows.row(self.top + y) if height else None  # not told its size yet
        palette = theme.active()
        width -= 1
        hint = self._unseen and y == height - 1
        strip = row.strip if row else None
        if row is not None and row.waits:
            self._late.add(y)
        lights = self.lights(self.top + y) if self.lights is not None else ()
        # asked last: the focus is dear to ask for, and this runs for every row of every frame
        marked = row is not None and self._is_marked(row, self.top + y) and self.has_focus
        if not (hint or marked or lights):
            return self._painted(strip, y in self._thumb)
        base = palette.style("foreground", "background")
        segments = list(strip) if strip else [Segment(" " * max(width, 0), base)]
        if marked and self.marked is not None and self.marked.kind == "message":
            bar = Segment("▌", palette.style("accent", "background"))
            segments = [bar, *Strip(segments).crop(1, width)]
        elif marked:
            back = Style(bgcolor=palette.colours["selection"])
            reads = palette.legible
            segments = [Segment(s.text, reads((s.style or base) + back)) for s in segments]
        if lights:
            segments = list(lit(Strip(segments), lights))
        if hint:
            segments = self._hint(Strip(segments, width), width)
        return Strip([*segments, _bar(y in self._thumb)], width + 1)

    def _is_marked(self, row: Row, number: int) -> bool:
        """True if the keys act on what this row is of."""
        marked = self.marked
        if marked is None:
            return False
        if marked.kind == "message":
            return self.rows.pages.view_at(number) == marked.key and bool(row.text.strip())
        return row.target == marked

    def _painted(self, strip: Strip | None, thumb: bool) -> Strip:
        """A row with its cell of the scroll bar: made once, since making strips costs."""
        key = (id(strip), thumb)
        found = self._with_bar.get(key)
        if found is None or found[0] is not strip:
            if len(self._with_bar) > _MOST_PAINTED:
                self._with_bar.clear()
            width = self._extent[0] - 1
            base = theme.active().style("foreground", "background")
            segments = list(strip) if strip else [Segment(" " * max(width, 0), base)]
            found = (strip, Strip([*segments, _bar(thumb)], width + 1))
            self._with_bar[key] = found
        return found[1]

    def _hint(self, strip: Strip, width: int) -> list[Segment]:
        palette = theme.active()
        words = " ↓ new "
        at = max(width - len(words) - 1, 0)
        chip = Segment(words, palette.style("background", "accent", "bold"))
        return [*strip.crop(0, at), chip, *strip.crop(at + len(words), width)]

    def place_thumb(self) -> None:
        """Move the scroll bar's thumb to where it belongs; all rows are in sight: there is none."""
        (width, height), total, before = self._extent, self.rows.total, self._thumb
        self._thumb = range(0)
        if total > height >= 3:
            length = max(height * height // total, 1)
            place = round(self.top * (height - length) / max(total - height, 1))
            self._thumb = range(place, place + length)
        if self._thumb != before:
            self.refresh(Region(width - 1, 0, 1, height))

    def repaint_from(self, first: int) -> None:
        """Rows from ``first`` on changed."""
        width, height = self._extent
        before = self.top
        self.settle()
        top, total = self.top, self.rows.total
        if not self.follows and (first >= top + height or total > top + height):
            if not self._unseen:
                self._unseen = True
                self.refresh(Region(0, height - 1, width, 1))
            self.refresh(Region(width - 1, 0, 1, height))
        if top != before:
            self.refresh()
            return
        y = max(first - top, 0)
        if y < height:
            self.refresh(Region(0, y, width, height - y))

    def settle(self) -> None:
        """Have the rows in sight; the last ones while it follows."""
        self.rows.settle(self._extent[1], end=self.follows)
        self.place_thumb()

    # -- scrolling

    def go_to(self, top: int) -> None:
        """Scroll to this row; at the end it follows again."""
        height = self.size.height
        self.rows.top = min(max(top, 0), max(self.rows.total - height, 0))
        self.rows.settle(height, end=False)
        self.place_thumb()
        self.follows = self.top >= self.rows.total - height
        if self.follows:
            self._unseen = False
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        """A new width wraps what is in sight anew; the place that was read stays there."""
        self._extent = event.size
        width = event.size.width - 1
        if width != self.scene.width:
            self._with_bar.clear()
            self.scene.width = max(width, 2)
            self.rows.restyle()
        self.settle()
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """It takes what it is given."""
        return container.height

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll and stop following."""
        event.stop()
        self.go_to(self.top - _WHEEL_ROWS)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll; at the end: follow again."""
        event.stop()
        self.go_to(self.top + _WHEEL_ROWS)

    def at_hint(self, y: int) -> bool:
        """True if the hint of new rows is on this row of the screen."""
        return self._unseen and y == self.size.height - 1


def _bar(thumb: bool) -> Segment:
    """One cell of the scroll bar."""
    palette = theme.active()
    return Segment("▐" if thumb else " ", palette.style("line", "background"))


def lit(strip: Strip, lights: Iterable[Light]) -> Strip:
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
    return Strip(segments, width)
