"""The server side, rule by rule: forms of requests, references, refusals, control, age."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from tests.support.server_side import answer, create, one_run, sent
from tui.core.wire.server.protocol import ServerProtocol


@pytest.mark.parametrize("nested", [False, True])
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


def test_a_prewarm_may_be_asked_for_by_the_cache_options() -> None:
    server = ServerProtocol()
    server.receive_text(create("base", prompt_cache_options={"mode": "x", "prewarm": True}))
    assert server.accept() == []
    prewarm = sent(server)[-1]["response"]
    assert (prewarm["status"], prewarm["output"]) == ("completed", [])
    run = one_run(server, create("turn", previous_response_id=prewarm["id"]))
    assert [item["content"][0]["text"] for item in run.full_input] == ["base", "turn"]
    one_run(ServerProtocol(), create(prompt_cache_options={"prewarm": False}))


def test_a_reference_is_what_it_names() -> None:
    server = ServerProtocol()
    first = one_run(server, create("one", stream_id="a"))
    answer(first, "1")
    (said,) = first.output
    reference = {"type": "item_reference", "id": said["id"]}
    outside = one_run(server, create(input=[reference, {"role": "user", "content": "x"}]))
    assert outside.full_input[0] == said
    held = {"stream_id": "b", "previous_response_id": first.response_id}
    inside = one_run(server, create(input=[reference], **held))
    assert [item["role"] for item in inside.full_input] == ["user", "assistant"]
    inside.fail("server_error", "no")
    sent(server)
    lost = [{"type": "item_reference", "id": "msg_nowhere"}]
    fork = {"stream_id": "b", "previous_response_id": first.response_id}
    server.receive_text(create(input=lost, **fork))
    assert server.accept() == []
    (error,) = sent(server)
    assert (error["status"], error["stream_id"]) == (400, "b")
    assert "msg_nowhere" in error["error"]["message"]
    one_run(server, create("go on", stream_id="a", previous_response_id=first.response_id))


def test_ids_of_items_in_the_input_are_kept() -> None:
    server = ServerProtocol()
    items = [
        {"type": "message", "id": "msg_1", "role": "user", "content": "hi"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"},
        {"type": "additional_tools", "role": "developer", "tools": [{"name": "exec"}]},
    ]
    first = one_run(server, create(input=items))
    answer(first)
    run = one_run(server, create("more", previous_response_id=first.response_id))
    assert [item.get("id") for item in run.full_input[:2]] == ["msg_1", "rs_1"]
    assert run.full_input[1:3] == items[1:]


@pytest.mark.parametrize(
    "broken", [{"input": 5}, {"input": [{"type": "item_reference", "id": "x"}]}]
)
def test_any_refusal_evicts_the_parent_of_its_own_lane(broken: dict[str, Any]) -> None:
    server = ServerProtocol()
    first = one_run(server, create("one", stream_id="a"))
    answer(first)
    fork = {"stream_id": "b", "previous_response_id": first.response_id}
    for fields in (fork, {**fork, "stream_id": "a"}):
        sent(server)
        server.receive_text(create(**{**fields, **broken}))
        assert server.accept() == []
        (error,) = sent(server)
        assert (error["type"], error["stream_id"]) == ("error", fields["stream_id"])
    server.receive_text(create("again", **fork))
    assert server.accept() == []
    assert sent(server)[0]["error"]["code"] == "previous_response_not_found"


def test_a_refused_request_is_answered_when_its_turn_comes() -> None:
    server = ServerProtocol()
    run = one_run(server, create(stream_id="a"))
    server.receive_text(create(stream_id="a", input=5))
    server.receive_text(create("third", stream_id="a"))
    assert server.accept() == []
    assert "error" not in [event["type"] for event in sent(server)]
    answer(run)
    (third,) = server.accept()
    kinds = [event["type"] for event in sent(server)]
    assert kinds[-4:] == [
        "response.completed",
        "error",
        "response.created",
        "response.in_progress",
    ]
    answer(third)


def test_a_new_chain_on_a_lane_takes_the_old_one_s_place() -> None:
    server = ServerProtocol()
    first = one_run(server, create("one", stream_id="a"))
    answer(first)
    second = one_run(server, create("other", stream_id="a"))
    assert len(second.full_input) == 1
    answer(second)
    sent(server)
    server.receive_text(create("two", stream_id="a", previous_response_id=first.response_id))
    assert server.accept() == []
    assert sent(server)[0]["error"]["code"] == "previous_response_not_found"


@pytest.mark.parametrize("ended", [True, False])
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


def test_a_queued_request_can_be_interrupted_once_it_has_an_id() -> None:
    server = ServerProtocol()
    first = one_run(server, create(stream_id="a"))
    server.receive_text(create("two", stream_id="a"))
    interrupt = {"type": "response.interrupt"}
    server.receive_text(json.dumps({**interrupt, "response_id": first.response_id}))
    first.finish_interrupted()
    (second,) = server.accept()
    assert not second.interrupted
    server.receive_text(json.dumps({**interrupt, "response_id": second.response_id}))
    assert server.interrupted_runs() == [second]
    second.finish_interrupted()
    assert server.accept() == []


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


def test_an_unknown_interrupt_without_anything_running_is_ignored() -> None:
    server = ServerProtocol()
    server.receive_text(json.dumps({"type": "response.interrupt", "response_id": "resp_x"}))
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
