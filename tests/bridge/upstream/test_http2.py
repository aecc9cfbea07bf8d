"""HTTP/2: used where a server offers it; each request for itself on one connection."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from h2.errors import ErrorCodes

from tests.support.h2_server import Answer, H2Server, Stream, h2_serving
from tui.bridge.upstream import client
from tui.bridge.upstream.client import Upstream
from tui.bridge.upstream.errors import BrokenError
from tui.bridge.upstream.http2 import STREAM_WINDOW_BYTES
from tui.core.wire.address import Address

KEY = {"Authorization": "Bearer sk-of-this-host", "Connection": "keep-alive"}


@contextlib.asynccontextmanager
async def between(
    answer: Answer, folder: Path, monkeypatch: pytest.MonkeyPatch, *protocols: str
) -> AsyncIterator[tuple[Upstream, H2Server, Address]]:
    async with h2_serving(answer, folder, protocols or ("h2", "http/1.1")) as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(folder / "authority.pem"))
        upstream = Upstream()
        try:
            yield upstream, server, Address(f"{server.url}?a=b", KEY)
        finally:
            await upstream.close()


async def read(upstream: Upstream, address: Address, body: bytes = b"{}") -> bytes:
    whole = b""
    async with asyncio.timeout(10), upstream.post(address, body) as answer:
        assert answer.status == 200
        while piece := await answer.chunk():
            whole += piece
    return whole


async def say_body(stream: Stream) -> None:
    await stream.whole.wait()
    stream.head()
    await stream.send(bytes(stream.body), end=True)


async def test_before_the_head_an_interrupt_resets_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def mute(stream: Stream) -> None:
        await stream.reset.wait()

    async with between(mute, tmp_path, monkeypatch) as (upstream, server, address):
        asking = asyncio.create_task(read(upstream, address))
        async with asyncio.timeout(5):
            while not server.streams:
                await asyncio.sleep(0.005)
            await server.streams[0].whole.wait()
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            await server.streams[0].reset.wait()


async def test_a_large_request_waits_for_the_servers_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with between(say_body, tmp_path, monkeypatch) as (upstream, _, address):
        body = bytes(range(256)) * 8192
        assert await read(upstream, address, body) == body


async def test_a_server_that_goes_away_is_asked_on_a_new_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(stream: Stream) -> None:
        if len(stream.peer.server.streams) == 2:
            stream.peer.goaway(1)  # this one was not begun
        else:
            await say_body(stream)

    async with between(answer, tmp_path, monkeypatch) as (upstream, server, address):
        assert await read(upstream, address, b"1") == b"1"
        assert await read(upstream, address, b"2") == b"2"
        assert len(server.streams) == 3
        assert len(server.peers) == 2


@pytest.mark.parametrize("last", [None, 2**31 - 1])
async def test_a_server_that_leaves_answers_what_it_has_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: int | None
) -> None:
    async def answer(stream: Stream) -> None:
        await stream.whole.wait()
        stream.head()
        await stream.send(b"first ")
        stream.peer.farewell(stream.number if last is None else last)
        await stream.send(b"in the same packet ")
        await asyncio.sleep(0.05)
        await stream.send(bytes(2 * STREAM_WINDOW_BYTES))
        await stream.send(b" last", end=True)

    async with between(answer, tmp_path, monkeypatch) as (upstream, server, address):
        for asked in (1, 2):
            heard = await read(upstream, address)
            assert heard.startswith(b"first in the same packet ")
            assert heard.endswith(b" last")
            assert len(heard) == 30 + 2 * STREAM_WINDOW_BYTES
            assert (len(server.streams), len(server.peers)) == (asked, asked)


async def test_a_stream_that_is_reset_broke_off_and_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(stream: Stream) -> None:
        await stream.whole.wait()
        if stream.body == b"late":
            stream.head()
            await stream.send(b"data: x\n\n")
        stream.refuse(ErrorCodes.INTERNAL_ERROR)

    async with between(answer, tmp_path, monkeypatch) as (upstream, server, address):
        for body in (b"late", b"early"):
            with pytest.raises(BrokenError, match=r"^localhost broke off its answer\.$"):
                await read(upstream, address, body)
        assert len(server.streams) == 2


async def test_what_is_compressed_unasked_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(stream: Stream) -> None:
        stream.head(content_encoding="gzip")
        packed = gzip.compress(b"data: 1\n\n" * 1000)
        await stream.send(packed[:20])
        await stream.send(packed[20:], end=True)

    async with between(answer, tmp_path, monkeypatch) as (upstream, _, address):
        assert await read(upstream, address) == b"data: 1\n\n" * 1000


async def test_silence_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(stream: Stream) -> None:
        stream.head()

    monkeypatch.setattr(client, "SILENCE_S", 0.1)
    async with between(answer, tmp_path, monkeypatch) as (upstream, server, address):
        with pytest.raises(BrokenError, match="said nothing for too long"):
            await read(upstream, address)
        async with asyncio.timeout(5):
            await server.streams[0].reset.wait()


async def test_a_server_without_it_is_asked_over_the_connection_that_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with between(say_body, tmp_path, monkeypatch, "http/1.1") as (upstream, server, address):
        for _ in range(3):
            assert await read(upstream, address) == b"data: 1\n\n"
        assert len(server.peers) == 1


async def test_a_connection_made_ahead_sends_no_request_and_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with between(say_body, tmp_path, monkeypatch) as (upstream, server, address):
        await upstream.warm(address)
        await upstream.warm(address)
        await server.connected.wait()
        assert [len(peer.streams) for peer in server.peers] == [0]
        assert await read(upstream, address, b"taken") == b"taken"
        assert len(server.peers) == 1
