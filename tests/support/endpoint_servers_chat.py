"""Chat Completions, as a server speaks it."""

from __future__ import annotations

import json
from typing import Any

from tests.support.endpoint_servers import (
    CUT,
    HOLD,
    SERVED,
    STALL,
    Call,
    Heard,
    Hold,
    Item,
    Mark,
    Plan,
    Refuse,
    Script,
    Status,
    Think,
    halved,
    pieces,
    sse,
)

_STOPS = {"end": "stop", "length": "length", "filter": "content_filter"}


class Chat:
    """See `endpoint_servers.Dialect`."""

    kind = "openai-chat"
    path = "/chat/completions"

    def plan(self, script: Script) -> Plan:
        parts = [_chunk({"role": "assistant", "content": ""})]
        calls = [item for item in script.items if isinstance(item, Call)]
        others = [item for item in script.items if not isinstance(item, Call)]
        told: Plan = [*parts, *(piece for item in others for piece in _deltas(item))]
        lists = [_call(call, at) for at, call in enumerate(calls)]
        while script.parallel and any(lists):
            told += [some.pop(0) for some in lists if some]
        told += [one for some in lists for one in some]
        return told + _end(script, bool(calls))

    def error(self, status: Status) -> bytes:
        error = {"message": status.message, "type": "x", "code": status.code, "param": None}
        return json.dumps({"error": error}).encode()

    def heard(self, body: dict[str, Any]) -> Heard:
        told: list[tuple[str, ...]] = []
        for message in body["messages"]:
            told += _said(message)
        tools = [tool["function"]["name"] for tool in body.get("tools") or []]
        return Heard(told, tools, body["model"], body.get("reasoning_effort") or "")


def _said(message: dict[str, Any]) -> list[tuple[str, ...]]:
    role, content = message["role"], message.get("content")
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content)
    if role == "tool":
        return [("result", content)]
    told: list[tuple[str, ...]] = []
    if message.get("reasoning_content"):
        told.append(("thought", message["reasoning_content"]))
    if content:
        told.append(("system" if role == "developer" else role, content))
    for call in message.get("tool_calls") or []:
        told.append(("call", call["function"]["name"], call["function"]["arguments"]))
    return told


def _chunk(delta: dict[str, Any], finish: str | None = None, **fields: Any) -> bytes:
    choices = [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]
    return sse(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1_760_000_000,
            "model": SERVED,
            "choices": choices,
            **fields,
        }
    )


def _deltas(item: Item) -> list[bytes | Mark]:
    if isinstance(item, Hold):
        return [HOLD]
    assert not isinstance(item, Call)
    keys = {Think: "reasoning_content", Refuse: "refusal"}
    key = keys.get(type(item), "content")
    held = bool(getattr(item, "held", False))
    return halved([_chunk({key: text}) for text in pieces(item.text)], held=held)


def _call(call: Call, index: int) -> list[bytes]:
    function = {"name": call.name, "arguments": ""}
    text = json.dumps({"input": call.text}) if call.custom else call.text
    first = {"index": index, "id": call.call_id, "type": "function", "function": function}
    told = [_chunk({"tool_calls": [first]})]
    for piece in pieces(text):
        more = {"index": index, "function": {"arguments": piece}}
        told.append(_chunk({"tool_calls": [more]}))
    return told


def _end(script: Script, calls: bool) -> Plan:
    if script.after == "error":
        error = {"message": "It broke inside.", "type": "server_error", "code": 500}
        return [sse({"error": error})]
    if script.after in ("cut", "stall"):
        return [CUT if script.after == "cut" else STALL]
    finish = "tool_calls" if calls and script.stop == "end" else _STOPS[script.stop]
    tokens = script.tokens
    usage = {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    }
    counted = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_760_000_000,
        "model": SERVED,
        "choices": [],
        "usage": usage,
    }
    garbage: Plan = [sse("this is no JSON")] if script.after == "garbage" else []
    return [*garbage, _chunk({}, finish), sse(counted), sse("[DONE]")]
