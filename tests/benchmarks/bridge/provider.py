"""The provider's stand-in: a plain HTTP server that answers at a pace that the model's name says.

Run as ``python -m tests.benchmarks.bridge.provider``. A model is named ``TOKENS-RATE-TAG``; rate 0
is without pace. It says on being asked when the requests of a tag were closed on it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.benchmarks.worker import answer_questions

TOKEN = "word "
_ITEM = "msg_0000000000000000000000000000abcd"


@dataclass(frozen=True, slots=True)
class Dialect:
    """One kind's answers, as bytes ready to be written: each event is an HTTP chunk."""

    path: str
    beginning: bytes
    token: bytes
    marker: bytes
    """What only a token's event holds: who reads counts it."""
    ends: tuple[bytes, bytes]
    """Before and behind the number of tokens."""

    def end(self, tokens: int) -> bytes:
        """The answer's end, which says how many tokens there were, and the body's."""
        before, behind = self.ends
        return _chunk(before + str(tokens).encode() + behind) + b"0\r\n\r\n"


def _chunk(text: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(text), text)


def _sse(event: Mapping[str, Any], *, named: bool = True) -> bytes:
    name = f"event: {event['type']}\n" if named else ""
    return f"{name}data: {json.dumps(event, separators=(',', ':'))}\n\n".encode()


def _ends(text: bytes) -> tuple[bytes, bytes]:
    before, _, behind = text.partition(b"999999")
    return before, behind


def _responses() -> Dialect:
    response = {"id": "resp_bench", "object": "response", "model": "bench", "output": []}
    item = {"id": _ITEM, "type": "message", "role": "assistant", "content": []}
    part = {"type": "output_text", "text": "", "annotations": []}
    at = {"item_id": _ITEM, "output_index": 0, "content_index": 0}
    kind = "response.output_text.delta"
    done = {**item, "status": "completed", "content": [part]}
    usage = {"input_tokens": 1, "output_tokens": 999999, "total_tokens": 1}
    finished = {**response, "status": "completed", "output": [done], "usage": usage}
    return Dialect(
        "/v1/responses",
        _chunk(
            _sse({"type": "response.created", "response": response})
            + _sse({"type": "response.output_item.added", "output_index": 0, "item": item})
            + _sse({"type": "response.content_part.added", **at, "part": part})
        ),
        _chunk(_sse({"type": kind, "sequence_number": 7, **at, "delta": TOKEN, "logprobs": []})),
        b'"delta":"',
        _ends(
            _sse({"type": "response.output_item.done", "output_index": 0, "item": done})
            + _sse({"type": "response.completed", "response": finished})
        ),
    )


def _chat() -> Dialect:
    chunk = {"id": "c-bench", "object": "chat.completion.chunk", "created": 1, "model": "bench"}

    def said(delta: Mapping[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return _sse({**chunk, "choices": [choice]}, named=False)

    usage = {"prompt_tokens": 1, "completion_tokens": 999999, "total_tokens": 1}
    return Dialect(
        "/v1/chat/completions",
        _chunk(said({"role": "assistant", "content": ""})),
        _chunk(said({"content": TOKEN})),
        b'"content":"w',
        _ends(
            said({}, "stop")
            + _sse({**chunk, "choices": [], "usage": usage}, named=False)
            + b"data: [DONE]\n\n"
        ),
    )


def _messages() -> Dialect:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": "msg_b",
        "type": "message",
        "role": "assistant",
        "model": "bench",
    }
    message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    delta = {"type": "text_delta", "text": TOKEN}
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    return Dialect(
        "/v1/messages",
        _chunk(
            _sse({"type": "message_start", "message": message})
            + _sse(
                {
                    "type": "content_block_start",
                    "index": 0,
                    "content_block": {"type": "text", "text": ""},
                }
            )
        ),
        _chunk(_sse({"type": "content_block_delta", "index": 0, "delta": delta})),
        b'"text_delta"',
        _ends(
            _sse({"type": "content_block_stop", "index": 0})
            + _sse({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 999999}})
            + _sse({"type": "message_stop"})
        ),
    )


