"""Answers of the Messages API, seen over a Responses WebSocket of the bridge."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.support.endpoint_kinds import Stand, failure, items, text_of, thoughts
from tests.support.endpoint_servers import HOLD, MODEL, Status
from tests.support.messages_upstream import (
    Events,
    block,
    bodies,
    call,
    event,
    messages,
    start,
    stop,
    text,
    thinking,
)
from tests.support.rehearsed import CUSTOM, READ, user
from tui.bridge.endpoints.base import ModelFacts

READING = {"tools": [READ], "reasoning": {"effort": "high"}}


async def next_body(claude: Stand, events: list[dict[str, Any]], said: Any) -> dict[str, Any]:
    """The body of the request that goes on behind an answer."""
    parent = events[-1]["response"]["id"]
    await claude.answered(Events(start(), text("ok"), stop()), said=said,
                          previous_response_id=parent, **READING)  # fmt: skip
    return dict(bodies(claude)[-1])


def output_of(item: dict[str, Any], words: str) -> dict[str, Any]:
    kind = item["type"].replace("call", "call_output")
    return {"type": kind, "call_id": item["call_id"], "output": words}


async def test_a_turn_from_beginning_to_end(claude: Stand) -> None:
    told = Events(start(), event("ping"), text("Hel"), text("lo", 1), stop())
    events = await claude.answered(told, stream_id="a")
    assert text_of(events) == "Hello"
    ended = events[-1]["response"]
    assert events[-1]["type"] == "response.completed"
    assert ended["model"] == "served"
    assert (ended["usage"]["input_tokens"], ended["usage"]["output_tokens"]) == (5, 7)
    (request,) = claude.server.requests
    assert request.path == "/v1/messages"
    assert request.headers["x-api-key"].startswith("sk-")
    assert "authorization" not in request.headers
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert (request.body["model"], request.body["stream"]) == (MODEL, True)
    assert request.body["max_tokens"] > 1000


async def test_thoughts_go_back_unchanged_and_in_their_place(claude: Stand) -> None:
    redacted = {"type": "redacted_thinking", "data": "c2VjcmV0"}
    told = Events(
        start(),
        thinking("First. ", "sig-1"),
        block(1, redacted),
        text("Let me look.", 2),
        thinking("", "sig-2", 3),
        call("read_file", '{"path": ', '"a.py"}', index=4),
        stop("tool_use"),
    )
    events = await claude.answered(told, **READING)
    assert thoughts(events) == "First. "
    kinds = [item["type"] for item in items(events)]
    assert kinds == ["reasoning", "reasoning", "message", "reasoning", "function_call"]
    assert [item["summary"] for item in items(events, "reasoning")][1:] == [[], []]
    body = await next_body(claude, events, [output_of(items(events)[-1], "text")])
    assert body["messages"][1] == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "First. ", "signature": "sig-1"},
            redacted,
            {"type": "text", "text": "Let me look."},
            {"type": "thinking", "thinking": "", "signature": "sig-2"},
            {
                "type": "tool_use",
                "id": "toolu_1",
                "name": "read_file",
                "input": {"path": "a.py"},
            },
        ],
    }
    (result,) = body["messages"][2]["content"]
    assert (result["type"], result["tool_use_id"]) == ("tool_result", "toolu_1")


async def test_thoughts_of_another_model_are_not_sent(claude: Stand) -> None:
    told = Events(start(), thinking("Mine.", "sig"), text("one", 1), stop())
    events = await claude.answered(told)
    said = [user("hi"), *events[-1]["response"]["output"], user("and?")]
    await claude.answered(Events(start(), text("two"), stop()), said=said, model="another")
    first, second = bodies(claude)[-1]["messages"][1], bodies(claude)[-1]["messages"][2]
    assert first["content"] == [{"type": "text", "text": "one"}]
    assert second["content"][0]["text"] == "and?"


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


async def test_all_results_are_in_one_message_behind_their_calls(claude: Stand) -> None:
    told = Events(
        start(),
        call("read_file", '{"path": "a"}', call_id="toolu_1"),
        call("read_file", '{"path": "b"}', index=1, call_id="toolu_2"),
        stop("tool_use"),
    )
    events = await claude.answered(told, **READING)
    one, two = items(events)
    body = await next_body(
        claude, events, [output_of(two, "B"), user("and quick"), output_of(one, "A")]
    )
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    first, second, words = body["messages"][2]["content"]
    assert (first["tool_use_id"], first["content"][0]["text"]) == ("toolu_1", "A")
    assert (second["tool_use_id"], second["content"][0]["text"]) == ("toolu_2", "B")
    assert words["text"] == "and quick"


@pytest.mark.parametrize("reason", ["end_turn", "stop_sequence", "tool_use", "some_new_reason"])
async def test_what_ends_well(claude: Stand, reason: str) -> None:
    events = await claude.answered(Events(start(), text("all"), stop(reason)))
    assert events[-1]["type"] == "response.completed"


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


async def test_caches_are_input_and_thoughts_are_counted(claude: Stand) -> None:
    usage = {
        "input_tokens": 10, "cache_creation_input_tokens": 200, "cache_read_input_tokens": 3000,
        "output_tokens": 1, "service_tier": "priority",
    }  # fmt: skip
    last = {"output_tokens": 90, "output_tokens_details": {"thinking_tokens": 40}}
    delta = {"stop_reason": "end_turn", "stop_sequence": None}
    end = event("message_delta", delta=delta, usage=last) + event("message_stop")
    events = await claude.answered(Events(start(usage=usage), text("a"), end))
    ended = events[-1]["response"]
    assert ended["usage"] == {
        "input_tokens": 3210,
        "input_tokens_details": {"cached_tokens": 3000, "cache_write_tokens": 200},
        "output_tokens": 90,
        "output_tokens_details": {"reasoning_tokens": 40},
        "total_tokens": 3300,
    }
    assert ended["service_tier"] == "priority"


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


async def test_an_interrupt_counts_what_was_said(claude: Stand) -> None:
    usage = {"input_tokens": 50, "cache_read_input_tokens": 100, "output_tokens": 1}
    claude.answers(Events(start(usage=usage), text("one " * 20), block_begun(1), HOLD))
    await claude.ask()
    events = await claude.until("response.output_text.delta")
    events += await claude.until("response.output_text.delta")
    response_id = events[0]["response"]["id"]
    await claude.send({"type": "response.interrupt", "response_id": response_id,
                       "mode": "discard_partial_items"})  # fmt: skip
    ended = (await claude.until())[-1]["response"]
    assert ended["incomplete_details"]["reason"] == "interrupted"
    assert len(ended["output"]) == 1
    assert ended["usage"]["input_tokens"] == 150
    assert ended["usage"]["output_tokens"] >= 20
    assert ended["usage"]["estimated"] is True
    async with asyncio.timeout(10):
        await claude.server.requests[0].gone.wait()


def block_begun(index: int) -> bytes:
    began = event("content_block_start", index=index, content_block={"type": "text", "text": ""})
    delta = {"type": "text_delta", "text": "half a word"}
    return began + event("content_block_delta", index=index, delta=delta)


async def test_a_steer_cuts_behind_a_thought(claude: Stand) -> None:
    claude.answers(
        Events(start(), thinking("Hm.", "sig"), text("said", 1), HOLD, text("never", 2), stop()),
        Events(start(), text("Then so."), stop()),
    )
    await claude.ask()
    events = await claude.until("response.output_item.done")
    events += await claude.until("response.output_item.done")
    response_id = events[0]["response"]["id"]
    await claude.send(
        {"type": "response.steer", "previous_response_id": response_id, "input": "shorter"}
    )
    await claude.until("response.steer.accepted")
    claude.server.released.set()
    first = await claude.until()
    assert first[-1]["response"]["incomplete_details"]["reason"] == "steered"
    second = await claude.until()
    assert text_of(second) == "Then so."
    messages_sent = bodies(claude)[-1]["messages"]
    assert messages_sent[-1]["content"][0]["text"] == "shorter"
    assert [part["type"] for part in messages_sent[1]["content"]][:2] == ["thinking", "text"]


async def test_facts_of_the_model_are_kept() -> None:
    async with messages(ModelFacts(max_output_tokens=4000, images=False)) as claude:
        await claude.answered(Events(start(), text("a"), stop()), max_output_tokens=90_000)
        assert bodies(claude)[-1]["max_tokens"] == 4000
        await claude.answered(Events(start(), text("a"), stop()), max_output_tokens=50)
        assert bodies(claude)[-1]["max_tokens"] == 50
