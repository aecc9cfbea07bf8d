"""What a client says over the socket, as the server side reads it.

Lenient where real clients differ (PROTOCOL sections 2 and 12): easy-form messages, a plain string
as input, `stream` and `background` in the request, fields that nobody knows.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

_LANE = re.compile(r"[A-Za-z0-9_.-]{1,256}", re.ASCII)
_ENVELOPE = frozenset({"type", "stream_id", "generate", "stream", "background"})


class Create(msgspec.Struct, frozen=True):
    """A `response.create`; `request` is without the envelope, its `input` a list of items."""

    request: dict[str, Any]
    stream_id: str | None = None
    generate: bool = True
    """False: a prewarm, to be answered without any model output."""


class Interrupt(msgspec.Struct, frozen=True):
    """A `response.interrupt`."""

    response_id: str
    mode: str = ""


class Steer(msgspec.Struct, frozen=True):
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


ClientEvent = Create | Interrupt | Steer | Inject | UnknownClient | Invalid


def decode_client(text: str) -> ClientEvent:
    """Decode one text frame of a client. Never raises."""
    try:
        raw = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        return Invalid(f"The message is not valid JSON: {error}", code="invalid_json")
    if not isinstance(raw, dict):
        return Invalid("The message must be a JSON object.", code="invalid_json")
    kind = raw.get("type")
    if kind == "response.create":
        return _create(raw)
    if kind == "response.interrupt":
        return Interrupt(_string(raw, "response_id"), _string(raw, "mode"))
    if kind == "response.steer":
        items = items_of(raw.get("input"))
        given = [] if isinstance(items, Invalid) else items
        return Steer(_string(raw, "previous_response_id"), given, raw.get("input"))
    if kind == "response.inject":
        return Inject(_string(raw, "response_id"), raw.get("input"))
    return UnknownClient(kind if isinstance(kind, str) else "", raw)


def _create(raw: dict[str, Any]) -> Create | Invalid:
    nested = raw.get("response")
    if isinstance(nested, dict):
        # LiteLLM's form (PROTOCOL section 2.1): the body lies one level down.
        raw = {**nested, **{key: value for key, value in raw.items() if key != "response"}}
    lane = raw.get("stream_id")
    if lane is not None and not (isinstance(lane, str) and _LANE.fullmatch(lane)):
        # Without stream_id: a name that is none cannot route the answer.
        return Invalid(
            "Invalid 'stream_id': 1 to 256 characters of A-Z, a-z, 0-9, '_', '.' and '-'.",
            code="invalid_stream_id",
            param="stream_id",
        )
    parent, items = raw.get("previous_response_id"), items_of(raw.get("input"))
    if isinstance(items, Invalid):
        known = parent if isinstance(parent, str) else ""
        return msgspec.structs.replace(
            items, stream_id=lane, is_create=True, previous_response_id=known
        )
    if parent is not None and not isinstance(parent, str):
        return Invalid(
            "Invalid 'previous_response_id': a string is expected.",
            param="previous_response_id",
            stream_id=lane,
            is_create=True,
        )
    request = {key: value for key, value in raw.items() if key not in _ENVELOPE}
    request["input"] = items
    cache = raw.get("prompt_cache_options")
    prewarm = isinstance(cache, dict) and cache.get("prewarm") is True
    return Create(request, lane, generate=raw.get("generate") is not False and not prewarm)


def items_of(value: object) -> list[dict[str, Any]] | Invalid:
    """Any form of `input` as a list of typed items; messages get a list of content parts."""
    if value is None:
        return []
    if isinstance(value, str):
        return [_message({"role": "user", "content": value})]
    if not isinstance(value, list):
        return Invalid("Invalid 'input': a string or a list of items is expected.", param="input")
    items: list[dict[str, Any]] = []
    for index, item in enumerate(value):
        if not isinstance(item, dict) or not ("type" in item or "role" in item):
            return Invalid(
                f"Invalid 'input[{index}]': an object with a type or a role is expected.",
                param=f"input[{index}]",
            )
        items.append(_message(item) if item.get("type", "message") == "message" else item)
    return items


def _message(item: dict[str, Any]) -> dict[str, Any]:
    """A message in its full form: typed, with content parts."""
    content = item.get("content")
    if isinstance(content, str):
        kind = "output_text" if item.get("role") == "assistant" else "input_text"
        content = [{"type": kind, "text": content}]
    return {**item, "type": "message", "content": content if isinstance(content, list) else []}


def _string(raw: dict[str, Any], key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""
