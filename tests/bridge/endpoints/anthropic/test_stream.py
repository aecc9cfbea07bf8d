"""Answers of the Messages API that end otherwise than well, over real sockets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.endpoint_kinds import Stand, failure, items, text_of
from tests.support.endpoint_servers import HOLD, Status
from tests.support.messages_upstream import Events, block, call, event, start, stop, text
from tests.support.rehearsed import CUSTOM, READ
from tests.support.tables import each
from tui.bridge.endpoints import http_endpoint
from tui.bridge.endpoints.anthropic.endpoint import AnthropicLanguage
from tui.bridge.endpoints.base import Asked, Broken, EndpointSpec, Refused
from tui.bridge.endpoints.encrypted_content import seal
from tui.bridge.endpoints.response_writer import ResponseWriter
from tui.bridge.targets import target
from tui.bridge.upstream.sse import Message
from tui.core.wire.server.run import Run, Task


@each("reason", ["max_tokens", "model_context_window_exceeded"])
async def test_what_is_cut_off(claude: Stand, reason: str) -> None:
    torn = call("read_file", '{"path": "a', index=1)
    events = await claude.answered(Events(start(), text("half"), torn, stop(reason)))
    assert events[-1]["type"] == "response.incomplete"
    assert events[-1]["response"]["incomplete_details"]["reason"] == "max_output_tokens"
    assert [item["type"] for item in items(events)] == ["message"], "nobody calls half a call"


async def test_why_the_provider_declined(claude: Stand) -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "Not about germs."}
    told = Events(start(), text("Well, "), stop("refusal", stop_details=details))
    events = await claude.answered(told)
    assert text_of(events, "refusal") == "Not about germs."
    assert events[-1]["response"]["incomplete_details"]["reason"] == "content_filter"
    silent = await claude.answered(Events(start(), stop("refusal")))
    assert text_of(silent, "refusal")


async def test_a_model_that_only_pauses_is_given_up(claude: Stand) -> None:
    events = await claude.answered(Events(start(), text("."), stop("pause_turn")))
    assert "paused" in failure(events)[1]
    assert len(claude.server.requests) == 32


@each('status, kind, words, code', [
        (401, "authentication_error", "invalid x-api-key", "invalid_api_key"),
        (404, "not_found_error", "model: claude-nix", "model_not_found"),
        (400, "invalid_request_error", "Invalid model name passed in", "model_not_found"),
        (400, "invalid_request_error", "The model `x` does not exist", "model_not_found"),
        (400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum",
         "context_length_exceeded"),
        (413, "request_too_large", "Request exceeds the maximum size", "context_length_exceeded"),
        (529, "overloaded_error", "Overloaded", "overloaded_error"),
        (429, "", "Slow down", "rate_limit_exceeded"),
        (402, "billing_error", "Your credit is used up", "insufficient_quota"),
        (403, "permission_error", "Not for this key", "permission_error"),
    ])  # fmt: skip
async def test_refusals(claude: Stand, status: int, kind: str, words: str, code: str) -> None:
    events = await claude.answered(Events(instead=Status(status, kind, words)))
    assert failure(events) == (code, words, status)


async def test_what_lacks_its_last_event_but_said_how_it_ended(claude: Stand) -> None:
    delta = {"stop_reason": "end_turn", "stop_sequence": None}
    told = Events(start(), text("all"), event("message_delta", delta=delta))
    assert (await claude.answered(told))[-1]["type"] == "response.completed"
    marked = Events(start(), text("all"), b"data: [DONE]\n\n")
    assert (await claude.answered(marked))[-1]["type"] == "response.completed"


async def test_one_object_instead_of_a_stream(claude: Stand) -> None:
    content = [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "text", "text": "Hello"},
        {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "a"}},
    ]
    message = {"id": "m", "type": "message", "role": "assistant", "model": "served",
               "content": content, "stop_reason": "tool_use", "usage": {"input_tokens": 3,
               "output_tokens": 9}}  # fmt: skip
    told = Events(instead=Whole(message))
    events = await claude.answered(told, tools=[READ])
    assert [item["type"] for item in items(events)] == ["reasoning", "message", "function_call"]
    assert json.loads(items(events)[-1]["arguments"]) == {"path": "a"}
    assert events[-1]["response"]["usage"]["output_tokens"] == 9
    wrong = await claude.answered(Events(instead=Whole({"object": "chat.completion"})))
    assert failure(wrong)[0] == "not_an_endpoint"
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "No."}}
    assert failure(await claude.answered(Events(instead=Whole(error)))) == (
        "invalid_request_error", "No.", 400,
    )  # fmt: skip


class Whole(Status):
    """A body as it is, with HTTP status 200."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__(200, message=json.dumps(body))


