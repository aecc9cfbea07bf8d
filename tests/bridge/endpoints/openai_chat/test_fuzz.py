"""Whatever a server or a client says, there is one answer, or one error in words."""

from __future__ import annotations

import copy
import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.chat_answers import asked, body, call, chunk, counted, told
from tests.support.rehearsed import user
from tui.bridge.endpoints.base import Refused
from tui.bridge.endpoints.encrypted_content import seal

READ = {"type": "function", "name": "read", "parameters": {"type": "object"}}
PATCH = {"type": "custom", "name": "apply_patch", "format": {"type": "grammar", "definition": "x"}}
STREAM: list[Any] = [
    chunk(role="assistant", content=""),
    chunk(reasoning_content="so"),
    chunk(reasoning="so", reasoning_details=[{"type": "reasoning.text", "text": "so", "index": 0}]),
    chunk(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "so"}]}]),
    chunk(content="<think>a</think>b"),
    chunk(content="Hello"),
    chunk(refusal="No."),
    call(0, "read", '{"a": ', id="c1", extra_content={"google": {"thought_signature": "s"}}),
    call(1, "apply_patch", '{"input": "a\\n', id="c2"),
    call(0, None, "1}"),
    call(1, None, 'b"}'),
    {**chunk(), "usage": {"prompt_tokens": 1, "completion_tokens": 2}, "model": "x"},
    chunk("tool_calls"),
    counted(),
]
REQUEST: dict[str, Any] = {
    "instructions": "Be brief.",
    "tools": [READ, PATCH, {"type": "namespace", "name": "n", "tools": [READ]}],
    "tool_choice": {"type": "function", "name": "read"},
    "reasoning": {"effort": "high"},
    "text": {"format": {"type": "json_schema", "name": "x", "schema": {}}, "verbosity": "low"},
    "max_output_tokens": 5,
    "service_tier": "fast",
    "prompt_cache_key": "k",
    "stop": ["x"],
    "parallel_tool_calls": True,
    "input": [
        user("a"),
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "so"}],
            "encrypted_content": seal("openai-chat", "m", {"back": "reasoning", "details": [{}]}),
        },
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]},
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "c2", "name": "apply_patch", "input": "x"},
        {"type": "function_call_output", "call_id": "c1", "output": "1"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"type": "input_text"}]},
        {"type": "additional_tools", "tools": [PATCH]},
        {"type": "message", "role": "developer", "content": "c"},
    ],
}
ODD: list[Any] = [
    None, "", "x", "\ud83d", 0, -1, 1.5, True, [], {}, [None], ["x"], {"type": "x"}, {"a": [{}]},
    "functions.read:0", "{", '{"input": "', {"type": "input_image", "image_url": 5}, 10**30,
]  # fmt: skip


def spoilt(value: Any, luck: random.Random, times: int) -> Any:
    """The same with some of its parts replaced, left out or doubled."""
    value = copy.deepcopy(value)
    for _ in range(times):
        holders = list(_holders(value))
        holder = luck.choice(holders)
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not keys:
            continue
        key = luck.choice(keys)
        what = luck.random()
        if what < 0.6:
            holder[key] = copy.deepcopy(luck.choice(ODD))
        elif what < 0.8:
            del holder[key]
        elif isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[luck.randrange(len(holder))]))
    return value


def _holders(value: Any) -> Any:
    if isinstance(value, dict | list):
        yield value
        for part in value.values() if isinstance(value, dict) else value:
            yield from _holders(part)


@given(seed=st.integers(0, 2**32), times=st.integers(1, 12))
def test_any_stream_is_one_answer_or_one_error(seed: int, times: int) -> None:
    luck = random.Random(seed)
    chunks = spoilt(STREAM, luck, times)
    answer = told(*[one for one in chunks if one != b""], tools=[READ, PATCH])
    ended = answer.events[-1]["type"] in {
        "response.completed", "response.incomplete", "response.failed",
    }  # fmt: skip
    assert ended is (answer.error is None)
    assert answer.error is None or str(answer.error)


@given(seed=st.integers(0, 2**32), times=st.integers(1, 12))
def test_any_request_is_asked_or_refused_in_words(seed: int, times: int) -> None:
    luck = random.Random(seed)
    request = spoilt(REQUEST, luck, times)
    items = request.pop("input", [])
    items = [one for one in items if isinstance(one, dict)] if isinstance(items, list) else []
    try:
        sent = body(asked(*items, **{str(key): value for key, value in request.items()}))
    except Refused:
        return
    pending: list[str] = []
    for message in sent["messages"]:
        if message["role"] == "tool":
            assert message["tool_call_id"] in pending
            pending.remove(message["tool_call_id"])
            continue
        assert not pending
        pending = [one["id"] for one in message.get("tool_calls", [])]
    assert not pending
