"""The lines of a section that waits for a choice of its place, kept as one string.

Thousands may wait, and those that were given up may be asked for again: as lists and tuples each
would take ten times what its lines take.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tui.core.edits.hunk import Hunk
from tui.core.edits.sections.placement import Locator, Search
from tui.core.edits.sections.rereading import Op
from tui.core.text.buffer import Buffer
from tui.core.text.line_index import LineIndex

_BEGINS = {"-": "<", "+": ">"}
_SIGNS = {"<": "-", ">": "+"}


class Folded(NamedTuple):
    """A section's lines, and what else says where it belongs."""

    lines: str
    """Each behind its sign: ``=``, ``-`` or ``+``; ``<`` or ``>`` where the next hunk begins."""
    search: Search
    anchors: tuple[str, ...]
    hint: int | None
    at_end: bool
    bare: tuple[tuple[int, int], ...]

    def opened(self, hunks: Sequence[Hunk]) -> list[Op]:
        """The lines, each with its hunk."""
        ops: list[Op] = []
        at = 0
        for line in self.lines.split("\n"):
            sign, text = line[0], line[1:]
            at += sign in _SIGNS
            ops.append((_SIGNS.get(sign, sign), text, None if sign == "=" else hunks[at]))
        return ops

    def locator(self, buffer: Buffer, index: LineIndex, ops: list[Op]) -> Locator:
        """What looks for the opened lines."""
        locator = Locator(buffer, index, self.search, ops=ops)
        for op, text, _ in ops:
            if op == "+":
                locator.new.append(text)
            else:
                locator.add_old(text, op == "=")
        locator.anchors, locator.hint, locator.at_end = [*self.anchors], self.hint, self.at_end
        locator.bare = dict(self.bare)
        return locator


def folded(ops: Sequence[Op], locator: Locator) -> Folded:
    """The lines of a section, of which the hunks follow each other."""
    lines: list[str] = []
    last: Hunk | None = None
    for op, text, hunk in ops:
        begins = hunk is not None and hunk is not last and last is not None
        lines.append(f"{_BEGINS[op] if begins else op}{text}")
        last = hunk or last
    said = (tuple(locator.anchors), locator.hint, locator.at_end, tuple(locator.bare.items()))
    return Folded("\n".join(lines), locator.search, *said)
