"""Reads an answer of the Messages API block by block, its usage and its errors among them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct, field

from tui.bridge.endpoints.anthropic.conversation import KIND, Block
from tui.bridge.endpoints.anthropic.request import MessagesTurn
from tui.bridge.endpoints.base import Asked, Broken, Refused, Target
from tui.bridge.endpoints.encrypted_content import seal
from tui.bridge.endpoints.response_writer import ResponseWriter
from tui.bridge.endpoints.tools import Toolbox, ToolCall
from tui.bridge.upstream.errors import error_in, excerpt
from tui.bridge.upstream.sse import Message, said_by
from tui.core.text.pieces import Pieces
from tui.core.wire.address import secrets_in
from tui.core.wire.events import Usage
from tui.core.wire.masking import Mask
from tui.core.wire.refusals import BLOCKED, blocked

_TIERS = {"standard": "default"}
"""Tiers that our protocol names otherwise."""


class UsageCounter:
    """The usage of one message. What is told later is a sum over all of it, no addition."""

    def __init__(self, writer: ResponseWriter, spent: Sequence[Usage] = ()) -> None:
        """``spent``: what earlier answers of the same turn took."""
        self._writer = writer
        self._spent = spent
        self._counts: dict[str, int] = {}

    def begin(self, usage: object) -> None:
        """The message begins: input is counted, of the output hardly anything is."""
        self.more(usage, whole=False)

    def more(self, usage: object, *, whole: bool) -> None:
        """The provider counted; ``whole``: all of the output."""
        if not isinstance(usage, Mapping):
            return
        details = usage.get("output_tokens_details")
        told = {**usage, **details} if isinstance(details, Mapping) else usage
        for name, value in told.items():
            if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1e15:
                self._counts[name] = value
        self._tell_tier(usage)
        if self._counts:
            self._writer.used(self._sum(), whole=whole)

    @property
    def usage(self) -> Usage:
        """Of this message alone. What went into a cache, or came out of one, was input."""
        count = self._counts.get
        cached = count("cache_read_input_tokens")
        written = count("cache_creation_input_tokens", 0)
        return Usage(
            count("input_tokens", 0) + (cached or 0) + written,
            count("output_tokens", 0),
            cached,
            count("thinking_tokens"),
            written or None,
        )

    def _sum(self) -> Usage:
        """Of all answers of the turn."""
        every = [*self._spent, self.usage]
        cached = [one.cached_tokens for one in every if one.cached_tokens is not None]
        thought = [one.reasoning_tokens for one in every if one.reasoning_tokens is not None]
        return Usage(
            sum(one.input_tokens for one in every),
            sum(one.output_tokens for one in every),
            sum(cached) if cached else None,
            sum(thought) if thought else None,
            sum(one.cache_write_tokens or 0 for one in every) or None,
        )

    def _tell_tier(self, usage: Mapping[str, Any]) -> None:
        speed, tier = usage.get("speed"), usage.get("service_tier")
        if speed == "fast":
            self._writer.tier = "fast"
        elif isinstance(tier, str) and tier:
            self._writer.tier = _TIERS.get(tier, tier)
        elif isinstance(speed, str) and speed:
            self._writer.tier = _TIERS.get(speed, speed)


_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The status of an error that came within a stream, where HTTP had said 200 already."""
_CODES = {
    "authentication_error": "invalid_api_key",
    "billing_error": "insufficient_quota",
    "rate_limit_error": "rate_limit_exceeded",
    "api_error": "server_error",
    "timeout_error": "server_error",
}
"""The codes that clients of our protocol know."""
_TOO_LONG = re.compile(
    r"prompt is too long|exceed(s|ed)? (the )?(context|maximum)|context (window|limit|length)", re.I
)
_MODEL = re.compile(r"\bmodel\b", re.I)
_NO_MODEL = re.compile(
    r"\b(invalid|unknown|no such) model\b|\bmodel\b.{0,80}\b(not found|not exist|n't exist)", re.I
)


class ProviderError(NamedTuple):
    """One error."""

    status: int
    code: str
    message: str


