"""The replay server's answers as bytes: for Responses (WebSocket and SSE) and Chat Completions."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from aiohttp import WSMsgType, web

from tests.benchmarks.screen.replay_text import EDITS, Kind, Wanted, pieces, wanted
from tests.benchmarks.worker import answer_questions

Event = Mapping[str, Any]
MODEL = "replay"
INPUT_TOKENS = 100
"""What every request is said to hold."""
_TEXT_DELTA = "response.output_text.delta"
_INPUT_DELTA = "response.custom_tool_call_input.delta"


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of an answer, made into bytes when they are sent: 16 long answers at once would
    keep a server for seconds before the first one."""

    texts: Sequence[str]
    encode: Callable[[str], bytes]

    def __len__(self) -> int:
        return len(self.texts)

    def between(self, first: int, last: int) -> list[bytes]:
        """Those from ``first`` to before ``last``."""
        return [self.encode(text) for text in self.texts[first:last]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent: at once, then a token at a time, then at once."""

    head: bytes
    tokens: Tokens
    tail: bytes
    stopped: bytes
    """What ends it where it was interrupted."""


def compact(event: Event) -> bytes:
    """JSON without spaces, as real servers send it."""
    return json.dumps(event, separators=(",", ":")).encode()


def frame(event: Event) -> bytes:
    """An event as WebSocket text frame (RFC 6455, section 5.2)."""
    text = compact(event)
    size = len(text)
    if size < 126:
        return b"\x81" + bytes([size]) + text
    if size < 1 << 16:
        return b"\x81\x7e" + size.to_bytes(2, "big") + text
    return b"\x81\x7f" + size.to_bytes(8, "big") + text


def named_sse(event: Event) -> bytes:
    """A Server-Sent Event with its name, in an HTTP chunk of its own."""
    return _chunk(f"event: {event['type']}\n".encode() + b"data: " + compact(event) + b"\n\n")


def bare_sse(event: Event) -> bytes:
    """The same without a name."""
    return _chunk(b"data: " + compact(event) + b"\n\n")


def _chunk(text: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(text), text)


def response(
    tokens: Sequence[str], number: int, kind: Kind, encode: Callable[[Event], bytes]
) -> Answer:
    """An answer of the Responses API; ``number`` makes its ids."""
    parts = _Call(number) if kind in EDITS else _Message(number)
    base = {"id": f"resp_{number:032x}", "object": "response", "model": MODEL, "metadata": {}}
    running = {**base, "status": "in_progress", "output": [], "usage": None}
    head = [
        {"type": "response.created", "response": running},
        {"type": "response.in_progress", "response": running},
        *parts.head(),
    ]
    deltas = Tokens(tokens, lambda token: encode({**parts.delta, "delta": token}))
    whole = "".join(tokens)
    item = parts.item("completed", whole)
    ended = {**base, "status": "completed", "output": [item], "usage": usage(len(tokens))}
    tail = [*parts.tail(whole), {"type": "response.completed", "response": ended}]
    reason = {"incomplete_details": {"reason": "interrupted"}}
    cut = {**base, "status": "incomplete", "output": [], "usage": usage(1), **reason}
    stopped = encode({"type": "response.incomplete", "response": cut})
    return Answer(b"".join(map(encode, head)), deltas, b"".join(map(encode, tail)), stopped)


def usage(tokens: int) -> dict[str, Any]:
    """What an answer of so many tokens has used."""
    return {
        "input_tokens": INPUT_TOKENS,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": INPUT_TOKENS + tokens,
    }


def _chat_usage(tokens: int) -> dict[str, int]:
    total = INPUT_TOKENS + tokens
    return {"prompt_tokens": INPUT_TOKENS, "completion_tokens": tokens, "total_tokens": total}


def warm_up(number: int) -> bytes:
    """The answer to a request that generates nothing, for a WebSocket."""
    base = {"id": f"resp_{number:032x}", "object": "response", "model": MODEL, "output": []}
    done = {**base, "status": "completed", "usage": usage(0)}
    created = frame({"type": "response.created", "response": {**base, "status": "in_progress"}})
    return created + frame({"type": "response.completed", "response": done})


class _Message:
    """An answer that is text."""

    def __init__(self, number: int) -> None:
        self._id = f"msg_{number:032x}"
        self._place = {"item_id": self._id, "output_index": 0, "content_index": 0}
        self.delta: dict[str, Any] = {"type": _TEXT_DELTA, **self._place, "logprobs": []}

    def item(self, status: str, text: str) -> dict[str, Any]:
        content = [self._part(text)] if status == "completed" else []
        kind = {"id": self._id, "type": "message", "status": status, "role": "assistant"}
        return {**kind, "content": content}

    def head(self) -> list[Event]:
        item = self.item("in_progress", "")
        return [
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.content_part.added", **self._place, "part": self._part("")},
        ]

    def tail(self, text: str) -> list[Event]:
        item = self.item("completed", text)
        return [
            {"type": "response.output_text.done", **self._place, "text": text},
            {"type": "response.content_part.done", **self._place, "part": self._part(text)},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
        ]

    def _part(self, text: str) -> dict[str, Any]:
        return {"type": "output_text", "text": text, "annotations": []}


class _Call:
    """An answer that is a patch."""

    def __init__(self, number: int) -> None:
        self._id = f"ctc_{number:032x}"
        self._call_id = f"call_{number:024x}"
        self._place = {"item_id": self._id, "output_index": 0}
        self.delta: dict[str, Any] = {"type": _INPUT_DELTA, **self._place}

    def item(self, status: str, text: str) -> dict[str, Any]:
        kind = {"id": self._id, "type": "custom_tool_call", "status": status}
        return {**kind, "call_id": self._call_id, "name": "apply_patch", "input": text}

    def head(self) -> list[Event]:
        item = self.item("in_progress", "")
        return [{"type": "response.output_item.added", "output_index": 0, "item": item}]

    def tail(self, text: str) -> list[Event]:
        item = self.item("completed", text)
        return [
            {"type": "response.custom_tool_call_input.done", **self._place, "input": text},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
        ]


def chat(tokens: Sequence[str], number: int) -> Answer:
    """An answer of Chat Completions, streamed."""
    names = {"id": f"chatcmpl-{number:024x}", "object": "chat.completion.chunk"}
    base: dict[str, Any] = {**names, "created": 1, "model": MODEL}

    def chunk(delta: Event, why: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": why}
        return bare_sse({**base, "choices": [choice]})

    used = bare_sse({**base, "choices": [], "usage": _chat_usage(len(tokens))})
    done = chunk({}, "stop") + used + _chunk(b"data: [DONE]\n\n")
    head = chunk({"role": "assistant", "content": ""})
    return Answer(head, Tokens(tokens, lambda token: chunk({"content": token})), done, done)


def chat_at_once(text: str) -> Event:
    """The same in one piece."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    base = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": MODEL}
    return {**base, "choices": [choice], "usage": _chat_usage(1)}


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
    late_p95_s: float | None = None
    """How far behind their times the tokens were sent; at the end."""

    def stop(self, by: str) -> None:
        """The client wants no more of it."""
        if not self.ended and self.stopped_s is None:
            self.stopped_s, self.stopped_by = time.monotonic(), by


