"""Rules of the server side that hold for any client, whatever it says and when."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tui.core.wire.server.protocol import MAX_IN_FLIGHT, ServerProtocol
from tui.core.wire.server.run import Run, required_outputs

LANES = [None, "a"]
ENDS = {"response.completed", "response.incomplete", "response.failed", "error"}
NUMBER = st.integers(0, 9)
CREATE = st.tuples(st.just("create"), st.integers(0, 1), st.integers(-1, 9), st.booleans())
STEP = st.one_of(
    CREATE,
    CREATE,
    st.tuples(st.just("steer"), NUMBER),
    st.tuples(st.just("interrupt"), NUMBER),
    st.tuples(st.just("item"), NUMBER, st.booleans()),
    st.tuples(st.just("end"), NUMBER, st.sampled_from(["finish", "fail", "refuse", "cut"])),
    st.tuples(st.just("broken"), st.integers(0, 1)),
    st.tuples(st.just("noise"), st.sampled_from(["{", "[]", '{"type":"x"}', '{"type":[]}'])),
)


@dataclass
class Game:
    """A server with a client that says anything, and a model that ends runs in any order."""

    server: ServerProtocol = field(default_factory=lambda: ServerProtocol(steering=True))
    ids: list[str] = field(default_factory=list)
    running: list[Run] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    asked: dict[str | None, int] = field(default_factory=dict)
    """Creates by lane."""
    successors: list[str | None] = field(default_factory=list)
    """Lanes on which the server is to create one by itself."""

    def play(self, step: tuple[Any, ...]) -> None:
        kind, number = step[0], step[1]
        getattr(self, f"_{kind}")(number, *step[2:])
        self._settle()

    def play_to_the_end(self) -> None:
        while self.running:
            self._end(0, "finish")
            self._settle()

    def _settle(self) -> None:
        self.running += self.server.accept()
        self.running += self.server.accept()
        assert len(self.server.running()) <= MAX_IN_FLIGHT
        self.running = [run for run in self.running if not run.done]
        assert set(self.running) == set(self.server.running())
        for text in self.server.data_to_send():
            event = json.loads(text)
            self.events.append(event)
            if event["type"] == "response.created":
                self.ids.append(event["response"]["id"])

    def _said(self, **event: Any) -> None:
        self.server.receive_text(json.dumps(event))

    def _id(self, number: int) -> str:
        """An even number is one that runs, if any does; an odd one any of them, or none."""
        if number % 2 == 0 and self.running:
            return self.running[number // 2 % len(self.running)].response_id
        return self.ids[-1 - number // 2] if number // 2 < len(self.ids) else "resp_unknown"

    def _run(self, number: int) -> Run | None:
        return self.running[number % len(self.running)] if self.running else None

    def _create(self, lane: int, parent: int, generate: bool) -> None:
        name = LANES[lane]
        self.asked[name] = self.asked.get(name, 0) + 1
        fields = {} if name is None else {"stream_id": name}
        if parent >= 0:
            fields["previous_response_id"] = self._id(parent)
        self._said(type="response.create", model="m", input="x", generate=generate, **fields)

    def _broken(self, lane: int) -> None:
        name = LANES[lane]
        self.asked[name] = self.asked.get(name, 0) + 1
        fields = {} if name is None else {"stream_id": name}
        self._said(type="response.create", input=[7], **fields)

    def _steer(self, number: int) -> None:
        target = self._id(number)
        self._said(type="response.steer", previous_response_id=target, input="more")

    def _interrupt(self, number: int) -> None:
        self._said(type="response.interrupt", response_id=self._id(number))

    def _noise(self, text: str) -> None:
        self.server.receive_text(text)

    def _item(self, number: int, call: bool) -> None:
        if (run := self._run(number)) is not None:
            index = run.item_added({"type": "function_call" if call else "message", "name": "f"})
            run.delta(index, "text")
            run.item_done(index)

    def _end(self, number: int, how: str) -> None:
        run = self._run(number)
        if run is None:
            return
        texts_wait = run.steered and not run.interrupted and not required_outputs(run.output)
        if texts_wait and how in ("cut", "finish"):
            self.successors.append(run.lane)
        if how == "cut" and run.steered and not required_outputs(run.output):
            run.finish("incomplete", reason="steered")
        elif run.interrupted:
            run.finish_interrupted()
        elif how == "fail":
            run.fail("server_error", "no")
        elif how == "refuse":
            run.refuse(500, "server_error", "no")
        else:
            run.finish()


@given(st.lists(STEP, min_size=20, max_size=60))
@settings(max_examples=40)
def test_every_accepted_create_has_one_end_on_its_own_lane(steps: list[tuple[Any, ...]]) -> None:
    game = Game()
    for step in steps:
        game.play(step)
    game.play_to_the_end()
    for lane in LANES:
        check_lane(game, lane)
    steers = [event for event in game.events if event["type"].startswith("response.steer")]
    check_steers(steers, game.events)


def check_lane(game: Game, lane: str | None) -> None:
    """Responses follow each other, numbered from 0 without a gap, each with one end."""
    open_id, number, answered = "", 0, 0
    for event in game.events:
        if event.get("stream_id") != lane or unrouted(event):
            continue
        kind = event["type"]
        if kind == "response.created":
            assert not open_id
            open_id, number = event["response"]["id"], 0
        if kind == "error" and not open_id:
            assert event["sequence_number"] == 0
            answered += 1
            continue
        if is_refused_steer(event):
            continue
        assert event["sequence_number"] == number
        number += 1
        if kind in ENDS:
            assert open_id
            if kind != "error":
                assert event["response"]["id"] == open_id
            open_id = ""
            answered += 1
    assert not open_id
    assert answered == game.asked.get(lane, 0) + game.successors.count(lane)


def unrouted(event: dict[str, Any]) -> bool:
    """An answer to noise, or to a control event for nobody."""
    code = event.get("error") and event["error"].get("code")
    return code in ("unknown_event", "invalid_json") or event["type"] == "response.interrupt.failed"


def is_refused_steer(event: dict[str, Any]) -> bool:
    """For a response that is over, or a text that lost its parent: said beside any response."""
    return event["type"] == "response.steer.failed" and event["sequence_number"] == 0


def check_steers(steers: list[dict[str, Any]], events: list[dict[str, Any]]) -> None:
    """Nothing is given back that was not taken, and nothing twice."""
    taken = [e["steer"]["id"] for e in steers if e["type"] == "response.steer.accepted"]
    back = [
        e["steer"]["id"]
        for e in steers
        if e["type"] == "response.steer.failed" and "id" in e["steer"]
    ]
    assert len(set(taken)) == len(taken)
    assert len(set(back)) == len(back)
    assert set(back) <= set(taken)
    assert all("input" in e["steer"] for e in steers if e["type"] == "response.steer.failed")
    assert len({e["response"]["id"] for e in events if e["type"] == "response.created"}) == sum(
        e["type"] == "response.created" for e in events
    )


@given(st.lists(STEP, min_size=10, max_size=40))
@settings(max_examples=20)
def test_a_lost_connection_leaves_nothing_running(steps: list[tuple[Any, ...]]) -> None:
    game = Game()
    for step in steps:
        game.play(step)
    runs = list(game.running)
    assert set(game.server.connection_lost()) == set(runs)
    for run in runs:
        assert run.interrupted
        run.finish()
    game.play(("create", 1, -1, True))
    assert game.server.running() == []
    assert game.server.data_to_send() == []
