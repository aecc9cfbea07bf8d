"""Errors about our own steer or interrupt end nothing, however late; nor does what is nobody's.

PROTOCOL sections 4, 7, 8 and 12: unknown client events are answered without a `stream_id`.
"""

from __future__ import annotations

from typing import Any

from tests.support.client_side import UNKNOWN_EVENT, ClientSide, fates, kinds
from tests.support.tables import each
from tui.core.wire import events
from tui.core.wire.client.lane import LaneState
from tui.core.wire.client.steers import STEER_S
from tui.core.wire.endpoint_facts import GRACE_S, Capabilities

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


def test_a_late_error_with_the_old_lane_s_name_does_not_end_what_runs_on_there() -> None:
    side = shared("main", "helper")
    side.client.interrupt("main", side.now)
    side.wait(GRACE_S)
    assert side.say("error", "main", **UNKNOWN_EVENT) == []
    assert side.state("main") is LaneState.ABANDONED
    assert side.completed("resp_main", "main") == []
    assert side.state("main") is LaneState.IDLE


def test_a_refused_interrupt_is_answered_once() -> None:
    side = shared("main", "helper")
    side.client.interrupt("main", side.now)
    side.say("response.interrupt.failed", response_id="resp_main", error={"code": "no"})
    assert kinds(side.error(400, "helper", message="Bad request.")) == ["ErrorEvent"]


def test_each_error_about_a_steer_is_for_one_text_in_order() -> None:
    side = shared("main", steer={"m": True})
    side.client.steer("one", "main", side.now)
    side.wait(STEER_S)
    side.client.steer("two", "main", side.now)
    side.wait(0.1)
    assert side.say("error", **UNKNOWN_EVENT) == []
    assert fates(side.say("error", **UNKNOWN_EVENT)) == [(2, "returned")]
    assert side.delta("y", "main")


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
