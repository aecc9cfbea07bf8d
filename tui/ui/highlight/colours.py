"""Syntax colours for buffers: Pygments per line, never the whole file.

`BufferColours` follows one buffer. It costs what changed: lines above the edit keep their
spans, lines below are lexed until the lexer is in the state it was in before. A lexer that
raises is dropped for that file, and the text stays plain.
"""

from __future__ import annotations

import re

from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_for_filename

from tui.core.buffer import Buffer
from tui.ui.highlight.checkpoints import checkpointed
from tui.ui.highlight.lines import (
    LONGEST_LINE,
    IncrementalLines,
    Lines,
    NoLines,
    Spans,
    WholeLines,
)

MOST_LINES = 200_000
"""Longer files are not coloured."""
LEXER_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
    re.error,
)
"""What foreign lexers raise on text they did not expect; a file without colours is still a file."""
_SAMPLE_LINES = 40
"""Lines shown to Pygments where a file name fits several languages."""


class BufferColours:
    """The spans of one buffer's lines."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        self._revision = buffer.revision
        self._lines: Lines = _lines_for(buffer)

    @property
    def pending(self) -> bool:
        """True while there is work left for idle moments."""
        return self._lines.pending or self._revision != self._buffer.revision

    def spans(self, line: int) -> Spans:
        """The spans of a line, as far as they are known."""
        return self._lines.spans(line)

    def advance(self, until: int, budget_s: float) -> tuple[int, int] | None:
        """Catch up with the buffer and colour lines up to ``until``.

        Returns the range of lines whose spans may have changed.
        """
        self._catch_up()
        try:
            return self._lines.advance(self._buffer.lines, until, budget_s)
        except LEXER_ERRORS:
            self._lines = NoLines()
            return (0, self._buffer.line_count)

    def _catch_up(self) -> None:
        buffer = self._buffer
        if buffer.revision == self._revision:
            return
        changes = buffer.changes_since(self._revision)
        self._revision = buffer.revision
        if changes is None or buffer.line_count > MOST_LINES:
            self._lines = _lines_for(buffer)
            return
        for index, change in enumerate(changes):
            # Later changes may have moved these lines; then only their number is sure.
            last = index + 1 == len(changes)
            rows = buffer.lines[change.row : change.row + change.n_new] if last else []
            rows += [""] * (change.n_new - len(rows))
            self._lines.edit(change.row, change.n_old, rows)


def _lines_for(buffer: Buffer) -> Lines:
    if buffer.line_count > MOST_LINES:
        return NoLines()
    sample = "\n".join(line[:LONGEST_LINE] for line in buffer.lines[:_SAMPLE_LINES])
    found = find_lexer_class_for_filename(buffer.path, sample)
    return NoLines() if found is None else _lines_by(found, buffer.lines)


def _lines_by(lexer_class: type[Lexer], lines: list[str]) -> Lines:
    incremental = checkpointed(lexer_class)
    if incremental is not None:
        return IncrementalLines(incremental(), lines)
    return WholeLines(lexer_class(), lines)
