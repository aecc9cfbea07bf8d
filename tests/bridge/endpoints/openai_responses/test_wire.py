"""The app's own client at an endpoint that knows no WebSocket: by way of the bridge's relay."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from aiohttp import web

from tests.support.bridge_client import specification
from tests.support.rehearsed import user
from tests.support.sse_upstream import (
    Answer,
    SseUpstream,
    completed,
    message,
    message_item,
    opening,
    serving,
    stream,
)
from tui.core.wire import events
from tui.core.wire.address import Address
from tui.core.wire.capabilities import Capabilities
from tui.effects.bridge_process import BridgeProcess
from tui.effects.clock import MonotonicClock
from tui.effects.wire import ConnectionOptions, Endpoint
from tui.engine.ports import Wire

ENDS = (events.Completed, events.Incomplete, events.Failed, events.ErrorEvent)


@dataclass
class Client:
    """A lane and what it heard."""

    wire: Wire
    bridge: BridgeProcess
    upstream: SseUpstream
    heard: list[events.Event] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def listen(self) -> None:
        self.wire.on_event = self._on_event
        self.wire.on_state = self._on_state

    def _on_event(self, event: events.Event, _now: float) -> None:
        self.heard.append(event)
        self.changed.set()

    def _on_state(self, state: str, _why: str) -> None:
        self.states.append(state)
        self.changed.set()

    async def until(self, *kinds: type[Any]) -> events.Event:
        """The first event of these kinds since the last call; what came before it is dropped."""
        async with asyncio.timeout(10):
            while True:
                for index, event in enumerate(self.heard):
                    if isinstance(event, kinds):
                        del self.heard[: index + 1]
                        return event
                self.changed.clear()
                await self.changed.wait()

    async def lost(self) -> None:
        async with asyncio.timeout(10):
            while self.wire.state == "open":
                self.changed.clear()
                await self.changed.wait()

    async def asks(self, text: str, **fields: Any) -> None:
        await self.wire.open()
        self.wire.create({"model": "m", "input": [user(text)], **fields})


@contextlib.asynccontextmanager
async def client_of(answer: Answer) -> AsyncIterator[Client]:
    async with serving(answer) as upstream:
        bridge = BridgeProcess(endpoints={"far": specification(upstream.address)})
        websocket = Address(upstream.address.url.replace("http:", "ws:"), upstream.address.headers)

        async def direct() -> Address:
            return websocket

        endpoint = Endpoint(
            "far",
            direct,
            MonotonicClock(),
            options=ConnectionOptions(),
            capabilities=Capabilities(),
            fallback=partial(bridge.address, "far"),
        )
        client = Client(endpoint.lane(), bridge, upstream)
        client.listen()
        yield client
        await endpoint.close()
        await bridge.close()


async def answer_some(request: web.Request, upstream: SseUpstream) -> web.StreamResponse:
    """Streams for ever, where the newest message asks for it."""
    response = await stream(request)
    endless = "for ever" in str(upstream.bodies[-1]["input"][-1])
    await response.write(opening() + message("one"))
    while endless:
        await response.write(message("more", index=1)[:-200])
        await asyncio.sleep(0.01)
    await response.write(completed())
    return response


def answer_held(held: asyncio.Event) -> Answer:
    """Waits in the midst of its first item, and for ever behind it."""
    told = message("one")
    half = told.index(b"event: response.output_item.done")

    async def answer(request: web.Request, upstream: SseUpstream) -> web.StreamResponse:
        response, first = await stream(request), len(upstream.bodies) == 1
        await response.write(opening() + told[:half])
        if first:
            await held.wait()
        await response.write(told[half:])
        if first:
            await asyncio.Event().wait()
        await response.write(completed())
        return response

    return answer


async def test_a_turn_and_its_continuation_go_by_http() -> None:
    async with client_of(answer_some) as client:
        await client.asks("hi")
        assert client.wire.transport == "http"
        created = await client.until(events.Created)
        assert isinstance(created, events.Created)
        delta = await client.until(events.Delta)
        assert isinstance(delta, events.Delta)
        assert delta.delta == "one"
        ended = await client.until(*ENDS)
        assert isinstance(ended, events.Completed)
        assert ended.response_id == created.response_id
        await client.asks("and", previous_response_id=ended.response_id)
        assert isinstance(await client.until(*ENDS), events.Completed)
        inputs = [body["input"] for body in client.upstream.bodies]
        assert inputs[1] == [user("hi"), message_item("one"), user("and")]
        assert client.upstream.upgrades == 1


async def test_a_stop_ends_the_request_and_the_chain_goes_on() -> None:
    async with client_of(answer_some) as client:
        await client.asks("for ever")
        await client.until(events.Delta)
        client.wire.interrupt()
        ended = await client.until(*ENDS)
        assert isinstance(ended, events.Incomplete)
        assert ended.reason == "interrupted"
        async with asyncio.timeout(5):
            await client.upstream.gone.wait()
        await client.asks("go on", previous_response_id=ended.response_id)
        assert isinstance(await client.until(*ENDS), events.Completed)
        inputs = [body["input"] for body in client.upstream.bodies]
        assert inputs[1] == [user("for ever"), message_item("one"), user("go on")]


async def test_a_bridge_that_is_killed_is_a_lost_socket_and_another_takes_over() -> None:
    async with client_of(answer_some) as client:
        await client.asks("for ever")
        await client.until(events.Delta)
        pid = client.bridge.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await client.lost()
        async with asyncio.timeout(5):
            await client.upstream.gone.wait()
        client.heard.clear()
        await client.asks("again")
        assert isinstance(await client.until(*ENDS), events.Completed)
        assert client.bridge.pid not in (pid, None)
        assert client.wire.transport == "http"
        assert client.upstream.bodies[-1]["input"] == [user("again")]


async def test_a_steer_is_taken_and_heeded_by_itself() -> None:
    held = asyncio.Event()
    async with client_of(answer_held(held)) as client:
        await client.asks("hold")
        await client.until(events.Delta)
        assert client.wire.steer("smaller") is not None
        news = await client.until(events.SteerNews)
        assert isinstance(news, events.SteerNews)
        assert news.fate == "accepted"
        held.set()
        cut = await client.until(*ENDS)
        assert isinstance(cut, events.Incomplete)
        assert cut.reason == "steered"
        assert isinstance(await client.until(*ENDS), events.Completed)
        inputs = [body["input"] for body in client.upstream.bodies]
        assert inputs[1] == [user("hold"), message_item("one"), user("smaller")]
