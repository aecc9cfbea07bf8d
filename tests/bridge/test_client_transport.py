"""Clients that flood the bridge with frames that say nothing, or do not read what answers them."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from websockets.frames import Frame, Opcode

from tests.support.bridge_client import create, dial, until
from tests.support.raw_client import RawClient
from tests.support.tables import each
from tui.bridge import client_transport, time_slices
from tui.bridge.server import Bridge


def framed(data: bytes, opcode: Opcode, *, fin: bool = True) -> bytes:
    return Frame(opcode, data, fin=fin).serialize(mask=True)


PINGS = framed(b"x" * 125, Opcode.PING) * 500 + framed(b"{}", Opcode.TEXT)


async def flood(client: RawClient, most: int) -> int:
    """Write pings until they are taken no more; returns how often they went out."""
    for count in range(most):
        client.writer.write(PINGS)
        try:
            async with asyncio.timeout(0.5):
                await client.writer.drain()
        except TimeoutError:
            return count + 1
    return most


@pytest.mark.slow
async def test_pongs_that_nobody_reads_are_bounded(bridge: Bridge) -> None:
    assert bridge._server is not None
    async with RawClient(bridge.port) as client:
        times = await flood(client, 600)
        (connection,) = bridge._server.connections
        unread = connection.transport.get_write_buffer_size()
        assert times < 600
        assert unread < 4 * client_transport.MOST_PONG_BYTES
        async with dial(bridge) as socket:
            await create(socket, "hello")
            assert (await until(socket))[-1]["type"] == "response.completed"
        for _ in range(times * 501):
            assert (await client.heard())[0] in (Opcode.PONG, Opcode.TEXT)
        client.create("hello")
        assert (await client.event())["type"] == "response.created"


FLOODS = {
    "pings": (b"", framed(b"", Opcode.PING)),
    "long pings": (b"", framed(b"x" * 125, Opcode.PING)),
    "pongs": (b"", framed(b"", Opcode.PONG)),
    "empty messages": (b"", framed(b"", Opcode.TEXT)),
    "empty fragments": (
        framed(b'{"a":"', Opcode.TEXT, fin=False),
        framed(b"", Opcode.CONT, fin=False),
    ),
}


@each("name", FLOODS)
async def test_a_flood_that_says_nothing_ends_its_connection_and_keeps_nobody_waiting(
    bridge: Bridge, name: str
) -> None:
    assert bridge._server is not None
    before, again = FLOODS[name]
    async with RawClient(bridge.port) as client, dial(bridge) as bystander:
        client.writer.write(before + again * 10_000)
        await create(bystander, "hello")
        assert (await until(bystander))[-1]["type"] == "response.completed"
        data = b""
        async with asyncio.timeout(60):
            with contextlib.suppress(ConnectionResetError):
                while b"\x03\xf0" not in data:
                    data += await client.reader.read(2**16)
            while len(bridge._server.connections) > 1:
                await asyncio.sleep(0.01)
        assert b"\x03\xf0sent " in data  # 1008, and why


async def test_the_library_reads_a_slice_at_a_time(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two turns of the loop no more frames are read than the budget allows."""
    monkeypatch.setattr(time_slices, "BUDGET_S", 0.0)
    monkeypatch.setattr(time_slices, "MOST_IDLE", 1_000_000)
    assert bridge._server is not None
    async with RawClient(bridge.port) as client:
        client.writer.write(FLOODS["pongs"][1] * 20_000)
        client.create("hello")
        (connection,) = bridge._server.connections
        turns = 0
        while not connection.recv_messages.frames.queue and turns < 10_000:
            await asyncio.sleep(0)
            turns += 1
        assert turns >= 20_000 * 6 // time_slices.Sliced.SLICE_BYTES
        assert (await client.event())["type"] == "response.created"
