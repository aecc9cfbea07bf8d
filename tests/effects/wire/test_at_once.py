"""What is asked for is on the wire when the call returns, however much comes the other way."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from websockets.frames import Frame, Opcode
from websockets.utils import accept_key, apply_mask

from tests.support.sockets import Heard, at
from tui.core.wire import events
from tui.effects.system import MonotonicClock
from tui.effects.wire.endpoint import Endpoint, EndpointLane
from tui.effects.wire.frames import MAX_PONG_BYTES


def said(lane: str, kind: str, **fields: Any) -> bytes:
    payload = json.dumps({"type": kind, "stream_id": lane, **fields}).encode()
    return Frame(Opcode.TEXT, payload).serialize(mask=False)


def asked(plug: socket.socket) -> list[dict[str, Any]]:
    """The text frames that the kernel has for the server now, without a turn of the loop."""
    plug.setblocking(False)
    try:
        data = plug.recv(2**20)
    except BlockingIOError:
        return []
    frames = []
    while data:
        size, body = data[1] & 0x7F, 2
        if size == 126:
            size, body = int.from_bytes(data[2:4], "big"), 4
        mask, payload = data[body : body + 4], data[body + 4 : body + 4 + size]
        if data[0] == 0x81:
            frames.append(json.loads(apply_mask(payload, mask)))
        data = data[body + 4 + size :]
    return frames


@asynccontextmanager
async def bare(
    *names: str,
) -> AsyncIterator[tuple[socket.socket, list[tuple[EndpointLane, Heard]]]]:
    """Lanes that stream, and the server's end as a bare socket."""
    loop = asyncio.get_running_loop()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        url = f"ws://127.0.0.1:{listener.getsockname()[1]}/v1/responses"
        endpoint = Endpoint("bare", at(url), MonotonicClock())
        endpoint.capabilities.lanes = True
        opening = asyncio.create_task(endpoint.lane(names[0]).open())
        plug, _ = await loop.sock_accept(listener)
        with plug:
            head = (await loop.sock_recv(plug, 65536)).decode()
            key = next(
                line[19:] for line in head.split("\r\n") if line.startswith("Sec-WebSocket-Key")
            )
            answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade"
            accept = f"{answer}\r\nSec-WebSocket-Accept: {accept_key(key)}\r\n\r\n"
            await loop.sock_sendall(plug, accept.encode())
            await opening
            lanes = [(lane, Heard(lane)) for lane in map(endpoint.lane, names)]
            for lane, heard in lanes:
                await lane.open()
                lane.create({"model": "m"})
                response = {"id": f"resp_{lane.name}"}
                first = said(lane.name, "response.created", response=response)
                first += said(lane.name, "response.output_text.delta", item_id="i", delta="x")
                await loop.sock_sendall(plug, first)
                await heard.has(events.TextDelta)
            asked(plug)
            yield plug, lanes
        await endpoint.close()


async def test_an_interrupt_is_in_the_kernel_when_the_call_returns() -> None:
    async with bare("main", "deep") as (plug, [(lane, _), _other]):
        lane.interrupt()
        event = {"type": "response.interrupt", "response_id": "resp_main"}
        assert asked(plug) == [event | {"mode": "discard_partial_items"}]


async def test_nothing_of_what_was_already_there_passes_after_an_interrupt() -> None:
    """Also of the same read: the handler itself interrupts in the middle of it."""
    async with bare("main", "deep") as (plug, [(lane, first), (_, second)]):
        seen = len(first.events)

        def stop(event: events.Event, now: float) -> None:
            first.events.append(event)
            lane.interrupt()

        lane.on_event = stop
        flood = b"".join(
            said(name, "response.output_text.delta", item_id="i", delta=str(number))
            for number in range(500)
            for name in ("main", "deep")
        )
        await asyncio.get_running_loop().sock_sendall(plug, flood)
        await second.has(events.TextDelta, 501)
        assert len(first.events) == seen + 1


async def test_an_interrupt_amid_a_flood_is_written_at_once() -> None:
    async with bare("main", "deep", "try-1", "try-2") as (plug, lanes):
        loop = asyncio.get_running_loop()
        piece = b"".join(
            said(lane.name, "response.output_text.delta", item_id="i", delta="abcd")
            for _ in range(1000)
            for lane, _ in lanes
        )
        flood = asyncio.create_task(loop.sock_sendall(plug, piece))
        lane, heard = lanes[1]
        await heard.has(events.TextDelta, 50)
        lane.interrupt()
        assert asked(plug)[-1]["response_id"] == "resp_deep"
        plug.setblocking(False)
        await flood


@pytest.mark.slow
async def test_pings_of_a_server_that_does_not_read_make_no_heap() -> None:
    async with bare("a") as (plug, [(lane, _)]):
        loop = asyncio.get_running_loop()
        transport = lane.link._socket.transport
        pings = Frame(Opcode.PING, b"x" * 125).serialize(mask=False) * 500
        pings += Frame(Opcode.TEXT, b"{}").serialize(mask=False)
        for _ in range(60):
            await loop.sock_sendall(plug, pings)
        assert transport.get_write_buffer_size() < 2 * MAX_PONG_BYTES
        while transport.get_write_buffer_size():
            await loop.sock_recv(plug, 2**20)
        await loop.sock_sendall(plug, Frame(Opcode.PING, b"the last").serialize(mask=False))
        async with asyncio.timeout(60):
            seen = b""
            while len(seen) < 14 or seen[-14] != 0x8A or seen[-13] != 0x88:
                seen += await loop.sock_recv(plug, 2**20)
        assert apply_mask(seen[-8:], seen[-12:-8]) == b"the last"


async def test_pieces_that_come_at_once_are_handed_on_as_few_and_whole() -> None:
    async with bare("main", "deep") as (plug, [(_, first), (_, second)]):
        parts = [(name, item) for name in ("main", "deep") for item in "ab" for _ in range(50)]
        flood = b"".join(
            said(name, "response.output_text.delta", item_id=item, delta=f"{item}{at} ")
            for at, (name, item) in enumerate(parts)
        )
        await asyncio.get_running_loop().sock_sendall(plug, flood)
        for heard, name in ((first, "main"), (second, "deep")):
            whole = [f"{item}{at} " for at, (lane, item) in enumerate(parts) if lane == name]
            texts = partial(_texts, heard)
            await heard.until(lambda texts=texts, whole=whole: texts() == "x" + "".join(whole))
            assert len(heard.events) < 50


def _texts(heard: Heard) -> str:
    return "".join(event.delta for event in heard.events if isinstance(event, events.TextDelta))
