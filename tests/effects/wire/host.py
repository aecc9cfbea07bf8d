"""A server for many lanes, whose answers a test holds in its hand; and what is needed around it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.server import ServerConnection, serve

from tests.support.sockets import Heard, at
from tui.core.wire import events
from tui.core.wire.endpoint_facts import Capabilities
from tui.effects.wire.endpoint import Endpoint, EndpointLane
from tui.effects.wire.link import ConnectionOptions

LANES = {"lanes": True}


class Host:
    """Answers every create: at once, or if its model is ``slow`` when `go` is set."""

    def __init__(self, *, echo: bool = True, stops: bool = True) -> None:
        self.desks: list[Desk] = []
        self.echo, self.stops = echo, stops
        self.go = asyncio.Event()
        self.sockets: list[ServerConnection] = []
        self.asked: list[tuple[int, dict[str, Any]]] = []
        """Number of the connection, the event."""
        self.url = ""
        self.refusal: int | None = None
        """HTTP status for every upgrade."""
        self._number = 0
        self._news = asyncio.Event()
        self._answers: set[asyncio.Task[None]] = set()

    async def handle(self, socket: ServerConnection) -> None:
        self.sockets.append(socket)
        number = len(self.sockets)
        self._news.set()
        async for message in socket:
            event = json.loads(message)
            self.asked.append((number, event))
            self._news.set()
            if event["type"] == "response.create":
                task = asyncio.create_task(self._answer(socket, event))
                self._answers.add(task)
                task.add_done_callback(self._answers.discard)
            elif event["type"] == "response.interrupt" and self.stops:
                name = {"stream_id": event["response_id"].split("/")[1]} if self.echo else {}
                why = {"id": event["response_id"], "incomplete_details": {"reason": "interrupted"}}
                accepted = {"type": "response.interrupt.accepted", "response_id": why["id"]}
                await self._say(socket, accepted | name)
                await self._say(socket, {"type": "response.incomplete", "response": why} | name)

    async def until(self, done: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not done():
                self._news.clear()
                await self._news.wait()

    def refuse(self, socket: ServerConnection, request: Any) -> Any:
        return None if self.refusal is None else socket.respond(self.refusal, "no")

    async def _answer(self, socket: ServerConnection, event: dict[str, Any]) -> None:
        self._number += 1
        lane = event.get("stream_id", "")
        name = {"stream_id": lane} if self.echo and lane else {}
        response = {"id": f"resp_{self._number}/{lane}"}
        delta = {"type": "response.output_text.delta", "item_id": "i", "delta": lane or "-"}
        await self._say(socket, {"type": "response.created", "response": response} | name)
        await self._say(socket, {"type": "response.in_progress", "response": response} | name)
        await self._say(socket, delta | name)
        if event["model"] == "slow":
            await self.go.wait()
        while event["model"] == "chatty" and not self.go.is_set():
            await self._say(socket, delta | name)
            await asyncio.sleep(0.02)
        await self._say(socket, delta | name)
        await self._say(socket, {"type": "response.completed", "response": response} | name)

    async def _say(self, socket: ServerConnection, event: dict[str, Any]) -> None:
        await socket.send(json.dumps(event))


@asynccontextmanager
async def hosting(**settings: bool) -> AsyncIterator[Host]:
    host = Host(**settings)
    options = {"process_request": host.refuse, "close_timeout": 0.2}
    async with serve(host.handle, "127.0.0.1", 0, **options) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        host.url = f"ws://127.0.0.1:{port}/v1/responses"
        yield host
        for desk in host.desks:
            await desk.endpoint.close()
        host.go.set()


class LeapingClock:
    """A clock that stands still until it is moved, as a laptop's is that was asleep."""

    def __init__(self) -> None:
        self.ahead_s = 0.0
        self.runs = False

    def now(self) -> float:
        return (asyncio.get_running_loop().time() if self.runs else 1_000.0) + self.ahead_s


class Desk:
    """An endpoint, and what its lanes told."""

    def __init__(self, host: Host, other: Host | None = None, **options: Any) -> None:
        self.clock = LeapingClock()
        self.learnt: list[Capabilities] = []
        known = options.pop("known", {})
        self.endpoint = Endpoint(
            "test",
            at(host.url),
            self.clock,
            options=ConnectionOptions(**{"gap_s": 120.0} | options),
            capabilities=Capabilities(**known),
            on_learnt=self.learnt.append,
            fallback=at(other.url) if other else None,
        )
        self.known = self.endpoint.capabilities
        (other or host).desks.append(self)

    def lane(self, name: str) -> tuple[EndpointLane, Heard]:
        lane = self.endpoint.lane(name)
        return lane, Heard(lane)

    async def ask(self, lane: EndpointLane, heard: Heard, model: str = "m") -> None:
        """A turn to its end, or to its first word if the model is slow or has no end."""
        kind = events.Completed if model == "m" else events.TextDelta
        before = sum(isinstance(event, kind) for event in heard.events)
        await lane.open()
        lane.create({"model": model})
        await heard.has(kind, before + 1)


def words(heard: Heard) -> list[str]:
    return [event.delta for event in heard.events if isinstance(event, events.TextDelta)]


def states(heard: Heard) -> list[str]:
    return [state for state, _ in heard.states]
