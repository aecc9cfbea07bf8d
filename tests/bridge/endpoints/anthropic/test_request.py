"""What is asked besides the conversation: tools, effort, speed, caches, limits."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.support.endpoint_kinds import Stand, failure, items, text_of
from tests.support.endpoint_servers import Status
from tests.support.messages_upstream import (
    Events,
    bodies,
    call,
    messages,
    start,
    stop,
    text,
    thinking,
)
from tests.support.rehearsed import CUSTOM, READ, user
from tests.support.tables import each
from tui.bridge.endpoints.anthropic.request import (
    AnthropicOptions,
    MessagesRequest,
    UnsupportedFields,
    messages_request,
    nearest,
    traits_of,
)
from tui.bridge.endpoints.base import Asked, ModelFacts

NEW, OLD, OTHER = "claude-opus-5-5", "claude-sonnet-4-5-20250929", "kimi-k2"
FORCED = "claude-opus-5"
"""The newest that may be forced to call, and not to think."""


def asked_of(
    model: str = NEW, options: dict[str, Any] | None = None, items: Any = None, **request: Any
) -> MessagesRequest:
    facts = request.pop("facts", ModelFacts())
    told = Asked(model, request, [user("hi")] if items is None else items, facts)
    return messages_request(told, msgspec.convert(options or {}, AnthropicOptions))


@each(
    "model, thinking, efforts",
    [
        ("claude-opus-5-5", "adaptive", "xhigh"),
        ("anthropic/claude-opus-4.7", "adaptive", "xhigh"),
        ("claude-sonnet-4-6", "adaptive", "max"),
        ("claude-haiku-5-5", "adaptive", "xhigh"),
        ("claude-mythos-preview", "adaptive", "xhigh"),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "budget", "high"),
        ("claude-sonnet-4-5-20250929", "budget", ""),
        ("claude-opus-4-20250514", "budget", ""),
        ("claude-3-7-sonnet-20250219", "budget", ""),
        ("claude-3-5-haiku-20241022", "none", ""),
        ("claude-3-opus-20240229", "none", ""),
        ("kimi-k2", "budget", ""),
    ],
)
def test_what_generations_know(model: str, thinking: str, efforts: str) -> None:
    known = traits_of(model, ModelFacts(), AnthropicOptions())
    assert known.thinking == thinking
    assert nearest("xhigh", known.efforts) == efforts


def test_older_models_are_given_a_budget_below_the_limit() -> None:
    sent = asked_of(OLD, reasoning={"effort": "high"}, max_output_tokens=9000, tools=[READ])
    assert sent.body["thinking"] == {"type": "enabled", "budget_tokens": 9000 - 1024}
    assert sent.betas == ["interleaved-thinking-2025-05-14"]
    small = asked_of(OLD, reasoning={"effort": "high"}, max_output_tokens=500)
    assert "thinking" not in small.body
    given = {"budgets": {"low": 2000}}
    body = asked_of(OLD, given, reasoning={"effort": "low"}).body
    assert body["thinking"]["budget_tokens"] == 2000


def test_no_thinking_where_none_is_wanted_or_a_call_is_forced() -> None:
    rested = asked_of(FORCED, reasoning={"effort": "none"}).body
    assert rested["thinking"] == {"type": "disabled"}
    assert asked_of(OLD, reasoning={"effort": "none"}).body.get("thinking") is None
    for name in ("claude-mythos-5", "claude-fable-5", NEW, "anthropic.claude-opus-5-5-v1:0"):
        restless = asked_of(name, reasoning={"effort": "none"}).body
        assert restless["thinking"]["type"] == "adaptive"
        assert restless["output_config"] == {"effort": "low"}
    forced = {"reasoning": {"effort": "high"}, "tools": [READ], "tool_choice": "required"}
    assert "thinking" not in asked_of(OLD, **forced).body
    assert "thinking" not in asked_of("claude-opus-4-6", **forced).body
    assert "thinking" in asked_of(FORCED, **forced).body


@each("model", [NEW, "anthropic/claude-opus-5.5", "claude-sonnet-5-5"])
@each("wanted", ["required", {"type": "function", "name": "read_file"}])
def test_a_model_that_cannot_be_forced_is_asked_in_words(model: str, wanted: Any) -> None:
    body = asked_of(model, tools=[READ, CUSTOM], tool_choice=wanted, instructions="Be brief.").body
    assert "tool_choice" not in body
    assert body["system"][0]["text"] == "Be brief."
    assert "call of a tool" in body["system"][-1]["text"]
    offered = [tool["name"] for tool in body["tools"]]
    assert offered == (["read_file"] if isinstance(wanted, dict) else ["read_file", "apply_patch"])


def test_options_are_stronger_than_names() -> None:
    options = {"thinking": "adaptive", "display": "", "max_tokens": 777, "structured": True}
    schema = {"type": "json_schema", "name": "n", "schema": {"type": "object"}}
    body = asked_of(OTHER, options, reasoning={"effort": "low"}, text={"format": schema}).body
    assert body["thinking"] == {"type": "adaptive"}
    assert body["output_config"] == {
        "effort": "low",
        "format": {"type": "json_schema", "schema": {"type": "object"}},
    }
    assert body["max_tokens"] == 777
    assert "thinking" not in asked_of(NEW, {"thinking": "none"}, reasoning={"effort": "low"}).body


def test_what_is_known_of_a_model_here_is_stronger_than_its_name() -> None:
    facts = ModelFacts(options={"rests": True, "fast": False})
    told = {"facts": facts, "reasoning": {"effort": "none"}, "service_tier": "fast"}
    body = asked_of(NEW, **told).body
    assert body["thinking"] == {"type": "disabled"}
    assert "speed" not in body


def test_a_schema_is_said_in_words_where_there_is_no_other_way() -> None:
    schema = {"type": "json_schema", "name": "n", "schema": {"type": "object", "title": "Ledger"}}
    body = asked_of(OTHER, text={"format": schema}, instructions="Be brief.").body
    assert "output_config" not in body
    assert body["system"][0]["text"] == "Be brief."
    assert "Ledger" in body["system"][-1]["text"]
    free = asked_of(NEW, text={"format": {"type": "json_object"}}).body
    assert "JSON" in free["system"][-1]["text"]
    assert "system" not in asked_of(NEW, text={"format": {"type": "text"}}).body


@each('wanted, sent', [
        ("auto", None),
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        ({"type": "function", "name": "read_file"}, {"type": "tool", "name": "read_file"}),
        ({"type": "custom", "name": "apply_patch"}, {"type": "tool", "name": "apply_patch"}),
        (
            {"type": "allowed_tools", "mode": "required",
             "tools": [{"type": "function", "name": "read_file"}]},
            {"type": "tool", "name": "read_file"},
        ),
    ])  # fmt: skip
def test_which_tools_may_be_called(wanted: Any, sent: Any) -> None:
    body = asked_of(FORCED, tools=[READ, CUSTOM], tool_choice=wanted).body
    assert body.get("tool_choice") == sent


def test_tools_are_functions_that_stream_their_arguments() -> None:
    hosted = {"type": "web_search"}
    body = asked_of(tools=[READ, CUSTOM, hosted], parallel_tool_calls=False).body
    read, patch = body["tools"]
    assert (read["name"], read["input_schema"]) == ("read_file", READ["parameters"])
    assert patch["input_schema"]["required"] == ["input"]
    assert read["eager_input_streaming"] is patch["eager_input_streaming"] is True
    assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert "eager_input_streaming" not in asked_of(OTHER, tools=[READ]).body["tools"][0]


def test_fast_mode_is_for_models_that_have_it() -> None:
    sent = asked_of(service_tier="priority")
    assert sent.body["speed"] == "fast"
    assert sent.betas == ["fast-mode-2026-02-01"]
    assert asked_of("claude-fable-5-2", service_tier="fast").body["speed"] == "fast"
    for name in ("claude-sonnet-5-5", "claude-opus-4-7", "claude-opus-4.6", "claude-fable-5-1"):
        assert "speed" not in asked_of(name, service_tier="fast").body
    assert "speed" not in asked_of(NEW, {"fast": False}, service_tier="fast").body
    assert asked_of(service_tier="default").body["service_tier"] == "standard_only"
    assert "service_tier" not in asked_of(OTHER, service_tier="default").body
    assert asked_of(service_tier="auto").betas == []


def test_how_much_may_be_answered() -> None:
    facts = ModelFacts(max_output_tokens=8000)
    assert asked_of(facts=facts).body["max_tokens"] == 8000
    assert asked_of(facts=facts, max_output_tokens=20_000).body["max_tokens"] == 8000
    assert asked_of(facts=facts, max_output_tokens=20).body["max_tokens"] == 20
    asked_for = ModelFacts(max_output_tokens=8000, ask_output_tokens=2000)
    assert asked_of(facts=asked_for).body["max_tokens"] == 2000
    window = ModelFacts(context_window=30_000)
    body = asked_of(facts=window, items=[user("word " * 6000)]).body
    assert 1024 <= body["max_tokens"] <= 30_000 - 6000


def test_marks_are_where_the_last_requests_ended() -> None:
    items: list[dict[str, Any]] = []
    for number in range(6):
        items += [user(f"q{number}"), {"role": "assistant", "content": f"a{number}"}]
    items.append(user("last"))
    body = asked_of(items=items, instructions="Be brief.", tools=[READ]).body
    marked = [
        m["content"][0]["text"] for m in body["messages"] if "cache_control" in m["content"][0]
    ]
    assert marked == ["q4", "q5", "last"]
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" not in body["tools"][0]
    long = asked_of(options={"cache_ttl": "1h"}, tools=[READ]).body
    assert long["tools"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert "cache_control" not in str(asked_of(options={"cache": False}, items=items).body)


FINE = Events(start(), text("ok"), stop())
EXTRA = "Extra inputs are not permitted"


def refusing(words: str) -> Events:
    return Events(instead=Status(400, "invalid_request_error", words))


async def asked(claude: Stand, *scripts: Events, **fields: Any) -> list[dict[str, Any]]:
    claude.answers(*scripts)
    await claude.ask(tools=[READ], reasoning={"effort": "high"}, **fields)
    return await claude.until()


async def test_it_is_asked_again_without_and_from_then_on() -> None:
    async with messages(options={"eager": True}) as claude:
        words = f"tools.0.custom.eager_input_streaming: {EXTRA}"
        events = await asked(claude, refusing(words), FINE)
        assert text_of(events) == "ok"
        assert len([e for e in events if e["type"] == "response.created"]) == 1
        await asked(claude, FINE)
        told = ["eager_input_streaming" in body["tools"][0] for body in bodies(claude)]
        assert told == [True, False, False]


async def test_a_model_that_wants_to_decide_itself_may(claude: Stand) -> None:
    words = '"thinking.type.enabled" is not supported for this model. Use thinking.type.adaptive.'
    assert text_of(await asked(claude, refusing(words), FINE)) == "ok"
    first, second = bodies(claude)
    assert first["thinking"]["type"] == "enabled"
    assert second["thinking"]["type"] == "adaptive"
    assert second["output_config"] == {"effort": "high"}


async def test_several_lessons_and_an_end(claude: Stand) -> None:
    events = await asked(
        claude,
        refusing(f"messages.0.content.0.cache_control: {EXTRA}"),
        refusing("thinking is not supported"),
        FINE,
    )
    assert text_of(events) == "ok"
    last = bodies(claude)[-1]
    assert "cache_control" not in str(last)
    assert "thinking" not in last
    again = await asked(claude, refusing("thinking is not supported"))
    assert failure(again)[2] == 400
    assert len(bodies(claude)) == 4, "what was learnt is not learnt twice"


async def test_how_much_a_model_may_answer_is_learnt(claude: Stand) -> None:
    most = "max_tokens: 16384 > 4096, which is the maximum allowed number of output tokens"
    await asked(claude, refusing(most), FINE)
    room = "input length and `max_tokens` exceed context limit: 198000 + 4096 > 200000"
    await asked(claude, refusing(room), FINE)
    await asked(claude, FINE, max_output_tokens=9000)
    told = [body["max_tokens"] for body in bodies(claude)]
    assert told == [16384, 4096, 4096, 2000, 4096]
    assert bodies(claude)[3]["thinking"]["budget_tokens"] < 2000
    full = await asked(claude, refusing(room))
    assert failure(full)[0] == "context_length_exceeded"


async def test_a_server_that_always_finds_something_is_believed_in_the_end(claude: Stand) -> None:
    words = [f"max_tokens: 90000 > {9000 - at}, which is the maximum" for at in range(20)]
    assert failure(await asked(claude, *map(refusing, words)))[2] == 400
    assert len(bodies(claude)) == 6


def test_lessons_are_bounded() -> None:
    unsupported = UnsupportedFields()
    for number in range(1000):
        unsupported.learn(f"model-{number}", "speed")
        unsupported.learn("one", f"most {number}")
    assert unsupported.of("one") == {"most 999"}
    assert unsupported.of("model-0") == frozenset()
    assert unsupported.of("model-999") == {"speed"}


async def test_thoughts_that_are_not_its_own_are_left_out_of_this_request(claude: Stand) -> None:
    told = Events(start(), thinking("Hm.", "sig"), call("read_file", "{}", index=1), stop())
    events = await asked(claude, told)
    calls = items(events, "function_call")
    output = {"type": "function_call_output", "call_id": calls[0]["call_id"], "output": "x"}
    words = "messages.1.content.0: Invalid `signature` in `thinking` block"
    claude.answers(refusing(words), FINE)
    parent = events[-1]["response"]["id"]
    await claude.ask([output], previous_response_id=parent, reasoning={"effort": "high"})
    assert text_of(await claude.until()) == "ok"
    first, second = bodies(claude)[-2:]
    assert [part["type"] for part in first["messages"][1]["content"]] == ["thinking", "tool_use"]
    assert [part["type"] for part in second["messages"][1]["content"]] == ["tool_use"]
    assert "thinking" not in second, "a turn that began without a thought goes on without"


async def test_a_forced_call_without_thinking(claude: Stand) -> None:
    words = "Thinking may not be enabled when tool_choice forces tool use."
    await asked(claude, refusing(words), FINE, tool_choice="required", model="claude-opus-5")
    await asked(claude, FINE, model="claude-opus-5")
    assert ["thinking" in body for body in bodies(claude)] == [True, False, True]
