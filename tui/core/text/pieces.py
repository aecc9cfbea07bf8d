"""A text that comes in many small pieces, kept in few large ones.

A piece of four characters costs sixty bytes as an object of its own: a turn of a million tokens
would hold a hundred megabytes while it streams. Joining each piece at once would cost what the
text is long.
"""

from __future__ import annotations

from itertools import chain

_MOST_PIECES = 256
_CHUNK_CHARS = 1 << 16


class Pieces:
    """The text so far; to append costs the piece, to read its end costs what is read."""

    __slots__ = ("_chunks", "_tail", "length")

    def __init__(self) -> None:
        self.length = 0
        """Characters so far."""
        self._chunks: list[str] = []
        """Text that came long ago, in pieces of about `_CHUNK_CHARS`."""
        self._tail: list[str] = []
        """The newest pieces, as they came."""

    def __bool__(self) -> bool:
        return self.length > 0

    @property
    def text(self) -> str:
        """The whole text so far."""
        return "".join((*self._chunks, *self._tail))

    def append(self, text: str) -> None:
        """Add a piece."""
        self._tail.append(text)
        self.length += len(text)
        if len(self._tail) >= _MOST_PIECES:
            self._join()

    def say(self, text: str) -> None:
        """Have this text instead, however much was said before."""
        self._chunks.clear()
        self._tail[:] = [text]
        self.length = len(text)

    def between(self, start: int, end: int) -> str:
        """The characters from ``start`` to before ``end``."""
        found: list[str] = []
        at = self.length
        for piece in chain(reversed(self._tail), reversed(self._chunks)):
            at -= len(piece)
            if at < end:
                found.append(piece[max(start - at, 0) : end - at])
            if at <= start:
                break
        return "".join(reversed(found))

    def _join(self) -> None:
        text = "".join(self._tail)
        self._tail.clear()
        if self._chunks and len(self._chunks[-1]) < _CHUNK_CHARS:
            self._chunks[-1] += text
        else:
            self._chunks.append(text)
