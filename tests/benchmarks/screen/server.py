"""The replay server: answers at an exact rate, and says when it sent what.

Run as ``python -m tests.benchmarks.screen.server``; it listens on a free port of loopback, which it
prints, and ends with its stdin. It speaks Responses by WebSocket and by SSE, and Chat Completions
by SSE. A prompt with a go-word (`replay_text`) gets that answer, once; every other a few lines.
Times are CLOCK_MONOTONIC, which all processes of a machine read alike.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from aiohttp import WSMsgType, web

from tests.benchmarks.screen import replay_events as events
from tests.benchmarks.screen.replay_text import Wanted, pieces, wanted
from tests.benchmarks.transport.worker import answer_questions

REQUEST_BYTES = 256 << 20
UNSENT_BYTES = 4 << 20
"""With more than this unread the client does not keep up, and the server waits for it."""
_PLAIN = Wanted(1000, 1, 0)
_PLAIN_TEXT = (
    "The `buffer` keeps its **cursor** now.\n\n```python\ncursor = self.buffer.cursor\n```\n\nOK",
)


@dataclass(slots=True)
class Sent:
    """What was sent of one answer, and when: seconds of CLOCK_MONOTONIC."""

    protocol: str
    asked_s: float
    """When its request had come."""
    first_s: float | None = None
    """The first token's."""
    last_s: float | None = None
    tokens: int = 0
    stopped_s: float | None = None
    """When the client was heard to stop it."""
    stopped_by: str = ""
    """The type of the event that said so, or how the connection ended."""
    ended: bool = False


class Ledger:
    """Which answers there were, by their number."""

    def __init__(self) -> None:
        self.sent: dict[int, Sent] = {}
        self.requests = itertools.count(1)
        self.answered = 0
        """How many requests were answered to their end."""
        self._ended: dict[int, asyncio.Event] = {}

    def begin(self, protocol: str, request: str) -> tuple[Wanted, Sent]:
        """The answer that a request gets: a go-word counts once."""
        sent, asked = Sent(protocol, time.monotonic()), wanted(request)
        if asked is None or asked.number in self.sent:
            return _PLAIN, sent
        self.sent[asked.number] = sent
        return asked, sent

    def end(self, sent: Sent) -> None:
        """It is over, in whichever way."""
        self.answered += 1
        sent.ended = True
        for number, known in self.sent.items():
            if known is sent:
                self._event(number).set()

    async def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """``number`` of an answer, ``within_s``: what was sent of it once it ended, or so far."""
        number = question["number"]
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._event(number).wait(), question["within_s"])
        known = self.sent.get(number)
        sent = asdict(known) if known is not None else None
        return {"sent": sent, "answered": self.answered}

    def _event(self, number: int) -> asyncio.Event:
        return self._ended.setdefault(number, asyncio.Event())


def tokens_of(asked: Wanted) -> tuple[str, ...]:
    """The text of an answer."""
    return _PLAIN_TEXT if asked is _PLAIN else pieces(asked)


async def paced(
    transport: asyncio.WriteTransport, answer: events.Answer, asked: Wanted, sent: Sent
) -> None:
    """Write the tokens at their rate: one write holds what the 1 ms of the timer makes due."""
    tokens, rate = answer.tokens, asked.rate
    started = time.monotonic()
    while sent.tokens < len(tokens) and not (sent.stopped_s or transport.is_closing()):
        due = min(len(tokens), int((time.monotonic() - started) * rate) + 1)
        if due > sent.tokens and transport.get_write_buffer_size() < UNSENT_BYTES:
            transport.write(b"".join(tokens[sent.tokens : due]))
            sent.last_s = time.monotonic()
            sent.first_s = sent.first_s or sent.last_s
            sent.tokens = due
        await asyncio.sleep(max(0.0, started + sent.tokens / rate - time.monotonic()))


