"""Interrupts, steering, clients that go away or stop reading."""

from __future__ import annotations

import asyncio
import json
import time

import pytest
from websockets.asyncio.client import ClientConnection, connect

from tests.support.bridge_client import create, dial, prose, until
from tests.support.rehearsed import CUSTOM, READ, fresh_files, user
from tui.bridge.rehearsal.casting import Rehearsal
from tui.bridge.server import Bridge
from tui.core.file_block import file_block


async def test_an_interrupt_stops_a_stream_and_the_chain_goes_on(client: ClientConnection) -> None:
    await create(client, "rehearse 100000 tokens of prose", model="rehearsal-fast@500")
    started = await until(client, "response.output_text.delta")
    response_id = started[0]["response"]["id"]
    interrupt = {"type": "response.interrupt", "response_id": response_id}
    sent_s = time.monotonic()
    await client.send(json.dumps({**interrupt, "mode": "discard_partial_items"}))
    events = await until(client)
    assert time.monotonic() - sent_s < 0.5
    kinds = [e["type"] for e in events if not e["type"].endswith(".delta")]
    assert kinds == [
        "response.interrupt.accepted",
        "response.output_item.interrupted",
        "response.incomplete",
    ]
    response = events[-1]["response"]
    assert response["incomplete_details"] == {"reason": "interrupted"}
    given = prose(started) + prose(events)
    assert response["usage"]["output_tokens"] == pytest.approx(len(given) / 4, abs=1)
    # Late, and twice: ignored, so that the next turn is not hit by an error.
    await client.send(json.dumps(interrupt))
    await create(client, "hello", previous_response_id=response_id)
    events = await until(client)
    assert events[0]["type"] == "response.created"
    assert events[-1]["type"] == "response.completed"


async def test_an_interrupt_before_the_first_token(bridge: Bridge) -> None:
    bridge.rehearsal = Rehearsal(fast_ttft_s=60)
    async with dial(bridge) as socket:
        await create(socket, "hello")
        started = await until(socket, "response.in_progress")
        response_id = started[0]["response"]["id"]
        message = {"type": "response.interrupt", "response_id": response_id}
        await socket.send(json.dumps(message))
        events = await until(socket)
        assert events[-1]["response"]["usage"]["output_tokens"] == 0
        assert events[-1]["response"]["output"] == []


async def test_an_abrupt_close_stops_the_work(bridge: Bridge) -> None:
    socket = await dial(bridge)
    await create(socket, "rehearse 100000 tokens", model="rehearsal-fast@100")
    await until(socket, "response.output_text.delta")
    before = len(asyncio.all_tasks())
    socket.transport.abort()
    async with asyncio.timeout(5):
        while any("_play" in str(task.get_coro()) for task in asyncio.all_tasks()):
            await asyncio.sleep(0.01)
    assert len(asyncio.all_tasks()) < before


async def test_a_client_that_does_not_read_makes_the_model_wait(bridge: Bridge) -> None:
    headers = {"Authorization": "Bearer the-token"}
    async with connect(
        bridge.url, additional_headers=headers, proxy=None, max_queue=1, close_timeout=0.1
    ) as socket:
        await create(socket, "rehearse 200000 tokens", model="rehearsal-fast@20000")
        await until(socket, "response.output_text.delta")
        assert bridge._server is not None
        (connection,) = bridge._server.connections
        sizes = []
        for _ in range(10):
            await asyncio.sleep(0.1)
            sizes.append(connection.transport.get_write_buffer_size())
        assert max(sizes) < 1_000_000
        events = await until(socket, "response.output_text.delta")
        assert events


async def test_a_steer_cuts_at_the_end_of_the_item_and_a_successor_follows(
    client: ClientConnection,
) -> None:
    block = file_block("ledger/importer.py", fresh_files()["ledger/importer.py"])
    prompt = user("make parse_line handle quotes, comments and blank lines")
    model = "rehearsal-deep@300"
    await create(client, "", input=[user(block), prompt], tools=[CUSTOM], model=model)
    events = await until(client, "response.reasoning_summary_text.delta")
    first = events[0]["response"]["id"]
    text = {"type": "response.steer", "previous_response_id": first, "input": "use the csv module"}
    await client.send(json.dumps(text))
    events = await until(client, "response.incomplete")
    assert "response.steer.accepted" in [e["type"] for e in events]
    cut = events[-1]["response"]
    assert cut["incomplete_details"] == {"reason": "steered"}
    assert [item["type"] for item in cut["output"]] == ["reasoning"]
    events = await until(client, "response.completed")
    assert events[0]["response"]["previous_response_id"] == first
    patch = events[-1]["response"]["output"][-1]
    assert patch["type"] == "custom_tool_call"
    assert "+import csv" in patch["input"]


async def test_a_steer_during_a_call_waits_for_its_output(client: ClientConnection) -> None:
    prompt = "make the cache safe for threads"
    tools = [CUSTOM, READ]
    await create(client, prompt, tools=tools, model="rehearsal-fast@100")
    events = await until(client, "response.function_call_arguments.delta")
    first = events[0]["response"]["id"]
    text = {"type": "response.steer", "previous_response_id": first, "input": "only in put"}
    await client.send(json.dumps(text))
    events = await until(client, "response.steer.pending")
    (stub,) = events[-1]["required_input"]
    block = file_block("ledger/cache.py", fresh_files()["ledger/cache.py"])
    output = {**stub, "output": block}
    await create(client, "", input=[output], tools=tools, previous_response_id=first)
    patch = (await until(client))[-1]["response"]["output"][-1]
    assert patch["input"].count("with self._lock") == 1


async def test_a_steer_before_the_first_token(bridge: Bridge) -> None:
    bridge.rehearsal = Rehearsal(fast_ttft_s=0.3)
    async with dial(bridge) as socket:
        await create(socket, "rehearse 9000 tokens")
        started = await until(socket, "response.in_progress")
        first = started[0]["response"]["id"]
        text = {"type": "response.steer", "previous_response_id": first, "input": "hello"}
        await socket.send(json.dumps(text))
        cut = (await until(socket))[-1]["response"]
        assert cut["output"] == []
        assert "rehearsal model" in prose(await until(socket))
