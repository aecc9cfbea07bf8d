"""An exercise with openai-python: file quoted, patch called, answered, chain kept. BASE MODEL KEY."""

from __future__ import annotations

import sys

from checks import finish, scenario, want
from openai import OpenAI

base, model, key = sys.argv[1:4]
TEXT = '''"""Amounts."""


def split(cents: int, people: int) -> list[int]:
    share = round(cents / people)
    return [share] * people
'''
BLOCK = f'<file path="ledger/money.py" state="active" chars="{len(TEXT)}">\n{TEXT}\n</file>'
TOOLS = [
    {"type": "custom", "name": "apply_patch", "description": "patch"},
    {
        "type": "function",
        "name": "read_file",
        "strict": False,
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
    },
]
ENDS = ("response.completed", "response.failed", "response.incomplete", "error")


def turn(conn, **fields):
    conn.response.create(model=model, store=False, tools=TOOLS, **fields)
    streamed = ""
    for event in conn:
        if event.type == "response.custom_tool_call_input.delta":
            streamed += event.delta
        if event.type in ENDS:
            return event, streamed
    raise AssertionError("the connection ended")


with OpenAI(api_key=key, base_url=base).responses.connect() as conn, scenario("patch as a custom call"):
    words = ("split loses cents, fix it", BLOCK)
    event, streamed = turn(conn, input=[{"role": "user", "content": w} for w in words[::-1]])
    call = event.response.output[-1]
    want((call.type, call.name) == ("custom_tool_call", "apply_patch"), str(call))
    want(call.input == streamed, "the item is not what streamed")
    want("divmod" in call.input, call.input)
    want(event.response.usage.output_tokens_details.reasoning_tokens > 0, "no reasoning tokens")
    output = {"type": "custom_tool_call_output", "call_id": call.call_id}
    answer = [{**output, "output": "placed, pending review"}]
    event, _ = turn(conn, previous_response_id=event.response.id, input=answer)
    want("Accept or reject" in event.response.output_text, event.response.output_text)
finish()
