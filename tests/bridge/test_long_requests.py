"""One long request keeps no other client waiting, whatever it holds."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
from collections.abc import Callable
from typing import Any

import pytest
from websockets.frames import Frame, Opcode
from websockets.sync.client import connect

from tests.support.bridge_client import TERMINAL
from tests.support.loop_turns import short_turns
from tests.support.rehearsed import user
from tests.support.tables import each
from tui.bridge.server import Bridge

pytestmark = pytest.mark.slow

LONG = "a line\n" * 2_000_000


def calls() -> list[dict[str, str]]:
    return [
        {"type": kind, "call_id": f"c{number}", **said}
        for number in range(9_500)
        for kind, said in (
            ("function_call", {"name": "read_file", "arguments": "{}"}),
            ("function_call_output", {"output": "x"}),
        )
    ]


REQUESTS: dict[str, tuple[int, Callable[[], Any]]] = {
    "a long prompt": (200, lambda: {"input": LONG}),
    "line ends": (200, lambda: {"input": "\n" * 7_000_000}),
    "half a character": (200, lambda: {"input": "\n" * 4_000_000 + "\ud83d"}),
    "a late euro": (200, lambda: {"input": LONG + "\u20ac"}),
    "a late emoji": (200, lambda: {"input": LONG + "\U0001f600" + LONG[:1_000_000]}),
    "a late emoji in an item": (200, lambda: {"input": [user(LONG + "\U0001f600")]}),
    "very many calls": (200, lambda: {"input": calls()}),
    "an unknown field": (200, lambda: {"said": LONG}),
    "very many keys": (200, lambda: {"said": {f"k{number}": 1 for number in range(150_000)}}),
    "very many lists": (200, lambda: {"said": [[]] * 90_000}),
    "very many items": (200, lambda: {"input": [user("x")] * 15_000}),
    "very many tools": (200, lambda: {"tools": [{"type": "function", "name": "f"}] * 15_000}),
    "too many items": (400, lambda: {"input": [user("x")] * 20_001}),
    "a long name": (400, lambda: {"model": LONG}),
    "too many values": (400, lambda: {"said": [0] * 300_000}),
    "no JSON": (400, lambda: b"x" * 14_000_000),
    "no UTF-8": (400, lambda: b'{"input": "' + b"x" * 14_000_000 + b'\xff"}'),
    "too deep": (400, lambda: b'{"input": ' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}"),
    "too large": (413, lambda: b" " * (33 * 2**20)),
}
NO_OBJECTS = ("no JSON", "no UTF-8", "too deep", "too large")
"""These are bytes."""


def status(port: int, body: bytes) -> int:
    """Of the answer, in whatever thread this is called."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": "Bearer the-token", "Content-Type": "application/json"}
    connection.request("POST", "/v1/responses", body, headers)
    answer = connection.getresponse()
    answer.read()
    return answer.status


def posted(prompt: str) -> bytes:
    """A whole request."""
    body = json.dumps({"model": "rehearsal-fast", "input": prompt}).encode()
    head = b"POST /v1/responses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer the-token\r\n"
    return head + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
        len(body),
        body,
    )


def ended(url: str, text: str) -> str:
    """The type of the event that ends an answer on a WebSocket."""
    headers = {"Authorization": "Bearer the-token"}
    with connect(url, additional_headers=headers, proxy=None, max_size=None) as client:
        client.send(text)
        while (kind := json.loads(client.recv(60))["type"]) not in TERMINAL:
            pass
    return str(kind)


@each("name", REQUESTS)
async def test_no_turn_takes_long(bridge: Bridge, name: str) -> None:
    wanted, made = REQUESTS[name]
    body = said = made()
    if not isinstance(said, bytes):
        body = json.dumps({"model": "rehearsal-fast", "input": "hi", **said}).encode()
    await asyncio.to_thread(status, bridge.port, b"{}")
    async with short_turns() as again:
        while again():
            assert await asyncio.to_thread(status, bridge.port, body) == wanted


@each("name", [name for name in REQUESTS if name not in NO_OBJECTS])
async def test_no_turn_takes_long_on_a_websocket(bridge: Bridge, name: str) -> None:
    wanted, made = REQUESTS[name]
    event = {"type": "response.create", "model": "rehearsal-fast", "input": "hi", **made()}
    text = json.dumps(event, ensure_ascii=False).replace("\ud83d", "?")
    async with short_turns() as again:
        while again():
            kind = await asyncio.to_thread(ended, bridge.url, text)
            assert kind == ("response.completed" if wanted == 200 else "error")


async def test_many_slow_bodies_at_once(bridge: Bridge) -> None:
    said = posted("x" * 60_000)

    def answers() -> set[bytes]:
        """Of 100 clients, who send their bodies a piece each in turn."""
        clients = [socket.create_connection(("127.0.0.1", bridge.port)) for _ in range(100)]
        for at in range(0, len(said), 2000):
            for client in clients:
                client.sendall(said[at : at + 2000])
        return {client.recv(12) for client in clients}

    await asyncio.to_thread(status, bridge.port, b"{}")
    async with short_turns() as again:
        while again():
            assert await asyncio.to_thread(answers) == {b"HTTP/1.1 200"}


async def test_many_requests_on_a_connection_at_once(bridge: Bridge) -> None:
    def answers() -> int:
        with socket.create_connection(("127.0.0.1", bridge.port), timeout=60) as client:
            client.sendall(posted("hi") * 50)
            said = b""
            while said.count(b"HTTP/1.1 200") < 50:
                said += client.recv(2**16)
        return said.count(b"HTTP/1.1 ")

    await asyncio.to_thread(status, bridge.port, b"{}")
    async with short_turns() as again:
        while again():
            assert await asyncio.to_thread(answers) == 50


async def test_clients_that_never_read(bridge: Bridge) -> None:
    asked = {"type": "response.create", "model": "rehearsal-fast"}
    much = json.dumps({**asked, "input": [user("rehearse 20000 tokens")]})
    key = b"GET /v1/responses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer the-token\r\n"
    key += b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    key += b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    frame = Frame(Opcode.TEXT, much.encode()).serialize(mask=True)

    def answer() -> str:
        """To one who reads, beside 20 who do not."""
        deaf = [socket.create_connection(("127.0.0.1", bridge.port)) for _ in range(20)]
        for client in deaf:
            client.sendall(key + frame)
        kind = ended(bridge.url, much)
        for client in deaf:
            client.close()
        return kind

    async with short_turns() as again:
        while again():
            assert await asyncio.to_thread(answer) == "response.completed"
