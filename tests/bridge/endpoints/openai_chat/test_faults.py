"""Errors, odd chunks, answers that come whole, and servers that do not stop."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.chat_answers import KEY, call, chunk, told
from tests.support.tables import each
from tui.bridge.endpoints import tools
from tui.bridge.endpoints.base import Broken, Refused
from tui.bridge.endpoints.openai_chat import stream

READ = {"type": "function", "name": "read", "parameters": {"type": "object", "properties": {}}}
PATCH = {"type": "custom", "name": "apply_patch"}
TOOLS = [READ, PATCH]
TEXT = chunk(content="Hello")


OPENROUTER = {
    "id": "gen-1",
    "error": {"code": 502, "message": "Provider returned error"},
    "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}],
}


@each(
    "error, status, words",
    [
        (OPENROUTER, 502, "Provider returned error"),
        ({"error": "model is gone"}, 500, "model is gone"),
        ({"object": "error", "message": "Too long.", "type": "x", "code": 400}, 400, "Too long."),
        ({"error": {"message": "Slow down", "code": "rate_limit_exceeded"}}, 429, "Slow down"),
        ({"error": {"message": f"bad key {KEY}", "type": "auth_error"}}, 401, "bad key [key]"),
        (chunk("error"), 500, "without a reason"),
        ([{"error": {"code": 429, "message": "Quota", "status": "X"}}], 429, "Quota"),  # Google
        ({"type": "error", "message": "Went wrong."}, 500, "Went wrong."),
        (chunk("function_call_filter: MALFORMED_FUNCTION_CALL"), 500, "could not read"),
        ({"error": {"message": "No.", "code": "strange"}}, 500, "No."),
        ({"code": 503, "msg": "Busy.", "success": False}, 503, "Busy."),
    ],
)
def test_errors_in_the_stream(error: Any, status: int, words: str) -> None:
    before = told(error)
    assert isinstance(before.error, Refused)
    assert before.error.status == status
    assert words in str(before.error)
    after = told(TEXT, error)
    assert after.events[-1]["type"] == "response.failed"
    assert words in after.last["error"]["message"]
    assert KEY not in str(after.events)


@each("value", [None, [], {}, 1])
def test_a_value_that_says_nothing_is_passed_over(value: Any) -> None:
    answer = told(value, TEXT, value, chunk("stop"), value)
    assert answer.texts() == [("message", "Hello")]


def test_another_language() -> None:
    answer = told({"type": "response.created", "response": {}}, {"type": "response.completed"})
    assert isinstance(answer.error, Refused)
    assert answer.error.code == "not_an_endpoint"


# ---- answers that are no stream


WHOLE = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "m-2026",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": "Hello",
                "reasoning_content": "so",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "read", "arguments": "{}"},
                    },
                    {
                        "id": "c2",
                        "type": "function",
                        "function": {"name": "apply_patch", "arguments": '{"input": "a"}'},
                    },
                ],
            },
        }
    ],
    "usage": {"prompt_tokens": 9, "completion_tokens": 4},
}


def test_an_answer_that_came_whole() -> None:
    answer = told(whole=json.dumps(WHOLE).encode(), tools=TOOLS)
    assert answer.texts() == [
        ("reasoning", "so"),
        ("message", "Hello"),
        ("function_call", "{}"),
        ("custom_tool_call", "a"),
    ]
    assert answer.last["usage"]["input_tokens"] == 9
    assert answer.last["model"] == "m-2026"


@each(
    "body, error, words",
    [
        (b'{"error": {"message": "No quota.", "code": 429}}', Refused, "No quota."),
        (b'{"detail": "Not here."}', Refused, "does not speak Chat Completions: it says: Not"),
        (b'{"base_resp": {"status_code": 1008, "status_msg": "no balance"}}', Refused, "no bal"),
        (b'[{"error": {"message": "No quota.", "code": 429}}]', Refused, "No quota."),
        (b"[]", Broken, "not JSON"),
        (b"oops", Broken, "oops"),
        (b'{"choices": []}', Broken, "ended before it was whole"),
    ],
)
def test_a_whole_answer_that_is_none(body: bytes, error: type[Exception], words: str) -> None:
    answer = told(whole=body)
    assert isinstance(answer.error, error)
    assert words in str(answer.error)


@each(
    "status, body, code, words",
    [
        (401, b"", "http_401", "provider.test refused the key (HTTP status 401)."),
        (403, b'{"error": {"message": "No access."}}', "http_403", "No access."),
        (403, b"", "request_blocked", "provider.test answered HTTP 403: this is not about the key"),
        (
            403,
            b"<html><title>Corporate Proxy</title>",
            "request_blocked",
            'HTTP 403, saying "Corporate Proxy": this is not about the key; a firewall or a proxy',
        ),
        (404, b'{"error": "model \'x\' not found"}', "http_404", "model 'x' not found"),
        (
            502,
            b"<html>Bad gateway</html>",
            "http_502",
            "provider.test answered with HTTP status 502.",
        ),
        (503, b"busy", "http_503", "provider.test answered with HTTP status 503: busy"),
        (
            400,
            b'[{"error": {"code": 400, "message": "Bad.", "status": "INVALID_ARGUMENT"}}]',
            "http_400",
            "Bad.",
        ),
        (
            400,
            b'{"error": {"message": "This model\'s maximum context length is 8192 tokens."}}',
            "context_length_exceeded",
            "maximum context length",
        ),
        (
            400,
            b'{"error": {"code": 400, "type": "exceed_context_size_error", "message": "the request '
            b'exceeds the available context size"}}',
            "context_length_exceeded",
            "available context size",
        ),
    ],
)
def test_refusals(status: int, body: bytes, code: str, words: str) -> None:
    answer = told(refused=(status, body))
    assert isinstance(answer.error, Refused)
    assert (answer.error.status, answer.error.code) == (status, code)
    assert words in str(answer.error)


# ---- servers that do not stop


def test_chunks_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "MOST_CHUNKS", 50)
    answer = told(*[chunk()] * 51, chunk("stop"))
    assert isinstance(answer.error, Broken)
    assert "does not come to an end" in str(answer.error)


def test_calls_for_ever() -> None:
    calls = [call(number, "read", "{}", id=f"c{number}") for number in range(300)]
    answer = told(*calls, chunk("stop"))
    assert isinstance(answer.error, Broken)
    assert "more than 256 calls" in str(answer.error)


def test_arguments_for_ever_that_cannot_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "MOST_KEPT_CHARS", 100)
    patch = call(0, "apply_patch", '{"patch": "', id="c1")
    answer = told(patch, *[call(0, None, "more ")] * 50, chunk("stop"), tools=TOOLS)
    assert isinstance(answer.error, Broken)
    assert "not JSON" in str(answer.error)