DIALECTS = {"openai-responses": _responses(), "openai-chat": _chat(), "anthropic": _messages()}
"""By the kind of endpoint that speaks it."""


_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_NONE = b"HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
_MODEL = re.compile(rb'"model"\s*:\s*"(\d+)-(\d+)-(\w+)"')
_LENGTH = re.compile(rb"\r\ncontent-length:\s*(\d+)", re.IGNORECASE)
_BURST = 200
"""Events of one write where there is no pace."""
_BY_PATH = {dialect.path.encode(): dialect for dialect in DIALECTS.values()}


class Provider:
    """What all connections share."""

    def __init__(self) -> None:
        self.closed_s: dict[str, float] = {}
        """Tag of a request that its client closed -> `time.perf_counter` then."""
        self.running = 0


class Connection(asyncio.Protocol):
    """One connection of a client, kept alive."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._buffer = bytearray()
        self._answering: asyncio.Task[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._tag = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """A request, or a part of one."""
        self._buffer += data
        at = self._buffer.find(b"\r\n\r\n")
        if at < 0:
            return
        head, rest = bytes(self._buffer[:at]), self._buffer[at + 4 :]
        told = _LENGTH.search(head)
        if told is not None:
            if len(rest) < int(told[1]):
                return
        elif head.startswith(b"POST") and not rest.endswith(b"0\r\n\r\n"):
            return  # a body in chunks
        self._buffer.clear()
        self._ask(head, bytes(rest))

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has closed it."""
        if self._answering is not None and not self._answering.done():
            self._provider.closed_s[self._tag] = time.perf_counter()
            self._answering.cancel()

    def eof_received(self) -> None:
        """The client has closed its half: that is how a cancelled request looks."""

    def pause_writing(self) -> None:
        """See `asyncio.Protocol`."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """See `asyncio.Protocol`."""
        self._writable.set()

    def _ask(self, head: bytes, body: bytes) -> None:
        dialect = _BY_PATH.get(head.split(b" ", 2)[1])
        model = _MODEL.search(body)
        if dialect is None or model is None:
            self._transport.write(_NONE)
            return
        self._tag = model[3].decode()
        work = self._answer(dialect, int(model[1]), int(model[2]))
        self._answering = asyncio.create_task(work)

    async def _answer(self, dialect: Dialect, tokens: int, rate: int) -> None:
        write = self._transport.write
        write(_HEAD + dialect.beginning)
        self._provider.running += 1
        try:
            if rate:
                await self._paced(dialect.token, tokens, rate)
            for first in range(0, 0 if rate else tokens, _BURST):
                write(dialect.token * min(_BURST, tokens - first))
                await self._writable.wait()
        finally:
            self._provider.running -= 1
        write(dialect.end(tokens))

    async def _paced(self, token: bytes, tokens: int, rate: int) -> None:
        """An event every 1/rate s, each in a write of its own."""
        started_s = time.perf_counter()
        for number in range(tokens):
            delay_s = started_s + number / rate - time.perf_counter()
            if delay_s > 0:
                await asyncio.sleep(delay_s)
            await self._writable.wait()
            self._transport.write(token)


async def serve() -> None:
    """Serve until stdin closes."""
    provider = Provider()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(provider), "127.0.0.1", 0, backlog=1024)

    async def answer(question: dict[str, Any]) -> dict[str, Any]:
        return {"closed_s": provider.closed_s, "running": provider.running}

    port = server.sockets[0].getsockname()[1]
    await answer_questions({"port": port, "pid": os.getpid()}, answer)


def body_of(kind: str, model: str) -> bytes:
    """A smallest request of a kind, for who asks directly."""
    said = [{"role": "user", "content": "hi"}]
    words: dict[str, Any] = {"model": model, "stream": True}
    words |= {"input": said} if kind == "openai-responses" else {"messages": said}
    return json.dumps(words).encode()


if __name__ == "__main__":
    asyncio.run(serve())
