"""The clients that are measured, in a process of their own.

SSE is read as a careful program with a plain HTTP library does it: aiohttp, line by line, with
``json.loads`` of each event. The WebSocket rows are duetto's own wire, from the socket to the
event that the engine gets.

Run as ``python -m tests.benchmarks.transport.clients``; `Clients.answer` says what can be asked.
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import aiohttp

from tests.benchmarks.transport.server import tokens
from tests.benchmarks.worker import answer_questions
from tui.core.wire.address import Address
from tui.core.wire.events import Completed, Delta, Event
from tui.effects.system import MonotonicClock
from tui.effects.wire.endpoint import Endpoint
from tui.errors import DuettoError

SSE_NEW = "sse-new"
"""A new HTTPS connection for every turn, the whole history in its body, the answer by SSE."""
SSE_KEPT = "sse-keepalive"
"""The same on one HTTPS connection that is kept."""
WS_FULL = "ws-full"
"""One WebSocket, the whole history in every turn."""
WS_INCREMENTAL = "ws-incremental"
"""One WebSocket, the parent's id and only the new items in every turn: what duetto does."""
MODEL = "bench"
NEW_ITEMS = [{"type": "function_call_output", "call_id": "call_1", "output": "x = 1\n" * 150}]
"""What is new in a turn: the output of a tool, 900 bytes."""

Request = dict[str, Any]


def history(size_kb: int) -> list[Request]:
    """A conversation of so many messages of 1,000 bytes each, as JSON."""
    return [_message() for _ in range(size_kb)]


def _message() -> Request:
    line = 'def f(x):\n    return "abcd"\n'
    bare = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ""}]}
    left = 1000 - len(json.dumps(bare, separators=(",", ":"))) - len(", ")
    text = line * (left // (len(json.dumps(line)) - 2))
    text += "." * (left - len(json.dumps(text)) + 2)
    return {**bare, "content": [{"type": "input_text", "text": text}]}


@dataclass(slots=True)
class Heard:
    """What a client has read of one answer."""

    first_s: float | None = None
    """`time.perf_counter` at its first text."""
    first: asyncio.Event = field(default_factory=asyncio.Event)
    """There is some, or there will be none."""
    chars: int = 0
    response_id: str = ""

    def begin(self) -> None:
        """The first text is there."""
        self.first_s = time.perf_counter()
        self.first.set()


class Client(Protocol):
    """One way to ask a model."""

    async def ask(self, request: Request, heard: Heard) -> None:
        """Send, and read the answer to its end."""

    async def close(self) -> None:
        """Close the connection."""


class SseClient:
    """HTTPS and Server-Sent Events by aiohttp."""

    def __init__(self, url: str, context: ssl.SSLContext, *, kept: bool) -> None:
        """``kept``: one connection for all turns."""
        self._url, self._context, self._kept = url, context, kept
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, request: Request, heard: Heard) -> None:
        """See `Client`."""
        session = self._session or aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self._context)
        )
        self._session = session
        body = json.dumps({**request, "stream": True}).encode()
        headers = {"Content-Type": "application/json"}
        async with session.post(self._url, data=body, headers=headers) as response:
            async for line in response.content:
                if not line.startswith(b"data: "):
                    continue
                event = json.loads(line[6:])
                if event["type"] == "response.output_text.delta":
                    heard.chars += len(event["delta"])
                    if heard.first_s is None:
                        heard.begin()
                elif event["type"] == "response.completed":
                    heard.response_id = event["response"]["id"]
        if not self._kept:
            await self.close()

    async def close(self) -> None:
        """See `Client`."""
        if self._session is not None:
            await self._session.close()
        self._session = None


class OwnWire:
    """Duetto's own wire; its certificates are those of SSL_CERT_FILE, as everywhere."""

    def __init__(self, url: str) -> None:
        async def address() -> Address:
            return Address(url)

        self._endpoint = Endpoint(MODEL, address, MonotonicClock())
        self._wire = self._endpoint.lane()
        self._wire.on_event, self._wire.on_state = self._event, self._state
        self._heard = Heard()
        self._done: asyncio.Future[None] | None = None

    async def ask(self, request: Request, heard: Heard) -> None:
        """See `Client`."""
        if self._wire.state != "open":
            await self._wire.open()
        self._heard, self._done = heard, asyncio.get_running_loop().create_future()
        self._wire.create(request)
        await self._done

    def _event(self, event: Event, now: float) -> None:
        if isinstance(event, Delta):
            self._heard.chars += len(event.delta)  # tokens that come at once are one
            if self._heard.first_s is None:
                self._heard.begin()
        elif isinstance(event, Completed) and self._done is not None:
            self._heard.response_id = event.response_id
            self._done.set_result(None)

    def _state(self, state: str, why: str) -> None:
        if state == "closed" and self._done is not None and not self._done.done():
            self._done.set_exception(DuettoError(f"The wire broke: {why}."))

    async def close(self) -> None:
        """See `Client`."""
        self._done = None
        await self._endpoint.close()


