"""Where every row of the conversation is: views under each other, cut into pages.

`sync` reads what is new; `settle` makes what is in sight. A page that was never made, or was made
for another width, has a height that is a guess; it is made when it comes into sight, and what
lies below moves. So neither a new width nor a long conversation costs more than what is on screen.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import accumulate
from time import thread_time
from typing import NamedTuple

from tui.core.conversation import UNREAD, Block, BlockKind
from tui.core.document.hunk import Hunk
from tui.engine.notices import Notices
from tui.engine.session import Session
from tui.ui import theme
from tui.ui.conversation.hunk_card import PatchView
from tui.ui.conversation.text_view import ReasoningView, TextView
from tui.ui.conversation.tool_views import RunView, ToolView
from tui.ui.conversation.views import (
    BlockView,
    NoteView,
    PaceView,
    UserView,
    ViewContext,
    ViewPage,
    welcome_lines,
)
from tui.ui.styled_text import RowTarget, StyledRow, inner_width

_MOST_KEPT = 2_000
"""Rows that are kept of pages out of sight."""


class PageList:
    """The pages and the row at which each begins."""

    def __init__(self) -> None:
        self.total = 0
        """Number of rows."""
        self.top = 0
        """The row at the upper edge; it moves with its row when rows come above it."""
        self.chosen = 0
        """The row of the stop that is selected; moves like `top`."""
        self._pages: list[ViewPage] = []
        self._starts: list[int] = []
        self._kept: dict[ViewPage, int] = {}
        """Pages with rows, those looked at last at the end; and how many rows."""
        self._kept_rows = 0

    def __len__(self) -> int:
        return len(self._pages)

    def __getitem__(self, number: int) -> ViewPage:
        return self._pages[number]

    def start(self, number: int) -> int:
        """The first row of a page."""
        return self._starts[number]

    def at(self, row: int) -> int:
        """The number of the page that this row is on."""
        return max(bisect_right(self._starts, row) - 1, 0)

    def view_at(self, row: int) -> int:
        """The index of the block that a row belongs to; -1 if there are no rows."""
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

    def add(self, page: ViewPage) -> None:
        """One more at the end."""
        self._pages.append(page)
        self._starts.append(self.total)
        self.total += page.height

    def add_before(self, pages: list[ViewPage]) -> None:
        """More above all others."""
        self.shift(0, sum(page.height for page in pages))
        self.replace([*pages, *self._pages])

    def replace(self, pages: list[ViewPage]) -> None:
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
        self.top += grown if self.top >= behind else 0
        self.chosen += grown if self.chosen >= behind else 0

    def row(self, number: int) -> StyledRow | None:
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

    def made(self, number: int) -> ViewPage:
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

    def _forget(self, but: list[ViewPage]) -> None:
        """Drop rows that were not looked at for long."""
        if self._kept_rows <= _MOST_KEPT:
            return
        for page in list(self._kept):
            if not page.in_use and page not in but:
                self._kept_rows -= self._kept.pop(page)
                page.rows = None
            if self._kept_rows <= _MOST_KEPT // 2:
                return


VIEWS: dict[BlockKind, type[BlockView]] = {
    BlockKind.USER: UserView,
    BlockKind.TEXT: TextView,
    BlockKind.REASONING: ReasoningView,
    BlockKind.TOOL: ToolView,
    BlockKind.PATCH: PatchView,
    BlockKind.NOTE: NoteView,
    BlockKind.PACE: PaceView,
    BlockKind.RUN: RunView,
}


def _kind_of_view(block: Block) -> type[BlockView]:
    """The view of a block."""
    if block.kind is BlockKind.RUN and block.turn:
        from tui.ui.conversation.tool_views import CommandView

        return CommandView
    return VIEWS[BlockKind(block.kind)]


class UnmadeView(BlockView):
    """Stands for each block above those that have a view; it has no rows."""

    def __init__(self, context: ViewContext) -> None:
        super().__init__(UNREAD, 0, context, None)
        self.pages = []

    @property
    def has_stops(self) -> bool:
        """Nothing can be done with it."""
        return False

    def sync(self) -> None:
        """There is nothing new."""


_NEWEST = 4
"""Cards that are looked at whenever hunks or buffers changed: their line numbers move."""
_MOST_MADE = 64
"""Blocks that are made at once; of more that come together, those in sight."""
_GROWING_S = 0.003
"""For so long a frame makes views of an earlier session, from below, 50 at least."""


class Stop(NamedTuple):
    """A row on which Enter does something."""

    row: int
    view: int
    """Index of the block."""
    target: RowTarget


class TranscriptLayout:
    """All views of a transcript and the rows that they have."""

    def __init__(self, session: Session, context: ViewContext) -> None:
        """``context.hunks`` is set here; its width and root are the widget's to set."""
        self.context = context
        self.views: list[BlockView] = []
        self._unmade = 0
        """So many of the first ones are made later."""
        self._session = session
        self.pages = PageList()
        """All rows, by number."""
        self._cards_of: dict[str, int] = {}
        """Call id -> index of its card."""
        self._patches: list[int] = []
        self._stopping: list[int] = []
        """Blocks that may have stops, in order."""
        self._stopping_version = context.version
        self._open: set[int] = set()
        """Those of them whose patch is still coming, perhaps."""
        self._commands: set[int] = set()
        """Commands of the model that have not ended, perhaps."""
        self._focused = 0
        self._welcome: list[StyledRow] = []
        self._welcome_key: object = None
        hunk_list = session.workspace.hunk_list
        context.hunks, context.files = hunk_list.of_call, hunk_list.files_of
        context.reviews = lambda: hunk_list.reviews
        context.now = session.now
        status = session.status
        context.task = lambda call_id: next(
            (task for task in status.tasks if task.call_id == call_id), None
        )
        context.asks = lambda: status.asks

    @property
    def total(self) -> int:
        """Number of rows; what was never in sight is guessed."""
        return self.pages.total

    @property
    def behind(self) -> int | None:
        """The first block of which a frame took up a part; behind all: of an earlier session."""
        above = {len(self.views)} if self._grows_up else set[int]()
        return min(self.context.behind | above, default=None)

    @property
    def _grows_up(self) -> bool:
        """Blocks of an earlier session were read, and have no views yet."""
        blocks, count = self._session.transcript.blocks, self._unmade
        return 0 < count <= len(blocks) and blocks[count - 1] is not UNREAD

    def row(self, number: int) -> StyledRow | None:
        """The row of this number; None outside."""
        return self.pages.row(number) if self.views else self._welcome_row(number)

    def _welcome_row(self, number: int) -> StyledRow | None:
        """Rows of an empty conversation."""
        status, width = self._session.status, self.context.width
        key = (status.rehearsal, status.endpoint, width, theme.active())
        if key != self._welcome_key:
            lines = welcome_lines(status, inner_width(width))
            self._welcome_key, self._welcome = key, [StyledRow(line, width) for line in lines]
        return self._welcome[number] if 0 <= number < len(self._welcome) else None

    def settle(self, height: int, *, end: bool) -> None:
        """Make the rows of a window; ``end``: it shows the last rows, else it begins at `top`."""
        if not end:
            self.pages.settle(self.pages.top, height)
        elif self.views:
            self.pages.settle_end(height)
        if end or self.pages.top > self.total - height:
            self.pages.settle_end(height)
            self.pages.top = max(self.total - height, 0)
        if self.context.behind:
            self._session.on_wake()

    def sync(self, notices: Notices, height: int = 0) -> int | None:
        """Read what is new; returns the first row that changed, None if none did.

        ``height`` rows are in sight. Cards are looked at where they may have changed: those
        still open, the newest, those in sight; others when they come into sight.
        """
        blocks = self._session.transcript.blocks
        known, lowest = len(self.views), self._unmade
        if len(blocks) < known or (known and blocks[lowest] is not self.views[lowest].block):
            self._clear()
            self._grow()
            return 0
        changed: set[int] = set()
        if notices.transcript_from is not None:
            first = max(notices.transcript_from, lowest)
            few = known - first <= _MOST_MADE
            for view in self.views[first:]:
                is_seen = view.pages[-1].rows is not None or view.index in self.context.behind
                if few or is_seen:
                    changed.add(view.index)
                elif view.block.state == "failed":
                    self._note_stops(view)
        for view in [self.views[index] for index in changed]:
            changed.update(view.kin)
        if behind := self.context.behind:
            changed = changed - behind | {max(behind)}  # one a frame
        if notices.hunks or notices.buffers:
            changed.update(self._cards(height))
        if notices.status:
            changed.update(self._live())
        rows = [row for index in sorted(changed) if (row := self._sync_view(index)) is not None]
        if (grown := self._grow()) is not None:
            rows.append(grown)
        if self._grows_up:
            self._grow_up(blocks)
            rows.append(self.pages.top)  # the thumb has moved
        return min(rows, default=None)

    def _grow_up(self, blocks: Sequence[Block]) -> None:
        """Views for some of the blocks above, whole turns if they are short."""
        end, until_s = self._unmade, thread_time() + _GROWING_S
        first = end
        while first and thread_time() < until_s:
            last, first = first, max(first - 50, 0)
            while first > max(last - 100, 0) and blocks[first].kind is not BlockKind.USER:
                first -= 1
            for index in range(first, last):
                self.views[index] = self._view(blocks[index], index, blocks)
        made, rows = self.views[first:end], list[ViewPage]()
        for view in made:
            view.first = len(rows)
            rows += view.pages
            if isinstance(view, PatchView):
                self._cards_of.setdefault(view.block.call_id, view.index)
        for view in self.views[end:]:
            view.first += len(rows)
        self._patches[:0] = [view.index for view in made if isinstance(view, PatchView)]
        self._stopping[:0] = [view.index for view in made if view.has_stops]
        self.pages.add_before(rows)
        self._unmade = first

    def _live(self) -> set[int]:
        """Commands of the model that run, or wait, and those that have just ended."""
        live = {index for index in self._commands if self.views[index].runs}
        found, self._commands = self._commands, live
        return found

    def tick(self) -> int | None:
        """Time has passed: count on; returns the first row that changed, None if none did."""
        rows = [row for at in sorted(self._live()) if (row := self._sync_view(at)) is not None]
        return min(rows, default=None)

    def action_at(self, row: int, cell: int) -> str:
        """What a click there does about a command of the model; empty: nothing."""
        index = self.pages.view_at(row) if self.views else -1
        found = self.row(row)
        return "" if index < 0 or found is None else self.views[index].action_at(found.text, cell)

    def head_of(self, row: int) -> int:
        """The first row of the block that a row belongs to on which something can be done."""
        index = self.pages.view_at(row)
        start = self.pages.start(self.views[index].first)
        return next((stop.row for stop in self.stops(start)), row)

    @property
    def ticks(self) -> bool:
        """True while a command of the model runs."""
        return bool(self._commands) and any(not task.ended for task in self._session.status.tasks)

    def refocus(self) -> None:
        """`ViewContext.focus` changed: the cards' keys are elsewhere."""
        for live in self._commands:
            self._sync_view(live)
        hunk_list = self._session.workspace.hunk_list
        for hunk_id in {self._focused, self.context.focus.hunk_id} - {0}:
            if hunk_id in hunk_list:
                index = self._cards_of.get(hunk_list.by_id(hunk_id).call_id)
                if index is not None:
                    self._sync_view(index)
        self._focused = self.context.focus.hunk_id

    def toggle(self, index: int, part: str = "") -> int | None:
        """Fold or unfold a block, or a part of it; returns the first row that changed."""
        self.views[index].toggle(part)
        return self._sync_view(index)

    def stops(self, start: int = 0, *, back: bool = False) -> Iterator[Stop]:
        """The rows on which Enter does something, from a row on; ``back``: upwards, before it."""
        pages, here = self.pages, start
        if not self.views:
            return
        index = pages[pages.at(max(start, 0))].view.index
        while (index := self._stopping_from(index, back)) >= 0:
            view, any_found = self.views[index], False
            for number in range(len(view.pages))[:: -1 if back else 1]:
                at = view.first + number
                before, above = pages.total, pages.start(at)
                pages.settle(above, 1)
                if back and at < pages.at(here):
                    here += pages.total - before
                found = self._stops_of(at)
                any_found = any_found or bool(found)
                for stop in reversed(found) if back else found:
                    if stop.row < here if back else stop.row >= here:
                        yield stop
            if not any_found and isinstance(view, UserView):
                self._stopping.remove(index)  # short enough, for this width
            index += -1 if back else 1

    def _stopping_from(self, index: int, back: bool) -> int:
        """The next block from this one on that may have stops; -1 if there is none."""
        if self._stopping_version != self.context.version:
            self._stopping_version = self.context.version
            self._stopping = [view.index for view in self.views if view.has_stops]
        stopping = self._stopping
        at = bisect_right(stopping, index) - 1 if back else bisect_left(stopping, index)
        return stopping[at] if 0 <= at < len(stopping) else -1

    def _note_stops(self, view: BlockView) -> None:
        """It may have got its first one."""
        at = bisect_left(self._stopping, view.index)
        if view.has_stops and self._stopping[at : at + 1] != [view.index]:
            self._stopping.insert(at, view.index)

    def stops_of_hunks(
        self, wanted: Callable[[Hunk], bool], calls: Container[str], start: int = 0
    ) -> Iterator[Stop]:
        """The rows of these hunks, which are on the cards of these calls, from a row on."""
        for index in self._patches:
            view = self.views[index]
            if not isinstance(view, PatchView) or view.block.call_id not in calls:
                continue
            if view.open_up(wanted):
                self._sync_view(index)
            for number in range(len(view.pages)):
                at = view.first + number
                page = self.pages[at]
                if self.pages.start(at) + page.height <= start:
                    continue
                found = {hunk.id for hunk in view.hunks_on(number) if wanted(hunk)}
                if found:
                    self.pages.settle(self.pages.start(at), 1)
                for stop in self._stops_of(at) if found else ():
                    if stop.target.kind == "hunk" and stop.target.key in found:
                        yield stop

    def _stops_of(self, at: int) -> list[Stop]:
        """The stops of one page: the first row of each target."""
        page, start = self.pages[at], self.pages.start(at)
        found: list[Stop] = []
        before: RowTarget | None = None
        for offset, row in enumerate(page.rows or ()):
            if row.target is not None and row.target != before:
                found.append(Stop(start + offset, page.view.index, row.target))
            before = row.target
        return found

    def _sync_view(self, index: int) -> int | None:
        view = self.views[index]
        pages, last = view.pages, len(view.pages) - 1
        before, count = pages[last].height, last + 1
        behind = self.pages.start(view.first + last) + before
        changed = view.sync()
        if changed is None:
            return None
        self._note_stops(view)
        if view.pages is not pages or len(pages) < count:
            self._recount()
            end = view.first + len(view.pages)
            now = self.pages.start(end) if end < len(self.pages) else self.pages.total
            self.pages.shift(behind, now - behind)
        else:
            self.pages.resized(view.first + last, before)
            self.pages.take_in(view.first + last)
        return self.pages.start(view.first) + changed

    def _recount(self) -> None:
        """PageList came or went in the middle."""
        pages: list[ViewPage] = []
        for view in self.views:
            view.first = len(pages)
            pages += view.pages
        self.pages.replace(pages)

    def _clear(self) -> None:
        self.context.behind.clear()
        self.views.clear()
        self._unmade = 0
        self.pages.clear()
        self._patches.clear()
        self._stopping.clear()
        self._cards_of.clear()
        self._open.clear()
        self._commands.clear()

    def _grow(self) -> int | None:
        """Views for new blocks; returns the first new row."""
        blocks = self._session.transcript.blocks
        first = self.total if len(blocks) > len(self.views) else None
        touched: set[int] = set()
        if not self.views and blocks and blocks[0] is UNREAD:
            self._unmade = next((n for n, one in enumerate(blocks) if one is not UNREAD), 0)
            self.views += [UnmadeView(self.context)] * self._unmade
        few = len(blocks) - len(self.views) <= _MOST_MADE
        for index in range(len(self.views), len(blocks)):
            view = self._view(blocks[index], index, blocks)
            view.first = len(self.pages)
            if few:
                view.sync()
            self.views.append(view)
            self._note_stops(view)
            touched.update(view.kin)
            for page in view.pages:
                self.pages.add(page)
            if view.runs:
                self._commands.add(index)
            if isinstance(view, PatchView):
                self._patches.append(index)
                self._cards_of[view.block.call_id] = index
                self._open.add(index)
        rows = [row for one in sorted(touched) if (row := self._sync_view(one)) is not None]
        return min([*rows, *([] if first is None else [first])], default=None)

    def _view(self, block: Block, index: int, blocks: Sequence[Block]) -> BlockView:
        before = blocks[index - 1] if index else None
        view = _kind_of_view(block)(block, index, self.context, before)
        if index:
            view.follow(self.views[index - 1])
        return view

    def _cards(self, height: int) -> list[int]:
        """Indexes of the cards to look at."""
        views, pages = self.views, self.pages
        self._open = {index for index in self._open if views[index].block.state == "open"}
        seen: list[int] = []
        if height and views:
            shown = range(pages.at(self.pages.top), pages.at(self.pages.top + height) + 1)
            seen = [pages[at].view.index for at in shown if isinstance(pages[at].view, PatchView)]
        return [*self._open, *seen, *self._patches[-_NEWEST:]]