class Server:
    """Serves all protocols on one port."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> int:
        """Listen on a free port of loopback; returns it."""
        application = web.Application(client_max_size=REQUEST_BYTES)
        for prefix in ("/v1", ""):
            application.router.add_get(f"{prefix}/responses", self._websocket)
            application.router.add_post(f"{prefix}/responses", self._responses)
            application.router.add_post(f"{prefix}/chat/completions", self._chat)
            application.router.add_get(f"{prefix}/models", _models)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port: int = runner.addresses[0][1]
        return port

    async def _websocket(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(compress=False, max_msg_size=REQUEST_BYTES)
        await socket.prepare(request)
        assert request.transport is not None
        current: Sent | None = None
        async for message in socket:
            if message.type is not WSMsgType.TEXT:
                break
            heard = json.loads(message.data)
            if heard.get("type") == "response.create":
                current = self._begin(request.transport, heard, message.data)
            elif current is not None and current.stopped_s is None:
                current.stopped_s, current.stopped_by = time.monotonic(), heard.get("type", "")
        if current is not None and not current.ended and current.stopped_s is None:
            current.stopped_s, current.stopped_by = time.monotonic(), "close"
        return socket

    def _begin(
        self, transport: asyncio.WriteTransport, heard: dict[str, Any], text: str
    ) -> Sent | None:
        """Begin to answer a request of a WebSocket."""
        number = next(self.ledger.requests)
        if heard.get("generate") is False:
            transport.write(events.warm_up(number))
            return None
        asked, sent = self.ledger.begin("websocket", text)
        encode: Callable[[events.Event], bytes] = events.frame
        if (lane := heard.get("stream_id")) is not None:
            encode = partial(_on_lane, str(lane))
        answer = events.response(tokens_of(asked), number, asked.kind, encode)
        task = asyncio.create_task(self._play(transport, answer, asked, sent))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return sent

    async def _play(
        self,
        transport: asyncio.WriteTransport,
        answer: events.Answer,
        asked: Wanted,
        sent: Sent,
    ) -> None:
        transport.write(answer.head)
        await paced(transport, answer, asked, sent)
        if not transport.is_closing():
            whole = sent.stopped_s is None or sent.tokens == len(answer.tokens)
            transport.write(answer.tail if whole else answer.stopped)
        elif sent.stopped_s is None:
            sent.stopped_s, sent.stopped_by = time.monotonic(), "close"
        self.ledger.end(sent)

    async def _responses(self, request: web.Request) -> web.StreamResponse:
        asked, sent = self.ledger.begin("sse", await request.text())
        number = next(self.ledger.requests)
        answer = events.response(tokens_of(asked), number, asked.kind, events.named_sse)
        return await self._stream(request, answer, asked, sent)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        text = await request.text()
        if not json.loads(text).get("stream"):
            return web.json_response(events.chat_at_once(_PLAIN_TEXT[0]))
        asked, sent = self.ledger.begin("chat", text)
        answer = events.chat(tokens_of(asked), next(self.ledger.requests))
        return await self._stream(request, answer, asked, sent)

    async def _stream(
        self, request: web.Request, answer: events.Answer, asked: Wanted, sent: Sent
    ) -> web.StreamResponse:
        """Answer by SSE."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        assert request.transport is not None
        try:
            # past aiohttp, in HTTP chunks that `replay_events` made: our pace costs as little
            await self._play(request.transport, answer, asked, sent)
            await response.write_eof()
        finally:
            if not sent.ended:
                sent.stopped_s, sent.stopped_by = time.monotonic(), "close"
                self.ledger.end(sent)
        return response


def _on_lane(lane: str, event: events.Event) -> bytes:
    return events.frame({**event, "stream_id": lane})


async def _models(request: web.Request) -> web.Response:
    model = {"id": events.MODEL, "object": "model", "created": 1, "owned_by": "bench"}
    return web.json_response({"object": "list", "data": [model]})


async def _main() -> None:
    server = Server()
    await answer_questions({"port": await server.start()}, server.ledger.answer)


if __name__ == "__main__":
    asyncio.run(_main())
