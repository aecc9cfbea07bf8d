"""Every recorded frame of real clients and servers through both protocols."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.support.recordings import RecordedConnection, connections, names
from tui.core import events
from tui.core.client_protocol import ClientProtocol
from tui.core.events import Create, decode_client, decode_server
from tui.core.protocol import Run, ServerProtocol

ENDS = ("response.completed", "response.incomplete", "response.failed")
GONE = ("connection_closed", "abrupt_tcp_abort", "client_closed_while_server_was_streaming")
CONNECTIONS = [pair for name in names() for pair in connections(name)]


def test_the_corpus_is_there() -> None:
    assert len(names()) > 40
    assert sum(len(pair.frames) for pair in CONNECTIONS) > 3000


@dataclass
class ClientPlayback:
    """A client that does what the recorded one did, and hears what that one heard."""

    client: ClientProtocol = field(default_factory=ClientProtocol)
    waiting: deque[Create] = field(default_factory=deque)
    got: list[events.Event] = field(default_factory=list)
    strange: int = 0
    """Events said by the recorded client that ours never says, and still unanswered."""
    now: float = 0.0

    def client_says(self, body: dict[str, Any]) -> None:
        event = decode_client(json.dumps(body))
        if body.get("type") == "response.create":
            # As it is: one recorded lane has a name that our server would refuse.
            self.waiting.append(Create(body, body.get("stream_id")))
        elif isinstance(event, events.Interrupt):
            for lane in self.client._lanes.values():
                if lane.response_id == event.response_id:
                    self.client.interrupt(lane.name, self.now)
        elif isinstance(event, events.UnknownClient):
            self.strange += 1
        self.send()

    def server_says(self, text: str) -> None:
        if self.strange and isinstance(decode_server(text), events.ErrorEvent):
            self.strange -= 1
            return
        self.client.receive_text(text, self.now)
        self.got += self.client.events_received()
        self.send()

    def send(self) -> None:
        """Recorded clients queue on a lane; ours waits for the end."""
        left = deque[Create]()
        for create in self.waiting:
            if self.client.lane(create.stream_id).busy or self.client.should_drop:
                left.append(create)
            else:
                self.client.create(create.request, create.stream_id)
        self.waiting = left


@pytest.mark.parametrize("recorded", CONNECTIONS, ids=lambda pair: pair.name)
def test_the_client_follows_every_recording(recorded: RecordedConnection) -> None:
    playback = ClientPlayback()
    raw: list[dict[str, Any]] = []
    for frame in recorded.frames:
        if frame.meta in GONE:
            playback.client.connection_lost("gone")
        elif frame.meta or "_raw" in frame.body:
            playback.client.receive_text(frame.text if not frame.meta else "", 0.0)
        elif frame.from_client:
            playback.client_says(frame.body)
        else:
            raw.append(frame.body)
            playback.server_says(frame.text)
    ends = [body for body in raw if body["type"] in ENDS]
    classes = (events.Completed, events.Incomplete, events.Failed)
    assert len([event for event in playback.got if isinstance(event, classes)]) == len(ends)
    created = [body for body in raw if body["type"] == "response.created"]
    got_created = [e.response_id for e in playback.got if isinstance(e, events.Created)]
    assert got_created == [body["response"]["id"] for body in created]
    if len(ends) == len(created):
        assert not playback.client.busy
    check_text(playback.got, raw)


def check_text(got: list[events.Event], raw: list[dict[str, Any]]) -> None:
    """Without an interrupt every delta arrives, whole and in order."""
    deltas = [body["delta"] for body in raw if body["type"].endswith(".delta")]
    received = [event.delta for event in got if isinstance(event, events.Delta)]
    if any(isinstance(event, events.InterruptAccepted | events.InterruptFailed) for event in got):
        assert len(received) <= len(deltas)
    else:
        assert received == deltas[: len(received)]
        interrupted = len(received) < len(deltas)
        assert not interrupted or not any(isinstance(e, events.ErrorEvent) for e in got)


@pytest.mark.parametrize("recorded", CONNECTIONS, ids=lambda pair: pair.name)
def test_every_recorded_frame_has_a_type_that_we_know(recorded: RecordedConnection) -> None:
    strange = {"response.some_future_event", "codex.rate_limits"}
    for frame in recorded.frames:
        if frame.meta or "_raw" in frame.body:
            continue
        if frame.from_client:
            client_event = decode_client(frame.text)
            invalid = " " in frame.body.get("stream_id", "")
            assert isinstance(client_event, events.Invalid) == invalid
        else:
            event = decode_server(frame.text)
            assert event is not None
            assert isinstance(event, events.Unknown) == (frame.body["type"] in strange)


@dataclass
class ServerPlayback:
    """Our server with a recorded client: it answers what the recorded server answered."""

    server: ServerProtocol = field(default_factory=ServerProtocol)
    runs: dict[str, Run] = field(default_factory=dict)
    """Recorded response id -> ours."""
    new: deque[Run] = field(default_factory=deque)
    ids: dict[str, str] = field(default_factory=dict)
    prewarmed: deque[str] = field(default_factory=deque)
    answers: list[dict[str, Any]] = field(default_factory=list)

    def client_says(self, body: dict[str, Any]) -> None:
        for key in ("previous_response_id", "response_id"):
            if body.get(key) in self.ids:
                body = {**body, key: self.ids[body[key]]}
        self.server.receive_text(json.dumps(body))
        self.work()

    def work(self) -> None:
        self.new += self.server.accept()
        for text in self.server.data_to_send():
            answer = json.loads(text)
            self.answers.append(answer)
            response = answer.get("response") or {}
            if answer["type"] == "response.completed" and not response["output"]:
                self.prewarmed.append(response["id"])

    def server_says(self, body: dict[str, Any]) -> None:
        kind, response = body["type"], body.get("response") or {}
        if kind == "response.created":
            self.match(response["id"], body.get("stream_id"))
            return
        if kind in ENDS and response["id"] in self.runs:
            run = self.runs.pop(response["id"])
            for item in response.get("output") or []:
                run.item_done(run.item_added(item), item)
            status = kind.removeprefix("response.")
            if (response.get("incomplete_details") or {}).get("reason") == "interrupted":
                run.finish_interrupted()
            elif status == "failed":
                run.fail("server_error", "as recorded")
            elif status == "incomplete":
                run.finish("incomplete", None, "max_output_tokens")
            else:
                run.finish()
        elif kind == "error" and self.new:
            self.new.popleft().refuse(400, "as_recorded", "as recorded")
        self.work()

    def match(self, recorded_id: str, lane: str | None) -> None:
        """Ours is the oldest unmatched one of that lane."""
        for run in self.new:
            if run.lane == lane:
                self.new.remove(run)
                self.runs[recorded_id] = run
                self.ids[recorded_id] = run.response_id
                return
        if self.prewarmed:
            self.ids[recorded_id] = self.prewarmed.popleft()


@pytest.mark.parametrize("recorded", CONNECTIONS, ids=lambda pair: pair.name)
def test_the_server_follows_every_recording(recorded: RecordedConnection) -> None:
    playback = ServerPlayback()
    for frame in recorded.frames:
        if frame.meta in GONE:
            playback.server.connection_lost()
        elif frame.from_client and not frame.meta:
            playback.client_says(frame.body)
        elif not frame.meta and "_raw" not in frame.body:
            playback.server_says(frame.body)
    said = [f.body for f in recorded.frames if f.from_client and not f.meta]
    creates = [body for body in said if body.get("type") == "response.create"]
    steers = [body for body in said if body.get("type") == "response.steer"]
    bad_lanes = [body for body in creates if " " in body.get("stream_id", "")]
    # Parents made up by a test program, or made by the recorded server alone (steered).
    orphans = [b for b in creates if b.get("previous_response_id") in ("resp_nope", "resp_unknown")]

    kinds = [answer["type"] for answer in playback.answers]
    codes = [a["error"]["code"] for a in playback.answers if a["type"] == "error"]
    assert kinds.count("response.steer.failed") == len(steers)
    assert codes.count("unknown_event") == len(said) - len(creates) - len(steers) - sum(
        body.get("type") == "response.interrupt" for body in said
    )
    assert codes.count("invalid_stream_id") == len(bad_lanes)
    lost = codes.count("previous_response_not_found")
    assert len(orphans) <= lost <= len(orphans) + len(steers)
    known = ("as_recorded", "unknown_event", "invalid_stream_id", "previous_response_not_found")
    assert set(codes) <= set(known)
    waiting = len(playback.server._waiting)
    assert kinds.count("response.created") + lost + waiting == len(creates) - len(bad_lanes)
