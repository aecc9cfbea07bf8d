"""A client protocol face to face with a server protocol, in memory and frame by frame.

`MemoryWire` is a `Wire` of the engine whose network is two queues: nothing travels until the test
calls `deliver` (or sets `automatic`). It can hold frames back, lose them and break. `beside` gives
another lane of the same socket.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Literal

from tui.core.wire.client.lane import LaneState
from tui.core.wire.client.protocol import ClientProtocol
from tui.core.wire.endpoint_facts import Capabilities
from tui.core.wire.events import Event
from tui.core.wire.server.protocol import ServerProtocol
from tui.core.wire.server.run import Run
from tui.engine.ports import Abilities
from tui.errors import WireError

WireState = Literal["closed", "connecting", "open"]
Transport = Literal["websocket", "http"]


class MemorySocket:
    """The network, the server and, through `on_run`, its model; the test is all of them."""

    def __init__(self, on_run: Callable[[Run], None], *, steering: bool) -> None:
        self.on_run = on_run
        self.on_interrupt: Callable[[Run], None] = Run.finish_interrupted
        self.now = 0.0
        self.dials = 0
        self.automatic = False
        """Deliver everything after every call."""
        self.open = False
        self.capabilities = Capabilities()
        self.to_server: deque[str] = deque()
        self.to_client: deque[str] = deque()
        self.wires: list[MemoryWire] = []
        self._steering = steering
        self.client = ClientProtocol(self.capabilities)
        self.server = ServerProtocol(steering=steering)

    def connect(self) -> None:
        """A new connection, with a server that remembers nothing."""
        if self.open:
            return
        self.dials += 1
        self.client = ClientProtocol(self.capabilities)
        self.server = ServerProtocol(f"{self.dials}_", steering=self._steering)
        self.open = True
        for wire in self.wires:
            wire.tell("open", "")

    def lose(self, reason: str) -> None:
        """The network breaks: what is under way is gone."""
        if not self.open:
            return
        self.open = False
        self.to_client.clear()
        self.to_server.clear()
        self.server.connection_lost()
        self.client.connection_lost(reason)
        self.hand_on()
        for wire in self.wires:
            wire.tell("closed", reason)

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds
        deadline = self.client.deadline()
        if deadline is not None and self.now >= deadline:
            self.client.tick(self.now)
        self.after()

    def deliver(self, to_client: int | None = None) -> None:
        """Carry frames both ways until all is quiet, or at most ``to_client`` to the client."""
        left = to_client if to_client is not None else 1 << 60
        self._collect()
        while self.open and (self.to_server or (self.to_client and left)):
            while self.to_server:
                self.server.receive_text(self.to_server.popleft())
                self._run_server()
            if self.to_client and left:
                left -= 1
                self.client.receive_text(self.to_client.popleft(), self.now)
                self.hand_on()
                if self.client.should_drop:
                    self.lose(self.client.drop_reason)
            self._collect()

    def hand_on(self) -> None:
        """Give every event to its lane; one that nobody knows goes to the first."""
        for event in self.client.events_received():
            mine = [wire for wire in self.wires if wire.lane == event.stream_id]
            wire = mine[0] if mine else self.wires[0]
            wire.on_event(event, self.now)
        for wire in self.wires:
            wire.move_on()

    def after(self) -> None:
        """Something was asked of the client."""
        self.hand_on()
        if self.client.should_drop:
            self.lose(self.client.drop_reason)
        elif self.automatic:
            self.deliver()

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
        if self.open:
            self.to_server.extend(self.client.data_to_send())
            self.to_client.extend(self.server.data_to_send())


class MemoryWire:
    """One lane of a `MemorySocket`; the first one makes the socket and steers it for the test."""

    transport: Transport = "websocket"
    round_trip_s: float | None = None

    def __init__(
        self,
        on_run: Callable[[Run], None] = lambda run: None,
        *,
        lane: str | None = None,
        socket: MemorySocket | None = None,
        steering: bool = False,
    ) -> None:
        self.socket = socket or MemorySocket(on_run, steering=steering)
        self.socket.wires.append(self)
        self.lane = lane
        """The name it goes by now: an abandoned one is not used again."""
        self.state: WireState = "open" if self.socket.open else "closed"
        self.close_code: int | None = None
        self.events: list[Event] = []
        """What arrived, unless `on_event` was replaced."""
        self.on_event: Callable[[Event, float], None] = lambda event, now: self.events.append(event)
        self.on_state: Callable[[WireState, str], None] = lambda state, reason: None
        self.fallbacks = 0
        """How often HTTP was asked for; there is none."""
        self._name, self._renamed = lane, 1

    @property
    def client(self) -> ClientProtocol:
        """The client's side of the socket."""
        return self.socket.client

    @property
    def busy(self) -> bool:
        """A response is in flight, or the successor of a steered one is owed."""
        return self.client.lane(self.lane).busy

    def beside(self, lane: str) -> MemoryWire:
        """Another lane of the same socket."""
        return MemoryWire(lane=lane, socket=self.socket)

    def abilities(self, model: str) -> Abilities:
        """What the client has learnt."""
        known = self.socket.capabilities
        return Abilities(
            known.interrupt.get(model), known.steer.get(model), known.prewarm, known.lanes
        )

    async def open(self) -> None:
        """Connect, with a server that remembers nothing."""
        self.connect()

    def connect(self) -> None:
        """The same for tests without a loop."""
        self.socket.connect()

    def create(self, request: Mapping[str, Any]) -> None:
        """Queue a ``response.create``."""
        if self.state != "open":
            raise WireError("closed")
        self.client.create(request, self.lane, self.socket.now)
        self.socket.after()

    def steer(self, text: str) -> int | None:
        """Add input to the response in flight."""
        number = self.client.steer(text, self.lane, self.socket.now)
        self.socket.after()
        return number

    def throttle(self, tokens_s: float | None) -> bool:
        return False

    def interrupt(self) -> None:
        """Queue an interrupt."""
        self.client.interrupt(self.lane, self.socket.now)
        self.socket.after()

    def drop(self) -> None:
        """Leave the socket: break it, or where others are busy on it, leave it alone."""
        others = [wire for wire in self.socket.wires if wire is not self and wire.busy]
        if not others:
            self.lose("dropped")
            return
        self.client.abandon(self.lane)
        self.socket.hand_on()
        self.tell("closed", "dropped")

    def fall_back(self) -> bool:
        """There is no other way in memory."""
        self.fallbacks += 1
        return False

    def come_back(self) -> None:
        """There is nothing to come back from."""

    async def close(self) -> None:
        """Close."""
        self.lose("closed")

    def deliver(self, to_client: int | None = None) -> None:
        """Carry frames both ways; see `MemorySocket.deliver`."""
        self.socket.deliver(to_client)

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.socket.advance(seconds)

    def lose(self, reason: str = "the connection broke") -> None:
        """The network breaks."""
        self.socket.lose(reason)

    def tell(self, state: WireState, reason: str) -> None:
        """The socket's state changed."""
        self.state = state
        self.on_state(state, reason)

    def move_on(self) -> None:
        """A lane that was abandoned is left to itself: the next create goes on a fresh one."""
        if self.client.lane(self.lane).state is LaneState.ABANDONED:
            self._renamed += 1
            self.lane = f"{self._name or 'default'}.{self._renamed}"
