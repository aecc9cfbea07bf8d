"""Every recorded frame of real clients and servers through both protocols."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.support.client_playback import ENDS, GONE, ClientPlayback
from tests.support.recordings import RecordedConnection, connections, names
from tui.core.wire import events
from tui.core.wire.client.lane import LaneState
from tui.core.wire.events import decode_client, decode_server
from tui.core.wire.server.protocol import ServerProtocol
from tui.core.wire.server.run import Run

CONNECTIONS = [pair for name in names() for pair in connections(name)]


def test_the_corpus_is_there() -> None:
    assert len(names()) > 40
    assert sum(len(pair.frames) for pair in CONNECTIONS) > 3000


@pytest.mark.parametrize("recorded", CONNECTIONS, ids=lambda pair: pair.name)
def test_the_client_is_in_the_right_state_after_every_frame(recorded: RecordedConnection) -> None:
    playback = ClientPlayback()
    for frame in recorded.frames:
        playback.play(frame)
    assert playback.checks >= len([frame for frame in recorded.frames if not frame.meta])
    states = playback.table.states.values()
    waits = [state for state in states if state not in (LaneState.IDLE, LaneState.ABANDONED)]
    assert playback.client.busy == bool(waits)
    if playback.gone:
        assert (waits, playback.client.deadline()) == ([], None)
        assert playback.client.data_to_send() == []


def played(name: str, number: int) -> ClientPlayback:
    """A whole connection of a recording, from 1 on."""
    playback = ClientPlayback()
    for frame in connections(name)[number - 1].frames:
        playback.play(frame)
    return playback


def test_what_the_recordings_teach() -> None:
    """Facts that our client would have learnt where the recorded one sat."""
    steered = played("sdk_openai_3_52.jsonl", 2)
    assert (steered.client.capabilities.lanes, steered.client.capabilities.steer) == (
        True,
        {"gpt-6-astra": True},
    )
    news = [event.fate for event in steered.got if isinstance(event, events.SteerNews)]
    assert news == ["accepted", "used"]
    for name, works in {
        "tui_steer_astra.jsonl": True,
        "tui_steer_astra_fail.jsonl": False,
        "tui_steer_astra_error400.jsonl": False,
        "tui_steer_astra_ignore.jsonl": False,
    }.items():
        assert played(name, 1).client.capabilities.interrupt == {"gpt-6-astra": works}
    assert played("exec_prewarm_error_gpt55.jsonl", 1).client.capabilities.prewarm is False
    assert played("exec_plain_gpt55.jsonl", 1).client.capabilities.prewarm is True


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
    begun: list[Run] = field(default_factory=list)
    """All of them, in order."""
    ids: dict[str, str] = field(default_factory=dict)
    prewarmed: deque[str] = field(default_factory=deque)
    answers: list[dict[str, Any]] = field(default_factory=list)

    def client_says(self, body: dict[str, Any]) -> None:
        for key in ("previous_response_id", "response_id"):
            if body.get(key) in self.ids:
                body = {**body, key: self.ids[body[key]]}
        said, running = len(self.answers), {run.response_id for run in self.server.running()}
        ended = {run.response_id for run in self.begun} - running
        waiting = len(self.server._waiting)
        self.server.receive_text(json.dumps(body))
        self.work()
        answers = [answer["type"] for answer in self.answers[said:]]
        match body.get("type"):
            case "response.create":
                held = len(self.server._waiting) - waiting
                assert (answers[:1] in (["response.created"], ["error"])) != bool(held)
                assert held in (0, 1)
            case "response.interrupt" if body["response_id"] in running:
                assert answers == ["response.interrupt.accepted"]
            case "response.interrupt":
                unknown = running and body["response_id"] not in ended
                assert answers == (["response.interrupt.failed"] if unknown else [])
            case "response.steer":
                assert answers == ["response.steer.failed"]
            case _:
                assert answers == ["error"]
        self.check()

    def check(self) -> None:
        """What runs has begun and not ended, one a lane."""
        running = self.server.running()
        assert len({run.lane for run in running}) == len(running)
        assert [run for run in self.begun if not run.done] == running
        free = {run.lane for run in running}
        assert all(lane in free for lane in self.server._waiting.lanes)

    def work(self) -> None:
        runs = self.server.accept()
        self.new += runs
        self.begun += runs
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
        self.check()

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
def test_the_server_is_in_the_right_state_after_every_frame(recorded: RecordedConnection) -> None:
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
