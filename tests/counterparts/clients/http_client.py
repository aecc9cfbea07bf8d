"""openai-python over plain HTTP: BASE MODEL KEY. One line a scenario (see checks.py)."""

from __future__ import annotations

import asyncio
import sys

import openai
from checks import finish, scenario, want
from openai import AsyncOpenAI, OpenAI

base, model, key = sys.argv[1:4]
slow = model.partition("@")[0] + "@100"
TOOL = {
    "type": "function",
    "name": "exec_command",
    "description": "run",
    "parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]},
    "strict": False,
}
CALL = 'rehearse call exec_command {"cmd": "echo one"}'
client = OpenAI(base_url=base, api_key=key, max_retries=0, timeout=30)



def outputs(response) -> list[dict]:
    calls = [item for item in response.output if item.type == "function_call"]
    want(calls, f"no call in {response.output}")
    return [
        {"type": "function_call_output", "call_id": call.call_id, "output": "done " + call.call_id}
        for call in calls
    ]


def create() -> None:
    first = client.responses.create(model=model, input="PLAIN hello")
    want(first.status == "completed" and "rehearsal model" in first.output_text, first)
    want(first.usage.output_tokens > 0, "no usage")
    second = client.responses.create(
        model=model, input="rehearse 40 tokens of prose", previous_response_id=first.id
    )
    want(second.usage.input_tokens > first.usage.input_tokens, "the chain was not kept")


def streams() -> None:
    text, kinds = "", []
    for event in client.responses.create(model=model, input="PLAIN hello", stream=True):
        kinds.append(event.type)
        text += event.delta if event.type == "response.output_text.delta" else ""
    want("rehearsal model" in text, text)
    want(kinds[:2] == ["response.created", "response.in_progress"], kinds)
    want(kinds[-1] == "response.completed", kinds)
    with client.responses.stream(model=model, input="PLAIN hello") as stream:
        for _ in stream:
            pass
        want("rehearsal model" in stream.get_final_response().output_text, "no final response")


def tool() -> None:
    first = client.responses.create(model=model, input=CALL, tools=[TOOL])
    second = client.responses.create(
        model=model, input=outputs(first), tools=[TOOL], previous_response_id=first.id
    )
    want("answered: done" in second.output_text, second.output_text)
    # and without the chain: everything is said again, as most programs do
    said = [{"role": "user", "content": CALL}, *first.output, *outputs(first)]
    third = client.responses.create(model=model, input=said, tools=[TOOL], store=False)
    want("answered: done" in third.output_text, third.output_text)


async def asynchronous() -> None:
    async with AsyncOpenAI(base_url=base, api_key=key, max_retries=0, timeout=30) as there:
        whole = await there.responses.create(model=model, input="PLAIN hello")
        want("rehearsal model" in whole.output_text, whole)
        async with there.responses.stream(model=model, input=CALL, tools=[TOOL]) as stream:
            async for _ in stream:
                pass
            first = await stream.get_final_response()
        second = await there.responses.create(
            model=model, input=outputs(first), tools=[TOOL], previous_response_id=first.id
        )
        want("answered: done" in second.output_text, second.output_text)
        # four at once, and one that is left in its midst
        many = [there.responses.create(model=model, input="PLAIN hello") for _ in range(4)]
        left = await there.responses.create(
            model=slow, input="rehearse 9000 tokens of prose", stream=True
        )
        async for event in left:
            if event.type == "response.output_text.delta":
                break
        await left.close()
        want(all("rehearsal" in one.output_text for one in await asyncio.gather(*many)), "")


def transports() -> None:
    first = client.responses.create(model=model, input=CALL, tools=[TOOL])
    with client.responses.connect() as conn:
        conn.response.create(
            model=model, input=outputs(first), tools=[TOOL], previous_response_id=first.id
        )
        for event in conn:
            want(event.type != "error", event)
            if event.type == "response.completed":
                break
    want("answered: done" in event.response.output_text, event)
    third = client.responses.create(
        model=model, input="PLAIN hello", previous_response_id=event.response.id
    )
    want(third.status == "completed", third)
    reference = [{"type": "item_reference", "id": third.output[-1].id}]
    fourth = client.responses.create(model=model, input=[*reference, {"role": "user", "content": "hi"}])
    want(fourth.status == "completed", fourth)


def refused(kind: type[Exception], code: str | None, **fields) -> None:
    stream = fields.pop("stream", False)
    given = {"model": model, "input": "hi", "stream": stream, **fields}
    try:
        client.responses.create(**given)
    except kind as error:
        want(code in (None, error.code), f"{error.code} instead of {code}")
        want(error.body["message"], error.body)
    else:
        raise AssertionError(f"no {kind.__name__}")


def errors() -> None:
    for stream in (False, True):
        parent = {"previous_response_id": "resp_nowhere", "stream": stream}
        refused(openai.BadRequestError, "previous_response_not_found", **parent)
        refused(openai.BadRequestError, None, input=5, stream=stream)
    wrong = OpenAI(base_url=base, api_key="wrong", max_retries=0)
    try:
        wrong.responses.create(model=model, input="hi")
    except openai.AuthenticationError:
        pass
    else:
        raise AssertionError("a wrong key was taken")
    for call in (
        lambda: client.chat.completions.create(model=model, messages=[]),
        lambda: client.responses.retrieve("resp_1"),
        lambda: client.responses.cancel("resp_1"),
        lambda: client.models.retrieve("no/such"),
    ):
        try:
            call()
        except openai.NotFoundError as error:
            want("here" in str(error), error)
        else:
            raise AssertionError("it was found")


def models() -> None:
    names = [one.id for one in client.models.list()]
    want(names, "no models")
    want(client.models.retrieve(names[0]).id == names[0], "another model")


def asynchronously() -> None:
    asyncio.run(asyncio.wait_for(asynchronous(), 60))


for name, play in {
    "http: create and chain": create,
    "http: streams, and their final response": streams,
    "http: tool round trip": tool,
    "http: asynchronous, many at once, one left": asynchronously,
    "http: the chain goes over both transports": transports,
    "http: errors are those of the SDK": errors,
    "http: models": models,
}.items():
    with scenario(name):
        play()
finish()
