"""All pages of the conversation under each other: which row is where, and which rows are kept.

A page that was never made, or was made for another width, has a height that is a guess; it is made
when it comes into sight, and what lies below moves. So neither a new width nor a long conversation
costs more than what is on the screen.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from tui.ui.conversation.views import Page
from tui.ui.rows import Row

_MOST_KEPT = 2_000
"""Rows that are kept of pages out of sight."""


class Pages:
    """The pages and the row at which each begins."""

    def __init__(self) -> None:
        self.total = 0
        """Number of rows."""
        self.anchors: dict[str, int] = {}
        """Numbers of rows that move when rows come or go above them."""
        self._pages: list[Page] = []
        self._starts: list[int] = []
        self._kept: dict[Page, int] = {}
        """Pages with rows, those looked at last at the end; and how many rows."""
        self._kept_rows = 0

    def __len__(self) -> int:
        return len(self._pages)

    def __getitem__(self, number: int) -> Page:
        return self._pages[number]

    def start(self, number: int) -> int:
        """The first row of a page."""
        return self._starts[number]

    def at(self, row: int) -> int:
        """The number of the page that this row is on."""
        return max(bisect_right(self._starts, row) - 1, 0)

    def view_at(self, row: int) -> int:
        """The index of the block that a row is of; -1: there is none."""
        return self._pages[self.at(row)].view.index if self._pages else -1

    def first_said(self, number: int) -> int:
        """The first row of a page on which something is said."""
        rows = self.made(number).rows or []
        empty = next((at for at, row in enumerate(rows) if row.text.strip()), 0)
        return self._starts[number] + empty

    def clear(self) -> None:
        """No pages."""
        self._pages.clear()
        self._starts.clear()
        self._kept.clear()
        self.total = self._kept_rows = 0

    def add(self, page: Page) -> None:
        """One more at the end."""
        self._pages.append(page)
        self._starts.append(self.total)
        self.total += page.height

    def replace(self, pages: list[Page]) -> None:
        """Other pages in the middle: all is counted again."""
        self._pages = pages
        *self._starts, self.total = accumulate((page.height for page in pages), initial=0)

    def resized(self, number: int, before: int) -> None:
        """A page had ``before`` rows until now."""
        grown = self._pages[number].height - before
        if not grown:
            return
        behind = self._starts[number] + before
        for later in range(number + 1, len(self._starts)):
            self._starts[later] += grown
        self.total += grown
        self.shift(behind, grown)

    def shift(self, behind: int, grown: int) -> None:
        """What is at this row or below it moved."""
        for name, row in self.anchors.items():
            if row >= behind:
                self.anchors[name] = row + grown

    def row(self, number: int) -> Row | None:
        """The row of this number; None outside."""
        if not 0 <= number < self.total:
            return None
        at = self.at(number)
        rows = self.made(at).rows or []
        offset = number - self._starts[at]
        return rows[offset] if offset < len(rows) else None

    def settle(self, first: int, count: int) -> None:
        """Make the pages of ``count`` rows from ``first`` on, so that their heights are right."""
        at, made = self.at(first), []
        while at < len(self._pages) and self._starts[at] < first + count:
            made.append(self.made(at))
            at += 1
        self._forget(made)

    def settle_end(self, count: int) -> None:
        """Make the pages of the last rows."""
        at, made = len(self._pages) - 1, []
        while at >= 0 and count > 0:
            made.append(self.made(at))
            count -= made[-1].height
            at -= 1
        self._forget(made)

    def made(self, number: int) -> Page:
        """A page with rows that are as they should be."""
        page = self._pages[number]
        if not page.fresh:
            before = page.height
            page.view.make(page.number)
            self.resized(number, before)
            self.take_in(number)
        rows = page.height
        if (known := self._kept.pop(page, 0)) != rows:
            self._kept_rows += rows - known
        self._kept[page] = rows
        return page

    def take_in(self, number: int) -> None:
        """A page that was synchronised or made may have become several."""
        page, behind = self._pages[number], number + 1
        new = page.view.pages[page.number + 1 :]
        if not new or (behind < len(self._pages) and self._pages[behind] is new[0]):
            return
        if behind == len(self._pages):
            for one in new:
                self.add(one)
            return
        for view in {later.view for later in self._pages[behind:]}:
            view.first += len(new)
        first, rows = self._starts[behind], sum(one.height for one in new)
        self.shift(first, rows)
        self.replace([*self._pages[:behind], *new, *self._pages[behind:]])

    def _forget(self, but: list[Page]) -> None:
        """Let go of rows that nobody has looked at for long."""
        if self._kept_rows <= _MOST_KEPT:
            return
        for page in list(self._kept):
            if not page.in_use and page not in but:
                self._kept_rows -= self._kept.pop(page)
                page.rows = None
            if self._kept_rows <= _MOST_KEPT // 2:
                return
