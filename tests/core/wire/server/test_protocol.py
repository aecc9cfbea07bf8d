"""The server side: runs, chains, lanes, limits, prewarm, interrupt."""

from __future__ import annotations

import json

import pytest

from tests.support.server_side import answer, create, one_run, sent
from tui.core.wire.server.protocol import MAX_IN_FLIGHT, ServerProtocol
from tui.core.wire.server.register import MAX_ENDED
from tui.core.wire.server.waiting import MAX_LANES
from tui.core.wire.usage import Usage


def test_a_response_says_its_events_in_the_documented_order() -> None:
    server = ServerProtocol()
    answer(one_run(server, create()))
    events = sent(server)
    assert [event["type"] for event in events] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [event["sequence_number"] for event in events] == list(range(9))
    assert all("stream_id" not in event for event in events)
    last = events[-1]["response"]
    assert last["output"][0]["content"][0]["text"] == "hello"
    assert last["usage"]["total_tokens"] == 5


@pytest.mark.parametrize(
    ("kind", "delta_type", "key"),
    [
        ("function_call", "response.function_call_arguments.delta", "arguments"),
        ("custom_tool_call", "response.custom_tool_call_input.delta", "input"),
    ],
)
def test_calls_stream_their_text_and_end_whole(kind: str, delta_type: str, key: str) -> None:
    server = ServerProtocol()
    run = one_run(server, create())
    index = run.item_added({"type": kind, "name": "apply_patch"})
    run.delta(index, "ab")
    run.delta(index, "cd")
    run.item_done(index)
    events = sent(server)
    assert [event["delta"] for event in events if event["type"] == delta_type] == ["ab", "cd"]
    item = events[-1]["item"]
    assert (item[key], item["name"], item["status"]) == ("abcd", "apply_patch", "completed")
    assert item["call_id"] == events[2]["item"]["call_id"]


def test_the_chain_gives_the_parent_s_input_and_output() -> None:
    server = ServerProtocol()
    first = one_run(server, create("one"))
    answer(first, "1")
    second = one_run(server, create("two", previous_response_id=first.response_id))
    assert [item["role"] for item in second.full_input] == ["user", "assistant", "user"]
    assert second.full_input[-1]["content"] == [{"type": "input_text", "text": "two"}]
    answer(second)
    sent(server)
    server.receive_text(create("again", previous_response_id=first.response_id))
    assert server.accept() == []
    (error,) = sent(server)
    assert error["error"]["code"] == "previous_response_not_found"
    assert error["status"] == 400


def test_a_prewarm_is_answered_and_its_input_remembered() -> None:
    server = ServerProtocol()
    server.receive_text(create("base", generate=False))
    assert server.accept() == []
    events = sent(server)
    assert [event["type"] for event in events] == [
        "response.created",
        "response.in_progress",
        "response.completed",
    ]
    response = events[-1]["response"]
    assert response["output"] == []
    run = one_run(server, create("turn", previous_response_id=response["id"]))
    assert [item["content"][0]["text"] for item in run.full_input] == ["base", "turn"]


def test_a_lane_is_first_come_first_served_and_lanes_run_side_by_side() -> None:
    server = ServerProtocol()
    for text, lane in (("a1", "a"), ("a2", "a"), ("b1", "b"), ("d1", None)):
        server.receive_text(create(text, **({"stream_id": lane} if lane else {})))
    runs = server.accept()
    assert [run.lane for run in runs] == ["a", "b", None]
    assert server.accept() == []
    answer(runs[0])
    (next_run,) = server.accept()
    assert next_run.full_input[0]["content"][0]["text"] == "a2"
    assert {event.get("stream_id") for event in sent(server)} == {"a", "b", None}


def test_a_fork_takes_its_parent_from_another_lane() -> None:
    server = ServerProtocol()
    first = one_run(server, create("one", stream_id="a"))
    answer(first)
    fork = one_run(server, create("two", stream_id="b", previous_response_id=first.response_id))
    assert len(fork.full_input) == 3
    fork.fail("server_error", "no")
    again = one_run(server, create("three", stream_id="a", previous_response_id=first.response_id))
    assert len(again.full_input) == 3


@pytest.mark.parametrize("how", ["fail", "refuse"])
def test_a_failed_continuation_on_the_same_lane_evicts_the_parent(how: str) -> None:
    server = ServerProtocol()
    first = one_run(server, create("one"))
    answer(first)
    second = one_run(server, create("two", previous_response_id=first.response_id))
    if how == "fail":
        second.fail("server_error", "no")
    else:
        second.refuse(429, "rate_limit_exceeded", "slow down")
    sent(server)
    server.receive_text(create("two", previous_response_id=first.response_id))
    assert server.accept() == []
    assert sent(server)[0]["error"]["code"] == "previous_response_not_found"


