"""Typed structs of JSON, MessagePack and tables, safe in any thread.

msgspec learns a type when it first reads one. Where two threads do so at once the process ends with
SIGSEGV, so all of duetto learns types here, one at a time (`tests/core/test_typed_data.py`).
"""

from __future__ import annotations

import threading
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
_LEARNING = threading.Lock()


def json_decoder(kind: type[T], *, strict: bool = True) -> msgspec.json.Decoder[T]:
    """What reads many texts of a type, which is known from then on."""
    with _LEARNING:
        return msgspec.json.Decoder(kind, strict=strict)


def msgpack_decoder(kind: type[T]) -> msgspec.msgpack.Decoder[T]:
    """The same for MessagePack."""
    with _LEARNING:
        return msgspec.msgpack.Decoder(kind)


def from_json(data: bytes | bytearray | memoryview | str, kind: type[T]) -> T:
    """Raises msgspec.DecodeError, and UnicodeError or RecursionError of strange texts."""
    with _LEARNING:
        return msgspec.json.decode(data, type=kind)


def from_msgpack(data: bytes | memoryview, kind: type[T]) -> T:
    """Raises msgspec.DecodeError."""
    with _LEARNING:
        return msgspec.msgpack.decode(data, type=kind)


def from_toml(data: bytes | str, kind: type[T]) -> T:
    """Raises msgspec.DecodeError."""
    with _LEARNING:
        return msgspec.toml.decode(data, type=kind)


def typed(data: Any, kind: type[T], *, strict: bool = True, from_attributes: bool = False) -> T:
    """Plain data, or another object's fields, as a type. Raises msgspec.ValidationError."""
    with _LEARNING:
        return msgspec.convert(data, kind, strict=strict, from_attributes=from_attributes)
