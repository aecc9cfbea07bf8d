"""A scriptable server that breaks every rule, and a strict judge of what a client sends it.

A script says, for each ``response.create`` in turn (the last entry is repeated), what is done:
a mapping is sent as an event, the other steps are below. ``Greeting`` is for servers that are
wrong before the first frame: they answer raw bytes.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import struct
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Close:
    """A close frame."""

    code: int = 1000
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reset:
    """A TCP reset."""


@dataclass(frozen=True, slots=True)
class Raw:
    """A text frame with these bytes, or a binary one."""

    data: bytes
    binary: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """Silence, in seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Storm:
    """The same event many times."""

    event: Event
    times: int
    gap_s: float = 0.0


Step = Event | Close | Reset | Raw | Wait | Storm
Script = Sequence[Sequence[Step]]


@dataclass(slots=True)
class Nasty:
    """What the server does, and what it was told."""

    script: Script
    on_connect: Sequence[Step] = ()
    interrupt: str = "ignore"
    """``ignore``, ``accept``, ``late`` (accepts, then more text, then the end), ``error``."""
    forgets: bool = False
    """No parent is ever found."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    inputs: list[list[dict[str, Any]]] = field(default_factory=list)
    """The full input of each request, the parent's items included."""
    faults: list[str] = field(default_factory=list)
    """What a strict server minds in the client's requests."""
    connections: int = 0
    interrupts: int = 0
    headers: list[dict[str, str]] = field(default_factory=list)
    _known: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    async def serve(self, connection: ServerConnection) -> None:
        """One connection."""
        self.connections += 1
        request = connection.request
        self.headers.append(dict(request.headers.raw_items()) if request else {})
        with suppress(ConnectionClosed):
            await self._steps(connection, self.on_connect)
            known: dict[str, list[dict[str, Any]]] = {}
            playing: asyncio.Task[None] | None = None
            async for text in connection:
                event = json.loads(text)
                if event["type"] == "response.interrupt":
                    self.interrupts += 1
                    await self._interrupted(connection, event, playing)
                elif event["type"] == "response.create":
                    playing = asyncio.create_task(self._answer(connection, event, known))

    async def _interrupted(
        self, connection: ServerConnection, event: Event, playing: asyncio.Task[None] | None
    ) -> None:
        if self.interrupt == "ignore":
            return
        if playing is not None and self.interrupt != "error":
            playing.cancel()
        if self.interrupt == "error":
            await self._steps(connection, [error(400, "unknown_event", "no such event")])
            return
        rid = event["response_id"]
        late = [delta("late text after the interrupt")] * (self.interrupt == "late")
        accepted = {"type": "response.interrupt.accepted", "response_id": rid}
        details = {"reason": "interrupted"}
        response = {"id": rid, "status": "incomplete", "incomplete_details": details, "output": []}
        end = {"type": "response.incomplete", "response": response}
        await self._steps(connection, [accepted, *late, end])

    async def _answer(
        self, connection: ServerConnection, request: Event, known: dict[str, list[dict[str, Any]]]
    ) -> None:
        number = len(self.requests)
        self.requests.append(dict(request))
        parent = request.get("previous_response_id")
        steps = self.script[min(number, len(self.script) - 1)]
        with suppress(ConnectionClosed):
            if parent is not None and (self.forgets or parent not in known):
                if not self.forgets:
                    self.faults.append(f"request {number}: parent {parent} is not known here")
                self.inputs.append([])
                await self._steps(connection, [error(400, "previous_response_not_found", "gone")])
                return
            items = [*(known[parent] if parent is not None else []), *request["input"]]
            self.inputs.append(items)
            self.faults += [f"request {number}: {fault}" for fault in judged(items)]
            async for event in _played(connection, steps):
                if event.get("type") == "response.output_item.done" and event.get("item"):
                    items = [*items, event["item"]]
                if str(event.get("type")) in ("response.completed", "response.incomplete"):
                    response = event.get("response") or {}
                    output = response.get("output")
                    items = [*items, *(output if isinstance(output, list) else ())]
                    known.clear()
                    known[str(response.get("id"))] = items

    async def _steps(self, connection: ServerConnection, steps: Sequence[Step]) -> None:
        async for _ in _played(connection, steps):
            pass


