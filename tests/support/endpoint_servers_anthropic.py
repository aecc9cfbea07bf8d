"""Anthropic's Messages, as a server speaks it."""

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
    Plan,
    Refuse,
    Script,
    Status,
    Think,
    halved,
    pieces,
    sse,
)

_STOPS = {"end": "end_turn", "length": "max_tokens", "filter": "refusal"}


class Anthropic:
    """See `endpoint_servers.Dialect`."""

    kind = "anthropic"
    path = "/v1/messages"

    def plan(self, script: Script) -> Plan:
        tokens = script.tokens
        usage = {
            "input_tokens": tokens.input - tokens.cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": tokens.cached,
            "output_tokens": 1,
        }
        message = {"id": "msg_up", "type": "message", "role": "assistant", "content": []}
        message |= {"model": SERVED, "stop_reason": None, "stop_sequence": None, "usage": usage}
        told: Plan = [_event("message_start", message=message), _event("ping")]
        index = 0
        for item in script.items:
            if isinstance(item, Hold):
                told.append(HOLD)
            else:
                told += _block(item, index)
                index += 1
        return told + _end(script)

    def error(self, status: Status) -> bytes:
        error = {"type": status.code, "message": status.message}
        return json.dumps({"type": "error", "error": error, "request_id": "req_1"}).encode()

    def heard(self, body: dict[str, Any]) -> Heard:
        system = body.get("system") or []
        texts = [system] if isinstance(system, str) else [part["text"] for part in system]
        told: list[tuple[str, ...]] = [("system", text) for text in texts]
        for message in body["messages"]:
            content = message["content"]
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            told += [_said(message["role"], part) for part in parts]
        tools = [tool["name"] for tool in body.get("tools") or []]
        effort = (body.get("output_config") or {}).get("effort") or ""
        return Heard(told, tools, body["model"], effort)


def _said(role: str, part: dict[str, Any]) -> tuple[str, ...]:
    kind = part["type"]
    if kind == "text":
        return role, part["text"]
    if kind == "thinking":
        return "thought", part["signature"]
    if kind == "tool_use":
        return "call", part["name"], json.dumps(part["input"])
    content = part["content"]
    if isinstance(content, list):
        content = "".join(one.get("text", "") for one in content)
    return "result", content


def _event(kind: str, **fields: Any) -> bytes:
    return sse({"type": kind, **fields}, kind)


def _block(item: Item, index: int) -> Plan:
    assert not isinstance(item, Hold)
    kind, key, begun = "text_delta", "text", {"type": "text", "text": ""}
    text = item.text
    if isinstance(item, Think):
        kind, key = "thinking_delta", "thinking"
        begun = {"type": "thinking", "thinking": "", "signature": ""}
    elif isinstance(item, Call):
        kind, key = "input_json_delta", "partial_json"
        begun = {"type": "tool_use", "id": item.call_id, "name": item.name, "input": {}}
        text = json.dumps({"input": item.text}) if item.custom else item.text
    deltas = [{"type": kind, key: piece} for piece in pieces(text)]
    if isinstance(item, Think):
        deltas.append({"type": "signature_delta", "signature": item.seal})
    told = [_event("content_block_delta", index=index, delta=delta) for delta in deltas]
    held = bool(getattr(item, "held", False))
    begin = _event("content_block_start", index=index, content_block=begun)
    return [begin, *halved(told, held=held), _event("content_block_stop", index=index)]


def _end(script: Script) -> Plan:
    if script.after == "error":
        error = {"type": "api_error", "message": "It broke inside."}
        return [_event("error", error=error)]
    if script.after in ("cut", "stall"):
        return [CUT if script.after == "cut" else STALL]
    stop = _STOPS[script.stop]
    if any(isinstance(item, Refuse) for item in script.items):
        stop = "refusal"
    elif stop == "end_turn" and any(isinstance(item, Call) for item in script.items):
        stop = "tool_use"
    delta = {"stop_reason": stop, "stop_sequence": None}
    usage = {"output_tokens": script.tokens.output}
    garbage: Plan = [sse("this is no JSON")] if script.after == "garbage" else []
    return [
        *garbage,
        _event("message_delta", delta=delta, usage=usage),
        _event("message_stop"),
    ]
