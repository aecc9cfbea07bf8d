"""Keys that a recording holds in pieces: a model that repeats one says it in several deltas.

A delta that ends like the beginning of a key is held back until the next ones of its item have
shown what it is; with it, whatever came later, so that the order stays.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar

import msgspec

from tui.core.wire.masking import Mask

MOST_HELD = 2000
"""Lines; a lane that falls silent amid what may be a key does not hold the others for ever."""
T = TypeVar("T")


class _Delta(msgspec.Struct):
    """Of an event what says whose text it continues."""

    type: str = ""
    delta: str | None = None
    item_id: str = ""
    stream_id: str | None = None


_DECODER = msgspec.json.Decoder(_Delta, strict=False)
_Key = tuple[int, str | None, str, str]


class _Line(Generic[T]):
    """A line that waits, or that others wait for."""

    __slots__ = ("about", "delta", "frame", "is_masked", "masked", "open", "text")

    def __init__(self, about: T, frame: str, *, is_masked: bool = False) -> None:
        self.about, self.frame, self.is_masked = about, frame, is_masked
        self.delta = self.masked = ""
        self.text = ""
        """The delta, masked but for what may be the beginning of a key."""
        self.open = False


class SplitKeys(Generic[T]):
    """Frames go in in their order and come out in it, masked; ``T`` is what belongs to a frame."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._longest = max(map(len, mask.literal), default=1) - 1
        self._beginnings = {form[:end] for form in mask.literal for end in range(1, len(form))}
        self._lines: deque[_Line[T]] = deque()
        self._open: dict[_Key, list[_Line[T]]] = {}

    def frame(self, about: T, connection: int, text: str) -> Iterator[tuple[T, str]]:
        """Take a frame of a server; gives what is settled now."""
        line = _Line(about, text)
        self._lines.append(line)
        try:
            event = _DECODER.decode(text) if self._beginnings else _Delta()
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            event = _Delta()
        if event.delta is not None and event.type.endswith(".delta"):
            line.delta = line.text = event.delta
            self._continue((connection, event.stream_id, event.item_id, event.type), line)
        else:
            self._close(connection, event.stream_id)
        return self._settled()

    def other(self, about: T, text: str) -> Iterator[tuple[T, str]]:
        """Take what is masked already: it only keeps its place."""
        self._lines.append(_Line(about, text, is_masked=True))
        return self._settled()

    def rest(self) -> Iterator[tuple[T, str]]:
        """Give all that waits."""
        self._open.clear()
        while self._lines:
            yield self._out(self._lines.popleft())

    def _continue(self, key: _Key, line: _Line[T]) -> None:
        """Look for keys in what its pieces make together; only the end stays open."""
        pieces = [*self._open.pop(key, ()), line]
        whole = "".join(piece.text for piece in pieces)
        masked, sure = self._mask.text(whole), len(whole) - self._begun(whole)
        partly, at = masked[:sure] + whole[sure:], 0
        for piece in pieces:
            end = at + len(piece.text)
            piece.text, piece.masked, piece.open = partly[at:end], masked[at:end], end > sure
            at = end
        if waiting := [piece for piece in pieces if piece.open]:
            self._open[key] = waiting

    def _begun(self, text: str) -> int:
        """How many characters at its end may be the beginning of a key."""
        for length in range(min(self._longest, len(text)), 0, -1):
            if text[-length:] in self._beginnings:
                return length
        return 0

    def _close(self, connection: int, stream_id: str | None) -> None:
        """Another event of the lane: its texts have ended."""
        for key in [key for key in self._open if key[:2] == (connection, stream_id)]:
            for line in self._open.pop(key):
                line.open = False

    def _settled(self) -> Iterator[tuple[T, str]]:
        while self._lines and (not self._lines[0].open or len(self._lines) > MOST_HELD):
            yield self._out(self._lines.popleft())

    def _out(self, line: _Line[T]) -> tuple[T, str]:
        if line.is_masked:
            return line.about, line.frame
        if line.masked != line.delta:
            event = json.loads(line.frame)
            line.frame = json.dumps({**event, "delta": line.masked}, separators=(",", ":"))
        return line.about, self._mask.frame(line.frame)
