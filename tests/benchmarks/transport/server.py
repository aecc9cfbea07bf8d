"""The model's stand-in: one TLS server with the same answers by WebSocket and by SSE.

Run as ``python -m tests.benchmarks.transport.server CERTIFICATE``, a PEM file with the key in it.
It
reads a whole request, as a model must, and then answers at once; how many tokens, how fast,
and how long the answer lasts is said in the request's metadata.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import random
import socket
import ssl
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from aiohttp import WSMsgType, web

from tests.benchmarks.screen.replay_server import frame, named_sse
from tests.benchmarks.worker import answer_questions

PATH = "/v1/responses"
REQUEST_BYTES = 64 << 20
ITEM_ID = "msg_0000000000000000000000000000abcd"

Encode = Callable[[Mapping[str, Any]], bytes]
"""An event as the bytes of its transport."""


@lru_cache(maxsize=8)
def tokens(count: int) -> tuple[str, ...]:
    """Text in pieces of about four characters, always the same."""
    chance = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyz_ ().\n"
    return tuple("".join(chance.choices(letters, k=chance.randint(3, 6))) for _ in range(count))


@lru_cache(maxsize=16)
def deltas(count: int, lane: str | None, encode: Encode) -> tuple[bytes, ...]:
    """The encoded events of an answer's text, ready to be written."""
    return tuple(
        encode(
            {
                "type": "response.output_text.delta",
                "sequence_number": number + 2,
                "item_id": ITEM_ID,
                "output_index": 0,
                "content_index": 0,
                "delta": token,
                "logprobs": [],
                "obfuscation": "aZ3kQ9tLm0",
                **named(lane),
            }
        )
        for number, token in enumerate(tokens(count))
    )


def named(lane: str | None) -> dict[str, str]:
    """The part of an event that names its lane."""
    return {} if lane is None else {"stream_id": lane}


@contextlib.contextmanager
def in_trains(transport: asyncio.WriteTransport) -> Iterator[None]:
    """Let the system send full segments only, as on a busy link.

    A client that is faster than this process would else sleep and wake for every event: that is
    the paced case. Each event stays a TLS record of its own. Only Linux has this.
    """
    socket_now, option = transport.get_extra_info("socket"), getattr(socket, "TCP_CORK", None)
    if option is None:
        yield
        return
    socket_now.setsockopt(socket.IPPROTO_TCP, option, 1)
    try:
        yield
    finally:
        socket_now.setsockopt(socket.IPPROTO_TCP, option, 0)


class Answer:
    """One response, written event by event."""

    def __init__(self, request: Mapping[str, Any], number: int, encode: Encode) -> None:
        """``number`` makes its id."""
        metadata = request.get("metadata") or {}
        self._count = int(metadata.get("tokens", 1))
        self._rate = int(metadata.get("rate", 0))
        self._lasts_s = int(metadata.get("lasts_ms", 0)) / 1000
        self._lane = request.get("stream_id")
        self._encode = encode
        self._response = {"id": f"resp_{number:032x}", "model": request.get("model", "bench")}

    async def write(self, transport: asyncio.WriteTransport) -> None:
        """Write all of it."""
        item = {"id": ITEM_ID, "type": "message", "role": "assistant", "content": []}
        transport.write(self._event("response.created", 0, response=self._response))
        transport.write(self._event("response.output_item.added", 1, output_index=0, item=item))
        events = deltas(self._count, self._lane, self._encode)
        if self._rate:
            await self._paced(transport, events)
        else:
            with in_trains(transport):
                for event in events:
                    transport.write(event)
        if self._lasts_s:
            await asyncio.sleep(self._lasts_s)
        transport.write(self._tail())

    async def _paced(self, transport: asyncio.WriteTransport, events: tuple[bytes, ...]) -> None:
        """An event every 1/rate s, each in a write of its own."""
        started = time.monotonic()
        for number, event in enumerate(events):
            delay_s = started + number / self._rate - time.monotonic()
            if delay_s > 0:
                await asyncio.sleep(delay_s)
            transport.write(event)

    def _tail(self) -> bytes:
        usage = {"input_tokens": 1, "output_tokens": self._count, "total_tokens": self._count + 1}
        text = {"type": "output_text", "text": "".join(tokens(self._count)), "annotations": []}
        item = {"id": ITEM_ID, "type": "message", "role": "assistant", "content": [text]}
        number = self._count + 2
        done = self._event("response.output_item.done", number, output_index=0, item=item)
        response = {**self._response, "status": "completed", "output": [item], "usage": usage}
        return done + self._event("response.completed", number + 1, response=response)

    def _event(self, kind: str, number: int, **fields: Any) -> bytes:
        return self._encode(
            {"type": kind, "sequence_number": number, **fields, **named(self._lane)}
        )


class Server:
    """Serves both transports on one port."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    async def start(self, certificate: str) -> int:
        """Listen on a free port of loopback; returns it."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        application = web.Application(client_max_size=REQUEST_BYTES)
        application.router.add_get(PATH, self._websocket)
        application.router.add_post(PATH, self._sse)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
        port: int = runner.addresses[0][1]
        return port

    async def _websocket(self, request: web.Request) -> web.WebSocketResponse:
        answers = web.WebSocketResponse(compress=False, max_msg_size=REQUEST_BYTES)
        await answers.prepare(request)
        assert request.transport is not None
        async for message in answers:
            if message.type is not WSMsgType.TEXT:
                break
            asked = json.loads(message.data)
            if asked.get("type") == "response.create":
                answer = Answer(asked, next(self._numbers), frame)
                await answer.write(request.transport)
        return answers

    async def _sse(self, request: web.Request) -> web.StreamResponse:
        asked = json.loads(await request.read())
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        assert request.transport is not None
        # written past aiohttp, a chunk an event: the client's cost must not depend on our pace
        await Answer(asked, next(self._numbers), named_sse).write(request.transport)
        await response.write_eof()
        return response


async def serve(certificate: str) -> None:
    """Serve until stdin closes."""
    port = await Server().start(certificate)

    async def answer(question: dict[str, Any]) -> dict[str, Any]:
        return {}

    await answer_questions({"port": port}, answer)


def main() -> None:
    """Serve as a process."""
    asyncio.run(serve(sys.argv[1]))


if __name__ == "__main__":
    main()
