"""The hosted apply_patch tool: one file a call, and a diff without envelope or header."""

from __future__ import annotations

from typing import Literal

from tui.core.edit_stream.events import Ev, Partial
from tui.core.edit_stream.grammar import Grammar
from tui.core.mending import mended

Operation = Literal["create_file", "update_file", "delete_file"]
_HEADERS = {"create_file": "Add", "update_file": "Update", "delete_file": "Delete"}


class HostedPatch:
    """Reads the diff of one ``apply_patch_call`` operation."""

    def __init__(self, operation: Operation, path: str) -> None:
        """The operation's type and path; its diff comes by `feed`."""
        self._grammar = Grammar()
        self._parts: list[str] = []
        self._number = 0
        self._out = self._grammar.take(f"*** {_HEADERS[operation]} File: {path}", "\n", 0)

    def feed(self, delta: str) -> list[Ev]:
        """Read the next piece of the diff."""
        *wholes, rest = delta.split("\n")
        for whole in wholes:
            self._parts.append(whole)
            self._end_line("\n")
        if rest:
            self._parts.append(rest)
        return self._said()

    def tail(self) -> list[Ev]:
        """The unfinished ``+`` line, for one frame."""
        self._parts = ["".join(self._parts)]
        text = None if self._grammar.ended else self._grammar.partial(self._parts[0])
        return [] if text is None else [Partial(text)]

    def finish(self, cut: bool) -> list[Ev]:
        """The call is complete (its end is the end marker), or ``cut`` at this character."""
        if not cut and any(self._parts):
            self._end_line("")
        if not self._grammar.ended:
            self._out += self._grammar.cut() if cut else self._grammar.close(explicit=True)
        return self._said()

    def _end_line(self, newline: str) -> None:
        self._number += 1
        raw = mended("".join(self._parts))
        self._parts.clear()
        if self._grammar.ended:
            return
        text = raw.removesuffix("\r")
        ending = "\r" + newline if text != raw else newline
        self._out += self._grammar.take(text, ending, self._number)

    def _said(self) -> list[Ev]:
        out, self._out = self._out, []
        return out
