"""Our server in the recorded one's place: the same frames in, and the same turns out.

The recorded client's frames go in as they were; what the recorded model said is the script of our
runs. Everything that the protocol itself has to say (responses, prewarms, ends, steering with its
successors, interrupts) must come out of ours in the recorded order.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from tests.support.recordings import RecordedConnection, connections, names
from tests.support.tables import each
from tui.core.wire.server.protocol import ServerProtocol
from tui.core.wire.server.run import Run

ENDS = ("response.completed", "response.incomplete", "response.failed")
OWN = (
    "response.created",
    "response.in_progress",
    "response.interrupt.accepted",
    "response.output_item.interrupted",
    "response.steer.accepted",
    "response.steer.pending",
)
"""What a server says by itself."""
ELSEWHERE = (
    *("litellm_managed", "litellm_chat"),  # not the scratch server: no lanes, no steering
    *("_fail.jsonl", "_ignore", "error400", "prewarm_error"),  # it was told to misbehave
    "litellm_native_upstream.jsonl",  # it took a parent and a lane's name that there are not
)
CONNECTIONS = [
    pair
    for name in names()
    if not any(word in name for word in ELSEWHERE)
    for pair in connections(name)
]


@dataclass
class Playback:
    """Our server, the recorded client and the recorded model."""

    server: ServerProtocol = field(default_factory=lambda: ServerProtocol(steering=True))
    ids: dict[str, str] = field(default_factory=dict)
    """Recorded response id -> ours."""
    fresh: deque[Run] = field(default_factory=deque)
    by_lane: dict[str | None, Run] = field(default_factory=dict)
    prewarmed: deque[str] = field(default_factory=deque)
    said: list[dict[str, Any]] = field(default_factory=list)
    early: set[str] = field(default_factory=set)
    """Refused by the recorded server before it had announced them; ours had."""

    def hear_client(self, body: dict[str, Any]) -> None:
        for key in ("previous_response_id", "response_id"):
            body = {**body, **({key: self.ids.get(body[key], body[key])} if key in body else {})}
        self.server.receive_text(json.dumps(body))
        self.work()

    def work(self) -> None:
        self.fresh += self.server.accept()
        known = {run.response_id for run in [*self.fresh, *self.by_lane.values()]}
        for text in self.server.data_to_send():
            event = json.loads(text)
            self.said.append(event)
            if event["type"] == "response.created" and event["response"]["id"] not in known:
                self.prewarmed.append(event["response"]["id"])

    def hear_model(self, body: dict[str, Any]) -> None:
        kind, lane = body["type"], body.get("stream_id")
        if kind == "response.created":
            run = next((run for run in self.fresh if run.lane == lane), None)
            if run is not None:
                self.fresh.remove(run)
                self.by_lane[lane] = run
            ours = run.response_id if run is not None else self.prewarmed.popleft()
            self.ids[body["response"]["id"]] = ours
        elif kind in ENDS:
            self.end(body)
        elif kind == "error":
            self.refuse(lane, body)
        elif kind not in OWN and lane in self.by_lane:
            self.by_lane[lane].pass_on(body)
        self.work()

    def end(self, body: dict[str, Any]) -> None:
        run = self.by_lane.get(body.get("stream_id"))
        if run is None or run.response_id != self.ids[body["response"]["id"]]:
            return  # a prewarm: answered already
        reason = (body["response"].get("incomplete_details") or {}).get("reason")
        if reason == "interrupted":
            assert run.interrupted
            run.finish_interrupted()
        elif body["type"] == "response.failed":
            run.fail("server_error", "as recorded")
        else:
            assert (reason == "steered") <= run.steered
            status = "incomplete" if reason else "completed"
            run.finish(status, None, reason)

    def refuse(self, lane: str | None, body: dict[str, Any]) -> None:
        run = self.by_lane.get(lane)
        if run is None and self.fresh:
            run = self.fresh.popleft()
            self.early.add(run.response_id)
        if run is not None:
            run.refuse(body.get("status", 500), body["error"].get("code") or "x", "as recorded")


def turns(events: list[dict[str, Any]], lane: str | None, early: set[str]) -> list[str]:
    """What happened on a lane: responses, their finished items, their ends, what is pending."""
    kept = ("response.created", "response.output_item.done", "response.steer.pending", *ENDS)
    mine = [event for event in events if event.get("stream_id") == lane]
    return [
        event["type"]
        for event in mine
        if event["type"] in kept and event.get("response", {}).get("id") not in early
    ]


@each("recorded", CONNECTIONS)
def test_our_server_gives_the_recorded_turns(recorded: RecordedConnection) -> None:
    playback = Playback()
    heard: list[dict[str, Any]] = []
    for frame in recorded.frames:
        if frame.meta or "_raw" in frame.body:
            continue
        if frame.from_client:
            playback.hear_client(frame.body)
        else:
            heard.append(frame.body)
            playback.hear_model(frame.body)
    lanes = {event.get("stream_id") for event in heard}
    for lane in lanes:
        assert turns(playback.said, lane, playback.early) == turns(heard, lane, set())
    for kind in ("response.steer.accepted", "response.interrupt.accepted"):
        assert [e["type"] for e in playback.said].count(kind) == [e["type"] for e in heard].count(
            kind
        )
    for said, was in zip(ends(playback.said), ends(heard), strict=True):
        assert said["response"]["status"] == was["response"]["status"]
        assert said["response"]["incomplete_details"] == was["response"]["incomplete_details"]
        parent = was["response"]["previous_response_id"]
        ours = playback.ids.get(parent, parent)
        assert said["response"]["previous_response_id"] == ours


def ends(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The terminal events, lane by lane."""
    found = [event for event in events if event["type"] in ENDS]
    return sorted(found, key=lambda event: event.get("stream_id") or "")


def test_the_recordings_hold_what_this_is_about() -> None:
    kinds = [
        frame.body["type"]
        for pair in CONNECTIONS
        for frame in pair.frames
        if not frame.meta and "type" in frame.body
    ]
    assert {*OWN, *ENDS, "error"} - set(kinds) <= {"response.steer.pending"}
    assert len(CONNECTIONS) > 60
