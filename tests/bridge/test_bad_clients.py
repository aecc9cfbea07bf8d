"""Clients that flood, lie, hang or say nonsense: one answer each, and nobody else is harmed."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest
from websockets.frames import Opcode

from tests.bridge.test_main import first_line, start
from tests.support.bridge_client import QUICK, create, dial, until
from tests.support.raw_client import RawClient
from tests.support.rehearsed import user
from tui.bridge import client_connection, client_transport
from tui.bridge.server import Bridge
from tui.core.wire.server import protocol

MIB = 1024 * 1024
SLOW = "rehearsal-fast@2"


DEEP = 100_000
NONSENSE = [
    b"",
    b"null",
    b'"response.create"',
    b"\xef\xbb\xbf{}",
    b'{"type":',
    b'{"type":"response.create","input":NaN}',
    b'{"type":"' + b"x" * 100_000 + b'"}',
    b'{"type":["response.create"]}',
    b"[" * DEEP,
    b'{"type":"response.create","input":' + b"[" * DEEP + b"]" * DEEP + b"}",
    b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    b'{"type":"response.create","input":[{"type":[]}]}',
    b'{"type":"response.create","input":[{"type":{"a":1},"role":"user"}]}',
    b'{"type":"response.create","input":5}',
    b'{"type":"response.create","model":{"a":[1]},"input":"hi"}',
    b'{"type":"response.create","model":"' + b"m" * 5000 + b'","input":"hi"}',
    b'{"type":"response.create","previous_response_id":7,"input":"hi"}',
    b'{"type":"response.create","previous_response_id":"' + b"r" * 5000 + b'","input":"hi"}',
    b'{"type":"response.create","stream_id":"","input":"hi"}',
    b'{"type":"response.create","stream_id":3,"input":"hi"}',
    b'{"type":"duetto.throttle","tokens_s":-3}',
]


@pytest.mark.slow
@pytest.mark.parametrize("text", NONSENSE, ids=lambda text: text[:40].decode("utf-8", "replace"))
async def test_nonsense_is_one_error_that_says_little_back(
    bridge: Bridge, bystander: None, text: bytes
) -> None:
    async with RawClient(bridge.port) as client:
        client.frame(text)
        said = await client.event()
        assert said["type"] == "error"
        assert said["status"] == 400
        assert len(json.dumps(said)) < 2000
        client.create("hello")
        assert (await client.event())["type"] == "response.created"


NESTED = 900


@pytest.mark.parametrize("kind", ["response.steer", "response.inject", "response.create"])
async def test_what_is_nested_deeply_is_refused_and_breaks_nothing(
    bridge: Bridge, bystander: None, kind: str
) -> None:
    deep = b"[" * NESTED + b"]" * NESTED
    item = b'[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi","x":'
    async with RawClient(bridge.port) as client:
        body = {
            "response.steer": b',"previous_response_id":"r","input":' + deep,
            "response.inject": b',"response_id":"r","input":' + deep,
            "response.create": b',"model":"rehearsal-fast","input":' + item + deep + b"}]}]",
        }[kind]
        client.frame(b'{"type":"' + kind.encode() + b'"' + body + b"}")
        said = [await client.event()]
        while said[-1]["type"] in ("response.created", "response.in_progress"):
            said.append(await client.event())
        client.frame(b'{"type":"x"}')
        while said[-1]["type"] != "error" or said[-1]["error"]["code"] != "unknown_event":
            said.append(await client.event())
        assert 2 <= len(said) < 40


@pytest.mark.parametrize(
    ("opcode", "data", "code"),
    [
        (Opcode.TEXT, b'{"type":"\xff\xfe"}', 1007),
        (Opcode.CONT, b"no beginning", 1002),
        (Opcode.CLOSE, b"\x00", 1002),
    ],
)
async def test_what_is_no_websocket_ends_that_connection_only(
    bridge: Bridge, bystander: None, opcode: Opcode, data: bytes, code: int
) -> None:
    async with RawClient(bridge.port) as client:
        client.frame(data, opcode)
        assert await client.closed() == code


async def test_garbage_instead_of_a_handshake_says_nothing_in_the_log(
    bridge: Bridge, bystander: None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for head in (b"\x16\x03\x01\x02\x00\x01\x00", b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 300):
        reader, writer = await asyncio.open_connection("127.0.0.1", bridge.port)
        writer.write(head + b"\r\n\r\n")
        async with asyncio.timeout(60):
            await reader.read()
        writer.close()
    assert "Traceback" not in caplog.text


async def test_requests_that_wait_are_held_up_to_a_size(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "MAX_HELD_BYTES", 5 * MIB)
    async with RawClient(bridge.port) as client:
        client.create("rehearse 2000 tokens", model=SLOW)
        for _ in range(6):
            client.create("x" * MIB)
        refused = await client.event()
        while refused["type"] != "error":
            refused = await client.event()
        assert refused["status"] == 429
        assert refused["error"]["code"] == "websocket_queue_full"


def playing() -> int:
    """Models that are at work, those included that wait for a client to read."""
    names = [str(task.get_coro()) for task in asyncio.all_tasks()]
    return sum("_Answering.play" in name for name in names)


async def test_an_interrupt_is_heard_from_a_client_that_does_not_read(bridge: Bridge) -> None:
    async with RawClient(bridge.port) as client:
        for lane in range(12):
            client.create(
                "rehearse 900000 tokens", model="rehearsal-fast@20000", stream_id=f"{lane}"
            )
        created = await client.event()
        assert bridge._server is not None
        (served,) = bridge._server.connections
        async with asyncio.timeout(60):
            while not served.paused:
                await asyncio.sleep(0.01)
        response_id = created["response"]["id"]
        client.say(type="response.interrupt", response_id=response_id)
        async with asyncio.timeout(60):
            while playing() == 12:
                await asyncio.sleep(0.01)


async def test_a_client_that_takes_nothing_for_long_is_cut_off(
    bridge: Bridge, bystander: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_transport, "STALLED_S", 0.3)
    assert bridge._server is not None
    async with RawClient(bridge.port) as client:
        for lane in range(12):
            client.create(
                "rehearse 900000 tokens", model="rehearsal-fast@20000", stream_id=f"{lane}"
            )
        async with asyncio.timeout(60):
            while len(bridge._server.connections) < 2:
                await asyncio.sleep(0.01)
            while len(bridge._server.connections) > 1:
                await asyncio.sleep(0.01)


async def test_a_client_whose_machine_is_gone_is_let_go_and_one_that_answers_pings_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client_transport, "PING_S", 0.05)
    monkeypatch.setattr(client_transport, "PONG_S", 1.5)
    served = Bridge(QUICK, token="the-token")
    await served.start()
    async with dial(served) as there, RawClient(served.port) as gone:
        assert await gone.closed() == 1011
        await create(there, "hello")
        assert (await until(there))[-1]["type"] == "response.completed"
    await served.close()


async def test_a_half_open_handshake_harms_nobody(bridge: Bridge, bystander: None) -> None:
    writers = []
    for _ in range(100):
        _, writer = await asyncio.open_connection("127.0.0.1", bridge.port)
        writer.write(b"GET /v1/responses HTTP/1.1\r\nHost:")
        writers.append(writer)
    async with dial(bridge) as socket:
        await create(socket, "hello")
        assert (await until(socket))[-1]["type"] == "response.completed"
    for writer in writers:
        writer.transport.abort()


@pytest.mark.slow
async def test_silence_is_broken_by_signs_of_life(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_connection, "KEEP_ALIVE_S", 0.05)
    async with dial(bridge) as socket:
        await create(socket, "rehearse 3 tokens", model="rehearsal-fast@10", stream_id="a")
        events = await until(socket, "response.completed")
    kinds = [one["type"] for one in events]
    assert kinds.count("response.in_progress") > 5
    assert [one["sequence_number"] for one in events] == list(range(len(events)))
    assert all(one["stream_id"] == "a" for one in events)


async def test_a_flood_of_prewarms_makes_one_connection_ahead(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    going = asyncio.Event()

    async def warm(_self: object, request: Any) -> None:
        asked.append(request)
        await going.wait()

    monkeypatch.setattr("tui.bridge.client_connection.EndpointResponder.warm", warm)
    async with dial(bridge) as socket:
        for number in range(40):
            await create(socket, "", input=[user(str(number))], generate=False)
            assert (await until(socket))[-1]["type"] == "response.completed"
        assert len(asked) == 1
        going.set()


def memory_mb(pid: int) -> int:
    """What a process ever held."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0
    (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) // 1024


@pytest.mark.slow
async def test_a_flood_of_large_requests_leaves_memory_bounded() -> None:
    with start() as process:
        said = await asyncio.to_thread(first_line, process)
        port = int(said["url"].split(":")[2].split("/")[0])
        async with RawClient(port, said["token"]) as client:
            client.create("rehearse 9000 tokens", model=SLOW)
            assert (await client.event())["type"] == "response.created"
            big = json.dumps(
                {"type": "response.create", "model": "rehearsal-fast", "input": "x" * (16 * MIB)}
            )

            async def flood() -> None:
                for _ in range(64):
                    client.frame(big.encode())
                    await client.writer.drain()

            flooding = asyncio.create_task(flood())
            refused = 0
            while refused < 20:
                refused += (await client.event())["type"] == "error"
            flooding.cancel()
            await asyncio.gather(flooding, return_exceptions=True)
            assert memory_mb(process.pid) < 500
        process.terminate()