async def _played(connection: ServerConnection, steps: Sequence[Step]) -> AsyncIterator[Event]:
    """Do the steps; gives each event that was sent."""
    for step in steps:
        if isinstance(step, Close):
            await connection.close(step.code, step.reason)
            return
        if isinstance(step, Reset):
            raw = connection.transport.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.transport.abort()
            return
        if isinstance(step, Raw):
            await connection.send(step.data, text=not step.binary)
        elif isinstance(step, Wait):
            await asyncio.sleep(step.seconds)
        elif isinstance(step, Storm):
            for _ in range(step.times):
                await connection.send(json.dumps(step.event))
                await asyncio.sleep(step.gap_s)
        else:
            await connection.send(json.dumps(step))
            yield step


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
    async with serve(server.serve, "127.0.0.1", 0, close_timeout=0.2, **options) as running:
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


# what servers say

_numbers = itertools.count(1)


def error(status: int | None, code: str | None, message: str = "", **fields: Any) -> dict[str, Any]:
    """An ``error`` event as the guide has it."""
    about = {"type": "invalid_request_error", "code": code, "message": message}
    named = {} if status is None else {"status": status}
    return {"type": "error", **named, "error": about, **fields}


def created(response_id: str = "resp_x", **fields: Any) -> dict[str, Any]:
    """The first event."""
    response = {"id": response_id, "status": "in_progress", "model": "nasty-1", **fields}
    return {"type": "response.created", "response": response}


def delta(text: str, item_id: str = "msg_1") -> dict[str, Any]:
    """A piece of prose."""
    return {
        "type": "response.output_text.delta",
        "item_id": item_id,
        "output_index": 0,
        "content_index": 0,
        "delta": text,
    }


def added(item: Event) -> dict[str, Any]:
    """An item begins."""
    return {"type": "response.output_item.added", "output_index": 0, "item": item}


def done(item: Event) -> dict[str, Any]:
    """An item is finished."""
    return {"type": "response.output_item.done", "output_index": 0, "item": item}


def message(text: str, item_id: str = "msg_1") -> dict[str, Any]:
    """A message item."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "type": "message",
        "id": item_id,
        "role": "assistant",
        "status": "completed",
        "content": content,
    }


def spoken(text: str, item_id: str = "msg_1") -> list[Event]:
    """A whole message."""
    opening = {**message("", item_id), "content": []}
    return [added(opening), delta(text, item_id), done(message(text, item_id))]


def function_call(name: str, arguments: str, call_id: str = "call_1") -> dict[str, Any]:
    """A function call item."""
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
        "status": "completed",
    }


def patch_call(patch: str, call_id: str = "call_1") -> dict[str, Any]:
    """A freeform apply_patch call item."""
    return {
        "type": "custom_tool_call",
        "id": f"ctc_{call_id}",
        "call_id": call_id,
        "name": "apply_patch",
        "input": patch,
        "status": "completed",
    }


_PIECES = {
    "function_call": ("response.function_call_arguments.delta", "arguments"),
    "custom_tool_call": ("response.custom_tool_call_input.delta", "input"),
}


def begun(item: Event, share: float = 1.0, pieces: int = 8) -> list[Event]:
    """A call that streams its first ``share`` and is not finished."""
    kind, key = _PIECES[item["type"]]
    text = item[key][: int(len(item[key]) * share)]
    size = max(1, len(text) // pieces)
    parts = [text[at : at + size] for at in range(0, len(text), size)]
    base = {"type": kind, "item_id": item.get("id"), "output_index": 0}
    return [added({**item, key: "", "status": "in_progress"})] + [
        {**base, "delta": part} for part in parts
    ]


def called(item: Event) -> list[Event]:
    """A call that streams to its end."""
    return [*begun(item), done(item)]


def completed(response_id: str = "resp_x", **fields: Any) -> dict[str, Any]:
    """The usual end."""
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    response = {"id": response_id, "status": "completed", "output": [], "usage": usage, **fields}
    return {"type": "response.completed", "response": response}


def incomplete(reason: str, response_id: str = "resp_x") -> dict[str, Any]:
    """An end that is none."""
    response = {
        "id": response_id,
        "status": "incomplete",
        "incomplete_details": {"reason": reason},
    }
    return {"type": "response.incomplete", "response": response}


def failed(code: str, text: str, response_id: str = "resp_x") -> dict[str, Any]:
    """The server gave up."""
    response = {"id": response_id, "status": "failed", "error": {"code": code, "message": text}}
    return {"type": "response.failed", "response": response}


def turn(number: int | str, *steps: Step) -> list[Step]:
    """A whole response: created, the steps, completed."""
    return [created(f"resp_{number}"), *steps, completed(f"resp_{number}")]
