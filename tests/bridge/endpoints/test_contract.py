"""What holds for every kind of endpoint: what is answered comes as PROTOCOL section 3 has it."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.endpoint_kinds import Stand, items, of_each_kind, text_of, thoughts
from tests.support.endpoint_servers import (
    KEY,
    MODEL,
    SERVED,
    Call,
    Refuse,
    Say,
    Script,
    Think,
)
from tests.support.pictures import png
from tests.support.rehearsed import CUSTOM, READ, user
from tests.support.tables import each
from tui.core.images import Image, image_item
from tui.core.wire.json_reading import mended

pytestmark = pytest.mark.usefixtures("plain_words")

TEXT = "Grüße, naïve 🙂 wörld: \u4f60\u597d and 𝔘𝔫𝔦."
PATCH = '*** Begin Patch\n*** Add File: "a".py\n+print("\\t🙂")\n*** End Patch\n'


@of_each_kind
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


@of_each_kind
async def test_characters_whose_halves_come_in_two_pieces(there: Stand) -> None:
    apart = "x" + "\ud83d\ude42" * 9  # the server's pieces have six units each
    arguments = '{"path": "' + apart + '"}'
    calls = [Call("read_file", arguments, "call_a"), Call("apply_patch", apart, "call_b", True)]
    there.answers(Script([Think(apart), Say(apart), *calls]))
    await there.ask(tools=[READ, CUSTOM])
    events = await there.until()
    wanted = "x" + "🙂" * 9
    assert events[-1]["type"] == "response.completed"
    assert mended(thoughts(events)) == mended(text_of(events)) == wanted
    assert items(events, "message")[0]["content"][0]["text"] == wanted
    assert json.loads(items(events, "function_call")[0]["arguments"])["path"] == wanted
    assert items(events, "custom_tool_call")[0]["input"] == wanted
    for family in ("function_call_arguments", "custom_tool_call_input"):
        assert wanted in mended(text_of(events, family))


@of_each_kind
async def test_a_refusal(there: Stand) -> None:
    events = await there.answered(Script([Refuse("I would rather not.")]))
    said = text_of(events, "refusal") + text_of(events)
    assert said == "I would rather not."
    if there.kind == "anthropic":  # it says so by its reason to stop
        assert events[-1]["type"] == "response.incomplete" or text_of(events, "refusal")
    else:
        assert items(events)[0]["content"][0]["type"] == "refusal"


@each("stop, reason", [("length", "max_output_tokens"), ("filter", "content_filter")])
@of_each_kind
async def test_why_it_stopped(there: Stand, stop: str, reason: str) -> None:
    events = await there.answered(Script([Say("half of")], stop=stop))
    assert text_of(events) == "half of"
    assert events[-1]["type"] == "response.incomplete"
    assert events[-1]["response"]["incomplete_details"]["reason"] == reason
    assert events[-1]["response"]["usage"]["output_tokens"] == 7


@of_each_kind
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


@each("parallel", [False, True])
@of_each_kind
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


@of_each_kind
async def test_effort_is_what_the_model_knows(there: Stand) -> None:
    if there.kind == "plain-words":
        return  # a plug-in does as it likes
    there.knows(efforts=("low", "medium", "high"), max_output_tokens=32_000)
    await there.answered(Script([Say("a")]), reasoning={"effort": "xhigh"})
    assert there.server.heard[-1].effort == "high"


@of_each_kind
async def test_pictures_arrive_byte_for_byte_with_what_is_said_of_them(there: Stand) -> None:
    if there.kind == "plain-words":
        return  # it takes words
    data = png(64, 48)
    image = Image("shot.png", "png", 64, 48, len(data), "")
    await there.answered(Script([Say("ok")]), said=[image_item(image, data), user("see")])
    (request,) = there.server.requests
    found = [*_dicts_with(request.body, b64encode(data).decode())]
    expected: dict[str, dict[str, object]] = {
        "anthropic": {"type": "base64", "media_type": "image/png", "data": ""},
        "openai-chat": {"url": ""},
        "openai-responses": {"type": "input_image", "image_url": "", "detail": "auto"},
    }
    expected["responses-ws"] = expected["openai-responses"]
    (one,) = found
    held = {name: one[name] for name, value in expected[there.kind].items() if value != ""}
    assert held == {name: value for name, value in expected[there.kind].items() if value != ""}
    assert set(one) == set(expected[there.kind])
    assert "64x48 pixels" in str(request.body)


def _dicts_with(value: Any, text: str) -> Iterator[dict[str, Any]]:
    """The objects in JSON that have a member that ends so."""
    if isinstance(value, dict):
        if any(isinstance(one, str) and one.endswith(text) for one in value.values()):
            yield value
        value = [*value.values()]
    for one in value if isinstance(value, list) else ():
        yield from _dicts_with(one, text)


@of_each_kind
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


FIELDS: dict[str, Any] = {
    "access_programs": {"cyber": "standard"},
    "context_management": [{"type": "compaction"}],
    "frequency_penalty": 0.5,
    "image": {"context_compression": "enabled"},
    "include": ["message.output_text.logprobs"],
    "instructions": "Be brief.",
    "logit_bias": {"50256": -100},
    "logprobs": True,
    "max_completion_tokens": 40,
    "max_output_tokens": 40,
    "max_tokens": 40,
    "messages": [{"role": "user", "content": "hi"}],
    "moderation": {"model": "omni"},
    "n": 2,
    "parallel_tool_calls": False,
    "presence_penalty": 0.5,
    "prompt": {"id": "pmpt_1"},
    "prompt_cache_options.ttl": "12h",
    "prompt_cache_retention": "24h",
    "reasoning.effort": "high",
    "reasoning_effort": "high",
    "response_format": {"type": "json_object"},
    "safety_identifier": "someone",
    "seed": 7,
    "service_tier": "priority",
    "stop": ["END"],
    "stream_options.include_obfuscation": True,
    "system": "Be brief.",
    "temperature": 1.5,
    "text.format": {"type": "json_object"},
    "text.verbosity": "low",
    "thinking": {"type": "enabled"},
    "tool_choice": "required",
    "tools": [READ],
    "top_k": 5,
    "top_logprobs": 2,
    "top_p": 0.5,
    "truncation": "auto",
    "user": "someone",
    "verbosity": "low",
}


@pytest.mark.slow
@each("name, value", list(FIELDS.items()))
@of_each_kind
async def test_no_field_is_dropped_in_silence(there: Stand, name: str, value: Any) -> None:
    if there.kind == "plain-words":
        return  # a plug-in does as it likes
    holder, _, member = name.partition(".")
    asked = {"tools": [READ], holder: {member: value} if member else value}
    if holder == "tools":
        asked = {"tools": value}
    del there.server.requests[:]
    there.answers(Script([Say("yes")]))
    await there.ask(**{**asked, holder: None})
    await there.until()
    await there.ask(**asked)
    (*_, last) = await there.until()
    bodies = [request.body for request in there.server.requests]
    if last["type"] == "error":
        assert (last["status"], last["error"]["param"]) == (400, name)
        assert f"'{name}'" in last["error"]["message"]
        assert len(bodies) == 1
        assert there.kind not in ("openai-responses", "responses-ws")
    elif len(bodies) == 2 and bodies[0] == bodies[1]:
        assert name in last["response"]["metadata"]["duetto_left_out"]
