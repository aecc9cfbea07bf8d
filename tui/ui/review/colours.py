"""Syntax colours of both sides of a diff, made for the lines that are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

from tui.core.text.buffer import Buffer
from tui.ui.review.changes import FileChanges

if TYPE_CHECKING:
    from tui.ui.highlight.colours import BufferColours
    from tui.ui.highlight.lines import Spans

_ROW_S = 0.002
"""For one line, if it has no colours yet."""


class SideColours:
    """The colours of one file's old and new text."""

    def __init__(self) -> None:
        self._new: BufferColours | None = None
        self._buffer: Buffer | None = None
        self._old: BufferColours | None = None
        self._old_lines: Sequence[str] = ()
        self._made_for: FileChanges | None = None

    def take(self, file: FileChanges) -> None:
        """These are the file's changes now."""
        from tui.ui.highlight.colours import BufferColours  # Pygments: when a diff is looked at

        if file.buffer is not self._buffer:
            self._buffer = file.buffer
            self._new = None if file.buffer is None else BufferColours(file.buffer)
        if file is not self._made_for:
            self._made_for = file
            old = file.old_lines()
            if old != self._old_lines:
                self._old_lines = old
                self._old = BufferColours(_buffer(file.path, old))

    def spans(self, row: int, *, old: bool, until: float) -> tuple[Spans, bool]:
        """The spans of a line, and whether they will be others soon.

        ``until``: the `perf_counter` up to which there is time to make them.
        """
        colours = self._old if old else self._new
        if colours is None:
            return (), False
        began_s = perf_counter()
        most_s = min(until - began_s, _ROW_S)
        if most_s > 0 and colours.loaded:
            colours.advance(row, most_s, row)
        spans = colours.spans(row)
        # on a busy machine a row's time is over before its line is reached: it is asked for again
        ran_out = perf_counter() - began_s >= most_s
        return spans, not colours.loaded or (not spans and colours.pending and ran_out)

    def idle(self, budget_s: float) -> None:
        """Load what is not loaded, for a while."""
        for colours in (self._new, self._old):
            if colours is not None and not colours.loaded:
                colours.idle(budget_s)


def _buffer(path: str, lines: Sequence[str]) -> Buffer:
    """A text that is only looked at."""
    made = Buffer(path)
    if lines:
        made.lines = list(lines)
        made.endings = ["\n"] * (len(lines) - 1) + [""]
    return made
