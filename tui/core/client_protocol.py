"""The client's side of the wire without any I/O: one connection, its lanes, its interrupts.

Its owner feeds `receive_text` with every text frame and takes `events_received`, writes
`data_to_send`, calls `tick` when `deadline` is reached, and drops the socket once `should_drop`.
A protocol lives as long as its socket; `Capabilities` outlive both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tui.core.events import Created, Delta, ErrorEvent, Event, Incomplete, Unknown, decode_server
from tui.core.lane import Lane
from tui.core.run import frame
from tui.errors import WireError

LIMIT_REACHED = "websocket_connection_limit_reached"


@dataclass(slots=True)
class Capabilities:
    """What is known of an endpoint; kept over reconnects."""

    no_interrupt: set[str] = field(default_factory=set)
    """Models whose responses cannot be interrupted but by dropping the socket."""


class ClientProtocol:
    """One connection, seen from the client."""

    def __init__(self, capabilities: Capabilities | None = None) -> None:
        self.capabilities = capabilities or Capabilities()
        self.drop_reason = ""
        """Why the socket is to be dropped, in words; empty: it is not."""
        self.closed = False
        self.needs_care = False
        """Something is to be written, waited for or dropped; `data_to_send` resets it."""
        self._default = Lane(None)
        self._lanes: dict[str | None, Lane] = {None: self._default}
        self._events: list[Event] = []
        self._outbox: list[str] = []

    @property
    def should_drop(self) -> bool:
        """The socket has to go: only that stops the response, or the server wants it."""
        return bool(self.drop_reason)

    @property
    def busy(self) -> bool:
        """Some lane has a response in flight."""
        return any(lane.busy for lane in self._lanes.values())

    def lane(self, name: str | None = None) -> Lane:
        """The lane of this name; made when it is first asked for."""
        return self._lanes.setdefault(name, Lane(name))

    def create(self, request: Mapping[str, Any], lane: str | None = None) -> None:
        """Queue a `response.create`; ``request`` is without the envelope.

        Raises WireError if the lane is busy or the connection is gone.
        """
        place = self.lane(lane)
        if self.closed or self.should_drop:
            raise WireError("The connection is closed: open it again, then send.")
        if place.busy:
            raise WireError("A response is still in flight: wait for its end, then send.")
        event: dict[str, Any] = {"type": "response.create", **request}
        event.pop("stream", None)
        if lane is not None:
            event["stream_id"] = lane
        self._outbox.append(frame(event))
        place.sent(str(request.get("model", "")))

    def interrupt(self, lane: str | None = None, now: float = 0.0) -> bool:
        """Stop what the lane streams: no delta of it passes from now on.

        A lane at rest is left alone, and so is one that is being interrupted (returns False).
        """
        place = self._lanes.get(lane)
        if place is None or not place.interrupt(now):
            return False
        if place.model in self.capabilities.no_interrupt:
            self._give_up(place, "stopped: this endpoint stops only when the connection closes")
        elif place.response_id:
            self._send_interrupt(place, now)
        return True

    def receive_text(self, text: str, now: float) -> None:
        """Take one text frame that came at ``now``, in seconds. Never raises."""
        event = decode_server(text)
        if event is None:
            return
        lane = self._lanes.get(event.stream_id) if event.stream_id else self._unnamed()
        if isinstance(event, Delta):
            if lane is not None and (lane.flowing or lane.receive(event, now)):
                whole = event if lane.half.clean(event.delta) else lane.half.join(event)
                if whole is not None:
                    self._events.append(whole)
        elif lane is not None:
            self._control(lane, event, now)
        elif isinstance(event, Unknown):
            self._events.append(event)

    def receive_binary(self) -> None:
        """Take a binary frame: the protocol knows none, so this is no endpoint of ours."""
        self.needs_care = True
        self.drop_reason = "the server sent a binary message, which this protocol does not know"

    def connection_lost(self, reason: str) -> None:
        """The socket is gone: nothing is in flight any more, nothing can be sent."""
        self.closed = True
        self.drop_reason = self.drop_reason or reason
        self._outbox.clear()
        for lane in self._lanes.values():
            lane.lost()

    def events_received(self) -> list[Event]:
        """Events since the last call, in order."""
        events, self._events = self._events, []
        return events

    def data_to_send(self) -> list[str]:
        """Text frames to write, in order."""
        self.needs_care = False
        frames, self._outbox = self._outbox, []
        return frames

    def deadline(self) -> float | None:
        """When `tick` is due, in seconds; None: never."""
        times = [lane.deadline for lane in self._lanes.values() if lane.deadline is not None]
        return min(times, default=None)

    def tick(self, now: float) -> None:
        """Notice interrupts that went unanswered."""
        for lane in list(self._lanes.values()):
            if lane.deadline is None or now < lane.deadline:
                continue
            lane.deadline = None
            if lane.asked and not lane.accepted:
                self.capabilities.no_interrupt.add(lane.model)
            self._give_up(lane, "stopped: the server did not answer the interrupt in time")

    def _unnamed(self) -> Lane:
        """The lane of an event without a name: the default one, unless the server drops names."""
        if self._default.busy or len(self._lanes) == 1:
            return self._default
        named = [lane for lane in self._lanes.values() if lane.busy]
        return named[0] if len(named) == 1 else self._default

    def _control(self, lane: Lane, event: Event, now: float) -> None:
        self.needs_care = True
        if isinstance(event, ErrorEvent) and event.code == LIMIT_REACHED:
            self.drop_reason = "the server's time limit for one connection was reached"
            if not self.busy:
                return
        if isinstance(event, ErrorEvent) and event.stream_id is None and lane.name is not None:
            # Not attributed to any lane: the connection's own trouble.
            self._events.append(event)
            return
        if lane.receive(event, now):
            self._events.append(event)
        if lane.refusal:
            self._give_up(lane, f"stopped: {lane.refusal}", refused=True)
        elif isinstance(event, Created) and lane.deadline is not None and not lane.asked:
            self._send_interrupt(lane, now)

    def _send_interrupt(self, lane: Lane, now: float) -> None:
        event = {"type": "response.interrupt", "response_id": lane.response_id}
        self._outbox.append(frame({**event, "mode": "discard_partial_items"}))
        lane.interrupt_sent(now)

    def _give_up(self, lane: Lane, reason: str, *, refused: bool = False) -> None:
        """The last resort: drop the socket, or only look away if others use it."""
        if refused:
            self.capabilities.no_interrupt.add(lane.model)
        others = any(other.busy for other in self._lanes.values() if other is not lane)
        if not others:
            self.drop_reason = reason
            return
        details = {"incomplete_details": {"reason": "abandoned"}, "status": "incomplete"}
        self._events.append(Incomplete({"id": lane.response_id, **details}, lane.name))
        lane.abandon()
