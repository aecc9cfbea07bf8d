"""A connection that is to end when nothing runs on it: it ends behind the last word, not before."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.support.bridge_client import QUICK, create, dial, event
from tui.bridge.access import OneToken
from tui.bridge.client_connection import Performer, Stage
from tui.bridge.client_transport import Connection
from tui.bridge.server import Bridge
from tui.core.wire.server.responses import StoredResponses


class Watched(OneToken):
    """Lets a test have the stage."""

    def __init__(self) -> None:
        super().__init__("the-token")
        self.stage: Stage | None = None
        self.shelf = StoredResponses()

    def attended(self, performer: Performer) -> Performer:
        return performer

    def staged(self, stage: Stage) -> None:
        self.stage = stage

    @contextmanager
    def visit(self, connection: Connection) -> Iterator[Watched]:
        yield self

    def leave(self) -> None:
        assert self.stage is not None
        self.stage.leave()


async def rest(client: ClientConnection) -> list[str]:
    """The kinds of all events till the connection ends."""
    kinds: list[str] = []
    with contextlib.suppress(ConnectionClosed):
        while True:
            kinds.append((await event(client))["type"])
    return kinds


@pytest.fixture
def admission() -> Watched:
    return Watched()


@pytest.fixture
async def socket(admission: Watched) -> AsyncIterator[connect]:
    served = Bridge(QUICK, admission=admission)
    await served.start()
    yield dial(served)
    await served.close()


async def test_a_steered_response_s_successor_is_waited_for(
    socket: connect, admission: Watched
) -> None:
    async with socket as client:
        await create(client, "rehearse 400 tokens", model="rehearsal-fast@400")
        while (got := await event(client))["type"] != "response.output_text.delta":
            if got["type"] == "response.created":
                parent = got["response"]["id"]
        admission.leave()
        steer = {"type": "response.steer", "previous_response_id": parent, "input": "hello"}
        await client.send(json.dumps(steer))
        said = await rest(client)
        assert said.count("response.created") == 1
        assert said[-1] == "response.completed"
        assert client.close_code == 1012
