"""The server side, rule by rule: forms of requests, references, refusals, control, age."""

from __future__ import annotations

import json
import math

from tests.support.server_side import answer, create, one_run, sent
from tests.support.tables import each
from tui.core.wire.server.protocol import ServerProtocol


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
