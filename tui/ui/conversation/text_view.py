"""What a model writes: its reasoning, and its answer as Markdown, page by page.

Only the open end of a text is made again. A long answer is cut into pages where nothing before
can change any more, so that rows out of sight need not be kept: a page is made again from its
part of the text when it is looked at.
"""

from __future__ import annotations

import re
from time import thread_time

from rich.cells import cell_len
from rich.style import Style

from tui.core.conversation import Block
from tui.core.files import counted
from tui.ui import theme
from tui.ui.conversation.markdown_stream import Carried, MarkdownStream
from tui.ui.conversation.views import BlockView, ViewContext, ViewPage
from tui.ui.styled_text import (
    Piece,
    RowTarget,
    StyledLine,
    breaks,
    clip,
    flat,
    inert,
    one_line,
    spread,
    wrap,
)

_AS_IT_CAME = ("open", "cut")
"""Of a text in these states what is painted stays, be it that a sign in it has no partner yet."""
_LONGEST_OPEN = 2_000
"""Characters of a paragraph that are wrapped again when more of it comes."""
_WRAP_S, _WRAPPED_AT_ONCE = 0.004, 1_000
"""The text is wrapped for so long in one frame; what is left waits for the next one."""
_MOST_COUNTED = 1_000_000
"""Characters whose words are counted in one frame."""


class WrappedStream:
    """Plain text that grows: only its open paragraph is wrapped again, and of a long one the end.

    Empty lines at the beginning and at the end are left out.
    """

    def __init__(self, width: int, style: Style, bar: Piece) -> None:
        self.rows: list[StyledLine] = []
        """Valid after `feed`."""
        self._width = width
        self._style = style
        self._bar = bar
        self._settled = 0
        """Rows that cannot change any more."""
        self._open = ""
        """The text of the rows behind them."""
        self._held = ""
        """Blanks at the end: nobody knows yet whether anything follows."""

    def feed(self, text: str) -> int:
        """Add text; returns the index of the first row that changed."""
        text = self._held + text
        if not self._settled and not self._open:
            text = text.lstrip()
        kept = text.rstrip()
        self._held = text[len(kept) :]
        first = self._settled
        if not kept:
            return len(self.rows)
        *whole, self._open = (self._open + kept).split("\n")
        del self.rows[first:]
        for line in whole:
            self._put(line)
        if len(self._open) > _LONGEST_OPEN:
            self._split()
        self._settled = len(self.rows)
        self._put(self._open)
        return first

    def _put(self, paragraph: str) -> None:
        rows = wrap([(flat(inert(paragraph)), self._style)], self._width)
        self.rows += [StyledLine([self._bar, *row]) for row in rows]

    def _split(self) -> None:
        """Settle the rows of a long paragraph, all but the last one."""
        text = flat(inert(self._open))
        start = breaks(text, self._width)[-1][0]
        self._put(text[:start].rstrip(" "))
        self._open = text[start:]


