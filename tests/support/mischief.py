"""A client under test, a user without patience, and a server that mostly makes sense.

A step is three small numbers, read by where the play stands: so random lists of them go deep into
responses, steering and interrupts instead of being refused at the door, and shrink well.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.support.client_side import fates
from tui.core.wire import events
from tui.core.wire.client.lane import LaneState
from tui.core.wire.client.protocol import ClientProtocol
from tui.core.wire.endpoint_facts import Capabilities
from tui.errors import WireError

LANES = (None, "a", "b")
Step = tuple[int, int, int]
STEPS = st.lists(
    st.tuples(st.integers(0, 41), st.integers(0, 5), st.integers(0, 9)), min_size=25, max_size=70
)
FACTS = st.fixed_dictionaries(
    {
        "lanes": st.sampled_from([True, True, None, False]),
        "interrupt": st.sampled_from([{}, {"m": True}, {"m": False}]),
        "steer": st.sampled_from([{}, {"m": True}]),
    }
)
_REASONS = ("steered", "steered", "max_output_tokens", "interrupted")
_CODES = (
    "unknown_event",
    "response_not_found",
    "rate_limit_exceeded",
    "previous_response_not_found",
    "server_error",
    "websocket_stream_limit_reached",
)
_STEER_CODES = ("response_already_completed", "steering_not_supported", "response_not_found")
_NEWS = ("vendor.news", "response.content_part.added", "response.in_progress", "response.queued")


class Play:
    """What was done, said, sent and handed on; a socket that has to go is replaced."""

    def __init__(
        self,
        facts: dict[str, Any],
        make: Callable[[Capabilities], ClientProtocol] = ClientProtocol,
    ) -> None:
        self.facts = Capabilities(**json.loads(json.dumps(facts)))
        self._make = make
        self.client = make(self.facts)
        self.now = 0.0
        self.numbers: list[tuple[int, int]] = []
        """Of every text that was taken: socket, number."""
        self.fates: list[tuple[tuple[int, int], str]] = []
        self.sent: list[dict[str, Any]] = []
        self.sockets = 1
        self._ids = 0
        self._steers: list[str] = []
        """Parents of the texts that the server has not answered."""
        self._owned: list[tuple[str, str]] = []
        """The server's id and the parent of the texts that it accepted."""
        self.controls: list[str] = []
        """Types of the steers and interrupts of this socket without an error so far."""

    def act(self, step: Step) -> list[events.Event]:
        """One step; what was handed on because of it."""
        kind, x, y = step
        lane = LANES[x % 3]
        idle = not any(self.client.lane(one).in_flight for one in LANES)
        if idle and y < 8:
            self._create(lane, y)
        elif kind < 14:
            self._user(kind, lane, y)
        else:
            self._server(kind - 14, lane, x, y)
        return self.collect()

    def collect(self) -> list[events.Event]:
        """Frames out, events in; a socket that has to go goes."""
        client = self.client
        client.unroutable()
        for text in client.data_to_send():
            frame = json.loads(text)
            self.sent.append(frame)
            if frame["type"] != "response.create":
                self.controls.append(frame["type"])
            if frame["type"] == "response.steer":
                self._steers.append(frame["previous_response_id"])
        got = client.events_received()
        if client.should_drop and not client.closed:
            client.connection_lost("dropped")
            got += client.events_received()
        self._count(got)
        if client.closed:
            self.client = self._make(self.facts)
            self.sockets += 1
            self._steers, self._owned, self.controls = [], [], []
        return got

    def lose(self) -> None:
        """The network breaks."""
        self.client.connection_lost("gone")
        self.collect()

    def finish(self) -> None:
        """Everything that waits is stopped, and all deadlines pass."""
        for lane in LANES:
            self.client.interrupt(lane, self.now)
        for _ in range(40):
            self.now += 0.7
            self.client.tick(self.now)
        self.collect()

    def say(self, kind: str, lane: str | None = None, **fields: Any) -> None:
        """A frame of the server."""
        named = {} if lane is None else {"stream_id": lane}
        frame = json.dumps({"type": kind, **named, **fields})
        self.client.receive_text(frame.encode(), self.now)

    def complain(self, y: int) -> None:
        """An error without a name about the oldest steer or interrupt."""
        kind = self.controls.pop(0)
        words = (f"Unknown event type '{kind}'.", f"{kind} is not supported", f"{kind}: no")
        codes = ("unknown_event", "", "response_not_found")
        error = {"type": "invalid_request_error", "code": codes[y % 3], "message": words[y % 3]}
        self.say("error", status=(400, None, 404)[y % 3], error=error)

    def _count(self, got: list[events.Event]) -> None:
        self.fates += [((self.sockets, number), fate) for number, fate in fates(got)]

    def _user(self, kind: int, lane: str | None, y: int) -> None:
        client = self.client
        if kind < 5:
            self._create(lane, y)
        elif kind < 9:
            number = client.steer(f"text {len(self.numbers)}", lane, self.now)
            if number is not None:
                self.numbers.append((self.sockets, number))
        elif kind < 11:
            client.interrupt(lane, self.now)
        elif kind == 11 and y < 3:
            client.abandon(lane)
        elif kind == 12 and y < 1:
            client.connection_lost("gone")
        else:
            self.now += (0.1, 0.6, 1.1, 2.1, 11.0)[y % 5]
            client.tick(self.now)

    def _create(self, lane: str | None, y: int) -> None:
        parent = self.client.lane(lane).response_id if y < 6 else ""
        request: dict[str, Any] = {"model": "m"}
        if parent:
            request["previous_response_id"] = parent
        if y == 9:
            request["generate"] = False
        try:
            self.client.create(request, lane, self.now)
        except WireError:
            assert self.client.lane(lane).state is not LaneState.IDLE

    def _server(self, kind: int, lane: str | None, x: int, y: int) -> None:
        """An event for a lane that waits for one, if there is one; seldom for another."""
        waiting = [one for one in LANES if self.client.lane(one).in_flight]
        if waiting and y > 0:
            lane = waiting[x % len(waiting)]
        here = self.client.lane(lane)
        spoken = None if y == 9 or self.facts.lanes is False else lane
        response_id = "resp_0" if y == 1 else here.response_id
        owed = here.state in (LaneState.SENT, LaneState.STEERING)
        if kind == 0 or (owed and y < 7):
            self._ids += 1
            self.say("response.created", spoken, response={"id": f"resp_{self._ids}"})
        elif self._steers and 2 <= y < 5:
            self._answer_steer(spoken, x, y)
        elif kind < 10:
            self._output(kind, spoken, y)
        elif kind < 15:
            self._end(kind, spoken, response_id, y)
        elif kind < 21:
            self._answer_steer(spoken, x, y)
        elif kind < 24:
            word = "failed" if y % 3 == 0 else "accepted"
            self.say(f"response.interrupt.{word}", spoken, response_id=response_id)
        elif kind == 24:
            error = {"code": _CODES[x], "message": "stream_id" if y == 2 else "words"}
            self.say("error", spoken, status=(400, 400, 500, None)[y % 4], error=error)
        elif kind == 25 and self.controls:
            # In time, or long after its deadline.
            self.now += (0.0, 0.0, 1.2, 2.5, 40.0)[y % 5]
            self.client.tick(self.now)
            self.complain(x)
        else:
            self.say(_NEWS[y % 4], spoken)

    def _output(self, kind: int, lane: str | None, y: int) -> None:
        if kind < 8:
            text = ("x", "y", "\N{SNOWMAN}", "\ud83d")[y % 4]
            self.say("response.output_text.delta", lane, delta=text, item_id="i")
        elif kind == 8:
            self.say("response.output_item.added", lane, item={"type": "message"})
        else:
            item = {"type": "function_call" if y % 2 else "message", "call_id": "c"}
            self.say("response.output_item.done", lane, item=item)

    def _end(self, kind: int, lane: str | None, response_id: str, y: int) -> None:
        if kind < 12:
            self.say("response.completed", lane, response={"id": response_id})
        elif kind < 14:
            details = {"incomplete_details": {"reason": _REASONS[y % 4]}}
            self.say("response.incomplete", lane, response={"id": response_id, **details})
        else:
            self.say("response.failed", lane, response={"id": response_id})

    def _answer_steer(self, lane: str | None, x: int, y: int) -> None:
        """An answer to a text that was sent, in order, or to one that was accepted."""
        if self._steers and y < 8:
            parent = self._steers.pop(0)
            name = f"steer_{len(self._owned)}"
            if x < 4:
                self._owned.append((name, parent))
                steer = {"id": name, "previous_response_id": parent}
                self.say("response.steer.accepted", lane, steer=steer)
            else:
                self._fail(lane, {"previous_response_id": parent}, y)
        elif self._owned:
            name, parent = self._owned[x % len(self._owned)]
            steer = {"id": name, "previous_response_id": parent}
            if y % 2:
                self.say("response.steer.pending", lane, steer=steer)
            else:
                self._fail(lane, steer, y)

    def _fail(self, lane: str | None, steer: dict[str, str], y: int) -> None:
        code = _STEER_CODES[0 if y < 6 else y % 3]
        self.say("response.steer.failed", lane, steer=steer, error={"code": code})
