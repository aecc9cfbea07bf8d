"""Local servers for endpoints of all kinds: told in neutral terms what to answer, each in its own
language, and saying in neutral terms what they were asked.

HTTP is by hand over asyncio, no library's: connections are counted, a client that leaves is
noticed, and bytes can be cut, held and torn anywhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

_HALF = re.compile("[\ud800-\udfff]")
KEY = "sk-very-secret-0123456789"
MODEL, SERVED = "asked-model", "served-model-2026"


@dataclass(frozen=True)
class Say:
    """A message; ``held``: the server waits for `Release` in the middle of it."""

    text: str
    held: bool = False


@dataclass(frozen=True)
class Refuse:
    """The model declines, in words."""

    text: str


@dataclass(frozen=True)
class Think:
    """A thought, and what the provider wants to see again of it (where it wants that)."""

    text: str
    seal: str = "c2VhbGVkIHRob3VnaHQ="


@dataclass(frozen=True)
class Call:
    """A call of a tool; ``text`` is a custom tool's input or a function's arguments."""

    name: str
    text: str
    call_id: str
    custom: bool = False


@dataclass(frozen=True)
class Hold:
    """Nothing more until it is released."""


Item = Say | Refuse | Think | Call | Hold


@dataclass(frozen=True)
class Tokens:
    """How the provider counts; ``input`` with the cached ones, ``output`` with the reasoning."""

    input: int = 11
    output: int = 7
    cached: int = 4
    reasoning: int = 3


@dataclass(frozen=True)
class Status:
    """Instead of an answer."""

    status: int
    code: str = "some_code"
    message: str = "The provider's own words."
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Script:
    """What one request is answered."""

    items: Sequence[Item] = ()
    stop: str = "end"
    """end, length or filter."""
    tokens: Tokens = Tokens()
    instead: Status | str | None = None
    """A status, or: html, error-in-200, silence."""
    after: str = ""
    """Instead of the end, behind the items: error, cut, garbage (and then the end), stall."""
    parallel: bool = False
    """Calls come piece by piece in turn, where the language can say that."""


class Mark:
    """Where in a plan something else than bytes is due."""

    def __init__(self, name: str) -> None:
        self.name = name


HOLD, CUT, STALL = Mark("hold"), Mark("cut"), Mark("stall")
Plan = list[bytes | Mark]


@dataclass(frozen=True)
class Heard:
    """What a request said, in neutral terms."""

    told: list[tuple[str, ...]]
    """(who, text): system, user, assistant, thought; (call, name, text); (result, text)."""
    tools: list[str]
    model: str = ""
    effort: str = ""

    def of(self, *who: str) -> list[tuple[str, ...]]:
        """What some of them said."""
        return [one for one in self.told if one[0] in who]


class Dialect(Protocol):
    """One provider's language, as its server speaks it."""

    kind: str
    path: str
    """Behind the base URL."""

    def plan(self, script: Script) -> Plan:
        """The messages of an answer: each one is what one server-sent event or frame holds."""

    def error(self, status: Status) -> bytes:
        """The body of an error."""

    def heard(self, body: dict[str, Any]) -> Heard:
        """A request's body."""


@dataclass
class Request:
    """One that came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    connection: int
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Its client left, or said stop, before the answer was whole."""
    gone_s: float = 0.0

    def leave(self) -> None:
        """It is gone."""
        self.gone_s = asyncio.get_running_loop().time()
        self.gone.set()


Shape = Callable[[bytes], Sequence[bytes]]
"""How the bytes of a stream are cut into writes."""


class Server:
    """What all of them keep; see `HttpServer` and `endpoint_servers_ws`."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.scripts: list[Script] = []
        """Each for one request; the last one for all that follow."""
        self.requests: list[Request] = []
        self.others: list[Request] = []
        """What was asked of other paths, such as for its models."""
        self.connections = 0
        self.port = 0
        self.changed = asyncio.Condition()
        self.released = asyncio.Event()
        self.shape: Shape = lambda data: [data]
        self.models: bytes = b""
        """The list of its models, as JSON; empty: it has none."""

    @property
    def url(self) -> str:
        """The base URL, as the bridge is told it."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def heard(self) -> list[Heard]:
        """All requests, in neutral terms."""
        return [self.dialect.heard(request.body) for request in self.requests]

    def next_script(self) -> Script:
        """For the request that has just come."""
        return self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]

    async def note(self) -> None:
        """Something changed that somebody may wait for."""
        async with self.changed:
            self.changed.notify_all()

    async def until(self, holds: Callable[[Server], bool]) -> None:
        """Wait until something is true of it."""
        async with asyncio.timeout(60), self.changed:
            await self.changed.wait_for(lambda: holds(self))