class ReasoningView(BlockView):
    """One row with the live tail; unfolded, the whole text."""

    def __init__(
        self, block: Block, index: int, context: ViewContext, before: Block | None
    ) -> None:
        super().__init__(block, index, context, before)
        self._body: WrappedStream | None = None
        """The text, while it is unfolded."""
        self._taken = 0
        """Characters that it has."""
        self._head = ""
        """What stands over it."""
        self._words = self._counted = 0
        """Words of as many characters."""
        self._in_word = False
        self._shown = 0
        """Where the words begin that the live row shows."""

    def _sync(self) -> int | None:
        fresh, behind = self.pages[0].fresh, self.context.behind
        if not self._changed() and self.index not in behind:
            return None
        palette = theme.active()
        style = palette.style("muted", more="italic")
        target = RowTarget("fold", self.index)
        still = self.block.state in _AS_IT_CAME
        self._count()
        head = "∴ thinking" if still else "∴ thought"
        said = self._size() if self.folded or not still else ""
        size: list[Piece] = [(said, palette.style("faint"))]
        if not self.folded:
            line = StyledLine(spread([(f"{head} ▾", style)], size, self.inner), target=target)
            grown = self._grown(line, head) if fresh and self._body else self._begun(line, head)
            whole = self._taken == self._counted == self.block.length
            (behind.discard if whole else behind.add)(self.index)
            return grown
        self._body = None
        (behind.discard if self._counted == self.block.length else behind.add)(self.index)
        room = max(self.inner - len(head) - 4 - len(size[0][0]), 1)
        if still:
            tail = self._live(room)
        else:
            head_text = self.block.text_between(0, min(self.block.length, 4 * self.inner))
            tail = clip(one_line(head_text), room)
        pieces = [(f"{head} ▸ ", style), (tail, palette.style("faint", more="italic"))]
        return self._put([StyledLine(spread(pieces, size, self.inner), target=target)])

    def _live(self, room: int) -> str:
        """The last whole words: a row fills from the left and begins anew, so that none moves."""
        self._shown = max(self._shown, self.block.length - 4 * self.inner)
        start, words, used = self._shown, list[str](), 0
        for found in re.finditer(r"\S+(?=\s)", self.block.text_since(start)):
            word = one_line(found[0])
            used += cell_len(word) + bool(words)
            if words and used > room:
                self._shown, words, used = start + found.start(), [], cell_len(word)
            words.append(word)
        return clip(" ".join(words), room)

    def _count(self) -> None:
        """Count the words that are new; one may come in several pieces."""
        end = min(self._counted + _MOST_COUNTED, self.block.length)
        new = self.block.text_between(self._counted, end)
        self._counted = end
        joined = self._in_word and bool(new) and not new[0].isspace()
        self._words += len(new.split()) - joined
        self._in_word = not new[-1].isspace() if new else self._in_word

    def _size(self) -> str:
        """How much it is, and how long it took."""
        words = counted(self._words, "word") if self._words else ""
        return "".join(f" · {part}" if part else "" for part in (words, self._lasted()))[2:]

    def _begun(self, line: StyledLine, head: str) -> int:
        """The text is wrapped from its beginning."""
        palette = theme.active()
        style = palette.style("muted", more="italic")
        self._body = WrappedStream(self.inner - 2, style, ("▎ ", palette.style("line")))
        self._taken, self._head = 0, head
        self._feed(self._body)
        return self._put([line, *self._body.rows])

    def _feed(self, body: WrappedStream) -> int:
        """Wrap more of the text, for some milliseconds; returns the first row that changed."""
        first, until_s = len(body.rows), thread_time() + _WRAP_S
        while self._taken < self.block.length and thread_time() < until_s:
            start, self._taken = self._taken, min(self._taken + _WRAPPED_AT_ONCE, self.block.length)
            first = min(first, body.feed(self.block.text_between(start, self._taken)))
        return first

    def _grown(self, line: StyledLine, head: str) -> int:
        """What is new goes to its end; returns the first row that changed."""
        page, body = self.pages[0], self._body
        assert page.rows is not None
        assert body is not None
        at = len(page.rows) - len(body.rows)
        first = self._feed(body)
        del page.rows[at + first :]
        page.rows += map(self._row, body.rows[first:])
        page.height = len(page.rows)
        if head == self._head:
            return at + first
        self._head, page.rows[at - 1] = head, self._row(line)
        return at - 1


