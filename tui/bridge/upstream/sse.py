"""Server-sent events, cut out of a byte stream that may be split anywhere, and their JSON.

Lenient where servers differ: lines may end in LF, CRLF or CR, an ``event:`` line may be missing,
and the empty line behind a message, too: where one JSON object ends and another one begins, there
are two messages. JSON may have lone halves of characters, and numbers that JSON has not.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import Any, NamedTuple

import msgspec

from tui.bridge.endpoints.base import Unusable
from tui.core.wire import json_reading
from tui.core.wire.json_reading import PIECE_BYTES, Scale, too_heavy

MAX_MESSAGE_BYTES = 32 * 1024 * 1024
_BEGINNINGS = (b"{", b"[DONE]")
"""Of data that cannot go on a JSON object that is whole."""
_SILENT = (b"", b"id", b"retry")
"""Fields that say nothing here; a comment has no name."""
_ERRORS = (b"error", b"exception", b"detail", b"message", b"fatal")
_BOM = b"\xef\xbb\xbf"
_SHORT_BYTES = 2**15
_MOST_NAME_BYTES = 1000
_MOST_STRAY_BYTES = 4000
UNREAD: Any = object()
"""The value of a message that has not been parsed yet."""


class OversizeError(Exception):
    """A message is larger than `MAX_MESSAGE_BYTES`, or never ends."""


class Message(NamedTuple):
    """One message."""

    event: str
    """Its ``event:`` field; empty if it has none."""
    data: bytes | bytearray
    """Its ``data:`` lines, joined by LF."""
    value: Any = UNREAD
    """What its data say as JSON, if they were read in steps; see `read_in_steps`."""


class SseParser:
    """One stream; its cost is linear in the bytes, however they are cut."""

    def __init__(self, most_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._most_bytes = most_bytes
        self._line = bytearray()
        """The line that has not ended yet."""
        self._event = b""
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._long: bytearray | None = None
        """The data in its place when they are long. Of a long line nothing is copied."""
        self.stray = b""
        """Lines behind the last message that belong to none: a gateway's error as text, say."""
        self._after_cr = False
        self._first = True

    @property
    def astray(self) -> bool:
        """What came behind the last message is text, and no event: a gateway's error, say.

        A line of an unknown field may belong to an event, unless its name is that of an error.
        """
        if not (self.stray or self._line):
            return False
        text = (self.stray or bytes(self._line[:_MOST_NAME_BYTES])).partition(b"\n")[0]
        name = text.partition(b":")[0].strip()
        prose = b" " in name and not name.startswith(b"{")
        return prose or (name.lower() in _ERRORS and name != text.strip())

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
        *lines, begun = chunk.split(b"\n")
        if lines and self._line:
            self._line += lines[0]
            self._end_line(messages)
            del lines[0]
        for line in lines:
            self._take(line, messages)
        self._line += begun
        if len(self._line) + self._data_bytes + len(self._long or b"") > self._most_bytes:
            raise OversizeError
        return messages

    def end(self) -> list[Message]:
        """The stream is over; returns the message that lacked its end, if there is one."""
        messages: list[Message] = []
        if self._line:
            self._end_line(messages)
        self._take(b"", messages)
        return messages

    def _end_line(self, messages: list[Message]) -> None:
        line, self._line = self._line, bytearray()
        if len(line) <= _SHORT_BYTES:
            self._take(bytes(line), messages)
            return
        if self._first and line.startswith(_BOM):
            del line[: len(_BOM)]
        self._first = False
        if line.startswith(b"{"):
            self._told(Message("", line), messages)
        elif line.startswith(b"data:"):
            del line[: 6 if line[5:6] == b" " else 5]
            self._add(line, messages)
        elif line.startswith(b"error:"):
            self._take(bytes(line), messages)

    def _take(self, line: bytes, messages: list[Message]) -> None:
        if self._first:
            self._first = False
            line = line.removeprefix(_BOM)
        if not line:
            self._dispatch(messages)
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            self._add(value.removeprefix(b" "), messages)
        elif name == b"error" and value.lstrip().startswith(b"{"):
            # llama.cpp and its kin say it in a field of that name
            self._event = self._event or name
            self._add(value, messages)
        elif line.startswith(b"{"):
            # an error of a gateway that did not see to it that these are events
            self._told(Message("", line), messages)
        elif name == b"event":
            self._event = value.removeprefix(b" ")[:_MOST_NAME_BYTES]
        elif name not in _SILENT:
            self.stray = (self.stray + line + b"\n")[:_MOST_STRAY_BYTES]

    def _add(self, value: bytes | bytearray, messages: list[Message]) -> None:
        """Take a line of data."""
        if self._data or self._long is not None:
            last = self._data[-1] if self._long is None else self._long
            if last.endswith(b"}") and value.startswith(_BEGINNINGS):
                self._dispatch(messages)
        if self._long is not None:
            self._long += b"\n"
            self._long += value
            return
        self._data_bytes += len(value) + 1
        if self._data_bytes <= _SHORT_BYTES:
            self._data.append(bytes(value))
            return
        before, self._data, self._data_bytes = self._data, [], 0
        self._long = (
            bytearray(b"\n".join((*before, value)))
            if before
            else (value if isinstance(value, bytearray) else bytearray(value))
        )

    def _told(self, message: Message, messages: list[Message]) -> None:
        messages.append(message)
        self.stray = b""

    def _dispatch(self, messages: list[Message]) -> None:
        if self._data or self._long is not None:
            event = self._event.decode("utf-8", "replace")
            data = b"\n".join(self._data) if self._long is None else self._long
            self._told(Message(event, data), messages)
        self._event, self._data, self._data_bytes, self._long = b"", [], 0, None