class HttpServer(Server):
    """Server-sent events over HTTP/1.1."""

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[HttpServer]:
        """On a free port of this machine."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=2**26)
        self.port = server.sockets[0].getsockname()[1]
        self._tasks: set[asyncio.Task[None]] = set()
        try:
            yield self
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._talk(reader, writer))
        self._tasks.add(task)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        number, first = self.connections, b""
        await self.note()
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                request = await _read(first, reader, number)
                asked = request.path.endswith(self.dialect.path)
                (self.requests if asked else self.others).append(request)
                await self.note()
                watch = asyncio.create_task(reader.read(1))
                answer = asyncio.create_task(self._answer(request, writer))
                await asyncio.wait({watch, answer}, return_when=asyncio.FIRST_COMPLETED)
                if watch.done() and not answer.done():
                    request.leave()
                    answer.cancel()
                    await asyncio.gather(answer, watch, return_exceptions=True)
                    break
                if not await answer:
                    watch.cancel()
                    await asyncio.gather(watch, return_exceptions=True)
                    break
                first = await watch
                if not first:
                    break
        writer.close()

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Returns whether the connection goes on."""
        if self.models and request.path.endswith("/models"):
            await _whole(writer, 200, self.models)
            return True
        if not request.path.endswith(self.dialect.path):
            await _whole(writer, 404, b'{"error":{"message":"No such path."}}')
            return True
        script = self.next_script()
        if script.instead is not None:
            await self._instead(script.instead, writer)
            return True
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        for piece in self.dialect.plan(script):
            if isinstance(piece, Mark):
                await writer.drain()
                if not await self._mark(piece, writer):
                    return False
                continue
            for part in self.shape(piece):
                writer.write(b"%x\r\n%s\r\n" % (len(part), part))
                await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    async def _mark(self, mark: Mark, writer: asyncio.StreamWriter) -> bool:
        if mark is CUT:
            writer.close()
            return False
        await (self.released if mark is HOLD else asyncio.Event()).wait()
        return True

    async def _instead(self, what: Status | str, writer: asyncio.StreamWriter) -> None:
        if isinstance(what, Status):
            await _whole(writer, what.status, self.dialect.error(what), **what.headers)
        elif what == "html":
            page = b"<!DOCTYPE html><html><body>Sign in</body></html>"
            await _whole(writer, 200, page, **{"Content-Type": "text/html; charset=utf-8"})
        elif what == "error-in-200":
            await _whole(writer, 200, self.dialect.error(Status(400)))
        else:
            await asyncio.Event().wait()


async def _read(first: bytes, reader: asyncio.StreamReader, number: int) -> Request:
    head = first + await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(":") for line in lines[1:] if line)
    }
    body = await _body(reader, headers)
    path = lines[0].split(" ")[1].partition("?")[0]
    return Request(path, headers, json.loads(body or b"{}"), number)


async def _body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding") != "chunked":
        return await reader.readexactly(int(headers.get("content-length", "0")))
    body = b""
    while size := int(await reader.readline(), 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body


async def _whole(writer: asyncio.StreamWriter, status: int, body: bytes, **headers: str) -> None:
    sent = {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
    writer.write(f"HTTP/1.1 {status} Some Words\r\n{lines}\r\n".encode() + body)
    await writer.drain()


def pieces(text: str, chars: int = 6) -> list[str]:
    """A text as a model's deltas; a very long one comes in one."""
    chars = len(text) if len(text) > 2**20 else chars
    return [text[start : start + chars] for start in range(0, len(text), chars)]


def sse(data: object, event: str = "") -> bytes:
    """One server-sent event."""
    line = f"event: {event}\n" if event else ""
    text = data if isinstance(data, str) else written(data)
    return f"{line}data: {text}\n\n".encode()


def written(data: object) -> str:
    """A value as JSON: characters as they are, but for half ones, which can only be escaped."""
    text = json.dumps(data, ensure_ascii=False)
    return json.dumps(data) if _HALF.search(text) else text


def halved(parts: list[Any], *, held: bool, at: int = 1) -> list[Any]:
    """Parts of one item, with a pause behind the first of them if it is held."""
    return [*parts[:at], *([HOLD] if held else []), *parts[at:]]
