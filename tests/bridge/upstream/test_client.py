"""Connections to upstreams: made ahead, kept, asked over again where nobody heard."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import trustme

from tests.support.tables import each
from tui.bridge.endpoints.base import Broken, Refused, Unusable
from tui.bridge.upstream import client
from tui.bridge.upstream.client import Upstream
from tui.core.wire.address import Address

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
WHOLE = HEAD + b"Content-Length: 9\r\n\r\ndata: 1\n\n"
Answer = Callable[["Server", asyncio.StreamWriter], Awaitable[None]]


async def whole(_server: Server, writer: asyncio.StreamWriter) -> None:
    writer.write(WHOLE)


class Server:
    """HTTP/1.1 by hand: what was asked, over which connection, and who left when."""

    def __init__(self, answer: Answer = whole) -> None:
        self.answer = answer
        self.connections = 0
        self.requests: list[tuple[int, bytes]] = []
        """The connection's number, and the request with its body."""
        self.writers: list[asyncio.StreamWriter] = []
        self.left = asyncio.Event()
        self.connected = asyncio.Event()
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.append(writer)
        self.connected.set()
        number, answering = self.connections, None
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                told = [line for line in head.lower().split(b"\r\n") if b"content-length" in line]
                size = int(told[0].split(b":")[1]) if told else 0
                self.requests.append((number, head + await reader.readexactly(size)))
                answering = asyncio.create_task(self.answer(self, writer))
        except (asyncio.IncompleteReadError, ConnectionError):
            self.left.set()
        finally:
            if answering is not None:
                answering.cancel()
            writer.close()


@contextlib.asynccontextmanager
async def served(
    answer: Answer = whole, tls: ssl.SSLContext | None = None, port: int = 0
) -> AsyncIterator[Server]:
    server = Server(answer)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", port, ssl=tls)
    number = listening.sockets[0].getsockname()[1]
    server.url = f"http{'s' if tls else ''}://127.0.0.1:{number}/v1/responses"
    async with listening:
        yield server
        for writer in server.writers:
            writer.transport.abort()


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    made = Upstream()
    yield made
    await made.close()


async def read(upstream: Upstream, url: str, body: bytes = b"{}") -> bytes:
    told = b""
    async with asyncio.timeout(60), upstream.post(Address(url), body) as answer:
        while piece := await answer.chunk():
            told += piece
    return told


async def test_a_connection_made_ahead_says_nothing_and_takes_the_request(
    upstream: Upstream,
) -> None:
    async with served() as server:
        await asyncio.gather(*(upstream.warm(Address(server.url)) for _ in range(3)))
        await server.connected.wait()
        assert server.requests == []
        assert await read(upstream, server.url) == b"data: 1\n\n"
        await upstream.warm(Address(server.url))  # there is one: that of the request
        assert await read(upstream, server.url) == b"data: 1\n\n"
        used = {number for number, _ in server.requests}
        assert len(used) == 1
        assert server.connections <= 3


async def test_a_connection_made_ahead_that_is_gone_is_replaced(upstream: Upstream) -> None:
    async with served() as server:
        await upstream.warm(Address(server.url))
        await server.connected.wait()
        origin = next(iter(upstream._dialer._spares))
        upstream._dialer._spares[origin][0].transport.abort()
        assert await read(upstream, server.url) == b"data: 1\n\n"
        assert server.connections == 2


async def test_a_connection_stands_by_for_the_request_behind_an_interrupt(
    upstream: Upstream, tls: ssl.SSLContext
) -> None:
    async def endless(_server: Server, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"\r\ndata: 1\n\n")

    async with served(endless, tls) as server:
        async with upstream.post(Address(server.url), b"cut") as answer:
            await answer.chunk()
            async with asyncio.timeout(60):
                while server.connections < 2:
                    await asyncio.sleep(0.005)
        server.answer = whole
        assert await read(upstream, server.url, b"redirect") == b"data: 1\n\n"
        assert [number for number, _ in server.requests] == [1, 2]


