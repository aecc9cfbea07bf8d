"""Stopping, lanes, sizes and pressure through the relay."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from aiohttp import web
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.support.bridge_client import create, prose, until
from tests.support.rehearsed import user
from tests.support.relayed import Relayed, answered
from tests.support.sse_upstream import (
    KEY,
    SseUpstream,
    completed,
    message,
    message_item,
    opening,
    refusing,
    saying,
    serving,
    stream,
    target_at,
)
from tui.bridge.endpoints import telling
from tui.bridge.server import Bridge
from tui.core.wire.address import Address


async def test_an_interrupt_closes_the_request(bridge: Bridge) -> None:
    async def answer(request: web.Request, upstream: SseUpstream) -> web.StreamResponse:
        response = await stream(request)
        if len(upstream.bodies) == 1:
            await response.write(opening() + message("whole") + message("x", "y", index=1)[:-150])
            await asyncio.Event().wait()
        await response.write(opening() + message("next") + completed())
        return response

    async with Relayed(bridge, answer) as (socket, upstream):
        await create(socket, "hi", stream_id="a")
        began = await until(socket, "response.output_text.delta")
        response_id = began[0]["response"]["id"]
        interrupt = {"type": "response.interrupt", "response_id": response_id}
        await socket.send(json.dumps(interrupt))
        events = await until(socket)
        kinds = [e["type"] for e in events if "delta" not in e["type"]]
        assert kinds[-3:] == [
            "response.interrupt.accepted",
            "response.output_item.interrupted",
            "response.incomplete",
        ]
        last = events[-1]["response"]
        assert last["incomplete_details"] == {"reason": "interrupted"}
        assert last["output"] == [message_item("whole")]
        async with asyncio.timeout(5):
            await upstream.gone.wait()
        await create(socket, "go on", stream_id="a", previous_response_id=response_id)
        assert prose(await until(socket)) == "next"
        assert upstream.bodies[1]["input"] == [user("hi"), message_item("whole"), user("go on")]


async def test_an_interrupt_before_the_upstream_answers(bridge: Bridge) -> None:
    async def answer(_request: web.Request, _upstream: SseUpstream) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    async with Relayed(bridge, answer) as (socket, upstream):
        await create(socket, "hi")
        began = await until(socket, "response.in_progress")
        async with asyncio.timeout(5):
            while not upstream.bodies:
                await asyncio.sleep(0.01)
        interrupt = {"type": "response.interrupt", "response_id": began[0]["response"]["id"]}
        await socket.send(json.dumps(interrupt))
        assert (await until(socket))[-1]["response"]["output"] == []
        async with asyncio.timeout(5):
            await upstream.gone.wait()


@pytest.mark.parametrize("abrupt", [False, True])
async def test_the_upstream_is_stopped_when_the_socket_goes(bridge: Bridge, abrupt: bool) -> None:
    async def answer(request: web.Request, _upstream: SseUpstream) -> web.StreamResponse:
        response = await stream(request)
        await response.write(opening() + message("x"))
        await asyncio.Event().wait()
        return response

    async with Relayed(bridge, answer) as (socket, upstream):
        await create(socket, "hi")
        await until(socket, "response.output_item.done")
        if abrupt:
            socket.transport.abort()
        else:
            await socket.close()
        async with asyncio.timeout(5):
            await upstream.gone.wait()


async def test_lanes_are_asked_side_by_side(bridge: Bridge) -> None:
    both = asyncio.Event()

    async def answer(request: web.Request, upstream: SseUpstream) -> web.StreamResponse:
        response = await stream(request)
        text = upstream.bodies[-1]["input"][0]["content"][0]["text"]
        await response.write(opening())
        if upstream.most_running == 3:
            both.set()
        await both.wait()
        for number in range(20):
            await response.write(message(f"{text}{number} "))
        await response.write(completed())
        return response

    async with Relayed(bridge, answer) as (socket, upstream):
        for lane in "abc":
            await create(socket, lane, stream_id=lane)
        ended: list[dict[str, Any]] = []
        heard: dict[str, list[dict[str, Any]]] = {"a": [], "b": [], "c": []}
        while len(ended) < 3:
            events = await until(socket)
            for got in events:
                heard[got["stream_id"]].append(got)
            ended.append(events[-1])
        assert upstream.most_running == 3
        for lane, events in heard.items():
            assert prose(events) == "".join(f"{lane}{number} " for number in range(20))
            assert [e["sequence_number"] for e in events] == list(range(len(events)))


async def test_a_steer_waits_for_the_end_of_the_item(bridge: Bridge) -> None:
    wait, asked = asyncio.Event(), message("Hel", "lo")
    half = asked.index(b"event: response.output_item.done")

    async def answer(request: web.Request, upstream: SseUpstream) -> web.StreamResponse:
        response = await stream(request)
        if len(upstream.bodies) == 1:
            await response.write(opening() + asked[:half])
            await wait.wait()
            await response.write(asked[half:])
            await asyncio.Event().wait()
        await response.write(opening() + message("ok") + completed())
        return response

    async with Relayed(bridge, answer) as (socket, upstream):
        await create(socket, "hi")
        began = await until(socket, "response.output_text.delta")
        steer = {"type": "response.steer", "previous_response_id": began[0]["response"]["id"]}
        await socket.send(json.dumps({**steer, "input": "small"}))
        await until(socket, "response.steer.accepted")
        wait.set()
        cut = (await until(socket))[-1]["response"]
        assert (cut["status"], cut["incomplete_details"]) == ("incomplete", {"reason": "steered"})
        assert prose(await until(socket)) == "ok"
        async with asyncio.timeout(5):
            await upstream.gone.wait()
        assert upstream.bodies[1]["input"] == [user("hi"), message_item("Hello"), user("small")]


async def test_an_event_of_many_mebibytes(bridge: Bridge) -> None:
    text = "x" * (12 * 1024 * 1024)
    events = await answered(bridge, saying(opening() + message(text) + completed(), 2**20))
    assert len(prose(events)) == len(text)
    assert events[-1]["type"] == "response.completed"
    endless = opening() + b"data: " + b"y" * (33 * 1024 * 1024)
    failed = (await answered(bridge, saying(endless, 2**20)))[-1]
    assert "32 MiB" in failed["error"]["message"]


async def test_an_answer_that_is_too_long_is_stopped_with_a_sentence(bridge: Bridge) -> None:
    failed = (await answered(bridge, saying(opening() + message("x" * 2**19) * 40, 2**20)))[-1]
    assert failed["type"] == "response.failed"
    words = "The answer is longer than 16 MB: it was stopped."
    assert failed["response"]["error"]["message"] == words


@pytest.mark.parametrize("name", ["empty lines", "comments", "empty events", "unknown fields"])
async def test_a_stream_that_says_nothing_keeps_nobody_waiting(bridge: Bridge, name: str) -> None:
    line = {
        "empty lines": b"\n",
        "comments": b":\n",
        "empty events": b"data:\n\n",
        "unknown fields": b"x\n",
    }[name]
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    counting = asyncio.create_task(count())
    endless = opening() + line * (2**21 // len(line) ** 2) + message("after it") + completed()
    began_s, before = time.thread_time(), turns
    events = await answered(bridge, saying(endless, 2**20))
    counting.cancel()
    assert prose(events) == "after it"
    # a turn for every few milliseconds of work, however much comes at once
    assert turns - before > (time.thread_time() - began_s) / 0.02


async def test_a_client_that_does_not_read_makes_the_upstream_wait(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telling, "MOST_CHARS", 2**26)
    written = 0

    async def answer(request: web.Request, _upstream: SseUpstream) -> web.StreamResponse:
        nonlocal written
        response = await stream(request)
        for _ in range(4000):
            await response.write(message("z" * 8000))
            written += 1
        await response.write(completed())
        return response

    async with serving(answer) as upstream:
        bridge.endpoints.targets["slow"] = upstream.target
        headers = {"Authorization": "Bearer the-token"}
        async with connect(
            bridge.url_of("slow"),
            additional_headers=headers,
            proxy=None,
            max_queue=1,
            max_size=None,
        ) as socket:
            await create(socket, "hi")
            await until(socket, "response.output_text.delta")
            before = -1
            async with asyncio.timeout(20):
                while written != before:
                    before = written
                    await asyncio.sleep(0.3)
            assert written < 3000
            events = await until(socket, "response.completed")
            assert len(prose(events)) == 8000 * 3999
            assert written == 4000


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_no_proxy_for_this_machine(
    bridge: Bridge, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    events = await answered(bridge, saying(message("direct") + completed()))
    assert prose(events) == "direct"


async def test_nothing_secret_is_logged(bridge: Bridge, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    body = {"error": {"message": KEY}}
    await answered(bridge, refusing(401, body))
    await answered(bridge, saying(opening()))
    told = "\n".join(r.getMessage() for r in caplog.records if r.name.startswith("tui"))
    assert KEY not in told
    assert KEY not in repr(bridge.endpoints.targets)


async def test_an_endpoint_that_nobody_named_is_not_found(bridge: Bridge) -> None:
    headers = {"Authorization": "Bearer the-token"}
    for url in (bridge.url_of("x"), bridge.url_of("") + "/more"):
        with pytest.raises(InvalidStatus) as refused:
            await connect(url, additional_headers=headers, proxy=None)
        assert refused.value.response.status_code == 404
    bridge.endpoints.targets["x"] = target_at(Address("http://127.0.0.1:9/v1/responses"))
    with pytest.raises(InvalidStatus) as refused:
        await connect(bridge.url_of("x"), proxy=None)
    assert refused.value.response.status_code == 401
