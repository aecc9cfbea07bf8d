"""Where the model wrote last in a buffer: a mark, so that edits above take it along."""

from __future__ import annotations

from tui.core.text.buffer import Buffer, Mark


class Pen:
    """The line in which the model wrote last, if it did."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        self._mark: Mark | None = None

    @property
    def line(self) -> int | None:
        """The line as it is numbered now, 0-based; None: the model wrote nowhere yet."""
        mark = self._mark
        return None if mark is None else min(mark.line, self._buffer.line_count - 1)

    def put(self, line: int) -> None:
        """The model wrote in this line."""
        if self._mark is None:
            self._mark = self._buffer.mark(line, right=True)
        self._mark.line, self._mark.col = line, 0

    def release(self) -> None:
        """It is not needed any more."""
        if self._mark is not None:
            self._buffer.release(self._mark)
            self._mark = None
