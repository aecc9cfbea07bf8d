"""A client of the bridge for tests: the websockets library, no code of ours."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from tests.support.rehearsed import user
from tui.bridge.rehearsal.endpoint import Rehearsal
from tui.bridge.server import Bridge
from tui.core.wire.address import Address

QUICK = Rehearsal(fast_tokens_s=20_000, deep_tokens_s=20_000, fast_ttft_s=0, deep_ttft_s=0)
TERMINAL = {"response.completed", "response.incomplete", "response.failed", "error"}


def dial(bridge: Bridge, token: str = "the-token", **headers: str) -> connect:
    sent = {"Authorization": f"Bearer {token}", **headers}
    return connect(bridge.url, additional_headers=sent, proxy=None, max_size=None)


async def create(socket: ClientConnection, prompt: str, **fields: Any) -> None:
    event = {"type": "response.create", "model": "rehearsal-fast", "input": [user(prompt)]}
    await socket.send(json.dumps({**event, **fields}))


async def event(socket: ClientConnection) -> dict[str, Any]:
    async with asyncio.timeout(60):
        got = json.loads(await socket.recv())
    assert isinstance(got, dict)
    return got


async def until(socket: ClientConnection, *kinds: str) -> list[dict[str, Any]]:
    """The events up to the first of these kinds (any terminal one, if none is named)."""
    events = [await event(socket)]
    while events[-1]["type"] not in (kinds or TERMINAL):
        events.append(await event(socket))
    return events


def prose(events: list[dict[str, Any]]) -> str:
    return "".join(e["delta"] for e in events if e["type"] == "response.output_text.delta")


def specification(address: Address, kind: str = "openai-responses") -> dict[str, object]:
    """An endpoint as a bridge is told of it on its stdin."""
    return {"kind": kind, "url": address.url, "headers": dict(address.headers)}
