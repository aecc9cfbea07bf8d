"""The part of the conversation that is in sight: scrolled, followed, and painted row by row.

While it follows, the last row stays in sight; once the user scrolls up it stands still and says
when something new came. Only rows that changed are painted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip

from tui.ui import theme
from tui.ui.conversation.layout import TranscriptLayout
from tui.ui.styled_text import StyledRow
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
        return self._rows.top

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
        self._rows.top = min(max(top, 0), max(self._rows.total - height, 0))
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
            segments = [bar, *Strip(segments).crop(1, width)]
        elif mark:
            base = palette.style("foreground", "background")
            back = Style(bgcolor=palette.colours["selection"])
            reads = palette.legible
            segments = [Segment(s.text, reads((s.style or base) + back)) for s in segments]
        if lights:
            segments = list(highlighted(Strip(segments), lights))
        if hint:
            strip, at = Strip(segments, width), max(width - len(_HINT) - 1, 0)
            chip = Segment(_HINT, palette.style("background", "accent", "bold"))
            segments = [*strip.crop(0, at), chip, *strip.crop(at + len(_HINT), width)]
        return Strip([*segments, scroll_cell(y in self._thumb)], width + 1)

    def _plain(self, strip: Strip | None, thumb: bool) -> Strip:
        """A row with its cell of the scroll bar: made once, since making strips costs."""
        key = (id(strip), thumb)
        found = self._with_bar.get(key)
        if found is None or found[0] is not strip:
            if len(self._with_bar) > _MOST_PAINTED:
                self._with_bar.clear()
            found = (strip, Strip([*self._segments(strip), scroll_cell(thumb)], self.width))
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
    return Strip(segments, width)
