"""What the Messages API insists on of a request, as its errors say it."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

_THOUGHTS = ("thinking", "redacted_thinking")


def check(body: dict[str, Any]) -> None:
    """Fails where the API would answer with an error."""
    messages = body["messages"]
    assert body["max_tokens"] >= 1
    assert messages, "at least one message is required"
    assert messages[0]["role"] == "user", "first message must use the user role"
    roles = [message["role"] for message in messages]
    assert all(one != two for one, two in pairwise(roles))
    assert roles[-1] == "user", "this model does not support prefill"
    ids: list[str] = []
    for at, message in enumerate(messages):
        assert message["content"]
        for block in message["content"]:
            _check_block(block)
        if message["role"] == "assistant":
            _check_turn(message["content"], messages[at + 1]["content"], ids)
        else:
            _check_results(message["content"], messages[at - 1]["content"] if at else [])
    assert len(set(ids)) == len(ids), "`tool_use` ids must be unique"
    assert not ids or body.get("tools"), "requests with `tool_use` blocks must define tools"
    _check_caches(body)
    _check_thinking(body)


def _check_block(block: dict[str, Any]) -> None:
    if block["type"] == "text":
        assert block["text"].strip(), "text content blocks must contain non-whitespace text"
    if block["type"] == "tool_use":
        assert isinstance(block["input"], dict)
        assert re.fullmatch(r"[a-zA-Z0-9_-]+", block["id"])
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", block["name"])
    if block["type"] in _THOUGHTS:
        assert "cache_control" not in block


def _check_turn(
    content: list[dict[str, Any]], behind: list[dict[str, Any]], ids: list[str]
) -> None:
    assert content[-1]["type"] not in _THOUGHTS, "the final block cannot be `thinking`"
    calls = [block["id"] for block in content if block["type"] == "tool_use"]
    results = [block["tool_use_id"] for block in behind[: len(calls)] if "tool_use_id" in block]
    assert sorted(results) == sorted(calls), "`tool_use` without `tool_result` immediately after"
    ids += calls


def _check_results(content: list[dict[str, Any]], before: list[dict[str, Any]]) -> None:
    calls = {block["id"] for block in before if block["type"] == "tool_use"}
    results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
    assert set(results) <= calls, "unexpected `tool_use_id` in `tool_result` blocks"
    assert len(set(results)) == len(results), "each `tool_use` must have a single result"


def _check_caches(body: dict[str, Any]) -> None:
    blocks = [*body.get("system", ()), *body.get("tools", ())]
    blocks += [block for message in body["messages"] for block in message["content"]]
    assert sum("cache_control" in block for block in blocks) <= 4


def _check_thinking(body: dict[str, Any]) -> None:
    thinking = body.get("thinking", {"type": "disabled"})
    forced = body.get("tool_choice", {}).get("type") in ("any", "tool")
    if thinking["type"] != "enabled":
        return
    assert 1024 <= thinking["budget_tokens"] < body["max_tokens"]
    assert not forced, "thinking may not be enabled when tool_choice forces tool use"
    assert "temperature" not in body
    messages = body["messages"]
    if messages[-1]["content"][0]["type"] != "tool_result":
        return
    turn: list[dict[str, Any]] = []
    for message in reversed(messages):
        if message["role"] == "assistant":
            turn = message["content"]
        elif message["content"][0]["type"] != "tool_result":
            break
    assert turn[0]["type"] in _THOUGHTS, "a final assistant message must start with thinking"
