"""The server side: runs, chains, lanes, limits, prewarm, interrupt."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from tests.support.server_side import answer, create, one_run, sent
from tests.support.tables import each
from tui.core.wire.events import Usage
from tui.core.wire.server import protocol
from tui.core.wire.server.protocol import MAX_ENDED, MAX_LANES, ServerProtocol
from tui.core.wire.server.run import Run


def test_the_thirty_third_name_is_refused() -> None:
    server = ServerProtocol()
    for number in range(MAX_LANES + 1):
        server.receive_text(create(stream_id=f"lane{number}"))
    (error,) = sent(server)
    assert error["error"]["code"] == "websocket_stream_limit_reached"
    assert error["stream_id"] == f"lane{MAX_LANES}"
    server.receive_text(create())
    server.receive_text(create(stream_id="lane0"))
    assert sent(server) == []


def test_interrupt_stops_the_run_and_keeps_finished_items() -> None:
    server = ServerProtocol()
    run = one_run(server, create(stream_id="a"))
    done = run.item_added({"type": "reasoning"})
    run.delta(done, "think")
    run.item_done(done)
    cut = run.item_added({"type": "message"})
    run.delta(cut, "half")
    sent(server)
    interrupt = {"type": "response.interrupt", "response_id": run.response_id}
    server.receive_text(json.dumps({**interrupt, "mode": "discard_partial_items"}))
    assert server.interrupted_runs() == [run]
    assert run.interrupted
    run.finish_interrupted(Usage(1, 1))
    run.delta(cut, "late")
    events = sent(server)
    assert [event["type"] for event in events] == [
        "response.interrupt.accepted",
        "response.output_item.interrupted",
        "response.incomplete",
    ]
    assert all(event["stream_id"] == "a" for event in events)
    response = events[-1]["response"]
    assert response["incomplete_details"] == {"reason": "interrupted"}
    assert [item["type"] for item in response["output"]] == ["reasoning"]
    again = one_run(server, create("go on", stream_id="a", previous_response_id=run.response_id))
    assert [item["type"] for item in again.full_input] == ["message", "reasoning", "message"]


def test_steering_is_refused_with_the_text_given_back() -> None:
    server = ServerProtocol()
    steer = {"type": "response.steer", "previous_response_id": "resp_1", "input": "small"}
    server.receive_text(json.dumps(steer))
    (event,) = sent(server)
    assert event["type"] == "response.steer.failed"
    assert event["error"]["code"] == "steering_not_supported"
    assert event["steer"] == {"previous_response_id": "resp_1", "input": "small"}


def test_a_connection_remembers_the_ends_of_a_while_and_no_more() -> None:
    server = ServerProtocol()
    for _ in range(MAX_ENDED + 50):
        server.receive_text('{"type":"response.create","model":"m","input":"hi","stream_id":"a"}')
        (run,) = server.accept()
        run.finish("completed")
        server.data_to_send()
    assert len(server._ended_lanes) == MAX_ENDED
    late = {"type": "response.steer", "previous_response_id": run.response_id, "input": "x"}
    server.receive_text(json.dumps(late))
    (failed,) = [json.loads(text) for text in server.data_to_send()]
    assert (failed["stream_id"], failed["error"]["code"]) == ("a", "steering_not_supported")


@each("nested", [False, True])
def test_a_body_under_response_is_taken(nested: bool) -> None:
    server = ServerProtocol()
    body = {"model": "m", "input": "hi", "generate": True, "stream": True}
    event = {"response": body} if nested else body
    run = one_run(server, json.dumps({"type": "response.create", "stream_id": "a", **event}))
    assert (run.lane, run.request["model"]) == ("a", "m")
    assert set(run.request) == {"model", "input"}
    prewarm = {"type": "response.create", "response": {"model": "m", "generate": False}}
    server.receive_text(json.dumps(prewarm))
    assert server.accept() == []
    assert sent(server)[-1]["type"] == "response.completed"


@each("ended", [True, False])
def test_an_inject_fails_with_its_input_and_no_error_event(ended: bool) -> None:
    server = ServerProtocol()
    run = one_run(server, create(stream_id="a"))
    if ended:
        answer(run)
    sent(server)
    outputs = [{"type": "function_call_output", "call_id": "c", "output": "x"}]
    event = {"type": "response.inject", "response_id": run.response_id, "input": outputs}
    server.receive_text(json.dumps(event))
    (failed,) = sent(server)
    assert failed["type"] == "response.inject.failed"
    assert (failed["response_id"], failed["input"]) == (run.response_id, outputs)
    assert failed["stream_id"] == "a"
    code = "response_already_completed" if ended else "response_not_found"
    assert failed["error"]["code"] == code


def test_the_age_limit_is_the_last_word() -> None:
    for busy in (False, True):
        server = ServerProtocol()
        runs = [one_run(server, create(stream_id="a"))] if busy else []
        sent(server)
        if busy:
            server.receive_text(create("queued", stream_id="a"))
        assert server.limit_reached() == runs
        (error,) = sent(server)
        assert error["error"]["code"] == "websocket_connection_limit_reached"
        assert (error["status"], "stream_id" in error) == (400, False)
        for run in runs:
            answer(run)
        server.receive_text(create())
        server.receive_binary()
        assert server.accept() == []
        assert sent(server) == []


def test_an_interrupt_that_comes_late_or_twice_says_nothing() -> None:
    server = ServerProtocol()
    run = one_run(server, create())
    interrupt = json.dumps({"type": "response.interrupt", "response_id": run.response_id})
    sent(server)
    server.receive_text(interrupt)
    server.receive_text(interrupt)
    assert [event["type"] for event in sent(server)] == ["response.interrupt.accepted"]
    assert server.interrupted_runs() == [run]
    run.finish()
    assert [event["type"] for event in sent(server)] == ["response.completed"]
    server.receive_text(interrupt)
    assert server.interrupted_runs() == []
    assert sent(server) == []


def test_binary_and_unknown_frames_are_errors_without_a_lane() -> None:
    server = ServerProtocol()
    run = one_run(server, create(stream_id="a"))
    sent(server)
    server.receive_binary()
    server.receive_text(json.dumps({"type": "response.cancel", "stream_id": "a"}))
    server.receive_text("not json")
    events = sent(server)
    assert [(e["type"], e["status"], "stream_id" in e) for e in events] == [
        ("error", 400, False)
    ] * 3
    assert not run.done


def test_a_throttle_rates_what_runs_on_its_lane_or_on_all() -> None:
    server = ServerProtocol()
    runs = [one_run(server, create(stream_id=lane)) for lane in ("a", "b")]
    default = one_run(server, create())
    server.receive_text('{"type":"duetto.throttle","stream_id":"a","tokens_s":20}')
    assert server.throttled_runs() == [runs[0]]
    assert [run.tokens_s for run in (*runs, default)] == [20, None, None]
    server.receive_text('{"type":"duetto.throttle","tokens_s":null}')
    assert [run.tokens_s for run in (*runs, default)] == [math.inf] * 3
    server.receive_text('{"type":"duetto.throttle","stream_id":null,"tokens_s":5}')
    assert default.tokens_s == 5
    assert runs[1].tokens_s == math.inf
    sent(server)
    for rate in ("0.5", "-1", '"9"', "true", "{}"):
        server.receive_text(f'{{"type":"duetto.throttle","tokens_s":{rate}}}')
        (refused,) = sent(server)
        assert refused["error"]["code"] == "invalid_rate"
        assert "stream_id" not in refused
    answer(runs[0])
    server.throttled_runs()
    server.receive_text('{"type":"duetto.throttle","stream_id":"a","tokens_s":20}')
    assert server.throttled_runs() == []


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


def test_a_successor_comes_as_fast_as_what_was_steered(server: ServerProtocol) -> None:
    run = one_run(server, create())
    server.receive_text('{"type":"duetto.throttle","tokens_s":5}')
    steer(server, run, 1)
    run.finish("incomplete", reason="steered")
    (successor,) = server.accept()
    assert successor.tokens_s == 5
    successor.finish()
    assert one_run(server, create()).tokens_s is None


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
        codes = [event.get("error", {}).get("code") for event in sent(server)]
        refused += "too_many_pending_steers" in codes
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
