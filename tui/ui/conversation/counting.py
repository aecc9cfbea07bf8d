"""How often words are in a block, without a row of it being made for the screen.

So a search can count through thousands of turns, a part at a time, and neither the rows in sight
nor the scroll bar move.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tui.core.turn import BlockKind
from tui.ui.conversation.markdown_stream import MarkdownStream
from tui.ui.conversation.patch_view import PatchView
from tui.ui.conversation.seeking import Needle
from tui.ui.conversation.views import BlockView
from tui.ui.rows import Line, inert

_PART_CHARS = 4_000
"""Of Markdown that is read at once: about 2 ms."""
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
    block, source = view.block, view.block.text
    if not needle.may_be_in(source):
        return
    if (quick := needle.count_in_source(source)) is not None:
        yield quick
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


def _count(lines: Iterable[Line], needle: Needle) -> int:
    return needle.count_in_rows("".join(text for text, _ in line.pieces) for line in lines)
