"""The transcript: turns and their blocks, growing by appending only.

A front end keeps, per block, the number of characters that it has painted, and asks for the rest:
reading costs what is new, however long the conversation is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import Literal

_MOST_PIECES = 256
_CHUNK_CHARS = 1 << 16


class BlockKind(StrEnum):
    """What a block of the conversation is."""

    USER = "user"
    TEXT = "text"
    """The model's prose (Markdown)."""
    REASONING = "reasoning"
    """Reasoning or its summary; folded."""
    TOOL = "tool"
    """A tool call other than apply_patch: `title` is the call, the text its result in brief."""
    PATCH = "patch"
    """Hunks of one apply_patch call or one patch in prose: read `Workspace.hunks` by call id."""
    NOTE = "note"
    """What happened, in words: stopped, switched, reconnected."""
    RUN = "run"
    """A command and its output; `title` is the command line."""


BlockState = Literal["open", "done", "cut", "failed"]


@dataclass(eq=False, slots=True)
class Block:
    """One piece of the conversation."""

    kind: BlockKind
    turn: int
    title: str = ""
    speaker: str = ""
    """``fast`` or ``deep`` for what a model said."""
    call_id: str = ""
    state: BlockState = "open"
    length: int = 0
    """Characters so far."""
    _chunks: list[str] = field(default_factory=list, repr=False)
    """Text that came long ago, in pieces of about `_CHUNK_CHARS`."""
    _tail: list[str] = field(default_factory=list, repr=False)
    """The newest pieces, as they came: joining each would cost what the text is long."""

    @property
    def text(self) -> str:
        """The whole text so far."""
        return "".join((*self._chunks, *self._tail))

    def append(self, text: str) -> None:
        """Add a piece."""
        self._tail.append(text)
        self.length += len(text)
        if len(self._tail) >= _MOST_PIECES:
            self._join()

    def say(self, text: str) -> None:
        """Have this text instead, however much was said before."""
        self._chunks.clear()
        self._tail[:] = [text]
        self.length = len(text)

    def text_since(self, start: int) -> str:
        """What came behind the first ``start`` characters; costs what that is long."""
        return self.text_between(start, self.length)

    def text_between(self, start: int, end: int) -> str:
        """The characters from ``start`` to before ``end``."""
        found: list[str] = []
        at = self.length
        for piece in chain(reversed(self._tail), reversed(self._chunks)):
            at -= len(piece)
            if at < end:
                found.append(piece[max(start - at, 0) : end - at])
            if at <= start:
                break
        return "".join(reversed(found))

    def _join(self) -> None:
        """Small pieces cost more memory than what they say."""
        text = "".join(self._tail)
        self._tail.clear()
        if self._chunks and len(self._chunks[-1]) < _CHUNK_CHARS:
            self._chunks[-1] += text
        else:
            self._chunks.append(text)


@dataclass(eq=False, slots=True)
class Transcript:
    """All blocks of a conversation, oldest first; blocks are appended, never removed."""

    blocks: list[Block] = field(default_factory=list)

    def add(self, block: Block) -> int:
        """Append a block; returns its index."""
        self.blocks.append(block)
        return len(self.blocks) - 1