def provider_error(
    said: Mapping[str, Any], status: int | None = None, host: str = ""
) -> ProviderError:
    """The error of an ``error`` event or of a body; ``status`` is that of HTTP, if it said one."""
    found, kind = error_in(said), _kind(said)
    status = status or found.status or _STATUSES.get(kind, 429 if "quota" in kind else 500)
    message = found.message or _unspoken(status, host)
    code = _CODES.get(kind, kind) or _code_of(status)
    error = said.get("error")
    details = error.get("details") if isinstance(error, Mapping) else None
    cause = details.get("error_code") if isinstance(details, Mapping) else None
    if isinstance(cause, str) and "spend_limit" in cause:
        code = "insufficient_quota"
    elif status in (400, 413) and _TOO_LONG.search(message):
        code = "context_length_exceeded"
    elif (status == 404 and _MODEL.search(found.message)) or (
        status == 400 and _NO_MODEL.search(found.message)
    ):
        code = "model_not_found"
    return ProviderError(status, code, message)


def refused_with_status(
    status: int, said: Mapping[str, Any] | None, body: bytes, host: str
) -> ProviderError:
    """The error of an HTTP status of no success; ``said``: its body, if it is JSON."""
    if status == 403 and not error_in(said or {}).message:
        return ProviderError(status, BLOCKED, blocked(host, excerpt(body)))
    if said:
        return provider_error(said, status, host)
    words = "" if status == 401 else excerpt(body)  # who refuses a key may repeat it
    message = f"{host} answered with HTTP status {status}: {words}" if words else ""
    return ProviderError(status, _code_of(status), message or _unspoken(status, host))


def _kind(said: Mapping[str, Any]) -> str:
    """The type of an error; gateways say other words, or a number, or nothing."""
    error = said.get("error")
    if not isinstance(error, Mapping):
        return ""
    words = (error.get("type"), error.get("code"))
    known = [word for word in words if isinstance(word, str) and word and not word.isdigit()]
    return next((word for word in known if word in _STATUSES), known[-1] if known else "")


def _code_of(status: int) -> str:
    """The code for an error that has none."""
    codes = {401: "invalid_api_key", 429: "rate_limit_exceeded", 529: "overloaded_error"}
    return codes.get(status, "server_error" if status >= 500 else f"http_{status}")


def _unspoken(status: int, host: str) -> str:
    """Words for an error that has none."""
    where = host or "The endpoint"
    if status in (401, 403):
        return f"{where} refused the key (HTTP status {status}): check it."
    if status in (404, 405, 501):
        return f"{where} has no Messages API at this address (HTTP status {status}): check its url."
    if status == 529:
        return f"{where} is overloaded: try again in a moment."
    return f"{where} answered with HTTP status {status}."


_DELTAS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
"""The kind of a delta -> the field that holds what is new."""
_STARTED = {"text": "text", "thinking": "thinking"}
"""Blocks that may bring some of their text with them -> its field."""
_IMPLIED = {"text_delta": "text", "thinking_delta": "thinking"}
"""What a delta is of, where the server did not say that a block begins."""
_CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
_DECLINED = "The provider's safety filter stopped the answer."


class _OpenBlock(Struct):
    """One block that has begun."""

    block: Block
    """As it began; what came since is in the pieces."""
    index: int | None = None
    """Of the item that tells of it; None: nothing was told."""
    call: ToolCall | None = None
    text: Pieces = field(default_factory=Pieces)
    signature: list[str] = field(default_factory=list)

    def whole(self) -> Block:
        """The block as it is given back to its provider."""
        text = self.text.text
        kind = str(self.block["type"])
        if kind in _STARTED:
            block = {**self.block, _STARTED[kind]: text}
            return {**block, "signature": "".join(self.signature)} if self.signature else block
        given = Message("", text.encode("utf-8", "replace"))
        return {**self.block, "input": _object(given) or {}} if text else self.block


