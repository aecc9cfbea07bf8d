"""The client side: the gate, the interrupt's ladder, lanes, errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.memory_wire import MemoryWire
from tui.core.wire import events
from tui.core.wire.client.lane import ACCEPTED_S, GRACE_S, LaneState
from tui.core.wire.client.protocol import Capabilities, ClientProtocol
from tui.core.wire.server.run import Run
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


def completed(client: ClientProtocol, name: str = "resp_1", **fields: Any) -> list[events.Event]:
    return say(client, type="response.completed", response={"id": name}, **fields)


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


def test_the_states_of_a_lane_follow_the_response() -> None:
    client = ClientProtocol()
    lane = client.lane()
    seen = [lane.state]
    client.create({"model": "m"})
    seen.append(lane.state)
    created(client)
    seen.append(lane.state)
    delta(client)
    seen.append(lane.state)
    completed(client)
    seen.append(lane.state)
    names = ["IDLE", "SENT", "CREATED", "STREAMING", "IDLE"]
    assert seen == [LaneState[name] for name in names]


def test_one_create_at_a_time_on_a_lane() -> None:
    client = streaming()
    with pytest.raises(WireError, match="in flight"):
        client.create({"model": "m"})
    completed(client)
    client.create({"model": "m"})


def test_late_deltas_and_a_second_end_are_dropped() -> None:
    client = streaming()
    assert len(completed(client)) == 1
    assert delta(client) == []
    assert completed(client) == []
    client.create({"model": "m"})
    assert delta(client) == []
    assert completed(client) == []
    assert created(client, "resp_2")
    assert delta(client)


def test_a_server_that_uses_an_id_twice_is_followed() -> None:
    client = streaming()
    completed(client)
    client.create({"model": "m"})
    assert created(client)
    assert delta(client)
    assert completed(client)


def test_after_an_interrupt_no_delta_passes_but_items_and_the_end_do() -> None:
    client = streaming()
    assert client.interrupt(now=5.0)
    assert sent(client) == [
        {
            "type": "response.interrupt",
            "response_id": "resp_1",
            "mode": "discard_partial_items",
        }
    ]
    assert delta(client) == []
    assert say(client, type="response.output_item.added", item={}, output_index=1) == []
    assert say(client, type="response.interrupt.accepted", response_id="resp_1")
    assert say(client, type="response.output_item.done", item={"id": "i"}, output_index=0)
    assert say(client, type="response.output_item.interrupted", item_id="j")
    response = {"id": "resp_1", "incomplete_details": {"reason": "interrupted"}}
    (end,) = say(client, type="response.incomplete", response=response)
    assert isinstance(end, events.Incomplete)
    assert not client.busy
    assert not client.should_drop
    assert client.deadline() is None
    assert client.capabilities.interrupt in ({}, {"m": True})


def test_an_interrupt_twice_or_at_rest_does_nothing() -> None:
    client = ClientProtocol()
    assert not client.interrupt(now=0.0)
    client = streaming()
    assert client.interrupt(now=0.0)
    assert not client.interrupt(now=0.1)
    assert len(sent(client)) == 1
    completed(client)
    assert not client.interrupt(now=0.2)
    assert sent(client) == []


def test_an_interrupt_before_the_id_waits_for_it() -> None:
    client = ClientProtocol()
    client.create({"model": "m"})
    sent(client)
    client.interrupt(now=0.0)
    assert sent(client) == []
    assert client.deadline() == GRACE_S
    created(client, "resp_7")
    assert sent(client)[0]["response_id"] == "resp_7"
    assert delta(client) == []


def test_an_interrupt_whose_id_never_comes_drops_the_socket_and_proves_nothing() -> None:
    client = ClientProtocol()
    client.create({"model": "m"})
    client.interrupt(now=0.0)
    client.tick(GRACE_S - 0.01)
    assert client.drop_reason == ""
    client.tick(GRACE_S)
    assert client.should_drop
    assert client.capabilities.interrupt in ({}, {"m": True})


def test_losing_the_race_is_a_normal_end() -> None:
    client = streaming()
    client.interrupt(now=0.0)
    assert completed(client)
    assert client.deadline() is None
    assert not client.should_drop
    assert not client.busy


@pytest.mark.parametrize(
    "message",
    ["Unknown event 'response.interrupt'", "Interrupt is not supported", "Unknown event type."],
)
def test_an_error_about_the_lost_race_does_not_hit_the_next_turn(message: str) -> None:
    client = streaming()
    client.interrupt(now=0.0)
    completed(client)
    client.create({"model": "m"})
    error = {"message": message}
    assert say(client, type="error", status=400, error=error) == []
    assert client.lane().state is LaneState.SENT
    assert say(client, type="error", status=400, error={"message": "bad input"})
    client.create({"model": "m"})
    assert created(client, "resp_2")


def test_silence_drops_the_socket_and_is_remembered() -> None:
    client = streaming()
    client.interrupt(now=10.0)
    assert client.deadline() == 10.0 + GRACE_S
    assert delta(client) == []
    client.tick(10.0 + GRACE_S)
    assert client.should_drop
    assert client.capabilities.interrupt == {"m": False}


@pytest.mark.parametrize(
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


def test_where_interrupts_are_known_not_to_work_the_socket_goes_at_once() -> None:
    capabilities = Capabilities(interrupt={"m": False})
    client = streaming(capabilities)
    client.interrupt(now=0.0)
    assert sent(client) == []
    assert client.should_drop
    other = ClientProtocol(capabilities)
    other.create({"model": "other"})
    created(other)
    other.interrupt(now=0.0)
    assert not other.should_drop


@pytest.mark.parametrize("loud", [False, True])
def test_an_accepted_interrupt_is_read_to_the_end_of_the_response(loud: bool) -> None:
    client = streaming()
    client.interrupt(now=0.0)
    say(client, 0.5, type="response.interrupt.accepted", response_id="resp_1")
    for tenths in range(6, 10 * int(ACCEPTED_S)):
        if loud:
            assert delta(client) == []
        client.tick(tenths / 10)
    assert not client.should_drop
    reason = {"incomplete_details": {"reason": "interrupted"}}
    (end,) = say(client, 4.9, type="response.incomplete", response={"id": "resp_1", **reason})
    assert isinstance(end, events.Incomplete)
    assert client.deadline() is None
    assert not client.should_drop


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


def test_a_busy_neighbour_keeps_its_socket() -> None:
    client = streaming(Capabilities(lanes=True))
    client.create({"model": "m"}, "other")
    created(client, "resp_2", stream_id="other")
    client.interrupt(now=0.0)
    client.tick(GRACE_S)
    assert not client.should_drop
    (end,) = client.events_received()
    assert isinstance(end, events.Incomplete)
    assert (end.response_id, end.reason) == ("resp_1", "abandoned")
    assert delta(client) == []
    assert delta(client, stream_id="other")
    assert completed(client) == []
    assert client.lane().state is LaneState.IDLE
    assert completed(client, "resp_2", stream_id="other")


def test_a_terminal_error_ends_the_lane_and_only_it() -> None:
    client = streaming(Capabilities(lanes=True))
    client.create({"model": "m"}, "a")
    created(client, "resp_2", stream_id="a")
    error = {"code": "rate_limit_exceeded", "message": "slow"}
    assert say(client, type="error", status=429, stream_id="a", error=error)
    assert not client.lane("a").busy
    assert delta(client)


def test_the_time_limit_on_an_idle_socket_is_nobody_s_trouble() -> None:
    client = ClientProtocol()
    error = {"code": "websocket_connection_limit_reached", "message": "60 minutes"}
    assert say(client, type="error", status=400, error=error) == []
    assert client.should_drop


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


def test_frames_that_are_no_json_are_skipped() -> None:
    client = streaming()
    client.receive_text("this is not json", 0.0)
    assert client.events_received() == []
    assert delta(client)


def test_unknown_events_survive_everywhere() -> None:
    client = ClientProtocol()
    for step in (lambda: None, lambda: client.create({"model": "m"}), lambda: created(client)):
        step()
        (event,) = say(client, type="vendor.news", x=1)
        assert isinstance(event, events.Unknown)
        assert say(client, type="vendor.news", stream_id="nobody")


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


def test_a_lost_connection_frees_every_lane() -> None:
    client = streaming()
    client.interrupt(now=0.0)
    client.connection_lost("gone")
    assert client.data_to_send() == []
    assert client.deadline() is None
    assert not client.busy
    with pytest.raises(WireError):
        client.create({"model": "m"})


def test_half_characters_are_joined_over_deltas() -> None:
    client = streaming()
    client.receive_text(
        '{"type":"response.output_text.delta","item_id":"i","delta":"a\\ud83d"}', 0.0
    )
    client.receive_text('{"type":"response.output_text.delta","item_id":"i","delta":"\\ude00"}', 0)
    client.receive_text('{"type":"response.output_text.delta","item_id":"i","delta":"\\ude00"}', 0)
    deltas = [event.delta for event in client.events_received() if isinstance(event, events.Delta)]
    assert "".join(deltas) == "a\N{GRINNING FACE}\N{REPLACEMENT CHARACTER}"


def test_a_turn_with_a_redirect_over_both_protocols() -> None:
    runs: list[Run] = []
    wire = MemoryWire(runs.append)
    wire.connect()
    wire.create({"model": "m", "input": "one"})
    wire.deliver()
    index = runs[0].item_added({"type": "message"})
    runs[0].delta(index, "half of it")
    wire.deliver()
    wire.interrupt()
    runs[0].delta(index, "too late")
    wire.deliver()
    kinds = [type(event).__name__ for event in wire.events]
    assert kinds.count("TextDelta") == 1
    assert kinds[-3:] == ["InterruptAccepted", "ItemInterrupted", "Incomplete"]
    wire.create({"model": "m", "input": "two", "previous_response_id": runs[0].response_id})
    wire.deliver()
    assert [item["content"][0]["text"] for item in runs[1].full_input] == ["one", "two"]
    runs[1].finish()
    wire.deliver()
    assert isinstance(wire.events[-1], events.Completed)
    wire.lose()
    assert wire.state == "closed"
