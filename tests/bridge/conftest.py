"""A bridge on a free port, whose rehearsals never hurry, and a client of it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import pytest
from websockets.asyncio.client import ClientConnection

from tests.support.bridge_client import QUICK, create, dial, until
from tui.bridge.server import Bridge


class SteadyClock:
    """Goes on by little between two looks: who was not served has no tokens to catch up on."""

    STEP_S = 0.02

    def __init__(self) -> None:
        self._now_s = self._seen_s = time.monotonic()

    def monotonic(self) -> float:
        now_s = time.monotonic()
        self._now_s += min(now_s - self._seen_s, self.STEP_S)
        self._seen_s = now_s
        return self._now_s


@pytest.fixture(autouse=True)
def _steady(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.bridge.rehearsal.endpoint.time", SteadyClock())


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
