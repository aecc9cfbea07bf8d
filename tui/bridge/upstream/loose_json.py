"""JSON as providers write it: with lone halves of characters, and numbers that JSON has not."""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import Any

import msgspec

from tui.bridge.endpoints.base import Unusable
from tui.bridge.upstream.sse import UNREAD, Message
from tui.core.wire import json_reading
from tui.core.wire.json_reading import PIECE_BYTES, Scale, mended_json, too_heavy

NO_JSON = object()
"""The value of data that are not JSON."""
_SAID_TWICE = b"data: "


def said_by(message: Message, *, mend: bool = False) -> Any:
    """The JSON value of a message, None if it is not JSON. Raises as `value_of`."""
    if message.value is not UNREAD:
        return None if message.value is NO_JSON else message.value
    try:
        return value_of(bytes(message.data), mend=mend)
    except ValueError:
        return None


def read_in_steps(message: Message, *, mend: bool = False) -> Generator[None, None, Message]:
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
            value = yield from json_reading.read(data, mends=mend)
        except ValueError:
            return message._replace(value=NO_JSON)
    return message._replace(value=_first(value))


def value_of(data: bytes, *, mend: bool = False) -> object:
    """What a text of JSON says; of a list its first entry, as Google wraps its errors so.

    ``mend``: lone halves of characters are replaced; else they stay, for the other half may be in
    the next event.

    Raises:
        ValueError: it is no JSON.
        Broken: it is an object too deep or too crowded to be read.
    """
    data = data.removeprefix(_SAID_TWICE)  # some gateways do that
    if words := too_heavy(data):
        if data.lstrip().startswith(b"{"):
            raise Unusable(_too_heavy(words))
        raise ValueError(words)
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        try:
            value = json.loads(data)
        except RecursionError as error:
            raise ValueError(str(error)) from error
        value = mended_json(value) if mend else value
    return _first(value)


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else value


def _too_heavy(words: str) -> str:
    return f"The endpoint sent a message {words}: it was not read."
