"""Large messages, strange frames, signs of life, age: what a socket of the bridge bears."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from tests.support.bridge_client import QUICK, create, dial, event, until
from tests.support.tables import each
from tui.bridge import client_transport
from tui.bridge.server import Bridge

TOKEN = {"Authorization": "Bearer the-token"}


class Listening(ClientConnection):
    """A client that remembers the kinds of the frames that it got."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.opcodes: list[Opcode] = []
        self.pinged = asyncio.Event()

    def process_event(self, event: Any) -> None:
        if isinstance(event, Frame):
            self.opcodes.append(event.opcode)
            if event.opcode is Opcode.PING:
                self.pinged.set()
        super().process_event(event)


async def raw(bridge: Bridge) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A client that writes its frames itself, and reads no more than it is asked to."""
    reader, writer = await asyncio.open_connection("127.0.0.1", bridge.port, limit=1024)
    head = "GET /v1/responses HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    head += "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
    writer.write(f"{head}Authorization: Bearer the-token\r\n\r\n".encode())
    assert b"101" in await reader.readuntil(b"\r\n\r\n")
    return reader, writer


async def test_a_message_beyond_the_limit_is_1009_before_it_is_read(bridge: Bridge) -> None:
    reader, writer = await raw(bridge)
    size = client_transport.MAX_MESSAGE_BYTES + 1
    writer.write(b"\x81\xff" + size.to_bytes(8, "big") + b"\x00" * 4)
    async with asyncio.timeout(60):
        answer = await reader.readexactly(4)
    assert answer[0] == 0x88
    assert int.from_bytes(answer[2:4], "big") == 1009
    writer.transport.abort()
    async with dial(bridge) as socket:
        await create(socket, "hello")
        assert (await until(socket))[-1]["type"] == "response.completed"


async def test_every_frame_is_text_and_an_idle_socket_is_pinged(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_transport, "PING_S", 0.05)
    other = Bridge(QUICK, token="the-token")
    await other.start()
    async with connect(
        other.url, additional_headers=TOKEN, proxy=None, create_connection=Listening
    ) as socket:
        assert isinstance(socket, Listening)
        async with asyncio.timeout(60):
            await socket.pinged.wait()
        await socket.send(b"\x00\x01")
        await create(socket, "hello")
        await until(socket, "response.completed")
        assert set(socket.opcodes) <= {Opcode.TEXT, Opcode.PING, Opcode.PONG}
    await other.close()


@each("busy", [True, False])
async def test_an_old_connection_is_told_and_closed(
    busy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ages: list[asyncio.Timeout] = []
    timeout, hour_s = asyncio.timeout, 3600.0

    def noted(delay: float | None) -> asyncio.Timeout:
        made = timeout(delay)
        if delay == hour_s:
            ages.append(made)
        return made

    monkeypatch.setattr("tui.bridge.client_connection.asyncio.timeout", noted)
    old = Bridge(QUICK, token="the-token", max_age_s=hour_s)
    await old.start()
    async with connect(old.url, additional_headers=TOKEN, proxy=None) as socket:
        while not ages:
            await asyncio.sleep(0.01)
        if busy:
            await create(socket, "rehearse 9000 tokens", model="rehearsal-fast@50", stream_id="a")
            await until(socket, "response.output_text.delta")
        ages[0].reschedule(asyncio.get_running_loop().time())
        last = (await until(socket, "error"))[-1]
        assert last["error"]["code"] == "websocket_connection_limit_reached"
        assert "stream_id" not in last
        with pytest.raises(ConnectionClosed) as closed:
            await event(socket)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1000
    await old.close()


async def test_a_client_that_asks_and_never_reads_is_not_listened_to(bridge: Bridge) -> None:
    """What it asks waits in the system's buffers, not in the bridge's memory."""
    _reader, writer = await raw(bridge)
    text = b'{"type":"' + b"y" * 100 + b'"}'
    frames = Frame(Opcode.TEXT, text).serialize(mask=True) * 1000

    async def ask_for_ever() -> None:
        while True:
            writer.write(frames)
            await writer.drain()

    asking = asyncio.create_task(ask_for_ever())
    assert bridge._server is not None
    while not bridge._server.connections:
        await asyncio.sleep(0.01)
    (connection,) = bridge._server.connections
    while connection.transport.is_reading():
        await asyncio.sleep(0.01)
    asking.cancel()
    assert connection.transport.get_write_buffer_size() < 1_000_000
    writer.transport.abort()
