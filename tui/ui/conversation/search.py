"""Search in the conversation: the match that is shown, and the way to the next one.

What is not in sight is counted from the blocks' text (`tally`, in slices); the rows of a match are
made when the user goes there. So thousands of turns cost a few milliseconds at a time.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter
from typing import NamedTuple

from rich.cells import cell_len

from tui.core.turn import Block, BlockKind
from tui.ui.conversation.fences import colours_for
from tui.ui.conversation.hunk_card import PatchView
from tui.ui.conversation.layout import Layout
from tui.ui.conversation.markdown_stream import MarkdownStream
from tui.ui.conversation.views import BlockView, Page
from tui.ui.rows import MARGIN, Line, Row, inert

_LEAD = re.compile(r"[\s▎│▌╌•┃]*")
"""Bars, bullets and indents at the beginning of a row are no part of what is said."""
_SIGNS = re.compile(r"[*_`~\\|\[\]<>#]+")
"""What Markdown takes away: a word may stand around it."""


_INFO = re.compile(r"^[ \t>]*(?:`{3,}|~{3,})[^`\n]*$", re.MULTILINE)
"""What a fence says of its code is not shown."""


class Span(NamedTuple):
    """A match's part on one row, in cells; the last one is behind it."""

    row: int
    start: int
    end: int


Match = tuple[Span, ...]


class Needle:
    """What is looked for: words, in any case unless one of the letters is a capital."""

    def __init__(self, words: str) -> None:
        parts = words.split()
        exact = words != words.lower()
        self.words = words
        self._pattern = re.compile(
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
        return sum(1 for _ in self._pattern.finditer(text))

    def count_in_rows(self, texts: Iterable[str]) -> int:
        """How often it is in rows under each other."""
        return self.count(" ".join(_body(text)[1] for text in texts))

    def matches(self, rows: Sequence[Row]) -> list[Match]:
        """All places in rows under each other, from top to bottom."""
        bodies = [_body(row.text) for row in rows]
        starts, at = [], 0
        for _, body in bodies:
            starts.append(at)
            at += len(body) + 1
        whole = " ".join(body for _, body in bodies)
        found: list[Match] = []
        for match in self._pattern.finditer(whole):
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
                    spans.append(Span(number, left, left + cell_len(body[begin:end])))
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


_PART_CHARS = 4_000
"""Of Markdown that is read at once: about 2 ms."""
_SOURCE_CHARS = 64_000
"""Of its source, if that can be searched."""
_RAW_CHARS = 200_000
"""Of other text."""


def counted(view: BlockView, needle: Needle) -> Iterator[int]:
    """How often the words are in each part of a block; each part takes a few milliseconds."""
    block = view.block
    if isinstance(view, PatchView):
        for number in range(len(view.pages)):
            yield _count(view.lines(number), needle)
    elif block.kind is BlockKind.TEXT and block.state != "failed":
        yield from _in_markdown(view, needle)
    else:
        yield needle.count(inert(block.title))
        at = 0
        while at < block.length:
            end = min(at + _RAW_CHARS, block.length)
            yield needle.count(inert(block.text_between(at, end)))
            at = end


def _in_markdown(view: BlockView, needle: Needle) -> Iterator[int]:
    """From the source where that can be; else made into rows, if it has all words at all."""
    block = view.block
    parts = _source_parts(block)
    if needle.count_in_source("") is not None:
        for part in parts:
            yield (needle.count_in_source(part) or 0) if needle.may_be_in(part) else 0
        return
    if block.length <= _SOURCE_CHARS and not needle.may_be_in(block.text):
        return
    stream = MarkdownStream(view.inner)
    at = done = 0
    while at < block.length:
        end = min(at + _PART_CHARS, block.length)
        stream.feed(block.text_between(at, end))
        at = end
        if at == block.length:
            stream.finish()
        settled = stream.closed()
        yield _count(settled[done:], needle)
        done = len(settled)


def _source_parts(block: Block) -> Iterator[str]:
    """The source of Markdown, where it is long in parts that end with a line, if they can."""
    at = 0
    while at < block.length:
        part = block.text_between(at, min(at + _SOURCE_CHARS, block.length))
        cut = part.rfind("\n") + 1 if at + len(part) < block.length else 0
        yield part[:cut] if cut else part
        at += cut or len(part)


def _count(lines: Iterable[Line], needle: Needle) -> int:
    return needle.count_in_rows("".join(text for text, _ in line.pieces) for line in lines)


SLICE_S = 0.004
"""What one slice of counting may take."""
_MOST_GROWING = 20_000
"""Characters of a block that is counted again while it grows; a longer one is at its end."""


class Tally:
    """The counts of one search; blocks without a match have none."""

    def __init__(self, needle: Needle, views: Sequence[BlockView]) -> None:
        self.hits: list[int] = []
        """Indexes of the blocks that have a match, in order."""
        self._needle = needle
        self._views = views
        self._first = views[0] if views else None
        """The oldest block: it is another one in another conversation."""
        self._counts: dict[int, int] = {}
        self._next = len(views) - 1 if needle else -1
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
        """A block has so many matches."""
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
        if self._needle:
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
                self._work = (index, counted(self._views[index], self._needle), 0)
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
