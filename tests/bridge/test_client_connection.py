"""A connection that is to end when nothing runs on it: it ends behind the last word, not before."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest
from websockets.asyncio.client import ClientConnection as Socket
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.support.bridge_client import QUICK, create, dial, event
from tui.bridge.access import SingleToken
from tui.bridge.client_connection import ClientConnection, Responder
from tui.bridge.client_transport import ClientTransport
from tui.bridge.server import Bridge
from tui.core.wire.server.responses import StoredResponses


class Watched(SingleToken):
    """Lets a test have the stage."""

    def __init__(self) -> None:
        super().__init__("the-token")
        self.client: ClientConnection | None = None
        self.stored = StoredResponses()

    def guarded(self, responder: Responder) -> Responder:
        return responder

    def attached(self, client: ClientConnection) -> None:
        self.client = client

    @contextmanager
    def admit(self, connection: ClientTransport) -> Iterator[Watched]:
        yield self

    def leave(self) -> None:
        assert self.client is not None
        self.client.leave()


async def rest(client: Socket) -> list[str]:
    """The kinds of all events till the connection ends."""
    kinds: list[str] = []
    with contextlib.suppress(ConnectionClosed):
        while True:
            kinds.append((await event(client))["type"])
    return kinds


@pytest.fixture
def access() -> Watched:
    return Watched()


@pytest.fixture
async def socket(access: Watched) -> AsyncIterator[connect]:
    served = Bridge(QUICK, access=access)
    await served.start()
    yield dial(served)
    await served.close()


async def test_a_steered_response_s_successor_is_waited_for(
    socket: connect, access: Watched
) -> None:
    async with socket as client:
        await create(client, "rehearse 400 tokens", model="rehearsal-fast@400")
        while (got := await event(client))["type"] != "response.output_text.delta":
            if got["type"] == "response.created":
                parent = got["response"]["id"]
        access.leave()
        steer = {"type": "response.steer", "previous_response_id": parent, "input": "hello"}
        await client.send(json.dumps(steer))
        said = await rest(client)
        assert said.count("response.created") == 1
        assert said[-1] == "response.completed"
        assert client.close_code == 1012
