"""A server that does not take a field is asked without it, and that is kept in mind."""

from __future__ import annotations

from typing import Any

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
from tests.support.rehearsed import READ
from tui.bridge.endpoints.anthropic.request import UnsupportedFields

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
