"""What a server says over the socket, as typed frozen structs, and the decoder for it.

The order of the fields is the order of use; `stream_id` names the lane, None the default one.
A delta is decoded in one pass of msgspec's tagged union. Everything else that a server may say
(an `error`, a type of tomorrow, a field of the wrong kind) takes a slower, lenient road: no text
whatever makes the decoder raise, and an unknown event survives as `Unknown`.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, Union, get_args

import msgspec

from tui.core.steps import Work, finished, in_parts
from tui.core.text.patterns import pattern
from tui.core.typed_data import json_decoder, typed
from tui.core.wire import json_reading
from tui.core.wire.json_reading import mended, mended_json
from tui.core.wire.rate_limits import retry_after_s


class Delta(msgspec.Struct, frozen=True, gc=False, tag_field="type"):
    """Base of all pieces of streamed text; `gc=False`: it holds only strings and a number."""

    item_id: str = ""
    delta: str = ""
    stream_id: str | None = None
    output_index: int = 0


class TextDelta(Delta, frozen=True, gc=False, tag="response.output_text.delta"):
    """More of the assistant's message."""


class RefusalDelta(Delta, frozen=True, gc=False, tag="response.refusal.delta"):
    """More of a refusal, to be shown like a message."""


class ArgumentsDelta(Delta, frozen=True, gc=False, tag="response.function_call_arguments.delta"):
    """More of a function call's arguments: a piece of JSON text."""


class InputDelta(Delta, frozen=True, gc=False, tag="response.custom_tool_call_input.delta"):
    """More of a custom tool call's free-form input."""


class PatchDelta(
    Delta, frozen=True, gc=False, tag="response.apply_patch_call_operation_diff.delta"
):
    """More of the diff of a built-in apply_patch call."""


class ReasoningDelta(Delta, frozen=True, gc=False, tag="response.reasoning_text.delta"):
    """More reasoning; `summary` tells the summary from the reasoning itself."""

    summary: bool = False


class SummaryDelta(
    ReasoningDelta, frozen=True, gc=False, tag="response.reasoning_summary_text.delta"
):
    """More of the summary of a reasoning."""

    summary: bool = True


class ToolDelta(msgspec.Struct, frozen=True, gc=False, tag_field="type"):
    """Base of the pieces that a tool of the server's own streams: what they say is not read."""

    item_id: str = ""
    stream_id: str | None = None

    @property
    def kind(self) -> str:
        """The event's type on the wire."""
        return str(self.__struct_config__.tag)


_TOOL_DELTAS = (
    "response.code_interpreter_call_code.delta",
    "response.mcp_call_arguments.delta",
    "response.mcp_call.arguments_delta",  # the same by its former name
    "response.shell_call_command.delta",
    "response.shell_call_output_content.delta",
    "response.audio.delta",
    "response.audio.transcript.delta",
    "response.image_generation_call.partial_image",  # in up to megabytes
)
_TOOL_DELTA_TYPES = tuple(
    msgspec.defstruct("ToolDelta", [], bases=(ToolDelta,), frozen=True, gc=False, tag=kind)
    for kind in _TOOL_DELTAS
)
AnyDelta = TextDelta | RefusalDelta | ArgumentsDelta | InputDelta | PatchDelta | ReasoningDelta


class Usage(msgspec.Struct, frozen=True):
    """Tokens as the server counted them; None where it does not say."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cache_write_tokens: int | None = None
    """Of the input, what was put into a cache: it costs more where that is counted."""
    estimated: bool = False
    """Nobody counted: it is made of characters (the bridge's, for an answer that was cut)."""


def usage_of(response: dict[str, Any]) -> Usage | None:
    """The usage of a terminal event's response; None if there is none."""
    usage = response.get("usage")
    if not isinstance(usage, dict):
        return None
    tokens_in, tokens_out = _count(usage, "input_tokens"), _count(usage, "output_tokens")
    if tokens_in is None and tokens_out is None:
        return None
    details, uncounted = usage.get("input_tokens_details"), usage.get("uncounted")
    unknown = uncounted if isinstance(uncounted, list) else ()
    cached, reasoning = "cached_tokens", "reasoning_tokens"
    return Usage(
        tokens_in or 0,
        tokens_out or 0,
        None if cached in unknown else _count(details, cached),
        None if reasoning in unknown else _count(usage.get("output_tokens_details"), reasoning),
        _count(details, "cache_write_tokens"),
        usage.get("estimated") is True,
    )


def _count(source: object, key: str) -> int | None:
    value = source.get(key) if isinstance(source, dict) else None
    usable = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e15
    return int(value) if usable and value is not None else None


CALL_OUTPUTS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "shell_call": "shell_call_output",
    "local_shell_call": "local_shell_call_output",
    "computer_call": "computer_call_output",
}
"""The type of a call that the client answers -> the type of its answer.

Hosted tools (search, a shell in the server's own container) answer themselves: their output is
among the items already."""
OUTPUTS = frozenset(CALL_OUTPUTS.values())
_KINDS = OUTPUTS.union(CALL_OUTPUTS)
REFERENCE = "item_reference"
"""The type of an item that stands for another one, by its id."""


