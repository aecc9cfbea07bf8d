"""The client's side of the wire without any I/O: one connection, its lanes, steering, interrupts.

Its owner feeds `receive_text` with every text frame, takes `events_received` after some, writes
`data_to_send`, calls `tick` when `deadline` is reached, moves what `unroutable` gives to another
socket, and drops this one once `should_drop`. Every event that is handed on bears the name of its
lane in `stream_id`, whether or not the server said it. A protocol lives as long as its socket;
`Capabilities` outlive it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import force_setattr

from tui.core.wire.client.errors import ErrorPolicy, InterruptPolicy, refuses_prewarm
from tui.core.wire.client.lane import End, Lane, LaneState
from tui.core.wire.client.lanes import Lanes
from tui.core.wire.client.steers import NO_ANSWER, SteerStage
from tui.core.wire.endpoint_facts import Capabilities, Learning
from tui.core.wire.events import (
    UNUSUAL,
    AnyDelta,
    Completed,
    Created,
    Delta,
    ErrorEvent,
    Event,
    Failed,
    Incomplete,
    InProgress,
    InterruptAccepted,
    InterruptFailed,
    Progress,
    Queued,
    SteerAccepted,
    SteerFailed,
    SteerPending,
    ToolDelta,
    Unknown,
    decode_in_steps,
    decode_typed,
    decode_unusual,
    told,
)
from tui.core.wire.json_writing import Told
from tui.errors import WireError

NO_STEERING = "steering_not_supported"
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
        self.learning = Learning(self.capabilities)
        """Its ``news`` tells that `capabilities` changed; the owner resets it."""
        self._lanes = Lanes(self.learning)
        self._by_name = self._lanes.by_name
        self._interrupts = InterruptPolicy(self._lanes)
        self._errors = ErrorPolicy(self._lanes, self._interrupts)
        self._numbers = itertools.count(1)

    @property
    def should_drop(self) -> bool:
        """The socket has to go: only that stops the response, or the server wants it."""
        return bool(self._lanes.drop_reason)

    @property
    def drop_reason(self) -> str:
        """Why the socket is to be dropped, in words; empty: it is not."""
        return self._lanes.drop_reason

    @property
    def limit_reached(self) -> bool:
        """The server ends this connection for its age."""
        return self._errors.limit_reached

    @property
    def needs_care(self) -> bool:
        """Something is to be written, moved, waited for or dropped; `data_to_send` resets it."""
        return self._lanes.care

    @property
    def busy(self) -> bool:
        """Someone waits for a response on some lane; abandoned lanes do not count."""
        return any(lane.busy for lane in self._lanes)

    @property
    def working(self) -> bool:
        """The server works for some lane, abandoned ones too."""
        return any(lane.working for lane in self._lanes)

    def lane(self, name: str | None = None) -> Lane:
        """The lane of this name; made when it is first asked for."""
        return self._lanes.lane(name)

    def takes(self, lane: str | None) -> bool:
        """Whether a create on this lane can go out on this socket."""
        return not self.closed and not self.should_drop and self._lanes.takes(lane)

    def create(self, request: Mapping[str, Any], lane: str | None = None, now: float = 0.0) -> None:
        """Queue a `response.create`; ``request`` is without the envelope but for ``generate``.

        It may be held here until it can go out, or become unroutable. Raises WireError if the lane
        is busy or abandoned, if it has no usable name, or if the connection is gone.
        """
        if self.closed or self.should_drop:
            raise WireError("The connection is closed: open it again, then send.")
        place = self._lanes.admit(lane, dict(request))
        if place is not None:
            self._lanes.events += place.steers.strand(place.parent)
        self._lanes.pump()
        if place is not None:
            self._lanes.wait_for_forks(place, now)

    def steer(self, text: str, lane: str | None = None, now: float = 0.0) -> int | None:
        """Add input to the lane's response; its number in the `SteerNews` that follow.

        Before the response has an id the text waits for it. None: there is nothing to steer, or
        the model is known not to be steered; nothing is sent then.
        """
        place = self._by_name.get(lane)
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
            self._lanes.send_steers(place, now)
        self._lanes.care = True
        return number

    def interrupt(self, lane: str | None = None, now: float = 0.0) -> bool:
        """Stop what the lane streams: no delta of it passes from now on.

        A create that is held here is answered at once. A lane at rest is left alone, and so is
        one that is being interrupted (returns False).
        """
        place = self._by_name.get(lane)
        return place is not None and self._interrupts.stop(place, now)

    def throttle(self, tokens_s: float | None, lane: str | None = None) -> None:
        """Have what the lane streams come at this rate; None: as it comes.

        Our own bridge's event: whoever else is at the other end does not know it.
        """
        place = self._by_name.get(lane)
        if not self.closed and place is not None:
            self._lanes.send_throttle(place, tokens_s)

    def abandon(self, lane: str | None = None) -> None:
        """Look away: nothing of the lane's response is handed on, and it takes no new create."""
        place = self._by_name.get(lane)
        if place is not None:
            self._interrupts.abandon(place)
            self._lanes.pump()

    def given_up(self, lane: str | None = None) -> None:
        """Note that the server ends the connection, or was waited for long enough.

        A prewarm that is in flight on this lane went unanswered: where one was answered before,
        that is proof the next time only.
        """
        place = self._by_name.get(lane)
        if place is not None and place.prewarm and place.working and not self.limit_reached:
            self.learning.learn("prewarm", None if self.capabilities.prewarm else False)

    def unroutable(self) -> list[tuple[str | None, dict[str, Any]]]:
        """Lane and request of creates that this socket cannot carry; taken away by the call.

        They were never answered, and are to be made on another socket before this one is dropped.
        """
        found, self._lanes.unroutable = self._lanes.unroutable, []
        return found

    def receive_text(self, data: str | bytes | bytearray, now: float) -> bool:
        """Take one text frame that came at ``now``, in seconds. Never raises.

        False: it was a piece of an answer, and all there is to do is to hand its event on. One
        that goes on where the last one ended, which is not handed on yet, becomes one with it.
        """
        try:
            event: Event | ToolDelta | None = decode_typed(data)
        except UNUSUAL:
            event = decode_unusual(data)
        if isinstance(event, Delta):
            name = event.stream_id
            lane = self._by_name.get(name) if name else self._lanes.unnamed
            if lane is None:
                lane = self._lanes.called(name)
                if lane is None:
                    return True
            if lane.name is not name and lane.name != name:
                force_setattr(event, "stream_id", lane.name)
            if lane.flowing and not lane.half.waiting and event.delta.isascii():
                events = self._lanes.events
                if not (events and _goes_on(events[-1], event)):
                    events.append(event)
                return False
            self._take_delta(lane, event, now)
        elif event is None:
            self.unreadable += 1
        else:
            self._take(told(event), now)
        return True

    def receive_long(self, data: bytes | bytearray, now: float) -> Iterator[None]:
        """Take one text frame of any length in steps; after each there may be events."""
        readable = False
        for event in decode_in_steps(data):
            readable = readable or event is not None
            if event is not None:
                self._take(event, now)
            yield
        self.unreadable += not readable

    def refuse(self, why: str) -> None:
        """Take note that the server sent what no endpoint of ours sends; ``why`` in words."""
        self._lanes.care = True
        self._lanes.drop_reason = why

    def connection_lost(self, reason: str) -> None:
        """Take note that the socket is gone: nothing is in flight, nothing can be sent.

        `events_received` gives the steering texts back after it.
        """
        self.closed = True
        self._lanes.clear(reason)

    @property
    def has_events(self) -> bool:
        """True if `events_received` has something to say."""
        return bool(self._lanes.events)

    def events_received(self) -> list[Event]:
        """Events since the last call, in order."""
        events, self._lanes.events = self._lanes.events, []
        return events

    def data_to_send(self) -> list[Told]:
        """Text frames to write, in order."""
        self._lanes.care = False
        frames, self._lanes.frames = self._lanes.frames, []
        return frames

    def deadline(self) -> float | None:
        """When `tick` is due, in seconds; None: never."""
        return self._lanes.deadline

    def tick(self, now: float) -> None:
        """Notice interrupts, steering texts, doubts and forks that were waited for long enough."""
        lanes = self._lanes
        lanes.free_forks(now)
        for lane in lanes:
            late = lane.steers.expire(now)
            if late:
                lanes.events += late
                if any(news.why == NO_ANSWER for news in late):
                    self.learning.no_answer("steer", lane.model)
                lanes.settle(lane, promised=any(news.why != NO_ANSWER for news in late))
            self._interrupts.tick(lane, now)
            self._errors.tick(lane, now)
        lanes.pump()

    def _take(self, event: Event, now: float) -> None:
        """Take any event; a piece of text of one that does not come by the short cut."""
        lanes = self._lanes
        lane = lanes.called(event.stream_id)
        if isinstance(event, Delta):
            if lane is not None:
                self._take_delta(lane, event, now)
            return
        named = event.stream_id and not lanes.echoed
        if isinstance(event, Progress) and lane is not None and lane.flowing and not named:
            lanes.hand_on(event, lane)  # nothing changes while an answer streams
            return
        if self.closed:
            return
        if isinstance(event, SteerAccepted | SteerPending | SteerFailed):
            self._steered(event, now)
        elif isinstance(event, InterruptAccepted | InterruptFailed):
            self._interrupts.answered(event)
        elif isinstance(event, ErrorEvent):
            self._errors.take(event, now)
        elif not isinstance(event, Unknown):
            self._response(event, lane, now)
        elif lane is None:
            lanes.events.append(event)
        else:
            lanes.hand_on(event, lane)
        lanes.pump()

    def _take_delta(self, lane: Lane, event: AnyDelta, now: float) -> None:
        """Take a piece of text that does not come by the short cut."""
        begun = lane.begun
        if self._lanes.ambiguous(lane):
            self._lanes.care = True
            return
        if lane.receive(event):
            whole = event if lane.half.clean(event.delta) else lane.half.join(event)
            if whole is not None:
                self._lanes.hand_on(whole, lane)
        if not begun or lane.prewarm:
            self._stop_prewarm(lane, now)
            self._lanes.pump()

    def _response(self, event: Event, called: Lane | None, now: float) -> None:
        """Take an event of a response; ``called``: the lane that it names."""
        lanes, lane = self._lanes, called
        if isinstance(event, Created):
            lane = lanes.beginning(event)
        elif isinstance(event, Completed | Incomplete | Failed):
            lane = lanes.ending(event)
        if lane is not None and not isinstance(event, InProgress | Queued | Progress):
            lane = None if lanes.ambiguous(lane) else lane
        if lane is not None and event.stream_id and event.stream_id == lane.name:
            lanes.echo()
        parent = "" if lane is None else lane.response_id or lane.parent
        stopping = lane is not None and lane.state is LaneState.INTERRUPTING
        if lane is None or not lane.receive(event):
            owner = lanes.called(event.stream_id)
            if owner is not None and owner.may_end(event):
                self._errors.suspect([owner], event, now)
            if isinstance(event, Created) and lane is not None:
                self._unwanted(lane, now)
        elif isinstance(event, Created):
            self._created(lane, event, now, parent=parent)
        elif isinstance(event, Completed | Incomplete | Failed):
            self._ended(lane, event, now, stopping=stopping)
        else:
            lanes.hand_on(event, lane)
        if lane is not None:
            self._stop_prewarm(lane, now)

    def _created(self, lane: Lane, event: Created, now: float, *, parent: str) -> None:
        """Hand on that a response of ours began: unasked, it is the successor of a steered one."""
        used = lane.steers.succeeded(parent) if parent else []
        if used:
            self.learning.learn_of("steer", lane.model, True)
        self._lanes.events += used
        self._lanes.hand_on(event, lane)
        if lane.state is LaneState.INTERRUPTING:
            self._interrupts.ask(lane, now)
        else:
            self._lanes.send_steers(lane, now)

    def _unwanted(self, lane: Lane, now: float) -> None:
        """Stop a response that nobody waits for, where that is known to work."""
        works = self.capabilities.interrupt.get(lane.model)
        if works and lane.state is LaneState.ABANDONED and lane.response_id:
            self._lanes.send_interrupt(lane, now)

    def _ended(self, lane: Lane, event: End, now: float, *, stopping: bool) -> None:
        """Hand on the end of a response of ours; its steering texts may have a successor."""
        lanes = self._lanes
        reason = event.reason if isinstance(event, Incomplete) else ""
        if lane.prewarm:
            event = self._prewarmed(lane, event)
        if isinstance(event, Failed) or reason == "interrupted":
            lanes.give_back(lane, "the answer was stopped" if reason else "the answer failed")
        else:
            parent, steered = lane.response_id, reason == "steered"
            if lane.orphans_expected:
                # This server does answer, if late: the cut was for a text that was given back
                # already, and one without an answer by now came too late for it.
                why = "the answer was cut for an earlier text"
                lanes.give_back(lane, why, SteerStage.SENT)
            news = lane.steers.ended(parent, steered=steered, calls=lane.calls)
            if any(one.fate == "accepted" for one in news):
                self.learning.learn_of("steer", lane.model, True)
            lanes.events += news
            if lane.steers.owed(parent):
                lane.await_successor(now, stopping=stopping)
        lanes.hand_on(event, lane)

    def _prewarmed(self, lane: Lane, event: End) -> End:
        """The end of a prewarm; one that generated something is no prewarm, and no parent."""
        if lane.generated or event.response.get("output"):
            self.learning.learn("prewarm", False)
            words = "the endpoint generated an answer where none was wanted"
            error = {"code": "prewarm_generated", "message": words}
            return Failed({"id": event.response_id, "status": "failed", "error": error})
        if isinstance(event, Completed):
            self.learning.learn("prewarm", True)
        elif isinstance(event, Failed) and refuses_prewarm(event):
            self.learning.learn("prewarm", False)
        return event

    def _stop_prewarm(self, lane: Lane, now: float) -> None:
        """Stop a prewarm that generates, like any answer."""
        if lane.prewarm and lane.generated and lane.busy:
            self.learning.learn("prewarm", False)
            self._interrupts.stop(lane, now)

    def _steered(self, event: SteerAccepted | SteerPending | SteerFailed, now: float) -> None:
        """Take the server's word about a steering text."""
        lanes = self._lanes
        parent = event.steer.get("previous_response_id")
        parent = parent if isinstance(parent, str) else ""
        known = next((lane for lane in lanes if lane.steers.knows(parent)), None)
        lane = known or lanes.by_response(parent) or lanes.called(event.stream_id)
        if lane is None:
            return
        current = "" if lane.state is LaneState.STEERING else lane.response_id
        news = lane.steers.answered(event, current if lane.busy else "", now)
        lanes.steer_answered(news, parent)
        lanes.events += news
        refused = isinstance(event, SteerFailed)
        if isinstance(event, SteerFailed):
            if event.error.get("code") == NO_STEERING:
                self.learning.learn_of("steer", lane.model, False)
            self._errors.steer_failed(parent)
        elif news:
            self.learning.learn_of("steer", lane.model, True)
        if news:
            lanes.settle(lane)
        elif lane.steers.take_overdue(parent):
            if not refused:
                self._accepted_late(lane, parent)
        elif refused:
            lane.expect_no_orphan()

    def _accepted_late(self, lane: Lane, parent: str) -> None:
        """Expect the successor of a text that was given back and is accepted now."""
        self.learning.learn_of("steer", lane.model, True)
        running = lane.response_id == parent and lane.in_flight
        over = lane.state in (LaneState.IDLE, LaneState.HELD, LaneState.SENT)
        if running or (over and not lane.steers.stalled(parent)):
            lane.expect_orphan()


def _goes_on(last: Event, event: AnyDelta) -> bool:
    """Put a piece of text to the one before it, if it is of the same; else False."""
    if type(last) is not type(event) or not isinstance(last, Delta):
        return False
    if (last.item_id, last.output_index) != (event.item_id, event.output_index):
        return False
    if last.stream_id is not event.stream_id and last.stream_id != event.stream_id:
        return False
    force_setattr(last, "delta", last.delta + event.delta)
    return True
