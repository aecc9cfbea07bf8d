"""Server-sent events, cut out of a byte stream that may be split anywhere.

Lenient where servers differ: lines may end in LF, CRLF or CR, an ``event:`` line may be missing,
and the empty line behind a message, too: where one JSON object ends and another one begins, there
are two messages.
"""

from __future__ import annotations

from typing import NamedTuple

MAX_MESSAGE_BYTES = 32 * 1024 * 1024
_BEGINNINGS = (b"{", b"[DONE]")
"""Of data that cannot go on a JSON object that is whole."""
_BOM = b"\xef\xbb\xbf"


class OversizeError(Exception):
    """A message is larger than `MAX_MESSAGE_BYTES`, or never ends."""


class Message(NamedTuple):
    """One message."""

    event: str
    """Its ``event:`` field; empty if it has none."""
    data: bytes
    """Its ``data:`` lines, joined by LF."""


class SseParser:
    """One stream; its cost is linear in the bytes, however they are cut."""

    def __init__(self, most_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._most_bytes = most_bytes
        self._line: list[bytes] = []
        """Pieces of the line that has not ended yet."""
        self._line_bytes = 0
        self._data_bytes = 0
        self._event = b""
        self._data: list[bytes] = []
        self._after_cr = False
        self._first = True

    def feed(self, chunk: bytes) -> list[Message]:
        """Take bytes; returns the messages that they end.

        Raises OversizeError.
        """
        if not chunk:
            return []
        after_cr, self._after_cr = self._after_cr, chunk.endswith(b"\r")
        if after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        messages: list[Message] = []
        first, *rest = chunk.split(b"\n")
        self._line.append(first)
        self._line_bytes += len(first)
        for begun in rest:
            line, self._line, self._line_bytes = b"".join(self._line), [begun], len(begun)
            self._take(line, messages)
        if self._line_bytes + self._data_bytes > self._most_bytes:
            raise OversizeError
        return messages

    def end(self) -> list[Message]:
        """The stream is over; returns the message that lacked its end, if there is one."""
        messages: list[Message] = []
        line, self._line = b"".join(self._line), []
        self._take(line, messages)
        if line:
            self._take(b"", messages)
        return messages

    def _take(self, line: bytes, messages: list[Message]) -> None:
        if self._first:
            self._first = False
            line = line.removeprefix(_BOM)
        if not line:
            self._dispatch(messages)
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            value = value.removeprefix(b" ")
            if self._data and self._data[-1].endswith(b"}") and value.startswith(_BEGINNINGS):
                self._dispatch(messages)
            self._data.append(value)
            self._data_bytes += len(value) + 1
        elif name == b"error" and value.lstrip().startswith(b"{"):
            # llama.cpp and its kin say it in a field of that name
            self._event = self._event or name
            self._data.append(value)
            self._data_bytes += len(value)
        elif line.startswith(b"{"):
            # an error of a gateway that did not see to it that these are events
            messages.append(Message("", line))
        elif name == b"event":
            self._event = value.removeprefix(b" ")

    def _dispatch(self, messages: list[Message]) -> None:
        if self._data:
            event = self._event.decode("utf-8", "replace")
            messages.append(Message(event, b"\n".join(self._data)))
        self._event, self._data, self._data_bytes = b"", [], 0