def unanswered(items: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The calls without an answer among the same items, in their order."""
    return finished(unanswered_in_steps(items))


def unanswered_in_steps(items: Sequence[Mapping[str, Any]]) -> Work[list[Mapping[str, Any]]]:
    """The same of any number of items, in steps; no function is called for each of them."""
    by_kind: dict[str, list[Mapping[str, Any]]] = {kind: [] for kind in _KINDS}
    for part in in_parts(items):
        for item in part:
            kind = item.get("type")
            if type(kind) is str and kind in by_kind:
                by_kind[kind].append(item)
        yield
    left: list[Mapping[str, Any]] = []
    for kind, wanted in CALL_OUTPUTS.items():
        answered: set[str] = set()
        for part in in_parts(by_kind[wanted]):
            # by the call id; the answer of a local shell by the id of its call
            names = [item.get(key) for item in part for key in ("call_id", "id")]
            answered.update(name for name in names if type(name) is str and name)
            yield
        for part in in_parts(by_kind[kind]):
            left += [
                item
                for item in part
                if not (type(name := item.get("call_id")) is str and name in answered)
                and not (type(name := item.get("id")) is str and name in answered)
            ]
            yield
    if len(left) < 2:
        return left
    places: dict[int, int] = {}
    for part in in_parts(items):
        places.update(zip(map(id, part), range(len(places), len(places) + len(part)), strict=True))
        yield
    return sorted(left, key=lambda item: places[id(item)])


MOST_ERROR_CHARS = 10_000
"""An error's words are cut to this length: nobody reads more, and they are searched often."""


class _Event(msgspec.Struct, frozen=True, tag_field="type"):
    """Base of the events that are no piece of text."""


class _Whole(_Event, frozen=True):
    """An event that carries the response object."""

    response: dict[str, Any] = {}
    stream_id: str | None = None

    @property
    def response_id(self) -> str:
        """The response's id, empty if the server gave none."""
        value = self.response.get("id")
        return value if isinstance(value, str) else ""


class Created(_Whole, frozen=True, tag="response.created"):
    """A response began; with steering it may come unasked."""


class InProgress(_Whole, frozen=True, tag="response.in_progress"):
    """The model works; repeated by some servers as a sign of life."""


class Queued(_Whole, frozen=True, tag="response.queued"):
    """The response waits for its turn."""


class Completed(_Whole, frozen=True, tag="response.completed"):
    """Terminal: the response is whole."""


class Incomplete(_Whole, frozen=True, tag="response.incomplete"):
    """Terminal: cut short."""

    @property
    def reason(self) -> str:
        """``interrupted``, ``steered``, ``max_output_tokens``, ...; empty if not said."""
        return _text_at(self.response, "incomplete_details", "reason")


class Failed(_Whole, frozen=True, tag="response.failed"):
    """Terminal: the server gave up."""

    @property
    def code(self) -> str:
        """The server's code, such as ``server_error``; empty if not said."""
        return _text_at(self.response, "error", "code")[:MOST_ERROR_CHARS]

    @property
    def message(self) -> str:
        """The reason in the server's words; empty if not said."""
        said = _text_at(self.response, "error", "message") or _text_at(self.response, "error")
        return said[:MOST_ERROR_CHARS]


class ItemAdded(_Event, frozen=True, tag="response.output_item.added"):
    """An output item began; its text is still empty."""

    output_index: int = 0
    item: dict[str, Any] = {}
    stream_id: str | None = None


class ItemDone(_Event, frozen=True, tag="response.output_item.done"):
    """An output item is finished: the authoritative text, to be kept in the history."""

    output_index: int = 0
    item: dict[str, Any] = {}
    stream_id: str | None = None


class ItemInterrupted(_Event, frozen=True, tag="response.output_item.interrupted"):
    """An open item was discarded by an interrupt."""

    item_id: str = ""
    response_id: str = ""
    output_index: int = 0
    stream_id: str | None = None


class InterruptAccepted(_Event, frozen=True, tag="response.interrupt.accepted"):
    """The server stops the response; its terminal event follows."""

    response_id: str = ""
    stream_id: str | None = None


class InterruptFailed(_Event, frozen=True, tag="response.interrupt.failed"):
    """The server will not stop the response; the stream goes on."""

    response_id: str = ""
    error: dict[str, Any] = {}
    stream_id: str | None = None


class SteerAccepted(_Event, frozen=True, tag="response.steer.accepted"):
    """The server owns the steering text now."""

    steer: dict[str, Any] = {}
    stream_id: str | None = None


class SteerPending(_Event, frozen=True, tag="response.steer.pending"):
    """The steering text waits for tool outputs."""

    steer: dict[str, Any] = {}
    reason: str = ""
    required_input: list[Any] = []
    stream_id: str | None = None


class SteerFailed(_Event, frozen=True, tag="response.steer.failed"):
    """The server gives the steering text back."""

    steer: dict[str, Any] = {}
    error: dict[str, Any] = {}
    stream_id: str | None = None


class SteerNews(msgspec.Struct, frozen=True):
    """What became of a steering text: ours, not of the wire, made by the client's protocol."""

    number: int
    """As `steer` gave it."""
    fate: Literal["accepted", "pending", "used", "returned"]
    """``accepted``: the server has it; ``pending``: it goes with the next tool outputs; ``used``:
    its successor began, it is part of the conversation; ``returned``: send it some other way."""
    text: str
    why: str = ""
    """Of ``returned``, in words."""
    stream_id: str | None = None


class ErrorEvent(msgspec.Struct, frozen=True):
    """An `error` frame in any of its shapes; terminal for its lane, see PROTOCOL section 4."""

    status: int | None = None
    code: str = ""
    message: str = ""
    param: str = ""
    headers: dict[str, str] = {}
    stream_id: str | None = None

    @property
    def retry_after_s(self) -> float | None:
        """How long the server wants to be left alone, in seconds; None if it does not say."""
        return retry_after_s(self.headers)


class Progress(msgspec.Struct, frozen=True):
    """A known event that repeats or decorates what others say: a sign of life."""

    type: str
    item_id: str = ""
    stream_id: str | None = None


class Unknown(msgspec.Struct, frozen=True):
    """An event that we do not know, or a known one with a field of the wrong kind."""

    type: str
    raw: dict[str, Any]
    stream_id: str | None = None


_Told = (
    TextDelta
    | InputDelta
    | ArgumentsDelta
    | PatchDelta
    | RefusalDelta
    | ReasoningDelta
    | SummaryDelta
    | Created
    | InProgress
    | Queued
    | ItemAdded
    | ItemDone
    | Completed
    | Incomplete
    | Failed
    | InterruptAccepted
    | InterruptFailed
    | ItemInterrupted
    | SteerAccepted
    | SteerPending
    | SteerFailed
)
_Typed: Any = Union[_Told, *_TOOL_DELTA_TYPES]
Event = _Told | SteerNews | ErrorEvent | Progress | Unknown

_PROGRESS = (
    "response.content_part.",
    "response.output_text.",
    "response.refusal.",
    "response.reasoning",
    "response.function_call_arguments.",
    "response.custom_tool_call_input.",
    "response.apply_patch_call",
    "response.compaction.",
    "response.web_search_call.",
    "response.file_search_call.",
    "response.code_interpreter_call",
    "response.image_generation_call.",
    "response.mcp_",
    "response.shell_call",
    "response.local_shell_call",
    "response.audio.",
)

_TERMINAL: dict[str, type[Completed | Incomplete | Failed]] = {
    "response.completed": Completed,
    "response.incomplete": Incomplete,
    "response.failed": Failed,
}

_WRONG = pattern(r"`\$\.(\w+)")
"""The field that msgspec says is of another kind."""
_SAYING = ("type", "delta", "item", "response")
"""Without these an event says nothing."""
_TAGS = frozenset(str(kind.__struct_config__.tag) for kind in get_args(_Typed))
"""The types that are known; to find out by `msgspec.convert` takes 0.1 ms."""
decode_typed: Callable[[str | bytes | bytearray], Event | ToolDelta] = json_decoder(_Typed).decode
"""What `decode_server` tries first; raises `UNUSUAL` for what needs `decode_unusual`."""
UNUSUAL = (msgspec.DecodeError, UnicodeError, RecursionError)


def decode_server(data: str | bytes | bytearray) -> Event | None:
    """Decode one text frame; None if it is not a JSON object. Never raises."""
    try:
        event = decode_typed(data)
    except UNUSUAL:
        return decode_unusual(data)
    return told(event)


def told(event: Event | ToolDelta) -> Event:
    """An event as the house knows it: of what a server's own tool says it hears nothing."""
    if isinstance(event, ToolDelta):
        return Progress(event.kind, event.item_id, event.stream_id)
    return event


def decode_unusual(data: str | bytes | bytearray) -> Event | None:
    """Any frame that the tagged union refuses; None as of `decode_server`. Never raises."""
    try:
        raw = _lenient(data)
    except (ValueError, RecursionError):
        return None
    return _event_of(raw) if isinstance(raw, dict) else None


def decode_in_steps(data: bytes | bytearray) -> Iterator[Event | None]:
    """The event that a text of any length tells, in steps; None: not yet. Never raises.

    A long delta comes as several; no event comes where it is no JSON object.
    """
    if len(data) <= json_reading.AT_ONCE_BYTES:
        with contextlib.suppress(*UNUSUAL):
            yield told(decode_typed(data))
            return
    try:
        raw = yield from json_reading.read(data, pieced="delta")
    except ValueError:
        return
    if not isinstance(raw, dict):
        return
    text, is_delta = raw.get("delta"), _text_at(raw, "type").endswith(".delta")
    if isinstance(text, json_reading.StringPieces) and is_delta:
        yield from (_event_of({**raw, "delta": piece}) for piece in text)
        return
    if isinstance(text, str | json_reading.StringPieces) and not is_delta:
        raw["delta"] = "".join(map(mended, text if isinstance(text, list) else [text]))
    yield _event_of(raw)


def _event_of(raw: dict[str, Any]) -> Event:
    """What a JSON object tells."""
    kind = _text_at(raw, "type")
    lane = _text_at(raw, "stream_id") or None
    if kind == "error":
        return _error(raw, lane)
    if kind == "response.cancelled":
        found = raw.get("response")
        response = found if isinstance(found, dict) else {}
        cut = response.get("incomplete_details") or {"reason": "cancelled"}
        return Incomplete({**response, "incomplete_details": cut}, lane)
    if kind not in _TAGS:
        return _unusable(kind, raw, lane)
    fields = {key: value for key, value in raw.items() if value is not None}
    while True:
        try:
            return told(typed(fields, _Typed, strict=False))
        except (msgspec.ValidationError, UnicodeError, RecursionError) as error:
            wrong = _WRONG.search(str(error))
            if wrong is None or wrong[1] in _SAYING or fields.pop(wrong[1], None) is None:
                return _unusable(kind, raw, lane)


def _lenient(data: str | bytes | bytearray) -> Any:
    """What a text of JSON says. Raises ValueError or RecursionError.

    A server that cuts its deltas in UTF-16 sends halves of surrogate pairs, which only the
    standard library's decoder takes; other texts of events are mended.
    """
    with contextlib.suppress(*UNUSUAL):
        return msgspec.json.decode(data)
    text = data if isinstance(data, str) else str(data, "utf-8", "replace")
    raw = json.loads(text.removeprefix("\ufeff"))
    delta = isinstance(raw, dict) and _text_at(raw, "type").endswith(".delta")
    return raw if delta else mended_json(raw)


def _unusable(kind: str, raw: dict[str, Any], lane: str | None) -> Event:
    """An unknown type, or a known one that is broken; a broken end is an end all the same."""
    whole = _TERMINAL.get(kind)
    if whole is not None:
        return whole({}, lane)
    if kind.startswith(_PROGRESS):
        return Progress(kind, _text_at(raw, "item_id"), lane)
    return Unknown(kind, raw, lane)


def _error(raw: dict[str, Any], lane: str | None) -> ErrorEvent:
    """The nested form of the socket, the flat one of SSE, or whatever lies between."""
    nested = raw.get("error")
    error: dict[str, Any] = nested if isinstance(nested, dict) else raw
    headers: dict[str, str] = {}
    for found in (error.get("headers"), raw.get("headers")):
        if isinstance(found, dict):
            headers.update({str(name).lower(): str(value) for name, value in found.items()})
    code = _text_at(error, "code") or ("" if error is raw else _text_at(error, "type"))
    said = _text_at(error, "message")
    said = said or (nested if isinstance(nested, str) else _text_at(raw, "message"))
    return ErrorEvent(
        status=_status(raw.get("status"), raw.get("status_code"), error.get("code")),
        code=code[:MOST_ERROR_CHARS],
        message=said[:MOST_ERROR_CHARS],
        param=_text_at(error, "param")[:MOST_ERROR_CHARS],
        headers=headers,
        stream_id=lane,
    )


def _status(*values: object) -> int | None:
    """The first of these that is an HTTP status, be it in digits."""
    for value in values:
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) == 3:
            return int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def _text_at(source: dict[str, Any], *path: str) -> str:
    """The string at a path of keys; empty if it is missing or of another kind."""
    value: Any = source
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""
