"""The bridge over real sockets, seen from a client of another make (the websockets library)."""

from __future__ import annotations

import itertools
import time

import pytest
from websockets.asyncio.client import ClientConnection

from tests.support.bridge_client import TERMINAL, create, event, prose, until
from tests.support.rehearsed import CUSTOM, READ, fresh_files, user
from tui.bridge.rehearsal import endpoint as performer
from tui.core.file_block import file_block


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
    assert "duetto --endpoint NAME" in text
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
    assert "run the tests" in prose(events)
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
    assert seconds == pytest.approx(0.5, rel=0.3)


async def test_a_broken_model_ends_its_response_and_nothing_else(
    client: ClientConnection, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    words = "no idea"

    def broken(*_: object) -> list[object]:
        raise RuntimeError(words)

    with monkeypatch.context() as patched:
        patched.setattr(performer, "answer", broken)
        await create(client, "hello")
        await create(client, "hello")
        for _ in range(2):
            failed = (await until(client))[-1]
            assert failed["type"] == "response.failed"
            assert failed["response"]["error"]["code"] == "server_error"
            assert "no idea" not in failed["response"]["error"]["message"]
    assert "RuntimeError" in caplog.text
    assert "in broken" in caplog.text
    assert "no idea" not in caplog.text
    await create(client, "hello")
    assert (await until(client))[-1]["type"] == "response.completed"


async def test_a_queue_without_end_is_refused(client: ClientConnection) -> None:
    await create(client, "rehearse 9000 tokens", model="rehearsal-fast@10")
    await until(client, "response.output_text.delta")
    for _ in range(65):
        await create(client, "hello")
    refused = (await until(client, "error"))[-1]
    assert refused["status"] == 429
    assert refused["error"]["code"] == "websocket_queue_full"
