"""Answers of the Messages API, seen over a Responses WebSocket of the bridge."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.endpoint_kinds import Stand, failure, items, text_of
from tests.support.endpoint_servers import Status
from tests.support.messages_upstream import (
    Events,
    block,
    bodies,
    event,
    messages,
    start,
    stop,
    text,
)
from tests.support.rehearsed import CUSTOM, READ, user
from tests.support.tables import each
from tui.bridge.endpoints.anthropic.endpoint import AnthropicLanguage
from tui.bridge.endpoints.base import Asked, EndpointSpec, Refused, Target
from tui.bridge.targets import target
from tui.core.wire.address import Address


async def test_calls_may_come_mixed_and_whole(claude: Stand) -> None:
    one = {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}}
    two = {"type": "tool_use", "id": "toolu_2", "name": "apply_patch", "input": {}}
    whole = {"type": "tool_use", "id": "toolu_3", "name": "read_file", "input": {"path": "c"}}

    def piece(index: int, words: str) -> bytes:
        delta = {"type": "input_json_delta", "partial_json": words}
        return event("content_block_delta", index=index, delta=delta)

    told = Events(
        start(),
        event("content_block_start", index=0, content_block=one),
        event("content_block_start", index=1, content_block=two),
        piece(0, '{"pa'),
        piece(1, '{"input": "*** Be'),
        piece(0, 'th": "a"}'),
        piece(1, "gin\\n\\ud83d"),
        piece(1, '\\ude42"}'),
        event("content_block_stop", index=1),
        event("content_block_stop", index=0),
        block(2, whole),
        block(3, {"type": "tool_use", "id": "toolu_4", "name": "read_file", "input": {}}),
        stop("tool_use"),
    )
    events = await claude.answered(told, tools=[READ, CUSTOM])
    told_calls = {item["call_id"]: item for item in items(events)}
    assert json.loads(told_calls["toolu_1"]["arguments"]) == {"path": "a"}
    assert told_calls["toolu_2"]["input"] == "*** Begin\n🙂"
    assert json.loads(told_calls["toolu_3"]["arguments"]) == {"path": "c"}
    assert told_calls["toolu_4"]["arguments"] == "{}"


async def test_a_pause_is_no_end(claude: Stand) -> None:
    search = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}
    asked = {"type": "input_json_delta", "partial_json": '{"query": "x"}'}
    found = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}
    claude.answers(
        Events(start(), text("Let me see. "), block(1, search, asked), block(2, found),
               stop("pause_turn", 10)),
        Events(start(), text("Here it is."), stop("end_turn", 20)),
    )  # fmt: skip
    await claude.ask()
    events = await claude.until()
    assert text_of(events) == "Let me see. Here it is."
    assert events[-1]["type"] == "response.completed"
    usage = events[-1]["response"]["usage"]
    assert (usage["input_tokens"], usage["output_tokens"]) == (10, 30)
    first, second = bodies(claude)
    assert second["messages"][:-1] == first["messages"]
    assert second["messages"][-1]["role"] == "assistant"
    assert [part["type"] for part in second["messages"][-1]["content"]] == [
        "text", "server_tool_use", "web_search_tool_result",
    ]  # fmt: skip
    assert second["messages"][-1]["content"][1]["input"] == {"query": "x"}


async def test_the_speed_that_was_served_is_told() -> None:
    async with messages(options={"fast": True}) as claude:
        fast = {"input_tokens": 5, "output_tokens": 1, "speed": "fast", "service_tier": "standard"}
        told = Events(start(usage=fast), text("a"), stop())
        events = await claude.answered(told, service_tier="fast")
        assert events[-1]["response"]["service_tier"] == "fast"
        slow = {**fast, "speed": "standard"}
        told = Events(start(usage=slow), text("a"), stop())
        events = await claude.answered(told, service_tier="priority")
        assert events[-1]["response"]["service_tier"] == "default"
        (one, two) = claude.server.requests
        assert one.body["speed"] == two.body["speed"] == "fast"
        assert one.headers["anthropic-beta"] == "fast-mode-2026-02-01"
        await claude.answered(told)
        assert "speed" not in bodies(claude)[-1]
        assert "anthropic-beta" not in claude.server.requests[-1].headers


async def test_fast_mode_at_its_limit_gives_way_to_the_usual_speed() -> None:
    async with messages(options={"fast": True}) as claude:
        limited = Events(instead=Status(429, "rate_limit_error", "Fast mode: too many tokens."))
        claude.answers(limited, Events(start(), text("a"), stop()))
        await claude.ask(service_tier="fast")
        ended = (await claude.until())[-1]["response"]
        assert ended["status"] == "completed"
        assert "Fast mode" in ended["metadata"]["duetto_tier_reason"]
        assert ["speed" in body for body in bodies(claude)] == [True, False]
        refused = await claude.answered(limited, service_tier="fast")
        assert failure(refused)[2] == 429
        assert len(bodies(claude)) == 4, "and it is not asked again and again"


KEY = "sk-ant-very-secret-0123456789"


def sent(url: str, **spec: Any) -> tuple[str, dict[str, str]]:
    there: Target = target("a", EndpointSpec("anthropic", url, **spec), KEY)
    address, body = AnthropicLanguage().request(Asked("claude-x", {}, [user("hi")]), there)
    assert KEY not in body.decode()
    assert KEY not in repr(address) + repr(there)
    assert json.loads(body)["stream"] is True
    return address.url, {name.lower(): value for name, value in address.headers.items()}


@each(
    "url, asked",
    [
        ("https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1/messages/", "https://api.anthropic.com/v1/messages"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/messages"),
        ("https://api.deepseek.com/anthropic", "https://api.deepseek.com/anthropic/v1/messages"),
        ("http://127.0.0.1:8080/v1?x=1", "http://127.0.0.1:8080/v1/messages?x=1"),
    ],
)
def test_the_base_may_end_anywhere(url: str, asked: str) -> None:
    assert sent(url)[0] == asked


def test_version_and_betas_are_the_endpoints() -> None:
    url = "https://api.anthropic.com/v1"
    assert sent(url, options={"version": "2026-10-21"})[1]["anthropic-version"] == "2026-10-21"
    headers = {"Anthropic-Version": "2026-10-21", "anthropic-beta": "one, two"}
    _, told = sent(url, headers=headers, options={"betas": ["two", "three"]})
    assert told["anthropic-version"] == "2026-10-21"
    assert told["anthropic-beta"] == "one,two,three"


def test_a_key_does_not_travel_in_clear_text() -> None:
    plain = Address("http://example.org/v1", {"x-api-key": KEY})
    there = Target("a", EndpointSpec("anthropic", plain.url), plain)
    with pytest.raises(Refused, match="clear text") as caught:
        AnthropicLanguage().request(Asked("claude-x", {}, [user("hi")]), there)
    assert KEY not in str(caught.value)


@each(
    "options, words",
    [
        ({"thinking": "much"}, "thinking"),
        ({"betas": "one"}, "betas"),
        ({"budgets": {"low": "few"}}, "budgets"),
        ({"cache": "yes"}, "cache"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(Refused, match=words) as caught:
        sent("https://api.anthropic.com", options=options)
    assert caught.value.code == "invalid_endpoint"
    assert "'a'" in str(caught.value)
