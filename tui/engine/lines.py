"""The session's lines to its endpoints, and what the status says of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tui.core.wire.events import Event
from tui.engine.kit import Kit
from tui.engine.ports import MAIN_LANE, RoleSpec, Wire, WireState
from tui.engine.prewarm import Prewarm

REHEARSAL = "rehearsal"
"""The endpoint's name of the embedded rehearsal model."""


class Line:
    """The foreground's way to one endpoint."""

    def __init__(self, kit: Kit, endpoint: str) -> None:
        self.endpoint = endpoint
        self.wire: Wire = kit.ports.wires(endpoint, MAIN_LANE)
        self.prewarm = Prewarm(kit, self.wire)
        self.reached = False
        """It was open once: what fails now may pass by itself."""


class Lines:
    """One line an endpoint, made when it is first needed."""

    def __init__(
        self,
        kit: Kit,
        on_event: Callable[[Line, Event, float], None],
        on_closed: Callable[[Line, str], None],
    ) -> None:
        self._kit = kit
        self._status = kit.board.status
        self._on_event = on_event
        self._on_closed = on_closed
        self._lines: dict[str, Line] = {}

    def line(self, endpoint: str) -> Line:
        """The line to this endpoint."""
        line = self._lines.get(endpoint)
        if line is None:
            line = self._lines[endpoint] = Line(self._kit, endpoint)
            line.wire.on_event = partial(self._event, line)
            line.wire.on_state = partial(self._state, line)
        return line

    def describe(self, spec: RoleSpec) -> None:
        """Say in the status who answers now."""
        status = self._status
        status.endpoint = spec.endpoint
        status.rehearsal = spec.endpoint == REHEARSAL
        meter = self._kit.board.meter
        told = meter.windows.get((spec.endpoint, spec.model))
        meter.context_window = told or spec.context_window
        line = self._lines.get(spec.endpoint)
        self._connection(line.wire.state if line else "closed", "")
        self.look(spec)

    def look(self, spec: RoleSpec) -> None:
        """Once a frame: what the line has learnt by itself."""
        status, line = self._status, self._lines.get(spec.endpoint)
        round_trip_s = line.wire.round_trip_s if line else None
        status.round_trip_ms = None if round_trip_s is None else round_trip_s * 1000
        can_steer = line.wire.abilities(spec.model).steer if line else None
        transport = line.wire.transport if line else "websocket"
        if (can_steer, transport) != (status.can_steer, status.transport):
            status.can_steer, status.transport = can_steer, transport
            self._kit.board.restated()

    def rest(self) -> None:
        """Nobody waits for anything: a socket at rest that ends is no loss, however it ends.

        The next request dials anew (PROTOCOL section 11.3).
        """
        if self._status.connection == "lost":
            self._connection("closed", "")

    async def close(self) -> None:
        """Close the sockets."""
        for line in self._lines.values():
            await line.wire.close()

    def _event(self, line: Line, event: Event, now: float) -> None:
        if not (line.prewarm.running and line.prewarm.event(event)):
            self._on_event(line, event, now)

    def _state(self, line: Line, state: WireState, why: str) -> None:
        if line.endpoint == self._status.endpoint:
            resting = state == "closed" and not self._status.busy
            self._status.transport = line.wire.transport
            self._connection(state, "" if resting else why)
        if state == "open":
            line.reached = True
        elif state == "closed":
            line.prewarm.lost()
            self._on_closed(line, why)

    def _connection(self, state: WireState, why: str) -> None:
        if state == "closed":
            self._status.connection = "lost" if why else "offline"
        else:
            self._status.connection = "ready" if state == "open" else "connecting"
        self._kit.board.restated()
