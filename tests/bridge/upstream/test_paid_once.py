"""A request is asked again where surely nobody works on it, once, and never else."""

from __future__ import annotations

import asyncio
import socket

import pytest

from tests.bridge.upstream.test_client import HEAD, WHOLE, Server, read, served
from tests.bridge.upstream.test_last_bytes import heard, with_rst
from tui.bridge.upstream import client, http1
from tui.bridge.upstream.client import BrokenError, Upstream
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


async def test_who_closes_late_has_worked_and_is_not_asked_again(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A balancer that loses patience with a model that thinks."""

    async def late(_server: Server, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.15)
        writer.transport.abort()

    monkeypatch.setattr(http1, "STALE_S", 0.1)
    async with served() as server:
        assert await read(upstream, server.url) == b"data: 1\n\n"
        server.answer = late
        with pytest.raises(BrokenError, match="closed the connection before it had answered"):
            await read(upstream, server.url)
        assert len(server.requests) == 2


@pytest.mark.parametrize("begun", [b"H", b"HTTP/1.1 200 OK\r\n", HEAD])
async def test_who_has_begun_to_answer_is_not_asked_again(begun: bytes, upstream: Upstream) -> None:
    async def cut(_server: Server, writer: asyncio.StreamWriter) -> None:
        writer.write(begun)
        await asyncio.sleep(0.02)
        with_rst(writer)

    async with served() as server:
        assert await read(upstream, server.url) == b"data: 1\n\n"
        server.answer = cut
        with pytest.raises(BrokenError):
            await read(upstream, server.url)
        assert len(server.requests) == 2


async def test_an_answer_cut_at_every_byte_is_one_sentence_and_one_request(
    upstream: Upstream,
) -> None:
    told = HEAD + b"Transfer-Encoding: chunked\r\n\r\n9;a=b\r\ndata: 1\n\n\r\n0\r\nX-T: 1\r\n\r\n"
    at = 0

    async def cut(_server: Server, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")
        writer.write(told[:at])
        writer.close()

    async with served(cut) as server:
        for at in range(len(told) + 1):
            _, body, why = await heard(upstream, server.url)
            assert b"data: 1\n\n".startswith(body)
            whole = at == len(told)
            assert bool(why) == (not whole), (at, why)
            assert why.startswith("127.0.0.1 ") or whole
            assert body == b"data: 1\n\n" or at < told.index(b"\r\n0\r\n")
        assert len(server.requests) == len(told) + 1


async def test_a_connection_whose_request_was_refused_early_is_not_used_again(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of the request would go before the next one, or nowhere, for ever."""
    lost = asyncio.Event()

    async def early(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno")
        try:
            await asyncio.sleep(0.2)
            while await reader.read(65536):
                pass
        except ConnectionError:
            pass
        lost.set()
        writer.close()

    listening = await asyncio.start_server(early, "127.0.0.1", 0)
    async with listening:
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1/responses"
        for _ in range(3):
            assert await heard(upstream, url, b"x" * 2**24) == (413, b"no", "")
            async with asyncio.timeout(2):
                await lost.wait()
            lost.clear()


async def test_a_server_that_reads_nothing_of_the_request_is_not_waited_for_without_end(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "SILENCE_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1/responses"
        with pytest.raises(BrokenError, match="said nothing for too long"):
            async with asyncio.timeout(5), upstream.post(Address(url), b"x" * 2**24):
                pass


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