class MessagesReader:
    """One answer. See `endpoints.http_endpoint.Reader`."""

    def __init__(self, asked: Asked, target: Target, writer: ResponseWriter, box: Toolbox) -> None:
        self._asked = asked
        self._writer = writer
        self._box = box
        self._host = urlsplit(target.address.url).hostname or "the endpoint"
        self._mask = Mask(secrets_in(target.address))
        self._open: dict[int, _OpenBlock] = {}
        self._said: list[_OpenBlock] = []
        """The blocks that are whole."""
        self._torn = ""
        """The tool that was called with arguments that are no JSON."""
        spent = asked.spent if isinstance(asked, MessagesTurn) else []
        self._usage_counter = UsageCounter(writer, spent)
        self._reason: str | None = None
        self._details: Mapping[str, Any] = {}
        self._foreign = False
        """Something came that is no event of a message."""
        self._complaint = ""
        """What it said."""
        self._over = False
        self._handlers = {
            "message_start": self._start,
            "content_block_start": self._block_start,
            "content_block_delta": self._delta,
            "content_block_stop": self._block_stop,
            "message_delta": self._message_delta,
            "message_stop": self._stop,
            "error": self._error,
        }
        if box.left_out:
            writer.note(duetto_tools_left_out=", ".join(box.left_out))

    @property
    def settled(self) -> bool:
        """The message has said how it ended: whatever comes behind that changes nothing."""
        return self._reason is not None

    def hear(self, message: Message) -> None:
        """Take one event; unknown ones, and pings, mean nothing here."""
        event = _object(message)
        if event is None:
            if self.settled or message.data.strip() in (b"", b"null"):
                return
            words = excerpt(message.data)
            if message.event == "error":
                self._error({"error": {"message": words}})
                return
            behind = f": {words}" if words else "."
            raise Broken(f"{self._host} sent an event that is not JSON{behind}")
        handler = self._handlers.get(str(event.get("type") or message.event))
        if handler is not None:
            handler(event)
        elif isinstance(event.get("error"), dict):
            self._error(event)
        elif message.event != "ping" and event.get("type") != "ping":
            self._foreign = True
            self._complaint = error_in(event).message or self._complaint

    def hear_whole(self, message: Message) -> None:
        """Take a message that came as one JSON object."""
        whole = _object(message)
        if whole is None:
            raise Broken(f"The answer of {self._host} is not JSON.")
        content = whole.get("content")
        if whole.get("error"):
            self._error(whole)
        if not isinstance(content, list):
            self._complaint = error_in(whole).message
            raise self._not_messages(self._host)
        self._start({"message": whole})
        for at, block in enumerate(content):
            self._block_start({"index": at, "content_block": block})
            self._block_stop({"index": at})
        self._message_delta({"delta": whole, "usage": whole.get("usage")})
        self._stop(whole)

    def refuse(self, status: int, body: bytes, headers: dict[str, str], host: str) -> None:
        """See `Reader`. Raises Refused."""
        told = refused_with_status(status, _object(Message("", body)), body, host)
        self._writer.refuse(told.status, told.code, told.message, None, headers)

    def cut(self, host: str, *, marked: bool) -> None:
        """The stream is over: well, if the message has said how it ended. Raises Broken, Refused.

        ``marked``: it said so itself, as servers of another language do.
        """
        writer = self._writer
        if self._over or writer.done:
            return
        if self._reason is not None or (marked and writer.output and not self._open):
            self._stop({})
        elif self._foreign and not writer.began:
            raise self._not_messages(host)
        else:
            raise Broken(f"The answer of {host} ended before the response did.")

    def _not_messages(self, host: str) -> Refused:
        said = self._mask.text(self._complaint)
        behind = f"it says: {said}" if said else "its answer is of another kind."
        words = f"{host} does not speak the Messages API: {behind}"
        return Refused(400, "not_an_endpoint", words)

    def _start(self, event: Mapping[str, Any]) -> None:
        message = event.get("message")
        if not isinstance(message, dict):
            return
        model = message.get("model")
        if isinstance(model, str) and model:
            self._writer.served = model
        self._usage_counter.begin(message.get("usage"))

    def _block_start(self, event: Mapping[str, Any]) -> None:
        block, at = event.get("content_block"), _index(event)
        if not isinstance(block, dict):
            return
        kind = str(block.get("type"))
        self._block_stop({"index": at})  # some leave that out, and count no blocks
        opened = self._open[at] = _OpenBlock({**block, "type": kind})
        if kind in _STARTED:
            text, signature = block.get(_STARTED[kind]), block.get("signature")
            self._more(opened, text if isinstance(text, str) else "")
            opened.signature = [signature] if isinstance(signature, str) and signature else []
        elif kind == "tool_use":
            opened.call = self._box.call(str(block.get("name") or ""), str(block.get("id") or ""))
            opened.index = self._writer.item_added(opened.call.item)

    def _delta(self, event: Mapping[str, Any]) -> None:
        delta = event.get("delta")
        if not isinstance(delta, dict):
            return
        implied = next((kind for kind, field in _DELTAS.items() if field in delta), "")
        kind = str(delta.get("type") or implied)
        text = delta.get(_DELTAS.get(kind, ""))
        if kind == "input_json_delta" and isinstance(text, dict):
            text = _encoded(text)
        if not isinstance(text, str) or not text:
            return
        at = _index(event)
        opened = self._open.get(at)
        if opened is None:
            if kind not in _IMPLIED:
                return
            opened = self._open[at] = _OpenBlock({"type": _IMPLIED[kind]})
        if kind == "signature_delta":
            opened.signature.append(text)
        else:
            self._more(opened, text)

    def _more(self, opened: _OpenBlock, text: str) -> None:
        """More of a block's text, or of a call's arguments."""
        if not text:
            return
        opened.text.append(text)
        if opened.call is not None:
            text = opened.call.feed(text)
        elif opened.block["type"] not in _STARTED:
            return  # what the provider asks its own tools
        elif opened.index is None:
            kind = "message" if opened.block["type"] == "text" else "reasoning"
            opened.index = self._writer.item_added({"type": kind})
        if text and opened.index is not None:
            self._writer.delta(opened.index, text)

    def _block_stop(self, event: Mapping[str, Any]) -> None:
        opened = self._open.pop(_index(event), None)
        if opened is None:
            return
        writer, kind = self._writer, opened.block["type"]
        if opened.call is not None:
            self._end_call(opened, opened.call)
            return
        block = opened.whole()
        self._said.append(opened)
        if kind == "redacted_thinking" or (kind == "thinking" and block.get("signature")):
            opened.index = (
                writer.item_added({"type": "reasoning"}) if opened.index is None else opened.index
            )
        if opened.index is None:
            return
        if kind == "text":
            writer.item_done(opened.index)
        else:
            content = seal(KIND, self._asked.model, {"blocks": [block]})
            writer.item_done(opened.index, {"encrypted_content": content} if content else None)

    def _end_call(self, opened: _OpenBlock, call: ToolCall) -> None:
        given = opened.block.get("input")
        if not opened.text and isinstance(given, dict | str) and given:
            # it came whole, with the block's beginning
            self._more(opened, given if isinstance(given, str) else _encoded(given))
        index = opened.index or 0
        if not str(call.item.get("name")).strip():
            raise Broken("The model made a call without a tool's name.")
        if rest := call.end():
            self._writer.delta(index, rest)
        self._said.append(opened)
        if call.sound:
            self._writer.item_done(index)
        else:  # whether it was cut off is said later
            self._torn = str(call.item.get("name"))

    def _message_delta(self, event: Mapping[str, Any]) -> None:
        delta = event.get("delta")
        if isinstance(delta, dict):
            reason, details = delta.get("stop_reason"), delta.get("stop_details")
            self._reason = reason if isinstance(reason, str) else self._reason
            self._details = details if isinstance(details, dict) else self._details
        self._usage_counter.more(event.get("usage"), whole=self._reason is not None)

    def _stop(self, _event: Mapping[str, Any]) -> None:
        """The message is whole: end the response as it ended."""
        if self._over:
            return
        self._over = True
        writer, reason = self._writer, self._reason
        for at in sorted(self._open):
            self._block_stop({"index": at})
        if reason == "pause_turn" and isinstance(self._asked, MessagesTurn):
            self._asked.said.extend(opened.whole() for opened in self._said)
            self._asked.spent.append(self._usage_counter.usage)
        elif reason == "refusal":
            self._decline()
        elif reason in _CUT:
            if reason != "max_tokens":
                writer.note(duetto_stop_reason=str(reason))
            writer.finish("incomplete", "max_output_tokens")
        elif self._torn:
            words = f"The model called {self._torn} with arguments that are not JSON."
            raise Broken(words)
        else:
            writer.finish()

    def _decline(self) -> None:
        """The provider's classifiers stopped the model: the client hears why, if it was told."""
        writer, told = self._writer, self._details.get("explanation")
        words = told.strip() if isinstance(told, str) else ""
        if words or not any(item.get("type") == "message" for item in writer.output):
            index = writer.item_added({"type": "message"})
            writer.delta(index, self._mask.text(words or _DECLINED), "refusal")
            writer.item_done(index)
        writer.finish("incomplete", "content_filter")

    def _error(self, event: Mapping[str, Any]) -> None:
        """The provider gave up, in a stream that had begun well. Raises Refused."""
        told = provider_error(event, host=self._host)
        if not error_in(event).message and told.status == 500:
            told = told._replace(message=f"{self._host} ended its answer with an error.")
        self._over = True
        if not self._writer.began:
            raise Refused(told.status, told.code, told.message)
        self._writer.give_up(self._mask.text(told.code), self._mask.text(told.message))


def _index(event: Mapping[str, Any]) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else 0


def _object(message: Message) -> dict[str, Any] | None:
    """The JSON object of a message; empty for another value, None for null or no JSON."""
    value = said_by(message)
    return value if isinstance(value, dict | None) else {}


def _encoded(value: Mapping[str, Any]) -> str:
    return msgspec.json.encode(value).decode()
