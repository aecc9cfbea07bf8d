"""The session's connections to its endpoints, and their readying while the user still types.

A prewarm is a `response.create` with ``generate: false`` and an empty input (PROTOCOL.md
section 2.2); the first turn continues from it. It is sent once a connection, only before the
first prompt of a conversation, and never where it was refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from tui.core.conversation import History
from tui.core.wire.endpoint_facts import REHEARSAL
from tui.core.wire.events import Completed, ErrorEvent, Event, Failed, Incomplete
from tui.engine.intents import Effort
from tui.engine.ports import MAIN_LANE, RoleSpec, Wire, WireState
from tui.engine.requests import Request
from tui.engine.services import Services
from tui.errors import DuettoError


def unheard(event: Event, now: float) -> None:
    """Takes the events of a wire on which neither a turn nor a prewarm runs."""


PREWARM_S = 2.0
"""A prompt waits so long for the end of a prewarm; then the socket goes, and it with it."""


class Prewarming:
    """Of one wire."""

    def __init__(self, services: Services, wire: Wire) -> None:
        self._services = services
        self._wire = wire
        self._task: asyncio.Task[None] | None = None
        self._over: asyncio.Future[None] | None = None
        self._history: History | None = None
        self._asked: tuple[RoleSpec, Request] | None = None
        self._used = False
        """A request went over this connection: there is nothing left to warm."""

    def begin(self, spec: RoleSpec, effort: Effort | None, tier: str) -> None:
        """Dial if need be, and prewarm if that helps; what fails will be told to a prompt."""
        if self._over is not None or (self._task is not None and not self._task.done()):
            return
        if self._wire.state != "open" or self._helps(spec):
            work = self._warm(spec, effort, tier)
            self._task = self._services.supervisor.start(work, "the prewarm")

    def used(self) -> None:
        """A turn begins on this connection."""
        self._used = True

    def lost(self) -> None:
        """The connection is gone, and what was warm with it."""
        self._used = False
        self._end()

    def event(self, event: Event, now: float) -> None:
        """Take an event about the prewarm: nothing of it is ever shown."""
        if isinstance(event, Completed) and self._history is self._services.requests.history:
            self._services.requests.history.warmed(event.response_id)
        if isinstance(event, Failed | ErrorEvent) and self._asked is not None:
            self._services.requests.learns(*self._asked, event)
        if isinstance(event, Completed | Incomplete | Failed | ErrorEvent):
            self._end()

    async def over(self) -> None:
        """Wait until the lane is free for a turn."""
        if self._over is None:
            return
        try:
            await asyncio.wait_for(asyncio.shield(self._over), PREWARM_S)
        except TimeoutError:
            self._wire.drop()
            self._end()

    async def _warm(self, spec: RoleSpec, effort: Effort | None, tier: str) -> None:
        services = self._services
        try:
            await self._wire.open()
            await services.open_files.prepare()
            if services.state.status.role != spec.role or not self._helps(spec):
                return
            self._asked = (spec, services.requests.head(spec, effort, tier))
            request = services.requests.warm(*self._asked)
            self._used = True
            self._history = services.requests.history
            self._over = asyncio.get_running_loop().create_future()
            self._wire.on_event = self.event
            self._wire.create(request)
        except DuettoError:
            self._end()

    def _helps(self, spec: RoleSpec) -> bool:
        """True if nothing runs, nothing was said, and the endpoint is not known to refuse."""
        services, wire = self._services, self._wire
        return (
            not self._used
            and not services.state.status.busy
            and not services.requests.history.entries
            and services.requests.chains(spec)
            and wire.state == "open"
            and not wire.busy
            and wire.abilities(spec.model).prewarm is not False
        )

    def _end(self) -> None:
        over, self._over = self._over, None
        if over is not None:
            self._wire.on_event = unheard
        if over is not None and not over.done():
            over.set_result(None)


class EndpointConnection:
    """The foreground's way to one endpoint."""

    def __init__(self, services: Services, endpoint: str) -> None:
        self.endpoint = endpoint
        self.wire: Wire = services.ports.wires(endpoint, MAIN_LANE)
        self.prewarm = Prewarming(services, self.wire)
        self.reached = False
        """It was open once: what fails now may pass by itself."""


class Connections:
    """One connection an endpoint, made when it is first needed."""

    def __init__(
        self,
        services: Services,
        on_closed: Callable[[EndpointConnection, str], None],
    ) -> None:
        self._services = services
        self._status = services.state.status
        self._on_closed = on_closed
        self._connections: dict[str, EndpointConnection] = {}

    def to(self, endpoint: str) -> EndpointConnection:
        """The connection to this endpoint."""
        connection = self._connections.get(endpoint)
        if connection is None:
            connection = self._connections[endpoint] = EndpointConnection(self._services, endpoint)
            connection.wire.on_event = unheard
            connection.wire.on_state = partial(self._stated, connection)
        return connection

    def renew(self, endpoint: str) -> None:
        """Leave the wire to this endpoint if there is another one by now: its key, its address."""
        connection = self._connections.get(endpoint)
        if connection is None or self._services.ports.wires(endpoint, MAIN_LANE) is connection.wire:
            return
        del self._connections[endpoint]
        connection.wire.on_state = lambda state, why: None
        self._services.requests.history.lost(endpoint)
        closing = connection.wire.close()
        self._services.supervisor.start(closing, "closing a connection")

    def describe(self, spec: RoleSpec) -> None:
        """Say in the status who answers now."""
        status = self._status
        status.endpoint = spec.endpoint
        status.rehearsal = spec.endpoint == REHEARSAL
        meter = self._services.state.meter
        meter.context_window = meter.window_of(spec.endpoint, spec.model, spec.context_window)
        connection = self._connections.get(spec.endpoint)
        if connection is None:
            status.connection = "starting"
            self._services.state.restated()
        else:
            self._say_connection(connection.wire.state, "")
        self.look(spec)

    def look(self, spec: RoleSpec) -> None:
        """Once a frame: what the connection has learnt by itself."""
        status, connection = self._status, self._connections.get(spec.endpoint)
        round_trip_s = connection.wire.round_trip_s if connection else None
        status.round_trip_ms = None if round_trip_s is None else round_trip_s * 1000
        can_steer = connection.wire.abilities(spec.model).steer if connection else None
        transport = connection.wire.transport if connection else "websocket"
        if (can_steer, transport) != (status.can_steer, status.transport):
            status.can_steer, status.transport = can_steer, transport
            self._services.state.restated()

    def rest(self) -> None:
        """Nobody waits for anything: a socket at rest that ends is no loss, however it ends.

        The next request dials anew (PROTOCOL section 11.3).
        """
        if self._status.connection == "lost":
            self._say_connection("closed", "")

    async def close(self) -> None:
        """Close the sockets."""
        for connection in self._connections.values():
            await connection.wire.close()

    def _stated(self, connection: EndpointConnection, state: WireState, why: str) -> None:
        if connection.endpoint == self._status.endpoint:
            resting = state == "closed" and not self._status.busy
            self._status.transport = connection.wire.transport
            self._say_connection(state, "" if resting else why)
        if state == "open":
            connection.reached = True
        elif state == "closed":
            connection.prewarm.lost()
            self._on_closed(connection, why)

    def _say_connection(self, state: WireState, why: str) -> None:
        if state == "closed":
            self._status.connection = "lost" if why else "offline"
        else:
            self._status.connection = "ready" if state == "open" else "connecting"
        self._services.state.restated()
