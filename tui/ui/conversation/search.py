"""Search in the conversation: matches are counted in slices, and gone to one by one.

What is not in sight is counted from the blocks' text; the rows of a match are made when the user
goes there. So thousands of turns cost a few milliseconds at a time.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import perf_counter
from typing import NamedTuple

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input, Static

from tui.core.conversation import Block, BlockKind
from tui.ui import theme
from tui.ui.conversation.fences import colours_for
from tui.ui.conversation.hunk_card import PatchView
from tui.ui.conversation.layout import TranscriptLayout
from tui.ui.conversation.markdown_stream import MarkdownStream
from tui.ui.conversation.selection import Highlight, Viewport
from tui.ui.conversation.views import BlockView, ViewPage
from tui.ui.styled_text import MARGIN, StyledLine, StyledRow, inert
from tui.ui.widgets.field import Field

_LEAD = re.compile(r"[\s▎│▌╌•┃]*")
"""Bars, bullets and indents at the beginning of a row are no part of what is said."""
_SIGNS = re.compile(r"[*_`~\\|\[\]<>#]+")
"""What Markdown takes away: a word may stand around it."""
_INFO = re.compile(r"^[ \t>]*(?:`{3,}|~{3,})[^`\n]*$", re.MULTILINE)
"""What a fence says of its code is not shown."""
_PART_CHARS = 4_000
"""Of Markdown that is read at once: about 2 ms."""
_SOURCE_CHARS = 64_000
"""Of its source, if that can be searched."""
_RAW_CHARS = 200_000
"""Of other text."""
SLICE_S = 0.004
"""What one slice of counting may take."""
_MOST_GROWING = 20_000
"""Characters of a block that is counted again while it grows; a longer one is at its end."""
_MOST_KEPT = 200
"""Pages whose matches are remembered."""
_PAUSE_S = 0.012
"""Between two slices of counting: keys and frames come first."""
_GROWN_S = 0.5
"""How soon what came meanwhile is counted."""
NOT_FOUND = "not found"


class MatchSpan(NamedTuple):
    """A match's part on one row, in cells; the last one is behind it."""

    row: int
    start: int
    end: int


Match = tuple[MatchSpan, ...]


class SearchPattern:
    """What is looked for: words, in any case unless one of the letters is a capital."""

    def __init__(self, words: str) -> None:
        parts = words.split()
        exact = words != words.lower()
        self.words = words
        self._regex = re.compile(
            r"\s+".join(map(re.escape, parts)) or r"(?!)", 0 if exact else re.IGNORECASE
        )
        self._parts = [bare for part in parts if (bare := _bare(part))]

    def __bool__(self) -> bool:
        return bool(self.words.strip())

    def may_be_in(self, source: str) -> bool:
        """False if no row that this Markdown makes can hold it: most of a conversation."""
        if not self._parts or "&" in source:
            return True
        bare = _bare(source)
        return all(part in bare for part in self._parts)

    def count_in_source(self, source: str) -> int | None:
        """How often it is in what this Markdown shows; None: its rows must be asked.

        Nearly so: a word within which emphasis begins is missed, a title that is not shown counts.
        """
        words = self.words.split()
        if any(_SIGNS.search(word.replace("_", "")) or "&" in word for word in words):
            return None
        shown = _INFO.sub("", source)
        if len(words) == 1:
            return self.count(shown)
        return None if "_" in self.words else self.count(_SIGNS.sub("", shown))

    def count(self, text: str) -> int:
        """How often it is in a text."""
        return sum(1 for _ in self._regex.finditer(text))

    def count_in_rows(self, texts: Iterable[str]) -> int:
        """How often it is in rows under each other."""
        return self.count(" ".join(_body(text)[1] for text in texts))

    def matches(self, rows: Sequence[StyledRow]) -> list[Match]:
        """All places in rows under each other, from top to bottom."""
        bodies = [_body(row.text) for row in rows]
        starts, at = [], 0
        for _, body in bodies:
            starts.append(at)
            at += len(body) + 1
        whole = " ".join(body for _, body in bodies)
        found: list[Match] = []
        for match in self._regex.finditer(whole):
            first = bisect_right(starts, match.start()) - 1
            spans = []
            for number in range(first, len(bodies)):
                lead, body = bodies[number]
                begin = max(match.start() - starts[number], 0)
                end = min(match.end() - starts[number], len(body))
                if match.end() <= starts[number]:
                    break
                if end > begin:
                    left = MARGIN + cell_len(lead + body[:begin])
                    spans.append(MatchSpan(number, left, left + cell_len(body[begin:end])))
            if spans:
                found.append(tuple(spans))
        return found


