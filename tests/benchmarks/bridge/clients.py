"""All clients, in a process of their own: ``python -m tests.benchmarks.bridge.clients``.

What it is asked is a method of `Clients`.
"""

from __future__ import annotations

import asyncio
import base64
import functools
import itertools
import json
import os
import re
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

from tests.benchmarks.bridge.provider import DIALECTS, Dialect, body_of
from tests.benchmarks.worker import answer_questions
from tui.errors import DuettoError

ANSWER_S = 30.0
"""Nothing that a client waits for takes longer."""
_DELTA = b'"response.output_text.delta"'
_ENDS = (b'"response.completed"', b'"response.incomplete"')
_FAILURES = (b'"response.failed"', b'"type":"error"')
_ID = re.compile(rb'"id":"(resp_\w+)"')


class Wire(asyncio.Protocol):
    """One connection of a client, one answer at a time."""

    def __init__(self, marker: bytes, ends: tuple[bytes, ...]) -> None:
        self._marker, self._ends = marker, ends
        self._tail = b""
        self.tokens = 0
        self.first_s = 0.0
        """`time.perf_counter` of the first token."""
        self.last_s = 0.0
        self.stamps: list[tuple[float, int]] = []
        """When so many tokens were there."""
        self.response_id = b""
        self._first = asyncio.Event()
        self._over = asyncio.Event()
        self.failure = ""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Count what came; a marker may be cut between two reads."""
        whole = self._tail + data
        count = whole.count(self._marker) - self._tail.count(self._marker)
        if count:
            now_s = time.perf_counter()
            self.first_s = self.first_s or now_s
            self.tokens += count
            self.stamps.append((now_s, self.tokens))
            self._first.set()
        if not self.response_id and (named := _ID.search(whole)):
            self.response_id = named[1]
        if any(failure in whole for failure in _FAILURES):
            self.failure = whole[-600:].decode("utf-8", "replace")
            self._end()
        elif any(end in whole for end in self._ends):
            self._end()
            whole = b""
        self._tail = whole[-64:]

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        if not self._over.is_set():
            self.failure = self.failure or "the connection was lost"
            self._end()

    def begin(self, message: bytes) -> float:
        """Send a request; returns when."""
        assert self.transport is not None
        self.tokens, self.first_s, self.stamps, self._tail = 0, 0.0, [], b""
        self.response_id = b""
        self._first.clear()
        self._over.clear()
        sent_s = time.perf_counter()
        self.transport.write(message)
        return sent_s

    async def first(self) -> None:
        """Wait for the first token. Raises DuettoError: there will be none."""
        await self._wait(self._first)

    async def over(self) -> None:
        """Wait for the answer's end. Raises DuettoError: it failed."""
        await self._wait(self._over)

    async def _wait(self, event: asyncio.Event) -> None:
        try:
            async with asyncio.timeout(ANSWER_S):
                await event.wait()
        except TimeoutError:
            raise DuettoError(f"An answer did not come within {ANSWER_S:.0f} s.") from None
        if self.failure:
            raise DuettoError(f"An answer failed: {self.failure}")

    def _end(self) -> None:
        self.last_s = time.perf_counter()
        self._first.set()
        self._over.set()


async def dial_provider(kind: str, port: int) -> Wire:
    """A connection to the provider itself."""
    dialect = DIALECTS[kind]
    loop = asyncio.get_running_loop()
    _, wire = await loop.create_connection(
        lambda: Wire(dialect.marker, (b"0\r\n\r\n",)), "127.0.0.1", port
    )
    return wire


def direct_request(kind: str, model: str) -> bytes:
    """A request to the provider, as bytes of HTTP."""
    dialect: Dialect = DIALECTS[kind]
    body = body_of(kind, model)
    head = f"POST {dialect.path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def dial_bridge(url: str, token: str) -> Wire:
    """A WebSocket of the bridge, open. Raises DuettoError: it was refused."""
    parts = urlsplit(url)
    loop = asyncio.get_running_loop()
    port = parts.port or 80
    opened: asyncio.Future[bytes] = loop.create_future()
    _, wire = await loop.create_connection(lambda: _Opening(opened), "127.0.0.1", port)
    key = base64.b64encode(os.urandom(16)).decode()
    head = (
        f"GET {parts.path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
        f"Authorization: Bearer {token}\r\n\r\n"
    )
    assert wire.transport is not None
    wire.transport.write(head.encode())
    answer = await asyncio.wait_for(opened, ANSWER_S)
    if b" 101 " not in answer.partition(b"\r\n")[0]:
        raise DuettoError(f"The bridge refused a socket: {answer[:200]!r}.")
    return wire


def created(model: str) -> bytes:
    """A request to the bridge, as a frame."""
    item = {"type": "message", "role": "user"}
    said = [{**item, "content": [{"type": "input_text", "text": "hi"}]}]
    return text_frame(
        json.dumps({"type": "response.create", "model": model, "store": False, "input": said})
    )


def interrupt(response_id: bytes) -> bytes:
    """An interrupt, as a frame."""
    words = {"type": "response.interrupt", "response_id": response_id.decode()}
    return text_frame(json.dumps({**words, "mode": "discard_partial_items"}))


def text_frame(text: str) -> bytes:
    """A client's text frame, masked with zeros: the same bytes (RFC 6455, section 5.2)."""
    data = text.encode()
    size = len(data)
    head = bytes([0x80 | size]) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
    return b"\x81" + head + b"\0\0\0\0" + data


