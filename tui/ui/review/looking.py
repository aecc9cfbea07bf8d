"""What the keys of every diff do: stepping and scrolling."""

from __future__ import annotations

from tui.ui.keymap import bindings
from tui.ui.painting.screen import PaintedScreen
from tui.ui.review.view import DiffView

_PAGE_OVERLAP = 2
_SIDEWAYS_CELLS = 8


class LookingScreen(PaintedScreen):
    """The actions of the scope "diff" that need nothing but the view."""

    BINDINGS = bindings("diff")

    view: DiffView

    def look(self) -> None:
        """See what there is now, and show it."""
        raise NotImplementedError

    def action_step(self, count: int) -> None:
        """The next change, or the one before."""
        self.view.step(count)

    def action_step_file(self, count: int) -> None:
        """The next file, or the one before."""
        self.view.step_file(count)

    def action_scroll_rows(self, count: int) -> None:
        """Scroll."""
        self.view.scroll_rows(count)

    def action_scroll_pages(self, pages: int) -> None:
        """Scroll by a page."""
        self.view.scroll_rows(pages * max(self.view.size.height - _PAGE_OVERLAP, 1))

    def action_scroll_home(self) -> None:
        """The first change."""
        self.view.step(-1 << 40)
        self.view.scroll_rows(-1 << 40)

    def action_scroll_end(self) -> None:
        """The last change."""
        self.view.step(1 << 40)

    def action_sideways(self, steps: int) -> None:
        """Another place of an ambiguous hunk; else scroll sideways."""
        hunk = self.view.hunk
        if hunk is not None and hunk.placeable:
            now = self.view.places.get(hunk.id, 0)
            self.view.places[hunk.id] = (now + steps) % len(hunk.candidates)
            self.look()
        else:
            self.view.sideways(steps * _SIDEWAYS_CELLS)