def _body(text: str) -> tuple[str, str]:
    """The lead of a row's text, and what it says."""
    lead = _LEAD.match(text)
    at = lead.end() if lead else 0
    return text[:at], text[at:].rstrip()


def _bare(text: str) -> str:
    return _SIGNS.sub("", text).lower()


def count_in_block(view: BlockView, pattern: SearchPattern) -> Iterator[int]:
    """How often the words are in each part of a block; each part takes a few milliseconds."""
    block = view.block
    if isinstance(view, PatchView):
        for number in range(len(view.pages)):
            yield _count(view.lines(number), pattern)
    elif block.kind is BlockKind.TEXT and block.state != "failed":
        yield from _in_markdown(view, pattern)
    else:
        yield pattern.count(inert(block.title))
        at = 0
        while at < block.length:
            end = min(at + _RAW_CHARS, block.length)
            yield pattern.count(inert(block.text_between(at, end)))
            at = end


def _in_markdown(view: BlockView, pattern: SearchPattern) -> Iterator[int]:
    """From the source where that can be; else made into rows, if it has all words at all."""
    block = view.block
    parts = _source_parts(block)
    if pattern.count_in_source("") is not None:
        for part in parts:
            yield (pattern.count_in_source(part) or 0) if pattern.may_be_in(part) else 0
        return
    if block.length <= _SOURCE_CHARS and not pattern.may_be_in(block.text):
        return
    stream = MarkdownStream(view.inner)
    at = done = 0
    while at < block.length:
        end = min(at + _PART_CHARS, block.length)
        stream.feed(block.text_between(at, end))
        at = end
        if at == block.length:
            stream.finish()
        settled = stream.done
        yield _count(settled[done:], pattern)
        done = len(settled)


def _source_parts(block: Block) -> Iterator[str]:
    """The source of Markdown, where it is long in parts that end with a line, if they can."""
    at = 0
    while at < block.length:
        part = block.text_between(at, min(at + _SOURCE_CHARS, block.length))
        cut = part.rfind("\n") + 1 if at + len(part) < block.length else 0
        yield part[:cut] if cut else part
        at += cut or len(part)


def _count(lines: Iterable[StyledLine], pattern: SearchPattern) -> int:
    return pattern.count_in_rows("".join(text for text, _ in line.pieces) for line in lines)


class MatchCounts:
    """The counts of one search; blocks without a match have none."""

    def __init__(self, pattern: SearchPattern, views: Sequence[BlockView]) -> None:
        self.hits: list[int] = []
        """Indexes of the blocks that have a match, in order."""
        self._pattern = pattern
        self._views = views
        self._first = views[0] if views else None
        """The oldest block: it is another one in another conversation."""
        self._counts: dict[int, int] = {}
        self._next = len(views) - 1 if pattern else -1
        """The block to be counted next; the older ones follow it."""
        self._changed: set[int] = set()
        """Blocks that are to be counted once more."""
        self._work: tuple[int, Iterator[int], int] | None = None
        """The block that is being counted, its parts to come, and what they gave so far."""

    @property
    def counting(self) -> bool:
        """True if older blocks are still to be counted."""
        return self._next >= 0

    @property
    def waiting(self) -> bool:
        """True if a slice would find something to do."""
        return self._next >= 0 or bool(self._changed) or self._work is not None

    @property
    def total(self) -> int:
        """Matches that were counted so far."""
        return sum(self._counts.values())

    @property
    def stands(self) -> bool:
        """False if the conversation was begun anew since."""
        return self._first is None or (bool(self._views) and self._views[0] is self._first)

    def of(self, index: int) -> int:
        """Matches of a block."""
        return self._counts.get(index, 0)

    def newer(self, index: int) -> int:
        """Matches of all blocks below this one."""
        return sum(self._counts[hit] for hit in self.hits[bisect_right(self.hits, index) :])

    def note(self, index: int, count: int) -> None:
        """Note how many matches a block has."""
        known = index in self._counts
        if count:
            self._counts[index] = count
            if not known:
                insort(self.hits, index)
        elif known:
            del self._counts[index]
            self.hits.remove(index)

    def grown(self, first: int) -> None:
        """Blocks from this one on changed, or are new."""
        if self._pattern:
            known = self._work[0] if self._work else self._next + 1
            first = max(first, min(known, self._next + 1))
            self._changed.update(range(first, len(self._views)))

    def slice(self, seconds: float = SLICE_S) -> None:
        """Count for so long."""
        until = perf_counter() + seconds
        with colours_for(0):
            while self._work is not None or self._begin():
                self._go_on()
                if perf_counter() > until:
                    return

    def _begin(self) -> bool:
        """Take the next block; False if all are counted."""
        while self._changed or self._next >= 0:
            if self._next >= 0:
                index, self._next = self._next, self._next - 1
            else:
                index = self._changed.pop()
            if index >= len(self._views):
                continue
            block = self._views[index].block
            if block.state != "open" or block.length <= _MOST_GROWING:
                self._work = (index, count_in_block(self._views[index], self._pattern), 0)
                return True
        return False

    def _go_on(self) -> None:
        """Count one part."""
        if self._work is None:
            return
        index, parts, so_far = self._work
        found = next(parts, None)
        if found is None:
            self._work = None
            self.note(index, so_far)
        else:
            self._work = (index, parts, so_far + found)