_PAGE_CHARS = 6_000
_FENCED_PAGE_CHARS = 24_000
"""Of a page that ends within a fence: what spans lines is coloured as a whole up to there."""
_MOST_FED = 16_000
"""Characters that are taken up in one frame: about 10 ms; what is left waits for the next one."""
_FEED_S = 0.005
"""The same of the processor's time: a text full of signs may take fifty times as long."""
_FEWEST, _FED_AT_ONCE, _QUICK_S = 100, 1_000, 0.002
"""Characters between two looks at the clock: twice as many where they were quick, else half."""
_MOST_LOOKED = 1_000_000
"""Characters that are looked through for code at once."""
_PAGE_S = 0.03
"""A page that took so long to make is long enough."""
_MAKE_S = 0.03
"""A text that is over and comes into sight is taken up for so long at once, then frame by frame."""


class TextPage(ViewPage):
    """Rows of a part of the text."""

    __slots__ = ("carried", "lead", "start")

    def __init__(self, view: BlockView, number: int, start: int, carried: Carried) -> None:
        super().__init__(view, number)
        self.start = start
        """Its first character."""
        self.carried = carried
        """What the text before it has left open."""
        self.lead = 0
        """Rows before the text."""


class TextView(BlockView):
    """The model's prose."""

    def __init__(
        self, block: Block, index: int, context: ViewContext, before: Block | None
    ) -> None:
        super().__init__(block, index, context, before)
        self._texts = [TextPage(self, 0, 0, Carried())]
        self._texts[0].height = self._guess()
        self.pages = [*self._texts]
        self._closed_rows = 0
        """Rows of all pages but the last one."""
        self._looked = 0
        """Characters that were looked through for code."""
        self._fenced = False
        """There is some, perhaps."""
        self._pace = _FEWEST
        """Characters that are taken up between two looks at the clock."""
        self._spent_s = 0.0
        """On the last page."""
        self._stream: MarkdownStream | None = None
        """Of the last page, while the text is open."""

    @property
    def has_stops(self) -> bool:
        """What broke off can be unfolded; code can be copied."""
        if not self._fenced and self._looked < self.block.length:
            end = min(self._looked + _MOST_LOOKED, self.block.length)
            new = self.block.text_between(max(self._looked - 2, 0), end)
            self._looked, self._fenced = end, "```" in new or "~~~" in new
        return self._fenced or self.block.state == "failed"

    @property
    def behind(self) -> bool:
        """True if there is more text than was taken up."""
        return self.index in self.context.behind

    def sync(self) -> int | None:
        """See `BlockView.sync`."""
        block = self.block
        if block.state == "failed":
            return self._void()
        goes_on = self._state == "cut" and (block.state, block.length) != ("cut", self._read)
        if goes_on and block.length < self._texts[-1].start:  # some of it was taken back
            self._texts, self._closed_rows = self._texts[:1], 0
            self.pages = [*self._texts]
        page = self._texts[-1]
        if self._state not in ("", "open") and page.fresh and not goes_on:
            return None
        if not page.fresh or goes_on:
            self._begin(page)
        elif (self._read, self._state) == (block.length, block.state):
            return None
        elif block.state == "cut" and self._read == block.length:
            self._state, self._stream = "cut", None
            return None
        return self._feed(page)

    def make(self, number: int) -> None:
        """Make the rows of a page."""
        page = self._texts[number]
        if number == len(self._texts) - 1:
            until_s = thread_time() + _MAKE_S
            self.sync()
            while self.behind and self.block.state != "open" and thread_time() < until_s:
                self.sync()  # who scrolls up to it wants its last rows
            return
        before, page.rows = page.height, None
        stream = MarkdownStream(self.inner, page.carried, page.start)
        stream.feed(self.block.text_between(page.start, self._texts[number + 1].start))
        stream.settle()
        self._show(page, stream.done, 0)
        self._closed_rows += page.height - before

    def source(self, number: int) -> str:
        """See `BlockView.source`."""
        last = number + 1 >= len(self._texts)
        end = self.block.length if last else self._texts[number + 1].start
        return self.block.text_between(self._texts[number].start, end)

    def _begin(self, page: TextPage) -> None:
        """Make the last page from its beginning."""
        self._stream = MarkdownStream(self.inner, page.carried, page.start)
        self._read, self._state, self._spent_s = page.start, "open", 0.0
        page.rows = None

    def _feed(self, page: TextPage) -> int:
        """Take up what is new, and cut the page where it has become long."""
        block, stream = self.block, self._stream
        assert stream is not None
        before, first = self._closed_rows, len(stream.rows)
        most, end = min(self._read + _MOST_FED, block.length), self._read
        start_s = now_s = thread_time()
        while end < most and now_s < start_s + _FEED_S:
            text = block.text_between(end, min(end + self._pace, most))
            first = min(first, stream.take(text))
            end += len(text)
            before_s, now_s = now_s, thread_time()
            quick = now_s - before_s < _QUICK_S
            self._pace = (
                min(self._pace * 2, _FED_AT_ONCE) if quick else max(self._pace // 2, _FEWEST)
            )
        stream.paint(first)
        self._spent_s += now_s - start_s
        self._read = end
        whole = end == block.length
        (self.context.behind.discard if whole else self.context.behind.add)(self.index)
        if whole and block.state not in _AS_IT_CAME:
            first = min(first, stream.finish())
        self._state = block.state if whole else "open"
        most = _FENCED_PAGE_CHARS if stream.fenced else _PAGE_CHARS
        settled = end - stream.unsettled - page.start
        if self._state == "open" and (settled > most or (settled > 0 and self._spent_s > _PAGE_S)):
            first = self._cut(page, first)
        else:
            self._show(page, stream.rows, first)
        if self._state != "open":
            self._stream = None
        return before + first

    def _cut(self, page: TextPage, first: int) -> int:
        """End this page where all is settled; what is open begins the next one."""
        old = self._stream
        assert old is not None
        self._show(page, old.done, first)
        self._closed_rows, self._spent_s = self._closed_rows + page.height, 0.0
        start = self._read - old.unsettled
        new = TextPage(self, len(self.pages), start, old.carried)
        self._texts.append(new)
        self.pages.append(new)
        self._stream = MarkdownStream(self.inner, new.carried, start)
        self._stream.feed(self.block.text_between(start, self._read))
        self._show(new, self._stream.rows, 0)
        return first

    def _show(self, page: TextPage, lines: list[StyledLine], first: int) -> None:
        """Have these rows on a page; those before ``first`` stay as they are."""
        if page.rows is None:
            page.rows = [] if page.number else self._lead()
            page.lead, first = len(page.rows), 0
        del page.rows[page.lead + first :]
        page.rows += map(self._row, map(self._owned, lines[first:]))
        page.height, page.version = len(page.rows), self.version

    def _owned(self, line: StyledLine) -> StyledLine:
        """Code knows in which block it is."""
        target = line.target
        return line if target is None else line._replace(target=target._replace(key=self.index))

    def _void(self) -> int | None:
        """It broke off and was asked for again: one row, out of the new answer's way."""
        if self._state == "failed" and self.pages[0].fresh:
            return None
        self._state, self._read = "failed", self.block.length
        self.context.behind.discard(self.index)
        self._texts = self._texts[:1]
        self.pages = [*self._texts]
        self._closed_rows, self._stream = 0, None
        faint, words = theme.active().style("faint"), "broke off"
        beginning = self.block.text_between(0, min(self.block.length, 4 * self.inner))
        first = clip(one_line(beginning), self.inner - len(words) - 4)
        glyph = "⋯" if self.folded else "▾"
        row = spread([(f"{glyph} {first}", faint)], [(words, faint)], self.inner)
        lines = [StyledLine(row, target=RowTarget("fold", self.index))]
        if not self.folded:
            stream = MarkdownStream(self.inner)
            stream.feed(self.block.text)
            stream.finish()
            lines += stream.rows
        return self._put(lines)

    def _guess(self) -> int:
        """About how many rows there will be."""
        return 2 + self.block.length * 3 // (2 * self.inner)
