"""The client's side of the wire without any I/O: one connection, its lanes, steering, interrupts.

Its owner feeds `receive_text` with every text frame, takes `events_received` after each, writes
`data_to_send`, calls `tick` when `deadline` is reached, moves what `homeless` gives to another
socket, and drops this one once `should_drop`. Every event that is handed on bears the name of its
lane in `stream_id`, whether or not the server said it. A protocol lives as long as its socket;
`Capabilities` outlive it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import force_setattr

from tui.core.wire.capabilities import Capabilities as Capabilities
from tui.core.wire.client.complaints import LIMIT_REACHED as LIMIT_REACHED
from tui.core.wire.client.ladder import Ladder
from tui.core.wire.client.lane import Lane, LaneState
from tui.core.wire.client.lessons import Lessons
from tui.core.wire.client.reception import Reception
from tui.core.wire.client.switchboard import Switchboard
from tui.core.wire.deltas import AnyDelta
from tui.core.wire.events import (
    UNUSUAL,
    Delta,
    Event,
    SummaryDelta,
    ToolDelta,
    decode_in_steps,
    decode_typed,
    decode_unusual,
    told,
)
from tui.errors import WireError

_STEERABLE = (
    LaneState.HELD,
    LaneState.SENT,
    LaneState.CREATED,
    LaneState.STREAMING,
    LaneState.STEERING,
)


class ClientProtocol:
    """One connection, seen from the client."""

    def __init__(self, capabilities: Capabilities | None = None) -> None:
        self.capabilities = Capabilities() if capabilities is None else capabilities
        """What is learnt goes in here."""
        self.closed = False
        self.unreadable = 0
        """Frames that held no JSON object: skipped, but signs of life."""
        self.lessons = Lessons(self.capabilities)
        """Its ``news`` tells that `capabilities` changed; the owner resets it."""
        self._board = Switchboard(self.lessons)
        self._ladder = Ladder(self._board)
        self._reception = Reception(self._board, self._ladder)
        self._book = self._board.book
        self._lanes = self._book.lanes
        self._numbers = itertools.count(1)

    @property
    def should_drop(self) -> bool:
        """The socket has to go: only that stops the response, or the server wants it."""
        return bool(self._board.drop_reason)

    @property
    def drop_reason(self) -> str:
        """Why the socket is to be dropped, in words; empty: it is not."""
        return self._board.drop_reason

    @property
    def limit_reached(self) -> bool:
        """The server ends this connection for its age."""
        return self._board.limit_reached

    @property
    def needs_care(self) -> bool:
        """Something is to be written, moved, waited for or dropped; `data_to_send` resets it."""
        return self._board.care

    @property
    def busy(self) -> bool:
        """Someone waits for a response on some lane; abandoned lanes do not count."""
        return any(lane.busy for lane in self._book)

    @property
    def working(self) -> bool:
        """The server works for some lane, abandoned ones too."""
        return any(lane.working for lane in self._book)

    @property
    def lanes_used(self) -> tuple[str, ...]:
        """Names used on this socket; the default lane has none."""
        return self._book.names

    def lane(self, name: str | None = None) -> Lane:
        """The lane of this name; made when it is first asked for."""
        return self._book.lane(name)

    def takes(self, lane: str | None) -> bool:
        """Whether a create on this lane can go out on this socket."""
        return not self.closed and not self.should_drop and self._book.takes(lane)

    def create(self, request: Mapping[str, Any], lane: str | None = None, now: float = 0.0) -> None:
        """Queue a `response.create`; ``request`` is without the envelope but for ``generate``.

        It may be held here until it can go out, or become homeless. Raises WireError if the lane
        is busy or abandoned, if it has no usable name, or if the connection is gone.
        """
        if self.closed or self.should_drop:
            raise WireError("The connection is closed: open it again, then send.")
        place = self._book.admit(lane, dict(request))
        if place is not None:
            self._board.events += place.steers.strand(place.parent)
        self._board.pump()
        if place is not None:
            self._book.forks.hold_back(place, now)

    def steer(self, text: str, lane: str | None = None, now: float = 0.0) -> int | None:
        """Add input to the lane's response; its number in the `SteerNews` that follow.

        Before the response has an id the text waits for it. None: there is nothing to steer, or
        the model is known not to be steered; nothing is sent then.
        """
        place = self._lanes.get(lane)
        if self.closed or self.should_drop or place is None or place.state not in _STEERABLE:
            return None
        unknown = place.state in (LaneState.CREATED, LaneState.STREAMING) and not place.response_id
        if unknown or place.prewarm or place.stopping:
            return None
        if self.capabilities.steer.get(place.model) is False:
            return None
        number = next(self._numbers)
        place.steers.add(number, text)
        if place.state is not LaneState.STEERING:
            self._board.send_steers(place, now)
        self._board.care = True
        return number

    def interrupt(self, lane: str | None = None, now: float = 0.0) -> bool:
        """Stop what the lane streams: no delta of it passes from now on.

        A create that is held here is answered at once. A lane at rest is left alone, and so is
        one that is being interrupted (returns False).
        """
        place = self._lanes.get(lane)
        return place is not None and self._ladder.stop(place, now)

    def throttle(self, tokens_s: float | None, lane: str | None = None) -> None:
        """Have what the lane streams come at this rate; None: as it comes.

        Our own bridge's event: whoever else is at the other end does not know it.
        """
        place = self._lanes.get(lane)
        if not self.closed and place is not None:
            self._board.send_throttle(place, tokens_s)

    def abandon(self, lane: str | None = None) -> None:
        """Look away: nothing of the lane's response is handed on, and it takes no new create."""
        place = self._lanes.get(lane)
        if place is not None:
            self._ladder.abandon(place)
            self._board.pump()

    def forsaken(self, lane: str | None = None) -> None:
        """The server ends the connection, or has been waited for long enough.

        A prewarm that is in flight on this lane went unanswered.
        """
        place = self._lanes.get(lane)
        if place is not None and place.prewarm and place.working and not self.limit_reached:
            self.lessons.unwarmed()

    def homeless(self) -> list[tuple[str | None, dict[str, Any]]]:
        """Lane and request of creates that this socket cannot carry; taken away by the call.

        They were never answered, and are to be made on another socket before this one is dropped.
        """
        found, self._book.homeless = self._book.homeless, []
        return found

    def receive_text(self, data: str | bytes | bytearray, now: float) -> None:
        """Take one text frame that came at ``now``, in seconds. Never raises."""
        try:
            event: Event | SummaryDelta | ToolDelta | None = decode_typed(data)
        except UNUSUAL:
            event = decode_unusual(data)
        if isinstance(event, Delta):
            name = event.stream_id
            lane = self._lanes.get(name) if name else self._book.unnamed
            if lane is None:
                lane = self._book.called(name)
                if lane is None:
                    return
            if lane.name is not name and lane.name != name:
                force_setattr(event, "stream_id", lane.name)
            if lane.flowing and not lane.half.waiting and event.delta.isascii():
                self._board.events.append(event)
            else:
                self._reception.take_delta(lane, event, now)
        elif isinstance(event, SummaryDelta):
            self._take_delta(event.told, now)
        elif isinstance(event, ToolDelta):
            self._take_progress(event, now)
        elif event is None:
            self.unreadable += 1
        elif not self.closed:
            self._reception.take(event, now)

    def receive_long(self, data: bytes | bytearray, now: float) -> Iterator[None]:
        """Take one text frame of any length in steps; after each there may be events."""
        readable = False
        for event in decode_in_steps(data):
            readable = readable or event is not None
            if isinstance(event, Delta):
                self._take_delta(event, now)
            elif event is not None and not self.closed:
                self._reception.take(event, now)
            yield
        self.unreadable += not readable

    def refuse(self, why: str) -> None:
        """Take note that the server sent what no endpoint of ours sends; ``why`` in words."""
        self._board.care = True
        self._board.drop_reason = why

    def connection_lost(self, reason: str) -> None:
        """The socket is gone: nothing is in flight any more, nothing can be sent.

        `events_received` gives the steering texts back after it.
        """
        board = self._board
        self.closed = True
        board.drop_reason = board.drop_reason or reason
        board.frames.clear()
        self._book.clear()
        for lane in self._book:
            board.give_back(lane, reason)
            lane.lost()

    def events_received(self) -> list[Event]:
        """Events since the last call, in order."""
        board = self._board
        events, board.events = board.events, []
        return events

    def data_to_send(self) -> list[str]:
        """Text frames to write, in order."""
        board = self._board
        board.care = False
        frames, board.frames = board.frames, []
        return frames

    def deadline(self) -> float | None:
        """When `tick` is due, in seconds; None: never."""
        times = [time for lane in self._book for time in lane.deadlines]
        fork = self._book.forks.deadline
        return min(times if fork is None else [*times, fork], default=None)

    def tick(self, now: float) -> None:
        """Notice interrupts, steering texts and forks that were waited for long enough."""
        self._book.forks.tick(now)
        for lane in self._book:
            self._reception.tick(lane, now)
        self._board.pump()

    def _take_progress(self, event: ToolDelta, now: float) -> None:
        """A tool of the server's own is at work: nothing changes while an answer streams."""
        lane, progress = self._book.called(event.stream_id), told(event)
        if lane is not None and lane.flowing:
            self._board.hand_on(progress, lane)
        elif not self.closed:
            self._reception.take(progress, now)

    def _take_delta(self, delta: AnyDelta, now: float) -> None:
        """A piece of text that does not come by the short cut."""
        lane = self._board.lane_of(delta)
        if lane is not None:
            self._reception.take_delta(lane, delta, now)
