"""The client side: the gate, interrupts, lanes, errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.tables import each
from tui.core.wire import events
from tui.core.wire.client.protocol import Capabilities, ClientProtocol
from tui.core.wire.endpoint_facts import ACCEPTED_S, GRACE_S
from tui.errors import WireError

UNKNOWN_EVENT: dict[str, Any] = {
    "type": "error",
    "status": 400,
    "error": {"message": "Unknown event type."},
}


def say(client: ClientProtocol, now: float = 0.0, **event: Any) -> list[events.Event]:
    client.receive_text(json.dumps(event), now)
    return client.events_received()


def created(client: ClientProtocol, name: str = "resp_1", **fields: Any) -> list[events.Event]:
    return say(client, type="response.created", response={"id": name}, **fields)


def delta(client: ClientProtocol, text: str = "x", **fields: Any) -> list[events.Event]:
    return say(client, type="response.output_text.delta", item_id="i", delta=text, **fields)


def sent(client: ClientProtocol) -> list[dict[str, Any]]:
    return [json.loads(text) for text in client.data_to_send()]


def streaming(capabilities: Capabilities | None = None) -> ClientProtocol:
    """A client in the middle of a response on the default lane."""
    client = ClientProtocol(capabilities)
    client.create({"model": "m", "input": "hi", "stream": True})
    created(client)
    delta(client)
    sent(client)
    return client


def test_create_is_flat_and_says_nothing_of_its_own() -> None:
    client = ClientProtocol(Capabilities(lanes=True))
    client.create({"model": "m", "input": "hi", "stream": True})
    client.create({"model": "m", "input": "hi"}, "a")
    assert sent(client) == [
        {"type": "response.create", "model": "m", "input": "hi"},
        {"type": "response.create", "model": "m", "input": "hi", "stream_id": "a"},
    ]
    assert client.busy


def test_an_interrupt_whose_id_never_comes_drops_the_socket_and_proves_nothing() -> None:
    client = ClientProtocol()
    client.create({"model": "m"})
    client.interrupt(now=0.0)
    client.tick(GRACE_S - 0.01)
    assert client.drop_reason == ""
    client.tick(GRACE_S)
    assert client.should_drop
    assert client.capabilities.interrupt in ({}, {"m": True})


@each(
    "answer",
    [
        UNKNOWN_EVENT,
        {"type": "error", "error": {"type": "server_error", "message": "?"}},
        {"type": "error", "status": 400, "error": {"code": "response_not_found"}},
        {
            "type": "response.interrupt.failed",
            "response_id": "resp_1",
            "error": {"code": "interrupt_not_supported"},
        },
    ],
)
def test_a_refusal_drops_the_socket_and_is_remembered(answer: dict[str, Any]) -> None:
    client = streaming()
    client.interrupt(now=0.0)
    shown = say(client, **answer)
    assert not any(isinstance(event, events.ErrorEvent) for event in shown)
    assert client.should_drop
    assert client.capabilities.interrupt == {"m": False}


def test_a_server_that_accepts_and_never_ends_is_dropped() -> None:
    client = streaming()
    client.interrupt(now=0.0)
    say(client, 0.5, type="response.interrupt.accepted", response_id="resp_1")
    for tenths in range(6, 50):
        say(client, now=tenths / 10, type="response.in_progress", response={})
        delta(client)
    assert client.deadline() == ACCEPTED_S
    client.tick(ACCEPTED_S)
    assert client.should_drop
    assert client.capabilities.interrupt in ({}, {"m": True})


def test_the_time_limit_during_a_response_is_told_and_drops() -> None:
    client = streaming()
    error = {"code": "websocket_connection_limit_reached", "message": "60 minutes"}
    assert say(client, type="error", status=400, error=error)
    assert (client.should_drop, client.limit_reached, client.busy) == (True, True, False)
    with pytest.raises(WireError):
        client.create({"model": "m"})


def test_what_no_endpoint_sends_breaks_the_connection() -> None:
    client = streaming()
    client.refuse("the server sent nonsense")
    assert client.drop_reason == "the server sent nonsense"
    assert client.needs_care


def test_a_tool_of_the_server_costs_no_more_than_text() -> None:
    client = streaming()
    client.data_to_send()
    kind = "response.code_interpreter_call_code.delta"
    frame: dict[str, Any] = {"type": kind, "item_id": "i", "delta": "x"}
    (event,) = say(client, **frame)
    assert event == events.Progress(kind, "i", None)
    assert not client.needs_care
    client.interrupt(now=0.0)
    assert say(client, **frame) == []
