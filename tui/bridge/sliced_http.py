"""aiohttp's connections, of either side, read in slices."""

from __future__ import annotations

import itertools
from typing import Any

from tui.bridge.sliced import Sliced

MOST_PIECES = 256
"""Of a body, read at once: chunks of one byte are a piece each."""


class SlicedHttp(Sliced):
    """A protocol before aiohttp's in the order of bases."""

    _reading_paused: bool
    _buffer_paused: bool

    def holds(self) -> bool:
        """See `Sliced`."""
        return self._reading_paused or self._buffer_paused

    def resume_reading(self, resume_parser: bool = True) -> None:
        """In the next turn: aiohttp would go on within each piece that is read."""
        if not resume_parser:
            self._resume_reading(resume_parser)
        elif self._reading_paused and not self._resuming:
            self._resume_soon()

    def _resume(self) -> None:
        if self._reading_paused:
            self._resume_reading(True)
            self.fed()
        super()._resume()

    def _resume_reading(self, resume_parser: bool) -> None:
        library: Any = super()
        library.resume_reading(resume_parser)

    def _pause_transport_reading(self) -> None:
        self._regulate()

    def _resume_transport_reading(self) -> None:
        self._regulate()


def some(content: Any) -> bytes:
    """Of what has come of a body as much as is put together in no time; empty: nothing has."""
    size = sum(map(len, itertools.islice(getattr(content, "_buffer", ()), MOST_PIECES)))
    data: bytes = content._read_nowait(size - content._buffer_offset) if size else b""
    return data
