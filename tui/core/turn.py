"""The transcript: turns and their blocks, growing by appending only.

A front end keeps, per block, the number of parts that it has painted, and asks for the rest:
reading costs what is new, however long the conversation is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal


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
    parts: list[str] = field(default_factory=list)
    """The text in the pieces in which it came; append only."""

    @property
    def text(self) -> str:
        """The whole text so far."""
        if len(self.parts) > 1:
            return "".join(self.parts)
        return self.parts[0] if self.parts else ""

    def append(self, text: str) -> None:
        """Add a piece."""
        self.parts.append(text)

    def text_since(self, part: int) -> str:
        """What came after the first ``part`` pieces."""
        return "".join(self.parts[part:])


@dataclass(eq=False, slots=True)
class Transcript:
    """All blocks of a conversation, oldest first; blocks are appended, never removed."""

    blocks: list[Block] = field(default_factory=list)

    def add(self, block: Block) -> int:
        """Append a block; returns its index."""
        self.blocks.append(block)
        return len(self.blocks) - 1
