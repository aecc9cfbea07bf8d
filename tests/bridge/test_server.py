"""The bridge over real sockets, seen from a client of another make (the websockets library)."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from tests.support.rehearsed import CUSTOM, READ, fresh_files, user
from tui.bridge.models import Rehearsal
from tui.bridge.server import Bridge
from tui.core.file_block import file_block

QUICK = Rehearsal(fast_tokens_s=20_000, deep_tokens_s=20_000, fast_ttft_s=0, deep_ttft_s=0)
TERMINAL = {"response.completed", "response.incomplete", "response.failed", "error"}


@pytest.fixture
async def bridge() -> AsyncIterator[Bridge]:
    server = Bridge(QUICK, token="the-token")
    await server.start()
    yield server
    await server.close()


@pytest.fixture
async def client(bridge: Bridge) -> AsyncIterator[ClientConnection]:
    async with dial(bridge) as socket:
        yield socket


def dial(bridge: Bridge, token: str = "the-token", **headers: str) -> connect:
    sent = {"Authorization": f"Bearer {token}", **headers}
    return connect(bridge.url, additional_headers=sent, proxy=None, max_size=None)


async def create(socket: ClientConnection, prompt: str, **fields: Any) -> None:
    event = {"type": "response.create", "model": "rehearsal-fast", "input": [user(prompt)]}
    await socket.send(json.dumps({**event, **fields}))


async def event(socket: ClientConnection) -> dict[str, Any]:
    async with asyncio.timeout(10):
        got = json.loads(await socket.recv())
    assert isinstance(got, dict)
    return got


async def until(socket: ClientConnection, *kinds: str) -> list[dict[str, Any]]:
    """The events up to the first of these kinds (any terminal one, if none is named)."""
    events = [await event(socket)]
    while events[-1]["type"] not in (kinds or TERMINAL):
        events.append(await event(socket))
    return events


def prose(events: list[dict[str, Any]]) -> str:
    return "".join(e["delta"] for e in events if e["type"] == "response.output_text.delta")


@pytest.mark.parametrize("token", ["", "wrong", "the-token2", "the-tokén".encode().hex()])
async def test_a_wrong_token_is_refused_before_the_upgrade(bridge: Bridge, token: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await dial(bridge, token)
    assert refused.value.response.status_code == 401


async def test_no_token_and_two_tokens_are_refused(bridge: Bridge) -> None:
    for headers in ([], [("Authorization", "Bearer the-token"), ("Authorization", "Bearer x")]):
        with pytest.raises(InvalidStatus) as refused:
            await connect(bridge.url, additional_headers=headers, proxy=None)
        assert refused.value.response.status_code == 401


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1"])
async def test_any_origin_is_refused_even_with_the_token(bridge: Bridge, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await dial(bridge, Origin=origin)
    assert refused.value.response.status_code == 403


async def test_other_paths_are_not_found_and_queries_are_ignored(bridge: Bridge) -> None:
    headers = {"Authorization": "Bearer the-token"}
    elsewhere = bridge.url.replace("/v1/responses", "/v1/realtime")
    with pytest.raises(InvalidStatus) as refused:
        await connect(elsewhere, additional_headers=headers, proxy=None)
    assert refused.value.response.status_code == 404
    async with connect(bridge.url + "?model=x", additional_headers=headers, proxy=None) as socket:
        await create(socket, "hello")
        assert (await until(socket))[-1]["type"] == "response.completed"


async def test_models_are_listed_for_who_has_the_token(bridge: Bridge) -> None:
    url = bridge.url.replace("ws://", "http://").replace("responses", "models")

    def get(token: str) -> Any:
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=5) as response:
            return json.load(response)

    listed = await asyncio.to_thread(get, "the-token")
    assert [model["id"] for model in listed["data"]] == ["rehearsal-fast", "rehearsal-deep"]
    with pytest.raises(urllib.error.HTTPError) as refused:
        await asyncio.to_thread(get, "wrong")
    assert refused.value.code == 401
    refused.value.close()


async def test_it_listens_on_loopback_only(bridge: Bridge) -> None:
    assert bridge.url.startswith("ws://127.0.0.1:")
    assert bridge._server is not None
    assert {s.getsockname()[0] for s in bridge._server.sockets} == {"127.0.0.1"}


async def test_a_response_has_the_events_of_the_protocol_in_order(client: ClientConnection) -> None:
    await create(client, "hello there", stream=True, client_metadata={"x": "y"}, unknown=1)
    events = await until(client)
    kinds = [e["type"] for e in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-3:] == [
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [e["sequence_number"] for e in events] == list(range(len(events)))
    assert not any("stream_id" in e for e in events)
    text = prose(events)
    assert "rehearsal model, no real one" in text
    assert "--endpoint wss://" in text
    assert "--fast MODEL --deep MODEL" in text
    assert "--key-env" in text
    response = events[-1]["response"]
    assert response["output"][0]["content"][0]["text"] == text
    usage = response["usage"]
    assert usage["output_tokens"] == pytest.approx(len(text) / 4, abs=3)
    assert usage["input_tokens"] > 0
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]


async def test_an_exercise_over_the_socket_with_a_tool_round(client: ClientConnection) -> None:
    files = fresh_files()
    block = file_block("ledger/cache.py", files["ledger/cache.py"], state="active", cursor="1:1")
    tools = [CUSTOM, READ]
    prompt = "make the cache safe for threads"
    await create(client, "", input=[user(block), user(prompt)], tools=tools)
    events = await until(client)
    response = events[-1]["response"]
    kinds = [item["type"] for item in response["output"]]
    assert kinds == ["reasoning", "message", "custom_tool_call"]
    call = response["output"][-1]
    deltas = [e for e in events if e["type"] == "response.custom_tool_call_input.delta"]
    assert "".join(e["delta"] for e in deltas) == call["input"]
    assert call["input"].startswith("*** Begin Patch\n*** Update File: ledger/cache.py\n@@\n")
    assert response["usage"]["output_tokens_details"]["reasoning_tokens"] > 0
    output = {"type": "custom_tool_call_output", "call_id": call["call_id"]}
    await create(
        client,
        "",
        input=[{**output, "output": "placed, pending review"}],
        tools=tools,
        previous_response_id=response["id"],
    )
    events = await until(client)
    assert "F5" in prose(events)
    usage = events[-1]["response"]["usage"]
    assert 0 < usage["input_tokens_details"]["cached_tokens"] < usage["input_tokens"]


async def test_a_chain_knows_what_was_said_and_an_unknown_parent_is_refused(
    client: ClientConnection,
) -> None:
    files = fresh_files()
    block = file_block("ledger/importer.py", files["ledger/importer.py"])
    await create(client, "", input=[user(block), user("the importer fails on commas in quotes")])
    first = (await until(client))[-1]["response"]
    await create(client, "use the csv module", previous_response_id=first["id"])
    assert "+import csv" in prose(await until(client))
    await create(client, "and now?", previous_response_id="resp_nowhere")
    refused = await event(client)
    assert refused["type"] == "error"
    assert refused["error"]["code"] == "previous_response_not_found"


async def test_a_prewarm_says_nothing_and_its_input_is_kept(client: ClientConnection) -> None:
    files = fresh_files()
    block = file_block("ledger/money.py", files["ledger/money.py"])
    await create(client, "", input=[user(block)], generate=False)
    events = await until(client)
    assert [e["type"] for e in events][-1] == "response.completed"
    assert events[-1]["response"]["output"] == []
    parent = events[-1]["response"]["id"]
    await create(client, "split loses cents", previous_response_id=parent)
    assert "*** Update File: ledger/money.py" in prose(await until(client))


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


async def test_two_lanes_interleave_and_one_lane_is_first_come_first_served(
    client: ClientConnection,
) -> None:
    for lane, model in (("a", "rehearsal-fast@800"), ("b", "rehearsal-deep@800")):
        await create(client, "rehearse 200 tokens", stream_id=lane, model=model)
    await create(client, "hello", stream_id="a")
    ended: list[tuple[str, str]] = []
    order: list[str] = []
    while len(ended) < 3:
        got = await event(client)
        order.append(got["stream_id"])
        if got["type"] in TERMINAL:
            ended.append((got["stream_id"], got["type"]))
    assert sorted(lane for lane, _ in ended) == ["a", "a", "b"]
    changes = sum(one != other for one, other in itertools.pairwise(order))
    assert changes > 20


async def test_limits_of_lanes_and_names(client: ClientConnection) -> None:
    await create(client, "hello", stream_id="not a name")
    refused = await event(client)
    assert refused["error"]["code"] == "invalid_stream_id"
    assert "stream_id" not in refused
    for number in range(32):
        await create(client, "", stream_id=f"lane-{number}", generate=False, input=[])
        await until(client)
    await create(client, "hello", stream_id="one-too-many")
    assert (await event(client))["error"]["code"] == "websocket_stream_limit_reached"


async def test_more_than_sixteen_at_once_wait_and_all_end(client: ClientConnection) -> None:
    for number in range(20):
        await create(client, "rehearse 20 tokens", stream_id=f"lane-{number}")
    done = 0
    running: set[str] = set()
    most = 0
    while done < 20:
        got = await event(client)
        if got["type"] == "response.created":
            running.add(got["stream_id"])
            most = max(most, len(running))
        if got["type"] in TERMINAL:
            running.discard(got["stream_id"])
            done += 1
    assert most <= 16


async def test_nonsense_is_answered_and_the_socket_stays_open(client: ClientConnection) -> None:
    for frame in ("{", "[]", '{"type":"response.cancel"}', b"\x00", '{"type":"response.create"}'):
        await client.send(frame)
        assert (await until(client))[-1]["type"] == "error"
    for model in ("gpt-9", "rehearsal-fast@0", "rehearsal-fast@20001", "rehearsal-fast@x", None):
        await create(client, "hello", model=model)
        assert (await until(client))[-1]["error"]["code"] in ("model_not_found", "invalid_rate")
    metadata = {"duetto_tokens_s": "-1"}
    await create(client, "hello", client_metadata=metadata)
    assert (await until(client))[-1]["error"]["code"] == "invalid_rate"
    await create(client, "hello")
    assert (await until(client))[-1]["type"] == "response.completed"


@pytest.mark.parametrize("tokens_s", [150, 1000, 5000])
async def test_the_rate_is_exact(client: ClientConnection, tokens_s: int) -> None:
    count = tokens_s // 2
    metadata = {"duetto_tokens_s": str(tokens_s)}
    await create(client, f"rehearse {count} tokens", client_metadata=metadata)
    await until(client, "response.output_text.delta")
    first_s = time.monotonic()
    events = await until(client)
    seconds = time.monotonic() - first_s
    tokens = events[-1]["response"]["usage"]["output_tokens"]
    assert tokens == pytest.approx(count, abs=2)
    assert seconds == pytest.approx(0.5, rel=0.2)


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
        bridge.url, additional_headers=headers, proxy=None, max_queue=1, write_limit=1
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
