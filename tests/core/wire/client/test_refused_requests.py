"""A refusal ends the request that was refused, however the server says it, and nothing else.

PROTOCOL section 4. Where the words leave it open whose it is, the lane that stays silent is meant.
"""

from __future__ import annotations

from typing import Any

from tests.support.client_side import ClientSide, fates, kinds
from tests.support.tables import each
from tui.core.wire import events
from tui.core.wire.client.lane import DOUBT_S, LaneState
from tui.core.wire.client.steers import STEER_S
from tui.core.wire.endpoint_facts import Capabilities

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


def test_a_failure_under_a_neighbour_s_old_id_ends_the_lane_that_it_names() -> None:
    side = ClientSide(Capabilities(lanes=True)).streaming("b")
    side.completed("resp_1", "b")
    side.ask("a")
    assert ends(side.failed("resp_1", "a") + side.wait(DOUBT_S)) == ["Failed"]
    assert side.state("a") is LaneState.IDLE


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


def test_requests_that_cannot_be_told_apart_get_connections_of_their_own() -> None:
    side = ClientSide(Capabilities(lanes=True))
    side.ask("a")
    side.ask("b")
    side.error(400, code="invalid_prompt")
    assert not side.client.should_drop
    side.wait(DOUBT_S)
    assert side.client.should_drop
    assert side.known.lanes is False
