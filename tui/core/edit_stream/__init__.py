"""Text deltas in, edit events out: one push-style parser a format and channel, without I/O."""

from __future__ import annotations

from typing import Literal, Protocol

from tui.core.edit_stream.apply_patch import PatchParser
from tui.core.edit_stream.arguments import ArgumentPatches, ArgumentText
from tui.core.edit_stream.events import Ev
from tui.core.edit_stream.prose import ProsePatches

__all__ = [
    "ArgumentPatches",
    "ArgumentText",
    "Channel",
    "Format",
    "Parser",
    "PatchParser",
    "ProsePatches",
    "parser_for",
]

Channel = Literal["custom", "function", "text"]
"""Where the patch comes: custom tool input, function arguments (JSON), assistant text."""
Format = Literal["apply_patch", "auto"]


class Parser(Protocol):
    """What all parsers can do."""

    def feed(self, delta: str) -> list[Ev]:
        """Read the next piece; returns the facts that it decides."""

    def tail(self) -> list[Ev]:
        """The unfinished line as it may be painted for one frame (`Partial`), or nothing."""

    def finish(self, cut: bool) -> list[Ev]:
        """End the stream: complete as the transport says, or ``cut``. Later calls say nothing."""


def parser_for(fmt: Format, channel: Channel) -> Parser:
    """A new parser for one call or one message."""
    if channel == "function":
        return ArgumentPatches()
    return ProsePatches() if channel == "text" else PatchParser()
