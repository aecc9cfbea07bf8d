"""Plays an exercise with openai-python: tool declared, file quoted, call answered, chain kept."""
import json, sys
from openai import OpenAI

base, model, key = sys.argv[1:4]
text = '''"""Amounts."""


def split(cents: int, people: int) -> list[int]:
    share = round(cents / people)
    return [share] * people
'''
block = f'<file path="ledger/money.py" state="active" chars="{len(text)}">\n{text}\n</file>'
tools = [{"type": "custom", "name": "apply_patch", "description": "patch"},
         {"type": "function", "name": "read_file", "strict": False,
          "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}]
client = OpenAI(api_key=key, base_url=base)
with client.responses.connect() as conn:
    def turn(**fields):
        conn.response.create(model=model, store=False, tools=tools, **fields)
        streamed, types = "", set()
        for event in conn:
            types.add(type(event).__name__)
            if event.type == "response.custom_tool_call_input.delta":
                streamed += event.delta
            if event.type in ("response.completed", "response.failed", "response.incomplete", "error"):
                return event, streamed, types
    ask = [{"role": "user", "content": block}, {"role": "user", "content": "split loses cents, fix it"}]
    event, streamed, types = turn(input=ask)
    call = event.response.output[-1]
    print("call", call.type, call.name, call.input == streamed, "divmod" in call.input)
    print("usage", event.response.usage.output_tokens_details.reasoning_tokens > 0, event.response.usage.total_tokens > 0)
    answer = [{"type": "custom_tool_call_output", "call_id": call.call_id, "output": "placed, pending review"}]
    event, _, _ = turn(previous_response_id=event.response.id, input=answer)
    print("closing", event.type, event.response.output_text)
    conn.response.create(model=model.partition("@")[0] + "@200", store=False, input="rehearse 5000 tokens of prose", previous_response_id=event.response.id)
    for event in conn:
        if event.type == "response.output_text.delta":
            break
        if event.type == "response.created":
            rid = event.response.id
    conn.send_raw(json.dumps({"type": "response.interrupt", "response_id": rid, "mode": "discard_partial_items"}))
    for event in conn:
        if event.type == "response.incomplete":
            print("interrupted", event.response.incomplete_details.reason, event.response.usage.output_tokens < 100)
            break
