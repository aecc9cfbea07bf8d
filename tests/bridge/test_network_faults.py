"""Providers that fail while the bridge asks them: nothing is paid twice, nothing is left."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection

from tests.bridge.test_client_connection import endpoints
from tests.bridge.upstream.test_client import HEAD, Server, served
from tests.support.bridge_client import create, dial, until
from tests.support.sse_upstream import (
    KEY,
    message,
    opening,
    refusing,
    sse,
)
from tests.support.tables import each
from tui.bridge.endpoints.base import EndpointSpec
from tui.bridge.server import Bridge
from tui.bridge.targets import target


def at(bridge: Bridge, server: Server, kind: str = "openai-responses", path: str = "") -> None:
    """Make a server by hand the bridge's endpoint ``one``."""
    url = server.url if not path else server.url.replace("/v1/responses", path)
    bridge.endpoints.targets["one"] = target("one", EndpointSpec(kind, url), KEY)


async def test_nobody_is_asked_twice_by_fallbacks_that_lead_back(
    bridge: Bridge, client: ClientConnection
) -> None:
    broken = refusing(500, {"error": {"message": "out of order"}})
    loops = ["one/m", "two/m", "one/m", "two/m", "two/m"]
    async with endpoints(bridge, loops, one=broken, two=broken) as made:
        await create(client, "hi", model="one/m")
        refused = (await until(client))[-1]
        assert refused["error"]["message"].count("out of order") == 2
        assert [len(one.bodies) for one in made.values()] == [1, 1]


@each("state", ["headers", "streaming", "throttled", "not read", "paused"])
async def test_an_upstream_hears_of_an_interrupt_at_once_in_every_state(
    state: str, bridge: Bridge, client: ClientConnection
) -> None:
    where = {"item_id": "msg_0", "output_index": 0, "content_index": 0}
    delta = sse("response.output_text.delta", delta="y" * 400, **where)

    async def answer(_server: Server, writer: asyncio.StreamWriter) -> None:
        if state != "headers":
            begun = opening() + message("x")[:-300].rsplit(b"event:", 1)[0]
            writer.write(HEAD + b"\r\n" + begun)
        while state in ("streaming", "not read", "throttled"):
            writer.write(delta * (1 if state == "streaming" else 100))
            await writer.drain()
            await asyncio.sleep(0.01 if state == "streaming" else 0)
        if state == "paused":
            writer.write(delta[: len(delta) // 2])

    async with served(answer) as server:
        at(bridge, server)
        model = "m@20" if state == "throttled" else "m"
        await create(client, "hi", model=f"one/{model}", stream_id="a")
        events = await until(client, "response.in_progress")
        name = events[0]["response"]["id"]
        async with asyncio.timeout(60):
            while not server.requests:
                await asyncio.sleep(0.005)
        await client.send(json.dumps({"type": "response.interrupt", "response_id": name}))
        async with asyncio.timeout(60):
            await server.left.wait()
        ended = (await until(client))[-1]
        assert ended["response"]["incomplete_details"]["reason"] == "interrupted"


@each("query", ["", "?key=sk-in-the-query-0123456789"])
@each("kind", ["openai-responses", "openai-chat", "anthropic", "auto"])
async def test_no_key_is_in_any_word_or_record_whatever_fails(
    kind: str,
    query: str,
    bridge: Bridge,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    secret = "sk-in-the-query-0123456789"

    async def fail(server: Server, writer: asyncio.StreamWriter) -> None:
        said = server.requests[-1][1]
        how = len(server.requests) % 6
        if how == 1:
            writer.write(b"HTTP/1.1 401 No\r\n\r\n" + said)  # an echo of everything
        elif how == 2:
            writer.write(b"HTTP/1.1 302 Go\r\nLocation: http://x/" + secret.encode() + b"\r\n\r\n")
        elif how == 3:
            writer.write(b"HTTP/9.9 " + said)
        elif how == 4:
            writer.write(HEAD + b"\r\ndata: {" + KEY.encode() + b"\n\n")
        elif how == 5:
            writer.write(HEAD + b"Bad\r\nHeader " + KEY.encode() + b"\r\n\r\n")
        writer.close()

    caplog.set_level(logging.DEBUG)
    events: list[Any] = []
    async with served(fail) as server, dial(bridge) as client:
        at(bridge, server, kind, f"/v1{query}")
        for _ in range(12):
            await create(client, "hi", model="one/m")
            events += await until(client)
    words = json.dumps(events) + "".join(capfd.readouterr())
    for record in caplog.records:
        if not record.name.startswith("websockets.client"):
            words += logging.Formatter().format(record)
    assert KEY not in words
    assert secret not in words
    assert sum(event["type"] in ("error", "response.failed") for event in events) == 12
