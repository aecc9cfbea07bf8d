"""What servers say: the events of a response, for scripts of `nasty_server`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Event = Mapping[str, Any]


def error(status: int | None, code: str | None, message: str = "", **fields: Any) -> dict[str, Any]:
    """An ``error`` event as the guide has it."""
    about = {"type": "invalid_request_error", "code": code, "message": message}
    named = {} if status is None else {"status": status}
    return {"type": "error", **named, "error": about, **fields}


def created(response_id: str = "resp_x", **fields: Any) -> dict[str, Any]:
    """The first event."""
    response = {"id": response_id, "status": "in_progress", "model": "nasty-1", **fields}
    return {"type": "response.created", "response": response}


def delta(text: str, item_id: str = "msg_1") -> dict[str, Any]:
    """A piece of prose."""
    return {
        "type": "response.output_text.delta",
        "item_id": item_id,
        "output_index": 0,
        "content_index": 0,
        "delta": text,
    }


def added(item: Event) -> dict[str, Any]:
    """An item begins."""
    return {"type": "response.output_item.added", "output_index": 0, "item": item}


def done(item: Event) -> dict[str, Any]:
    """An item is finished."""
    return {"type": "response.output_item.done", "output_index": 0, "item": item}


def message(text: str, item_id: str = "msg_1") -> dict[str, Any]:
    """A message item."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "type": "message",
        "id": item_id,
        "role": "assistant",
        "status": "completed",
        "content": content,
    }


def spoken(text: str, item_id: str = "msg_1") -> list[Event]:
    """A whole message."""
    opening = {**message("", item_id), "content": []}
    return [added(opening), delta(text, item_id), done(message(text, item_id))]


def function_call(name: str, arguments: str, call_id: str = "call_1") -> dict[str, Any]:
    """A function call item."""
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
        "status": "completed",
    }


def patch_call(patch: str, call_id: str = "call_1") -> dict[str, Any]:
    """A freeform apply_patch call item."""
    return {
        "type": "custom_tool_call",
        "id": f"ctc_{call_id}",
        "call_id": call_id,
        "name": "apply_patch",
        "input": patch,
        "status": "completed",
    }


_PIECES = {
    "function_call": ("response.function_call_arguments.delta", "arguments"),
    "custom_tool_call": ("response.custom_tool_call_input.delta", "input"),
}


def begun(item: Event, share: float = 1.0, pieces: int = 8) -> list[Event]:
    """A call that streams its first ``share`` and is not finished."""
    kind, key = _PIECES[item["type"]]
    text = item[key][: int(len(item[key]) * share)]
    size = max(1, len(text) // pieces)
    parts = [text[at : at + size] for at in range(0, len(text), size)]
    base = {"type": kind, "item_id": item.get("id"), "output_index": 0}
    return [added({**item, key: "", "status": "in_progress"})] + [
        {**base, "delta": part} for part in parts
    ]


def called(item: Event) -> list[Event]:
    """A call that streams to its end."""
    return [*begun(item), done(item)]


def completed(response_id: str = "resp_x", **fields: Any) -> dict[str, Any]:
    """The usual end."""
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    response = {"id": response_id, "status": "completed", "output": [], "usage": usage, **fields}
    return {"type": "response.completed", "response": response}


def incomplete(reason: str, response_id: str = "resp_x") -> dict[str, Any]:
    """An end that is none."""
    response = {
        "id": response_id,
        "status": "incomplete",
        "incomplete_details": {"reason": reason},
    }
    return {"type": "response.incomplete", "response": response}


def failed(code: str, text: str, response_id: str = "resp_x") -> dict[str, Any]:
    """The server gave up."""
    response = {"id": response_id, "status": "failed", "error": {"code": code, "message": text}}
    return {"type": "response.failed", "response": response}


def turn(number: int | str, *steps: Any) -> list[Any]:
    """A whole response: created, the steps, completed."""
    return [created(f"resp_{number}"), *steps, completed(f"resp_{number}")]
