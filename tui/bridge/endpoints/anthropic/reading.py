"""Reads an answer of the Messages API and tells a run of it, block by block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tui.bridge.endpoints.anthropic.asking import Turn
from tui.bridge.endpoints.anthropic.content import Block
from tui.bridge.endpoints.anthropic.conversation import KIND
from tui.bridge.endpoints.anthropic.counting import Counting
from tui.bridge.endpoints.anthropic.refusals import complaint, refusal
from tui.bridge.endpoints.base import Asked, Broken, Refused, Target
from tui.bridge.endpoints.carried import seal
from tui.bridge.endpoints.telling import Telling
from tui.bridge.endpoints.tools import Call, Toolbox
from tui.bridge.upstream.complaint import complaint_in, excerpt
from tui.bridge.upstream.loose_json import said_by
from tui.bridge.upstream.sse import Message
from tui.core.wire.address import secrets_in
from tui.core.wire.events import Usage
from tui.core.wire.json_writing import TextBuilder
from tui.core.wire.masking import Mask
from tui.core.wire.server.run import usage_fields

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


@dataclass(slots=True)
class _Opened:
    """One block that has begun."""

    block: Block
    """As it began; what came since is in the pieces."""
    index: int | None = None
    """Of the item that tells of it; None: nothing was told."""
    call: Call | None = None
    text: TextBuilder = field(default_factory=TextBuilder)
    signature: list[str] = field(default_factory=list)

    def whole(self) -> Block:
        """The block as it is given back to its provider."""
        text = str(self.text)
        kind = str(self.block["type"])
        if kind in _STARTED:
            block = {**self.block, _STARTED[kind]: text}
            return {**block, "signature": "".join(self.signature)} if self.signature else block
        return {**self.block, "input": _object(_of_text(text)) or {}} if text else self.block


class Reading:
    """One answer. See `endpoints.http_endpoint.Reader`."""

    mends = False

    def __init__(self, asked: Asked, target: Target, telling: Telling, box: Toolbox) -> None:
        self._asked = asked
        self._telling = telling
        self._box = box
        self._host = urlsplit(target.address.url).hostname or "the endpoint"
        self._mask = Mask(secrets_in(target.address))
        self._open: dict[int, _Opened] = {}
        self._said: list[_Opened] = []
        """The blocks that are whole."""
        self._torn = ""
        """The tool that was called with arguments that are no JSON."""
        spent = asked.spent if isinstance(asked, Turn) else []
        self._counting = Counting(telling, spent)
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
            telling.note(duetto_tools_left_out=", ".join(box.left_out))

    @property
    def settled(self) -> bool:
        """The message has said how it ended: whatever comes behind that changes nothing."""
        return self._reason is not None

    def hear(self, message: Message) -> None:
        """Take one event; unknown ones, and pings, mean nothing here."""
        event = _object(message)
        if event is None:
            if not message.data.strip():
                return
            if message.event == "error":
                self._error({"error": {"message": excerpt(message.data)}})
                return
            raise Broken(f"{self._host} sent an event that is not JSON.")
        handler = self._handlers.get(str(event.get("type") or message.event))
        if handler is not None:
            handler(event)
        elif isinstance(event.get("error"), dict):
            self._error(event)
        elif message.event != "ping" and event.get("type") != "ping":
            self._foreign = True
            self._complaint = complaint_in(event).message or self._complaint

    def hear_whole(self, message: Message) -> None:
        """Take a message that came as one JSON object."""
        whole = _object(message)
        if whole is None:
            raise Broken(f"The answer of {self._host} is not JSON.")
        content = whole.get("content")
        if whole.get("error"):
            self._error(whole)
        if not isinstance(content, list):
            self._complaint = complaint_in(whole).message
            raise self._not_messages(self._host)
        self._start({"message": whole})
        for at, block in enumerate(content):
            self._block_start({"index": at, "content_block": block})
            self._block_stop({"index": at})
        self._message_delta({"delta": whole, "usage": whole.get("usage")})
        self._stop(whole)

    def refuse(self, status: int, body: bytes, headers: dict[str, str], host: str) -> None:
        """See `Reader`. Raises Refused."""
        told = refusal(status, _object(Message("", body)), body, host)
        self._telling.refuse(told.status, told.code, told.message, None, headers)

    def cut(self, host: str, *, marked: bool) -> None:
        """The stream is over: well, if the message has said how it ended. Raises Broken, Refused.

        ``marked``: it said so itself, as servers of another language do.
        """
        telling = self._telling
        if self._over or telling.done:
            return
        if self._reason is not None or (marked and telling.output and not self._open):
            self._stop({})
        elif self._foreign and not telling.began:
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
            self._telling.served = model
        self._counting.begin(message.get("usage"))

    def _block_start(self, event: Mapping[str, Any]) -> None:
        block, at = event.get("content_block"), _index(event)
        if not isinstance(block, dict):
            return
        kind = str(block.get("type"))
        self._block_stop({"index": at})  # some leave that out, and count no blocks
        opened = self._open[at] = _Opened({**block, "type": kind})
        if kind in _STARTED:
            text, signature = block.get(_STARTED[kind]), block.get("signature")
            self._more(opened, text if isinstance(text, str) else "")
            opened.signature = [signature] if isinstance(signature, str) and signature else []
        elif kind == "tool_use":
            opened.call = self._box.call(str(block.get("name") or ""), str(block.get("id") or ""))
            opened.index = self._telling.item_added(opened.call.item)

    def _delta(self, event: Mapping[str, Any]) -> None:
        delta = event.get("delta")
        if not isinstance(delta, dict):
            return
        kind = str(delta.get("type"))
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
            opened = self._open[at] = _Opened({"type": _IMPLIED[kind]})
        if kind == "signature_delta":
            opened.signature.append(text)
        else:
            self._more(opened, text)

    def _more(self, opened: _Opened, text: str) -> None:
        """More of a block's text, or of a call's arguments."""
        if not text:
            return
        opened.text.add(text)
        if opened.call is not None:
            text = opened.call.feed(text)
        elif opened.block["type"] not in _STARTED:
            return  # what the provider asks its own tools
        elif opened.index is None:
            kind = "message" if opened.block["type"] == "text" else "reasoning"
            opened.index = self._telling.item_added({"type": kind})
        if text and opened.index is not None:
            self._telling.delta(opened.index, text)

    def _block_stop(self, event: Mapping[str, Any]) -> None:
        opened = self._open.pop(_index(event), None)
        if opened is None:
            return
        telling, kind = self._telling, opened.block["type"]
        if opened.call is not None:
            self._end_call(opened, opened.call)
            return
        block = opened.whole()
        self._said.append(opened)
        if kind == "redacted_thinking" or (kind == "thinking" and block.get("signature")):
            opened.index = (
                telling.item_added({"type": "reasoning"}) if opened.index is None else opened.index
            )
        if opened.index is None:
            return
        if kind == "text":
            telling.item_done(opened.index)
        else:
            content = seal(KIND, self._asked.model, {"blocks": [block]})
            telling.item_done(opened.index, {"encrypted_content": content} if content else None)

    def _end_call(self, opened: _Opened, call: Call) -> None:
        given = opened.block.get("input")
        if not opened.text and isinstance(given, dict | str) and given:
            # it came whole, with the block's beginning
            self._more(opened, given if isinstance(given, str) else _encoded(given))
        index = opened.index or 0
        if rest := call.end():
            self._telling.delta(index, rest)
        self._said.append(opened)
        if call.sound:
            self._telling.item_done(index)
        else:  # whether it was cut off is said later
            self._torn = str(call.item.get("name"))

    def _message_delta(self, event: Mapping[str, Any]) -> None:
        delta = event.get("delta")
        if isinstance(delta, dict):
            reason, details = delta.get("stop_reason"), delta.get("stop_details")
            self._reason = reason if isinstance(reason, str) else self._reason
            self._details = details if isinstance(details, dict) else self._details
        self._counting.more(event.get("usage"), whole=self._reason is not None)

    def _stop(self, _event: Mapping[str, Any]) -> None:
        """The message is whole: end the response as it ended."""
        if self._over:
            return
        self._over = True
        telling, reason = self._telling, self._reason
        for at in sorted(self._open):
            self._block_stop({"index": at})
        if reason == "pause_turn" and isinstance(self._asked, Turn):
            self._asked.said.extend(opened.whole() for opened in self._said)
            self._asked.spent.append(self._counting.usage)
        elif reason == "refusal":
            self._decline()
        elif reason in _CUT:
            if reason != "max_tokens":
                telling.note(duetto_stop_reason=str(reason))
            telling.finish("incomplete", "max_output_tokens")
        elif self._torn:
            words = f"The model called {self._torn} with arguments that are not JSON."
            raise Broken(words)
        else:
            telling.finish()

    def _decline(self) -> None:
        """The provider's classifiers stopped the model: the client hears why, if it was told."""
        telling, told = self._telling, self._details.get("explanation")
        words = told.strip() if isinstance(told, str) else ""
        if words or not any(item.get("type") == "message" for item in telling.output):
            index = telling.item_added({"type": "message"})
            telling.delta(index, self._mask.text(words or _DECLINED), "refusal")
            telling.item_done(index)
        telling.finish("incomplete", "content_filter")

    def _error(self, event: Mapping[str, Any]) -> None:
        """The provider gave up, in a stream that had begun well. Raises Refused."""
        told = complaint(event, host=self._host)
        telling = self._telling
        self._over = True
        if not telling.began:
            raise Refused(told.status, told.code, told.message)
        usage = telling.usage
        counted = usage_fields(usage) if isinstance(usage, Usage) else usage
        error = self._mask.value({"code": told.code, "message": told.message})
        telling.conclude("failed", {"error": error, "usage": counted})


def _index(event: Mapping[str, Any]) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else 0


def _object(message: Message) -> dict[str, Any] | None:
    """The JSON object of a message; empty for another value, None for null or no JSON."""
    value = said_by(message)
    return value if isinstance(value, dict | None) else {}


def _of_text(text: str) -> Message:
    return Message("", text.encode("utf-8", "replace"))


def _encoded(value: Mapping[str, Any]) -> str:
    return msgspec.json.encode(value).decode()
