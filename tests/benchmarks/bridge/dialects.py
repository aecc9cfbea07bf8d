"""The provider's stand-in as words: a token, a beginning and an end in each kind's events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TOKEN = "word "
_ITEM = "msg_0000000000000000000000000000abcd"


@dataclass(frozen=True, slots=True)
class Dialect:
    """One kind's answers, as bytes ready to be written: each event is an HTTP chunk."""

    path: str
    beginning: bytes
    token: bytes
    marker: bytes
    """What only a token's event holds: who reads counts it."""
    ends: tuple[bytes, bytes]
    """Before and behind the number of tokens."""

    def end(self, tokens: int) -> bytes:
        """The answer's end, which says how many tokens there were, and the body's."""
        before, behind = self.ends
        return _chunk(before + str(tokens).encode() + behind) + b"0\r\n\r\n"


def _chunk(text: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(text), text)


def _sse(event: Mapping[str, Any], *, named: bool = True) -> bytes:
    name = f"event: {event['type']}\n" if named else ""
    return f"{name}data: {json.dumps(event, separators=(',', ':'))}\n\n".encode()


def _ends(text: bytes) -> tuple[bytes, bytes]:
    before, _, behind = text.partition(b"999999")
    return before, behind


def _responses() -> Dialect:
    response = {"id": "resp_bench", "object": "response", "model": "bench", "output": []}
    item = {"id": _ITEM, "type": "message", "role": "assistant", "content": []}
    part = {"type": "output_text", "text": "", "annotations": []}
    at = {"item_id": _ITEM, "output_index": 0, "content_index": 0}
    kind = "response.output_text.delta"
    done = {**item, "status": "completed", "content": [part]}
    usage = {"input_tokens": 1, "output_tokens": 999999, "total_tokens": 1}
    finished = {**response, "status": "completed", "output": [done], "usage": usage}
    return Dialect(
        "/v1/responses",
        _chunk(
            _sse({"type": "response.created", "response": response})
            + _sse({"type": "response.output_item.added", "output_index": 0, "item": item})
            + _sse({"type": "response.content_part.added", **at, "part": part})
        ),
        _chunk(_sse({"type": kind, "sequence_number": 7, **at, "delta": TOKEN, "logprobs": []})),
        b'"delta":"',
        _ends(
            _sse({"type": "response.output_item.done", "output_index": 0, "item": done})
            + _sse({"type": "response.completed", "response": finished})
        ),
    )


def _chat() -> Dialect:
    chunk = {"id": "c-bench", "object": "chat.completion.chunk", "created": 1, "model": "bench"}

    def said(delta: Mapping[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return _sse({**chunk, "choices": [choice]}, named=False)

    usage = {"prompt_tokens": 1, "completion_tokens": 999999, "total_tokens": 1}
    return Dialect(
        "/v1/chat/completions",
        _chunk(said({"role": "assistant", "content": ""})),
        _chunk(said({"content": TOKEN})),
        b'"content":"w',
        _ends(
            said({}, "stop")
            + _sse({**chunk, "choices": [], "usage": usage}, named=False)
            + b"data: [DONE]\n\n"
        ),
    )


def _messages() -> Dialect:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": "msg_b",
        "type": "message",
        "role": "assistant",
        "model": "bench",
    }
    message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    delta = {"type": "text_delta", "text": TOKEN}
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    return Dialect(
        "/v1/messages",
        _chunk(
            _sse({"type": "message_start", "message": message})
            + _sse(
                {
                    "type": "content_block_start",
                    "index": 0,
                    "content_block": {"type": "text", "text": ""},
                }
            )
        ),
        _chunk(_sse({"type": "content_block_delta", "index": 0, "delta": delta})),
        b'"text_delta"',
        _ends(
            _sse({"type": "content_block_stop", "index": 0})
            + _sse({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 999999}})
            + _sse({"type": "message_stop"})
        ),
    )


DIALECTS = {"openai-responses": _responses(), "openai-chat": _chat(), "anthropic": _messages()}
"""By the kind of endpoint that speaks it."""
