"""Answers of the Messages API that end otherwise than well, over real sockets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.endpoint_kinds import Stand, failure, items, text_of
from tests.support.endpoint_servers import HOLD, Status
from tests.support.messages_upstream import (
    Events,
    block,
    call,
    event,
    start,
    stop,
    text,
)
from tests.support.rehearsed import READ
from tests.support.tables import each
from tui.bridge.endpoints import http_endpoint


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
    ],
)
async def test_words_of_others_than_anthropic(claude: Stand, told: bytes, words: str) -> None:
    assert words in failure(await claude.answered(Events(told)))[1]


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
