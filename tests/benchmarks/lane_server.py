"""A Responses WebSocket server that streams on many lanes at once, as a process of its own.

Run as ``python -m tests.benchmarks.lane_server``: it says its port in a JSON line on stdout, and
ends when its stdin closes. A request's metadata says how many tokens (``tokens``; 0: until it is
interrupted) at which rate (``rate``, a second; 0: as fast as they go). Every interrupt is told
in a line of its own, with the time.monotonic() at which it was read, which all processes share.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Mapping
from typing import Any

from aiohttp import WSMsgType, web

from tests.benchmarks.transport.server import ITEM_ID, PATH, deltas, named, websocket_frame
from tests.benchmarks.transport.worker import answer_questions

BOOK_TOKENS = 2000
"""An endless answer repeats so many."""
TICK_S = 0.001
TRAIN_TOKENS = 64


class Stream:
    """One response on one lane."""

    def __init__(self, request: Mapping[str, Any], number: int) -> None:
        """``number`` makes its id."""
        metadata = request.get("metadata") or {}
        self.id = f"resp_{number:032x}"
        self.stopped = False
        self._lane: str | None = request.get("stream_id")
        self._count = int(metadata.get("tokens", 0))
        self._rate = int(metadata.get("rate", 0))
        self._numbers = itertools.count()

    async def write(self, transport: asyncio.WriteTransport) -> None:
        """Write all of it; it stops where it was interrupted."""
        item = {"id": ITEM_ID, "type": "message", "role": "assistant", "content": []}
        for kind in ("response.created", "response.in_progress"):
            transport.write(self.event(kind, response={"id": self.id, "model": "bench"}))
        transport.write(self.event("response.output_item.added", output_index=0, item=item))
        await self._text(transport)
        if transport.is_closing():
            return
        if self.stopped:
            why = {"status": "incomplete", "incomplete_details": {"reason": "interrupted"}}
            response = {"id": self.id, "output": [], **why}
            transport.write(self.event("response.incomplete", response=response))
        else:
            response = {"id": self.id, "status": "completed", "output": []}
            transport.write(self.event("response.completed", response=response))

    async def _text(self, transport: asyncio.WriteTransport) -> None:
        """The text: what is due by now in one write."""
        book = deltas(self._count or BOOK_TOKENS, self._lane, websocket_frame)
        events = iter(book) if self._count else itertools.cycle(book)
        started, sent = time.monotonic(), 0
        while not self.stopped and (not self._count or sent < self._count):
            if transport.is_closing():
                return
            due = TRAIN_TOKENS
            if self._rate:
                await asyncio.sleep(TICK_S)
                due = int((time.monotonic() - started) * self._rate) - sent
            else:
                await asyncio.sleep(0)
            transport.write(b"".join(itertools.islice(events, due)))
            sent += due

    def event(self, kind: str, **fields: Any) -> bytes:
        """An event of this response as a frame."""
        number = next(self._numbers)
        return websocket_frame(
            {"type": kind, "sequence_number": number, **fields, **named(self._lane)}
        )


class LaneServer:
    """All sockets and their streams."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> int:
        """Listen on a free port of loopback; returns it."""
        application = web.Application()
        application.router.add_get(PATH, self._serve)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port: int = runner.addresses[0][1]
        return port

    async def _serve(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(compress=False)
        await socket.prepare(request)
        transport, streams = request.transport, dict[str, Stream]()
        assert transport is not None
        async for message in socket:
            read_s = time.monotonic()
            if message.type is not WSMsgType.TEXT:
                break
            asked = json.loads(message.data)
            if asked["type"] == "response.create":
                stream = Stream(asked, next(self._numbers))
                streams[stream.id] = stream
                task = asyncio.create_task(stream.write(transport))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            elif asked["type"] == "response.interrupt":
                stopped = streams.pop(asked["response_id"])
                stopped.stopped = True
                accepted = {"response_id": stopped.id}
                transport.write(stopped.event("response.interrupt.accepted", **accepted))
                print(json.dumps({"interrupt_read_s": read_s}), flush=True)
        for stream in streams.values():
            stream.stopped = True
        return socket


async def serve() -> None:
    """Serve until stdin closes."""
    port = await LaneServer().start()

    async def answer(question: dict[str, Any]) -> dict[str, Any]:
        return question

    await answer_questions({"port": port}, answer)


if __name__ == "__main__":
    asyncio.run(serve())