class _Opening(Wire):
    """A socket whose upgrade is to be answered first."""

    def __init__(self, opened: asyncio.Future[bytes]) -> None:
        super().__init__(_DELTA, _ENDS)
        self._opened = opened

    def data_received(self, data: bytes) -> None:
        """The first read is the upgrade's answer."""
        if self._opened.done():
            super().data_received(data)
        else:
            self._opened.set_result(data)


_AT_ONCE = 50
"""Sockets that are dialled at a time."""


class Clients:
    """Connections to the provider and to the bridge."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._idle: list[Wire] = []
        self._streams: list[Wire] = []

    async def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """A question's ``do`` is a method's name without its underscore, the rest its words."""
        did: dict[str, Any] = await getattr(self, f"_{question.pop('do')}")(**question)
        return did

    async def _turns(
        self, kind: str, port: int, url: str, token: str, count: int
    ) -> dict[str, Any]:
        """Times to the first token in ms, direct and through the bridge, taken in turn."""
        direct, through = await dial_provider(kind, port), await dial_bridge(url, token)
        times: dict[str, list[float]] = {"direct": [], "through": []}
        for _ in range(count):
            model = f"1-0-t{next(self._numbers)}"
            for name, wire, message in (
                ("direct", direct, direct_request(kind, model)),
                ("through", through, created(model)),
            ):
                sent_s = wire.begin(message)
                await wire.over()
                times[name].append((wire.first_s - sent_s) * 1000)
                await asyncio.sleep(0.002)
        _close(direct, through)
        return times

    async def _burst(
        self, kind: str, port: int, url: str, token: str, tokens: int
    ) -> dict[str, Any]:
        """Our processor time of one answer, direct and through the bridge."""
        model = f"{tokens}-0-b{next(self._numbers)}"
        direct, through = await dial_provider(kind, port), await dial_bridge(url, token)
        spent: dict[str, Any] = {}
        for name, wire, message in (
            ("direct", direct, direct_request(kind, model)),
            ("through", through, created(model)),
        ):
            before_s = time.process_time()
            wire.begin(message)
            await wire.over()
            spent[name] = time.process_time() - before_s
            spent[f"{name}_tokens"] = wire.tokens
        _close(direct, through)
        return spent

    async def _idle_too(self, url: str, token: str, count: int) -> dict[str, Any]:
        """Open sockets that ask nothing."""
        self._idle += await _dialled(url, token, count)
        return {"open": len(self._idle)}

    async def _begin(
        self, url: str, token: str, count: int, tokens: int, rate: int
    ) -> dict[str, Any]:
        """Open streams, each on a socket of its own, begun evenly over one token's time."""
        asked = [(wire, created) for wire in await _dialled(url, token, count)]
        return await self._stream(asked, tokens, rate)

    async def _begin_directly(
        self, kind: str, port: int, count: int, tokens: int, rate: int
    ) -> dict[str, Any]:
        """The same without the bridge: what this machine makes of such a pace."""
        ask = functools.partial(direct_request, kind)
        asked = [(await dial_provider(kind, port), ask) for _ in range(count)]
        return await self._stream(asked, tokens, rate)

    async def _stream(
        self, asked: Sequence[tuple[Wire, Callable[[str], bytes]]], tokens: int, rate: int
    ) -> dict[str, Any]:
        self._streams = [wire for wire, _ in asked]
        for wire, ask in asked:
            wire.begin(ask(f"{tokens}-{rate}-s{next(self._numbers)}"))
            await asyncio.sleep(1 / rate / len(asked))
        for wire in self._streams:
            await wire.first()
        return {}

    async def _interrupts(self, url: str, token: str, count: int, rate: int) -> dict[str, Any]:
        """Interrupt as many streams in their midst, one behind the other; when, by tag."""
        (wire,) = await _dialled(url, token, 1)
        sent: dict[str, float] = {}
        for _ in range(count):
            tag = f"i{next(self._numbers)}"
            wire.begin(created(f"100000-{rate}-{tag}"))
            await wire.first()
            await asyncio.sleep(0.02)
            assert wire.transport is not None
            sent[tag] = time.perf_counter()
            wire.transport.write(interrupt(wire.response_id))
            await wire.over()
        _close(wire)
        return {"sent_s": sent}

    async def _finish(self, tokens: int, rate: int) -> dict[str, Any]:
        """Wait for the streams' ends: how late their tokens were, in ms, and how many came."""
        late: list[float] = []
        for wire in self._streams:
            await wire.over()
            # The earliest token is the clock: how much later than at their pace the others came.
            start_s = min(at_s - (count - 1) / rate for at_s, count in wire.stamps)
            late += [(at_s - start_s - (count - 1) / rate) * 1000 for at_s, count in wire.stamps]
        came = sum(wire.tokens for wire in self._streams)
        _close(*self._streams)
        late.sort()
        wanted = tokens * len(self._streams)
        return {"tokens": came, "wanted": wanted, "p95": late[int(len(late) * 0.95)]}


async def _dialled(url: str, token: str, count: int) -> list[Wire]:
    wires: list[Wire] = []
    for first in range(0, count, _AT_ONCE):
        some = range(min(_AT_ONCE, count - first))
        wires += await asyncio.gather(*(dial_bridge(url, token) for _ in some))
    return wires


def _close(*wires: Wire) -> None:
    for wire in wires:
        if wire.transport is not None:
            wire.transport.abort()


async def serve() -> None:
    """Answer until stdin closes."""
    await answer_questions({"pid": os.getpid()}, Clients().answer)


if __name__ == "__main__":
    asyncio.run(serve())
