"""The far network of the benchmark: what it adds is what TCP would."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.benchmarks.transport.congestion_window import INITIAL_BYTES, CongestionWindow
from tests.benchmarks.transport.far_network import FarNetwork

ROUND_TRIP_S = 0.05
LEAST_S = 0.95 * ROUND_TRIP_S
"""The connection's own round trip begins a little before this end has heard of it."""


def flights(window: CongestionWindow, size_bytes: int, now: float) -> list[float]:
    """When the parts of a message leave."""
    left = []
    while size_bytes > 0:
        room = window.room(now)
        if not room:
            now = window.next_acknowledgement
            continue
        part = min(room, size_bytes)
        window.sent(part, now)
        size_bytes -= part
        left.append(now)
    return left


def test_no_idle_time_makes_it_smaller_than_at_first() -> None:
    window = CongestionWindow(0.02)
    sent_at = flights(window, 500_000, 0.0)[-1]
    assert window.room(sent_at + 60.0) == INITIAL_BYTES


@pytest.fixture
async def echo_port() -> AsyncIterator[int]:
    """A server that sends back what it gets."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()


async def round_trip_s(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, data: bytes
) -> float:
    """How long it takes until all of it is back."""
    started = asyncio.get_running_loop().time()
    writer.write(data)
    assert await reader.readexactly(len(data)) == data
    return asyncio.get_running_loop().time() - started


async def test_bytes_arrive_whole_in_order_and_late(echo_port: int) -> None:
    network = FarNetwork(echo_port)
    port = await network.listen(ROUND_TRIP_S)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    # a round trip to connect, and one there and back
    assert await round_trip_s(reader, writer, b"x" * 100) >= 2 * LEAST_S
    assert await round_trip_s(reader, writer, b"y" * 100) >= LEAST_S
    data = bytes(range(256)) * 400
    # three flights there; how many back depends on how they overlap
    assert await round_trip_s(reader, writer, data) >= 3 * LEAST_S
    assert network.sent_bytes(port) == 200 + len(data)
    writer.close()


async def test_an_end_travels_too(echo_port: int) -> None:
    network = FarNetwork(echo_port)
    reader, writer = await asyncio.open_connection("127.0.0.1", await network.listen(0.0))
    assert await round_trip_s(reader, writer, b"z") < 5
    writer.write_eof()
    async with asyncio.timeout(5):
        assert await reader.read() == b""
    writer.close()


async def test_a_server_that_is_not_there_ends_the_connection() -> None:
    probe = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    nobody: int = probe.sockets[0].getsockname()[1]
    probe.close()
    await probe.wait_closed()
    port = await FarNetwork(nobody).listen(0.0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(5):
        assert await reader.read() == b""
    writer.close()
