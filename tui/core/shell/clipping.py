"""A command's output as text: bounded, with nothing in it that acts on a terminal."""

from __future__ import annotations

import codecs
import re
from functools import cache

_SEQUENCE = re.compile(
    r"\x1b(?:[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\[[0-?]*[ -/]*[@-~]?|[ -/]*[0-~]?)"
    r"|\x9b[0-?]*[ -/]*[@-~]?|[\x90\x98\x9d-\x9f][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
)
"""What a terminal would obey; one that is not closed ends with its line."""
_REWRITTEN = re.compile(r"[^\n]*\r(?!\n)")
_STRUCK = re.compile(r"[^\n\b]\x08")


def plain(text: str) -> str:
    """The text as a terminal would leave it: without sequences, a rewritten line in its last state.

    Other control characters are written as signs, so that a binary file stays one.
    """
    if "\x1b" in text or not text.isascii():
        text = _SEQUENCE.sub("", text)
    if "\r" in text:
        text = _REWRITTEN.sub("", re.sub(r"\r+(?=\n|\Z)", "", text))
    if "\b" in text:
        text = _STRUCK.sub("", text)
    return text if text.isprintable() else text.translate(_signs())


@cache
def _signs() -> dict[int, str]:
    signs = {code: "\ufffd" for first, last in _UNSEEN for code in range(first, last + 1)}
    signs |= {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "\u2421"}
    return signs | {0x09: "\t", 0x0A: "\n", 0x2028: "\n", 0x2029: "\n"}


_UNSEEN = (
    *((0x80, 0x9F), (0xAD, 0xAD), (0x600, 0x605), (0x61C, 0x61C), (0x6DD, 0x6DD), (0x70F, 0x70F)),
    *((0x890, 0x891), (0x8E2, 0x8E2), (0x180E, 0x180E), (0x200B, 0x200B), (0x200E, 0x200F)),
    *((0x202A, 0x202E), (0x2060, 0x206F), (0xD800, 0xDFFF), (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB)),
    *((0x110BD, 0x110BD), (0x110CD, 0x110CD), (0x13430, 0x1343F), (0x1BCA0, 0x1BCA3)),
    *((0x1D173, 0x1D17A), (0xE0001, 0xE007F)),
)
"""Control and format characters, but for the joiners that emoji and some scripts need."""


class Clip:
    """The beginning and the end of some bytes, whatever lies between them."""

    def __init__(self, head_bytes: int, tail_bytes: int) -> None:
        self._head_bytes = head_bytes
        self._tail_bytes = tail_bytes
        self._head = bytearray()
        self._tail = bytearray()
        self.size = 0
        """Of all that was fed."""

    def feed(self, data: bytes) -> None:
        """Take some more."""
        self.size += len(data)
        if (room := self._head_bytes - len(self._head)) > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data[-self._tail_bytes :] if self._tail_bytes else b""
        if len(self._tail) > 2 * self._tail_bytes:
            del self._tail[: -self._tail_bytes]

    def text(self) -> str:
        """As `plain` text, with the number of bytes that were left out."""
        tail = self._tail[-self._tail_bytes :] if self._tail_bytes else b""
        left_out = self.size - len(self._head) - len(tail)
        if left_out <= 0:
            return plain((self._head + tail).decode("utf-8", "replace"))
        head = codecs.getincrementaldecoder("utf-8")("replace").decode(bytes(self._head))
        begin = next((at for at, byte in enumerate(tail[:4]) if byte & 0xC0 != 0x80), 0)
        return (
            plain(head) + left_out_note(left_out) + plain(tail[begin:].decode("utf-8", "replace"))
        )


def left_out_note(count: int) -> str:
    """Where the middle was."""
    return f"\n[{count:,} bytes left out]\n"
