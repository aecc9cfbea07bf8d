"""The socket against a real websockets server in this process."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.utils import accept_key

from tests.support.sockets import COMPLETED, CREATED, DELTA, connection_to, idle, say, serving
from tui.core.wire import events
from tui.engine.recovery import HOPELESS_CLOSES
from tui.errors import WireError


async def one_answer(socket: ServerConnection) -> None:
    """Answers every create with one delta; ignores the rest."""
    async for message in socket:
        if json.loads(message)["type"] == "response.create":
            await say(socket, CREATED, DELTA, COMPLETED)


async def endless(socket: ServerConnection) -> None:
    """Streams until it is interrupted, then says so and ends."""
    async for message in socket:
        if json.loads(message)["type"] == "response.create":
            await say(socket, CREATED, DELTA)
        else:
            cut = {"id": "resp_1", "incomplete_details": {"reason": "interrupted"}}
            accepted = {"type": "response.interrupt.accepted", "response_id": "resp_1"}
            await say(socket, DELTA, accepted, {"type": "response.incomplete", "response": cut})


async def test_an_interrupt_is_written_in_the_call_and_no_delta_passes_after_it() -> None:
    async with serving(endless) as url:
        connection, heard = connection_to(url)
        await connection.open()
        connection.create({"model": "m"})
        await heard.has(events.TextDelta)
        connection.interrupt()
        await heard.has(events.Incomplete)
        assert sum(isinstance(event, events.TextDelta) for event in heard.events) == 1
        assert connection.state == "open"
        connection.interrupt()
        connection.create({"model": "m"})
        await heard.has(events.TextDelta, 2)
        await connection.close()


async def test_a_server_that_ignores_the_interrupt_loses_the_socket_within_a_second() -> None:
    async def deaf(socket: ServerConnection) -> None:
        async for message in socket:
            if json.loads(message)["type"] == "response.create":
                await say(socket, CREATED, DELTA)

    loop = asyncio.get_running_loop()
    async with serving(deaf) as url:
        connection, heard = connection_to(url)
        await connection.open()
        connection.create({"model": "m"})
        await heard.has(events.TextDelta)
        started = loop.time()
        connection.interrupt()
        await heard.closed()
        assert loop.time() - started > 0.9
        # It is remembered: the next one goes at once.
        await connection.open()
        connection.create({"model": "m"})
        await heard.has(events.TextDelta, 2)
        connection.interrupt()
        assert connection.state == "closed"
        await heard.closed()
        await connection.close()


async def test_drop_frees_the_server_without_a_close_frame() -> None:
    ended = asyncio.get_running_loop().create_future()

    async def watch(socket: ServerConnection) -> None:
        try:
            async for _ in socket:
                await say(socket, CREATED)
        except ConnectionClosed as closed:
            ended.set_result(closed.rcvd)

    async with serving(watch) as url:
        connection, heard = connection_to(url)
        await connection.open()
        connection.create({"model": "m"})
        await heard.has(events.Created)
        connection.drop()
        assert connection.state == "closed"
        with pytest.raises(WireError):
            connection.create({"model": "m"})
        assert "dropped" in await heard.closed()
        async with asyncio.timeout(30):
            assert await ended is None
        await connection.close()


async def test_a_broken_stream_is_told_with_the_reason() -> None:
    async def broken(socket: ServerConnection) -> None:
        await socket.recv()
        await say(socket, CREATED, DELTA)
        socket.transport.abort()

    async with serving(broken) as url:
        connection, heard = connection_to(url)
        await connection.open()
        connection.create({"model": "m"})
        assert await heard.closed() == "the connection broke"
        assert sum(isinstance(event, events.TextDelta) for event in heard.events) == 1
        await connection.close()


async def test_binary_frames_break_the_connection_and_bad_json_does_not() -> None:
    async def odd(socket: ServerConnection) -> None:
        await socket.recv()
        await socket.send("this is not json")
        await say(socket, CREATED, DELTA)
        await socket.send(b"\x00\x01")
        await idle(socket)

    async with serving(odd) as url:
        connection, heard = connection_to(url)
        await connection.open()
        connection.create({"model": "m"})
        assert "binary" in await heard.closed()
        assert len(heard.events) == 2
        await connection.close()


async def test_a_big_event_passes_and_one_over_the_limit_does_not() -> None:
    big = {**DELTA, "delta": "x" * 3_000_000}

    async def large(socket: ServerConnection) -> None:
        await socket.recv()
        await say(socket, CREATED, big)
        await idle(socket)

    async with serving(large) as url:
        connection, heard = connection_to(url)
        await connection.open()
        connection.create({"model": "m"})
        await heard.has(events.TextDelta)
        await connection.close()
        connection, heard = connection_to(url, max_message_bytes=2_000_000)
        await connection.open()
        connection.create({"model": "m"})
        assert "too big" in await heard.closed()
        await connection.close()


async def test_the_round_trip_is_measured_and_silence_is_death() -> None:
    async with serving(idle) as url:
        connection, heard = connection_to(url, ping_interval_s=0.02)
        await connection.open()
        async with asyncio.timeout(30):
            while connection.round_trip_s is None:
                await asyncio.sleep(0.005)
        assert connection.round_trip_s > 0
        await connection.close()

    async def stone(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Upgrades, then never says anything again."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        key = next(line.split(": ")[1] for line in head.split("\r\n") if "-Key:" in line)
        upgrade = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade"
        writer.write(f"{upgrade}\r\nSec-WebSocket-Accept: {accept_key(key)}\r\n\r\n".encode())
        await reader.read()
        writer.close()

    async with await asyncio.start_server(stone, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        url = f"ws://127.0.0.1:{port}/v1/responses"
        connection, heard = connection_to(url, ping_interval_s=0.05, silence_s=0.1)
        await connection.open()
        assert "no sign of life" in await heard.closed()
        await connection.close()


@pytest.mark.slow
async def test_a_server_that_only_pings_is_alive() -> None:
    async def pinging(socket: ServerConnection) -> None:
        for _ in range(15):
            await socket.ping()
            await asyncio.sleep(0.3)
        await socket.close()

    async with serving(pinging) as url:
        connection, heard = connection_to(url, ping_interval_s=1.0, silence_s=3.0)
        await connection.open()
        assert "no sign of life" not in await heard.closed()
        await connection.close()


async def test_a_handler_that_breaks_is_reported_and_the_socket_let_go() -> None:
    reported: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda loop, context: reported.append(context))

    def broken(event: events.Event, now: float) -> None:
        raise ZeroDivisionError

    async with serving(one_answer) as url:
        connection, heard = connection_to(url)
        connection.on_event = broken
        await connection.open()
        connection.create({"model": "m"})
        assert await heard.closed() == "an internal error"
        assert isinstance(reported[0]["exception"], ZeroDivisionError)
        assert connection.close_code in HOPELESS_CLOSES, "the request is not sent again"
        await connection.close()


async def test_an_interrupt_before_the_server_named_the_response() -> None:
    go = asyncio.Event()

    async def slow(socket: ServerConnection) -> None:
        await socket.recv()
        await go.wait()
        await say(socket, CREATED, DELTA)
        assert json.loads(await socket.recv())["response_id"] == "resp_1"
        await say(socket, COMPLETED)
        await idle(socket)

    async with serving(slow) as url:
        connection, heard = connection_to(url)
        await connection.open()
        connection.create({"model": "m"})
        connection.interrupt()
        go.set()
        await heard.has(events.Completed)
        assert [type(event).__name__ for event in heard.events] == ["Created", "Completed"]
        assert connection.state == "open"
        await connection.close()


async def test_two_opens_share_one_dial() -> None:
    async with serving(idle) as url:
        connection, heard = connection_to(url)
        await asyncio.gather(connection.open(), connection.open())
        await asyncio.sleep(0)
        assert [state for state, _ in heard.states] == ["connecting", "open"]
        await connection.close()
