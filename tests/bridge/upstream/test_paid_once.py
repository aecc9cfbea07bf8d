"""A request is asked again where surely nobody works on it, once, and never else."""

from __future__ import annotations

import asyncio
import socket

import pytest

from tests.bridge.upstream.test_client import WHOLE, Server, read, served
from tests.bridge.upstream.test_last_bytes import with_rst
from tests.support.tables import each
from tui.bridge.upstream import client
from tui.bridge.upstream.client import Upstream
from tui.bridge.upstream.errors import BrokenError
from tui.core.wire.address import Address


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
        with pytest.raises(BrokenError, match="closed the connection before it had answered"):
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
        with pytest.raises(BrokenError, match="said nothing for too long"):
            async with asyncio.timeout(5), upstream.post(Address(url), b"x" * 2**24):
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

    async with asyncio.timeout(20), served(endless) as server:
        with pytest.raises(BrokenError, match="without an end") as raised:
            await read(upstream, server.url)
        assert raised.value.flooded  # so it is not asked again


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
            with pytest.raises(BrokenError):
                await read(upstream, server.url)
        assert sent < 32 * 1024 * 1024
