"""The client side: the gate, interrupts, lanes, errors."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client_side import UNKNOWN_EVENT, ClientSide, kinds
from tests.support.tables import each
from tui.core.wire import events
from tui.core.wire.client.lane import LaneState
from tui.core.wire.endpoint_facts import ACCEPTED_S, Capabilities
from tui.errors import WireError


def test_create_is_flat_and_says_nothing_of_its_own() -> None:
    side = ClientSide(Capabilities(lanes=True))
    assert side.ask(input="hi", stream=True) == [
        {"type": "response.create", "model": "m", "input": "hi"}
    ]
    assert side.ask("a", input="hi") == [
        {"type": "response.create", "model": "m", "input": "hi", "stream_id": "a"}
    ]
    assert side.busy()


@each(
    "kind, fields",
    [
        ("error", UNKNOWN_EVENT),
        ("error", {"error": {"type": "server_error", "message": "?"}}),
        ("error", {"status": 400, "error": {"code": "response_not_found"}}),
        (
            "response.interrupt.failed",
            {"response_id": "resp_1", "error": {"code": "interrupt_not_supported"}},
        ),
    ],
)
def test_a_refusal_drops_the_socket_and_is_remembered(kind: str, fields: dict[str, Any]) -> None:
    side = ClientSide().streaming()
    side.client.interrupt(None, 0.0)
    assert "ErrorEvent" not in kinds(side.say(kind, **fields))
    assert side.client.should_drop
    assert side.known.interrupt == {"m": False}


def test_a_server_that_accepts_and_never_ends_is_dropped() -> None:
    side = ClientSide().streaming()
    side.client.interrupt(None, 0.0)
    side.say("response.interrupt.accepted", response_id="resp_1")
    for _ in range(40):
        side.wait(0.1)
        side.say("response.in_progress", response={})
        side.delta()
    assert not side.client.should_drop
    assert side.client.deadline() == ACCEPTED_S
    side.wait(ACCEPTED_S)
    assert side.client.should_drop
    assert side.known.interrupt == {"m": True}


def test_the_time_limit_during_a_response_is_told_and_drops() -> None:
    side = ClientSide().streaming()
    assert side.error(code="websocket_connection_limit_reached", message="60 minutes")
    client = side.client
    assert (client.should_drop, client.limit_reached, client.busy) == (True, True, False)
    with pytest.raises(WireError):
        side.ask()


def test_what_no_endpoint_sends_breaks_the_connection() -> None:
    client = ClientSide().streaming().client
    client.refuse("the server sent nonsense")
    assert client.drop_reason == "the server sent nonsense"
    assert client.needs_care


def test_a_tool_of_the_server_costs_no_more_than_text() -> None:
    side = ClientSide().streaming()
    side.sent()
    kind = "response.code_interpreter_call_code.delta"
    (event,) = side.say(kind, item_id="i", delta="x")
    assert event == events.Progress(kind, "i", None)
    assert not side.client.needs_care
    side.client.interrupt(None, 0.0)
    assert side.say(kind, item_id="i", delta="x") == []


def prewarming(capabilities: Capabilities | None = None) -> ClientSide:
    """A prewarm is on its way."""
    side = ClientSide(capabilities)
    assert side.ask(input=[], generate=False) == [
        {"type": "response.create", "model": "m", "input": [], "generate": False}
    ]
    return side


@each(
    "fields",
    [
        {"status": 400, "error": {"message": "generate is not supported", "param": "generate"}},
        {"error": {"type": "invalid_request_error", "message": "unknown field"}},
        {"status": 422, "error": {"message": "no input"}},
    ],
)
def test_a_refused_prewarm_is_told_and_remembered(fields: dict[str, Any]) -> None:
    side = prewarming()
    assert kinds(side.say("error", **fields)) == ["ErrorEvent"]
    assert side.known.prewarm is False
    assert side.state() is LaneState.IDLE


def test_a_summary_of_thoughts_is_output_too() -> None:
    side = prewarming()
    side.created("resp_w")
    kind = "response.reasoning_summary_text.delta"
    assert side.say(kind, item_id="r", delta="Well") == []
    assert side.known.prewarm is False


def test_an_item_that_begins_is_output_too() -> None:
    side = prewarming()
    side.created("resp_w")
    side.say("response.output_item.added", item={"type": "message", "id": "m"}, output_index=0)
    assert side.known.prewarm is False


def test_a_prewarm_without_an_answer_proves_something_the_second_time_only() -> None:
    known = Capabilities(prewarm=True)
    for belief in (None, False):
        prewarming(known).client.given_up()
        assert known.prewarm is belief
    ClientSide(known).streaming().client.given_up()
    assert known.prewarm is False
