"""Search in the conversation pane: the bar under it, the matches lit in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widget import Widget

from tui.engine.notices import Notices
from tui.engine.session import Session
from tui.ui import theme
from tui.ui.conversation.hunk_pane import HunkPane
from tui.ui.conversation.pane import Light

if TYPE_CHECKING:
    from tui.ui.conversation.search import Search
    from tui.ui.conversation.search_bar import SearchBar

_SLICE_S = 0.012
"""Between two slices of counting: keys and frames come first."""
_GROWN_S = 0.5
"""How soon what came meanwhile is counted."""


class SearchPane(HunkPane):
    """Searching; the bar is made when it is first opened."""

    def __init__(self, session: Session, *, root: str = "", id: str | None = None) -> None:
        super().__init__(session, root=root, id=id)
        self._search: Search | None = None
        self._bar: SearchBar | None = None
        self._slicing = False
        self._from_row = 0
        """Where the search began: the row that was at the lower edge."""
        self._before: Widget | None = None
        """What had the focus when the bar was opened."""

    @property
    def searching(self) -> bool:
        """True while the bar is open."""
        return self._bar is not None and self._bar.is_open

    def action_search(self) -> None:
        """Look for words in the conversation."""
        from tui.ui.conversation.search import Search
        from tui.ui.conversation.search_bar import SearchBar, Wishes

        if self._bar is None or self._search is None:
            self._search = Search(self.rows)
            self._bar = SearchBar(Wishes(self._seek, self._step, self._leave), id="search-bar")
            self.screen.query_one("#panes").mount(self._bar, after=self)
        if not self.searching:
            self._search.look_for("")  # what came meanwhile was not counted
            self._before = self.screen.focused
        self.lights = self._lights
        self._from_row = self.top + max(self.size.height - 1, 0)
        self._bar.open()
        self.screen.set_focus(self._bar.field)  # at once: the next key is meant for it

    def search_for(self, words: str) -> None:
        """Open the bar with these words in it."""
        self.action_search()
        if words and self._bar is not None:
            self._bar.field.value = words
            self._bar.field.cursor_position = len(words)
            self._seek(words)

    def close_search(self) -> bool:
        """Close the bar, put the light out, go back to where it was opened; False if it was not."""
        if not self.searching or self._bar is None:
            return False
        had_focus = self._bar.field.has_focus
        self._bar.close()
        self.lights = None
        self.refresh()
        if had_focus:
            before = self._before if self._before in self.screen.focus_chain else None
            self.screen.set_focus(before or self)
        return True

    def sync(self, notices: Notices) -> None:
        """Take up what changed; what is new is counted soon."""
        super().sync(notices)
        search = self._search
        if search is None or not self.searching or notices.transcript_from is None:
            return
        if notices.transcript_from == 0 and not search.tally.stands:
            search.look_for(search.needle.words)
        search.tally.grown(notices.transcript_from)
        self._slice_later(_GROWN_S)

    def _seek(self, words: str) -> None:
        """Something else is looked for."""
        if self._search is None or words == self._search.needle.words != "":
            return
        self._search.look_for(words)
        self.refresh()
        self._slice_now()

    def _slice_now(self) -> None:
        """Count for some milliseconds, and go to the newest match as soon as there is one."""
        search, self._slicing = self._search, False
        if search is None or not self.searching:
            return
        if search.needle and search.here is None:
            self._show(search.first(self._from_row))
        search.tally.slice()
        if search.here is None and not search.tally.counting:
            self._show(search.step(older=True))  # only below
        self._tell()
        self.place_thumb()
        if search.tally.waiting:
            self._slice_later(_SLICE_S if search.tally.counting else _GROWN_S)

    def _slice_later(self, seconds: float) -> None:
        if not self._slicing:
            self._slicing = True
            self.set_timer(seconds, self._slice_now)

    def _step(self, older: bool) -> None:
        if self._search is not None and self._search.needle:
            self._show(self._search.step(older=older))
            self._tell()

    def _leave(self) -> None:
        """Into the conversation, where the match is; the matches stay lit."""
        self.screen.set_focus(self)

    def _show(self, row: int | None) -> None:
        """Have this row in sight, with some rows around it."""
        if row is None:
            return
        height = self.size.height
        if not self.top + 1 <= row < self.top + height - 2:
            self.go_to(row - height // 3)
        self.refresh()

    def _tell(self) -> None:
        """Say how many there are; a plus: older ones are still being counted."""
        search, bar = self._search, self._bar
        if search is None or bar is None:
            return
        more = "+" if search.tally.counting else ""
        total = search.tally.total
        if not search.needle:
            bar.tell("")
        elif not total:
            bar.tell("looking…" if more else "not found", nothing=not more)
        elif position := search.position:
            bar.tell(f"{min(position, total)} of {total:,}{more}")
        else:
            bar.tell(f"{total:,}{more} found")

    def _lights(self, row: int) -> list[Light]:
        """The cells of a row that are lit."""
        if self._search is None:
            return []
        palette = theme.active()
        now = palette.style("background", "warning", "bold")
        other = palette.style("", "raised", "underline")
        return [Light(a, b, now if here else other) for a, b, here in self._search.spans(row)]
