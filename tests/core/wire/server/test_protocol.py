"""The server side: runs, chains, lanes, limits, prewarm, interrupt."""

from __future__ import annotations

import json

from tests.support.server_side import create, one_run, sent
from tui.core.wire.events import Usage
from tui.core.wire.server.protocol import MAX_ENDED, MAX_LANES, ServerProtocol


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
