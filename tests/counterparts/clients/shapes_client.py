"""OpenAI's and Anthropic's SDKs as judges of shapes: BASE MODEL KEY KIND UPSTREAM LOG.

What the scripted provider says is read with them, and what the bridge asks it and tells its
client is checked against their types. One line a scenario (see checks.py).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import get_args, get_type_hints

import anthropic
import openai
from anthropic.types.beta import message_create_params as beta_messages
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from checks import finish, scenario, want
from openai.types.chat import ChatCompletionChunk
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter
from talk import Talk

base, model, key, kind, upstream, log = sys.argv[1:7]
CHAT = openai.OpenAI(base_url=f"{upstream}/v1", api_key="k", max_retries=0)
MESSAGES = anthropic.Anthropic(base_url=upstream, api_key="k", max_retries=0)
EVENTS = {one.model_fields["type"].annotation.__args__[0]: one for one in get_args(get_args(ResponseStreamEvent)[0])}
FUNCTION = {
    "type": "function", "name": "exec_command", "description": "run", "strict": False,
    "parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]},
}  # fmt: skip
CUSTOM = {
    "type": "custom", "name": "apply_patch", "description": "patches files",
    "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"},
}  # fmt: skip
OURS = frozenset(
    {"response.steer.accepted", "response.interrupt.accepted", "response.output_item.interrupted"}
)
PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def user(text: str, *more: dict) -> dict:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}, *more]}


def asked() -> list[dict]:
    """What the bridge asked the provider so far."""
    lines = [json.loads(line) for line in Path(log).read_text().splitlines()]
    return [line for line in lines if "body" in line]


def judged(events: list[dict]) -> dict:
    """The events fit the SDK's types; gives the response."""
    for event in events:
        if event["type"] not in OURS:
            want(event["type"] in EVENTS, f"the SDK has no {event['type']}")
            EVENTS[event["type"]].model_validate(event)
    want(events[-1]["type"] == "response.completed", str(events[-1]))
    return events[-1]["response"]


def text_of(response: dict) -> str:
    parts = [part for item in response["output"] if item["type"] == "message" for part in item["content"]]
    return "".join(part["text"] for part in parts)


def fits(body: dict) -> None:
    """A request of the bridge's is one that the SDK could have sent."""
    if kind == "openai-chat":
        known = get_type_hints(CompletionCreateParamsStreaming)
        TypeAdapter(CompletionCreateParamsStreaming).validate_python(body)
    else:
        known = get_type_hints(MessageCreateParamsStreaming)
        known |= get_type_hints(beta_messages.MessageCreateParamsStreaming)
        TypeAdapter(MessageCreateParamsStreaming).validate_python(body)
    want(set(body) <= set(known), f"the SDK has no {sorted(set(body) - set(known))}")


def provider() -> None:
    with scenario("shapes: the SDK reads the provider"):
        if kind == "openai-chat":
            tool = {"type": "function", "function": {k: v for k, v in FUNCTION.items() if k != "type"}}
            ask = [{"role": "user", "content": 'rehearse call exec_command {"cmd": "date"}'}]
            with CHAT.chat.completions.stream(model=model, messages=ask, tools=[tool],
                                              stream_options={"include_usage": True}) as stream:  # fmt: skip
                for event in stream:
                    if event.type == "chunk":
                        ChatCompletionChunk.model_validate(event.chunk.model_dump(), strict=True)
                final = stream.get_final_completion()
            call = final.choices[0].message.tool_calls[0]
            want(json.loads(call.function.arguments) == {"cmd": "date"}, call.function.arguments)
            want(final.usage.completion_tokens > 0, "no usage")
        else:
            tool = {"name": "exec_command", "input_schema": FUNCTION["parameters"]}
            ask = [{"role": "user", "content": "a module that finds the tags, please"}]
            with MESSAGES.messages.stream(model=model, max_tokens=2000, messages=ask, tools=[tool],
                                          thinking={"type": "enabled", "budget_tokens": 1024}) as stream:  # fmt: skip
                final = stream.get_final_message()
            thinking, text = final.content
            want(thinking.signature == "c2lnbmVk", str(thinking))
            want(text.text == "The module finds tags.", text.text)
            want(final.usage.output_tokens > 1, str(final.usage))


def bridge() -> None:
    talk = Talk(base, key, model)
    more = {"instructions": "Be brief.", "tools": [FUNCTION, CUSTOM], "parallel_tool_calls": True}
    more["reasoning"] = {"effort": "low", "summary": "auto"}
    more["include"] = ["reasoning.encrypted_content"]
    with scenario("shapes: the bridge's events are the SDK's, text and usage"):
        response = judged(talk.ask("", user("PLAIN hello"), store=False, **more))
        want("rehearsal model" in text_of(response), str(response))
        want(response["usage"]["output_tokens"] > 0, str(response["usage"]))
        response = judged(talk.ask("", user("again"), store=False, previous_response_id=response["id"], **more))
        want(response["usage"]["input_tokens_details"]["cached_tokens"] > 0, str(response["usage"]))
    with scenario("shapes: calls, a custom tool among them, and their outputs"):
        line = 'rehearse call exec_command {"cmd": "echo \\"ü\\""}'
        response = judged(talk.ask("", user(f"{line}\n{line}"), store=False, **more))
        calls = [item for item in response["output"] if item["type"] == "function_call"]
        want([json.loads(call["arguments"])["cmd"] for call in calls] == ['echo "ü"'] * 2, str(calls))
        outputs = [{"type": "function_call_output", "call_id": c["call_id"], "output": "friday"} for c in calls]
        response = judged(talk.ask("", *outputs, store=False, previous_response_id=response["id"], **more))
        want(text_of(response).count("answered: friday") == 2, text_of(response))
        response = judged(talk.ask("", user("a module that finds the tags"), store=False, **more))
        call = next(item for item in response["output"] if item["type"] == "custom_tool_call")
        want(call["input"].startswith("*** Begin Patch\n"), str(call))
        want(call["input"].endswith("+TAGS = ['a \"b\" \\\\']\n*** End Patch\n"), repr(call["input"]))
        output = {"type": "custom_tool_call_output", "call_id": call["call_id"], "output": "done"}
        response = judged(talk.ask("", output, store=False, previous_response_id=response["id"], **more))
        want("answered: done" in text_of(response), text_of(response))
    with scenario("shapes: reasoning is shown and carried back"):
        response = judged(talk.ask("", user("a module that finds the tags"), store=False, **more))
        want(any(item["type"] == "reasoning" for item in response["output"]), str(response["output"]))
        if kind == "anthropic":
            newest = asked()[-2]["body"]["messages"]
            blocks = [b for m in newest if m["role"] == "assistant" and isinstance(m["content"], list) for b in m["content"]]
            want(any(b["type"] == "thinking" and b["signature"] == "c2lnbmVk" for b in blocks), str(newest))
    with scenario("shapes: an image, a structured answer, limits"):
        image = {"type": "input_image", "image_url": PIXEL, "detail": "auto"}
        schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
        form = {"format": {"type": "json_schema", "name": "answer", "schema": schema, "strict": True}}
        judged(talk.ask("", user("PLAIN look", image), store=False, max_output_tokens=3000, temperature=0.5, **more))
        judged(talk.ask("", user("PLAIN form"), store=False, text=form))
    with scenario("shapes: what the bridge asks is what the SDK could ask"):
        bodies = [line["body"] for line in asked() if "duetto" in line["headers"].get("user-agent", "")]
        want(len(bodies) >= 9, f"{len(bodies)} requests")
        for body in bodies:
            fits(body)


provider()
bridge()
finish()
