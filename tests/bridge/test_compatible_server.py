"""PROTOCOL section 12, clause by clause, before an HTTP provider that sees what it is asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from websockets.asyncio.client import ClientConnection

from tests.support.bridge_client import create, event, prose, until
from tests.support.relayed import Relayed
from tests.support.sse_upstream import SseUpstream, completed, message, opening, stream
from tui.bridge.server import Bridge

ENDS = ("response.completed", "response.incomplete", "response.failed", "error")


class Provider:
    """Says ``said N`` to its Nth request; one whose last text is ``wait`` begins and waits."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self._asked = 0

    async def answer(self, request: web.Request, upstream: SseUpstream) -> web.StreamResponse:
        self._asked += 1
        text = f"said {self._asked}"
        response = await stream(request)
        await response.write(opening())
        if json.dumps(upstream.bodies[-1]["input"]).endswith('"wait"}]}]'):
            await self.go_on.wait()
        await response.write(message(text) + completed())
        return response


@pytest.fixture
async def provider() -> Provider:
    return Provider()


@pytest.fixture
async def pair(
    bridge: Bridge, provider: Provider
) -> AsyncIterator[tuple[ClientConnection, SseUpstream]]:
    async with Relayed(bridge, provider.answer) as found:
        yield found


def texts(body: dict[str, Any]) -> list[str]:
    """What a provider was told, item by item."""
    return [part["text"] for item in body["input"] for part in item.get("content", ())]


Pair = tuple[ClientConnection, SseUpstream]


async def asked(upstream: SseUpstream) -> None:
    """Returns when the provider works on something."""
    async with asyncio.timeout(5):
        while not upstream.running:
            await asyncio.sleep(0.005)


async def test_what_a_client_says_beside_the_request_is_tolerated(pair: Pair) -> None:
    socket, upstream = pair
    odd = {"stream": True, "background": False, "client_metadata": {"a": "b"}, "future": [1]}
    await create(socket, "hi", **odd)
    assert (await until(socket))[-1]["type"] == "response.completed"
    assert "client_metadata" not in upstream.bodies[0]
    assert "background" not in upstream.bodies[0]


@pytest.mark.parametrize(
    "items",
    [
        "hi",
        [{"role": "user", "content": "hi"}],
        [{"role": "user", "content": [{"type": "input_text", "text": "hi"}], "id": "msg_9"}],
        [{"type": "message", "role": "user", "content": "hi"}],
    ],
)
async def test_any_form_of_input_is_taken(pair: Pair, items: object) -> None:
    socket, upstream = pair
    await create(socket, "", input=items)
    assert (await until(socket))[-1]["type"] == "response.completed"
    assert texts(upstream.bodies[0]) == ["hi"]


async def test_a_prewarm_asks_nobody_and_its_input_is_kept(pair: Pair) -> None:
    socket, upstream = pair
    await create(socket, "be brief", generate=False)
    events = await until(socket)
    kinds = [one["type"] for one in events]
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert upstream.bodies == []
    parent = events[-1]["response"]["id"]
    await create(socket, "hi", previous_response_id=parent)
    second = (await until(socket))[-1]["response"]["id"]
    assert texts(upstream.bodies[0]) == ["be brief", "hi"]
    await create(socket, "more", previous_response_id=second)
    await until(socket)
    assert texts(upstream.bodies[1]) == ["be brief", "hi", "said 1", "more"]
    assert "previous_response_id" not in upstream.bodies[1]


async def test_parents_are_remembered_by_lane_and_only_the_newest(pair: Pair) -> None:
    socket, upstream = pair
    ids: dict[str, list[str]] = {"a": [], "b": []}
    for lane in ("a", "b", "a"):
        parent = {"previous_response_id": ids[lane][-1]} if ids[lane] else {}
        await create(socket, f"to {lane}", stream_id=lane, store=False, **parent)
        ids[lane].append((await until(socket))[-1]["response"]["id"])
    assert len({*ids["a"], *ids["b"]}) == 3
    await create(socket, "old", stream_id="a", previous_response_id=ids["a"][0])
    lost = (await until(socket))[-1]
    assert (lost["status"], lost["stream_id"]) == (400, "a")
    assert lost["error"]["code"] == "previous_response_not_found"
    assert lost["error"]["param"] == "previous_response_id"
    await create(socket, "fork", stream_id="c", previous_response_id=ids["a"][1])
    assert (await until(socket))[-1]["type"] == "response.completed"
    assert texts(upstream.bodies[-1]) == ["to a", "said 1", "to a", "said 3", "fork"]