async def test_an_answer_that_never_ends_is_ended(
    claude: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_endpoint, "MOST_ANSWER_BYTES", 2**20)
    delta = event("content_block_delta", index=0, delta={"type": "text_delta", "text": "more "})
    events = await claude.answered(Events(start(), *[delta * 1000] * 40, HOLD))
    assert "does not come to an end" in failure(events)[1]


async def test_a_server_that_does_not_hang_up_is_not_waited_for(
    claude: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_endpoint, "_COUNT_S", 0.05)
    delta = {"stop_reason": "end_turn", "stop_sequence": None}
    told = Events(start(), text("all"), event("message_delta", delta=delta), HOLD)
    assert (await claude.answered(told))[-1]["type"] == "response.completed"
    claude.answers(
        Events(start(), text("one "), stop("pause_turn"), HOLD),
        Events(start(), text("two"), stop(), HOLD),
    )
    await claude.ask()
    assert text_of(await claude.until()) == "one two"


@each(
    "told, words",
    [
        (b'[{"error": {"code": 429, "message": "Quota."}}]', "Quota."),
        (b"event: error\ndata: Overloaded.\n\n", "Overloaded."),
        (b'{"detail": "Nothing here."}', "Nothing here."),
        (b'data: {"detail": "Nothing here."}\n\n', "Nothing here."),
        (event("error", error=None), "ended its answer with an error"),
        (start() + call("", "{}") + stop("tool_use"), "a call without a tool's name"),
    ],
)
async def test_words_of_others_than_anthropic(claude: Stand, told: bytes, words: str) -> None:
    assert words in failure(await claude.answered(Events(told)))[1]


async def test_an_event_that_broke_off_is_told_as_an_answer_that_did(claude: Stand) -> None:
    events = await claude.answered(Events(start(), text("Hi"), stop()[:50]))
    assert text_of(events) == "Hi"
    assert "ended before the response did" in failure(events)[1]


async def test_a_delta_that_does_not_say_its_kind_goes_by_its_field(claude: Stand) -> None:
    bare = event("content_block_delta", index=0, delta={"text": "Hi"})
    events = await claude.answered(Events(start(), bare, b"data: null\n\n", stop()))
    assert (text_of(events), events[-1]["type"]) == ("Hi", "response.completed")


async def test_a_block_that_begins_where_one_is_open(claude: Stand) -> None:
    """Some gateways count no blocks, and say no end of them."""
    words = event("content_block_start", index=0, content_block={"type": "text", "text": "Hi"})
    asked = {"type": "tool_use", "id": "t", "name": "read_file", "input": {"path": "a"}}
    called = event("content_block_start", index=0, content_block=asked)
    events = await claude.answered(Events(start(), words, called, stop("tool_use")), tools=[READ])
    assert [item["type"] for item in items(events)] == ["message", "function_call"]
    assert events[-1]["response"]["output"] == items(events)


@each("where", ["input", "delta", "text"])
async def test_arguments_in_another_form(claude: Stand, where: str) -> None:
    given: Any = {"path": "a"}
    asked = {"type": "tool_use", "id": "t", "name": "read_file", "input": {}}
    deltas = []
    if where == "delta":
        deltas = [{"type": "input_json_delta", "partial_json": given}]
    else:
        asked["input"] = given if where == "input" else json.dumps(given)
    events = await claude.answered(
        Events(start(), block(0, asked, *deltas), stop("tool_use")), tools=[READ]
    )
    assert [json.loads(item["arguments"]) for item in items(events)] == [given]


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