NO_JSON = object()
"""The value of data that are not JSON."""
_SAID_TWICE = b"data: "


def said_by(message: Message) -> Any:
    """The JSON value of a message, None if it is not JSON. Raises as `value_of`."""
    if message.value is not UNREAD:
        return None if message.value is NO_JSON else message.value
    try:
        return value_of(bytes(message.data))
    except ValueError:
        return None


def read_in_steps(message: Message) -> Generator[None, None, Message]:
    """The same message with what it says, if it is a long one; each step takes milliseconds.

    Raises Broken as `value_of`.
    """
    data = message.data
    if len(data) <= json_reading.SHORT_BYTES:
        return message
    scale = Scale()
    for at in range(0, len(data), PIECE_BYTES):
        if words := scale.too_heavy(data[at : at + PIECE_BYTES]):
            if data[:PIECE_BYTES].lstrip().startswith(b"{"):
                raise Unusable(_too_heavy(words))
            return message._replace(value=NO_JSON)
        yield
    value: Any = NO_JSON
    if len(data) <= json_reading.AT_ONCE_BYTES:
        try:
            value = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            yield
    if value is NO_JSON:
        try:
            value = yield from json_reading.read(data, mends=False)
        except ValueError:
            return message._replace(value=NO_JSON)
    return message._replace(value=_first(value))


def value_of(data: bytes) -> object:
    """What a text of JSON says; of a list its first entry, as Google wraps its errors so.

    Half a character stays as it is, for its other half may be in the next event.

    Raises:
        ValueError: it is no JSON.
        Broken: it is an object too deep or too crowded to be read.
    """
    data = data.removeprefix(_BOM).removeprefix(_SAID_TWICE)  # some gateways do that
    if words := too_heavy(data):
        if data.lstrip().startswith(b"{"):
            raise Unusable(_too_heavy(words))
        raise ValueError(words)
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        try:
            value = json.loads(data.decode("utf-8", "replace"))
        except RecursionError as error:
            raise ValueError(str(error)) from error
    return _first(value)


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else value


def _too_heavy(words: str) -> str:
    return f"The endpoint sent a message {words}: it was not read."