class Ledger:
    """Which answers there were, by their number."""

    def __init__(self) -> None:
        self.sent: dict[int, Sent] = {}
        self.requests = itertools.count(1)
        self.answered = 0
        """How many requests were answered to their end."""
        self._ended: dict[int, asyncio.Event] = {}

    def begin(self, protocol: str, request: str) -> tuple[Wanted, Sent]:
        """The answer that a request gets: a go-word counts once, but for dense ones."""
        sent, asked = Sent(protocol, time.monotonic()), wanted(request)
        if asked is None or (asked.number in self.sent and asked.kind != "dense"):
            return _PLAIN, sent
        self.sent.setdefault(asked.number, sent)
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


@dataclass(slots=True, eq=False)
class _Stream:
    """An answer on its way."""

    transport: asyncio.WriteTransport
    tokens: Tokens
    rate: int
    sent: Sent
    started_s: float
    over: asyncio.Event
    late_s: list[float]
    """How far behind its time the first token of each write was."""

    def take(self, now_s: float) -> Sequence[bytes]:
        """What is due, and not more than the client reads."""
        due = min(len(self.tokens), int((now_s - self.started_s) * self.rate) + 1)
        if due <= self.sent.tokens or self.transport.get_write_buffer_size() >= UNSENT_BYTES:
            return ()
        self.late_s.append(now_s - self.due_s)
        taken = self.tokens.between(self.sent.tokens, due)
        self.sent.tokens = due
        return taken

    @property
    def due_s(self) -> float:
        """When the next token is."""
        return self.started_s + self.sent.tokens / self.rate

    @property
    def ends(self) -> bool:
        """All was sent, or no more is wanted."""
        sent = self.sent
        return sent.tokens >= len(self.tokens) or bool(sent.stopped_s) or self.is_closing

    @property
    def is_closing(self) -> bool:
        """The client is gone."""
        return self.transport.is_closing()


_LEAST_SLEEP_S = 0.0005
"""Also where a client does not read what is due."""


