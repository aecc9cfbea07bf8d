"""How deep a JSON text is and how much it holds, told before it is read.

A text of 16 MB with long strings is read in some milliseconds; of empty lists it would take
seconds, and thirty times its length in memory. So whatever is longer than `UNWEIGHED_BYTES` is
weighed while it comes, piece by piece, without a step of Python per byte.
"""

from __future__ import annotations

from collections.abc import Generator
from itertools import accumulate
from typing import Any

MOST_DEPTH = 128
"""Levels of lists and objects. The deepest real messages, with schemas of tools, have 30."""
MOST_VALUES = 50_000
"""In one message of a server: 4 ms to read. A response that repeats 300 tools of 20 parameters and
1,000 items of output has 30,000."""
MOST_REQUEST_VALUES = 200_000
"""In one message of a client, who may send a whole conversation: 20,000 items."""
UNWEIGHED_BYTES = 1024
"""Too short to be deep or crowded."""
PIECE_BYTES = 2**16
"""Weighed in 0.1 ms, at worst in 3 ms."""
_VALUE_BYTES = 120
_FEW = 100_000
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class Scale:
    """Weighs one JSON text, wherever it is cut; pieces of at most `PIECE_BYTES`.

    What is no JSON is weighed somehow: the decoder will say that it is none.
    """

    def __init__(self, most_values: int = MOST_VALUES) -> None:
        self._room = most_values
        self._most_values = most_values
        self._quotes = 0
        self._depth = 0
        self._escaped = False
        """The piece before ended in a backslash."""

    def too_heavy(self, piece: bytes | bytearray) -> str:
        """Take the next piece; how the text is too heavy, as the end of a sentence, or nothing."""
        if self._escaped and piece:
            piece, self._escaped = piece[1:], False
        if piece.endswith(b"\\"):
            self._escaped = bool((len(piece) - len(piece.rstrip(b"\\"))) % 2)
            piece = piece[: len(piece) - self._escaped]
        if b"\\" in piece:
            piece = piece.replace(b"\\\\", b"").replace(b'\\"', b"")
        inside, quotes = self._quotes % 2, piece.count(b'"')
        self._quotes += quotes
        if self._quotes > 4 * self._most_values:
            return self._crowded()
        outside = b"".join(piece.split(b'"')[inside::2]) if quotes or not inside else b""
        brackets = outside.translate(_STEPS, _NOT_BRACKETS)
        opened = brackets.count(1)
        self._room -= opened + outside.count(b",")
        if self._room < 0:
            return self._crowded()
        if self._depth + opened > MOST_DEPTH:
            steps = memoryview(brackets).cast("b")
            if max(accumulate(steps, initial=self._depth)) > MOST_DEPTH:
                return f"nested more than {MOST_DEPTH} levels deep"
        self._depth += 2 * opened - len(brackets)
        return ""

    @property
    def values(self) -> int:
        """How many have come."""
        return self._most_values - self._room

    def _crowded(self) -> str:
        return f"with more than {self._most_values:,} values"


def too_heavy(text: str | bytes, most_values: int = MOST_VALUES) -> str:
    """How a whole JSON text is too heavy, as the end of a sentence; empty: it is not."""
    if len(text) <= UNWEIGHED_BYTES:
        return ""
    scale = Scale(most_values)
    for at in range(0, len(text), PIECE_BYTES):
        piece = text[at : at + PIECE_BYTES]
        if words := scale.too_heavy(piece if isinstance(piece, bytes) else _encoded(piece)):
            return words
    return ""


def _encoded(text: str) -> bytes:
    return text.encode(errors="replace")


def read_in_steps(text: str | bytes | bytearray) -> Generator[None, None, int]:
    """About how many bytes a JSON text takes when it was read; each step takes milliseconds."""
    signs = [b",", b"[", b"{"] if isinstance(text, bytes | bytearray) else [",", "[", "{"]
    count = 0
    for at in range(0, len(text), PIECE_BYTES):
        piece: Any = text[at : at + PIECE_BYTES]
        count += sum(map(piece.count, signs))
        yield
    if count <= _FEW:
        return len(text)
    scale = Scale(len(text))
    for at in range(0, len(text), PIECE_BYTES):
        piece = text[at : at + PIECE_BYTES]
        scale.too_heavy(_encoded(piece) if isinstance(piece, str) else piece)
        yield
    return len(text) + scale.values * _VALUE_BYTES