class CurrentMatch(NamedTuple):
    """The match that is shown."""

    view: int
    page: ViewPage
    number: int
    """Its index among the matches of its page."""
    rank: int
    """Its rank among the matches of its block, counted from below, from 1."""


class PageMatches(NamedTuple):
    """The matches of a page, and the rows in which they were found."""

    rows: list[StyledRow]
    last: StyledRow | None
    height: int
    matches: list[Match]
    by_row: dict[int, list[tuple[MatchSpan, int]]]
    """StyledRow -> the parts on it, with the numbers of their matches."""


class TranscriptSearch:
    """Where the words are that are looked for, and which of them is shown."""

    def __init__(self, rows: TranscriptLayout) -> None:
        self.pattern = SearchPattern("")
        self.here: CurrentMatch | None = None
        self.counts = MatchCounts(self.pattern, rows.views)
        self._rows = rows
        self._kept: dict[ViewPage, PageMatches] = {}

    def look_for(self, words: str) -> None:
        """Count from the newest block on."""
        self.pattern, self.here = SearchPattern(words), None
        self.counts = MatchCounts(self.pattern, self._rows.views)
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

    def _stands(self, here: CurrentMatch) -> bool:
        """False if its block was replaced, or has other pages now."""
        pages = self._rows.views[here.view].pages if here.view < len(self._rows.views) else []
        return here.page.number < len(pages) and pages[here.page.number] is here.page

    def _wrapped(self, older: bool) -> int | None:
        """From the other end; upwards only if all is counted, or older ones would be left out."""
        if not self.counts.hits or (not older and self.counts.counting):
            return None
        return self._in_hits(self.counts.hits[-1] if older else self.counts.hits[0], older)

    def _from(self, index: int, page: int, older: bool = True) -> int | None:
        """The first match in the rest of a block, or in the next block that has one."""
        row = self._in_view(self._rows.views[index], page, older)
        if row is not None:
            return row
        hits = self.counts.hits
        at = bisect_left(hits, index) - 1 if older else bisect_right(hits, index)
        return self._in_hits(hits[at], older) if 0 <= at < len(hits) else None

    def _in_hits(self, index: int, older: bool) -> int | None:
        """The first match in this block, or in the next one that really has one."""
        hits = self.counts.hits
        while True:
            view = self._rows.views[index]
            self._make_ready(view)
            row = self._in_view(view, len(view.pages) - 1 if older else 0, older)
            if row is not None:
                return row
            at = bisect_left(hits, index)
            if self.counts.of(index):
                self.counts.note(index, 0)  # its text has it, its rows do not
            at = at - 1 if older else at
            if not 0 <= at < len(hits):
                return None
            index = hits[at]

    def _make_ready(self, view: BlockView) -> None:
        """Unfold what hides a match, and have the pages that there are."""
        self._rows.pages.made(view.first)
        if view.folded and self.counts.of(view.index) > self._seen(view):
            self._rows.toggle(view.index)

    def _seen(self, view: BlockView) -> int:
        """How many matches the rows of a block have; asked of those of one page only."""
        if len(view.pages) > 1:
            return self.counts.of(view.index)
        return len(self.matches(view.pages[0]))

    def _in_view(self, view: BlockView, page: int, older: bool) -> int | None:
        """The first match from this page on."""
        while 0 <= page < len(view.pages):
            one = view.pages[page]
            read = one.fresh or len(view.pages) == 1
            may = read or self.pattern.may_be_in(view.source(page))
            found = self.matches(one) if may else []
            if len(view.pages) == 1:
                self.counts.note(view.index, len(found))  # as it is shown
            if found:
                return self._go(one, len(found) - 1 if older else 0)
            page += -1 if older else 1
        return None

    def _go(self, page: ViewPage, number: int) -> int:
        """This is the one that is shown; returns its row."""
        pages, view, before = self._rows.pages, page.view, self.here
        pages.made(view.first + page.number)
        count = self.counts.of(view.index)
        rank = len(self.matches(page)) - number
        if before is not None and before.view == view.index and before.page is not page:
            rank = before.rank + (1 if page.number < before.page.number else -1)
        elif before is not None and before.page is page:
            rank = before.rank + before.number - number
        elif page.number < len(view.pages) - 1:
            rank = count - number
        self.here = CurrentMatch(view.index, page, number, min(max(rank, 1), max(count, 1)))
        return pages.start(view.first + page.number) + self.matches(page)[number][0].row

    # -- what is told

    @property
    def position(self) -> int:
        """The rank of the match that is shown, 1 for the newest; 0 if none is shown."""
        if self.here is None:
            return 0
        return self.here.rank + self.counts.newer(self.here.view)

    def matches(self, page: ViewPage) -> list[Match]:
        """Those on the rows of a page; its rows are made where they are not there."""
        return self._found(page).matches if page.view.index < len(self._rows.views) else []

    def _found(self, page: ViewPage) -> PageMatches:
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
            found = self.pattern.matches(rows)
        by_row: dict[int, list[tuple[MatchSpan, int]]] = {}
        for number, match in enumerate(found):
            for span in match:
                by_row.setdefault(span.row, []).append((span, number))
        kept = self._kept[page] = PageMatches(rows, last, len(rows), found, by_row)
        return kept

    def spans(self, row: int) -> list[tuple[int, int, bool]]:
        """First and last cell of the matches on a row; True: it is the one that is shown."""
        pages = self._rows.pages
        if not self.pattern or not self._rows.views or not 0 <= row < pages.total:
            return []
        at = pages.at(row)
        page, offset = pages[at], row - pages.start(at)
        here = self.here.number if self.here is not None and self.here.page is page else -1
        parts = self._found(page).by_row.get(offset, ())
        return [(span.start, span.end, number == here) for span, number in parts]


