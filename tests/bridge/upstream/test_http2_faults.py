"""HTTP/2 servers that go wrong: each request has one end, and is paid once."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path

import pytest
from h2.errors import ErrorCodes
from hyperframe.frame import (
    ContinuationFrame,
    DataFrame,
    ExtensionFrame,
    HeadersFrame,
    PingFrame,
    SettingsFrame,
    WindowUpdateFrame,
)

from tests.bridge.upstream.test_http2 import between, read, say_body
from tests.support import h2_server
from tests.support.h2_server import Stream
from tests.support.tables import each
from tui.bridge.upstream import client, http2
from tui.bridge.upstream.errors import BrokenError
from tui.bridge.upstream.http2 import STREAM_WINDOW_BYTES
from tui.core.wire.address import Address


async def test_what_was_left_unread_is_given_back_to_the_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each interrupt would take a part of the window that all requests share."""

    async def answer(stream: Stream) -> None:
        await stream.whole.wait()
        stream.head()
        if stream.body == b"left":
            await stream.send(b"x" * STREAM_WINDOW_BYTES)
        else:
            await stream.send(b"read", end=True)

    monkeypatch.setattr(http2, "CONNECTION_WINDOW_BYTES", 4 * STREAM_WINDOW_BYTES)
    async with between(answer, tmp_path, monkeypatch) as (upstream, server, address):
        for _ in range(10):
            async with asyncio.timeout(5), upstream.post(address, b"left"):
                await asyncio.sleep(0.02)
        assert await read(upstream, address, b"end") == b"read"
        assert len(server.peers) == 1


