"""Text deltas in, edit events out: one push-style parser for every format, without I/O."""

from __future__ import annotations

from typing import Literal, Protocol

from tui.core.edit_stream.events import Ev, Notation
from tui.core.edit_stream.naming import Exists, no_file

__all__ = ["Channel", "Format", "Parser", "parser_for"]

Channel = Literal["custom", "function", "shell", "text"]
"""Where the patch comes: custom tool input, function arguments (JSON), a shell's arguments (JSON
with the patch somewhere in its strings), assistant text."""
Format = Literal[
    "auto", "marked", "none", "apply_patch", "search_replace", "unified_diff", "whole_file"
]
"""What it is written in: auto detects all, marked those that have markers of their own."""

_MARKED: tuple[Notation, ...] = ("apply_patch", "search_replace", "unified_diff")


class Parser(Protocol):
    """What all parsers can do."""

    @property
    def unnamed(self) -> int:
        """Blocks of code in a text of whole files that were passed over: no name was above."""

    def feed(self, delta: str) -> list[Ev]:
        """Read the next piece; returns the facts that it decides."""

    def tail(self) -> list[Ev]:
        """The unfinished line as it may be painted for one frame (`Partial`), or nothing."""

    def finish(self, cut: bool) -> list[Ev]:
        """End the stream: complete as the transport says, or ``cut``. Later calls say nothing."""


def parser_for(fmt: Format, channel: Channel, exists: Exists = no_file) -> Parser:
    """A new parser for one call or one message; ``exists`` knows the files of the workspace.

    A tool channel requires an edit to be there; in text there may be any number, or none.
    """
    if channel == "shell":
        from tui.core.edit_stream.arguments import ShellPatches

        return ShellPatches()
    from tui.core.edit_stream.arguments import ArgumentPatches
    from tui.core.edit_stream.parser import EditParser

    formats: frozenset[Notation]
    if fmt == "auto":
        formats = frozenset((*_MARKED, "whole_file"))
    elif fmt == "marked":
        formats = frozenset(_MARKED)
    elif fmt == "none":
        formats = frozenset()
    else:
        formats = frozenset((fmt,))
    parser = EditParser(formats, required=channel != "text", exists=exists)
    return ArgumentPatches(parser) if channel == "function" else parser
