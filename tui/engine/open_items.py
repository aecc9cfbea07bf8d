"""What a response holds while it streams: messages with patches between them, and calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct, field

from tui.core.history import Item
from tui.core.text.pieces import Pieces
from tui.core.turn import Block, BlockKind
from tui.engine.board import Board
from tui.engine.items import PATCH_TOOL

if TYPE_CHECKING:
    from tui.core.edits.patches.landing import Landing
    from tui.core.steps import Work


class Page(Struct, frozen=True):
    """Where one model's turn is written."""

    board: Board
    turn: int
    speaker: str

    def block(self, kind: BlockKind, title: str = "", call_id: str = "") -> Block:
        """A new block of the conversation."""
        return self.board.add(Block(kind, self.turn, title, speaker=self.speaker, call_id=call_id))

    def unused(self, name: str) -> str:
        """A name for the hunks of a call or a message that no earlier one has."""
        taken = self.board.workspace.hunks_of(name)
        return f"{name} {len(self.board.transcript.blocks)}" if taken else name


class Prose(Struct):
    """A message: text blocks with patches between them."""

    landing: Landing
    block: Block | None = None
    patch: Block | None = None
    said: Pieces = field(default_factory=Pieces)
    ended: bool = False
    """The server finished the item."""

    @property
    def shows(self) -> bool:
        """Something of it is on the screen."""
        return self.block is not None or self.patch is not None

    def show(self, page: Page) -> None:
        """What is text goes into a block; a patch in it has a block of its own."""
        landing = self.landing
        if self.patch is None and landing.hunks:
            if self.block is not None:
                page.board.close(self.block)
                self.block = None
            self.patch = page.block(BlockKind.PATCH, PATCH_TOOL, landing.hunks[0].call_id)
        told, landing.prose = landing.prose, []
        for text in told:
            if self.block is None:
                self.block = page.block(BlockKind.TEXT)
            page.board.append(self.block, text)

    def end(self, page: Page, *, cut: bool) -> None:
        """Nothing more comes."""
        if (self.block or self.patch) is None and not self.said:
            return
        self.landing.finish(cut=cut)
        self.show(page)
        for block in (self.block, self.patch):
            if block is not None:
                failed = block is self.patch and not self.landing.placed_all
                page.board.close(block, "cut" if cut else "failed" if failed else "done")


class Call(Struct):
    """A tool call."""

    item: Item
    block: Block
    landing: Landing | None = None
    parts: Pieces = field(default_factory=Pieces)
    done: bool = False
    said: str = ""
    """The whole input, once it is done."""
    shell: bool = False
    """It calls a shell, maybe to apply a patch."""
    twins: list[Call] = field(default_factory=list)
    """Calls that landed, and that this one repeats as far as it came."""
    compared: int = 0
    """Characters that were compared with theirs."""
    again: bool = False
    """It was applied before: what became of that is its answer."""
    output: str | None = None
    report: Callable[[], Work[str]] | None = None
    """Gives the output, when it is sent: what is in the buffers then."""
    failed: bool = False

    @property
    def name(self) -> str:
        """The tool's name."""
        return PATCH_TOOL if self.landing else str(self.item.get("name") or self.item.get("type"))

    @property
    def text(self) -> str:
        """The input or arguments as far as they came."""
        return self.parts.text
