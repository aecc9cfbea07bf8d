"""A client of an upstream behind the bridge."""

from __future__ import annotations

from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from tests.support.bridge_client import create, until
from tests.support.sse_upstream import Answer, SseUpstream, serving
from tui.bridge.server import Bridge


class Relayed:
    """A client of an upstream behind the bridge."""

    def __init__(self, bridge: Bridge, answer: Answer) -> None:
        self._bridge = bridge
        self._answer = answer

    async def __aenter__(self) -> tuple[ClientConnection, SseUpstream]:
        self._serving = serving(self._answer)
        upstream = await self._serving.__aenter__()
        self._bridge.endpoints.targets["my server"] = upstream.target
        headers = {"Authorization": f"Bearer {self._bridge.token}"}
        url = self._bridge.url_of("my server")
        self.socket = await connect(url, additional_headers=headers, proxy=None, max_size=None)
        return self.socket, upstream

    async def __aexit__(self, *why: Any) -> None:
        await self.socket.close()
        await self._serving.__aexit__(*why)


async def answered(bridge: Bridge, answer: Answer, **fields: Any) -> list[dict[str, Any]]:
    """The events of one create."""
    async with Relayed(bridge, answer) as (socket, _):
        await create(socket, "hi", **fields)
        return await until(socket)
