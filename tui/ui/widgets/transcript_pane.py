"""A pane of rows that scrolls by itself: painting and scrolling of the conversation.

No layout, no child widgets: while it follows, the last row stays in sight; once the user scrolls
up it stands still and says when something new came. Only rows that changed are painted.
"""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from tui.engine.notices import Notices
from tui.engine.session import Session
from tui.ui import theme
from tui.ui.rows import Target
from tui.ui.widgets.transcript_layout import Layout
from tui.ui.widgets.transcript_views import Scene

_WHEEL_ROWS = 3


class TranscriptPane(Widget):
    """Paints and scrolls; what keys and clicks on a row do is `transcript.Transcript`'s."""

    ALLOW_SELECT = False

    def __init__(self, session: Session, *, root: str = "", id: str | None = None) -> None:
        super().__init__(id=id)
        self.scene = Scene(root=root)
        self.rows = Layout(session, self.scene)
        self.top = 0
        """The row at the upper edge."""
        self.follows = True
        """The last row stays in sight."""
        self.marked: Target | None = None
        """The rows of this target are shown as selected."""
        self._unseen = False
        """Something came while the user was reading further up."""

    def sync(self, notices: Notices) -> None:
        """Take up what changed; called once a frame."""
        if self.scene.width < 2 or not self.size.width:
            return
        first = self.rows.sync(notices)
        if first is not None:
            self.repaint_from(first)

    def recolour(self) -> None:
        """The theme changed."""
        self.rows.rebuild()
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

    # -- painting

    def render_line(self, y: int) -> Strip:
        """One row of the screen: content, the selection, the scroll bar."""
        number = self.top + y
        row = self.rows.row(number)
        palette = theme.active()
        base = palette.style("foreground", "background")
        width = self.size.width - 1
        if row is None:
            segments = [Segment(" " * max(width, 0), base)]
        elif row.target is not None and row.target == self.marked and self.has_focus:
            marked = Style(bgcolor=palette.colours["selection"])
            segments = [Segment(s.text, (s.style or base) + marked) for s in row.strip]
        else:
            segments = list(row.strip)
        if self._unseen and y == self.size.height - 1:
            segments = self._hint(Strip(segments, width), width)
        segments.append(self._bar(y))
        return Strip(segments, width + 1)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The strips carry their background: Textual's style cache has nothing to add."""
        strips = [self.render_line(y) for y in crop.line_range]
        left, right = crop.column_span
        if (left, right) != (0, self.size.width):
            strips = [strip.crop(left, right) for strip in strips]
        return strips

    def _hint(self, strip: Strip, width: int) -> list[Segment]:
        palette = theme.active()
        words = " ↓ new "
        at = max(width - len(words) - 1, 0)
        chip = Segment(words, palette.style("background", "accent", "bold"))
        return [*strip.crop(0, at), chip, *strip.crop(at + len(words), width)]

    def _bar(self, y: int) -> Segment:
        """One cell of the scroll bar; nothing where all rows are in sight."""
        palette = theme.active()
        height, total = self.size.height, self.rows.total
        if total <= height or height < 3:
            return Segment(" ", palette.style("foreground", "background"))
        length = max(height * height // total, 1)
        place = round(self.top * (height - length) / max(total - height, 1))
        shown = place <= y < place + length
        return Segment("▐" if shown else " ", palette.style("line", "background"))

    def repaint_from(self, first: int) -> None:
        """Rows from ``first`` on changed."""
        height, total = self.size.height, self.rows.total
        bottom = max(total - height, 0)
        if self.follows:
            if bottom != self.top:
                self.top = bottom
                self.refresh()
                return
        elif first >= self.top + height or total > self.top + height:
            if not self._unseen:
                self._unseen = True
                self.refresh(Region(0, height - 1, self.size.width, 1))
            self.refresh(Region(self.size.width - 1, 0, 1, height))
        if self.top > bottom:
            self.top = bottom
            self.refresh()
            return
        y = max(first - self.top, 0)
        if y < height:
            self.refresh(Region(0, y, self.size.width, height - y))

    # -- scrolling

    def go_to(self, top: int) -> None:
        """Scroll to this row; at the end it follows again."""
        bottom = max(self.rows.total - self.size.height, 0)
        top = min(max(top, 0), bottom)
        self.follows = top == bottom
        if self.follows:
            self._unseen = False
        if top != self.top:
            self.top = top
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        """A new width wraps everything anew; the place that was read stays in sight."""
        width = event.size.width - 1
        if width != self.scene.width:
            share = self.top / max(self.rows.total, 1)
            self.scene.width = max(width, 2)
            self.rows.rebuild()
            self.top = round(share * self.rows.total)
        bottom = max(self.rows.total - event.size.height, 0)
        self.top = bottom if self.follows else min(self.top, bottom)
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
