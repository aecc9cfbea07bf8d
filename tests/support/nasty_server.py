"""A scriptable server that breaks every rule, and a strict judge of what a client sends it.

A script says, for each response in turn (the last entry is repeated), what is done: a mapping is
sent as an event, the other steps are in `nasty_steps`. ``Greeting`` is for servers that are wrong
before the first frame: they answer raw bytes.
"""

from __future__ import annotations

import asyncio
import http as http_names
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from tests.support.nasty_steps import Close, Event, Script, Step, played
from tests.support.server_words import created, delta, error, incomplete, spoken

Lane = str | None
Interrupts = Literal["ignore", "accept", "late", "fail", "error", "finish"]
Steers = Literal["ignore", "accept", "fail", "error", "lost"]
Prewarms = Literal["accept", "refuse", "ignore", "generate", "close", "too old"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer to an upgrade."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Nasty:
    """What the server does, and what it was told."""

    script: Script
    on_connect: Sequence[Step] = ()
    refusals: list[Refusal] = field(default_factory=list)
    """The next upgrades are answered with these."""
    interrupt: Interrupts = "ignore"
    """``late`` accepts, then more text, then the end; ``finish``: it completes instead."""
    steer: Steers = "ignore"
    """``accept``: the next script is the successor's, which begins by itself when the response
    ends without calls; ``lost``: so it is, but the acknowledgement never comes."""
    prewarm: Prewarms = "accept"
    swallows: bool = False
    """A successor that is owed never comes."""
    echo: bool = False
    """Every event names the lane of its create."""
    forgets: bool = False
    """No parent is ever found."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    inputs: list[list[dict[str, Any]]] = field(default_factory=list)
    """The full input of each request, the parent's items included."""
    faults: list[str] = field(default_factory=list)
    """What a strict server minds in the client's requests."""
    connections: int = 0
    upgrades: int = 0
    """Connections, refused ones included."""
    interrupts: int = 0
    steers: list[str] = field(default_factory=list)
    """The texts of the steers."""
    prewarms: int = 0
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    """Of the upgrades that were accepted, with the query."""

    async def serve(self, connection: ServerConnection) -> None:
        """One connection."""
        self.connections += 1
        request = connection.request
        self.headers.append(dict(request.headers.raw_items()) if request else {})
        self.paths.append(request.path if request else "")
        await _Line(self, connection).run()

    def check(self, connection: ServerConnection, request: Request) -> Response | None:
        """Answer the upgrade with a refusal, if there is one."""
        self.upgrades += 1
        if not self.refusals:
            return None
        refusal = self.refusals.pop(0)
        body = json.dumps({"error": {"message": f"synthetic {refusal.status}"}}).encode()
        headers = Headers({"Content-Length": str(len(body)), **refusal.headers})
        phrase = http_names.HTTPStatus(refusal.status).phrase
        return Response(refusal.status, phrase, headers, body)


class _Line:
    """One connection of it."""

    def __init__(self, nasty: Nasty, connection: ServerConnection) -> None:
        self._nasty = nasty
        self._connection = connection
        self._known: dict[Lane, tuple[str, list[dict[str, Any]]]] = {}
        """The newest response of each lane: id and all items."""
        self._playing: dict[str, tuple[Lane, asyncio.Task[None]]] = {}
        """The responses that are on their way, by id."""
        self._owed: dict[str, list[dict[str, Any]]] = {}
        """Accepted steering, by the response that it is for."""
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serve until it is closed."""
        with suppress(ConnectionClosed):
            await self._say(None, *self._nasty.on_connect)
            async for text in self._connection:
                event = json.loads(text)
                if event["type"] == "response.interrupt":
                    self._nasty.interrupts += 1
                    await self._interrupted(event["response_id"])
                elif event["type"] == "response.steer":
                    await self._steered(event)
                elif event["type"] == "response.create":
                    self._spawn(event)
        for task in self._tasks:
            task.cancel()

    def _spawn(self, request: Event) -> None:
        task = asyncio.create_task(self._answer(request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _interrupted(self, rid: str) -> None:
        manner = self._nasty.interrupt
        lane, task = self._playing.get(rid, (None, None))
        if manner == "ignore":
            return
        if manner == "error":
            await self._say(None, error(400, "unknown_event", "no such event"))
            return
        if manner == "fail":
            why = {"code": "interrupt_not_supported", "message": "not for this model"}
            failed = {"type": "response.interrupt.failed", "response_id": rid, "error": why}
            await self._say(lane, failed)
            return
        if task is not None:
            task.cancel()
        self._owed.pop(rid, None)
        accepted = {"type": "response.interrupt.accepted", "response_id": rid}
        late = [delta("late text after the interrupt")] * (manner == "late")
        end = incomplete("interrupted", rid)
        if manner == "finish":
            end = {"type": "response.completed", "response": {"id": rid, "output": []}}
        said = [accepted] * (manner != "finish")
        items = self._known.pop(lane, ("", []))[1]
        self._known[lane] = (rid, items)
        await self._say(lane, *said, *late, end)

    async def _steered(self, event: Event) -> None:
        nasty, parent, text = self._nasty, event["previous_response_id"], event["input"]
        nasty.steers.append(text if isinstance(text, str) else json.dumps(text))
        if "stream_id" in event:
            nasty.faults.append("a steer names a lane")
        lane = self._playing.get(parent, (None, None))[0]
        about = {"id": f"steer_{len(nasty.steers)}", "previous_response_id": parent}
        if nasty.steer == "error":
            await self._say(None, error(400, "unknown_event", "no such event"))
        elif nasty.steer == "fail":
            why = {"code": "steering_not_supported", "message": "not for this model"}
            steer = {**about, "input": text}
            failed = {"type": "response.steer.failed", "steer": steer, "error": why}
            await self._say(lane, failed)
        elif nasty.steer != "ignore":
            item = {"type": "message", "role": "user", "content": text}
            self._owed.setdefault(parent, []).append(item)
            if nasty.steer == "accept":
                await self._say(lane, {"type": "response.steer.accepted", "steer": about})

    async def _answer(self, request: Event) -> None:
        nasty, lane = self._nasty, request.get("stream_id")
        if request.get("generate") is False:
            await self._prewarm(lane, request)
            return
        number = len(nasty.requests)
        nasty.requests.append(dict(request))
        parent = request.get("previous_response_id")
        with suppress(ConnectionClosed):
            known = dict(self._known.values())
            if parent is not None and (nasty.forgets or parent not in known):
                if not nasty.forgets:
                    nasty.faults.append(f"request {number}: parent {parent} is not known here")
                nasty.inputs.append([])
                await self._say(lane, error(400, "previous_response_not_found", "gone"))
                return
            before = known[parent] if parent is not None else []
            items = [*before, *request["input"], *self._owed.pop(str(parent), ())]
            await self._respond(lane, items)

    async def _prewarm(self, lane: Lane, request: Event) -> None:
        nasty = self._nasty
        nasty.prewarms += 1
        rid = f"resp_warm_{nasty.prewarms}"
        end: Event = {"type": "response.completed", "response": {"id": rid, "output": []}}
        said: dict[str, list[Step]] = {
            "accept": [created(rid), end],
            "refuse": [error(400, "unknown_parameter", "generate", param="generate")],
            "generate": [created(rid), *spoken("nobody asked", "msg_warm"), end],
            "close": [created(rid), Close(1011)],
            "too old": [error(400, "websocket_connection_limit_reached", "60 min"), Close(1000)],
            "ignore": [],
        }
        if nasty.prewarm == "accept":
            self._known[lane] = (rid, list(request["input"]))
        with suppress(ConnectionClosed):
            await self._say(lane, *said[nasty.prewarm])

    async def _respond(self, lane: Lane, items: list[dict[str, Any]]) -> None:
        """Play the next script over this input, then the successors that are owed."""
        nasty = self._nasty
        number = len(nasty.inputs)
        nasty.inputs.append(items)
        nasty.faults += [f"request {number}: {fault}" for fault in judged(items)]
        steps, rid = nasty.script[min(number, len(nasty.script) - 1)], ""
        task = asyncio.current_task()
        assert task is not None
        async for event in played(self._connection, steps, self._lane(lane)):
            response = event.get("response")
            about = response if isinstance(response, dict) else {}
            if event.get("type") == "response.created":
                rid = str(about.get("id"))
                self._playing[rid] = (lane, task)
                self._known[lane] = ("", items)
            if event.get("type") == "response.output_item.done" and event.get("item"):
                items = [*items, event["item"]]
                self._known[lane] = ("", items)
            if str(event.get("type")) in ("response.completed", "response.incomplete"):
                output = about.get("output")
                items = [*items, *(output if isinstance(output, list) else ())]
                self._known[lane] = (str(about.get("id")), items)
        self._playing.pop(rid, None)
        waits = any(str(i.get("type")).endswith("_call") for i in items[-1:])
        if not waits and (texts := self._owed.pop(rid, None)) and not nasty.swallows:
            await self._respond(lane, [*items, *texts])

    def _lane(self, lane: Lane) -> dict[str, str]:
        return {"stream_id": lane} if self._nasty.echo and lane is not None else {}

    async def _say(self, lane: Lane, *steps: Step) -> None:
        async for _ in played(self._connection, steps, self._lane(lane)):
            pass


def judged(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """What a strict server minds: calls and outputs that do not pair up, items twice."""
    faults: list[str] = []
    calls: list[Any] = []
    answered: list[Any] = []
    ids: list[Any] = []
    for item in items:
        kind, call_id = str(item.get("type")), item.get("call_id")
        if kind.endswith("_call"):
            calls.append((kind, call_id))
            if not isinstance(call_id, str) or not call_id:
                faults.append(f"{kind} without a call_id")
        elif kind.endswith("_call_output"):
            answered.append((kind.removesuffix("_output"), call_id))
            if answered[-1] not in calls:
                faults.append(f"an output for {call_id} before its call")
        if item.get("id") is not None:
            if item["id"] in ids:
                faults.append(f"item {item['id']} twice")
            ids.append(item["id"])
    faults += [f"no output for {call}" for call in calls if call not in answered]
    return faults


@asynccontextmanager
async def nasty(server: Nasty, **options: Any) -> AsyncIterator[str]:
    """Serve it; gives the URL."""
    given = {"close_timeout": 0.2, "process_request": server.check, **options}
    async with serve(server.serve, "127.0.0.1", 0, **given) as running:
        port = next(iter(running.sockets)).getsockname()[1]
        yield f"ws://127.0.0.1:{port}/v1/responses"


@asynccontextmanager
async def greeting(answer: bytes | None, *, hold: bool = False) -> AsyncIterator[int]:
    """A TCP server that reads a request and answers bytes (None: nothing); gives its port."""

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            await reader.read(4096)
            if answer is not None:
                writer.write(answer)
                await writer.drain()
            while hold or answer is None:
                if not await reader.read(4096):
                    break
        writer.close()

    running = await asyncio.start_server(greet, "127.0.0.1", 0)
    try:
        yield running.sockets[0].getsockname()[1]
    finally:
        running.close()


def http(status: str, body: bytes = b"", *headers: str) -> bytes:
    """An HTTP answer."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body
