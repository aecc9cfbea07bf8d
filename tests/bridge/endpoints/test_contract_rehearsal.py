"""The kind that needs no server keeps the same contract, as far as it can say what others say."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.support.endpoint_kinds import Stand, items, standing, text_of, thoughts, well_told
from tests.support.rehearsed import CUSTOM, READ, fresh_files, user
from tui.core.file_block import file_block

MODEL = "rehearsal-fast"


@pytest.fixture
async def there() -> AsyncIterator[Stand]:
    async with standing("rehearsal") as stand:
        yield stand


async def test_text_and_usage(there: Stand) -> None:
    await there.ask("hello", model=MODEL, stream_id="a")
    events = await there.until(lane="a")
    well_told(events, "a")
    assert text_of(events)
    ended = events[-1]["response"]
    assert (ended["status"], ended["model"]) == ("completed", MODEL)
    assert ended["usage"]["output_tokens"] > 0


async def test_calls_and_their_chain(there: Stand) -> None:
    block = file_block("ledger/importer.py", fresh_files()["ledger/importer.py"])
    prompt = user("make parse_line handle quotes, comments and blank lines")
    said = [user(block), prompt]
    await there.ask(said, model="rehearsal-deep@20000", tools=[CUSTOM, READ])
    events = await there.until()
    well_told(events)
    assert thoughts(events) or text_of(events)
    calls = [one for one in items(events) if "call_id" in one]
    assert calls
    kinds = {"custom_tool_call": "custom_tool_call_output", "function_call": "function_call_output"}
    outputs = [
        {"type": kinds[call["type"]], "call_id": call["call_id"], "output": "done"}
        for call in calls
    ]
    parent = events[-1]["response"]["id"]
    await there.ask(outputs, model=MODEL, previous_response_id=parent, tools=[CUSTOM, READ])
    last = await there.until()
    well_told(last)
    assert last[-1]["type"] == "response.completed"


async def test_interrupt_steer_and_prewarm(there: Stand) -> None:
    await there.ask("base", model=MODEL, generate=False)
    parent = (await there.until())[-1]["response"]["id"]
    prose = "rehearse 100000 tokens of prose"
    await there.ask(prose, model=f"{MODEL}@500", previous_response_id=parent)
    events = await there.until("response.output_text.delta")
    name = events[0]["response"]["id"]
    await there.send({"type": "response.interrupt", "response_id": name})
    events += await there.until()
    well_told(events)
    assert events[-1]["response"]["incomplete_details"]["reason"] == "interrupted"
    await there.ask(prose, model=f"{MODEL}@50", previous_response_id=name)
    events = await there.until("response.in_progress")
    name = events[0]["response"]["id"]
    await there.send({"type": "response.steer", "previous_response_id": name, "input": "hello"})
    events += await there.until()
    assert events[-1]["response"]["incomplete_details"]["reason"] == "steered"
    well_told(await there.until())


async def test_an_unknown_model_is_named(there: Stand) -> None:
    await there.ask("hello", model="gpt-0")
    event = (await there.until())[-1]
    assert event["error"]["code"] == "model_not_found"
    assert "rehearsal-fast" in event["error"]["message"]
