"""The replay server's answers as bytes: for Responses (WebSocket and SSE) and Chat Completions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.benchmarks.screen.replay_text import EDITS, Kind

Event = Mapping[str, Any]
MODEL = "replay"
INPUT_TOKENS = 100
"""What every request is said to hold."""
_TEXT_DELTA = "response.output_text.delta"
_INPUT_DELTA = "response.custom_tool_call_input.delta"


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent: at once, then a token at a time, then at once."""

    head: bytes
    tokens: Sequence[bytes]
    tail: bytes
    stopped: bytes
    """What ends it where it was interrupted."""


def compact(event: Event) -> bytes:
    """JSON without spaces, as real servers send it."""
    return json.dumps(event, separators=(",", ":")).encode()


def frame(event: Event) -> bytes:
    """An event as WebSocket text frame (RFC 6455, section 5.2)."""
    text = compact(event)
    size = len(text)
    if size < 126:
        return b"\x81" + bytes([size]) + text
    if size < 1 << 16:
        return b"\x81\x7e" + size.to_bytes(2, "big") + text
    return b"\x81\x7f" + size.to_bytes(8, "big") + text


def named_sse(event: Event) -> bytes:
    """A Server-Sent Event with its name, in an HTTP chunk of its own."""
    return _chunk(f"event: {event['type']}\n".encode() + b"data: " + compact(event) + b"\n\n")


def bare_sse(event: Event) -> bytes:
    """The same without a name."""
    return _chunk(b"data: " + compact(event) + b"\n\n")


def _chunk(text: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(text), text)


def response(
    tokens: Sequence[str], number: int, kind: Kind, encode: Callable[[Event], bytes]
) -> Answer:
    """An answer of the Responses API; ``number`` makes its ids."""
    parts = _Call(number) if kind in EDITS else _Message(number)
    base = {"id": f"resp_{number:032x}", "object": "response", "model": MODEL, "metadata": {}}
    running = {**base, "status": "in_progress", "output": [], "usage": None}
    head = [
        {"type": "response.created", "response": running},
        {"type": "response.in_progress", "response": running},
        *parts.head(),
    ]
    deltas = [encode({**parts.delta, "delta": token}) for token in tokens]
    whole = "".join(tokens)
    item = parts.item("completed", whole)
    ended = {**base, "status": "completed", "output": [item], "usage": usage(len(tokens))}
    tail = [*parts.tail(whole), {"type": "response.completed", "response": ended}]
    reason = {"incomplete_details": {"reason": "interrupted"}}
    cut = {**base, "status": "incomplete", "output": [], "usage": usage(1), **reason}
    stopped = encode({"type": "response.incomplete", "response": cut})
    return Answer(b"".join(map(encode, head)), deltas, b"".join(map(encode, tail)), stopped)


def usage(tokens: int) -> dict[str, Any]:
    """What an answer of so many tokens has used."""
    return {
        "input_tokens": INPUT_TOKENS,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": INPUT_TOKENS + tokens,
    }


def _chat_usage(tokens: int) -> dict[str, int]:
    total = INPUT_TOKENS + tokens
    return {"prompt_tokens": INPUT_TOKENS, "completion_tokens": tokens, "total_tokens": total}


def warm_up(number: int) -> bytes:
    """The answer to a request that generates nothing, for a WebSocket."""
    base = {"id": f"resp_{number:032x}", "object": "response", "model": MODEL, "output": []}
    done = {**base, "status": "completed", "usage": usage(0)}
    created = frame({"type": "response.created", "response": {**base, "status": "in_progress"}})
    return created + frame({"type": "response.completed", "response": done})


class _Message:
    """An answer that is text."""

    def __init__(self, number: int) -> None:
        self._id = f"msg_{number:032x}"
        self._place = {"item_id": self._id, "output_index": 0, "content_index": 0}
        self.delta: dict[str, Any] = {"type": _TEXT_DELTA, **self._place, "logprobs": []}

    def item(self, status: str, text: str) -> dict[str, Any]:
        content = [self._part(text)] if status == "completed" else []
        kind = {"id": self._id, "type": "message", "status": status, "role": "assistant"}
        return {**kind, "content": content}

    def head(self) -> list[Event]:
        item = self.item("in_progress", "")
        return [
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.content_part.added", **self._place, "part": self._part("")},
        ]

    def tail(self, text: str) -> list[Event]:
        item = self.item("completed", text)
        return [
            {"type": "response.output_text.done", **self._place, "text": text},
            {"type": "response.content_part.done", **self._place, "part": self._part(text)},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
        ]

    def _part(self, text: str) -> dict[str, Any]:
        return {"type": "output_text", "text": text, "annotations": []}


class _Call:
    """An answer that is a patch."""

    def __init__(self, number: int) -> None:
        self._id = f"ctc_{number:032x}"
        self._call_id = f"call_{number:024x}"
        self._place = {"item_id": self._id, "output_index": 0}
        self.delta: dict[str, Any] = {"type": _INPUT_DELTA, **self._place}

    def item(self, status: str, text: str) -> dict[str, Any]:
        kind = {"id": self._id, "type": "custom_tool_call", "status": status}
        return {**kind, "call_id": self._call_id, "name": "apply_patch", "input": text}

    def head(self) -> list[Event]:
        item = self.item("in_progress", "")
        return [{"type": "response.output_item.added", "output_index": 0, "item": item}]

    def tail(self, text: str) -> list[Event]:
        item = self.item("completed", text)
        return [
            {"type": "response.custom_tool_call_input.done", **self._place, "input": text},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
        ]


def chat(tokens: Sequence[str], number: int) -> Answer:
    """An answer of Chat Completions, streamed."""
    names = {"id": f"chatcmpl-{number:024x}", "object": "chat.completion.chunk"}
    base: dict[str, Any] = {**names, "created": 1, "model": MODEL}

    def chunk(delta: Event, why: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": why}
        return bare_sse({**base, "choices": [choice]})

    used = bare_sse({**base, "choices": [], "usage": _chat_usage(len(tokens))})
    done = chunk({}, "stop") + used + _chunk(b"data: [DONE]\n\n")
    head = chunk({"role": "assistant", "content": ""})
    return Answer(head, [chunk({"content": token}) for token in tokens], done, done)


def chat_at_once(text: str) -> Event:
    """The same in one piece."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    base = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": MODEL}
    return {**base, "choices": [choice], "usage": _chat_usage(1)}
