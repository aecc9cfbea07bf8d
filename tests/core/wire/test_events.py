"""Decoding what a server says."""

from __future__ import annotations

import json
from typing import Any

from tests.support.tables import each
from tui.core.wire import events
from tui.core.wire.events import CALL_OUTPUTS, decode_server
from tui.core.wire.server.protocol import ServerProtocol
from tui.core.wire.server.run import usage_fields


def decoded(**fields: Any) -> events.Event | None:
    return decode_server(json.dumps(fields))


TEXT = {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "delta": "a"}


@each(
    "odd",
    [{"stream_id": 5}, {"item_id": 7}, {"output_index": "x"}, {"stream_id": [], "item_id": {}}],
)
@each("mark", [b"", b"\xef\xbb\xbf"])
def test_a_field_of_the_wrong_kind_costs_no_text(odd: dict[str, object], mark: bytes) -> None:
    event = events.decode_server(mark + json.dumps({**TEXT, **odd}).encode())
    assert isinstance(event, events.TextDelta)
    assert (event.delta, event.stream_id) == ("a", None)


@each("delta", [None, 5, {"text": "x"}])
def test_a_delta_that_is_no_text_says_nothing(delta: object) -> None:
    event = events.decode_server(json.dumps({**TEXT, "delta": delta}))
    assert not isinstance(event, events.TextDelta) or event.delta == ""


def test_what_the_server_cancelled_is_incomplete() -> None:
    event = events.decode_server('{"type":"response.cancelled","response":{"id":"r"}}')
    assert isinstance(event, events.Incomplete)
    assert (event.response_id, event.reason) == ("r", "cancelled")


@each("response", [None, [], "x", 5])
def test_a_broken_end_is_an_end_all_the_same(response: object) -> None:
    assert isinstance(decoded(type="response.completed", response=response), events.Completed)


@each(
    "usage, expected",
    [
        (None, None),
        ({}, None),
        ({"input_tokens": 3, "output_tokens": 4}, events.Usage(3, 4)),
        ({"input_tokens": "x", "output_tokens": 4}, events.Usage(0, 4)),
        (
            {
                "input_tokens": 3,
                "input_tokens_details": {"cached_tokens": 1},
                "output_tokens": 4.0,
                "output_tokens_details": {"reasoning_tokens": 0},
            },
            events.Usage(3, 4, 1, 0),
        ),
        ({"input_tokens": -3, "output_tokens": True}, None),
    ],
)
def test_usage_is_read_leniently(usage: object, expected: events.Usage | None) -> None:
    assert events.usage_of({"usage": usage}) == expected


def test_what_a_provider_did_not_count_is_unknown_behind_the_bridge_too() -> None:
    counted = events.Usage(100, 7, 0, 0, 0)
    assert events.usage_of({"usage": usage_fields(counted)}) == counted
    told = usage_fields(events.Usage(100, 7))
    assert told["input_tokens_details"]["cached_tokens"] == 0  # other clients want a number
    assert events.usage_of({"usage": told}) == events.Usage(100, 7, None, None, 0)


KINDS = sorted(CALL_OUTPUTS)


def item_of(kind: str) -> dict[str, Any]:
    return {"type": kind, "id": "item_1", "call_id": "call_1", "name": "f", "status": "completed"}


def output_of(kind: str) -> dict[str, Any]:
    return {"type": CALL_OUTPUTS[kind], "call_id": "call_1", "output": "done"}


def create(server: ServerProtocol, parent: str, *items: dict[str, Any]) -> list[dict[str, Any]]:
    """What the server says to a continuation, and the new run's input after it."""
    told = {"type": "response.create", "model": "m", "previous_response_id": parent}
    server.receive_text(json.dumps({**told, "input": list(items)}))
    runs = server.accept()
    said = [json.loads(text) for text in server.data_to_send()]
    return [*said, *(item for run in runs for item in run.full_input)]


@each("kind", KINDS)
def test_the_server_misses_any_answer_and_puts_what_was_steered_behind_it(kind: str) -> None:
    server = ServerProtocol(steering=True)
    server.receive_text('{"type":"response.create","model":"m","input":"go"}')
    (run,) = server.accept()
    steer = {"type": "response.steer", "previous_response_id": run.response_id, "input": "Small."}
    server.receive_text(json.dumps(steer))
    run.item_done(run.item_added(item_of(kind)), item_of(kind))
    run.finish("completed")
    assert server.accept() == []
    said = [json.loads(text) for text in server.data_to_send()]
    pending = next(e for e in said if e["type"] == "response.steer.pending")
    assert pending["required_input"] == [{"type": CALL_OUTPUTS[kind], "call_id": "call_1"}]
    told = create(server, run.response_id, output_of(kind))
    assert [i["type"] for i in told][-3:] == [kind, CALL_OUTPUTS[kind], "message"]

    other = ServerProtocol()
    other.receive_text('{"type":"response.create","model":"m","input":"go"}')
    (run,) = other.accept()
    run.item_done(run.item_added(item_of(kind)), item_of(kind))
    run.finish("completed")
    other.data_to_send()
    (refused,) = create(other, run.response_id, {"role": "user", "content": "and?"})
    assert refused["status"] == 400
    assert "call_1" in refused["error"]["message"]
