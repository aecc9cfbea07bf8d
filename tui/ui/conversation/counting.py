"""How often words are in a block, without a row of it being made for the screen.

So a search can count through thousands of turns, a part at a time, and neither the rows in sight
nor the scroll bar move.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tui.core.turn import Block, BlockKind
from tui.ui.conversation.markdown_stream import MarkdownStream
from tui.ui.conversation.patch_view import PatchView
from tui.ui.conversation.seeking import Needle
from tui.ui.conversation.views import BlockView
from tui.ui.rows import Line, inert

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
