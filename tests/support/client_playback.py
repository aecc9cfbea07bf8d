"""A client that does what a recorded one did and hears what that one heard.

`Table` is the oracle: what each lane has to be doing after each raw frame, read off the frames by
the rules of PROTOCOL sections 3 to 8 and nothing else.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from tests.support.recordings import RecordedFrame
from tui.core.wire import events
from tui.core.wire.client.lane import LaneState
from tui.core.wire.client.protocol import ClientProtocol

ENDS = ("response.completed", "response.incomplete", "response.failed")
GONE = ("connection_closed", "abrupt_tcp_abort", "client_closed_while_server_was_streaming")
_TOLD = (events.Delta, events.Created, events.Completed, events.Incomplete, events.Failed)
_FRESH = (LaneState.SENT, LaneState.CREATED, LaneState.STREAMING)
_STARTED = (LaneState.CREATED, LaneState.STREAMING)


@dataclass
class Table:
    """Lane -> what it has to be doing."""

    states: dict[str | None, LaneState] = field(default_factory=dict)

    def sent(self, lane: str | None) -> None:
        """A create went out."""
        self.states[lane] = LaneState.SENT

    def stopped(self, lane: str | None) -> None:
        """An interrupt was asked for."""
        if self.states[lane] in _FRESH:
            self.states[lane] = LaneState.INTERRUPTING

    def left(self) -> None:
        """The socket is gone."""
        self.states = dict.fromkeys(self.states, LaneState.IDLE)

    def heard(self, body: dict[str, Any], steered: bool) -> bool:
        """A raw frame of the server; True if it is to be handed on.

        ``steered``: a text is out on its lane.
        """
        kind, lane = body["type"], body.get("stream_id")
        state = self.states.get(lane, LaneState.IDLE)
        if kind == "response.created" and state is not LaneState.INTERRUPTING:
            state = LaneState.CREATED
        elif state is LaneState.CREATED and (
            kind == "response.output_item.added" or kind.endswith(".delta")
        ):
            state = LaneState.STREAMING
        elif kind in ENDS:
            state = LaneState.STEERING if steered else LaneState.IDLE
        elif kind == "error" and state is not LaneState.INTERRUPTING:
            state = LaneState.IDLE
        if lane in self.states:
            self.states[lane] = state
        if kind.endswith(".delta"):
            return state is LaneState.STREAMING
        return kind in ENDS or kind == "response.created"


@dataclass
class ClientPlayback:
    """One socket of a recording, played to a `ClientProtocol`."""

    client: ClientProtocol = field(default_factory=ClientProtocol)
    table: Table = field(default_factory=Table)
    got: list[events.Event] = field(default_factory=list)
    gone: bool = False
    """Our client has left, or was left; the recorded one may have stayed."""
    strange: int = 0
    """Events said by the recorded client that ours never says, and still unanswered."""
    checks: int = 0
    _waiting: deque[dict[str, Any]] = field(default_factory=deque)
    _now: float = 0.0

    def play(self, frame: RecordedFrame) -> None:
        """One line of the recording; the states are checked after it."""
        self._tick(frame.at_s)
        if frame.meta in GONE:
            self._leave("gone")
        elif frame.meta:
            return
        elif "_raw" in frame.body:
            self.client.receive_text(frame.text, self._now)
            assert self.client.events_received() == []
        elif frame.from_client:
            self._client_says(frame.body)
        else:
            self._server_says(frame)
        self._check()
        self._send()
        self._check()

    def _client_says(self, body: dict[str, Any]) -> None:
        kind = body["type"]
        if kind == "response.create":
            # As it is, but for one recorded name that is no lane.
            named = {"stream_id": _legal(body["stream_id"])} if "stream_id" in body else {}
            self._waiting.append({**body, **named})
        elif kind == "response.interrupt":
            for lane in list(self.table.states):
                if self.client.lane(lane).response_id == body["response_id"]:
                    self.client.interrupt(lane, self._now)
                    self.table.stopped(lane)
        elif kind == "response.steer":
            started = [lane for lane, state in self.table.states.items() if state in _STARTED]
            if len(started) == 1:
                self.client.steer(body["input"], started[0], self._now)
        else:
            self.strange += 1

    def _server_says(self, frame: RecordedFrame) -> None:
        body = frame.body
        if self.strange and body["type"] == "error":
            self.strange -= 1
            return
        lane = body.get("stream_id")
        if lane is not None:
            body = {**body, "stream_id": _legal(lane)}
        passes = self.table.heard(body, bool(self.client.lane(body.get("stream_id")).steers))
        self.client.receive_text(json.dumps(body).encode(), self._now)
        got = self.client.events_received()
        assert [_raw(event) for event in got if isinstance(event, _TOLD)] == (
            [_raw_of(body)] if passes and not self.gone else []
        )
        assert not (self.gone and got)
        self.got += got
        if self.client.should_drop:
            self._leave(self.client.drop_reason)

    def _tick(self, at_s: float) -> None:
        """The clock of the recording."""
        due = self.client.deadline()
        if due is not None and due <= at_s:
            self.client.tick(due)
            self.got += self.client.events_received()
            if self.client.should_drop:
                self._leave(self.client.drop_reason)
        self._now = at_s

    def _leave(self, reason: str) -> None:
        self.client.connection_lost(reason)
        self.got += self.client.events_received()
        self.table.left()
        self.gone = True

    def _send(self) -> None:
        """Recorded clients queue on a lane; ours waits for the end."""
        left = deque[dict[str, Any]]()
        for body in self._waiting:
            lane = body.get("stream_id")
            if self.gone or self.client.lane(lane).in_flight or self.client.lane(lane).busy:
                left.append(body)
                continue
            request = {key: body[key] for key in body if key not in ("type", "stream_id")}
            self.client.create(request, lane, self._now)
            self.table.states[lane] = LaneState.HELD
        self._waiting = left
        for text in self.client.data_to_send():
            frame = json.loads(text)
            if frame["type"] == "response.create":
                self.table.sent(frame.get("stream_id"))

    def _check(self) -> None:
        states = {lane: self.client.lane(lane).state for lane in self.table.states}
        assert states == self.table.states
        self.checks += 1


def _raw(event: events.Event) -> tuple[str | None, str]:
    """Lane, and the text or the response's id."""
    if isinstance(event, events.Delta):
        return (event.stream_id, event.delta)
    assert isinstance(event, _TOLD)
    return (event.stream_id, event.response_id)


def _raw_of(body: dict[str, Any]) -> tuple[str | None, str]:
    text = body["delta"] if "delta" in body else body["response"]["id"]
    return (body.get("stream_id"), text)


def _legal(lane: str) -> str:
    return lane.replace(" ", "_").replace("!", "_")
