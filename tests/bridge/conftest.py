"""A bridge on a free port, and a client of it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from hypothesis import HealthCheck, settings
from websockets.asyncio.client import ClientConnection

from tests.support.bridge_client import QUICK, create, dial, until
from tui.bridge.server import Bridge

# what is measured elsewhere: a busy machine is no fault
UNHURRIED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("unhurried", parent=settings(), **UNHURRIED)
settings.load_profile("unhurried")


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


@pytest.fixture
async def bystander(bridge: Bridge) -> AsyncIterator[None]:
    """Another client of the same bridge: its stream ends as if it were alone."""
    async with dial(bridge) as socket:
        await create(socket, "rehearse 300 tokens", model="rehearsal-fast@1500")
        await until(socket, "response.output_text.delta")
        yield
        assert (await until(socket))[-1]["type"] == "response.completed"
        await create(socket, "hello")
        assert (await until(socket))[-1]["type"] == "response.completed"
