"""The transcript: turns and their blocks, growing by appending only.

A front end keeps, per block, the number of characters that it has painted, and asks for the rest:
reading costs what is new, however long the conversation is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from tui.core.text.pieces import Pieces


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
    _said: Pieces = field(default_factory=Pieces, repr=False)

    @property
    def length(self) -> int:
        """Characters so far."""
        return self._said.length

    @property
    def text(self) -> str:
        """The whole text so far."""
        return self._said.text

    def append(self, text: str) -> None:
        """Add a piece."""
        self._said.append(text)

    def say(self, text: str) -> None:
        """Have this text instead, however much was said before."""
        self._said.say(text)

    def text_since(self, start: int) -> str:
        """What came behind the first ``start`` characters; costs what that is long."""
        return self._said.between(start, self.length)

    def text_between(self, start: int, end: int) -> str:
        """The characters from ``start`` to before ``end``."""
        return self._said.between(start, end)


@dataclass(eq=False, slots=True)
class Transcript:
    """All blocks of a conversation, oldest first; blocks are appended, never removed."""

    blocks: list[Block] = field(default_factory=list)

    def add(self, block: Block) -> int:
        """Append a block; returns its index."""
        self.blocks.append(block)
        return len(self.blocks) - 1