class Conversation:
    """Turns of one transport, one at a time."""

    def __init__(self, transport: str, client: Client, history_kb: int) -> None:
        self._client = client
        self._whole = {"model": MODEL, "store": False, "input": [*history(history_kb), *NEW_ITEMS]}
        self._incremental = transport == WS_INCREMENTAL
        self._parent = ""
        self._asking: asyncio.Task[None] | None = None
        self._ended_s = time.perf_counter()

    async def turn(self, idle_s: float, lasts_ms: int) -> dict[str, float]:
        """One turn after so much idle time: the figures of `Measurement.turns` that a client knows.

        If the answer lasts (``lasts_ms``), it goes on in the background from the first token.
        """
        await self._rest()
        await asyncio.sleep(max(0.0, self._ended_s + idle_s - time.perf_counter()))
        heard = Heard()
        started = time.perf_counter()
        idle_ms = (started - self._ended_s) * 1000
        self._asking = asyncio.create_task(self._ask(self._request(lasts_ms), heard))
        await (heard.first.wait() if lasts_ms else self._rest())
        if heard.first_s is None:
            await self._rest()
            raise DuettoError("The benchmark's server gave no text.")
        ttft_ms = (heard.first_s - started) * 1000
        return {"ttft_ms": ttft_ms, "idle_ms": idle_ms}

    async def close(self) -> None:
        """Close the connection."""
        await self._rest()
        await self._client.close()

    async def _ask(self, request: Request, heard: Heard) -> None:
        try:
            await self._client.ask(request, heard)
            self._parent = heard.response_id
        finally:
            heard.first.set()
            self._ended_s = time.perf_counter()

    async def _rest(self) -> None:
        """Wait for the end of the answer."""
        if self._asking is not None:
            await self._asking

    def _request(self, lasts_ms: int) -> Request:
        metadata = {"lasts_ms": str(lasts_ms)}
        if not (self._incremental and self._parent):
            return {**self._whole, "metadata": metadata}
        return {
            "model": MODEL,
            "store": False,
            "previous_response_id": self._parent,
            "input": NEW_ITEMS,
            "metadata": metadata,
        }


class Clients:
    """Does what it is asked: ``turn``, ``tokens`` or ``close``."""

    def __init__(self) -> None:
        self._context = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
        self._conversations: dict[tuple[int, int, str], Conversation] = {}
        self._readers: dict[tuple[int, str], Client] = {}
        self._tasks: Mapping[str, Callable[[Request], Awaitable[dict[str, Any]]]] = {
            "turn": self._turn,
            "tokens": self._tokens,
            "close": self._close,
        }

    async def answer(self, question: Request) -> dict[str, Any]:
        """Answer a question; what is asked for is in ``do``."""
        return await self._tasks[question["do"]](question)

    def _client(self, transport: str, port: int) -> Client:
        where = f"127.0.0.1:{port}/v1/responses"
        if transport in (SSE_NEW, SSE_KEPT):
            kept = transport == SSE_KEPT
            return SseClient(f"https://{where}", self._context, kept=kept)
        return OwnWire(f"wss://{where}")

    async def _turn(self, question: Request) -> dict[str, Any]:
        """``port``, ``history_kb``, ``transport``, ``idle_ms``, ``lasts_ms``: one turn."""
        port, size_kb, transport = question["port"], question["history_kb"], question["transport"]
        key = (port, size_kb, transport)
        if key not in self._conversations:
            client = self._client(transport, port)
            self._conversations[key] = Conversation(transport, client, size_kb)
        idle_s, lasts_ms = question["idle_ms"] / 1000, question["lasts_ms"]
        return dict(await self._conversations[key].turn(idle_s, lasts_ms))

    async def _tokens(self, question: Request) -> dict[str, Any]:
        """``port``, ``client``, ``tokens``, ``rate``: read one answer of so many tokens."""
        key = (question["port"], question["client"])
        if key not in self._readers:
            self._readers[key] = self._client(question["client"], question["port"])
        metadata = {"tokens": str(question["tokens"]), "rate": str(question["rate"])}
        request = {"model": MODEL, "store": False, "input": NEW_ITEMS, "metadata": metadata}
        heard = Heard()
        used = time.process_time()
        await self._readers[key].ask(request, heard)
        used = time.process_time() - used
        if heard.chars != sum(map(len, tokens(question["tokens"]))):
            raise DuettoError(f"{question['client']}: {heard.chars} characters came.")
        return {"cpu_us": used / question["tokens"] * 1e6}

    async def _close(self, question: Request) -> dict[str, Any]:
        """Close all connections."""
        for conversation in self._conversations.values():
            await conversation.close()
        for reader in self._readers.values():
            await reader.close()
        self._conversations.clear()
        self._readers.clear()
        return {}


def main() -> None:
    """Serve as a process, on the loop that the app has."""
    asyncio.run(answer_questions({}, Clients().answer))


if __name__ == "__main__":
    main()
