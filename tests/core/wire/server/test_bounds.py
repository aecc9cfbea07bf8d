"""What a client can make the server hold is counted, whichever way it came in."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.server_side import create, one_run, sent
from tui.core.wire.server import protocol
from tui.core.wire.server.protocol import ServerProtocol
from tui.core.wire.server.run import Run

LARGE = 1_000_000


@pytest.fixture
def server() -> ServerProtocol:
    return ServerProtocol(steering=True)


def steer(server: ServerProtocol, run: Run, size: int = LARGE) -> None:
    event = {"type": "response.steer", "previous_response_id": run.response_id, "input": "x" * size}
    server.receive_text(json.dumps(event))


def called(server: ServerProtocol, run: Run) -> dict[str, Any]:
    """Ends a run with a call; returns the answer that the client owes."""
    index = run.item_added({"type": "function_call", "name": "f"})
    run.item_done(index)
    run.finish()
    sent(server)
    call_id = run.output[0]["call_id"]
    return {"type": "function_call_output", "call_id": call_id, "output": "done"}


def test_a_text_of_a_steer_counts_on_in_the_conversation_that_it_went_into(
    server: ServerProtocol,
) -> None:
    run = one_run(server, create())
    for times in (1, 2, 3):
        steer(server, run)
        run.finish("incomplete", reason="steered")
        assert server.held_bytes > times * LARGE
        (run,) = server.accept()
        assert server.held_bytes > times * LARGE


def test_a_text_that_waited_for_outputs_counts_on(server: ServerProtocol) -> None:
    run = one_run(server, create())
    steer(server, run)
    owed = called(server, run)
    run = one_run(server, create(previous_response_id=run.response_id, input=[owed]))
    run.finish()
    assert server.held_bytes > LARGE


def test_steers_without_end_are_bounded(
    server: ServerProtocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 100_000
    monkeypatch.setattr(protocol, "MAX_HELD_BYTES", most)
    run = one_run(server, create())
    size = most // 5
    refused = 0
    for _ in range(12):
        steer(server, run, size)
        kinds = [event["type"] for event in sent(server)]
        refused += "response.steer.failed" in kinds
        run.finish("incomplete", reason="steered")
        refused += "response.steer.failed" in [event["type"] for event in sent(server)]
        started = server.accept()
        run = started[0] if started else one_run(server, create())
        assert sum(len(json.dumps(item)) for item in run.full_input) <= 2 * most
    assert refused


def test_an_item_is_referred_to_once(server: ServerProtocol) -> None:
    """A reference has 40 bytes, what it names may have millions."""
    item = {"type": "message", "role": "user", "content": "x" * 1000, "id": "m1"}
    one_run(server, create(input=[item])).finish()
    references = [{"type": "item_reference", "id": "m1"}] * 1000
    run = one_run(server, create(stream_id="a", input=references))
    assert [item["id"] for item in run.full_input] == ["m1"]


def test_a_parent_s_name_of_megabytes_is_not_kept_with_a_refusal(server: ServerProtocol) -> None:
    one_run(server, create())
    server.receive_text(create(input=5, previous_response_id="r" * LARGE))
    (wanted,) = server._waiting._requests
    assert len(getattr(wanted.event, "previous_response_id", "")) < 1000


def test_ids_of_any_type_break_nothing(server: ServerProtocol) -> None:
    odd = {"type": "message", "role": "user", "content": "hi", "id": [{"a": 1}]}
    run = one_run(server, create(input=[odd]))
    run.finish()
    sent(server)
    reference = {"type": "item_reference", "id": "m1"}
    server.receive_text(create(previous_response_id=run.response_id, input=[reference]))
    assert server.accept() == []
    (said,) = sent(server)
    assert said["error"]["code"] == "item_not_found"


@pytest.mark.parametrize("rate", [f"1{'0' * 400}", "1e308", "18446744073709551616"])
def test_a_rate_beyond_all_numbers_is_no_limit(server: ServerProtocol, rate: str) -> None:
    run = one_run(server, create())
    server.receive_text(f'{{"type":"duetto.throttle","tokens_s":{rate}}}')
    assert server.throttled_runs() == [run]
    assert run.tokens_s is not None
    assert run.tokens_s > 1e6


@pytest.mark.parametrize("lane", ["5", '""', "[]", '"a b"'])
def test_a_throttle_of_a_lane_that_is_none_is_one_error(server: ServerProtocol, lane: str) -> None:
    run = one_run(server, create())
    sent(server)
    server.receive_text(f'{{"type":"duetto.throttle","stream_id":{lane},"tokens_s":5}}')
    (said,) = sent(server)
    assert said["error"]["code"] == "invalid_stream_id"
    assert run.tokens_s is None
