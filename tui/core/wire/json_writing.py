"""Events as the text that travels, in pieces where they are long: the same for both sides."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from tui.core.wire.json_reading import mended_json

STEP_CHARS = 2**16
"""Of a text, written in half a millisecond, whatever it is."""
STEP_VALUES = 2000
_AT_ONCE = 2**18, 10_000
"""Characters and values of a request that is written in some milliseconds at most."""
_encode = msgspec.json.encode


class LongFrame:
    """An event that takes too long to be written at once."""

    def __init__(
        self, event: dict[str, Any], write: Callable[[object], bytes] | None = None
    ) -> None:
        """What is in ``event`` must not change any more; see `in_pieces`."""
        self.event, self._write = event, write

    @property
    def kind(self) -> str:
        """The type of the event."""
        return str(self.event["type"])

    def __str__(self) -> str:
        return b"".join(self.pieces()).decode()

    def pieces(self) -> Iterator[bytes]:
        """Its text, piece by piece, each of them made in less than a millisecond."""
        return in_pieces(self.event, self._write)


Told = str | LongFrame
"""An event on its way."""


def frame(event: dict[str, Any]) -> str:
    """An event as the text of one frame, be there half a surrogate pair in it."""
    return _written(event).decode()


def frame_or_long(event: dict[str, Any]) -> Told:
    """The same; of a long event what writes it piece by piece."""
    for value in event.values():
        kind = type(value)
        if kind is str:
            if len(value) > STEP_CHARS:
                return LongFrame(event)
        elif (kind is dict or kind is list) and value and is_long(value):
            return LongFrame(event)
    try:
        return _encode(event).decode()
    except UnicodeEncodeError:
        return json.dumps(event)


def is_long(value: object, most_chars: int = STEP_CHARS, most_values: int = STEP_VALUES) -> bool:
    """Whether a JSON value holds more than so many characters, or so many values."""
    rest: list[Any] = [value]
    while rest:
        part = rest.pop()
        kind = type(part)
        if kind is str:
            most_chars -= len(part)
        elif kind is list:
            most_values -= len(part)
            if most_values >= 0:
                rest += part
        elif kind is dict or isinstance(part, Mapping):
            most_values -= len(part)
            if most_values >= 0:
                most_chars -= sum(map(len, part))
                rest += part.values()
        if most_chars < 0 or most_values < 0:
            return True
    return False


def size_of(value: object) -> int:
    """Characters of all texts and keys in a JSON value, and one for each value."""
    count, rest = 0, [value]
    while rest:
        part = rest.pop()
        count += 1
        if isinstance(part, str):
            count += len(part)
        elif isinstance(part, Mapping):
            count += sum(map(len, part))
            rest.extend(part.values())
        elif isinstance(part, list):
            rest.extend(part)
    return count


def in_pieces(value: object, write: Callable[[object], bytes] | None = None) -> Iterator[bytes]:
    """A JSON value of any size as text, each piece made in less than a millisecond."""
    ready: list[bytes] = []
    ready_bytes = 0
    for part in _parts(value, write or _written):
        ready.append(part)
        ready_bytes += len(part)
        if ready_bytes > STEP_CHARS // 2 or len(ready) > STEP_VALUES // 4:
            yield b"".join(ready)
            ready, ready_bytes = [], 0
    yield b"".join(ready)


def _parts(value: object, write: Callable[[object], bytes]) -> Iterator[bytes]:
    if not is_long(value):
        yield write(value)
    elif isinstance(value, str):
        yield b'"'
        for at in range(0, len(value), STEP_CHARS):
            yield write(value[at : at + STEP_CHARS])[1:-1]
        yield b'"'
    elif isinstance(value, Mapping):
        before = b"{"
        for key, inner in value.items():
            yield before
            yield from _parts(key, write)
            yield b":"
            yield from _parts(inner, write)
            before = b","
        yield b"}"
    elif isinstance(value, list):
        before = b"["
        for inner in value:
            yield before
            yield from _parts(inner, write)
            before = b","
        yield b"]"


def request(event: dict[str, Any]) -> str:
    """The same of what is asked: a user may paste half a character, which no server takes."""
    return _mended(event).decode()


def request_or_long(event: dict[str, Any]) -> Told:
    """The same; of a long request what writes it piece by piece."""
    return LongFrame(event, _mended) if is_long(event, *_AT_ONCE) else request(event)


def request_body(event: dict[str, Any]) -> bytes:
    """The same as bytes, for a server; made beside an event loop it holds it up for no long."""
    if is_long(event, *_AT_ONCE):
        return b"".join(in_pieces(event, _mended))
    return _mended(event)


def _mended(value: object) -> bytes:
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return _encode(mended_json(value))


def _written(value: object) -> bytes:
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return json.dumps(value).encode()
