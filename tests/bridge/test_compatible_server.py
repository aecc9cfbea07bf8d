"""PROTOCOL section 12, clause by clause, before an HTTP provider that sees what it is asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from websockets.asyncio.client import ClientConnection

from tests.support.bridge_client import create, until
from tests.support.relayed import Relayed
from tests.support.sse_upstream import SseUpstream, completed, message, opening, stream
from tests.support.tables import each
from tui.bridge.server import Bridge


class Provider:
    """Says ``said N`` to its Nth request; one whose last text is ``wait`` begins and waits."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self._asked = 0

    async def answer(self, request: web.Request, upstream: SseUpstream) -> web.StreamResponse:
        self._asked += 1
        text = f"said {self._asked}"
        response = await stream(request)
        await response.write(opening())
        if json.dumps(upstream.bodies[-1]["input"]).endswith('"wait"}]}]'):
            await self.go_on.wait()
        await response.write(message(text) + completed())
        return response


@pytest.fixture
async def provider() -> Provider:
    return Provider()


@pytest.fixture
async def pair(
    bridge: Bridge, provider: Provider
) -> AsyncIterator[tuple[ClientConnection, SseUpstream]]:
    async with Relayed(bridge, provider.answer) as found:
        yield found


def texts(body: dict[str, Any]) -> list[str]:
    """What a provider was told, item by item."""
    return [part["text"] for item in body["input"] for part in item.get("content", ())]


Pair = tuple[ClientConnection, SseUpstream]


async def asked(upstream: SseUpstream) -> None:
    """Returns when the provider works on something."""
    async with asyncio.timeout(60):
        while not upstream.running:
            await asyncio.sleep(0.005)


@each(
    "items",
    [
        "hi",
        [{"role": "user", "content": "hi"}],
        [{"role": "user", "content": [{"type": "input_text", "text": "hi"}], "id": "msg_9"}],
        [{"type": "message", "role": "user", "content": "hi"}],
    ],
)
async def test_any_form_of_input_is_taken(pair: Pair, items: object) -> None:
    socket, upstream = pair
    await create(socket, "", input=items)
    assert (await until(socket))[-1]["type"] == "response.completed"
    assert texts(upstream.bodies[0]) == ["hi"]
