"""Whose trouble an `error` is, and what is learnt from it (PROTOCOL sections 4 and 8)."""

from __future__ import annotations

from typing import Any

from tests.support.client_side import ClientSide, fates, kinds
from tests.support.tables import each
from tui.core.wire import events
from tui.core.wire.client import errors
from tui.core.wire.client.lane import DOUBT_S, LaneState
from tui.core.wire.client.steers import STEER_S
from tui.core.wire.endpoint_facts import GRACE_S, Capabilities


@each(
    "event, names, interrupt, vague, prewarm",
    [
        ({}, False, False, False, True),
        ({"status": 500, "message": "no event interrupt"}, False, False, False, False),
        ({"status": 404, "message": "no interrupt here"}, False, True, True, True),
        ({"status": 400, "message": "it was interrupted"}, False, False, True, True),
        ({"status": 400, "code": "x", "message": "invalid event"}, False, True, False, True),
        ({"status": 400, "code": "x", "message": "invalid"}, False, False, False, True),
        ({"status": 400, "code": "unknown_type"}, False, True, False, True),
        ({"status": 404, "code": "response_not_found"}, False, True, False, True),
        ({"status": 400, "param": "type"}, False, True, False, True),
        ({"status": 422, "code": "bad_request"}, False, False, True, True),
        ({"status": 405, "code": "unknown_type"}, False, True, False, True),
        ({"status": 501, "code": "unknown_type"}, False, True, False, True),
        ({"status": 422, "code": "bad_request", "param": "input"}, False, False, False, True),
        ({"status": 400, "param": "stream_id"}, True, False, False, True),
        ({"status": 400, "code": "invalid_stream_id"}, True, False, False, True),
        ({"status": 400, "code": "x", "message": "no stream_id"}, True, False, False, True),
        ({"status": 500, "param": "stream_id"}, False, False, False, False),
        ({"status": 400, "code": "websocket_stream_limit_reached", "param": "stream_id"},
         False, False, False, False),
    ],
)  # fmt: skip
def test_what_an_error_complains_about(
    event: dict[str, Any], names: bool, interrupt: bool, vague: bool, prewarm: bool
) -> None:
    error = events.ErrorEvent(**{"status": None, "code": "", "message": "", **event})
    assert errors.about_lane_names(error) is names
    assert errors.about_event_type(error, "interrupt") is interrupt
    assert errors.is_vague(error) is vague
    assert errors.refuses_prewarm(error) is prewarm


def test_nothing_is_taken_after_the_loss() -> None:
    side = ClientSide().streaming()
    side.client.connection_lost("gone")
    assert side.delta() == []
    assert side.created("resp_2") == []
    assert side.completed() == []
    assert side.say("vendor.news") == []
    assert not side.client.takes(None)
    assert side.client.deadline() is None


STEER: list[dict[str, Any]] = [
    {"status": 400, "error": {"code": "unknown_event", "message": "Unknown event type."}},
    {"status": 400, "error": {"message": "Unknown event type 'response.steer'.", "param": "type"}},
    {"error": {"type": "error", "message": "response.steer is not known here"}},
    {"status": 400, "error": {"code": "response_not_found", "message": "no such response"}},
    {"status": 500, "error": {"message": "response.steer: KeyError"}},
    {"status": 400, "error": {"type": "invalid_request_error", "message": "Bad request."}},
]
STOP = [
    {**one, "error": {k: v.replace("steer", "interrupt") for k, v in one["error"].items()}}
    for one in STEER
]


def shared(*names: str, **facts: Any) -> ClientSide:
    """Lanes that stream over one socket."""
    side = ClientSide(Capabilities(lanes=True, **facts))
    for name in names:
        side.streaming(name, f"resp_{name}")
    return side