class SearchControl:
    """Runs a search while its bar is open: counts, shows the current match, says how many."""

    def __init__(
        self,
        rows: TranscriptLayout,
        viewport: Viewport,
        tell: Callable[[str], object],
        later: Callable[[float, Callable[[], None]], object],
    ) -> None:
        """``tell`` shows words about what was found; ``later`` calls back in so many seconds."""
        self.search = TranscriptSearch(rows)
        self.is_open = False
        self._viewport = viewport
        self._tell = tell
        self._later = later
        self._slicing = False
        self._from_row = 0
        """Where the search began: the row that was at the lower edge."""

    def open(self) -> None:
        """Begin at what is in sight."""
        if not self.is_open:
            self.search.look_for("")  # what came meanwhile was not counted
        self.is_open = True
        self._from_row = self._viewport.top + max(self._viewport.live_height() - 1, 0)

    def close(self) -> None:
        """Put the highlights out."""
        self.is_open = False
        self._viewport.repaint()

    def look_for(self, words: str) -> None:
        """Look for other words."""
        if words and words == self.search.pattern.words:
            return
        self.search.look_for(words)
        self._viewport.repaint()
        self._slice_now()

    def step(self, *, older: bool) -> None:
        """Go to the next match."""
        if self.search.pattern:
            self._show(self.search.step(older=older))
            self._say()

    def grown(self, first: int) -> None:
        """Blocks from this one on changed, or are new: they are counted soon."""
        if not self.is_open:
            return
        if first == 0 and not self.search.counts.stands:
            self.search.look_for(self.search.pattern.words)
        self.search.counts.grown(first)
        self._slice_later(_GROWN_S)

    def highlights(self, row: int) -> list[Highlight]:
        """The cells of a row that are highlighted."""
        if not self.is_open:
            return []
        palette = theme.active()
        now = palette.style("background", "warning", "bold")
        other = palette.style("", "raised", "underline")
        return [Highlight(a, b, now if here else other) for a, b, here in self.search.spans(row)]

    def _slice_now(self) -> None:
        """Count for some milliseconds, and go to the newest match as soon as there is one."""
        search, self._slicing = self.search, False
        if not self.is_open:
            return
        if search.pattern and search.here is None:
            self._show(search.first(self._from_row))
        search.counts.slice()
        if search.here is None and not search.counts.counting:
            above = search.first(self._from_row) if search.pattern else None
            self._show(search.step(older=True) if above is None else above)  # else only below
        self._say()
        self._viewport.place_thumb()
        if search.counts.waiting:
            self._slice_later(_PAUSE_S if search.counts.counting else _GROWN_S)

    def _slice_later(self, seconds: float) -> None:
        if not self._slicing:
            self._slicing = True
            self._later(seconds, self._slice_now)

    def _show(self, row: int | None) -> None:
        """Have this row in sight, with some rows around it."""
        if row is None:
            return
        top, height = self._viewport.top, self._viewport.live_height()
        if not top + 1 <= row < top + height - 2:
            self._viewport.go_to(row - height // 3)
        self._viewport.repaint()

    def _say(self) -> None:
        """Say how many there are; a plus: older ones are still being counted."""
        search, more = self.search, "+" if self.search.counts.counting else ""
        total = search.counts.total
        if not search.pattern:
            self._tell("")
        elif not total:
            self._tell("looking…" if more else NOT_FOUND)
        elif position := search.position:
            self._tell(f"{min(position, total)} of {total:,}{more}")
        else:
            self._tell(f"{total:,}{more} found")


_HINT = "↑ older · ↓ newer · Esc closes "
_ROOMY = 64
_STEPS = {"enter": True, "up": True, "shift+enter": False, "down": False}
"""Key -> whether it goes to an older match; terminals that search go upwards too."""


class SearchBar(Horizontal):
    """What is looked for, and how often it was said."""

    def __init__(self, pane: Widget, rows: TranscriptLayout, viewport: Viewport) -> None:
        """``pane`` shows the rows; it gets the focus when the bar lets go of it."""
        super().__init__(id="search-bar")
        self.field = Field(id="search-words")
        self.control = SearchControl(rows, viewport, self.tell, pane.set_timer)
        self._pane = pane
        self._before: Widget | None = None
        """What had the focus when the bar was opened."""
        self._count = Static("", markup=False, classes="count")
        self._hint = Static(_HINT, markup=False, classes="hint")
        self._hint.display = False  # until there is known to be room for it
        self.field.placeholder = _HINT.strip()

    def compose(self) -> ComposeResult:
        """Label, field, count, hint."""
        yield Static(" Search", markup=False, classes="label")
        yield self.field
        yield self._count
        yield self._hint

    def open(self) -> None:
        """Show the bar; what was looked for last is selected, so that typing replaces it."""
        if not self.control.is_open:
            self._before = self._pane.screen.focused
        self.control.open()
        self.add_class("-open")
        self.call_after_refresh(self.on_resize)  # shown again in its old size it is not told
        self.field.select_all()
        if self.field.value:
            self.control.look_for(self.field.value)
        self._pane.screen.set_focus(self.field)  # at once: the next key is meant for it

    def close(self) -> bool:
        """Hide the bar and go back to where it was opened; False if it was not open."""
        if not self.control.is_open:
            return False
        had_focus = self.screen.focused is self.field
        self.remove_class("-open")
        self.control.close()
        if had_focus:
            before = self._before if self._before in self.screen.focus_chain else None
            self.screen.set_focus(before or self._pane)
        return True

    def tell(self, words: str) -> None:
        """Say how often it was said."""
        self._count.update(f" {words} " if words else "")
        self._count.set_class(words == NOT_FOUND, "-nothing")

    def on_resize(self) -> None:
        """What is looked for needs the room more than what the keys do."""
        self._hint.display = roomy = self.size.width >= _ROOMY
        self.field.placeholder = "any case; a capital letter counts" if roomy else _HINT.strip()

    def on_key(self, event: events.Key) -> None:
        """Step through the matches, or go on reading where the last one is: they stay lit."""
        if event.key in _STEPS:
            self.control.step(older=_STEPS[event.key])
        elif event.key == "tab":
            self.screen.set_focus(self._pane)
        else:
            return
        event.stop()
        event.prevent_default()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if self.control.is_open:
            self.control.look_for(event.value)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.control.step(older=True)
