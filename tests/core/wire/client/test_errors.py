"""Whose trouble an `error` is, and what is learnt from it (PROTOCOL sections 4 and 8)."""

from __future__ import annotations

from typing import Any

from tests.support.client_side import ClientSide
from tests.support.tables import each
from tui.core.wire import events
from tui.core.wire.client import errors
from tui.core.wire.endpoint_facts import Capabilities

LIMIT = "websocket_connection_limit_reached"


def two_lanes(capabilities: Capabilities | None = None) -> ClientSide:
    """Two named lanes stream over one socket."""
    side = ClientSide(capabilities or Capabilities(lanes=True))
    side.streaming("a", "resp_1").streaming("b", "resp_2")
    return side


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


def test_held_creates_outlive_the_time_limit() -> None:
    side = ClientSide()
    side.ask("a")
    side.ask("b")
    side.error(400, code=LIMIT)
    assert side.client.unroutable() == [("b", {"model": "m"})]


def test_an_abandoned_neighbour_keeps_no_socket() -> None:
    side = two_lanes(Capabilities(lanes=True, interrupt={"m": False}))
    side.client.interrupt("a", 0.0)
    assert not side.client.should_drop
    side.client.interrupt("b", 0.0)
    assert side.client.should_drop


def test_nothing_is_taken_after_the_loss() -> None:
    side = ClientSide().streaming()
    side.client.connection_lost("gone")
    assert side.delta() == []
    assert side.created("resp_2") == []
    assert side.completed() == []
    assert side.say("vendor.news") == []
    assert not side.client.takes(None)
    assert side.client.deadline() is None