async def test_every_event_of_a_lane_names_it_and_none_of_the_default_one(pair: Pair) -> None:
    socket, _ = pair
    for named in ({"stream_id": "A-1._x"}, {}):
        for more in ({}, {"previous_response_id": "resp_none"}, {"input": 7}):
            await create(socket, "hi", **{**more, **named})
            events = await until(socket)
            assert [one.get("stream_id") for one in events] == [named.get("stream_id")] * len(
                events
            )


async def test_each_request_has_one_end_and_a_lane_one_response_at_a_time(
    pair: Pair, provider: Provider
) -> None:
    socket, _ = pair
    await create(socket, "wait", stream_id="a")
    for text in ("one", "two"):
        await create(socket, text, stream_id="a")
    await create(socket, "other", stream_id="b")
    seen = await until(socket, "response.completed")
    assert seen[-1]["stream_id"] == "b"
    provider.go_on.set()
    ends = 0
    while ends < 3:
        got = await event(socket)
        seen.append(got)
        ends += got["type"] in ENDS
    mine = [one["type"] for one in seen if one.get("stream_id") == "a"]
    order = [kind for kind in mine if kind == "response.created" or kind in ENDS]
    assert order == ["response.created", "response.completed"] * 3


async def test_controls_are_heard_while_a_response_streams(pair: Pair) -> None:
    socket, upstream = pair
    await create(socket, "wait", stream_id="a")
    response_id = (await until(socket, "response.in_progress"))[0]["response"]["id"]
    await asked(upstream)
    await create(socket, "behind it", stream_id="a")
    await socket.send('{"type":"response.cancel"}')
    unknown = await event(socket)
    assert (unknown["status"], unknown["type"]) == (400, "error")
    assert "stream_id" not in unknown
    interrupt = {"type": "response.interrupt", "response_id": response_id}
    await socket.send(json.dumps({**interrupt, "mode": "discard_partial_items"}))
    events = await until(socket, "response.incomplete")
    assert events[0]["type"] == "response.interrupt.accepted"
    async with asyncio.timeout(5):
        await upstream.gone.wait()
    await socket.send(json.dumps(interrupt))  # late: ignored
    assert (await until(socket))[-1]["type"] == "response.completed"
    assert upstream.running == 0


async def test_an_unknown_response_cannot_be_interrupted_and_nothing_ends(
    pair: Pair, provider: Provider
) -> None:
    socket, _ = pair
    await create(socket, "wait")
    await until(socket, "response.in_progress")
    await socket.send('{"type":"response.interrupt","response_id":"resp_none"}')
    failed = await event(socket)
    assert failed["type"] == "response.interrupt.failed"
    assert failed["error"]["code"] == "response_not_found"
    provider.go_on.set()
    assert (await until(socket))[-1]["type"] == "response.completed"


async def test_a_steer_before_the_first_word_cuts_at_once(pair: Pair, provider: Provider) -> None:
    socket, upstream = pair
    await create(socket, "wait")
    first = (await until(socket, "response.in_progress"))[0]["response"]["id"]
    await asked(upstream)
    text = {"type": "response.steer", "previous_response_id": first, "input": "be brief"}
    await socket.send(json.dumps(text))
    cut = (await until(socket))[-1]
    assert cut["type"] == "response.incomplete"
    assert cut["response"]["incomplete_details"] == {"reason": "steered"}
    assert prose(await until(socket)) == "said 2"
    assert texts(upstream.bodies[1]) == ["wait", "be brief"]
    async with asyncio.timeout(5):
        await upstream.gone.wait()


@pytest.mark.parametrize("abrupt", [True, False])
async def test_the_provider_s_work_stops_when_the_socket_drops(pair: Pair, abrupt: bool) -> None:
    socket, upstream = pair
    await create(socket, "wait")
    await asked(upstream)
    if abrupt:
        socket.transport.abort()
    else:
        await socket.close()
    async with asyncio.timeout(5):
        await upstream.gone.wait()


async def test_a_message_of_sixteen_mebibytes_arrives_whole(pair: Pair) -> None:
    socket, upstream = pair
    await create(socket, "x" * (16 * 1024 * 1024))
    assert (await until(socket))[-1]["type"] == "response.completed"
    assert len(texts(upstream.bodies[0])[0]) == 16 * 1024 * 1024