@each("lane", [None, "main"])
@each("named", [False, True])
@each("error", STEER)
def test_a_late_error_about_a_steer_leaves_the_answer_alone(
    error: dict[str, Any], named: bool, lane: str | None
) -> None:
    side = shared()
    side.streaming(lane, "resp_1")
    side.client.steer("smaller", lane, side.now)
    assert fates(side.wait(STEER_S + 0.4)) == [(1, "returned")]
    assert side.say("error", lane if named else None, **error) == []
    assert side.state(lane) is LaneState.STREAMING
    assert side.delta("y", lane)
    assert kinds(side.completed("resp_1", lane)) == ["Completed"]


@each("error", STOP)
def test_a_late_error_about_an_interrupt_leaves_the_neighbour_alone(error: dict[str, Any]) -> None:
    side = shared("main", "helper")
    side.client.interrupt("main", side.now)
    assert kinds(side.wait(GRACE_S + 0.2)) == ["Incomplete"]
    assert side.say("error", **error) == []
    assert side.state("helper") is LaneState.STREAMING
    assert side.delta("y", "helper")


@each("error", STOP[:5])
@each("begun", [False, True])
def test_a_late_error_about_an_interrupt_leaves_the_next_turn_alone(
    error: dict[str, Any], begun: bool
) -> None:
    side = shared("main", "helper")
    side.client.interrupt("main", side.now)
    side.wait(GRACE_S)
    side.ask("main.2")
    if begun:
        side.created("resp_3", "main.2")
    assert side.say("error", **error) == []
    assert side.state("main.2") is (LaneState.CREATED if begun else LaneState.SENT)
    assert side.delta("y", "helper")


def test_a_refused_interrupt_is_answered_once() -> None:
    side = shared("main", "helper")
    side.client.interrupt("main", side.now)
    side.say("response.interrupt.failed", response_id="resp_main", error={"code": "no"})
    assert kinds(side.error(400, "helper", message="Bad request.")) == ["ErrorEvent"]


def test_an_error_before_anything_was_asked_of_the_server_is_the_answer_s() -> None:
    side = shared("main")
    (event,) = side.error(400, message="response.interrupt")
    assert isinstance(event, events.ErrorEvent)
    assert side.state("main") is LaneState.IDLE


def test_an_upstream_that_was_interrupted_is_no_complaint_about_us() -> None:
    side = shared("main")
    side.client.steer("one", "main", side.now)
    side.wait(STEER_S)
    assert kinds(side.error(None, message="the stream was interrupted")) == ["ErrorEvent"]
    assert side.state("main") is LaneState.IDLE


def test_a_real_error_long_after_an_unanswered_steer_ends_the_answer() -> None:
    side = shared("main")
    side.client.steer("one", "main", side.now)
    side.wait(120)
    assert kinds(side.error(400, message="Bad request.")) == ["ErrorEvent"]


@each("code", ["context_length_exceeded", "previous_response_not_found"])
def test_a_telling_code_is_the_answer_s_own(code: str) -> None:
    side = shared("main")
    side.client.steer("one", "main", side.now)
    side.wait(STEER_S)
    assert kinds(side.error(400, code=code, message="x")) == ["ErrorEvent"]


@each("status", [400, 429, 500, None])
def test_a_nameless_error_is_the_only_busy_lane_s_and_ends_it(status: int | None) -> None:
    side = shared("main")
    (event,) = side.error(status, code="rate_limit_exceeded")
    assert event.stream_id == "main"
    assert side.state("main") is LaneState.IDLE
    assert side.ask("main")


@each("status", [400, 429, 500, None])
def test_what_may_be_of_two_lanes_ends_neither(status: int | None) -> None:
    side = shared("main", "helper")
    (event,) = side.error(status, code="rate_limit_exceeded")
    assert event.stream_id is None
    assert side.delta("x", "main")
    assert side.delta("x", "helper")


def test_the_error_of_an_unseen_answer_does_not_hit_the_one_that_is_seen() -> None:
    side = shared("main", "helper")
    side.client.abandon("main")
    (event,) = side.error(500, code="server_error")
    assert event.stream_id is None
    assert side.delta("x", "helper")