@pytest.mark.parametrize("ended", [True, False])
async def test_a_refusal_is_heard_though_the_server_takes_no_more_of_the_request(
    ended: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(h2_server.Peer):
        def data_received(self, data: bytes) -> None:
            self.h2.acknowledge_received_data = lambda *_: None
            super().data_received(data)

    async def answer(stream: Stream) -> None:
        stream.head(413)
        await stream.send(b"too large", end=ended)

    monkeypatch.setattr(h2_server, "Peer", Full)
    async with between(answer, tmp_path, monkeypatch) as (upstream, server, address):
        async with asyncio.timeout(5), upstream.post(address, b"x" * 2**24) as refused:
            assert refused.status == 413
            assert await refused.chunk() == b"too large"
        async with asyncio.timeout(5):
            await server.streams[0].reset.wait()
        assert len(server.streams) == 1


async def test_a_server_that_takes_nothing_of_the_request_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(h2_server.Peer):
        def data_received(self, data: bytes) -> None:
            self.h2.acknowledge_received_data = lambda *_: None
            super().data_received(data)

    async def answer(_stream: Stream) -> None:
        pass

    monkeypatch.setattr(client, "SILENCE_S", 0.2)
    monkeypatch.setattr(h2_server, "Peer", Full)
    async with between(answer, tmp_path, monkeypatch) as (upstream, server, address):
        with pytest.raises(BrokenError, match="said nothing for too long"):
            await read(upstream, address, b"x" * 2**24)
        async with asyncio.timeout(5):
            await server.streams[0].reset.wait()
        assert len(server.streams) == 1


@pytest.mark.parametrize("goodbye", [False, True])
async def test_what_a_server_has_worked_on_is_not_asked_again(
    goodbye: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends the connection late, or says that it has begun with this one."""

    async def answer(stream: Stream) -> None:
        await stream.whole.wait()
        if stream.body == b"1":
            await say_body(stream)
            return
        if goodbye:
            stream.peer.goaway(stream.number)
        else:
            await asyncio.sleep(0.15)
        stream.peer.transport.close()

    monkeypatch.setattr(http2, "STALE_S", 0.1)
    async with between(answer, tmp_path, monkeypatch) as (upstream, server, address):
        assert await read(upstream, address, b"1") == b"1"
        with pytest.raises(BrokenError, match="closed the connection before it had answered"):
            await read(upstream, address, b"2")
        assert [bytes(stream.body) for stream in server.streams] == [b"1", b"2"]


async def test_a_connection_that_is_closed_on_the_next_request_is_no_mishap_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(stream: Stream) -> None:
        await stream.whole.wait()
        if stream.number > 1:
            stream.peer.transport.abort()
        else:
            await say_body(stream)

    async with between(answer, tmp_path, monkeypatch) as (upstream, server, address):
        for body in (b"1", b"2", b"3"):
            assert await read(upstream, address, body) == body
        heard = [bytes(stream.body) for stream in server.streams]
        assert heard == [b"1", b"2", b"2", b"3", b"3"]


async def test_a_server_that_refuses_every_stream_is_asked_a_bounded_number_of_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(stream: Stream) -> None:
        stream.refuse(ErrorCodes.REFUSED_STREAM)

    async with between(answer, tmp_path, monkeypatch) as (upstream, server, address):
        with pytest.raises(BrokenError):
            await read(upstream, address)
        assert len(server.streams) <= 20


async def test_a_few_bytes_that_unzip_to_very_many_come_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = 64 * 1024 * 1024

    async def answer(stream: Stream) -> None:
        stream.head(content_encoding="gzip")
        await stream.send(gzip.compress(bytes(size)), end=True)

    async with between(answer, tmp_path, monkeypatch) as (upstream, _, address):
        heard = largest = 0
        async with asyncio.timeout(20), upstream.post(address, b"{}") as zipped:
            while piece := await zipped.chunk():
                heard, largest = heard + len(piece), max(largest, len(piece))
        assert heard == size
        assert largest <= 2 * 1024 * 1024


async def test_a_server_that_says_nothing_of_its_settings_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Silent(h2_server.Peer):
        def write(self) -> None:
            data = self.h2.data_to_send()
            if not self.transport.is_closing() and data[3:4] != b"\x04":
                self.transport.write(data)

    monkeypatch.setattr(h2_server, "Peer", Silent)
    async with between(say_body, tmp_path, monkeypatch) as (upstream, server, address):
        both = await asyncio.gather(read(upstream, address, b"1"), read(upstream, address, b"2"))
        assert both == [b"1", b"2"]
        assert len(server.peers) == 1


async def test_a_header_that_cannot_be_sent_is_named_over_one_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with between(say_body, tmp_path, monkeypatch) as (upstream, server, address):
        with pytest.raises(BrokenError, match="HTTP/2 has no such header"):
            await read(upstream, Address(address.url, {"TE": "gzip"}))
        assert await read(upstream, address, b"well") == b"well"
        assert len(server.peers) <= 2


FLOODS = {
    "empty data": lambda number: DataFrame(number).serialize(),
    "ping": lambda _: PingFrame(0, opaque_data=b"x" * 8).serialize(),
    "settings": lambda _: SettingsFrame(0).serialize(),
    "windows": lambda _: WindowUpdateFrame(0, window_increment=1).serialize(),
    "hints": lambda number: HeadersFrame(number, b"\x08\x03103", flags=["END_HEADERS"]).serialize(),
    "headers": lambda number: ContinuationFrame(number).serialize(),
    "unknown": lambda _: ExtensionFrame(99, 0).serialize(),
}


@each("name", FLOODS)
async def test_a_flood_of_frames_without_a_word_ends_its_connection_with_a_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(stream: Stream) -> None:
        if name == "empty data":
            stream.head()
        if name == "headers":
            stream.peer.transport.write(HeadersFrame(stream.number, b"\x88").serialize())
        stream.peer.transport.write(FLOODS[name](stream.number) * (http2.MOST_IDLE + 1))

    async with between(answer, tmp_path, monkeypatch) as (upstream, server, address):
        with pytest.raises(BrokenError, match=r"without an end|not HTTP"):
            async with asyncio.timeout(20):
                await read(upstream, address, b"x")
        assert len(server.streams) == 1  # it is not asked again
