"""Syntax colours of both sides of a diff, made for the lines that are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

from tui.core.text.buffer import Buffer
from tui.ui.review.changes import FileChanges

if TYPE_CHECKING:
    from tui.ui.highlight.lines import Spans

_ROW_S = 0.002
"""For one line, if it has no colours yet."""


class _Text:
    """The colours of one of the two texts.

    Until a lexer has come from the top, a row has the colours of one that began near it.
    """

    def __init__(self, buffer: Buffer) -> None:
        from tui.ui.highlight.colours import BufferColours  # Pygments: when a diff is looked at

        self._colours = BufferColours(buffer)
        self.asked: set[int] = set()
        """Rows that were painted with colours that may change."""

    def spans(self, row: int, until: float) -> tuple[Spans, bool]:
        """See `SideColours`."""
        colours = self._colours
        most_s = min(until - perf_counter(), _ROW_S)
        if most_s > 0 and colours.loaded:
            colours.advance(row, most_s, row)
        if colours.pending:
            self.asked.add(row)
        return colours.spans(row), colours.pending

    def go_on(self, budget_s: float) -> bool:
        """See `SideColours`."""
        first, last = self._colours.idle(budget_s) or (0, 0)
        anew = not self._colours.pending or any(first <= row < last for row in self.asked)
        if anew:
            self.asked.clear()
        return anew


class SideColours:
    """The colours of one file's old and new text."""

    def __init__(self) -> None:
        self._new: _Text | None = None
        self._buffer: Buffer | None = None
        self._old: _Text | None = None
        self._old_lines: Sequence[str] = ()
        self._made_for: FileChanges | None = None

    def take(self, file: FileChanges) -> None:
        """These are the file's changes now."""
        if file.buffer is not self._buffer:
            self._buffer = file.buffer
            self._new = None if file.buffer is None else _Text(file.buffer)
        if file is not self._made_for:
            self._made_for = file
            old = file.old
            if old != self._old_lines:
                self._old_lines = old
                self._old = _Text(_buffer(file.path, old))

    def spans(self, row: int, *, old: bool, until: float) -> tuple[Spans, bool]:
        """The spans of a line, and whether they may be others soon: then `go_on`.

        ``until``: the `perf_counter` up to which there is time to make them.
        """
        text = self._old if old else self._new
        return ((), False) if text is None else text.spans(row, until)

    def go_on(self, budget_s: float) -> bool:
        """Make what is missing for a while; true if rows that were asked for are to be painted."""
        asked = [text for text in (self._new, self._old) if text is not None and text.asked]
        return not asked or any(text.go_on(budget_s) for text in asked)


def _buffer(path: str, lines: Sequence[str]) -> Buffer:
    """A text that is only looked at."""
    made = Buffer(path)
    if lines:
        made.lines = list(lines)
        made.endings = ["\n"] * (len(lines) - 1) + [""]
    return made
