"""What a client says over the socket, as the server side reads it.

Lenient where real clients differ (PROTOCOL sections 2 and 12): easy-form messages, a plain string
as input, `stream` in the request, unknown fields. A field that would be missed is refused by its
name.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Generator
from typing import Any, TypeGuard

import msgspec

from tui.core.steps import finished, in_parts
from tui.core.wire import json_reading, request_fields
from tui.core.wire.events import REFERENCE, unanswered_in_steps
from tui.core.wire.json_reading import (
    MOST_REQUEST_VALUES,
    PIECE_BYTES,
    Scale,
    mended_json,
    too_heavy,
)
from tui.core.wire.request_fields import MOST_NAME

_LANE = re.compile(r"[A-Za-z0-9_.-]{1,256}", re.ASCII)
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
LEAST_TOKENS_S = 1.0
"""Slower a model cannot be made."""
_NO_LIMIT_TOKENS_S = 1e9
_ENVELOPE = frozenset({"type", "stream_id", "generate", "stream", "background"})


class Create(msgspec.Struct, frozen=True):
    """A `response.create`; `request` is without the envelope, its `input` a list of items."""

    request: dict[str, Any]
    stream_id: str | None = None
    generate: bool = True
    """False: a prewarm, to be answered without any model output."""
    stream: bool = False
    """Of a POST: its answer is to come as events, not as one body."""
    whole: bool = False
    """Its items refer to no others, and no call among them is without its answer."""


class InterruptMessage(msgspec.Struct, frozen=True):
    """A `response.interrupt`."""

    response_id: str
    mode: str = ""


class SteerMessage(msgspec.Struct, frozen=True):
    """A `response.steer`; `input` is a list of items, empty if it could not be read."""

    previous_response_id: str
    input: list[dict[str, Any]]
    given: Any = None
    """The input as it came, to be given back with a refusal."""


class Inject(msgspec.Struct, frozen=True):
    """A `response.inject` of the multi-agent beta (PROTOCOL section 9)."""

    response_id: str
    given: Any = None
    """The input as it came."""


class ThrottleMessage(msgspec.Struct, frozen=True):
    """A `duetto.throttle`, our own: how fast what runs now may come, also in its midst."""

    tokens_s: float
    """Tokens a second; `math.inf`: as fast as they come."""
    stream_id: str | None = None
    everywhere: bool = False
    """It names no lane: all of them."""


class UnknownClient(msgspec.Struct, frozen=True):
    """An event of a type that we do not know."""

    type: str
    raw: dict[str, Any]


class Invalid(msgspec.Struct, frozen=True):
    """A frame that cannot be used, with the reason as the error event says it."""

    message: str
    code: str = "invalid_request"
    param: str = ""
    stream_id: str | None = None
    is_create: bool = False
    """A request for a lane that there is: the refusal waits for its turn there."""
    previous_response_id: str = ""


_NO_LANE = Invalid(
    "Invalid 'stream_id': 1 to 256 characters of A-Z, a-z, 0-9, '_', '.' and '-'.",
    code="invalid_stream_id",
    param="stream_id",
)
"""Has no `stream_id` itself: an invalid name cannot route the answer."""
_STEP_ITEMS = 500
MOST_ITEMS = 20_000
"""In one message; some work is done on all of them at once."""
_NO_UTF8 = Invalid("The body of the request is not UTF-8.", code="invalid_json")
_NO_OBJECT = Invalid("The message must be a JSON object.", code="invalid_json")
ClientEvent = (
    Create | InterruptMessage | SteerMessage | Inject | ThrottleMessage | UnknownClient | Invalid
)


def decode_client(text: str) -> ClientEvent:
    """Decode one text frame of a client. Never raises."""
    return finished(_event_in_steps(_object(text)))


def client_in_steps(text: str | bytes | bytearray) -> Generator[None, None, ClientEvent]:
    """The same of a text of any length, in steps of which each takes some milliseconds at most."""
    return (yield from _event_in_steps((yield from _object_in_steps(text))))


def _event_in_steps(raw: dict[str, Any] | Invalid) -> Generator[None, None, ClientEvent]:
    if isinstance(raw, Invalid):
        return raw
    kind = raw.get("type")
    if kind == "response.create":
        return (yield from _create(raw))
    if kind == "response.interrupt":
        return InterruptMessage(string_in(raw, "response_id"), string_in(raw, "mode"))
    if kind == "response.steer":
        items = yield from _items_in_steps(raw.get("input"))
        given = [] if isinstance(items, Invalid) else items
        return SteerMessage(string_in(raw, "previous_response_id"), given, raw.get("input"))
    if kind == "response.inject":
        return Inject(string_in(raw, "response_id"), raw.get("input"))
    if kind == "duetto.throttle":
        return _throttle(raw)
    return UnknownClient(kind if isinstance(kind, str) else "", raw)


def posted_in_steps(text: str | bytes | bytearray) -> Generator[None, None, Create | Invalid]:
    """Decode the body of a POST: a request without an envelope; in steps. Never raises."""
    raw = yield from _object_in_steps(text)
    if isinstance(raw, Invalid):
        return raw
    created = yield from _create({key: value for key, value in raw.items() if key != "stream_id"})
    if isinstance(created, Create) and raw.get("stream"):
        return msgspec.structs.replace(created, stream=True)
    return created


def _object_in_steps(
    text: str | bytes | bytearray,
) -> Generator[None, None, dict[str, Any] | Invalid]:
    """What a client says, as a JSON object."""
    if len(text) <= json_reading.AT_ONCE_BYTES:
        try:
            short = text if isinstance(text, str) else text.decode()
        except UnicodeDecodeError:
            return _NO_UTF8
        if len(text) <= json_reading.SHORT_BYTES or not _HALF.search(short):
            return _object(short)
    data = text.encode(errors="replace") if isinstance(text, str) else text
    scale, decoder = Scale(MOST_REQUEST_VALUES), codecs.getincrementaldecoder("utf-8")()
    for at in range(0, len(data), PIECE_BYTES):
        piece = data[at : at + PIECE_BYTES]
        try:
            decoder.decode(piece)
        except UnicodeDecodeError:
            return _NO_UTF8
        if words := scale.too_heavy(piece):
            return _unread(words)
        yield
    try:
        raw = yield from json_reading.read(data)
    except ValueError as error:
        return Invalid(f"The message is not valid JSON: {error}", code="invalid_json")
    return raw if isinstance(raw, dict) else _NO_OBJECT


def _unread(words: str) -> Invalid:
    return Invalid(f"The message is {words}: make it smaller.", code="invalid_json")


def _object(text: str) -> dict[str, Any] | Invalid:
    """What a client says, as a JSON object."""
    if words := too_heavy(text, MOST_REQUEST_VALUES):
        return _unread(words)
    try:
        raw = _decoded(text)
    except (ValueError, RecursionError) as error:
        return Invalid(f"The message is not valid JSON: {error}", code="invalid_json")
    return raw if isinstance(raw, dict) else _NO_OBJECT


def _decoded(text: str) -> Any:
    """Raises ValueError (msgspec's error is one) or RecursionError."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        # JavaScript writes half a character as an escape, which msgspec does not take.
        if _HALF.search(text) is None:
            raise
        return mended_json(json.loads(text, parse_constant=_no_constant))


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _throttle(raw: dict[str, Any]) -> ThrottleMessage | Invalid:
    rate, lane = raw.get("tokens_s"), raw.get("stream_id")
    if not _is_lane(lane):
        return _NO_LANE
    if rate is None:
        rate = math.inf
    if not isinstance(rate, (int, float)) or isinstance(rate, bool) or not rate >= LEAST_TOKENS_S:
        words = f"Invalid 'tokens_s': a number from {LEAST_TOKENS_S:g} on, or null, is expected."
        return Invalid(words, "invalid_rate", "tokens_s")
    # JSON has whole numbers beyond all floats
    fast = float(rate) if rate < _NO_LIMIT_TOKENS_S else math.inf
    return ThrottleMessage(fast, lane, "stream_id" not in raw)


def _create(raw: dict[str, Any]) -> Generator[None, None, Create | Invalid]:
    nested = raw.get("response")
    if isinstance(nested, dict):
        # LiteLLM's form (PROTOCOL section 2.1): the body lies one level down.
        raw = {**nested, **{key: value for key, value in raw.items() if key != "response"}}
    lane = raw.get("stream_id")
    if not _is_lane(lane):
        return _NO_LANE
    items: list[dict[str, Any]] | Invalid = yield from _items_in_steps(raw.get("input"))
    if (wrong := request_fields.fault(raw)) is not None:
        items = Invalid(wrong.message, wrong.code, wrong.param)
    if isinstance(items, Invalid):
        parent = raw.get("previous_response_id")
        known = parent if isinstance(parent, str) and len(parent) <= MOST_NAME else ""
        return msgspec.structs.replace(
            items, stream_id=lane, is_create=True, previous_response_id=known
        )
    request = {key: value for key, value in raw.items() if key not in _ENVELOPE}
    request["input"] = items
    cache = raw.get("prompt_cache_options")
    prewarm = isinstance(cache, dict) and cache.get("prewarm") is True
    generate = raw.get("generate") is not False and not prewarm
    whole = not (yield from unanswered_in_steps(items))
    for part in in_parts(items):
        whole = whole and REFERENCE not in [item["type"] for item in part]
        yield
    return Create(request, lane, generate, whole=whole)


def _is_lane(value: object) -> TypeGuard[str | None]:
    return value is None or (isinstance(value, str) and _LANE.fullmatch(value) is not None)


def _items_in_steps(value: object) -> Generator[None, None, list[dict[str, Any]] | Invalid]:
    """Any form of `input` as a list of typed items; messages get a list of content parts."""
    if value is None:
        return []
    if isinstance(value, str):
        return [_message({"role": "user", "content": value})]
    if not isinstance(value, list):
        return Invalid("Invalid 'input': a string or a list of items is expected.", param="input")
    if len(value) > MOST_ITEMS:
        return Invalid(
            f"Invalid 'input': at most {MOST_ITEMS:,} items are expected.", param="input"
        )
    items: list[dict[str, Any]] = []
    for index, item in enumerate(value):
        if not isinstance(item, dict) or not _is_typed(item):
            return Invalid(
                f"Invalid 'input[{index}]': an object with a type or a role is expected.",
                param=f"input[{index}]",
            )
        if index % _STEP_ITEMS == _STEP_ITEMS - 1:
            yield
        items.append(_message(item) if item.get("type", "message") == "message" else item)
    return items


def _is_typed(item: dict[str, Any]) -> bool:
    return isinstance(item.get("type", "message"), str) and ("type" in item or "role" in item)


def _message(item: dict[str, Any]) -> dict[str, Any]:
    """A message in its full form: typed, with content parts."""
    content = item.get("content")
    if isinstance(content, str):
        kind = "output_text" if item.get("role") == "assistant" else "input_text"
        content = [{"type": kind, "text": content}]
    return {**item, "type": "message", "content": content if isinstance(content, list) else []}


def string_in(raw: dict[str, Any], key: str) -> str:
    """A field's text; empty: it is not there, or no text."""
    value = raw.get(key)
    return value if isinstance(value, str) else ""
