"""Lanes of a real endpoint at a scripted server, each listened to: the wire without an engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.support.fault_stand import PATIENT
from tests.support.nasty_server import Nasty, nasty
from tui.core.wire import events
from tui.core.wire.address import Address
from tui.core.wire.endpoint_facts import Capabilities
from tui.effects.system import MonotonicClock
from tui.effects.wire.endpoint import Endpoint
from tui.effects.wire.link import ConnectionOptions

ENDS = (events.Completed, events.Incomplete, events.Failed, events.ErrorEvent)


class Line:
    """A lane, and what it told."""

    def __init__(self, endpoint: Endpoint, name: str) -> None:
        self.wire = endpoint.lane(name)
        self.events: list[events.Event] = []
        self.states: list[str] = []
        self._news = asyncio.Event()
        self.wire.on_event = self._event
        self.wire.on_state = self._state

    def _event(self, event: events.Event, now: float) -> None:
        self.events.append(event)
        self._news.set()

    def _state(self, state: str, reason: str) -> None:
        self.states.append(state)
        self._news.set()

    async def until(self, done: Callable[[], Any], limit_s: float = 120.0) -> None:
        """Wait for it. Raises TimeoutError."""
        async with asyncio.timeout(limit_s):
            while not done():
                self._news.clear()
                await self._news.wait()

    def count(self, *kinds: type) -> int:
        """So many events of these types came."""
        return sum(isinstance(event, kinds) for event in self.events)

    @property
    def text(self) -> str:
        """All prose so far."""
        return "".join(e.delta for e in self.events if isinstance(e, events.TextDelta))

    async def ask(self, text: str, **fields: Any) -> None:
        """Open, and create."""
        await self.wire.open()
        item = {"type": "message", "role": "user", "content": text}
        self.wire.create({"model": "m", "input": [item], **fields})

    async def ended(self, count: int = 1) -> None:
        """Wait for so many terminal events."""
        await self.until(lambda: self.count(*ENDS) >= count)


@dataclass
class Party:
    """Several lanes of one endpoint."""

    server: Nasty
    endpoint: Endpoint
    capabilities: Capabilities
    lines: list[Line]

    @property
    def sockets(self) -> int:
        """How many are open."""
        return sum(view.state != "closed" for view in self.endpoint.views())


@asynccontextmanager
async def party(
    server: Nasty,
    names: tuple[str, ...],
    capabilities: Capabilities | None = None,
    options: ConnectionOptions = PATIENT,
) -> AsyncIterator[Party]:
    """These lanes at that server."""
    known = capabilities or Capabilities()
    async with nasty(server) as url:

        async def address() -> Address:
            return Address(url)

        endpoint = Endpoint(
            "scripted", address, MonotonicClock(), options=options, capabilities=known
        )
        try:
            yield Party(server, endpoint, known, [Line(endpoint, name) for name in names])
        finally:
            await endpoint.close()
