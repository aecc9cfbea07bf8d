"""What holds for every kind of endpoint: what is answered comes as PROTOCOL section 3 has it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.endpoint_kinds import Stand, items, text_of, thoughts, well_told
from tests.support.endpoint_servers import (
    KEY,
    MODEL,
    SERVED,
    Call,
    Refuse,
    Say,
    Script,
    Think,
    Tokens,
)
from tests.support.rehearsed import CUSTOM, READ, user

TEXT = "Grüße, naïve 🙂 wörld: \u4f60\u597d and 𝔘𝔫𝔦."
PATCH = '*** Begin Patch\n*** Add File: "a".py\n+print("\\t🙂")\n*** End Patch\n'


async def test_text(there: Stand) -> None:
    events = await there.answered(Script([Say(TEXT)]), stream_id="a")
    assert text_of(events) == TEXT
    (message,) = items(events)
    assert message["role"] == "assistant"
    assert message["status"] == "completed"
    assert message["content"][0]["text"] == TEXT
    assert events[-1]["type"] == "response.completed"
    assert events[-1]["response"]["model"] == SERVED
    (request,) = there.server.requests
    assert KEY in request.headers.get("authorization", "") + request.headers.get("x-api-key", "")
    assert "the-token" not in json.dumps([request.headers, request.body])
    assert there.server.heard[0].model == MODEL
    assert there.server.heard[0].told == [("user", "hi")]


async def test_usage_is_the_providers(there: Stand) -> None:
    events = await there.answered(Script([Think("hm"), Say("a")], tokens=Tokens(100, 50, 30, 20)))
    usage = events[-1]["response"]["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (100, 50, 150)
    assert usage["input_tokens_details"]["cached_tokens"] == 30
    if there.kind != "anthropic":  # which does not count its thoughts
        assert usage["output_tokens_details"]["reasoning_tokens"] == 20
    assert "estimated" not in usage


async def test_a_refusal(there: Stand) -> None:
    events = await there.answered(Script([Refuse("I would rather not.")]))
    said = text_of(events, "refusal") + text_of(events)
    assert said == "I would rather not."
    if there.kind == "anthropic":  # it says so by its reason to stop
        assert events[-1]["type"] == "response.incomplete" or text_of(events, "refusal")
    else:
        assert items(events)[0]["content"][0]["type"] == "refusal"


@pytest.mark.parametrize(
    ("stop", "reason"), [("length", "max_output_tokens"), ("filter", "content_filter")]
)
async def test_why_it_stopped(there: Stand, stop: str, reason: str) -> None:
    events = await there.answered(Script([Say("half of")], stop=stop))
    assert text_of(events) == "half of"
    assert events[-1]["type"] == "response.incomplete"
    assert events[-1]["response"]["incomplete_details"]["reason"] == reason
    assert events[-1]["response"]["usage"]["output_tokens"] == 7


async def test_the_conversation_is_kept_and_told(there: Stand) -> None:
    first = await there.answered(Script([Say("one")]), said="hi", instructions="Be brief.")
    parent = first[-1]["response"]["id"]
    events = await there.answered(
        Script([Say("two")]), said="more", previous_response_id=parent, instructions="Be long."
    )
    third = events[-1]["response"]["id"]
    await there.answered(Script([Say("three")]), said="last", previous_response_id=third)
    heard = there.server.heard
    chain = [("user", "hi"), ("assistant", "one"), ("user", "more")]
    assert heard[0].told == [("system", "Be brief."), ("user", "hi")]
    assert heard[1].told == [("system", "Be long."), *chain]
    assert heard[2].told == [*chain, ("assistant", "two"), ("user", "last")]


async def test_a_function_call_and_its_output(there: Stand) -> None:
    arguments = '{"path": "a \\"b\\" \\u00fc.py"}'
    call = Call("read_file", arguments, "call_1")
    events = await there.answered(Script([Say("Let me see."), call]), tools=[READ])
    (item,) = items(events, "function_call")
    assert item["name"] == "read_file"
    assert json.loads(item["arguments"]) == json.loads(arguments)
    assert text_of(events, "function_call_arguments") == item["arguments"]
    assert events[-1]["type"] == "response.completed"
    output = {"type": "function_call_output", "call_id": item["call_id"], "output": "its text"}
    parent = events[-1]["response"]["id"]
    last = await there.answered(
        Script([Say("I see.")]), said=[output], previous_response_id=parent, tools=[READ]
    )
    assert text_of(last) == "I see."
    heard = there.server.heard[-1]
    assert heard.tools == ["read_file"]
    (call_heard,) = heard.of("call")
    assert call_heard[1] == "read_file"
    assert json.loads(call_heard[2]) == json.loads(arguments)
    assert heard.told[-1] == ("result", "its text")
    assert heard.of("user", "assistant") == [("user", "hi"), ("assistant", "Let me see.")]


async def test_a_custom_call_and_its_output(there: Stand) -> None:
    call = Call("apply_patch", PATCH, "call_1", custom=True)
    events = await there.answered(Script([call]), tools=[CUSTOM, READ])
    (item,) = items(events)
    assert (item["type"], item["name"], item["input"]) == ("custom_tool_call", "apply_patch", PATCH)
    deltas = [e for e in events if e["type"] == "response.custom_tool_call_input.delta"]
    assert "".join(e["delta"] for e in deltas) == PATCH
    assert len(deltas) > 3, "it comes while it is written"
    done = [e["input"] for e in events if e["type"] == "response.custom_tool_call_input.done"]
    assert done == [PATCH]
    output = {"type": "custom_tool_call_output", "call_id": item["call_id"], "output": "applied"}
    parent = events[-1]["response"]["id"]
    await there.answered(
        Script([Say("Done.")]), said=[output], previous_response_id=parent, tools=[CUSTOM]
    )
    heard = there.server.heard[-1]
    (call_heard,) = heard.of("call")
    assert call_heard[1] == "apply_patch"
    wrapped = call_heard[2].startswith("{")
    assert (json.loads(call_heard[2])["input"] if wrapped else call_heard[2]) == PATCH
    assert heard.told[-1] == ("result", "applied")


@pytest.mark.parametrize("parallel", [False, True])
async def test_parallel_calls(there: Stand, parallel: bool) -> None:
    first = Call("read_file", '{"path": "first.py"}', "call_a")
    second = Call("read_file", '{"path": "second.py"}', "call_b")
    patch = Call("apply_patch", PATCH, "call_c", custom=True)
    script = Script([first, second, patch], parallel=parallel)
    events = await there.answered(script, tools=[READ, CUSTOM])
    functions = items(events, "function_call")
    assert [json.loads(one["arguments"])["path"] for one in functions] == ["first.py", "second.py"]
    (custom,) = items(events, "custom_tool_call")
    assert custom["input"] == PATCH
    ids = [one["call_id"] for one in items(events)]
    assert len(set(ids)) == 3
    outputs: list[dict[str, Any]] = [
        {"type": "function_call_output", "call_id": ids[0], "output": "A"},
        {"type": "function_call_output", "call_id": ids[1], "output": "B"},
        {"type": "custom_tool_call_output", "call_id": custom["call_id"], "output": "C"},
        user("go on"),
    ]
    parent = events[-1]["response"]["id"]
    await there.answered(
        Script([Say("ok")]), said=outputs, previous_response_id=parent, tools=[READ, CUSTOM]
    )
    heard = there.server.heard[-1]
    assert [text for _, text in heard.of("result")] == ["A", "B", "C"]
    assert len(heard.of("call")) == 3
    assert heard.told[-1] == ("user", "go on")


async def test_thoughts_are_shown_and_carried_back(there: Stand) -> None:
    call = Call("read_file", '{"path": "a.py"}', "call_1")
    script = Script([Think("I should look."), call])
    events = await there.answered(script, tools=[READ], reasoning={"effort": "high"})
    assert thoughts(events) == "I should look."
    (thought,) = items(events, "reasoning")
    assert thought["encrypted_content"]
    call_id = items(events, "function_call")[0]["call_id"]
    output = {"type": "function_call_output", "call_id": call_id, "output": "x"}
    parent = events[-1]["response"]["id"]
    await there.answered(
        Script([Say("ok")]), said=[output], previous_response_id=parent, tools=[READ],
        reasoning={"effort": "high"},
    )  # fmt: skip
    heard = there.server.heard[-1]
    (carried,) = heard.of("thought")
    assert carried[1] in (Think("").seal, "I should look.")
    assert [one[0] for one in heard.told] == ["user", "thought", "call", "result"]


async def test_thoughts_of_others_stay_here(there: Stand) -> None:
    events = await there.answered(Script([Think("mine"), Say("one")]))
    own = events[-1]["response"]["output"]
    foreign = {"type": "reasoning", "id": "rs_x", "summary": [], "encrypted_content": "duetto1.eyJ"}
    said = [user("hi"), foreign, *own[1:], user("and?")]
    await there.answered(Script([Say("two")]), said=said)
    heard = there.server.heard[-1]
    assert heard.told == [("user", "hi"), ("assistant", "one"), ("user", "and?")]
    assert "duetto1." not in json.dumps(there.server.requests[-1].body)


async def test_effort_is_what_the_model_knows(there: Stand) -> None:
    if there.kind == "plain-words":
        return  # a plug-in does as it likes
    there.knows(efforts=("low", "medium", "high"), max_output_tokens=32_000)
    await there.answered(Script([Say("a")]), reasoning={"effort": "xhigh"})
    assert there.server.heard[-1].effort == "high"


async def test_pictures_are_refused_where_the_model_is_blind(there: Stand) -> None:
    there.knows(images=False)
    picture = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}
    said = [{"type": "message", "role": "user", "content": [picture]}]
    there.answers(Script([Say("never said")]))
    await there.ask(said)
    (*_, last) = await there.until()
    assert last["type"] == "error"
    assert last["status"] == 400
    assert "text" in last["error"]["message"]
    assert there.server.requests == []


async def test_lanes_run_at_the_same_time(there: Stand) -> None:
    there.answers(Script([Say("held for long", held=True)]), Script([Say("quick")]))
    await there.ask("slow", stream_id="a")
    await there.until("response.output_text.delta", lane="a")
    await there.ask("fast", stream_id="b")
    events = await there.until(lane="b")
    well_told(events, "b")
    assert text_of(events) == "quick"
    there.server.released.set()
    assert (await there.until(lane="a"))[-1]["type"] == "response.completed"
