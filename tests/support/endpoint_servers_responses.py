"""The Responses API's language, for a server of HTTP and for one of WebSockets."""

from __future__ import annotations

import json
from typing import Any

from tests.support.endpoint_servers import (
    CUT,
    SERVED,
    STALL,
    Call,
    Heard,
    Hold,
    Item,
    Mark,
    Plan,
    Refuse,
    Say,
    Script,
    Status,
    Think,
    halved,
    pieces,
    sse,
)

_ENDS = {"end": ("completed", None), "length": ("incomplete", "max_output_tokens")}
_ENDS["filter"] = ("incomplete", "content_filter")


class Responses:
    """See `endpoint_servers.Dialect`."""

    kind = "openai-responses"
    path = "/responses"

    def plan(self, script: Script) -> Plan:
        return [
            piece if isinstance(piece, Mark) else sse(piece, str(piece["type"]))
            if isinstance(piece, dict) else sse(piece)
            for piece in events(script)
        ]  # fmt: skip

    def error(self, status: Status) -> bytes:
        error = {"message": status.message, "type": "x", "code": status.code, "param": None}
        return json.dumps({"error": error}).encode()

    def heard(self, body: dict[str, Any]) -> Heard:
        told = [("system", body["instructions"])] if body.get("instructions") else []
        told += [_said(item) for item in body["input"]]
        tools = [tool["name"] for tool in body.get("tools") or []]
        effort = (body.get("reasoning") or {}).get("effort") or ""
        return Heard(told, tools, body["model"], effort)


def _said(item: dict[str, Any]) -> tuple[str, ...]:
    kind = item["type"]
    if kind == "message":
        return item["role"], "".join(part.get("text", "") for part in item["content"])
    if kind == "reasoning":
        return "thought", item["encrypted_content"]
    if kind == "function_call":
        return "call", item["name"], item["arguments"]
    if kind == "custom_tool_call":
        return "call", item["name"], item["input"]
    return "result", item["output"]


def events(script: Script, response_id: str = "resp_up") -> list[Any]:
    """The events of an answer, marks and lines that are no events among them."""
    body = {"id": response_id, "object": "response", "model": SERVED, "output": []}
    told: list[Any] = [
        {"type": "response.created", "response": {**body, "status": "in_progress"}},
        {"type": "response.in_progress", "response": {**body, "status": "in_progress"}},
    ]
    lists, output = [], []
    index = 0
    for item in script.items:
        if isinstance(item, Hold):
            lists.append(halved([], held=True))
            continue
        begun, deltas, done = _item(item, index, response_id)
        begin = {"type": "response.output_item.added", "output_index": index, "item": begun}
        end = {"type": "response.output_item.done", "output_index": index, "item": done}
        held = isinstance(item, Say) and item.held
        lists.append([begin, *halved(deltas, held=held, at=2), end])
        output.append(done)
        index += 1
    told += _in_turn(lists) if script.parallel else [one for some in lists for one in some]
    return told + _end(script, body, output)


def _in_turn(lists: list[list[Any]]) -> list[Any]:
    told = []
    while any(lists):
        told += [some.pop(0) for some in lists if some]
    return told


def _end(script: Script, body: dict[str, Any], output: list[Any]) -> list[Any]:
    error = {"code": "server_error", "message": "It broke inside.", "param": None}
    if script.after == "error":
        return [{"type": "error", **error}]
    if script.after in ("cut", "stall"):
        return [CUT if script.after == "cut" else STALL]
    status, reason = _ENDS[script.stop]
    tokens = script.tokens
    usage = {
        "input_tokens": tokens.input,
        "input_tokens_details": {"cached_tokens": tokens.cached},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.input + tokens.output,
    }
    details = {"reason": reason} if reason else None
    ended = {**body, "status": status, "output": output, "usage": usage}
    end = {"type": f"response.{status}", "response": {**ended, "incomplete_details": details}}
    return ["this is no JSON", end] if script.after == "garbage" else [end]


def _item(
    item: Item, index: int, response_id: str
) -> tuple[dict[str, Any], list[Any], dict[str, Any]]:
    """An item as it begins, its events, and as it ends."""
    assert not isinstance(item, Hold)
    tail = f"{response_id}_{index}"
    if isinstance(item, Call):
        return _call(item, index, tail)
    if isinstance(item, Think):
        return _thought(item, index, tail)
    at = {"item_id": f"msg_{tail}", "output_index": index, "content_index": 0}
    kind = "refusal" if isinstance(item, Refuse) else "output_text"
    key = "refusal" if isinstance(item, Refuse) else "text"
    whole = {"type": "message", "id": at["item_id"], "role": "assistant", "status": "completed"}
    part: dict[str, Any] = {"type": kind, key: item.text}
    if kind == "output_text":
        part |= {"annotations": [], "logprobs": []}
    family = f"response.{kind}"
    told = [
        {"type": "response.content_part.added", **at, "part": {**part, key: ""}},
        *({"type": f"{family}.delta", **at, "delta": text} for text in pieces(item.text)),
        {"type": f"{family}.done", **at, key: item.text},
        {"type": "response.content_part.done", **at, "part": part},
    ]
    return {**whole, "status": "in_progress", "content": []}, told, {**whole, "content": [part]}


def _thought(
    item: Think, index: int, tail: str
) -> tuple[dict[str, Any], list[Any], dict[str, Any]]:
    at = {"item_id": f"rs_{tail}", "output_index": index, "summary_index": 0}
    whole = {"type": "reasoning", "id": at["item_id"], "encrypted_content": item.seal}
    part = {"type": "summary_text", "text": item.text}
    family = "response.reasoning_summary_text"
    told = [
        {"type": "response.reasoning_summary_part.added", **at, "part": {**part, "text": ""}},
        *({"type": f"{family}.delta", **at, "delta": text} for text in pieces(item.text)),
        {"type": f"{family}.done", **at, "text": item.text},
        {"type": "response.reasoning_summary_part.done", **at, "part": part},
    ]
    begun = {"type": "reasoning", "id": at["item_id"], "summary": []}
    return begun, told, {**whole, "summary": [part]}


def _call(item: Call, index: int, tail: str) -> tuple[dict[str, Any], list[Any], dict[str, Any]]:
    kind, key, family = "function_call", "arguments", "response.function_call_arguments"
    if item.custom:
        kind, key, family = "custom_tool_call", "input", "response.custom_tool_call_input"
    at = {"item_id": f"call_{tail}", "output_index": index}
    whole = {"type": kind, "id": at["item_id"], "call_id": item.call_id, "name": item.name}
    told = [
        *({"type": f"{family}.delta", **at, "delta": text} for text in pieces(item.text)),
        {"type": f"{family}.done", **at, key: item.text},
    ]
    begun = {**whole, "status": "in_progress", key: ""}
    return begun, told, {**whole, "status": "completed", key: item.text}
