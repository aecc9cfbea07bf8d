"""A real websockets server in the test's process, and a lane that is listened to."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.server import ServerConnection, serve

from tui.core.wire import events
from tui.core.wire.address import Address
from tui.effects.system import MonotonicClock
from tui.effects.wire.endpoint import Endpoint, EndpointLane
from tui.effects.wire.link import ConnectionOptions

Handler = Callable[[ServerConnection], Awaitable[None]]
CREATED = {"type": "response.created", "response": {"id": "resp_1"}}
DELTA = {"type": "response.output_text.delta", "item_id": "i", "delta": "x"}
COMPLETED = {"type": "response.completed", "response": {"id": "resp_1"}}


class Heard:
    """What a lane told, in order, and a way to wait for it."""

    def __init__(self, connection: EndpointLane) -> None:
        self.events: list[events.Event] = []
        self.states: list[tuple[str, str]] = []
        self._news = asyncio.Event()
        connection.on_event = self._event
        connection.on_state = self._state

    def _event(self, event: events.Event, now: float) -> None:
        assert now > 0
        self.events.append(event)
        self._news.set()

    def _state(self, state: str, reason: str) -> None:
        self.states.append((state, reason))
        self._news.set()

    async def until(self, done: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not done():
                self._news.clear()
                await self._news.wait()

    async def closed(self) -> str:
        await self.until(lambda: bool(self.states) and self.states[-1][0] == "closed")
        return self.states[-1][1]

    async def has(self, kind: type[Any], count: int = 1) -> None:
        await self.until(lambda: sum(isinstance(event, kind) for event in self.events) >= count)


def at(url: str, key: str = "") -> Callable[[], Awaitable[Address]]:
    async def address() -> Address:
        return Address(url, {"Authorization": f"Bearer {key}"} if key else {})

    return address


def connection_to(url: str, key: str = "", **options: Any) -> tuple[EndpointLane, Heard]:
    """The main lane of an endpoint of its own; closing it closes the socket."""
    settings = ConnectionOptions(**{"gap_s": 120.0} | options)
    connection = Endpoint("test", at(url, key), MonotonicClock(), options=settings).lane()
    return connection, Heard(connection)


@asynccontextmanager
async def serving(handler: Handler, **options: Any) -> AsyncIterator[str]:
    async with serve(handler, "127.0.0.1", 0, close_timeout=0.2, **options) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        yield f"ws://127.0.0.1:{port}/v1/responses"


async def say(socket: ServerConnection, *said: dict[str, Any]) -> None:
    for event in said:
        await socket.send(json.dumps(event))


async def idle(socket: ServerConnection) -> None:
    async for _ in socket:
        pass


def own_port() -> int:
    """A free one that stays so: below those of which the system gives everybody one."""
    while True:
        port = random.SystemRandom().randrange(20_000, 30_000)
        with contextlib.suppress(OSError), socket.socket() as one:
            one.bind(("127.0.0.1", port))
            return port