class Pace:
    """Writes the tokens of all answers at their rates: one write holds what 1 ms makes due.

    That is one task: to wake up for each token of 16 answers takes a whole processor.
    """

    def __init__(self) -> None:
        self._streams: list[_Stream] = []
        self._task: asyncio.Task[None] | None = None

    async def play(
        self, transport: asyncio.WriteTransport, answer: Answer, asked: Wanted, sent: Sent
    ) -> None:
        """Send the tokens of an answer; returns at their end."""
        now_s, over = time.monotonic(), asyncio.Event()
        stream = _Stream(transport, answer.tokens, asked.rate, sent, now_s, over, [])
        self._streams.append(stream)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        await over.wait()
        late_s = sorted(stream.late_s)
        sent.late_p95_s = late_s[int(0.95 * len(late_s))] if late_s else None

    async def _run(self) -> None:
        while self._streams:
            now_s, written = time.monotonic(), dict[asyncio.WriteTransport, list[bytes]]()
            moved = list[_Stream]()
            for stream in self._streams:
                if not stream.ends and (taken := stream.take(now_s)):
                    written.setdefault(stream.transport, []).extend(taken)
                    moved.append(stream)
            for transport, parts in written.items():
                transport.write(b"".join(parts))
            last_s = time.monotonic()
            for stream in moved:
                stream.sent.last_s = last_s
                stream.sent.first_s = stream.sent.first_s or last_s
            for stream in [one for one in self._streams if one.ends]:
                self._streams.remove(stream)
                stream.over.set()
            next_s = min((one.due_s for one in self._streams), default=0.0)
            await asyncio.sleep(max(_LEAST_SLEEP_S, next_s - time.monotonic()))


class Server:
    """Serves all protocols on one port."""

    def __init__(self) -> None:
        self.documents = Ledger()
        self._pace = Pace()
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
        running: dict[str, Sent] = {}
        async for message in socket:
            if message.type is not WSMsgType.TEXT:
                break
            heard = json.loads(message.data)
            if heard.get("type") == "response.create":
                running |= self._begin(request.transport, heard, message.data)
            elif running:
                sent = running.get(heard.get("response_id"), [*running.values()][-1])
                sent.stop(heard.get("type", ""))
        for sent in running.values():
            sent.stop("close")
        return socket

    def _begin(
        self, transport: asyncio.WriteTransport, heard: dict[str, Any], text: str
    ) -> dict[str, Sent]:
        """Begin to answer a request of a WebSocket; what is sent of it, by its id."""
        number = next(self.documents.requests)
        if heard.get("generate") is False:
            transport.write(warm_up(number))
            return {}
        asked, sent = self.documents.begin("websocket", text)
        encode: Callable[[Event], bytes] = frame
        if (lane := heard.get("stream_id")) is not None:
            encode = partial(_on_lane, str(lane))
        answer = response(tokens_of(asked), number, asked.kind, encode)
        task = asyncio.create_task(self._play(transport, answer, asked, sent))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return {f"resp_{number:032x}": sent}

    async def _play(
        self,
        transport: asyncio.WriteTransport,
        answer: Answer,
        asked: Wanted,
        sent: Sent,
    ) -> None:
        transport.write(answer.head)
        await self._pace.play(transport, answer, asked, sent)
        if not transport.is_closing():
            whole = sent.stopped_s is None or sent.tokens == len(answer.tokens)
            transport.write(answer.tail if whole else answer.stopped)
        else:
            sent.stop("close")
        self.documents.end(sent)

    async def _responses(self, request: web.Request) -> web.StreamResponse:
        asked, sent = self.documents.begin("sse", await request.text())
        number = next(self.documents.requests)
        answer = response(tokens_of(asked), number, asked.kind, named_sse)
        return await self._stream(request, answer, asked, sent)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        text = await request.text()
        if not json.loads(text).get("stream"):
            return web.json_response(chat_at_once(_PLAIN_TEXT[0]))
        asked, sent = self.documents.begin("chat", text)
        answer = chat(tokens_of(asked), next(self.documents.requests))
        return await self._stream(request, answer, asked, sent)

    async def _stream(
        self, request: web.Request, answer: Answer, asked: Wanted, sent: Sent
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
                sent.stop("close")
                self.documents.end(sent)
        return response


def _on_lane(lane: str, event: Event) -> bytes:
    return frame({**event, "stream_id": lane})


async def _models(request: web.Request) -> web.Response:
    model = {"id": MODEL, "object": "model", "created": 1, "owned_by": "bench"}
    return web.json_response({"object": "list", "data": [model]})


async def _main() -> None:
    server = Server()
    await answer_questions({"port": await server.start()}, server.documents.answer)


if __name__ == "__main__":
    asyncio.run(_main())
