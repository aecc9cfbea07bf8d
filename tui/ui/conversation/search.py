"""Search in the conversation: the match that is shown, and the way to the next one.

What is not in sight is counted from the blocks' text (`tally`, in slices); the rows of a match are
made when the user goes there. So thousands of turns cost a few milliseconds at a time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import NamedTuple

from tui.ui.conversation.fences import colours_for
from tui.ui.conversation.layout import Layout
from tui.ui.conversation.seeking import Match, Needle, Span
from tui.ui.conversation.tally import Tally
from tui.ui.conversation.views import BlockView, Page
from tui.ui.rows import Row

_MOST_KEPT = 200
"""Pages whose matches are remembered."""


class Here(NamedTuple):
    """The match that is shown."""

    view: int
    page: Page
    number: int
    """The how manieth of its page."""
    rank: int
    """The how manieth of its block, from below, from 1."""


class Kept(NamedTuple):
    """The matches of a page, and the rows in which they were found."""

    rows: list[Row]
    last: Row | None
    height: int
    matches: list[Match]
    by_row: dict[int, list[tuple[Span, int]]]
    """Row -> the parts on it, with the numbers of their matches."""


class Search:
    """Where the words are that are looked for, and which of them is shown."""

    def __init__(self, rows: Layout) -> None:
        self.needle = Needle("")
        self.here: Here | None = None
        self.tally = Tally(self.needle, rows.views)
        self._rows = rows
        self._kept: dict[Page, Kept] = {}

    def look_for(self, words: str) -> None:
        """Count from the newest block on."""
        self.needle, self.here = Needle(words), None
        self.tally = Tally(self.needle, self._rows.views)
        self._kept.clear()

    # -- going from one to the next

    def first(self, row: int) -> int | None:
        """The row of the newest match at this row or above it; None: none was found so far."""
        pages = self._rows.pages
        if not self._rows.views:
            return None
        page = pages[pages.at(row)]
        offset = row - pages.start(pages.at(row))
        before = [match for match in self.matches(page) if match[0].row <= offset]
        if before:
            return self._go(page, len(before) - 1)
        return self._from(page.view.index, page.number - 1)

    def step(self, *, older: bool) -> int | None:
        """The row of the next match upwards or downwards; from the last one to the first."""
        here = self.here
        if here is None or not self._stands(here):
            return self._wrapped(older)
        number = here.number + (-1 if older else 1)
        found: int | None = None
        if 0 <= number < len(self.matches(here.page)):
            found = self._go(here.page, number)
        else:
            found = self._from(here.view, here.page.number + (-1 if older else 1), older)
        return self._wrapped(older) if found is None else found

    def _stands(self, here: Here) -> bool:
        """False if its block was replaced, or has other pages now."""
        pages = self._rows.views[here.view].pages if here.view < len(self._rows.views) else []
        return here.page.number < len(pages) and pages[here.page.number] is here.page

    def _wrapped(self, older: bool) -> int | None:
        """From the other end; upwards only if all is counted, or older ones would be left out."""
        if not self.tally.hits or (not older and self.tally.counting):
            return None
        return self._in_hits(self.tally.hits[-1] if older else self.tally.hits[0], older)

    def _from(self, index: int, page: int, older: bool = True) -> int | None:
        """The first match in the rest of a block, or in the next block that has one."""
        row = self._in_view(self._rows.views[index], page, older)
        if row is not None:
            return row
        hits = self.tally.hits
        at = bisect_left(hits, index) - 1 if older else bisect_right(hits, index)
        return self._in_hits(hits[at], older) if 0 <= at < len(hits) else None

    def _in_hits(self, index: int, older: bool) -> int | None:
        """The first match in this block, or in the next one that really has one."""
        hits = self.tally.hits
        while True:
            view = self._rows.views[index]
            self._make_ready(view)
            row = self._in_view(view, len(view.pages) - 1 if older else 0, older)
            if row is not None:
                return row
            at = bisect_left(hits, index)
            if self.tally.of(index):
                self.tally.note(index, 0)  # its text has it, its rows do not
            at = at - 1 if older else at
            if not 0 <= at < len(hits):
                return None
            index = hits[at]

    def _make_ready(self, view: BlockView) -> None:
        """Unfold what hides a match, and have the pages that there are."""
        self._rows.pages.made(view.first)
        if view.folded and self.tally.of(view.index) > self._seen(view):
            self._rows.toggle(view.index)

    def _seen(self, view: BlockView) -> int:
        """How many matches the rows of a block have; asked of those of one page only."""
        if len(view.pages) > 1:
            return self.tally.of(view.index)
        return len(self.matches(view.pages[0]))

    def _in_view(self, view: BlockView, page: int, older: bool) -> int | None:
        """The first match from this page on."""
        while 0 <= page < len(view.pages):
            one = view.pages[page]
            read = one.fresh or len(view.pages) == 1
            may = read or self.needle.may_be_in(view.source(page))
            found = self.matches(one) if may else []
            if len(view.pages) == 1:
                self.tally.note(view.index, len(found))  # as it is shown
            if found:
                return self._go(one, len(found) - 1 if older else 0)
            page += -1 if older else 1
        return None

    def _go(self, page: Page, number: int) -> int:
        """This is the one that is shown; returns its row."""
        pages, view, before = self._rows.pages, page.view, self.here
        pages.made(view.first + page.number)
        count = self.tally.of(view.index)
        rank = len(self.matches(page)) - number
        if before is not None and before.view == view.index and before.page is not page:
            rank = before.rank + (1 if page.number < before.page.number else -1)
        elif before is not None and before.page is page:
            rank = before.rank + before.number - number
        elif page.number < len(view.pages) - 1:
            rank = count - number
        self.here = Here(view.index, page, number, min(max(rank, 1), max(count, 1)))
        return pages.start(view.first + page.number) + self.matches(page)[number][0].row

    # -- what is told

    @property
    def position(self) -> int:
        """The how manieth is shown, counted from the newest; 0: none is."""
        if self.here is None:
            return 0
        return self.here.rank + self.tally.newer(self.here.view)

    def matches(self, page: Page) -> list[Match]:
        """Those on the rows of a page; its rows are made where they are not there."""
        return self._found(page).matches if page.view.index < len(self._rows.views) else []

    def _found(self, page: Page) -> Kept:
        if not page.fresh:
            self._rows.pages.made(page.view.first + page.number)
        rows = page.rows or []
        last = rows[-1] if rows else None
        kept = self._kept.get(page)
        if kept is not None and kept.rows is rows and (kept.last, kept.height) == (last, len(rows)):
            return kept
        if len(self._kept) > _MOST_KEPT:
            self._kept.clear()
        with colours_for(0):
            found = self.needle.matches(rows)
        by_row: dict[int, list[tuple[Span, int]]] = {}
        for number, match in enumerate(found):
            for span in match:
                by_row.setdefault(span.row, []).append((span, number))
        kept = self._kept[page] = Kept(rows, last, len(rows), found, by_row)
        return kept

    def spans(self, row: int) -> list[tuple[int, int, bool]]:
        """First and last cell of the matches on a row; True: it is the one that is shown."""
        pages = self._rows.pages
        if not self.needle or not self._rows.views or not 0 <= row < pages.total:
            return []
        at = pages.at(row)
        page, offset = pages[at], row - pages.start(at)
        here = self.here.number if self.here is not None and self.here.page is page else -1
        parts = self._found(page).by_row.get(offset, ())
        return [(span.start, span.end, number == here) for span, number in parts]
