"""What a model thinks: one row with the live tail, or the whole text, wrapped as it comes."""

from __future__ import annotations

from time import thread_time

from rich.style import Style

from tui.core.turn import Block
from tui.ui import theme
from tui.ui.conversation.views import BlockView, Scene
from tui.ui.rows import (
    Line,
    Piece,
    Target,
    breaks,
    clip,
    clip_left,
    flat,
    inert,
    one_line,
    spread,
    wrap,
)

_LONGEST_OPEN = 2_000
"""Characters of a paragraph that are wrapped again when more of it comes."""
_FEED_S, _FED_AT_ONCE = 0.004, 1_000
"""The text is wrapped for so long in one frame; what is left waits for the next one."""
_MOST_COUNTED = 1_000_000
"""Characters whose words are counted in one frame."""


class WrappedStream:
    """Plain text that grows: only its open paragraph is wrapped again, and of a long one the end.

    Empty lines at the beginning and at the end are left out.
    """

    def __init__(self, width: int, style: Style, bar: Piece) -> None:
        self.rows: list[Line] = []
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
        self.rows += [Line([self._bar, *row]) for row in rows]

    def _split(self) -> None:
        """Settle the rows of a long paragraph, all but the last one."""
        text = flat(inert(self._open))
        start = breaks(text, self._width)[-1][0]
        self._put(text[:start].rstrip(" "))
        self._open = text[start:]


class ReasoningView(BlockView):
    """One row with the live tail; unfolded, the whole text."""

    def __init__(self, block: Block, index: int, scene: Scene, before: Block | None) -> None:
        super().__init__(block, index, scene, before)
        self._body: WrappedStream | None = None
        """The text, while it is unfolded."""
        self._taken = 0
        """Characters that it has."""
        self._head = ""
        """What stands over it."""
        self._words = self._counted = 0
        """Words of as many characters."""
        self._in_word = False

    def _sync(self) -> int | None:
        fresh, behind = self.pages[0].fresh, self.scene.behind
        if not self._changed() and self.index not in behind:
            return None
        palette = theme.active()
        style = palette.style("muted", more="italic")
        target = Target("fold", self.index)
        still = self.block.state == "open"
        self._count()
        head = "∴ thinking" if still else "∴ thought"
        said = self._size() if self.folded or not still else ""
        size: list[Piece] = [(said, palette.style("faint"))]
        if not self.folded:
            line = Line(spread([(f"{head} ▾", style)], size, self.inner), target=target)
            grown = self._grown(line, head) if fresh and self._body else self._begun(line, head)
            whole = self._taken == self._counted == self.block.length
            (behind.discard if whole else behind.add)(self.index)
            return grown
        self._body = None
        (behind.discard if self._counted == self.block.length else behind.add)(self.index)
        text = self.block.text_since(max(self.block.length - 4 * self.inner, 0))
        shown = one_line(text)
        room = self.inner - len(head) - 4 - len(size[0][0])
        head_text = self.block.text_between(0, min(self.block.length, 4 * self.inner))
        tail = clip_left(shown, max(room, 1)) if still else clip(one_line(head_text), max(room, 1))
        pieces = [(f"{head} ▸ ", style), (tail, palette.style("faint", more="italic"))]
        return self._put([Line(spread(pieces, size, self.inner), target=target)])

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
        words = f"{self._words:,} word{'' if self._words == 1 else 's'}" if self._words else ""
        return "".join(f" · {part}" if part else "" for part in (words, self._lasted()))[2:]

    def _begun(self, line: Line, head: str) -> int:
        """The text is wrapped from its beginning."""
        palette = theme.active()
        style = palette.style("muted", more="italic")
        self._body = WrappedStream(self.inner - 2, style, ("▎ ", palette.style("line")))
        self._taken, self._head = 0, head
        self._feed(self._body)
        return self._put([line, *self._body.rows])

    def _feed(self, body: WrappedStream) -> int:
        """Wrap more of the text, for some milliseconds; returns the first row that changed."""
        first, until_s = len(body.rows), thread_time() + _FEED_S
        while self._taken < self.block.length and thread_time() < until_s:
            start, self._taken = self._taken, min(self._taken + _FED_AT_ONCE, self.block.length)
            first = min(first, body.feed(self.block.text_between(start, self._taken)))
        return first

    def _grown(self, line: Line, head: str) -> int:
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