def test_sixteen_in_flight_and_the_rest_wait() -> None:
    server = ServerProtocol()
    for number in range(MAX_IN_FLIGHT + 2):
        server.receive_text(create(stream_id=f"lane{number}"))
    runs = server.accept()
    assert len(runs) == MAX_IN_FLIGHT
    answer(runs[3])
    assert [run.lane for run in server.accept()] == [f"lane{MAX_IN_FLIGHT}"]


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


@pytest.mark.parametrize("name", ["", "a b", "ä", "x" * 257, 5, "a\n"])
def test_a_bad_lane_name_is_an_error_without_a_lane(name: object) -> None:
    server = ServerProtocol()
    server.receive_text(create(stream_id=name))
    assert server.accept() == []
    (error,) = sent(server)
    assert error["error"]["code"] == "invalid_stream_id"
    assert "stream_id" not in error


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


def test_a_late_interrupt_is_ignored_and_an_unknown_one_is_refused_without_an_error() -> None:
    server = ServerProtocol()
    run = one_run(server, create())
    answer(run)
    sent(server)
    late = json.dumps({"type": "response.interrupt", "response_id": run.response_id})
    server.receive_text(late)
    assert sent(server) == []
    one_run(server, create("next"))
    sent(server)
    server.receive_text(late)
    assert sent(server) == []
    server.receive_text(json.dumps({"type": "response.interrupt", "response_id": "resp_x"}))
    (event,) = sent(server)
    assert event["type"] == "response.interrupt.failed"


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"type":"response.cancel"}',
        "{}",
        create(input=5),
        create(input=[1]),
        create(input=[{"content": "no role"}]),
        create(previous_response_id=7),
    ],
)
def test_what_cannot_be_used_is_an_error_400_and_the_connection_lives(text: str) -> None:
    server = ServerProtocol()
    server.receive_text(text)
    assert server.accept() == []
    (error,) = sent(server)
    assert (error["type"], error["status"]) == ("error", 400)
    assert "stream_id" not in error
    answer(one_run(server, create()))


def test_steering_is_refused_with_the_text_given_back() -> None:
    server = ServerProtocol()
    steer = {"type": "response.steer", "previous_response_id": "resp_1", "input": "small"}
    server.receive_text(json.dumps(steer))
    (event,) = sent(server)
    assert event["type"] == "response.steer.failed"
    assert event["error"]["code"] == "steering_not_supported"
    assert event["steer"] == {"previous_response_id": "resp_1", "input": "small"}


def test_a_call_without_an_output_is_refused() -> None:
    server = ServerProtocol()
    first = one_run(server, create("one"))
    index = first.item_added({"type": "function_call", "name": "f", "call_id": "call_9"})
    first.item_done(index)
    first.finish()
    sent(server)
    server.receive_text(create("two", previous_response_id=first.response_id))
    assert server.accept() == []
    assert "call_9" in sent(server)[0]["error"]["message"]


def test_shapes_of_real_clients_are_taken() -> None:
    server = ServerProtocol()
    tools = {"type": "additional_tools", "role": "developer", "tools": []}
    items = [tools, {"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]
    text = create(input=items, stream=True, background=False, client_metadata={"k": "v"}, foo=1)
    run = one_run(server, text)
    assert run.full_input[0] == tools
    assert run.full_input[1]["content"] == [{"type": "input_text", "text": "hi"}]
    assert run.full_input[2]["content"] == [{"type": "output_text", "text": "yes"}]
    assert "stream" not in run.request
    assert run.request["client_metadata"] == {"k": "v"}


def test_a_lost_connection_abandons_every_run() -> None:
    server = ServerProtocol()
    run = one_run(server, create())
    server.receive_text(create("queued"))
    assert server.connection_lost() == [run]
    assert run.interrupted
    answer(run)
    assert server.data_to_send() == []
    assert server.accept() == []


def test_a_connection_remembers_the_ends_of_a_while_and_no_more() -> None:
    server = ServerProtocol()
    for _ in range(MAX_ENDED + 50):
        server.receive_text('{"type":"response.create","model":"m","input":"hi","stream_id":"a"}')
        (run,) = server.accept()
        run.finish("completed")
        server.data_to_send()
    assert len(server._register._ended) == MAX_ENDED
    late = {"type": "response.steer", "previous_response_id": run.response_id, "input": "x"}
    server.receive_text(json.dumps(late))
    (failed,) = [json.loads(text) for text in server.data_to_send()]
    assert (failed["stream_id"], failed["error"]["code"]) == ("a", "steering_not_supported")
