"""A client that pings and never reads: what answers it waits in the system, not in our memory."""

from __future__ import annotations

import asyncio

from websockets.frames import Frame, Opcode

from tests.support.bridge_client import create, dial, until
from tests.support.raw_client import RawClient
from tui.bridge import sockets
from tui.bridge.server import Bridge

PINGS = Frame(Opcode.PING, b"x" * 125).serialize(mask=True) * 1000


async def flood(client: RawClient, most: int) -> int:
    """Write pings until they are taken no more; returns how many went out."""
    for count in range(most):
        client.writer.write(PINGS)
        try:
            async with asyncio.timeout(0.5):
                await client.writer.drain()
        except TimeoutError:
            return count + 1
    return most


async def test_pongs_that_nobody_reads_are_bounded(bridge: Bridge) -> None:
    assert bridge._server is not None
    async with RawClient(bridge.port) as client:
        thousands = await flood(client, 300)
        (connection,) = bridge._server.connections
        unread = connection.transport.get_write_buffer_size()
        assert thousands < 300
        assert unread < 4 * sockets.MOST_PONG_BYTES
        async with dial(bridge) as socket:
            await create(socket, "hello")
            assert (await until(socket))[-1]["type"] == "response.completed"
        for _ in range(thousands * 1000):
            assert (await client.heard())[0] == Opcode.PONG
        client.create("hello")
        assert (await client.event())["type"] == "response.created"


async def test_who_pings_and_reads_is_answered_as_fast_as_he_asks(bridge: Bridge) -> None:
    async with RawClient(bridge.port) as client:
        for _ in range(20):
            client.writer.write(PINGS)
            for _ in range(1000):
                assert (await client.heard())[0] == Opcode.PONG
        client.create("hello")
        assert (await client.event())["type"] == "response.created"
