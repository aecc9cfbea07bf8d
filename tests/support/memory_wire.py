"""A client protocol face to face with a server protocol, in memory and frame by frame.

`MemoryWire` is a `Wire` of the engine whose network is two queues: nothing travels until the test
calls `deliver` (or sets `automatic`). It can hold frames back, lose them and break.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Literal

from tui.core.client_protocol import Capabilities, ClientProtocol
from tui.core.events import Event
from tui.core.protocol import Run, ServerProtocol
from tui.errors import WireError

WireState = Literal["closed", "connecting", "open"]


class MemoryWire:
    """One endpoint in memory; the test is its network and, through `on_run`, its model."""

    def __init__(self, on_run: Callable[[Run], None] = lambda run: None) -> None:
        self.state: WireState = "closed"
        self.round_trip_s: float | None = None
        self.on_event: Callable[[Event, float], None] = lambda event, now: self.events.append(event)
        self.on_state: Callable[[WireState, str], None] = lambda state, reason: None
        self.on_run = on_run
        self.on_interrupt: Callable[[Run], None] = Run.finish_interrupted
        self.now = 0.0
        self.events: list[Event] = []
        """What arrived, unless `on_event` was replaced."""
        self.dials = 0
        self.automatic = False
        """Deliver everything after every call."""
        self.capabilities = Capabilities()
        self.client, self.server = ClientProtocol(self.capabilities), ServerProtocol()
        self.to_server: deque[str] = deque()
        self.to_client: deque[str] = deque()

    async def open(self) -> None:
        """Connect, with a server that remembers nothing."""
        self.connect()

    def connect(self) -> None:
        """The same for tests without a loop."""
        if self.state == "open":
            return
        self.dials += 1
        self.client = ClientProtocol(self.capabilities)
        self.server = ServerProtocol(f"{self.dials}_")
        self.state = "open"
        self.on_state("open", "")

    def create(self, request: Mapping[str, Any], lane: str | None = None) -> None:
        """Queue a ``response.create``."""
        if self.state != "open":
            raise WireError("closed")
        self.client.create(request, lane)
        self._after()

    def interrupt(self, lane: str | None = None) -> None:
        """Queue an interrupt."""
        self.client.interrupt(lane, self.now)
        self._after()

    def drop(self) -> None:
        """Break the connection from the client's side."""
        self.lose("dropped")

    async def close(self) -> None:
        """Close."""
        self.lose("closed")

    def lose(self, reason: str = "the connection broke") -> None:
        """The network breaks: what is under way is gone."""
        if self.state != "open":
            return
        self.to_client.clear()
        self.to_server.clear()
        self.server.connection_lost()
        self.client.connection_lost(reason)
        self.state = "closed"
        self.on_state("closed", reason)

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds
        deadline = self.client.deadline()
        if deadline is not None and self.now >= deadline:
            self.client.tick(self.now)
        self._after()

    def deliver(self, to_client: int | None = None) -> None:
        """Carry frames both ways until all is quiet, or at most ``to_client`` to the client."""
        left = to_client if to_client is not None else 1 << 60
        self._collect()
        while self.state == "open" and (self.to_server or (self.to_client and left)):
            while self.to_server:
                self.server.receive_text(self.to_server.popleft())
                self._run_server()
            if self.to_client and left:
                left -= 1
                self.client.receive_text(self.to_client.popleft(), self.now)
                self._hand_on()
            self._collect()

    def _run_server(self) -> None:
        for run in self.server.interrupted_runs():
            self.on_interrupt(run)
        while True:
            runs = self.server.accept()
            if not runs:
                break
            for run in runs:
                self.on_run(run)
        self.to_client.extend(self.server.data_to_send())

    def _collect(self) -> None:
        self.to_server.extend(self.client.data_to_send())
        self.to_client.extend(self.server.data_to_send())

    def _hand_on(self) -> None:
        for event in self.client.events_received():
            self.on_event(event, self.now)

    def _after(self) -> None:
        self._hand_on()
        if self.client.should_drop:
            self.lose(self.client.drop_reason)
        elif self.automatic:
            self.deliver()