def test_an_error_with_a_name_that_nobody_bears_is_nobody_s() -> None:
    side = shared("main")
    (event,) = side.error(500, "else", code="server_error")
    assert event.stream_id is None
    assert side.delta("x", "main")


REFUSALS: list[dict[str, Any]] = [
    {"status": 400, "error": {"code": "invalid_prompt", "message": "no"}},
    {"status": "400", "error": {"type": "invalid_request_error", "message": "Bad request."}},
    {"status_code": 422, "error": {"message": "Missing parameter", "param": "input"}},
    {"error": {"type": "invalid_request_error", "message": "Bad request."}},
    {"error": "Bad request."},
    {"code": "invalid_value", "message": "Unsupported value for steering", "param": "model"},
    {"status": 404, "error": {"code": "response_not_found", "message": "no such response"}},
    {"status": 400, "error": {"message": "Invalid event: the input is not supported"}},
    {"status": 402, "error": {"code": "insufficient_quota", "message": "no credit"}},
    {"status": 403, "error": {"message": "this key may not"}},
    {"status": 413, "error": {"message": "too large"}},
    {"status": 429, "error": {"code": "rate_limit_exceeded", "message": "slow down"}},
    {"status": 500, "error": {"message": "oops"}},
    {},
]


def ends(got: list[events.Event]) -> list[str]:
    """The terminal events among these."""
    return [
        kind for kind in kinds(got) if kind in ("Completed", "Incomplete", "Failed", "ErrorEvent")
    ]


def refused(side: ClientSide, lane: str | None, *, named: bool, **error: Any) -> list[events.Event]:
    """All that is handed on from a refusal until its lane is at rest."""
    got = side.say("error", lane if named else None, **error)
    return got + side.wait(DOUBT_S)


@each("named", [False, True])
@each("parent", ["", "resp_1"])
@each("error", REFUSALS)
def test_a_request_that_is_refused_behind_an_unanswered_steer_ends(
    error: dict[str, Any], parent: str, named: bool
) -> None:
    side = ClientSide(Capabilities(lanes=True, steer={"m": True})).streaming("main")
    side.client.steer("smaller", "main", side.now)
    assert fates(side.wait(STEER_S)) == [(1, "returned")]
    side.completed("resp_1", "main")
    side.ask("main", **({"previous_response_id": parent} if parent else {}))
    got = refused(side, "main", named=named, **error)
    assert ends(got) == ["ErrorEvent"]
    assert side.state("main") is LaneState.IDLE
    assert side.client.deadline() is None


@each("error", REFUSALS)
def test_a_request_that_is_refused_behind_an_unanswered_interrupt_ends(
    error: dict[str, Any],
) -> None:
    side = ClientSide(Capabilities(lanes=True, interrupt={"m": True})).streaming("main")
    side.client.interrupt("main", side.now)
    side.completed("resp_1", "main")
    side.ask("main")
    assert ends(refused(side, "main", named=True, **error)) == ["ErrorEvent"]
    assert side.state("main") is LaneState.IDLE


@each("error", REFUSALS[:4])
def test_a_steer_that_is_answered_leaves_the_refusal_to_the_response(error: dict[str, Any]) -> None:
    side = ClientSide()
    side.ask()
    side.created()
    side.client.steer("smaller", None, side.now)
    got = side.say("error", **error)
    got += side.steer_failed("response_already_completed", "resp_1", "smaller")
    assert (fates(got), ends(got)) == ([(1, "returned")], ["ErrorEvent"])
    assert side.state() is LaneState.IDLE


def test_an_error_without_a_name_is_that_of_the_request_that_stays_silent() -> None:
    side = ClientSide(Capabilities(lanes=True)).streaming("c", "resp_3")
    side.ask("a")
    side.ask("b")
    side.error(400, code="invalid_prompt")
    assert side.created("resp_1", "a")
    (event,) = side.wait(DOUBT_S)
    assert isinstance(event, events.ErrorEvent)
    assert (event.stream_id, side.state("b")) == ("b", LaneState.IDLE)
    assert side.delta("x", "a")
    assert side.delta("x", "c")
