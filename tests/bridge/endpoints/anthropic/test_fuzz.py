"""Whatever a server says, the reader ends with an answer or with one error in words."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.rehearsed import CUSTOM, READ
from tui.bridge.endpoints.anthropic.endpoint import AnthropicLanguage
from tui.bridge.endpoints.base import Asked, Broken, EndpointSpec, Refused
from tui.bridge.endpoints.encrypted_content import seal
from tui.bridge.endpoints.response_writer import ResponseWriter
from tui.bridge.targets import target
from tui.bridge.upstream.sse import Message
from tui.core.wire.server.run import Run, Task

THERE = target("a", EndpointSpec("anthropic", "https://host.example/v1"), "sk-secret-key-000000")
_WORDS = ["text", "thinking", "tool_use", "redacted_thinking", "server_tool_use", "text_delta",
          "thinking_delta", "signature_delta", "input_json_delta", "end_turn", "pause_turn",
          "max_tokens", "refusal", "apply_patch", "read_file", "{", '"', '{"input": "', "\ud83d",
          "sk-secret-key-000000"]  # fmt: skip
_WORD = st.sampled_from(_WORDS)
_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 10**20) | _WORD,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_WORD, inner, max_size=2),
    max_leaves=4,
)
_KEYS = ["type", "text", "thinking", "signature", "partial_json", "name", "id", "input", "data",
         "stop_reason", "stop_details", "explanation", "model", "usage", "content", "error",
         "message", "output_tokens", "input_tokens", "speed", "service_tier"]  # fmt: skip
_OBJECT = st.dictionaries(st.sampled_from(_KEYS), _VALUE | _WORD, max_size=4)
_EVENT = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            ["message_start", "content_block_start", "content_block_delta", "content_block_stop",
             "message_delta", "message_stop", "error", "ping", "other"]
        )
    },
    optional={
        "index": st.integers(0, 2) | _VALUE,
        "message": _OBJECT | _VALUE,
        "content_block": _OBJECT | _VALUE,
        "delta": _OBJECT | _VALUE,
        "usage": _OBJECT | _VALUE,
        "error": _OBJECT | _VALUE,
    },
)  # fmt: skip


async def flush() -> None:
    return


def told(events: list[Any], whole: bool) -> list[dict[str, Any]]:
    """What a client hears of these events."""
    frames: list[str] = []
    task = Task("resp_1", None, {"tools": [READ, CUSTOM]}, [])
    run = Run(task, frames.append, lambda *_: None)
    writer = ResponseWriter(run, flush)
    asked = Asked("claude-x", task.request, [])
    reader = AnthropicLanguage().reader(asked, THERE, writer)
    failed = ""
    try:
        if whole:
            reader.hear_whole(Message("", json.dumps(events[0] if events else {}).encode()))
        for event in events:
            reader.hear(Message("", json.dumps(event).encode()))
        reader.cut("host.example", marked=False)
    except (Broken, Refused) as error:
        failed = str(error).strip()
    assert run.done or failed
    return [json.loads(frame) for frame in frames]


@given(st.lists(_EVENT, max_size=8), st.booleans())
@settings(max_examples=25)
@example(
    [{"type": "content_block_delta", "delta": {"type": "text_delta", "text": "\ud83d"}}], False
)
def test_any_events(events: list[Any], whole: bool) -> None:
    ends = ("response.completed", "response.incomplete", "response.failed")
    heard = told(events, whole)
    assert sum(one["type"] in ends for one in heard) <= 1
    for one in heard:
        if one["type"] == "response.failed":
            assert "sk-secret-key" not in json.dumps(one["response"]["error"])


_ITEM_TYPES = ["message", "reasoning", "function_call", "function_call_output", "custom_tool_call",
               "custom_tool_call_output", "shell_call", "shell_call_output", "additional_tools",
               "input_text", "input_image", "output_text", "refusal", "thinking"]  # fmt: skip
_ITEM_KEYS = ["role", "content", "call_id", "name", "arguments", "input", "output", "tools",
              "encrypted_content", "summary", "text", "image_url", "action", "id"]  # fmt: skip
_PART = st.recursive(
    _VALUE
    | st.sampled_from(["user", "assistant", "developer", "data:,", "data:image/png;base64,A"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["type", *_ITEM_KEYS]), inner, max_size=3)
    ),
    max_leaves=5,
)
_SEALED = st.builds(lambda blocks: seal("anthropic", "claude-x", {"blocks": blocks}), _VALUE)
_ITEM = st.fixed_dictionaries(
    {"type": st.sampled_from(_ITEM_TYPES) | _VALUE},
    optional=dict.fromkeys(_ITEM_KEYS, _PART | _SEALED),
)
_REQUEST = st.dictionaries(
    st.sampled_from(["tools", "tool_choice", "reasoning", "text", "stop", "temperature", "user",
                     "instructions", "max_output_tokens", "service_tier"]),
    _PART,
    max_size=4,
)  # fmt: skip


@given(st.lists(_ITEM, max_size=4), _REQUEST)
@settings(max_examples=25)
def test_any_request_is_asked_or_refused_in_words(items: list[Any], request: Any) -> None:
    try:
        _, body = AnthropicLanguage().request(Asked("claude-x", request, items), THERE)
    except Refused as error:
        words = str(error)
    else:
        words = body.decode()
    assert words.strip()


@given(_VALUE)
def test_any_json_instead(value: Any) -> None:
    told([value], False)
