"""A bridge on a free port, and a client of it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from websockets.asyncio.client import ClientConnection

from tests.support.bridge_client import QUICK, dial
from tui.bridge.server import Bridge


@pytest.fixture
async def bridge() -> AsyncIterator[Bridge]:
    served = Bridge(QUICK, token="the-token")
    await served.start()
    yield served
    await served.close()


@pytest.fixture
async def client(bridge: Bridge) -> AsyncIterator[ClientConnection]:
    async with dial(bridge) as socket:
        yield socket