async def test_a_server_that_has_answered_is_tried_again_while_it_restarts(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served() as server:
        assert await read(upstream, server.url) == b"data: 1\n\n"
        port = int(server.url.split(":")[2].split("/")[0])
    async with contextlib.AsyncExitStack() as restarted:
        again: list[Server] = []

        async def meanwhile(seconds: float) -> None:
            again.append(await restarted.enter_async_context(served(port=port)))

        monkeypatch.setattr("tui.bridge.upstream.client.asyncio.sleep", meanwhile)
        assert await read(upstream, server.url) == b"data: 1\n\n"
        assert [len(one.requests) for one in again] == [1]


async def test_a_certificate_of_another_host_is_named_so(
    upstream: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("elsewhere.test").configure_cert(context)
    async with served(tls=context) as server:
        with pytest.raises(Broken, match="certificate is that of another host"):
            await read(upstream, server.url)
        assert server.requests == []


async def test_a_question_has_an_answer_of_bounded_size(upstream: Upstream) -> None:
    async with served() as server:
        fetched = await upstream.fetch(Address(server.url), None, 100)
        assert (fetched.status, fetched.body) == (200, b"data: 1\n\n")
        assert server.requests[0][1].startswith(b"GET ")
        with pytest.raises(Broken, match="more than 5 bytes"):
            await upstream.fetch(Address(server.url), b"{}", 5)
        assert server.requests[1][1].startswith(b"POST ")


async def test_a_user_and_a_password_in_the_url_are_sent_as_what_they_are(
    upstream: Upstream,
) -> None:
    async with served() as server:
        url = server.url.replace("http://", "http://jo%40x:pass@")
        await read(upstream, url)
        head = server.requests[0][1]
        assert b"Authorization: Basic am9AeDpwYXNz\r\n" in head
        assert b"pass@" not in head
        key = {"Authorization": "Bearer k"}
        async with upstream.post(Address(url, key), b"{}") as answer:
            await answer.chunk()
        assert b"Authorization: Bearer k\r\n" in server.requests[1][1]


async def test_a_key_never_leaves_this_machine_in_clear_text(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served() as server:
        monkeypatch.setenv("http_proxy", server.url)
        far = Address("http://far.example.test/v1/models", {"Authorization": "Bearer k"})
        with pytest.raises(Refused, match="would travel in clear text"):
            await upstream.fetch(far, None, 100)
        assert server.requests == []
        fetched = await upstream.fetch(Address(far.url), None, 100)
        assert fetched.body == b"data: 1\n\n"


CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
PIECE = b"9\r\ndata: 1\n\n\r\n"
TEXT = b"data: 1\n\n"


async def followed(url: str, most: int = 1_000_000) -> tuple[bytes, bytes]:
    """What was handed on, of at most so many pieces, and what came of `chunk`."""
    upstream, taken, asked = Upstream(), [], b""

    def take(piece: bytes) -> bool:
        taken.append(piece)
        return len(taken) < most

    try:
        async with asyncio.timeout(60), upstream.post(Address(url), b"{}") as answer:
            while piece := await answer.chunk():
                asked += piece
                await answer.follow(take)
    finally:
        await upstream.close()
    return b"".join(taken), asked


async def test_a_flood_of_small_pieces_is_no_recursion() -> None:
    async def flood(_server: Server, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + PIECE)
        await asyncio.sleep(0.05)
        writer.write(PIECE * 100_000 + b"0\r\n\r\n")

    async with served(flood) as server:
        taken, asked = await followed(server.url)
    assert len(taken + asked) == len(TEXT) * 100_001


BODY = b"".join(b"data: %d\n\n" % number for number in range(2000)) + b"data: [DONE]\n\n"
Leave = Callable[[asyncio.StreamWriter], None]


def with_fin(writer: asyncio.StreamWriter) -> None:
    writer.close()


def with_rst(writer: asyncio.StreamWriter) -> None:
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


LEAVING = {"fin": with_fin, "rst": with_rst}
FRAMED = {
    "length": HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY,
    "close": HEAD + b"Connection: close\r\n\r\n" + BODY,
    "chunked": HEAD
    + b"Transfer-Encoding: chunked\r\n\r\n"
    + b"%x;name=value\r\n%b\r\n0\r\nX-Trailer: one\r\n\r\n" % (len(BODY), BODY),
    "chunked without its end": HEAD
    + b"Transfer-Encoding: chunked\r\n\r\n"
    + b"%x\r\n%b\r\n" % (len(BODY), BODY),
    "length too large": HEAD + b"Content-Length: 99999999\r\n\r\n" + BODY,
}
FRAMED_TO_THE_END = ("length", "close", "chunked")


async def heard(upstream: Upstream, url: str, body: bytes = b"{}") -> tuple[int, bytes, str]:
    """The status, what came of the body, and how it broke off, if it did."""
    told, status = b"", 0
    try:
        async with asyncio.timeout(60), upstream.post(Address(url), body) as answer:
            status = answer.status
            while piece := await answer.chunk():
                told += piece
                await asyncio.sleep(0)
    except Broken as error:
        return status, told, str(error)
    return status, told, ""


@pytest.mark.parametrize("secured", [False, True])
@pytest.mark.parametrize("leaving", LEAVING)
@pytest.mark.parametrize("framed", FRAMED)
async def test_the_last_bytes_are_heard_though_the_server_leaves_right_behind_them(
    framed: str, leaving: str, secured: bool, upstream: Upstream, tls: ssl.SSLContext
) -> None:
    async def answer(_server: Server, writer: asyncio.StreamWriter) -> None:
        writer.write(FRAMED[framed])
        LEAVING[leaving](writer)

    async with served(answer, tls if secured else None) as server:
        for _ in range(5):
            status, told, why = await heard(upstream, server.url)
            assert (status, len(told)) == (200, len(BODY)), why
            if framed in FRAMED_TO_THE_END and (framed, leaving) != ("close", "rst"):
                assert not why
            elif framed not in FRAMED_TO_THE_END:
                assert why == "127.0.0.1 broke off its answer."


async def several(upstream: Upstream, server: Server, count: int) -> None:
    """Have so many connections wait in the pool."""
    gate = asyncio.Barrier(count)

    async def together(_server: Server, writer: asyncio.StreamWriter) -> None:
        await gate.wait()
        writer.write(WHOLE)

    server.answer = together
    await asyncio.gather(*(read(upstream, server.url, b"warm") for _ in range(count)))


@pytest.mark.parametrize("leaving", ["fin", "rst"])
async def test_who_closes_every_connection_is_asked_twice_at_most(
    leaving: str, upstream: Upstream
) -> None:
    async def rude(_server: Server, writer: asyncio.StreamWriter) -> None:
        if leaving == "rst":
            with_rst(writer)
        writer.transport.abort()

    async with served() as server:
        await several(upstream, server, 5)
        server.answer = rude
        with pytest.raises(Broken, match="closed the connection before it had answered"):
            await read(upstream, server.url, b"rude")
        assert [body[-4:] for _, body in server.requests[5:]] == [b"rude"] * 2


async def test_many_stale_connections_cost_one_more_request_not_many(upstream: Upstream) -> None:
    async with served() as server:
        await several(upstream, server, 5)

        async def rude(server: Server, writer: asyncio.StreamWriter) -> None:
            if server.requests[-1][0] <= 5:
                writer.transport.abort()
            else:
                writer.write(WHOLE)

        server.answer = rude
        assert await read(upstream, server.url, b"rude") == b"data: 1\n\n"
        assert len(server.requests) == 7


async def test_a_server_that_reads_nothing_of_the_request_is_not_waited_for_without_end(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "SILENCE_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1/responses"
        with pytest.raises(Broken, match="said nothing for too long"):
            async with asyncio.timeout(60), upstream.post(Address(url), b"x" * 2**24):
                pass


@each(
    "begun, again",
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"", b"\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"x=y;"),
    ],
)
async def test_who_sends_all_but_an_answer_is_left_with_a_sentence(
    upstream: Upstream, begun: bytes, again: bytes
) -> None:
    async def endless(_server: Server, writer: asyncio.StreamWriter) -> None:
        writer.write(begun)
        while True:
            writer.write(again * 100)
            await writer.drain()

    async with asyncio.timeout(60), served(endless) as server:
        with pytest.raises(Unusable, match="without an end"):  # so it is not asked again
            await read(upstream, server.url)


async def test_headers_without_end_are_refused_in_little_memory(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "SILENCE_S", 0.2)
    sent = 0

    async def endless(_server: Server, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(100_000):
            writer.write(b"X-%d: %b\r\n" % (number, b"x" * 1000))
            await writer.drain()
            sent += 1000

    async def endless_hints(_server: Server, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        for _ in range(1_000_000):
            writer.write(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 100)
            await writer.drain()
            await asyncio.sleep(0.01)
            sent += 4000

    async def endlessly_slow(_server: Server, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while True:
            writer.write(b"x")
            await asyncio.sleep(0.01)

    for answer in (endless, endless_hints, endlessly_slow):
        sent = 0
        async with served(answer) as server:
            with pytest.raises(Broken):
                await read(upstream, server.url)
        assert sent < 32 * 1024 * 1024
