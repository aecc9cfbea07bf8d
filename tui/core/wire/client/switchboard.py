"""What the parts of a client's connection share: lanes, what goes out, what is handed on."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from tui.core.wire.client.controls import Control, Controls
from tui.core.wire.client.lane import Lane, LaneState
from tui.core.wire.client.lane_book import LaneBook
from tui.core.wire.client.lessons import Lessons
from tui.core.wire.client.steers import Stage
from tui.core.wire.events import Event, Incomplete
from tui.core.wire.frames import request

_E = TypeVar("_E", bound=Event)


class Switchboard:
    """One connection's lanes, events and frames."""

    def __init__(self, lessons: Lessons) -> None:
        self.lessons = lessons
        self.book = LaneBook(lessons)
        self.controls = Controls()
        self.events: list[Event] = []
        """To be handed on, in order."""
        self.frames: list[str] = []
        """To be written, in order."""
        self.drop_reason = ""
        """Why the socket is to be dropped, in words; empty: it is not."""
        self.limit_reached = False
        """The server ends the connection for its age."""
        self.care = False
        """Something is to be written, waited for, moved or dropped."""

    def pump(self) -> None:
        """Send every create whose turn it is; texts for a create that is gone come back."""
        self.care = True
        for lane in self.book:
            if lane.steers and lane.state is LaneState.IDLE:
                self.give_back(lane, "its request could not be sent yet", Stage.WAITING)
        for lane in self.book.ready():
            self.send_create(lane)

    def lane_of(self, event: Event) -> Lane | None:
        """By its name, or the one that events without a name belong to."""
        return self.book.called(event.stream_id)

    def hand_on(self, event: Event, lane: Lane) -> None:
        """Hand an event on with its lane's name, whether or not the server said it."""
        self.events.append(stamped(event, lane))

    def end(self, lane: Lane, reason: str, response_id: str) -> None:
        """Hand on an end that the server did not say."""
        details = {"incomplete_details": {"reason": reason}, "status": "incomplete"}
        self.events.append(Incomplete({"id": response_id, **details}, lane.name))

    def give_back(self, lane: Lane, why: str, stage: Stage | None = None) -> None:
        """Return the steering texts of a lane, all or those of one stage."""
        self.events += lane.steers.give_back(why, stage)

    def settle(self, lane: Lane, *, promised: bool = False) -> None:
        """A lane to which no successor is owed any more is free.

        One that was ``promised`` and did not come may still come: the lane is lost to it.
        """
        if lane.state is not LaneState.STEERING or lane.steers.owed(lane.response_id):
            return
        self.give_back(lane, "no further answer began")
        if promised:
            lane.abandon(owed=True)
        else:
            lane.release()

    def part(self) -> None:
        """The lanes cannot be told apart here: each is to have a connection of its own."""
        self.lessons.lanes(False)
        self.drop_reason = "the server does not say which of several requests it answers"

    def send_create(self, lane: Lane) -> None:
        """Write the create that the lane holds."""
        event: dict[str, Any] = {"type": "response.create", **lane.request}
        event.pop("stream", None)
        if self.book.bears_name(lane):
            event["stream_id"] = lane.name
        self.frames.append(request(event))

    def send_steers(self, lane: Lane, now: float) -> None:
        """Write the texts that have waited for the response's id."""
        if self.lessons.capabilities.steer.get(lane.model) is False:
            self.give_back(lane, "this model cannot be steered", Stage.WAITING)
        elif lane.response_id:
            target = lane.response_id
            for number, event in lane.steers.send(target, now).items():
                self.frames.append(request(event))
                self.controls.sent(Control("steer", lane, target, now, number))

    def send_interrupt(self, lane: Lane, now: float) -> None:
        """Ask the server to stop the lane's response."""
        event = {"type": "response.interrupt", "response_id": lane.response_id}
        self.frames.append(request({**event, "mode": "discard_partial_items"}))
        self.controls.sent(Control("interrupt", lane, lane.response_id, now))

    def send_throttle(self, lane: Lane, tokens_s: float | None) -> None:
        """Ask our bridge to rate what runs on the lane."""
        event: dict[str, Any] = {"type": "duetto.throttle", "tokens_s": tokens_s}
        if self.book.bears_name(lane):
            event["stream_id"] = lane.name
        self.frames.append(request(event))
        self.care = True


def stamped(event: _E, lane: Lane) -> _E:
    """The event with its lane's name, as an event that is ours alone."""
    if event.stream_id != lane.name:
        msgspec.structs.force_setattr(event, "stream_id", lane.name)
    return event
