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
from typing import Any

from tests.benchmarks.bridge.dialects import DIALECTS, Dialect
from tests.benchmarks.transport.worker import answer_questions

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
